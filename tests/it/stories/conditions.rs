//! The conditions of the status, and the causes behind their messages.

use crate::support::{Given, NodeStory, PodStory, at, everything, given, new, node, now, old, on_delete};
use crate::support::{apply, revision, rolling, surging, template};
use daemonset::report::UnavailableCause;
use daemonset::{ActionOutcome, Memory, Plan, Recording, plan};
use serde_json::{Value, json};

fn fleet(strategy: Value) -> Given {
    given(strategy).policy(json!({"conditions": true}))
}

fn stored(plan: &Plan) -> Vec<Value> {
    plan.status.as_ref().unwrap().conditions.clone()
}

/// `Available=True EnoughAvailable: …`, one line each.
fn lines(plan: &Plan) -> Vec<String> {
    let text = |condition: &Value, member: &str| condition[member].as_str().unwrap().to_owned();
    let line = |condition: &Value| {
        let [kind, status, reason, message] =
            ["type", "status", "reason", "message"].map(|member| text(condition, member));
        format!("{kind}={status} {reason}: {message}")
    };
    stored(plan).iter().map(line).collect()
}

/// With the conditions that an earlier plan has stored.
fn after(given: Given, conditions: Value) -> Given {
    given.with("/daemonSet/status", json!({"conditions": conditions}))
}

fn complete() -> Value {
    json!([{
        "type": "Progressing", "status": "True", "reason": "Complete", "lastTransitionTime": "2025-12-01T00:00:00Z",
        "message": "agent-new is rolled out",
    }])
}

/// Bound and not Ready, with a container that waits for this reason.
fn waiting(list: &str, reason: &str) -> PodStory {
    let waits =
        json!({"name": "c", "restartCount": 3, "state": {"waiting": {"reason": reason, "message": "no"}}});
    let runs = json!({"name": "d", "restartCount": 0, "state": {"running": {}}});
    new().pending().with(&format!("/status/{list}"), json!([runs, waits]))
}

fn down(name: &str) -> NodeStory {
    node(name).ready("False", Some(at(-600)))
}

/// The cause of a fleet's first node.
fn cause(given: &Given) -> Option<UnavailableCause> {
    given.plan().report.nodes[0].unavailable
}

fn cause_of(node: NodeStory) -> Option<UnavailableCause> {
    cause(&given(rolling(1)).min_ready(60).node(node))
}

#[test]
fn a_reason_of_a_container_or_an_init_container_is_the_cause() {
    let crashing = [
        "CrashLoopBackOff",
        "CreateContainerConfigError",
        "CreateContainerError",
        "PostStartHookError",
        "PreCreateHookError",
        "PreStartHookError",
        "RunContainerError",
    ];
    let pulling = [
        "ErrImageNeverPull",
        "ErrImagePull",
        "ImageInspectError",
        "ImagePullBackOff",
        "InvalidImageName",
        "RegistryUnavailable",
        "SignatureValidationFailed",
    ];
    for list in ["containerStatuses", "initContainerStatuses"] {
        let is = |reason: &str| cause_of(node("a").has(waiting(list, reason)));
        for reason in crashing {
            assert_eq!(is(reason), Some(UnavailableCause::Crashing), "{reason} in {list}");
        }
        for reason in pulling {
            assert_eq!(is(reason), Some(UnavailableCause::Pulling), "{reason} in {list}");
        }
        for reason in ["ContainerCreating", "PodInitializing", ""] {
            assert_eq!(is(reason), Some(UnavailableCause::Starting), "{reason} in {list}");
        }
    }
}

#[test]
fn each_target_node_without_an_available_pod_has_a_cause() {
    assert_eq!(cause_of(node("a").has(new())), None);
    assert_eq!(cause_of(node("a").taint("x", "NoSchedule")), None, "it is no target node");
    assert_eq!(cause_of(node("a")), Some(UnavailableCause::NoPod));
    assert_eq!(cause_of(node("a").has(new().succeeded())), Some(UnavailableCause::NoPod));
    assert_eq!(cause_of(node("a").has(new().terminating(30))), Some(UnavailableCause::Terminating));
    assert_eq!(cause_of(node("a").has(new().not_ready())), Some(UnavailableCause::Starting));
    assert_eq!(cause_of(node("a").has(new().unbound())), Some(UnavailableCause::NotScheduled));
    assert_eq!(cause_of(node("a").has(new().failed())), Some(UnavailableCause::Crashing));
    assert_eq!(cause_of(node("a").has(new().ready_for(10))), Some(UnavailableCause::NotYetAvailable));
    assert_eq!(cause_of(down("a").has(new().not_ready())), Some(UnavailableCause::NodeDown));
    let unknown = node("a").ready("Unknown", None).has(waiting("containerStatuses", "CrashLoopBackOff"));
    assert_eq!(cause_of(unknown), Some(UnavailableCause::NodeDown), "it explains the others");
}

