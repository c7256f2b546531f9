//! An update driven beside another controller, which creates the pods of a DaemonSet with OnDelete.

use super::{deletes, marks};
use crate::support::{
    Given, PodStory, at, given, new, node, old, on_delete, pod, revision, rolling, steps, surging, template,
};
use daemonset::policy::Permissions;
use daemonset::report::{NodeOutcome, Wait};
use daemonset::{Action, Policy};
use serde_json::{Value, from_value, json};

fn driven(rollout: Value) -> Given {
    given(on_delete()).policy(json!({"drive": rolling(1), "rollout": rollout}))
}

#[test]
fn only_the_updates_deletes_marks_and_wake_ups_remain() {
    let fleet = driven(json!({})).min_ready(60).with("/daemonSet/spec/revisionHistoryLimit", json!(0));
    let fleet = fleet.node(node("a").has(old())).node(node("b")).node(node("c").has(new().failed()));
    let fleet = fleet.node(node("d").has(new().ready_for(50))).node(node("e").has(old().not_ready()));
    let kinds: Vec<&str> = fleet.plan().actions.iter().map(Action::kind).collect();
    assert_eq!(kinds, ["AnnotateRevision", "DeletePod", "Requeue"]);
    assert_eq!(deletes(&fleet.plan()), ["e"], "the budget is spent");
}

#[test]
fn without_a_rollout_it_is_a_rolling_update() {
    let fleet = given(on_delete()).policy(json!({"drive": rolling(2)}));
    let fleet = fleet.nodes(["a", "b", "c"], old());
    assert_eq!(steps(&fleet.plan()), ["delete a-1: OutdatedAvailable", "delete b-1: OutdatedAvailable"]);
}

#[test]
fn waves_hold_under_drive() {
    let fleet = driven(json!({"waves": [{"upTo": 1}]})).nodes(["a", "b"], old());
    let plan = fleet.plan();
    assert_eq!(
        (deletes(&plan), marks(&plan)),
        (vec!["a".to_owned()], vec!["started=".to_owned(), "wave=0".to_owned()])
    );
}

#[test]
fn a_broken_pod_of_a_held_node_stays_since_it_would_come_back_new() {
    let fleet = |driven: bool| {
        let policy = json!({"drive": driven.then(|| rolling(1)), "rollout": {"paused": true}});
        let strategy = if driven { on_delete() } else { rolling(1) };
        let fleet = given(strategy).policy(policy).node(node("b").has(pod("bad").not_ready()));
        deletes(&fleet.plan())
    };
    assert_eq!((fleet(false), fleet(true)), (vec!["b".to_owned()], vec![]));
}

#[test]
fn a_lost_pod_of_a_held_node_is_warned_about() {
    let plan = driven(json!({"paused": true})).node(node("a")).node(node("b").has(old())).plan();
    assert_eq!(json!(plan.warnings), json!([{"type": "LostUnderDrive", "nodes": ["a"]}]));
}

#[test]
fn pods_that_the_other_controller_has_to_adopt_or_tidy_up_stay() {
    let fleet = |pods: [PodStory; 2]| {
        let fleet = driven(json!({}));
        deletes(&fleet.node(node("a").has_all(pods)).node(node("b").has(new())).plan())
    };
    assert_eq!(fleet([old(), old()]), Vec::<String>::new(), "it deletes one of them, perhaps the other one");
    let orphan = driven(json!({})).node(node("a").has(old().orphan()));
    assert_eq!(deletes(&orphan.plan()), Vec::<String>::new());
    let mut current = revision("new", 2);
    current["metadata"]["ownerReferences"] = json!([]);
    let unowned = driven(json!({})).revisions([revision("old", 1), current]).node(node("a").has(old()));
    assert_eq!(marks(&unowned.plan()), Vec::<String>::new(), "it adopts the revision first");
}

#[test]
fn the_deadline_is_judged_under_drive() {
    let rollout = json!({"onFailure": {"progressDeadlineSeconds": 60}});
    let started = json!({"rollout.daemonset/started": format!("2 {}", crate::support::at(-60))});
    let mut current = revision("new", 2);
    current["metadata"]["annotations"] = started;
    let fleet = driven(rollout).revisions([revision("old", 1), current]).node(node("a").has(old()));
    assert_eq!(marks(&fleet.plan()), ["failed=ProgressDeadlineExceeded"]);
}

