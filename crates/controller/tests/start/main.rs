//! The start of the process: its command line, its policy, and an API server that is not there. And its end: a signal, and a log
//! that no one reads any more.
#![allow(unreachable_pub, clippy::restriction)]

mod api;
mod comparison;
mod manifests;
mod scrape;

use api::Api;
use clap::{CommandFactory, Parser};
use daemonset::Policy;
use daemonset::policy::UnreadyPolicy;
use daemonset_controller::args::Args;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::time::Duration;

/// The controller without a cluster in its environment.
fn program(arguments: &[&str]) -> Command {
    program_at(env!("CARGO_BIN_EXE_daemonset-controller"), arguments)
}

fn program_at(path: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(path);
    command.args(arguments).env_clear().env("HOME", "/nonexistent").stdin(Stdio::null());
    command
}

/// The exit code and the lines of stderr.
fn code_and_lines(output: Output) -> (Option<i32>, Vec<String>) {
    let text = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), text.lines().map(ToOwned::to_owned).collect())
}

fn file(name: &str, text: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("daemonset-controller-{}-{name}", std::process::id()));
    std::fs::write(&path, text).unwrap();
    path
}

/// A kubeconfig for the API server at this address.
fn kubeconfig(name: &str, server: &str) -> PathBuf {
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "test",
        "clusters": [{"name": "test", "cluster": {"server": server}}],
        "users": [{"name": "test", "user": {"token": "secret"}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
    });
    file(name, &config.to_string())
}

/// The program while it acts, and its log.
fn acting(api: &Api, name: &str, arguments: &[&str]) -> (Child, BufReader<ChildStderr>) {
    let mut command = program(arguments);
    command.arg("--listen=127.0.0.1:0").env("KUBECONFIG", api.kubeconfig(name));
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap());
    wait_for_line(&mut log, "the caches are filled");
    (child, log)
}

/// The lines of the log up to the first one with this text.
fn wait_for_line(log: &mut impl BufRead, text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    while !lines.last().is_some_and(|line| line.contains(text)) {
        let mut line = String::new();
        assert!(log.read_line(&mut line).unwrap() > 0, "no line {text:?}: {lines:#?}");
        lines.push(line);
    }
    lines
}

fn check(arguments: &[&str]) -> Result<Policy, Vec<String>> {
    Args::try_parse_from([&["daemonset-controller"], arguments].concat()).unwrap().check()
}

#[test]
fn a_command_line_that_a_server_would_refuse_ends_the_process_with_all_problems() {
    let output = program(&[
        "--selector=a in (",
        "--namespace=Bad_NS",
        "--lease-name=Bad_/x",
        "--lease-namespace=kube.system",
        "--unready=Sometimes",
        "--burst=0",
        "--policy=/nonexistent/policy.yaml",
    ])
    .output()
    .unwrap();
    let (code, lines) = code_and_lines(output);
    assert_eq!(code, Some(2));
    assert_eq!(lines.len(), 7, "{lines:#?}");
    for (line, begin) in lines.iter().zip([
        "error: --namespace: \"Bad_NS\" must be",
        "error: --selector: \"a in (\": a closing parenthesis is missing",
        "error: --lease-namespace: \"kube.system\" must be",
        "error: --lease-name: \"Bad_/x\" must be",
        "error: --policy /nonexistent/policy.yaml: No such file",
        "error: --unready: unready: unknown variant `Sometimes`, expected `AtOnce` or `WithinBudget`",
        "error: policy.burst: Invalid value: 0: must be at least 1",
    ]) {
        assert!(line.starts_with(begin), "{line}");
    }
}

#[test]
fn a_problem_is_one_line_without_characters_that_act() {
    let (code, lines) = code_and_lines(program(&["--policy=/nonexistent/a\n\u{1b}[2Jb"]).output().unwrap());
    assert_eq!((code, lines.len()), (Some(2), 1), "{lines:#?}");
    assert!(lines[0].starts_with(r"error: --policy /nonexistent/a\n\u{1b}[2Jb: "), "{lines:#?}");
}

