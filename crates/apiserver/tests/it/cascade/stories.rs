//! The next actions and their order.

use super::world::{object, owned, owner, with, world};
use daemonset_apiserver::cascade::Propagation::{Background, Foreground, Orphan};
use daemonset_apiserver::cascade::Stage;
use serde_json::json;

#[test]
fn a_live_daemon_set_has_no_actions() {
    assert_eq!(world().steps(), [""; 0]);
    assert_eq!(world().stage(), Stage::NotBeingDeleted);
}

#[test]
fn in_the_background_the_daemon_set_is_removed_first() {
    let mut world = world().deleted(Background);
    assert_eq!(world.removed, ["ours"]);
    assert_eq!(world.stage(), Stage::Gone { dependents: 3 });
    assert_eq!(
        world.steps(),
        [
            "delete pod web-a Background: OwnerGone",
            "delete pod web-b Background: OwnerGone",
            "delete revision web-1 Background: OwnerGone",
        ]
    );
    world.run_out();
    assert_eq!(world.names(), [""; 0]);
    assert_eq!(world.stage(), Stage::Gone { dependents: 0 });
}

#[test]
fn in_the_foreground_it_is_removed_last() {
    let mut world = world().deleted(Foreground);
    assert_eq!(world.stage(), Stage::WaitingForDependents { dependents: 3, blocking: 3 });
    assert_eq!(
        world.steps(),
        [
            "delete pod web-a Background: OwnerWaits",
            "delete pod web-b Background: OwnerWaits",
            "delete revision web-1 Background: OwnerWaits",
        ]
    );
    for action in world.actions() {
        world.execute(&action);
    }
    assert_eq!(world.steps(), [""; 0], "the pods terminate");
    assert_eq!(world.stage(), Stage::WaitingForDependents { dependents: 2, blocking: 2 });
    world.settle();
    assert_eq!(world.steps(), ["remove foregroundDeletion: DependentsGone"]);
    world.run_out();
    assert_eq!(world.removed.last().unwrap(), "ours");
    assert_eq!(world.names(), [""; 0]);
}

#[test]
fn orphans_are_released_before_the_daemon_set_is_removed() {
    let mut world = world().deleted(Orphan);
    assert_eq!(world.stage(), Stage::Orphaning { dependents: 3 });
    assert_eq!(
        world.steps(),
        ["release pod web-a: Orphaned", "release pod web-b: Orphaned", "release revision web-1: Orphaned"]
    );
    for action in world.actions() {
        world.execute(&action);
    }
    assert_eq!(world.steps(), ["remove orphan: DependentsOrphaned"]);
    world.run_out();
    assert_eq!(world.removed, ["ours"]);
    assert_eq!(world.names(), ["web-b", "web-a", "web-1"]);
}

#[test]
fn a_pod_that_appears_while_orphaning_is_released_too() {
    let mut world = world().deleted(Orphan);
    for action in world.actions() {
        world.execute(&action);
    }
    // A controller with an old cache created it.
    world.pods.push(owned("web-c"));
    assert_eq!(world.steps(), ["release pod web-c: Orphaned"]);
    world.run_out();
    assert_eq!(world.removed, ["ours"]);
}

#[test]
fn another_owner_keeps_a_pod() {
    let pod = object("shared", json!([owner("ours"), {"kind": "Lease", "name": "l", "uid": "other"}]));
    for policy in [Background, Foreground] {
        let mut world = world().pod(pod.clone()).deleted(policy);
        assert_eq!(world.steps()[0], "release pod shared: OtherOwner");
        world.run_out();
        assert_eq!(world.names(), ["shared"]);
        assert_eq!(world.pods[0]["metadata"]["ownerReferences"][0]["uid"], "other");
    }
}

#[test]
fn owners_are_identified_by_uid_not_by_name() {
    // An earlier DaemonSet with this name, and the current one.
    let before = object("before", json!([owner("uid-of-another-web")]));
    let mut world = world().pod(before).deleted(Background);
    world.daemon_set = Some(json!({"metadata": {"name": "web", "namespace": "ns", "uid": "new"}}));
    assert_eq!(world.stage(), Stage::Gone { dependents: 3 }, "the DaemonSet that was found is another one");
    world.run_out();
    assert_eq!(world.names(), ["web", "before"]);
}