#[test]
fn nothing_is_done_where_the_other_controller_acts_alone() {
    let empty = driven(json!({})).with("/daemonSet/spec/selector", json!({})).node(node("a").has(old()));
    assert_eq!(empty.plan().actions, []);
    let fresh =
        driven(json!({})).with("/daemonSet/spec/template", template("newer")).node(node("a").has(old()));
    assert_eq!(fresh.plan().actions, [], "the revision is its to create");
}

/// The other controller may not know the new version yet, and the rollout could not be marked as begun.
#[test]
fn the_first_pod_waits_for_the_revision_of_the_other_controller() {
    let outcome = |fleet: Given| {
        let plan = fleet.node(node("a").has(old())).plan();
        (plan.report.nodes[0].outcome.clone(), deletes(&plan))
    };
    let waits = (NodeOutcome::Waits(Wait::Revision), Vec::<String>::new());
    let fresh = || driven(json!({})).with("/daemonSet/spec/template", template("newer"));
    assert_eq!(outcome(fresh()), waits);
    assert_eq!(outcome(fresh().policy(json!({"drive": rolling(1)}))), waits, "without waves, too");
    let mut current = revision("new", 2);
    current["metadata"]["ownerReferences"] = json!([]);
    assert_eq!(outcome(driven(json!({})).revisions([revision("old", 1), current])), waits, "not adopted yet");
    let overtaken = || driven(json!({})).revisions([revision("old", 3), revision("new", 2)]);
    assert_eq!(
        outcome(overtaken()),
        waits,
        "not the newest: the other controller has seen another template since"
    );
    assert_eq!(outcome(driven(json!({}))).1, ["a"], "it is there");
}

/// A node that the other controller serves is in no plan of this one, however full.
#[test]
fn a_node_without_a_pod_waits_for_the_other_controller() {
    let outcome = |fleet: Given| fleet.plan().report.nodes[0].outcome.clone();
    assert_eq!(outcome(driven(json!({})).node(node("a"))), NodeOutcome::Waits(Wait::OtherControllerCreates));
    let failed = || driven(json!({})).node(node("a").has(new().failed()));
    assert_eq!(
        outcome(failed()),
        NodeOutcome::Waits(Wait::OtherControllerCreates),
        "it deletes the failed pod first"
    );
    assert_eq!(deletes(&failed().plan()), Vec::<String>::new());
    let ends = driven(json!({})).node(node("a").has(old().terminating(30)));
    assert!(
        matches!(outcome(ends), NodeOutcome::Waits(Wait::Termination { .. })),
        "its name is free only then"
    );
}

/// Nodes that have the good version fill the first waves at once, and the failed node would wait for a bake and an approval.
#[test]
fn a_version_that_was_complete_comes_back_at_once_in_the_place_of_a_failed_one() {
    let waves =
        json!({"waves": [{"upTo": 1, "needsApproval": true}, {"needsApproval": true}], "onFailure": {}});
    let taken = |rollout: &Value, drives: bool, failed: &str, completed: &str| {
        let policy = json!({"drive": drives.then(|| rolling(1)), "rollout": rollout});
        let strategy = if drives { on_delete() } else { rolling(1) };
        let [mut bad, mut good] = [revision("bad", 3), revision("new", 4)];
        bad["metadata"]["annotations"] =
            json!({"rollout.daemonset/failed": format!("{failed} {} TooManyFailures", at(60))});
        good["metadata"]["annotations"] =
            json!({"rollout.daemonset/completed": format!("{completed} {}", at(90))});
        let fleet = given(strategy).policy(policy).revisions([revision("old", 1), bad, good]);
        deletes(&fleet.node(node("a").has(pod("bad").not_ready())).node(node("b").has(new())).plan())
    };
    assert_eq!(taken(&waves, true, "3", "2"), ["a"], "kubectl rollout undo");
    assert_eq!(taken(&waves, true, "2", "2"), Vec::<String>::new(), "it has failed long ago, and not now");
    assert_eq!(taken(&waves, true, "3", ""), Vec::<String>::new(), "it was never complete");
    assert_eq!(
        taken(&json!({"waves": waves["waves"], "paused": true}), true, "3", "2"),
        ["a"],
        "an outage waits for no pause"
    );
    assert_eq!(
        taken(&waves, false, "3", "2"),
        ["a"],
        "alone the broken pod goes to the stable revision, as ever"
    );
}