#[test]
fn a_process_without_a_kubeconfig_says_so_in_one_sentence() {
    let (code, lines) = code_and_lines(program(&["--listen=127.0.0.1:0"]).output().unwrap());
    assert_eq!(code, Some(1));
    let errors: Vec<&String> = lines.iter().filter(|line| line.contains("ERROR")).collect();
    let [line] = errors.as_slice() else { panic!("{lines:#?}") };
    assert!(line.ends_with("neither $KUBECONFIG nor ~/.kube/config exists"), "{line}");
    let mut command = program(&["--listen=127.0.0.1:0"]);
    let (_, lines) = code_and_lines(command.env("KUBECONFIG", "/nonexistent/config").output().unwrap());
    assert!(
        lines.iter().any(|line| line.contains("/nonexistent/config") && line.contains("No such file")),
        "{lines:#?}"
    );
}

/// A standby would be ready, and fail once it holds the lease.
#[test]
fn a_folder_of_recordings_that_cant_be_made_ends_the_process_before_it_asks_for_the_lease() {
    let api = Api::start();
    let mut command = program(&["--listen=127.0.0.1:0", "--record=/proc/none"]);
    let (code, lines) = code_and_lines(command.env("KUBECONFIG", api.kubeconfig("record")).output().unwrap());
    assert_eq!(code, Some(1));
    assert!(
        lines.last().is_some_and(|line| line.contains("ERROR") && line.contains("create /proc/none: ")),
        "{lines:#?}"
    );
    assert_eq!(api.rest(), [""; 0], "no lease was written");
}

/// With and without a lease, whose requests come first.
#[test]
fn an_unreachable_server_is_one_line_with_its_address() {
    // Nothing listens on a port that was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let config = kubeconfig("kubeconfig", &format!("https://127.0.0.1:{port}"));
    for leader_elect in ["--leader-elect=true", "--leader-elect=false"] {
        let mut command = program(&["--listen=127.0.0.1:0", "--lease-seconds=3", leader_elect]);
        let mut child = command.env("KUBECONFIG", &config).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(Duration::from_secs(4));
        child.kill().unwrap();
        let (_, lines) = code_and_lines(child.wait_with_output().unwrap());
        let failures: Vec<&String> = lines.iter().filter(|line| !line.contains(" INFO ")).collect();
        let [line] = failures.as_slice() else { panic!("{lines:#?}") };
        assert!(line.contains(&format!("https://127.0.0.1:{port}")) && line.contains("since="), "{line}");
    }
}