#[test]
fn another_namespace_is_left_alone() {
    let mut world = world().pod(with(owned("far"), "namespace", json!("elsewhere"))).deleted(Background);
    world.run_out();
    assert_eq!(world.names(), ["far"]);
}

#[test]
fn other_finalizers_hold_the_daemon_set_and_its_pods() {
    let mut world = world().finalizers(json!(["example.com/backup"])).deleted(Background);
    let held = Stage::HeldByFinalizers { finalizers: vec!["example.com/backup".to_owned()] };
    assert_eq!((world.steps(), world.stage()), (vec![], held));
    world.settle();
    assert_eq!(world.stage(), Stage::Gone { dependents: 3 });
}

#[test]
fn other_finalizers_outlast_the_collectors() {
    for policy in [Foreground, Orphan] {
        let mut world = world().finalizers(json!(["example.com/backup"])).deleted(policy);
        for _ in 0..2 {
            world.actions().iter().for_each(|action| world.execute(action));
            world.pods.retain(|pod| !pod["metadata"]["deletionTimestamp"].is_string());
        }
        assert_eq!(
            world.daemon_set.as_ref().unwrap()["metadata"]["finalizers"],
            json!(["example.com/backup"])
        );
        assert_eq!(world.steps(), [""; 0]);
        world.run_out();
        assert!(world.daemon_set.is_none());
    }
}

#[test]
fn a_pod_that_does_not_block_is_deleted_but_not_waited_for() {
    let mut references = json!([owner("ours")]);
    references[0]["blockOwnerDeletion"] = json!(false);
    let mut world = world().only(vec![object("loose", references)], vec![]);
    world = world.deleted(Foreground);
    let steps = ["delete pod loose Background: OwnerWaits", "remove foregroundDeletion: DependentsGone"];
    assert_eq!(world.steps(), steps);
    world.run_out();
    assert_eq!(world.removed, ["ours", "uid-loose"]);
}

#[test]
fn dependents_that_are_being_deleted_are_waited_for() {
    let pod = with(owned("late"), "deletionTimestamp", json!("2026-01-01T11:00:00Z"));
    let world = world().only(vec![pod], vec![]).deleted(Foreground);
    assert_eq!(world.steps(), [""; 0]);
    assert_eq!(world.stage(), Stage::WaitingForDependents { dependents: 1, blocking: 1 });
}

#[test]
fn a_policy_set_on_a_pod_beforehand_is_respected() {
    let pods = vec![
        with(owned("a"), "finalizers", json!(["orphan"])),
        with(owned("b"), "finalizers", json!(["foregroundDeletion"])),
        with(owned("c"), "finalizers", json!(["example.com/x"])),
    ];
    let world = world().only(pods, vec![]).deleted(Background);
    assert_eq!(
        world.steps(),
        [
            "delete pod a Orphan: OwnerGone",
            "delete pod b Foreground: OwnerGone",
            "delete pod c Background: OwnerGone",
        ]
    );
}

#[test]
fn with_both_finalizers_orphan_comes_first() {
    let mut world = world();
    let metadata = &mut world.daemon_set.as_mut().unwrap()["metadata"];
    metadata["deletionTimestamp"] = json!("2026-01-01T11:00:00Z");
    metadata["finalizers"] = json!(["foregroundDeletion", "orphan"]);
    assert_eq!(world.steps()[0], "release pod web-a: Orphaned");
    world.run_out();
    assert_eq!(world.removed, ["ours"]);
}

#[test]
fn a_daemon_set_without_finalizers_is_deleted_again() {
    // The store was stopped between the last finalizer and the removal.
    let mut world = world();
    world.daemon_set.as_mut().unwrap()["metadata"]["deletionTimestamp"] = json!("2026-01-01T11:00:00Z");
    assert_eq!(world.stage(), Stage::ReadyToGo);
    assert_eq!(world.steps(), ["delete web: NothingHoldsIt"]);
    world.execute(&world.actions()[0]);
    assert_eq!(world.stage(), Stage::Gone { dependents: 3 });
}