#[test]
fn of_several_pods_the_one_that_is_furthest_on_its_way_is_the_cause() {
    let both =
        |a: PodStory, b: PodStory| cause(&given(surging(1)).min_ready(60).node(node("a").has(a).has(b)));
    let crashing = || waiting("containerStatuses", "CrashLoopBackOff");
    assert_eq!(both(new().ready_for(10), old().not_ready()), Some(UnavailableCause::NotYetAvailable));
    assert_eq!(both(crashing(), old().not_ready()), Some(UnavailableCause::Crashing));
    assert_eq!(both(new().not_ready(), old().terminating(30)), Some(UnavailableCause::Starting));
    assert_eq!(both(new().not_ready(), old()), None);
}

#[test]
fn a_node_that_leaves_and_a_taken_one_are_named_so() {
    let drained = down("a").condition("DrainInProgress", "True", Some(at(-600)));
    let respected = given(rolling(1)).policy(json!({"lifecycle": "Respect"})).node(drained.clone());
    assert_eq!(cause(&respected), Some(UnavailableCause::LeftAlone));
    assert_eq!(cause(&given(rolling(1)).node(drained)), Some(UnavailableCause::NodeDown));

    let taken = json!({"taken": {"a": {"uid": "gone", "at": at(-60).to_string()}}});
    let tainted = fleet(rolling(1)).node(node("a").taint("x", "NoSchedule")).node(node("b").has(old()));
    let taken = tainted.with("/memory", taken).plan();
    assert_eq!(taken.report.nodes[0].unavailable, Some(UnavailableCause::DeletedByUpdate));
    assert_eq!(
        lines(&taken),
        [
            "Available=True EnoughAvailable: 0 of 1 nodes lack an available pod; 1 more taken down by the update",
            "Progressing=True Updating: 0 of 1 nodes have an available pod of agent-new, 1 waits for the budget; 0 of 1 \
             nodes lack an available pod; 1 more taken down by the update",
        ]
    );
}

#[test]
fn the_report_counts_by_cause_and_leaves_out_the_others() {
    let report = given(rolling(1)).node(node("a").has(new())).node(node("b")).node(down("c")).plan().report;
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["unavailable"], json!({"nodeDown": 1, "noPod": 1}));
    assert_eq!(json["nodes"][1]["unavailable"], json!("NoPod"));
    assert_eq!(json["nodes"][0].get("unavailable"), None);
    let settled = given(rolling(1)).node(node("a").has(new())).plan().report;
    assert_eq!(serde_json::to_value(&settled).unwrap().get("unavailable"), None);
}

#[test]
fn an_update_is_available_within_its_limit_and_progresses_until_every_node_has_it() {
    let names = ["c", "d", "e", "f"];
    let others = |given: Given| given.nodes(names, old());
    let two = |limit: i32| {
        let fleet = fleet(rolling(limit)).node(down("a").has(new().not_ready()));
        others(fleet.node(node("b").has(waiting("containerStatuses", "ImagePullBackOff"))))
    };
    assert_eq!(
        lines(&two(2).plan()),
        [
            "Available=True EnoughAvailable: 2 of 6 nodes lack an available pod: 1 node down, 1 pulling",
            "Progressing=True Updating: 0 of 6 nodes have an available pod of agent-new, 4 wait for the budget; 2 of 6 \
             nodes lack an available pod: 1 node down, 1 pulling",
        ]
    );
    assert_eq!(
        lines(&two(1).plan())[0],
        "Available=False TooManyUnavailable: 2 of 6 nodes lack an available pod, and at most 1 may: 1 node down, 1 pulling"
    );
    let done = fleet(rolling(1)).nodes(["a", "b"], new());
    assert_eq!(
        lines(&done.plan()),
        [
            "Available=True EnoughAvailable: 0 of 2 nodes lack an available pod",
            "Progressing=True Complete: agent-new is rolled out",
        ]
    );
}