/// Each created pod is a line of the log.
#[test]
fn a_log_that_no_one_reads_any_more_ends_no_task() {
    let api = Api::start();
    let (mut child, log) = acting(&api, "unread-log", &["--rest=1"]);
    drop(log);
    api.answer(usize::MAX / 2);
    // More than there are workers.
    for _ in 0..4 {
        api.add_nodes(1);
        api.wait_for("/pods");
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

/// The plans go to stdout.
#[test]
fn plans_that_no_one_reads_any_more_end_no_task() {
    let api = Api::start();
    let mut command = program(&["--dry-run", "--listen=127.0.0.1:0", "--rest=1"]);
    command.env("KUBECONFIG", api.kubeconfig("unread-plans")).env("RUST_LOG", "daemonset_controller=debug");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap());
    wait_for_line(&mut log, "the caches are filled");
    drop(child.stdout.take());
    api.add_nodes(1);
    assert!(child.wait().unwrap().success(), "as with any other program before `head`");
}

#[test]
fn a_signal_ends_the_process_after_the_calls_under_way() {
    let api = Api::start();
    api.add_nodes(100);
    let (mut child, mut log) = acting(&api, "signal", &[]);
    // The first batches, each twice as large as the one before; of the next one all are under way.
    let (answered, under_way) = (1 + 2 + 4 + 8, 16);
    api.answer(answered);
    for _ in 0..answered + under_way {
        api.wait_for("/pods");
    }
    let killed = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let is_created = |line: &str| line.contains("Created pod");
    let before = wait_for_line(&mut log, "shutting down").into_iter().filter(|line| is_created(line)).count();
    // Long enough for a process that does not wait for them.
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!((api.given_back(), child.try_wait().unwrap()), (false, None), "calls are under way");
    api.answer(100);
    let after = log.lines().map(Result::unwrap).filter(|line| is_created(line)).count();
    assert_eq!(before + after, answered + under_way, "each outcome is recorded");
    assert!(child.wait().unwrap().success());
    let renewal = |write: &String| write.starts_with("lease ") && write != "lease ";
    let after: Vec<String> = api.rest().into_iter().filter(|write| !renewal(write)).collect();
    assert_eq!(after, ["lease "], "the lease was given back, and nothing else was sent");
}

#[test]
fn a_flag_wins_over_the_file_and_the_file_over_the_default() {
    assert_eq!(check(&[]), Ok(Policy::default()));
    for (name, text) in [
        ("policy.yaml", "unready: WithinBudget\nburst: 100\n"),
        ("policy.json", "{\"unready\": \"WithinBudget\", \"burst\": 100}"),
    ] {
        let path = file(name, text);
        let path = format!("--policy={}", path.display());
        let policy = check(&[&path]).unwrap();
        assert_eq!((policy.unready, policy.burst), (UnreadyPolicy::WithinBudget, 100));
        let policy = check(&[&path, "--unready=AtOnce", "--burst=7"]).unwrap();
        assert_eq!((policy.unready, policy.burst), (UnreadyPolicy::AtOnce, 7));
    }
    assert_eq!(
        check(&[&format!("--policy={}", file("empty.yaml", "# nothing\n").display())]),
        Ok(Policy::default())
    );
    // The serialized form of any policy is a file.
    let full = Policy::default().unready(UnreadyPolicy::WithinBudget).in_flight_expiry_seconds(60);
    let path = file("full.json", &serde_json::to_string(&full).unwrap());
    assert_eq!(check(&[&format!("--policy={}", path.display())]), Ok(full));
}

#[test]
fn a_file_drives_only_with_the_flag() {
    let path = file("drive.yaml", "drive: {type: RollingUpdate}\n");
    let path = format!("--policy={}", path.display());
    assert!(check(&["--drive", &path]).is_ok_and(|policy| policy.external_controller.is_some()));
    assert_eq!(
        check(&[&path]),
        Err(vec!["policy.externalController: only a process with --drive drives updates".to_owned()])
    );
}

#[test]
fn each_problem_of_a_policy_file_is_named_with_its_path() {
    let text = "unready: Never\nnoSuchField: 1\nburst: many\nuniqueLabelKey: a/b/c\nrollout: {paused: maybe, waves: [{upto: 1}]}\n";
    let path = file("bad.yaml", text);
    let problems = check(&[&format!("--policy={}", path.display())]).unwrap_err();
    assert_eq!(problems.len(), 6, "{problems:#?}");
    for part in [
        "unready: unknown variant `Never`",
        "noSuchField: unknown field",
        "burst: invalid type",
        "uniqueLabelKey",
        "rollout.paused: invalid type",
        "rollout.waves[0].upto: unknown field",
    ] {
        assert!(problems.iter().any(|problem| problem.contains(part)), "{part}: {problems:#?}");
    }
    for text in ["- a\n", "unready: [\n", "burst: 1\nburst: 2\n", ".: 1\n"] {
        let path = file("worse.yaml", text);
        let problems = check(&[&format!("--policy={}", path.display())]).unwrap_err();
        assert!(problems.len() == 1 && problems[0].lines().count() == 1, "{problems:#?}");
    }
}

/// The names of all fields: those of the serialized default, and those that the decoder names for an unknown one.
fn fields_of_policy() -> Vec<String> {
    fn add(value: &Value, names: &mut Vec<String>) {
        for (name, value) in value.as_object().into_iter().flatten() {
            names.push(name.clone());
            add(value, names);
        }
    }
    let mut names = Vec::new();
    add(&serde_json::to_value(Policy::default()).unwrap(), &mut names);
    let error = serde_json::from_value::<Policy>(json!({"no such field": 1})).unwrap_err().to_string();
    let expected = error.split_once("expected").unwrap().1;
    names.extend(expected.split('`').skip(1).step_by(2).map(ToOwned::to_owned));
    names
}

#[test]
fn help_says_for_each_field_of_the_policy_when_to_want_it() {
    let help = Args::command().render_long_help().to_string();
    let fields = fields_of_policy();
    assert!(fields.len() >= 12, "{fields:?}");
    for field in fields {
        assert!(help.contains(&format!("{field}: ")), "--help does not explain {field}");
    }
}
