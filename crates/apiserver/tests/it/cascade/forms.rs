//! The JSON form of actions and stages, and the bodies of requests.

use super::world::world;
use daemonset_apiserver::cascade::{Propagation, Stage};
use serde_json::json;

#[test]
fn an_action_names_object_precondition_and_reason() {
    let released = serde_json::to_value(&world().deleted(Propagation::Orphan).actions()[0]).unwrap();
    let pod = json!({"namespace": "ns", "name": "web-a", "uid": "uid-web-a", "resourceVersion": "1"});
    assert_eq!(released, json!({"type": "ReleasePod", "pod": pod, "owner": "ours", "reason": "Orphaned"}));
    let deleted = &world().deleted(Propagation::Background).actions()[0];
    assert_eq!(
        serde_json::to_value(deleted).unwrap(),
        json!({"type": "DeletePod", "pod": pod, "propagationPolicy": "Background", "reason": "OwnerGone"})
    );
    assert_eq!(
        serde_json::to_value(deleted.delete_options()).unwrap(),
        json!({"propagationPolicy": "Background", "preconditions": {"uid": "uid-web-a", "resourceVersion": "1"}})
    );
    let mut alone = world().finalizers(json!(["a/b"])).deleted(Propagation::Orphan);
    alone.pods.clear();
    alone.revisions.clear();
    let [finalized] = &alone.actions()[..] else { panic!("one action") };
    assert_eq!(
        serde_json::to_value(finalized).unwrap(),
        json!({"type": "RemoveFinalizer", "finalizer": "orphan", "finalizers": ["a/b"], "reason": "DependentsOrphaned",
            "daemonSet": {"namespace": "ns", "name": "web", "uid": "ours", "resourceVersion": "1"}})
    );
    assert_eq!(
        finalized.patch(),
        Some(json!({"metadata": {"uid": "ours", "resourceVersion": "1", "finalizers": ["a/b"]}}))
    );
}

#[test]
fn a_stage_names_its_figures() {
    let stage = Stage::WaitingForDependents { dependents: 3, blocking: 2 };
    assert_eq!(
        serde_json::to_value(stage).unwrap(),
        json!({"type": "WaitingForDependents", "dependents": 3, "blocking": 2})
    );
}
