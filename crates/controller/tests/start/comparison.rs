//! The program that compares, beside a controller that does nothing.

use crate::api::Api;
use crate::scrape::{free_port, scrape};
use crate::{code_and_lines, program, program_at, wait_for_line};
use std::io::{BufReader, Read};
use std::process::{Command, Stdio};

fn comparison(arguments: &[&str]) -> Command {
    program_at(env!("CARGO_BIN_EXE_daemonset-compare"), arguments)
}

#[test]
fn differences_are_lines_and_counts_and_an_exit_code_and_nothing_is_written() {
    for (flag, code) in [("--fail-on-difference", 1), ("--rest=75", 0)] {
        let api = Api::start();
        api.add_nodes(2);
        let port = free_port();
        let mut command =
            comparison(&["--grace=1", "--quiet=3600", &format!("--listen=127.0.0.1:{port}"), flag]);
        command.env("KUBECONFIG", api.kubeconfig(&format!("comparison-{code}")));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let seen = wait_for_line(&mut lines, "DIFFERENCE we-only ns/agent create pod on n2 | we for 1 s: ");
        assert!(seen.iter().any(|line| line.contains("DIFFERENCE we-only ns/agent create pod on n1 | ")));
        let (_, metrics) = scrape(port, "text/plain").unwrap();
        assert!(metrics.contains("# HELP daemonset_compared_total "), "{metrics}");
        assert!(
            metrics.contains("daemonset_compared_total{verdict=\"we-only\"} 3"),
            "with a revision: {metrics}"
        );
        assert!(metrics.contains("daemonset_leader 0"), "{metrics}");

        assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
        let mut rest = String::new();
        lines.read_to_string(&mut rest).unwrap();
        let summary = rest.lines().last().unwrap();
        let (_, counts) = summary.split_once(" SUMMARY daemonsets=1 actions-seen=0 ").unwrap();
        assert!(counts.contains(" we-only=3 ") && counts.ends_with(" differences=3"), "{summary}");
        let (exit, log) = code_and_lines(child.wait_with_output().unwrap());
        assert_eq!(exit, Some(code), "{log:#?}");
        assert_eq!(log.last().unwrap().ends_with("ERROR daemonset_controller: 3 differences"), code == 1);
        assert_eq!(api.rest(), [""; 0], "not even a lease");
    }
}

#[test]
fn the_controller_names_the_program_that_compares() {
    let (code, lines) = code_and_lines(program(&["--compare", "--quiet=3"]).output().unwrap());
    assert_eq!(code, Some(2));
    assert!(
        lines[0].starts_with("error: --compare ") && lines[0].contains("daemonset-compare"),
        "{lines:#?}"
    );
}