#[test]
fn under_surge_no_node_may_be_without_and_under_on_delete_one_may() {
    let story = |strategy: Value, without: usize| {
        let nodes = ["a", "b"].into_iter().take(without);
        let fleet = fleet(strategy).nodes(nodes, new().not_ready());
        let plan = fleet.node(node("c").has(old())).plan();
        stored(&plan)[0]["status"].as_str().unwrap().to_owned()
    };
    assert_eq!([story(surging(1), 0), story(surging(1), 1)], ["True", "False"]);
    assert_eq!([story(on_delete(), 1), story(on_delete(), 2)], ["True", "False"]);
    let waits = fleet(on_delete()).node(node("a").has(new())).node(node("b").has(old())).plan();
    assert_eq!(
        lines(&waits)[1],
        "Progressing=True Updating: 1 of 2 nodes has an available pod of agent-new, 1 waits for a person to delete the old pod"
    );
}

#[test]
fn a_surge_pair_is_not_done_and_waits_for_no_budget() {
    let pair = fleet(surging(1)).min_ready(60).node(node("a").has(old()).has(new().ready_for(10)));
    assert_eq!(
        lines(&pair.node(node("b").has(old())).plan())[1],
        "Progressing=True Updating: 0 of 2 nodes have an available pod of agent-new, 1 waits for the budget"
    );
}

#[test]
fn a_node_that_the_plan_reaches_or_that_waits_for_more_waits_for_no_budget() {
    let progressing = |given: Given| lines(&given.plan())[1].clone();
    let done = |done: &str| format!("Progressing=True Updating: {done} have an available pod of agent-new");
    let three = |strategy: Value| fleet(strategy).nodes(["a", "b", "c"], old());
    for strategy in [rolling(1), surging(1)] {
        assert_eq!(progressing(three(strategy)), done("0 of 3 nodes") + ", 2 wait for the budget");
    }
    let replaced = node("a").has(old()).has(new().ready_for(600));
    assert_eq!(progressing(fleet(surging(1)).node(replaced)), done("0 of 1 nodes"), "both are available");
    let blocked = node("a").has(old()).has(new().terminating(30));
    assert_eq!(progressing(fleet(surging(1)).node(blocked)), done("0 of 1 nodes"));
    let leaves = node("a").condition("DrainInProgress", "True", None).has(old());
    let respected = fleet(rolling(1)).policy(json!({"conditions": true, "lifecycle": "Respect"}));
    assert_eq!(progressing(respected.node(leaves)), done("0 of 1 nodes"));
    let failures = json!({"failures": {"a": {"generation": 2, "count": 3, "at": now().to_string()}}});
    let held_back = fleet(rolling(1)).node(node("a").has(old()).has(new().failed()));
    assert_eq!(progressing(held_back.with("/memory", failures)), done("0 of 1 nodes"), "the new pod failed");
}

#[test]
fn without_target_nodes_both_are_true() {
    let none = ["Available=True EnoughAvailable", "Progressing=True Complete"]
        .map(|line| format!("{line}: no node should run the pod"));
    assert_eq!(lines(&fleet(rolling(1)).plan()), none);
    let excluded = fleet(surging(1)).node(node("a").taint("x", "NoExecute").has(old()));
    assert_eq!(
        lines(&excluded.revisions([revision("old", 1)]).plan()),
        none,
        "also while a revision is created"
    );
}