/// A number that the revision does not have yet may be given to it much later, when a version comes back: with the mark of an earlier view
/// that version would seem complete, and a broken one would never be undone.
#[test]
fn nothing_is_marked_under_a_number_that_the_revision_does_not_have() {
    let rules = json!({"onFailure": {"action": "Undo", "availableWithinSeconds": 1}});
    let fleet = |old| {
        let fleet = driven(rules.clone()).revisions([revision("old", old), revision("new", 2)]);
        fleet.node(node("a").has(new())).node(node("b").has(new().not_ready()))
    };
    assert_eq!(marks(&fleet(2).plan()), Vec::<String>::new(), "it will be number 3");
    assert_eq!(marks(&fleet(1).plan()), ["started=", "completed="], "a settled fleet");
}

#[test]
fn what_can_not_be_driven_is_refused() {
    let problems = |strategy: Value, policy: Value| given(strategy).policy(policy).problems();
    assert_eq!(
        problems(rolling(1), json!({"drive": rolling(1)})),
        [
            "policy.drive: Invalid value: \"RollingUpdate\": must be absent: only a DaemonSet with OnDelete can be driven"
        ]
    );
    assert_eq!(
        problems(on_delete(), json!({"drive": surging(1)})),
        [
            "policy.drive: Invalid value: \"RollingUpdate\": must not surge: another controller creates the pods"
        ]
    );
    assert_eq!(
        problems(on_delete(), json!({"drive": on_delete()})),
        ["policy.drive.type: Invalid value: \"OnDelete\": must be RollingUpdate"]
    );
    assert_eq!(
        problems(on_delete(), json!({"drive": {"type": "Canary"}})),
        [
            "policy.drive.type: Invalid value: \"Canary\": must be OnDelete, RollingUpdate or SurgingRollingUpdate"
        ]
    );
    assert_eq!(
        problems(on_delete(), json!({"drive": rolling("x")})),
        [
            "policy.drive.rollingUpdate.maxUnavailable: Invalid value: \"x\": must be an integer from 0 to 2147483647 or a percentage such as \"10%\""
        ]
    );
    let back = json!({"drive": rolling(1), "rollout": {"onFailure": {"action": "RollBack"}}});
    assert_eq!(
        problems(on_delete(), back),
        [
            "policy.rollout.onFailure.action: Invalid value: \"RollBack\": must be Pause or Undo: the other controller creates pods of the new version only"
        ]
    );
}

/// `drive` is the older name, which stored policies and recordings have: both are read, and the older one is written.
#[test]
fn the_external_controller_has_two_names() {
    let policy = |name: &str| from_value::<Policy>(json!({name: rolling(1)}));
    assert_eq!(policy("externalController").unwrap(), policy("drive").unwrap());
    let written = serde_json::to_value(policy("externalController").unwrap()).unwrap();
    assert_eq!(
        (&written["drive"]["type"], written.get("externalController")),
        (&json!("RollingUpdate"), None)
    );
    assert!(from_value::<Policy>(json!({"drive": rolling(1), "externalController": rolling(1)})).is_err());

    let of_annotation = |strategy: &Value, policy: Value| {
        let annotations = json!({"rollout.daemonset/policy": policy.to_string()});
        let object = json!({"metadata": {"annotations": annotations}, "spec": {"updateStrategy": strategy}});
        Policy::from_annotations(&from_value(object).unwrap(), &Permissions::default())
    };
    for name in ["externalController", "drive"] {
        let read = of_annotation(&on_delete(), json!({name: rolling(1)})).unwrap();
        assert_eq!(read.external_controller, policy(name).unwrap().external_controller);
        // Problems have the name that their author wrote.
        let refused = of_annotation(&rolling(1), json!({name: rolling(1)})).unwrap_err();
        assert_eq!(refused.problems[0].problem.path, name);
        let refused = of_annotation(&on_delete(), json!({name: on_delete()})).unwrap_err();
        assert_eq!(refused.problems[0].problem.path, format!("{name}.type"));
        let unreadable = of_annotation(&on_delete(), json!({name: {"maxUnavailable": 1}})).unwrap_err();
        assert_eq!(unreadable.problems[0].problem.path, format!("{name}.maxUnavailable"));
    }
}
