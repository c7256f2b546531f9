//! The current revision, and the revisions that are deleted.

use crate::support::{everything, given, new, node, old, on_delete, pod, revision, rolling, template};
use daemonset::Action;
use daemonset::report::{RevisionOrigin, Situation};
use serde_json::{Value, json};

fn created(given: &crate::support::Given) -> Value {
    let plan = given.plan();
    let revision = plan.actions.iter().find_map(|action| match action {
        Action::CreateRevision { revision, .. } => Some(revision.clone()),
        _ => None,
    });
    revision.unwrap()
}

#[test]
fn a_template_without_a_revision_gets_one_numbered_above_all_others() {
    let given = given(on_delete())
        .revisions([revision("old", 7), revision("older", 3)])
        .with("/daemonSet/metadata/annotations", json!({"note": "kept"}));
    assert_eq!(given.steps(), ["create revision 8: NewTemplate"]);
    let made = created(&given);
    let hash = made["metadata"]["labels"]["controller-revision-hash"].as_str().unwrap().to_owned();
    let mut stored = template("new");
    stored["$patch"] = json!("replace");
    assert_eq!(
        made,
        json!({
            "apiVersion": "apps/v1",
            "kind": "ControllerRevision",
            "metadata": {
                "name": format!("agent-{hash}"),
                "namespace": "ns",
                "labels": {"app": "agent", "controller-revision-hash": hash},
                "annotations": {"note": "kept"},
                "ownerReferences": [crate::support::owner()],
            },
            "data": {"spec": {"template": stored}},
            "revision": 8,
        })
    );
}

#[test]
fn revision_numbers_start_at_one_even_after_negative_ones() {
    assert_eq!(given(on_delete()).revisions([]).steps(), ["create revision 1: NewTemplate"]);
    let negative = given(on_delete()).revisions([revision("old", -5)]);
    assert_eq!(negative.steps(), ["create revision 1: NewTemplate"]);
}

#[test]
fn a_null_in_a_stored_template_counts_as_absent() {
    let mut stored = revision("new", 2);
    stored["data"]["spec"]["template"]["metadata"]["creationTimestamp"] = Value::Null;
    let older_server = given(on_delete()).revisions([stored]);
    assert_eq!(older_server.steps(), [""; 0]);
    let null = given(on_delete()).with("/daemonSet/spec/template/metadata/creationTimestamp", Value::Null);
    assert_eq!(null.steps(), [""; 0]);
}

#[test]
fn an_unknown_field_makes_another_template_and_is_kept() {
    let unknown =
        given(on_delete()).with("/daemonSet/spec/template/spec/fieldOfTomorrow", json!({"a": [1.5]}));
    assert_eq!(unknown.steps(), ["create revision 3: NewTemplate"]);
    let stored = created(&unknown)["data"]["spec"]["template"]["spec"]["fieldOfTomorrow"].clone();
    assert_eq!(stored, json!({"a": [1.5]}));
}

#[test]
fn a_revision_that_is_current_again_is_renumbered_to_the_top() {
    let undone = given(rolling(1))
        .revisions([revision("new", 1), revision("old", 2)])
        .node(node("a").has(old()))
        .node(node("b").has(new()));
    assert_eq!(undone.steps(), ["renumber agent-new to 3: CurrentAgain", "delete a-1: OutdatedAvailable"]);
    assert_eq!(undone.plan().report.current_revision.unwrap().origin, RevisionOrigin::CurrentAgain);
    let tie = given(on_delete()).revisions([revision("new", 2), revision("old", 2)]);
    assert_eq!(tie.steps(), ["renumber agent-new to 3: CurrentAgain"]);
    let gap = given(on_delete()).revisions([revision("new", 9), revision("old", 2)]);
    assert_eq!(gap.steps(), [""; 0]);
}

/// A revision of the current template under another hash.
fn duplicate(hash: &str, number: i64) -> Value {
    let mut duplicate = revision("new", number);
    duplicate["metadata"]["name"] = json!(format!("agent-{hash}"));
    duplicate["metadata"]["uid"] = json!(format!("uid-agent-{hash}"));
    duplicate["metadata"]["labels"]["controller-revision-hash"] = json!(hash);
    duplicate
}

#[test]
fn the_largest_duplicate_stays_and_only_pods_of_the_others_are_relabelled() {
    let given = given(rolling(1))
        .revisions([duplicate("twin", 4), revision("new", 5), revision("old", 1)])
        .node(node("a").has(pod("twin")))
        .node(node("b").has(new()))
        .node(node("c").has(pod("unknown").not_ready()));
    assert_eq!(
        given.steps(),
        [
            r#"label a-1 {"controller-revision-hash": "new"}: DuplicateRevision"#,
            "delete c-1: OutdatedNotReady",
            "delete agent-twin: Duplicate",
        ]
    );
}

