//! Bad input: one line that says where and why, exit code 2, and nothing on stdout.

use super::{bare, daemon_set, file, list, node, plan, plan_with, pod, recording, refused, with};
use serde_json::{Value, json};

/// The line without what comes before the problem.
fn refused_list(items: Vec<Value>) -> String {
    let line = refused(&["-"], &list(items));
    line.strip_prefix("error: stdin: ").unwrap().to_owned()
}

fn starts_with(line: &str, start: &str) {
    assert!(line.starts_with(start), "{line}");
}

#[test]
fn a_file_that_can_not_be_read() {
    starts_with(&refused(&["nowhere.json"], ""), "error: nowhere.json: No such file or directory");
    starts_with(
        &refused(&["--batch", "nowhere.jsonl"], ""),
        "error: nowhere.jsonl: No such file or directory",
    );
    starts_with(&refused(&["--batch", "."], ""), "error: .: Is a directory");
}

#[test]
fn text_that_is_no_json_is_refused_with_line_and_column() {
    let empty = "error: stdin: is empty";
    assert_eq!(refused(&["-"], ""), empty);
    let comma = "error: stdin: expected value at line 2 column 12";
    assert_eq!(refused(&["-"], "{\n  \"items\": ,\n}"), comma);
    let torn = "error: stdin: EOF while parsing a list at line 1 column 11";
    assert_eq!(refused(&["-"], "{\"items\": ["), torn);
    let more = "error: stdin: trailing characters at line 1 column 14";
    assert_eq!(refused(&["-"], "{\"items\": []}x"), more);
}

#[test]
fn text_that_is_no_utf8() {
    let ran = plan_with(&["-"], b"{\"items\": \"\xff\"}");
    let err = "error: stdin: invalid utf-8 sequence of 1 bytes from index 11\n";
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(2), "", err));
}