#[test]
fn an_excused_node_does_not_count_as_unavailable() {
    let story = |policy: Value| {
        let nodes = ["a", "b"].into_iter();
        let fleet =
            nodes.fold(given(rolling(1)), |fleet, name| fleet.node(down(name).has(old().not_ready())));
        fleet.node(node("c").has(new())).policy(policy).plan()
    };
    assert_eq!(stored(&story(json!({"conditions": true})))[0]["status"], "False");
    let excused = story(json!({"conditions": true, "downNodes": "ExcuseIfDownBefore"}));
    assert_eq!(
        lines(&excused),
        [
            "Available=True EnoughAvailable: 0 of 3 nodes lack an available pod; 2 more excused",
            "Progressing=True Updating: 1 of 3 nodes has an available pod of agent-new; 0 of 3 nodes lack an available pod; \
             2 more excused",
        ]
    );
    assert_eq!(excused.report.nodes[0].unavailable, Some(UnavailableCause::NodeDown));
    assert_eq!(serde_json::to_value(&excused.report).unwrap().get("unavailable"), None, "their sum is U");
}

#[test]
fn a_node_that_joins_or_reboots_does_not_begin_another_rollout() {
    let progressing = |node: NodeStory, before: Value| {
        let plan =
            after(fleet(rolling(1)).node(crate::support::node("a").has(new())).node(node), before).plan();
        let found = stored(&plan).into_iter().find(|condition| condition["type"] == "Progressing");
        found.unwrap()["reason"].as_str().unwrap().to_owned()
    };
    for story in [node("joins"), down("reboots").has(new().not_ready()), node("young").has(new().pending())] {
        assert_eq!(progressing(story.clone(), complete()), "Complete");
        assert_eq!(progressing(story.clone(), json!([])), "Updating", "it has never been complete");
        let updating = json!([{"type": "Progressing", "status": "True", "reason": "Updating"}]);
        assert_eq!(progressing(story, updating), "Updating");
    }
    let mut of_another = complete();
    of_another[0]["message"] = json!("agent-old is rolled out");
    assert_eq!(
        progressing(node("joins"), of_another),
        "Updating",
        "the status that began the rollout was not written"
    );
    let of_nobody = json!([{
        "type": "Progressing", "status": "True", "reason": "Complete", "message": "no node should run the pod",
    }]);
    assert_eq!(progressing(node("joins"), of_nobody), "Complete");
    assert_eq!(progressing(node("outdated").has(old()), complete()), "Updating");
    assert_eq!(progressing(down("outdated").has(old().not_ready()), complete()), "Updating");
}

#[test]
fn a_new_template_and_an_undo_begin_another_rollout() {
    let settled = || after(fleet(rolling(1)), complete()).node(node("a"));
    let reason = |given: Given| {
        let found = stored(&given.plan()).into_iter().find(|condition| condition["type"] == "Progressing");
        found.unwrap()["reason"].as_str().unwrap().to_owned()
    };
    assert_eq!(reason(settled()), "Complete");
    let edited = settled().with("/daemonSet/spec/template", template("newer"));
    assert_eq!(reason(edited), "Updating", "this plan creates the revision");
    let undone = settled().with("/daemonSet/spec/template", template("old"));
    assert_eq!(reason(undone.clone()), "Updating", "this plan renumbers the revision");
    let running = undone.with("/nodes", json!([])).node(node("b").has(old()));
    assert_eq!(reason(running), "Complete", "it was never left");
    let mut memory = Memory::default();
    let create = given(rolling(1))
        .node(node("a"))
        .with("/daemonSet/spec/template", template("old"))
        .revisions([revision("old", 1)]);
    memory.record(&create.plan().actions[0], &ActionOutcome::Done, now());
    assert_eq!(reason(settled().memory(&memory)), "Updating", "a pod of the old revision is in flight");
}

#[test]
fn other_conditions_members_and_order_stay() {
    let odd = json!({"type": "Odd", "status": "True", "extra": [1]});
    let stale = json!({"type": "Available", "status": "True", "reason": "x", "lastUpdateTime": "y",
        "lastTransitionTime": "2025-12-01T00:00:00+01:00"});
    let garbage =
        json!([odd, 7, null, [], {"type": 1}, stale, "x", {"type": "Available", "status": "False"}, odd]);
    let plan = after(fleet(rolling(1)).node(node("a").has(new())), garbage.clone()).plan();
    let available = json!({
        "type": "Available", "status": "True", "reason": "EnoughAvailable", "lastUpdateTime": "y",
        "lastTransitionTime": "2025-12-01T00:00:00+01:00", "message": "0 of 1 nodes lack an available pod",
    });
    let progressing = json!({
        "type": "Progressing", "status": "True", "reason": "Complete", "lastTransitionTime": now().to_string(),
        "message": "agent-new is rolled out",
    });
    let expected = [
        odd.clone(),
        json!(7),
        json!(null),
        json!([]),
        json!({"type": 1}),
        available,
        json!("x"),
        odd,
        progressing,
    ];
    assert_eq!(stored(&plan), expected, "the second Available is gone");
}

