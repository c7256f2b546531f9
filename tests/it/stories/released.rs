//! The current revision has lost the labels by which the DaemonSet owns it. No pod restarts for this reason.

use crate::support::{Given, apply, everything, given, node, old, owner, pod, revision, rolling, steps};
use daemonset::Action;
use daemonset::report::RevisionOrigin;
use serde_json::{Value, json};

/// The stored revision that a plan creates for the template, beside an old one.
fn stored() -> Value {
    let plan = given(rolling(1)).revisions([revision("old", 1)]).plan();
    let create = plan.actions.iter().find_map(|action| match action {
        Action::CreateRevision { revision, .. } => Some(revision.clone()),
        _ => None,
    });
    let mut revision = create.unwrap();
    revision["metadata"]["uid"] = json!("uid-stored");
    revision
}

fn hash() -> String {
    stored()["metadata"]["labels"]["controller-revision-hash"].as_str().unwrap().to_owned()
}

/// A revision with other labels.
fn labelled(labels: Value) -> Value {
    let mut revision = stored();
    revision["metadata"]["labels"] = labels;
    revision
}

/// A revision without the label that the selector requires.
fn unselected() -> Value {
    labelled(json!({"controller-revision-hash": hash()}))
}

fn with_owners(mut revision: Value, owners: Value) -> Value {
    revision["metadata"]["ownerReferences"] = owners;
    revision
}

fn orphan(revision: Value) -> Value {
    with_owners(revision, json!([]))
}

/// Two nodes run the current template, under the hash of its revision.
fn fleet(revisions: impl IntoIterator<Item = Value>) -> Given {
    let running = || pod(&hash());
    given(rolling(2)).revisions(revisions).node(node("a").has(running())).node(node("b").has(running()))
}

/// The steps of successive plans, until a plan has none.
fn plans(given: &Given) -> Vec<Vec<String>> {
    let mut recording = given.recording();
    let mut plans = Vec::new();
    while plans.len() < 9 {
        let again = Given { json: serde_json::to_value(&recording).unwrap() }.plan();
        if steps(&again).is_empty() {
            break;
        }
        assert_eq!(again.status.as_ref().and_then(|status| status.collision_count), None);
        plans.push(steps(&again));
        apply(&mut recording, &again);
    }
    plans
}

fn label(labels: &str) -> String {
    format!("label agent-{} {{{labels}}}: LabelsLost", hash())
}

fn adopt() -> String {
    format!("adopt agent-{}: SelectorMatches", hash())
}