#[test]
fn json_of_another_kind() {
    let neither = "error: stdin: neither a List (items) nor a Recording (daemonSet)";
    assert_eq!(refused(&["-"], &node("a").to_string()), neither);
    assert_eq!(refused_list(vec![json!({})]), "items[0].kind: Required value");
    assert_eq!(refused_list(vec![node("a"), json!(7)]), "items[1].kind: Required value");
    let items = refused(&["-"], r#"{"items": {}}"#);
    assert_eq!(items, "error: stdin: items: invalid type: map, expected a list at line 1 column 12");
}

#[test]
fn a_list_without_the_daemon_set_that_is_meant() {
    assert_eq!(refused_list(vec![node("a")]), "no DaemonSet in the List");
    assert_eq!(
        refused(&["-"], r#"{"kind": "List", "items": null}"#),
        "error: stdin: no DaemonSet in the List"
    );
    let two = file("two-of-them.json", list(vec![daemon_set("agent"), node("a"), daemon_set("shipper")]));
    let stuck = crate::program::run("describe", &["-f", &two], b"");
    assert_eq!(
        stuck.err,
        format!("error: {two}: 2 DaemonSets: choose one with --daemonset: logging/agent, logging/shipper\n")
    );
    assert_eq!(
        refused(
            &["-", "--daemonset", "logging/nobody"],
            &list(vec![daemon_set("agent"), daemon_set("shipper")])
        ),
        "error: stdin: no DaemonSet logging/nobody in the List: there is logging/agent, logging/shipper"
    );
    assert_eq!(
        refused(
            &["-", "--daemonset", "logging/agent"],
            &list(vec![daemon_set("agent"), daemon_set("agent"), node("a")])
        ),
        "error: stdin: items[0] and items[1] are both DaemonSet logging/agent"
    );
    assert_eq!(
        refused(&["-", "--daemonset", "logging/nobody"], &recording("monday", &[]).to_string()),
        "error: stdin: no DaemonSet logging/nobody in this Recording: it is of logging/agent"
    );
}

#[test]
fn an_object_that_can_not_be_read_is_named_wherever_it_is() {
    let broken = with(pod("a"), "/metadata/creationTimestamp", json!("yesterday"));
    let elsewhere = with(broken.clone(), "/metadata/namespace", json!("shop"));
    starts_with(
        &refused_list(vec![daemon_set("agent"), node("a"), broken]),
        "items[2].metadata.creationTimestamp (Pod logging/a): failed to parse",
    );
    starts_with(
        &refused_list(vec![elsewhere, daemon_set("agent")]),
        "items[0].metadata.creationTimestamp (Pod shop/a): failed to parse",
    );
    starts_with(
        &refused_list(vec![
            daemon_set("agent"),
            with(node("a"), "/metadata/creationTimestamp", json!("soon")),
        ]),
        "items[1].metadata.creationTimestamp (Node a): failed to parse",
    );
    assert_eq!(
        refused_list(vec![daemon_set("agent"), with(node("a"), "/spec", json!({"taints": [{"key": 1}]}))]),
        "items[1].spec.taints[0].key (Node a): invalid type: integer `1`, expected a string"
    );
    let negative = json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": -1}});
    assert_eq!(
        refused_list(vec![with(daemon_set("agent"), "/spec/updateStrategy", negative), node("a")]),
        "items[0].spec.updateStrategy.rollingUpdate.maxUnavailable (DaemonSet logging/agent): Invalid value: -1: \
         must be an integer from 0 to 2147483647 or a percentage such as \"10%\""
    );
}

#[test]
fn a_daemon_set_that_can_not_be_planned() {
    let agent = |pointer, value| refused_list(vec![node("a"), with(daemon_set("agent"), pointer, value)]);
    assert_eq!(
        agent("/spec/selector", Value::Null),
        "items[1].spec.selector (DaemonSet logging/agent): Required value"
    );
    assert_eq!(
        agent("/spec/minReadySeconds", json!(-3)),
        "items[1].spec.minReadySeconds (DaemonSet logging/agent): Invalid value: -3: must be greater than or equal \
         to 0"
    );
    let selector = json!({"matchExpressions": [{"key": "app", "operator": "Like", "values": ["agent"]}]});
    starts_with(
        &agent("/spec/selector", selector),
        "items[1].spec.selector.matchExpressions[0].operator (DaemonSet logging/agent): Invalid value: \"Like\": must",
    );
}

#[test]
fn objects_that_are_there_twice() {
    let same_uid = with(pod("b"), "/metadata/uid", json!("uid-of-a"));
    let other_uid = with(pod("a"), "/metadata/uid", json!("another"));
    assert_eq!(
        refused_list(vec![daemon_set("agent"), node("a"), node("b"), node("a")]),
        "items[3].metadata.name (Node a): Duplicate value: \"a\": items[1] (Node a) has it too"
    );
    assert_eq!(
        refused_list(vec![pod("a"), daemon_set("agent"), other_uid, node("a")]),
        "items[2].metadata.name (Pod logging/a): Duplicate value: \"a\": items[0] (Pod logging/a) has it too"
    );
    assert_eq!(
        refused_list(vec![pod("a"), daemon_set("agent"), same_uid, node("a")]),
        "items[2].metadata.uid (Pod logging/b): Duplicate value: \"uid-of-a\": items[0] (Pod logging/a) has it too"
    );
}

#[test]
fn several_problems_are_one_line() {
    let agent = with(daemon_set("agent"), "/spec/minReadySeconds", json!(-3));
    assert_eq!(
        refused_list(vec![agent, node("a"), node("a")]),
        "items[0].spec.minReadySeconds (DaemonSet logging/agent): Invalid value: -3: must be greater than or equal \
         to 0; items[2].metadata.name (Node a): Duplicate value: \"a\": items[1] (Node a) has it too"
    );
    let odd = with(daemon_set("agent"), "/metadata/name", json!("two\nlines"));
    assert_eq!(
        refused_list(vec![with(odd, "/spec/selector", Value::Null), node("a")]),
        "items[0].spec.selector (DaemonSet logging/two\\nlines): Required value"
    );
}

#[test]
fn a_recording_that_can_not_be_planned() {
    let agent =
        |pointer, value| refused(&["-"], &with(recording("monday", &["a"]), pointer, value).to_string());
    assert_eq!(agent("/daemonSet/spec/selector", Value::Null), "error: stdin: spec.selector: Required value");
    starts_with(&agent("/now", json!("noon")), "error: stdin: now: failed to parse");
    assert_eq!(
        agent("/nodes", json!([bare(node("a")), bare(node("a"))])),
        "error: stdin: nodes[1].metadata.name: Duplicate value: \"a\": nodes[0] has it too"
    );
    starts_with(&refused(&["-"], r#"{"daemonSet": {}}"#), "error: stdin: recording: missing field `now`");
}

#[test]
fn options_that_can_not_be_used() {
    starts_with(
        &refused(&["--now", "noon"], ""),
        "error: --now \"noon\": must be a time such as 2026-01-01T00:00:00Z: failed to parse",
    );
    assert_eq!(
        refused(&["--daemonset", "agent"], ""),
        "error: --daemonset \"agent\": must be NAMESPACE/NAME"
    );
    assert_eq!(
        refused(&["--time", "0"], ""),
        "error: invalid value '0' for '--time <N>': 0 is not in 1..=4294967295; see --help"
    );
    assert_eq!(
        refused(&["-o", "yaml"], ""),
        "error: invalid value 'yaml' for '--output <OUTPUT>' [possible values: text, json]; see --help"
    );
    assert_eq!(
        refused(&["--batch", "-", "--time", "3"], ""),
        "error: the argument '--batch <FILE.jsonl>' cannot be used with '--time <N>'; see --help"
    );
}

#[test]
fn a_policy_that_can_not_be_used() {
    starts_with(&refused(&["--policy", "nowhere.json"], ""), "error: --policy nowhere.json: No such file");
    let misspelt = file("misspelt-policy.json", r#"{"brust": 5}"#);
    starts_with(
        &refused(&["--policy", &misspelt], ""),
        &format!("error: --policy {misspelt}: brust: unknown field `brust`, expected one of"),
    );
    let two = file("two-policies.json", r#"{"burst": "many", "rollout": {"waves": [{"upto": 1}]}}"#);
    assert_eq!(
        refused(&["--policy", &two], ""),
        format!(
            "error: --policy {two}: burst: invalid type: string \"many\", expected u32; rollout.waves[0].upto: unknown \
             field `upto`, expected one of `nodes`, `upTo`, `bakeSeconds`, `needsApproval`"
        )
    );
    let yaml = file("plan-policy.yaml", "# slowly\nburst: 1\n");
    assert!(super::printed(&["--example", "--policy", &yaml], "").contains("\nPolicy     burst 1\n"));
    let several = file("several-policies.yaml", "burst: 1\n---\nburst: 2\n");
    assert_eq!(
        refused(&["--policy", &several], ""),
        format!("error: --policy {several}: must be one document")
    );
    let zero = file("zero-policy.json", r#"{"burst": 0}"#);
    assert_eq!(
        refused(&["--example", "--policy", &zero], ""),
        "error: the built-in example: policy.burst: Invalid value: 0: must be at least 1"
    );
}

#[test]
fn a_list_without_a_time_needs_now() {
    let timeless = || {
        list(
            [daemon_set("agent"), node("a")]
                .map(|it| with(it, "/metadata/creationTimestamp", Value::Null))
                .into(),
        )
    };
    assert_eq!(refused(&["-"], &timeless()), "error: stdin: nothing in the List tells the time: pass --now");
    let ran = plan_with(&["-", "--now", "2026-01-01T00:00:00Z"], timeless().as_bytes());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
}

#[test]
fn help_is_no_error() {
    let ran = plan(&["--help"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert!(ran.out.contains("Usage: kubectl daemonset plan"), "{}", ran.out);
}
