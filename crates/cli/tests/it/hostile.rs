//! Names, annotations and messages with characters that act on a terminal: each command shows them escaped.

use crate::program::{Ran, run};
use serde_json::{Value, json};

/// A title for the terminal, a colour, a line of its own, and text that runs backwards.
const HOSTILE: &str = "x\u{1b}]0;title\u{7}\u{1b}[31m\r\nNext       all is well\u{202e}\u{200b}\u{9b}2J";

fn hostile(text: &str) -> String {
    format!("{text}{HOSTILE}")
}

fn template(version: &str) -> Value {
    json!({"metadata": {"labels": {"app": "agent"}, "annotations": {"note": hostile("note")}}, "spec": {"containers": [{
        "name": "c", "image": hostile(version), "args": [hostile("arg")],
    }]}})
}

fn revision(number: i64) -> Value {
    let name = format!("agent-{number}");
    json!({
        "apiVersion": "apps/v1", "kind": "ControllerRevision", "revision": number,
        "metadata": {
            "name": name, "namespace": "ns", "uid": format!("r{number}"), "labels": {"app": "agent", "controller-revision-hash": number.to_string()},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "ds", "controller": true}],
            "annotations": {
                "kubernetes.io/change-cause": hostile("cause"),
                "rollout.daemonset/failed": format!("{number} 2026-01-01T00:00:00Z {}", hostile("reason")),
            },
        },
        "data": {"spec": {"template": {"$patch": "replace", "metadata": template(&number.to_string())["metadata"], "spec": template(&number.to_string())["spec"]}}},
    })
}

fn pod(node: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": hostile(&format!("pod-{node}")), "namespace": "ns", "uid": format!("p-{node}"), "labels": {"app": "agent", "controller-revision-hash": "2"},
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "ds", "controller": true}],
        },
        "spec": {"nodeName": hostile(node), "containers": []},
        "status": {
            "phase": "Pending", "reason": hostile("phase"), "message": hostile("message"),
            "conditions": [{"type": "Ready", "status": "False", "reason": hostile("unready"), "message": hostile("why")}],
            "containerStatuses": [{"name": hostile("c"), "restartCount": 9, "ready": false, "image": hostile("i"), "imageID": "", "state": {
                "waiting": {"reason": hostile("waiting"), "message": hostile("pull")},
            }}],
        },
    })
}

fn node(name: &str) -> Value {
    let taint = json!({"key": "dedicated", "value": hostile("gpu"), "effect": "NoSchedule"});
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": hostile(name), "uid": name, "labels": {"pool": hostile("pool")}, "annotations": {"a": HOSTILE}},
        "spec": {"taints": if name == "b" { json!([taint]) } else { json!([]) }},
        "status": {"conditions": [{"type": "Ready", "status": "True", "reason": HOSTILE, "message": HOSTILE}]},
    })
}

fn daemon_set(annotations: &Value) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet",
        "metadata": {"name": "agent", "namespace": "ns", "uid": "ds", "generation": 2, "annotations": annotations},
        "spec": {
            "selector": {"matchLabels": {"app": "agent"}}, "template": template("2"),
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}},
        },
        "status": {
            "observedGeneration": 2, "desiredNumberScheduled": 2,
            "conditions": [{"type": "Available", "status": "False", "reason": hostile("not"), "message": hostile("because")}],
        },
    })
}

/// With a policy in YAML, in which people may write any character.
fn policy() -> Value {
    let reason = HOSTILE.escape_default().to_string().replace("\\u{1b}", "\\e").replace("\\u{7}", "\\a");
    let reason =
        reason.replace("\\u{202e}", "\\u202e").replace("\\u{200b}", "\\u200b").replace("\\u{9b}", "\\x9b");
    let text = format!(
        "# of two lines\nwaves: [{{upTo: 1, nodes: {{matchLabels: {{pool: canary}}}}}}, {{needsApproval: true}}]\n\
         onFailure: {{waitingSeconds: 1, waitingReasons: [\"waiting{reason}\"]}}\n"
    );
    json!({"rollout.daemonset/policy": text, "kubernetes.io/change-cause": hostile("cause"), "note": HOSTILE})
}

/// A policy with a problem in its text, and an annotation that is unknown.
fn bad_policy() -> Value {
    let text = json!({hostile("field"): 1, "waves": [{hostile("other"): 2}]}).to_string();
    json!({"rollout.daemonset/policy": text, "rollout.daemonset/approved": HOSTILE, "rollout.daemonset/paused": HOSTILE})
}

fn cluster(annotations: &Value) -> Vec<u8> {
    let items = [daemon_set(annotations), node("a"), node("b"), pod("a"), revision(1), revision(2)];
    json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string().into_bytes()
}

const COMMANDS: [(&str, &[&str]); 17] = [
    ("plan", &["-"]),
    ("plan", &["-", "-o", "json"]),
    ("why", &["-f", "-", "a"]),
    ("why", &["-f", "-", "nobody"]),
    ("on", &["-f", "-", "a"]),
    ("on", &["-f", "-", "-o", "json", "a"]),
    ("drain", &["-f", "-", "a", "--now", "2026-01-01T00:10:00Z"]),
    ("lint", &["-"]),
    ("lint", &["-", "-o", "json"]),
    ("describe", &["-"]),
    ("describe", &["-", "--revision", "1"]),
    ("rollout", &["history", "-"]),
    ("rollout", &["history", "-", "--revision", "1"]),
    ("rollout", &["status", "-", "--watch=false"]),
    ("rollout", &["stuck", "-"]),
    ("rollout", &["plan", "--from", "-"]),
    ("simulate", &["--from", "-"]),
];