#[test]
fn the_transition_time_changes_with_the_status_alone_and_has_whole_seconds() {
    let time = |before: Value, nodes: &[&str]| {
        let fleet = nodes.iter().fold(fleet(rolling(1)), |fleet, name| fleet.node(node(name)));
        let given = after(fleet, before).with("/now", json!("2026-01-01T12:00:00.987Z"));
        stored(&given.plan())[0]["lastTransitionTime"].clone()
    };
    let before = |status: Value, time: Value| json!([{"type": "Available", "status": status, "reason": "TooManyUnavailable", "lastTransitionTime": time}]);
    let earlier = json!("2025-12-01T00:00:00Z");
    let later = json!("2026-01-01T12:00:00Z");
    assert_eq!(time(before(json!("True"), earlier.clone()), &["a"]), earlier);
    assert_eq!(time(before(json!("False"), earlier.clone()), &["a", "b"]), earlier);
    assert_eq!(time(before(json!("True"), earlier.clone()), &["a", "b"]), later);
    assert_eq!(time(before(json!("False"), earlier.clone()), &["a"]), later);
    assert_eq!(time(before(json!(true), earlier), &["a"]), later);
    for unreadable in [json!("yesterday"), json!(7), json!(null)] {
        assert_eq!(time(before(json!("True"), unreadable), &["a"]), later);
    }
}

#[test]
fn a_written_status_is_written_once() {
    let story = fleet(rolling(1)).node(node("a").has(new())).node(down("b").has(new().not_ready()));
    let mut recording: Recording = story.recording();
    let first = plan(&recording.snapshot().unwrap());
    assert_eq!(everything(&first), ["status: Changed"]);
    apply(&mut recording, &first);
    for seconds in [1, 60, 86_400] {
        recording.now = at(seconds);
        assert_eq!(everything(&plan(&recording.snapshot().unwrap())), [""; 0], "after {seconds} s");
    }
}

#[test]
fn the_plan_gives_the_same_conditions_whether_the_policy_is_on_or_off() {
    let two = |given: Given| after(given.node(node("a").has(old())).node(node("b")), complete()).plan();
    let (on, off) = (two(fleet(rolling(1))), two(given(rolling(1))));
    let before: Vec<Value> = serde_json::from_value(complete()).unwrap();
    assert_eq!(stored(&off), before);
    assert_eq!(off.conditions(&before, now()), stored(&on));
    assert_eq!(on.conditions(&before, now()), stored(&on));
}

#[test]
fn a_plan_that_stops_early_leaves_conditions_alone() {
    let before: Vec<Value> = serde_json::from_value(complete()).unwrap();
    let deleted = after(fleet(rolling(1)), complete())
        .with("/daemonSet/metadata/deletionTimestamp", json!(now().to_string()))
        .plan();
    assert_eq!((deleted.status.clone(), deleted.conditions(&before, now())), (None, before.clone()));
    let all = after(fleet(rolling(1)), complete()).with("/daemonSet/spec/selector", json!({})).plan();
    assert_eq!((all.status.clone(), all.conditions(&before, now())), (None, before.clone()));

    let created = fleet(rolling(1)).revisions([]).plan();
    let [daemonset::Action::CreateRevision { revision: taken, .. }, ..] = created.actions.as_slice() else {
        panic!("a revision is created");
    };
    let mut taken = taken.clone();
    taken["data"] = json!({});
    taken["metadata"]["uid"] = json!("uid-taken");
    taken["metadata"]["ownerReferences"] = json!([]);
    taken["metadata"]["labels"] = json!({});
    let collides = after(fleet(rolling(1)), complete()).revisions([taken]).plan();
    assert_eq!(everything(&collides), ["status: NameCollision"]);
    assert_eq!(stored(&collides), before);
    assert_eq!(collides.conditions(&before, now()), before);
}
