//! Which DaemonSet, at what time, by which policy.

use super::{daemon_set, dump, file, list, node, pod, printed, recording, with};
use serde_json::{Value, json};

/// The line of the head with this label.
fn line<'t>(text: &'t str, label: &str) -> &'t str {
    let line = text.lines().find(|line| line.starts_with(label)).unwrap_or_default();
    line.trim_start_matches(label).trim()
}

#[test]
fn one_of_several_daemon_sets_is_chosen_by_name() {
    let both = list(vec![daemon_set("agent"), node("a"), daemon_set("shipper")]);
    for name in ["logging/agent", "logging/shipper"] {
        let text = printed(&["-", "--daemonset", name], &both);
        assert!(line(&text, "DaemonSet").starts_with(&format!("{name}, RollingUpdate")), "{text}");
    }
}

/// A kind of the same name in another group is another kind.
#[test]
fn items_of_other_kinds_are_ignored() {
    let other = with(daemon_set("other"), "/apiVersion", json!("apps.kruise.io/v1alpha1"));
    let disk = with(node("a"), "/apiVersion", json!("longhorn.io/v1beta2"));
    let service =
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"creationTimestamp": "whenever"}});
    let text = printed(&["-"], &list(vec![other, disk, service, daemon_set("agent"), node("a")]));
    assert!(line(&text, "Nodes").starts_with("1: "), "{text}");
}

/// A pod of another namespace is read, but has no part in the plan: not even when it is there twice.
#[test]
fn only_the_namespace_of_the_daemon_set_matters() {
    let elsewhere = with(pod("a"), "/metadata/namespace", json!("shop"));
    let items = vec![daemon_set("agent"), node("a"), elsewhere.clone(), elsewhere];
    let text = printed(&["-"], &list(items));
    assert_eq!(line(&text, "Now"), "create 1 revision, create 1 pod, write the status");
}

#[test]
fn a_list_is_planned_at_the_newest_time_in_it() {
    let young = json!({"conditions": [{"type": "Ready", "lastTransitionTime": "2026-01-01T00:03:00Z"}]});
    let items = || vec![daemon_set("agent"), with(node("a"), "/status", young.clone()), pod("p")];
    let text = printed(&["-"], &list(items()));
    assert_eq!(line(&text, "As of"), "2026-01-01T00:03:00Z, the newest time in stdin");
    let text = printed(&["-", "--now", "2026-01-01T02:00:00+01:00"], &list(items()));
    assert_eq!(line(&text, "As of"), "2026-01-01T01:00:00Z, as --now says; stdin");
}

#[test]
fn a_recording_is_planned_at_its_own_time() {
    let monday = recording("monday", &["a"]).to_string();
    let text = printed(&["-"], &monday);
    assert_eq!(line(&text, "As of"), "2026-01-01T00:10:00Z, the time of recording monday; stdin");
    let text = printed(&["-", "--now", "2026-01-01T01:00:00Z", "--daemonset", "logging/agent"], &monday);
    assert_eq!(line(&text, "As of"), "2026-01-01T01:00:00Z, as --now says; stdin");
}

/// One pod of an update is not Ready, another waits: by default the first goes at once.
#[test]
fn a_policy_file_replaces_the_policy() {
    let undo = dump("undo.json");
    assert_eq!(
        line(&printed(&[&undo], ""), "Nodes"),
        "5: 1 to lose a pod, 1 held by maxUnavailable, 3 up to date"
    );
    let policy = file("within-budget.json", r#"{"unready": "WithinBudget", "burst": 100}"#);
    let text = printed(&[&undo, "--policy", &policy], "");
    assert_eq!(line(&text, "Policy"), "burst 100, unready WithinBudget");
}

#[test]
fn a_file_and_stdin_are_the_same() {
    let monday = recording("monday", &["a"]).to_string();
    let path = file("monday.json", &monday);
    assert_eq!(printed(&[&path], "").replace(&path, "stdin"), printed(&["-"], &monday));
}

#[test]
fn a_name_for_the_plan_is_made_where_the_recording_has_none() {
    let mut nameless = recording("", &["a"]);
    nameless["nodes"] = Value::Null;
    let plan: Value = serde_json::from_str(&printed(&["-", "-o", "json"], &nameless.to_string())).unwrap();
    assert_eq!(plan["name"], "logging/agent");
    assert_eq!(plan["report"]["nodes"], json!([]));
}