/// The first character that acts, but for line breaks, and the tabs of kubectl's descriptions.
fn acts(text: &str) -> Option<char> {
    let is_unseen =
        |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}');
    text.chars().find(|c| (c.is_control() && !['\n', '\t'].contains(c)) || is_unseen(*c))
}

fn assert_is_harmless(call: &str, Ran { out, err, .. }: &Ran) {
    for text in [out, err] {
        assert_eq!(acts(text), None, "{call}: {text:?}");
        // kubectl's description of a template has the lines of its texts.
        let is_described = call.starts_with("describe") || call.contains("--revision");
        let is_forged = |line: &str| line.starts_with("Next       all is well") && !is_described;
        assert!(!text.lines().any(is_forged), "{call}: {text}");
    }
    assert!(!out.is_empty() || !err.is_empty(), "{call}");
}

#[test]
fn no_command_prints_a_character_that_acts() {
    let mut shown = String::new();
    for annotations in
        [json!({"kubernetes.io/change-cause": hostile("cause"), "note": HOSTILE}), policy(), bad_policy()]
    {
        let stdin = cluster(&annotations);
        for (command, arguments) in COMMANDS {
            let ran = run(command, arguments, &stdin);
            assert_is_harmless(&format!("{command} {arguments:?}"), &ran);
            shown += &ran.out;
            shown += &ran.err;
        }
    }
    for part in ["pod-a", "waiting", "cause", "reason"] {
        assert!(shown.contains(&format!(r"{part}x\u{{1b}}]0;title\u{{7}}")), "{part} is shown: {shown}");
    }
}

#[test]
fn json_means_what_was_read() {
    let ran = run("plan", &["-", "-o", "json"], &cluster(&json!({"note": HOSTILE})));
    let plan: Value = serde_json::from_str(&ran.out).unwrap();
    let text = plan.to_string();
    let name = Value::from(hostile("pod-a")).to_string();
    assert!(text.contains(name.trim_matches('"')), "{text}");
}

#[test]
fn a_recording_is_shown_escaped_too() {
    let List { daemon_set, nodes, pods, revisions } = List::new();
    let recording = json!({"now": "2026-01-01T00:10:00Z", "daemonSet": daemon_set, "nodes": nodes, "pods": pods, "revisions": revisions});
    let ran = run("plan", &["-"], recording.to_string().as_bytes());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_is_harmless("plan of a Recording", &ran);
    assert!(ran.out.contains(r"pod-ax\u{1b}]0;title"), "{}", ran.out);
}

/// The objects of a Recording.
struct List {
    daemon_set: Value,
    nodes: Value,
    pods: Value,
    revisions: Value,
}

impl List {
    fn new() -> Self {
        List {
            daemon_set: daemon_set(&json!({})),
            nodes: json!([node("a"), node("b")]),
            pods: json!([pod("a")]),
            revisions: json!([revision(1), revision(2)]),
        }
    }
}

/// The API server takes such a policy: only its readers can refuse it.
#[test]
fn too_large_a_policy_is_named_with_its_field() {
    let with = |text: String| cluster(&json!({"rollout.daemonset/policy": text}));
    let waves = format!("{{waves: [{}]}}", ["{}"; 65].join(","));
    for (text, problem) in [
        (" ".repeat(16 * 1024 + 1), "policy: Too long: may not be more than 16384 bytes"),
        (waves, "rollout.waves: Too many: 65: must have at most 64 items"),
    ] {
        for (command, arguments) in
            [("plan", &["-"][..]), ("lint", &["-"]), ("rollout", &["plan", "--from", "-"])]
        {
            let Ran { out, err, .. } = run(command, arguments, &with(text.clone()));
            assert!(
                out.contains(problem)
                    || err.contains(problem)
                    || out.contains(problem.split_once(": ").unwrap().1),
                "{command}: {out}{err}"
            );
        }
    }
}

/// The API server takes any text as an image, and a template keeps its characters.
#[test]
fn an_image_to_pull_forges_no_line() {
    let image = "x\nRun        kubectl delete namespace kube-system";
    let container = json!([{"name": "c", "image": image}]);
    let policy = json!({"rollout.daemonset/policy": "pull: {parallel: 1}"});
    let mut ds = daemon_set(&policy);
    ds["spec"]["template"]["spec"]["containers"] = container.clone();
    ds["spec"]["updateStrategy"] = json!({"type": "RollingUpdate"});
    let ready = json!([{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}]);
    let mut old = pod("a");
    old["status"] = json!({"phase": "Running", "conditions": ready});
    let mut free = node("a");
    free["spec"] = json!({});
    let items = [ds, free, old, revision(1)];
    let list = json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string().into_bytes();
    let mut told = 0;
    for (subcommand, words) in [("plan", &["-"][..]), ("why", &["-f", "-", "a"])] {
        let out = run(subcommand, words, &list).out;
        told += usize::from(out.contains(r"x\nRun "));
        assert!(out.lines().all(|line| !line.starts_with("Run        kubectl delete")), "{out}");
    }
    assert!(told > 0);
}