#[test]
fn a_released_current_revision_gets_its_labels_back_and_is_adopted() {
    let release = format!("release agent-{}: SelectorNoLongerMatches", hash());
    let app = label(r#""app": "agent""#);
    let lost = fleet([revision("old", 1), unselected()]);
    assert_eq!(plans(&lost), [vec![release, app.clone()], vec![adopt()]]);
    let current = lost.plan().report.current_revision.unwrap();
    assert_eq!((current.hash, current.origin), (hash(), RevisionOrigin::Kept));
    let released = fleet([revision("old", 1), orphan(unselected())]);
    assert_eq!(
        plans(&released),
        [vec![app.clone()], vec![adopt()]],
        "by another controller, or before a crash"
    );
    let other = labelled(json!({"app": "other", "controller-revision-hash": hash(), "note": "kept"}));
    assert_eq!(plans(&fleet([revision("old", 1), orphan(other)])), [vec![app], vec![adopt()]]);
}

#[test]
fn a_lost_hash_label_is_restored_from_the_end_of_the_name() {
    let both = label(&format!(r#""app": "agent", "controller-revision-hash": "{}""#, hash()));
    let bare = fleet([revision("old", 1), orphan(labelled(json!({})))]);
    assert_eq!(plans(&bare), [vec![both], vec![adopt()]]);
}

#[test]
fn an_existing_hash_label_stays_and_decides_which_pods_are_updated() {
    let renamed = orphan(labelled(json!({"controller-revision-hash": "by-hand"})));
    let given = given(rolling(1)).revisions([renamed]).node(node("a").has(pod("by-hand")));
    assert_eq!(plans(&given), [vec![label(r#""app": "agent""#)], vec![adopt()]]);
}

#[test]
fn new_pods_get_its_hash_and_the_rollout_continues() {
    let given = fleet([revision("old", 1), orphan(unselected())])
        .node(node("c").has(old()))
        .node(node("d"))
        .node(node("e").has(pod("x").without_hash().generation("4")))
        .generation(4);
    let app = label(r#""app": "agent""#);
    let hashed = format!(r#"label e-1 {{"controller-revision-hash": "{}"}}: HashMissing"#, hash());
    let update = ["delete c-1: OutdatedAvailable", "create on d in batch 0: MissingPod"].map(str::to_owned);
    let [delete, create] = update;
    assert_eq!(given.steps(), [app, hashed, delete, create]);
    let created = given.plan().actions.into_iter().find_map(|action| match action {
        Action::CreatePod { pod, .. } => Some(pod.to_value()),
        _ => None,
    });
    assert_eq!(created.unwrap()["metadata"]["labels"]["controller-revision-hash"], json!(hash()));
}

#[test]
fn a_released_revision_is_renumbered_once_it_is_owned_again() {
    let renumber = format!("renumber agent-{} to 8: CurrentAgain", hash());
    let undone = fleet([revision("old", 7), orphan(unselected())]);
    assert_eq!(plans(&undone), [vec![label(r#""app": "agent""#)], vec![adopt(), renumber]]);
}

#[test]
fn additional_labels_are_kept() {
    let excluded = json!({"matchExpressions": [{"key": "parked", "operator": "DoesNotExist"}]});
    let parked = labelled(json!({"app": "agent", "controller-revision-hash": hash(), "parked": "yes"}));
    let given = fleet([revision("old", 1), orphan(parked)]).with("/daemonSet/spec/selector", excluded);
    assert_eq!(given.steps(), [""; 0]);
}

#[test]
fn an_owned_revision_of_the_template_comes_first() {
    let given = given(rolling(1)).revisions([orphan(unselected()), revision("new", 2)]);
    assert_eq!(given.steps(), [""; 0]);
}

#[test]
fn a_revision_of_another_name_namespace_content_or_owner_or_a_terminating_one_does_not_come_back() {
    let collides = |revision: Value| {
        let plan = fleet([revision]).plan();
        assert_eq!(everything(&plan), ["status: NameCollision"]);
        assert_eq!(plan.status.unwrap().collision_count, Some(1));
    };
    let other = json!([{"kind": "DaemonSet", "uid": "uid-other", "controller": true}]);
    collides(with_owners(unselected(), other));
    let going = |mut revision: Value| {
        revision["metadata"]["deletionTimestamp"] = json!("2026-01-01T12:00:00Z");
        revision
    };
    collides(going(orphan(unselected())));
    collides(going(orphan(stored())));
    collides(going(with_owners(unselected(), json!([owner()]))));
    let mut changed = unselected();
    changed["data"] = revision("old", 1)["data"].clone();
    collides(orphan(changed.clone()));
    collides(changed);
    let unnoticed = |key: &str, value: &str| {
        let mut revision = orphan(unselected());
        revision["metadata"][key] = json!(value);
        let steps = given(rolling(1)).revisions([revision]).steps();
        assert_eq!(steps, ["create revision 1: NewTemplate"], "{key}");
    };
    unnoticed("name", "agent-twin");
    unnoticed("namespace", "elsewhere");
}

#[test]
fn the_name_follows_the_current_collision_count() {
    let given = fleet([orphan(unselected())]).with("/daemonSet/status", json!({"collisionCount": 1}));
    assert_eq!(given.steps()[0], "create revision 1: NewTemplate");
}
