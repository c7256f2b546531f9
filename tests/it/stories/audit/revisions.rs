//! Labels and revisions.

use super::{broken, delete_revision, label, named, violations};
use crate::support::{given, node, old, pod, revision, rolling};
use daemonset::model::Labels;
use daemonset::{Action, LabelReason, RevisionReason};
use daemonset_audit::ViolationKind as Kind;
use serde_json::json;

#[test]
fn a_label_never_makes_an_outdated_pod_look_updated() {
    let mut twin = revision("twin", 1);
    twin["data"] = revision("new", 2)["data"].clone();
    let given = given(rolling(1))
        .revisions([revision("old", 1), twin, revision("new", 2)])
        .node(node("a").has(old()).has(pod("twin")).has(pod("x").without_hash()));
    assert_eq!(broken(&given, &[label("a-2", "new")]), []);
    assert_eq!(broken(&given, &[label("a-1", "new")]), [Kind::WrongLabel]);
    assert_eq!(broken(&given, &[label("a-2", "old")]), [Kind::WrongLabel]);
    assert_eq!(
        broken(&given, &[label("a-3", "new")]),
        [Kind::WrongLabel],
        "no generation proves that the pod is updated"
    );
    let relabel = |hash: &str| {
        let labels = Labels::from_iter([("controller-revision-hash", hash)]);
        Action::label_revision(named("agent-old"), labels, LabelReason::HashMissing)
    };
    assert_eq!(broken(&given, &[relabel("agent-old")]), [Kind::WrongLabel], "the pod has a label");
    let bare = given.with("/revisions/0/metadata/labels", json!({"app": "agent"}));
    assert_eq!(broken(&bare, &[relabel("agent-old")]), []);
    assert_eq!(
        broken(&bare, &[relabel("other")]),
        [Kind::WrongLabel],
        "the hash is the hash is not its name"
    );
}

/// The revision that a plan creates, with a change.
fn new_revision(change: impl FnOnce(&mut serde_json::Value)) -> Action {
    let actions = given(rolling(1)).revisions([]).plan().actions;
    let mut create =
        actions.into_iter().find(|action| matches!(action, Action::CreateRevision { .. })).unwrap();
    if let Action::CreateRevision { revision, .. } = &mut create {
        change(revision);
    }
    create
}

#[test]
fn a_revision_is_created_once_complete_and_with_the_largest_number() {
    let empty = given(rolling(1)).revisions([revision("old", 0)]);
    assert_eq!(broken(&empty, &[new_revision(|_| ())]), []);
    assert_eq!(broken(&empty, &[new_revision(|_| ()), new_revision(|_| ())]), [Kind::RevisionExists]);
    assert_eq!(
        broken(&given(rolling(1)), &[new_revision(|r| r["revision"] = json!(9))]),
        [Kind::RevisionExists]
    );
    let found = violations(&given(rolling(1)), &[new_revision(|r| r["metadata"]["name"] = json!("agent-x"))]);
    assert_eq!(found[0].subject.to_string(), "revision ns/agent-x");
    let wrong = |field| [Kind::WrongRevision { field }];
    let other = new_revision(|r| r["data"] = revision("old", 1)["data"].clone());
    assert_eq!(broken(&empty, &[other]), wrong("data"));
    let other = new_revision(|r| r["metadata"]["labels"]["controller-revision-hash"] = json!("x"));
    assert_eq!(broken(&empty, &[other]), wrong("metadata.labels: hash"));
    let other = new_revision(|r| r["metadata"]["ownerReferences"] = json!([]));
    assert_eq!(broken(&empty, &[other]), wrong("metadata.ownerReferences"));
    let other = new_revision(|r| r["metadata"]["namespace"] = json!("elsewhere"));
    assert_eq!(broken(&empty, &[other]), wrong("metadata.namespace"));
    let other = new_revision(|r| r["metadata"]["labels"]["app"] = json!("other"));
    assert_eq!(broken(&empty, &[other]), wrong("metadata.labels: selector"));
    let mut name = json!(null);
    let again = new_revision(|r| name = r["metadata"]["name"].clone());
    let mut namesake = revision("old", 0);
    namesake["metadata"]["name"] = name;
    assert_eq!(broken(&given(rolling(1)).revisions([namesake]), &[again]), wrong("metadata.name"));
    let above = given(rolling(1)).revisions([revision("old", 1)]);
    let low = Kind::WrongRevisionNumber { number: 1, largest: 1 };
    assert_eq!(broken(&above, &[new_revision(|_| ())]), [low]);
}

#[test]
fn only_the_current_revision_is_renumbered() {
    let given = given(rolling(1)).revisions([revision("new", 1), revision("old", 2)]);
    let renumber =
        |name: &str, number| Action::renumber_revision(named(name), number, RevisionReason::CurrentAgain);
    assert_eq!(broken(&given, &[renumber("agent-new", 3)]), []);
    let wrong = |number| [Kind::WrongRevisionNumber { number, largest: 2 }];
    assert_eq!(broken(&given, &[renumber("agent-new", 2)]), wrong(2));
    assert_eq!(broken(&given, &[renumber("agent-old", 3)]), wrong(3));
}

#[test]
fn neither_the_current_revision_nor_live_history_is_deleted() {
    let mut twin = revision("twin", 1);
    twin["data"] = revision("new", 2)["data"].clone();
    let given = given(rolling(1))
        .revisions([revision("older", 1), revision("old", 2), twin, revision("new", 3)])
        .node(node("a").has(old()).has(pod("twin")).has(pod("older").owned_by("uid-other")))
        .with("/daemonSet/spec/revisionHistoryLimit", json!(0));
    let carried = |hash: &str| [Kind::LiveRevisionDeleted { hash: hash.to_owned() }];
    assert_eq!(broken(&given, &[delete_revision("agent-older")]), []);
    assert_eq!(broken(&given, &[delete_revision("agent-new")]), [Kind::CurrentRevisionDeleted]);
    assert_eq!(broken(&given, &[delete_revision("agent-old")]), carried("old"));
    assert_eq!(broken(&given, &[delete_revision("agent-twin")]), carried("twin"));
    assert_eq!(broken(&given, &[label("a-2", "new"), delete_revision("agent-twin")]), []);
    let kept = given.with("/daemonSet/spec/revisionHistoryLimit", json!(2));
    let short = Kind::HistoryCutShort { old: 2, limit: 2 };
    assert_eq!(broken(&kept, &[delete_revision("agent-older")]), [short]);
}
