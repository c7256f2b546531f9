//! `--batch`: a line in, a line out, whatever the line.

use super::{binary, file, plan, plan_with, printed, recording, with};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

fn lines(out: &str) -> Vec<Value> {
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn batch(lines_in: &[u8]) -> Vec<Value> {
    let ran = plan_with(&["--batch", "-"], lines_in);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    lines(&ran.out)
}

#[test]
fn good_lines_are_answered_bad_ones_get_their_error_and_blank_ones_are_skipped() {
    let good = recording("monday", &["a"]);
    let no_selector = with(recording("tuesday", &[]), "/daemonSet/spec/selector", Value::Null);
    let bad_limit = json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "5x"}});
    let bad_limit = with(recording("wednesday", &[]), "/daemonSet/spec/updateStrategy", bad_limit);
    let text = format!("{good}\n\n{no_selector}\r\n   \n{bad_limit}\nnot json\n{{}}\n{good}");
    let answers = batch(text.as_bytes());
    assert_eq!(answers.len(), 6);
    assert_eq!(answers[0]["name"], "monday");
    assert_eq!(answers[0]["actions"][1]["type"], "CreatePod");
    assert_eq!(answers[0]["status"]["desiredNumberScheduled"], 1);
    assert_eq!(answers[1], json!({"name": "tuesday", "line": 3, "error": "spec.selector: Required value"}));
    assert_eq!((&answers[2]["name"], &answers[2]["line"]), (&json!("wednesday"), &json!(5)));
    let error = answers[2]["error"].as_str().unwrap();
    let path = "spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: \"5x\": must be";
    assert!(error.starts_with(path), "{error}");
    assert_eq!(
        answers[3],
        json!({"name": null, "line": 6, "error": "recording: expected ident at column 2"})
    );
    assert_eq!(
        answers[4],
        json!({"name": null, "line": 7, "error": "recording: missing field `now` at column 2"})
    );
    assert_eq!(answers[5], answers[0]);
}

#[test]
fn a_line_that_is_no_utf8_gets_its_error() {
    let mut text = b"{\"name\": \"\xff\"}\n".to_vec();
    text.extend(recording("monday", &[]).to_string().bytes());
    let answers = batch(&text);
    assert_eq!(answers[0], json!({"name": null, "line": 1, "error": "invalid UTF-8 at column 11"}));
    assert_eq!(answers[1]["name"], "monday");
}

#[test]
fn a_status_that_is_left_alone_is_null() {
    let deleted = with(
        recording("monday", &["a"]),
        "/daemonSet/metadata/deletionTimestamp",
        json!("2026-01-01T00:00:00Z"),
    );
    assert_eq!(
        batch(deleted.to_string().as_bytes()),
        [json!({"name": "monday", "actions": [], "status": null})]
    );
}

#[test]
fn a_line_may_be_long() {
    let names: Vec<String> = (0..3000).map(|number| format!("node-{number:060}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let long = recording("long", &names).to_string();
    assert!(long.len() > 200_000);
    let answers = batch(format!("{long}\n{long}\n").as_bytes());
    assert_eq!(answers.len(), 2);
    assert_eq!(answers[1]["status"]["desiredNumberScheduled"], 3000);
}

#[test]
fn a_file_gives_what_stdin_gives() {
    let path = file("batch.jsonl", format!("{}\n", recording("monday", &["a"])));
    assert_eq!(
        lines(&printed(&["--batch", &path], "")),
        batch(recording("monday", &["a"]).to_string().as_bytes())
    );
    assert_eq!(plan(&["--batch", &file("empty.jsonl", "")]).out, "");
}

/// A caller that sends one line at a time gets each answer before the next line.
#[test]
fn each_answer_comes_before_the_next_line_is_waited_for() {
    let mut child = Command::new(binary())
        .arg("plan")
        .args(["--batch", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    for name in ["monday", "tuesday"] {
        writeln!(input, "{}", recording(name, &["a"])).unwrap();
        let mut answer = String::new();
        output.read_line(&mut answer).unwrap();
        assert_eq!(lines(&answer)[0]["name"], name);
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

/// As `| head -1` does.
#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let path = file("much.jsonl", format!("{}\n", recording("monday", &["a", "b"])).repeat(2000));
    for arguments in
        [["--batch", path.as_str()].as_slice(), &["--help"], &["--example", "-o", "json"], &["--example"]]
    {
        let mut child = Command::new(binary())
            .arg("plan")
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(
            (output.status.code(), String::from_utf8(output.stderr).unwrap()),
            (Some(0), String::new())
        );
    }
}
