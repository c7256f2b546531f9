//! `plan --watch` where stdout is no terminal.

use super::{CONTEXT, Fake, steered};
use crate::program::dump;
use insta::assert_snapshot;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};

/// Each call of `get` prints the next of the files; the last one again and again.
fn changing(name: &str, answers: &[&str]) -> Fake {
    let answers: String =
        answers.iter().enumerate().map(|(number, answer)| format!("{number}) {answer} ;;\n")).collect();
    Fake::new(
        name,
        &format!(
            "{CONTEXT}\nget) case \"$*\" in *--watch*) exit 1 ;; esac\nn=$(cat \"$here/n\" 2>/dev/null || echo 0); echo $((n + 1)) >\"$here/n\"\n\
             case $n in\n{answers}*) cat '{}' ;;\nesac ;;",
            dump("undo.json")
        ),
    )
}

pub(super) fn start(fake: &Fake, arguments: &[&str]) -> (Child, BufReader<ChildStdout>) {
    let mut command = fake.command(&["plan", "--watch", "--interval", "50ms"]);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    (child, out)
}

/// Ctrl-C.
pub(super) fn interrupt(mut child: Child) -> (Option<i32>, String) {
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let code = child.wait().unwrap().code();
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    (code, err)
}

/// The lines up to one that begins so.
pub(super) fn until(out: &mut impl BufRead, start: &str) -> Vec<String> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        assert!(out.read_line(&mut line).unwrap() > 0, "it ended after {lines:?}");
        let found = line.starts_with(start);
        lines.push(line);
        if found {
            return lines;
        }
    }
}

#[test]
fn each_plan_that_differs_is_printed_after_its_time() {
    let same = format!("cat '{}'", dump("midrollout.json"));
    let fake = changing("watch", &[&same, &same, &same]);
    let (child, mut out) = start(&fake, &[]);
    let first = until(&mut out, "Run");
    assert!(first[0].starts_with("--- 20"), "{first:?}");
    assert!(first[1].starts_with("DaemonSet  monitoring/node-exporter"), "{first:?}");
    let second = until(&mut out, "Run");
    assert_eq!(second[0], "\n");
    assert!(second[1].starts_with("--- 20"), "{second:?}");
    assert!(second.iter().any(|line| line.contains("to lose a pod")), "{second:?}");
    // The same plan again and again is no news.
    while fake.lists() < 7 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(interrupt(child), (Some(0), String::new()));
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
}

#[test]
fn a_look_that_fails_is_one_line_and_the_next_one_follows() {
    let good = format!("cat '{}'", dump("midrollout.json"));
    let bad = "echo 'Unable to connect to the server' >&2; exit 1";
    let fake = changing("watch-fails", &[&good, bad, bad]);
    let (child, mut out) = start(&fake, &[]);
    until(&mut out, "Next");
    until(&mut out, "Next");
    let (code, err) = interrupt(child);
    assert_eq!((code, err.lines().count()), (Some(0), 1), "{err}");
    assert!(
        err.contains("context kind-dev: kubectl: Unable to connect to the server; trying again"),
        "{err}"
    );
}

/// Nothing to follow: an error, as without `--watch`.
#[test]
fn the_first_look_must_succeed() {
    let fake = changing("watch-first", &["echo no >&2; exit 1"]);
    assert_eq!(fake.refused(&["plan", "--watch"]), "error: context kind-dev: kubectl: no");
}

#[test]
fn ctrl_c_ends_a_kubectl_that_hangs() {
    let good = format!("cat '{}'", dump("midrollout.json"));
    let fake = changing("watch-hangs", &[&good, "exec sleep 60"]);
    let (child, mut out) = start(&fake, &[]);
    until(&mut out, "Next");
    while fake.lists() < 2 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    // It would take a minute otherwise.
    assert_eq!(interrupt(child), (Some(0), String::new()));
}

/// An overview is followed, too.
#[test]
fn several_daemon_sets_are_followed() {
    let fake = Fake::of_dump("watch-overview", "steady.json");
    let (child, mut out) = start(&fake, &["-A"]);
    let lines = until(&mut out, "As of");
    assert!(lines[1].starts_with("DAEMONSET "), "{lines:?}");
    assert_eq!(interrupt(child).0, Some(0));
}

/// A person's steps change no object but the DaemonSet's annotations.
#[test]
fn a_rollout_that_is_paused_and_approved_is_news() {
    let answers = ["steered", "approved", "paused"].map(|name| format!("cat \"$here/{name}.json\""));
    let fake = changing("watch-steered", &answers.each_ref().map(String::as_str));
    let policy = ("policy", "waves: [{upTo: 3}, {needsApproval: true}]");
    for (name, annotations) in [
        ("steered", vec![policy]),
        ("approved", vec![policy, ("approved", "2=2")]),
        ("paused", vec![policy, ("approved", "2=2"), ("paused", "true")]),
    ] {
        std::fs::write(fake.path(&format!("{name}.json")), steered(&annotations).to_string()).unwrap();
    }
    let (child, mut out) = start(&fake, &[]);
    let mut states = Vec::new();
    for _ in 0..3 {
        let shown = until(&mut out, "Next");
        let of_rollout =
            |line: &&String| line.starts_with("Rollout") || line.trim_start().starts_with("wave 1:");
        states.extend(shown.iter().filter(of_rollout).map(|line| line.trim().to_owned()));
    }
    assert_eq!(interrupt(child), (Some(0), String::new()));
    assert_snapshot!(states.join("\n"), @"
    Rollout    progressing: 3 of 5 nodes updated, stable node-exporter-686d6fc8d7
    wave 1: waits for wave 0, needs approval; 5 nodes, 3 updated, 2 available
    Rollout    progressing: 3 of 5 nodes updated, stable node-exporter-686d6fc8d7
    wave 1: waits for wave 0; 5 nodes, 3 updated, 2 available
    Rollout    paused: 3 of 5 nodes updated, stable node-exporter-686d6fc8d7
    wave 1: waits for wave 0; 5 nodes, 3 updated, 2 available
    ");
}
