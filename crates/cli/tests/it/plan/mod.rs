//! `plan` as a user calls it.

mod batch;
mod choice;
mod refusals;
mod text;
mod timing;

use crate::program::{Ran, binary, dump, run};
use serde_json::{Value, json};
use std::path::Path;

/// Calls it with nothing on stdin.
fn plan(arguments: &[&str]) -> Ran {
    plan_with(arguments, b"")
}

/// Calls it with this on stdin.
fn plan_with(arguments: &[&str], stdin: &[u8]) -> Ran {
    run("plan", arguments, stdin)
}

/// Its stdout when all is well.
fn printed(arguments: &[&str], stdin: &str) -> String {
    let ran = plan_with(arguments, stdin.as_bytes());
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    ran.out
}

/// Its one line about bad input.
fn refused(arguments: &[&str], stdin: &str) -> String {
    let ran = plan_with(arguments, stdin.as_bytes());
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{}", ran.err);
    let line = ran.err.strip_suffix('\n').unwrap();
    assert!(!line.contains('\n'), "{line}");
    line.to_owned()
}

/// Writes a file for one test.
pub(crate) fn file(name: &str, text: impl AsRef<[u8]>) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// As kubectl prints it.
pub(crate) fn list(items: Vec<Value>) -> String {
    json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string()
}

/// In namespace `logging`, with the selector `app: NAME`.
pub(crate) fn daemon_set(name: &str) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {
            "name": name, "namespace": "logging", "uid": format!("uid-of-{name}"), "generation": 1,
            "creationTimestamp": "2026-01-01T00:00:00Z",
        },
        "spec": {
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": {"containers": []}},
            "updateStrategy": {"type": "RollingUpdate"},
        },
    })
}

pub(crate) fn node(name: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "creationTimestamp": "2026-01-01T00:00:00Z"},
    })
}

/// In namespace `logging`, owned by no one.
pub(crate) fn pod(name: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name, "namespace": "logging", "uid": format!("uid-of-{name}"),
            "creationTimestamp": "2026-01-01T00:00:00Z",
        },
    })
}

/// A change of one field, by its JSON pointer.
pub(crate) fn with(mut object: Value, pointer: &str, value: Value) -> Value {
    let (parent, member) = pointer.rsplit_once('/').unwrap();
    object.pointer_mut(parent).unwrap()[member] = value;
    object
}

/// Without its `kind`, which no recording has.
pub(crate) fn bare(mut object: Value) -> Value {
    object.as_object_mut().unwrap().retain(|member, _| member != "apiVersion" && member != "kind");
    object
}

/// Agent `name` on nodes that have no pod yet.
pub(crate) fn recording(name: &str, nodes: &[&str]) -> Value {
    json!({
        "name": name,
        "now": "2026-01-01T00:10:00Z",
        "daemonSet": bare(daemon_set("agent")),
        "nodes": nodes.iter().map(|name| bare(node(name))).collect::<Vec<_>>(),
        "pods": [],
        "revisions": [],
    })
}
