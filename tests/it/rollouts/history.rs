//! Updates during an update, undo, and the revisions that are kept.

use super::support::cluster;
use crate::support::{on_delete, rolling};
use daemonset_sim::Behaviour;

#[test]
fn a_rollover_replaces_the_pods_furthest_behind_first() {
    let mut story = cluster(["a", "b", "c"], rolling(1));
    story.update("v2");
    story.until(|story| story.has("a: v2 available"));
    story.until(|story| story.has("b: v2 available"));
    story.cluster.edit(|ds| ds.spec.template["spec"]["containers"][0]["image"] = "v3".into());
    story.is_complete("v3");
    assert_eq!(story.revisions(), ["1: v1", "2: v2", "3: v3"]);
    let order: Vec<_> = story.deletes().iter().map(|line| line[7..8].to_owned()).collect();
    assert_eq!(order.concat(), "abcab", "c, on v1, before a and b, on v2");
    assert_eq!(story.worst().unavailable, 1);
}

#[test]
fn a_fix_reaches_the_broken_node_first_and_at_once() {
    let mut story = cluster(["a", "b", "c"], rolling(1));
    story.release("v2", Behaviour::broken());
    story.settle();
    story.mark();
    story.update("v3");
    story.is_complete("v3");
    assert_eq!(
        story.deletes(),
        ["delete a: OutdatedNotReady", "delete b: OutdatedAvailable", "delete c: OutdatedAvailable"]
    );
}

#[test]
fn undo_makes_the_old_revision_current_again() {
    let mut story = cluster(["a", "b"], rolling(1));
    let first = story.cluster.revisions().next().unwrap().metadata.uid.clone();
    story.update("v2");
    story.is_complete("v2");
    story.undo();
    story.is_complete("v1");
    assert_eq!(story.revisions(), ["2: v2", "3: v1"]);
    assert!(
        story.cluster.revisions().any(|revision| revision.metadata.uid == first && revision.revision == 3)
    );
    story.undo();
    story.is_complete("v2");
    assert_eq!(story.revisions(), ["3: v1", "4: v2"]);
}

#[test]
fn an_undo_midway_replaces_only_the_updated_pods() {
    let mut story = cluster(["a", "b", "c"], rolling(1));
    let c = story.pod_on("c");
    story.update("v2");
    story.until(|story| story.has("a: v2 available"));
    story.undo();
    story.is_complete("v1");
    assert_eq!(story.pod_on("c"), c);
}

#[test]
fn the_history_limit_is_kept() {
    let mut story = cluster(["a", "b"], rolling(1));
    story.cluster.edit(|ds| ds.spec.revision_history_limit = Some(2));
    for version in ["v2", "v3", "v4", "v5"] {
        story.update(version);
        story.is_complete(version);
    }
    assert_eq!(story.revisions(), ["3: v3", "4: v4", "5: v5"]);
}

#[test]
fn a_revision_is_kept_as_long_as_a_pod_runs_it() {
    let mut story = cluster(["a", "b"], on_delete());
    story.cluster.edit(|ds| ds.spec.revision_history_limit = Some(0));
    story.update("v2");
    story.cluster.delete_pod(&story.pod_on("a"));
    story.settle();
    story.update("v3");
    story.settle();
    assert_eq!(story.revisions(), ["1: v1", "2: v2", "3: v3"]);
    story.cluster.delete_pod(&story.pod_on("a"));
    story.settle();
    assert_eq!(story.revisions(), ["1: v1", "3: v3"]);
    story.cluster.delete_pod(&story.pod_on("b"));
    story.is_complete("v3");
    assert_eq!(story.revisions(), ["3: v3"]);
}

#[test]
fn an_edit_beside_the_template_restarts_no_pod() {
    let mut story = cluster(["a", "b"], rolling(1));
    story.cluster.edit(|ds| ds.spec.min_ready_seconds = 5);
    story.switch(rolling("50%"));
    story.is_complete("v1");
    assert_eq!((story.trail(), story.revisions()), (vec![], vec!["1: v1".to_owned()]));
}