/// Kubernetes' controller made it: its hash of this template is not this crate's.
#[test]
fn a_revision_with_the_hash_of_kubernetes_keeps_its_name_and_its_pods() {
    let taken_over = given(rolling(1))
        .revisions([revision("old", 1), duplicate("6b4c7c96bb", 2)])
        .node(node("a").has(pod("6b4c7c96bb")));
    assert_eq!(taken_over.steps(), [""; 0]);
    assert_eq!(taken_over.plan().report.current_revision.unwrap().hash, "6b4c7c96bb");
    let first = taken_over.revisions([revision("old", 1)]);
    assert_ne!(created(&first)["metadata"]["name"], json!("agent-6b4c7c96bb"));
}

#[test]
fn equal_duplicates_are_ordered_by_age_then_name() {
    let aged = |hash: &str, created: &str| {
        let mut revision = duplicate(hash, 4);
        revision["metadata"]["creationTimestamp"] = json!(created);
        revision
    };
    let by_age =
        given(on_delete()).revisions([aged("a", "2025-01-02T00:00:00Z"), aged("b", "2025-01-01T00:00:00Z")]);
    assert_eq!(by_age.steps(), ["delete agent-a: Duplicate"]);
    let by_name = given(on_delete()).revisions([duplicate("b", 4), duplicate("a", 4)]);
    assert_eq!(by_name.steps(), ["delete agent-b: Duplicate"]);
}

#[test]
fn a_revision_without_the_hash_label_gets_its_name_as_hash() {
    let mut unlabelled = revision("new", 2);
    unlabelled["metadata"]["labels"] = json!({"app": "agent"});
    let given = given(rolling(1)).revisions([unlabelled]).node(node("a").has(pod("agent-new")));
    assert_eq!(given.steps(), [r#"label agent-new {"controller-revision-hash": "agent-new"}: HashMissing"#]);
}

#[test]
fn a_revision_created_in_this_pass_is_current_in_this_pass() {
    let lost = given(rolling(1)).revisions([revision("old", 1)]);
    let hash = created(&lost)["metadata"]["labels"]["controller-revision-hash"].as_str().unwrap().to_owned();
    let running = lost.node(node("a").has(pod(&hash)));
    assert_eq!(running.steps(), ["create revision 2: NewTemplate"]);
}

#[test]
fn a_name_collision_changes_the_collision_count_and_nothing_else() {
    let stable = given(rolling(1)).revisions([]).node(node("a")).node(node("b").has(old().orphan()));
    let name = created(&stable)["metadata"]["name"].clone();
    let taken = |owner: Value, version: &str| {
        let mut revision = revision(version, 1);
        revision["metadata"]["name"] = name.clone();
        revision["metadata"]["ownerReferences"] = owner;
        stable.clone().revisions([revision])
    };
    let other = json!([{"kind": "DaemonSet", "uid": "uid-other", "controller": true}]);
    for given in
        [taken(json!([crate::support::owner()]), "old"), taken(other.clone(), "new"), taken(other, "old")]
    {
        let plan = given.plan();
        assert_eq!(everything(&plan), ["status: NameCollision"]);
        assert_eq!(plan.report.situation, Situation::NameCollision);
        assert_eq!(plan.status.unwrap().collision_count, Some(1));
        let next = given.with("/daemonSet/status", json!({"collisionCount": 1}));
        assert_ne!(created(&next)["metadata"]["name"], name);
    }
}

#[test]
fn old_revisions_beyond_the_limit_are_deleted_oldest_first_but_never_live_ones() {
    let many = || (1..=12).map(|n| revision(&format!("v{n}"), n)).chain([revision("new", 13)]);
    let names = |given: crate::support::Given| given.steps();
    assert_eq!(
        names(given(on_delete()).revisions(many())),
        ["delete agent-v1: HistoryLimit", "delete agent-v2: HistoryLimit"]
    );
    let live = given(on_delete()).revisions(many()).node(node("a").has(pod("v1")));
    assert_eq!(names(live), ["delete agent-v2: HistoryLimit", "delete agent-v3: HistoryLimit"]);
    let gone = given(on_delete())
        .revisions(many())
        .node(node("a").has(new()).has(pod("v2").failed().terminating(-60)));
    assert_eq!(names(gone), ["delete agent-v1: HistoryLimit", "delete agent-v3: HistoryLimit"]);
    let none = given(on_delete())
        .revisions([revision("v1", 1), revision("v2", 2), revision("new", 3)])
        .with("/daemonSet/spec/revisionHistoryLimit", json!(0))
        .node(node("a").has(pod("v2")));
    assert_eq!(names(none), ["delete agent-v1: HistoryLimit"]);
}

#[test]
fn the_policy_sets_the_label_key() {
    let given =
        given(on_delete()).policy(json!({"uniqueLabelKey": "daemonset-controller-hash"})).revisions([]);
    let labels = created(&given)["metadata"]["labels"].clone();
    assert!(labels.get("daemonset-controller-hash").is_some(), "{labels}");
    assert!(labels.get("controller-revision-hash").is_none(), "{labels}");
}
