//! Labels that a released revision gets back.

use super::{broken, named};
use crate::support::{Given, given, node, pod, revision, rolling};
use daemonset::model::{Labels, ObjectRef};
use daemonset::{Action, LabelReason};
use daemonset_audit::ViolationKind as Kind;
use serde_json::{Value, json};

/// The revision of the template that a plan creates.
fn create() -> Action {
    let actions = given(rolling(1)).revisions([]).plan().actions;
    actions.into_iter().find(|action| matches!(action, Action::CreateRevision { .. })).unwrap()
}

/// The name and the hash of that revision, and a fleet in which it has lost its labels.
fn released(change: impl FnOnce(&mut Value)) -> (ObjectRef, String, Given) {
    let Action::CreateRevision { mut revision, .. } = create() else { panic!("a revision is created") };
    let name = revision["metadata"]["name"].as_str().unwrap().to_owned();
    let hash = name.strip_prefix("agent-").unwrap().to_owned();
    revision["metadata"]["uid"] = json!(format!("uid-{name}"));
    revision["metadata"]["labels"] = json!({});
    revision["metadata"]["ownerReferences"] = json!([]);
    change(&mut revision);
    let given = given(rolling(1)).revisions([revision]).node(node("a").has(pod(&hash)));
    (named(&name), hash, given)
}

fn label(revision: &ObjectRef, labels: &[(&str, &str)]) -> Action {
    let labels = Labels::from_iter(labels.iter().copied());
    Action::label_revision(revision.clone(), labels, LabelReason::LabelsLost)
}

#[test]
fn a_released_revision_gets_the_labels_of_a_new_one_and_no_others() {
    let (revision, hash, given) = released(|_| ());
    let (key, hash) = ("controller-revision-hash", hash.as_str());
    assert_eq!(broken(&given, &[label(&revision, &[("app", "agent"), (key, hash)])]), []);
    assert_eq!(broken(&given, &[label(&revision, &[("app", "agent")])]), []);
    assert_eq!(broken(&given, &[label(&revision, &[("app", "other")])]), [Kind::WrongLabel]);
    assert_eq!(broken(&given, &[label(&revision, &[("more", "agent")])]), [Kind::WrongLabel]);
    assert_eq!(broken(&given, &[label(&revision, &[(key, "other")])]), [Kind::WrongLabel]);
    let (revision, _, given) = released(|r| r["metadata"]["labels"] = json!({key: "by-hand"}));
    assert_eq!(
        broken(&given, &[label(&revision, &[(key, hash)])]),
        [Kind::WrongLabel],
        "the revision has a label"
    );
    assert_eq!(
        broken(&given, &[label(&revision, &[(key, "by-hand")])]),
        [Kind::WrongLabel],
        "the revision has a label"
    );
    assert_eq!(broken(&given, &[super::delete("a-1")]), [], "the end of its name is not its hash");
    let given = given.with("/pods/0/metadata/labels/controller-revision-hash", json!("by-hand"));
    assert_eq!(broken(&given, &[super::delete("a-1")]), [Kind::NeededPodDeleted]);
}

#[test]
fn a_released_revision_is_only_labelled_and_not_created_again() {
    let (revision, _, given) = released(|_| ());
    let number = Action::renumber_revision(revision.clone(), 9, daemonset::RevisionReason::CurrentAgain);
    assert_eq!(broken(&given, &[number]), [Kind::ForeignObject]);
    assert_eq!(broken(&given, &[super::delete_revision(&revision.name)]), [Kind::ForeignObject]);
    let mut second = create();
    if let Action::CreateRevision { revision, .. } = &mut second {
        revision["metadata"]["name"] = json!("agent-x");
        revision["metadata"]["labels"]["controller-revision-hash"] = json!("x");
    }
    assert_eq!(broken(&given, &[second]), [Kind::RevisionExists]);
    assert_eq!(broken(&given, &[super::delete("a-1")]), [Kind::NeededPodDeleted], "its pods are updated");
}

#[test]
fn only_an_orphan_with_the_name_and_the_template_gets_labels_back() {
    let refused = |change: fn(&mut Value)| {
        let (revision, _, given) = released(change);
        assert_eq!(broken(&given, &[label(&revision, &[("app", "agent")])]), [Kind::ForeignObject]);
    };
    refused(|r| r["metadata"]["deletionTimestamp"] = json!("2026-01-01T12:00:00Z"));
    refused(|r| r["data"] = revision("old", 1)["data"].clone());
    refused(|r| r["metadata"]["ownerReferences"] = json!([{"uid": "uid-other", "controller": true}]));
    let (_, _, given) = released(|r| {
        r["metadata"]["name"] = json!("agent-x");
        r["metadata"]["uid"] = json!("uid-agent-x");
    });
    assert_eq!(broken(&given, &[label(&named("agent-x"), &[("app", "agent")])]), [Kind::ForeignObject]);
    let (released, _, given) = released(|_| ());
    let beside = |other: Value| {
        let mut given = given.clone();
        given.json["revisions"].as_array_mut().unwrap().push(other);
        given
    };
    let app = |revision: &ObjectRef| [label(revision, &[("app", "agent")])];
    let owned = beside(revision("new", 2));
    assert_eq!(broken(&owned, &app(&released)), [Kind::ForeignObject], "another revision is owned");
    let mut stray = revision("old", 1);
    stray["metadata"]["labels"] = json!({});
    assert_eq!(broken(&beside(stray), &app(&named("agent-old"))), [Kind::ForeignObject], "another revision");
}
