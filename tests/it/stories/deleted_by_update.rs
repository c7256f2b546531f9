//! Nodes that an update took down, and that left the target nodes before they were back.

use crate::support::{Given, NodeStory, at, given, new, node, old, pod, revision, rolling, surging};
use daemonset::{Action, ActionOutcome, Memory, Observed, Policy, Reconciler, Recording, reconcile};
use serde_json::{Value, json};

const NAMES: [&str; 10] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];

fn taken(nodes: &[&str], seconds: i64) -> Memory {
    let entries: serde_json::Map<String, Value> =
        nodes.iter().map(|node| ((*node).to_owned(), json!({"uid": "gone", "at": at(-seconds)}))).collect();
    serde_json::from_value(json!({"taken": entries})).unwrap()
}

fn lost(given: &Given) -> [u32; 3] {
    let budget = given.plan().report.budget.unwrap();
    [budget.unavailable, budget.down_after_update, budget.deleted_by_update]
}

/// Ten nodes, maxUnavailable 1, and an agent that taints a node while the daemon is away. Without the memory of the
/// deletes all ten pods would go, one after the other.
#[test]
fn a_rollout_stops_at_the_budget_when_nodes_are_tainted_for_the_daemons_absence() {
    let mut recording = given(rolling(1)).nodes(NAMES, old()).recording();
    let mut reconciler = Reconciler::new("uid-agent", Policy::default());
    let mut deleted = Vec::new();
    for round in 0..30 {
        let Recording { daemon_set, nodes, pods, revisions, .. } = &recording;
        let now = at(60 * round);
        let plan = reconciler.plan(Observed { daemon_set, nodes, pods, revisions }, now).unwrap();
        for action in &plan.actions {
            let _ = reconciler.record(action, &ActionOutcome::Done, now);
            if let Action::DeletePod { node, pod, .. } = action {
                deleted.push(node.to_string());
                recording.pods.retain(|other| other.metadata.uid != pod.uid);
                let tainted = recording.nodes.iter_mut().find(|other| other.metadata.name == *node).unwrap();
                tainted.spec.taints =
                    serde_json::from_value(json!([{"key": "x/agent-not-ready", "effect": "NoSchedule"}]))
                        .unwrap();
            }
        }
        if round == 29 {
            assert_eq!(json!(plan.warnings), json!([{"type": "NodesTaken", "nodes": ["a"]}]));
            let [a, b] = [0, 1].map(|index| json!(plan.report.nodes[index].outcome));
            assert_eq!(a, json!({"type": "WaitsForReturn", "since": at(0)}));
            assert_eq!(b, json!({"type": "HeldByMaxUnavailable", "used": 1, "limit": 1}));
        }
    }
    assert_eq!(deleted, ["a"]);
    let forgetful = |recording: &Recording| reconcile(&recording.snapshot().unwrap());
    let again = forgetful(&recording);
    assert!(
        matches!(&again[0], Action::DeletePod { node, .. } if node.as_str() == "b"),
        "without memory the next one goes"
    );
}

#[test]
fn a_taken_node_counts_while_it_is_no_ready_target_node() {
    let fleet = |story: NodeStory| {
        given(rolling(1)).memory(&taken(&["a"], 60)).node(story).node(node("b").has(old()))
    };
    assert_eq!(lost(&fleet(node("a").taint("x", "NoSchedule"))), [0, 1, 1]);
    assert_eq!(lost(&fleet(node("a").taint("x", "NoExecute"))), [0, 1, 1]);
    let elsewhere =
        fleet(node("a")).with("/daemonSet/spec/template/spec/nodeSelector", json!({"disk": "ssd"}));
    assert_eq!(lost(&elsewhere.with("/nodes/1/metadata/labels", json!({"disk": "ssd"}))), [0, 1, 1]);
    assert_eq!(lost(&fleet(node("a"))), [1, 0, 0], "a target node counts as unavailable");
    assert_eq!(lost(&fleet(node("a").ready("False", None))), [1, 0, 0], "once, not twice");
    assert_eq!(lost(&fleet(node("a").taint("x", "NoSchedule").has(new()))), [0, 0, 0], "it has a Ready pod");
}

#[test]
fn a_taken_node_counts_against_max_surge_while_it_is_not_ready() {
    let fleet = |story: NodeStory| {
        given(surging(1)).memory(&taken(&["a"], 60)).node(story).node(node("b").has(old()))
    };
    assert_eq!(lost(&fleet(node("a").ready("False", None).has(new().not_ready()))), [1, 1, 1]);
    assert_eq!(lost(&fleet(node("a").has(new().not_ready()))), [1, 0, 0]);
    let pair = node("a").ready("False", None).has(new().not_ready()).has(old().not_ready().terminating(60));
    assert_eq!(lost(&fleet(pair)), [1, 0, 0], "it is doubled already");
}

/// What the memory still has after it has seen this fleet.
fn left(given: &Given, memory: Memory) -> Vec<String> {
    let recording = given.recording();
    let mut memory = memory;
    memory.observe(&recording.snapshot().unwrap());
    let written = serde_json::to_value(memory).unwrap();
    written["taken"].as_object().map(|taken| taken.keys().cloned().collect()).unwrap_or_default()
}

/// Whether that pod goes in this plan is not decided yet `[surge-leaves-last]`.
#[test]
fn a_pod_that_leaves_last_does_not_bring_a_taken_node_back() {
    let m = node("m").taint("y", "NoSchedule").has(old().tolerates("y"));
    let fleet = given(surging(1)).memory(&taken(&["m"], 60)).node(node("a").has(old())).node(m);
    assert_eq!(fleet.steps(), ["delete m-1: TolerationWithdrawn"], "no other node may have two pods");
    assert_eq!(lost(&fleet), [0, 1, 1]);
}

#[test]
fn a_taken_node_is_remembered_until_a_ready_updated_pod_is_there() {
    let fleet = |story: NodeStory| given(rolling(1)).node(story);
    let still = |story| left(&fleet(story), taken(&["a"], 60)) == ["a"];
    assert!(still(node("a")));
    assert!(still(node("a").has(new().not_ready())));
    assert!(still(node("a").has(old())), "an outdated pod proves nothing");
    assert!(still(node("a").has(new().terminating(30))));
    assert!(still(node("a").has(new().failed().ready_for(1))));
    assert!(still(node("a").has(new().owned_by("other"))));
    assert!(!still(node("a").has(new().ready_for(1))));
    assert!(!still(node("a").has(new().orphan())), "it is adopted");
    assert!(!still(node("b")), "the node is gone");
}

#[test]
fn only_ready_target_nodes_are_forgotten_after_a_while() {
    let left = |story: NodeStory, seconds| left(&given(rolling(1)).node(story), taken(&["a"], seconds)).len();
    assert_eq!((left(node("a"), 3599), left(node("a"), 3600)), (1, 0));
    assert_eq!(left(node("a").taint("x", "NoSchedule"), 360_000), 1);
    assert_eq!(left(node("a").ready("Unknown", None), 360_000), 1);
    let mut recording = given(rolling(1)).node(node("a")).recording();
    recording.policy.deleted_by_update_expiry_seconds = 10;
    let mut memory = taken(&["a"], 10);
    memory.observe(&recording.snapshot().unwrap());
    assert_eq!(memory, Memory::default(), "the policy says how long");
}

/// The name of the new revision is taken by another content: no pod is known to be updated.
#[test]
fn a_name_collision_forgets_no_taken_node() {
    let created = given(rolling(1)).node(node("a")).revisions([]).plan();
    let Some(Action::CreateRevision { revision: manifest, .. }) = created.actions.first() else { panic!() };
    let name = manifest.pointer("/metadata/name").unwrap().clone();
    let mut other = revision("old", 1);
    other["metadata"]["name"] = name;
    let given = given(rolling(1)).node(node("a").has(pod("new"))).revisions([other]);
    assert_eq!(left(&given, taken(&["a"], 60)), ["a"]);
}

#[test]
fn each_accepted_update_delete_takes_its_node() {
    for (pod, outcome, remembered) in [
        (old(), ActionOutcome::Done, true),
        (old(), ActionOutcome::Unknown, true),
        (old(), ActionOutcome::Rejected, false),
        (old().pending(), ActionOutcome::Done, true),
        (new().failed(), ActionOutcome::Done, false),
    ] {
        let plan = given(rolling(1)).node(node("a").has(pod)).plan();
        let mut memory = Memory::default();
        memory.record(&plan.actions[0], &outcome, at(0));
        let written = serde_json::to_value(memory).unwrap();
        assert_eq!(written.get("taken").is_some(), remembered, "{:?}: {outcome:?}", plan.actions[0].reason());
    }
}

#[test]
fn a_delete_that_was_not_done_gives_the_node_back() {
    let stable = given(rolling(1)).node(node("a").has(old()));
    let delete = stable.plan().actions.swap_remove(0);
    let mut memory = Memory::default();
    memory.record(&delete, &ActionOutcome::Unknown, at(0));
    memory.settle(&delete, &stable.recording().snapshot().unwrap());
    assert_eq!(memory, Memory::default());
}

/// An undo makes the deleted pod one of the current revision again, and a stale list still shows it as Ready.
#[test]
fn a_deleted_pod_that_a_stale_list_shows_gives_no_node_back() {
    let delete = given(rolling(1)).node(node("a").has(old())).plan().actions.swap_remove(0);
    let mut memory = Memory::default();
    memory.record(&delete, &ActionOutcome::Done, at(0));
    let undone = given(rolling(1)).revisions([revision("old", 3), revision("new", 2)]);
    let undone = undone.with("/daemonSet/spec/template", crate::support::template("old"));
    let stale = undone.clone().node(node("a").has(old()));
    assert_eq!(left(&stale, memory.clone()), ["a"]);
    let mut late = stale.recording();
    late.now = at(301);
    memory.observe(&late.snapshot().unwrap());
    assert!(!memory.is_in_flight(&delete), "the delete has expired");
    assert_eq!(left(&stale, memory.clone()), ["a"], "and still the pod is the deleted one");
    assert_eq!(left(&undone.node(node("a").has(old().named("another"))), memory), [""; 0]);
}

#[test]
fn the_first_delete_of_a_taken_node_counts() {
    let delete = given(rolling(1)).node(node("a").has(old())).plan().actions.swap_remove(0);
    let mut memory = taken(&["a"], 60);
    memory.record(&delete, &ActionOutcome::Done, at(0));
    assert_eq!(serde_json::to_value(&memory).unwrap()["taken"]["a"], json!({"uid": "gone", "at": at(-60)}));
}

/// Nodes of a DaemonSet that goes have no goal: the memory waits.
#[test]
fn no_node_of_a_steered_daemon_set_that_is_being_deleted_is_back() {
    for (deleted, remembered) in [(None, Memory::default()), (Some(at(-5)), taken(&["a"], 10))] {
        let fleet = given(rolling(1)).policy(json!({"rollout": {}})).node(node("a").has(new()));
        let fleet = fleet.with("/daemonSet/metadata/deletionTimestamp", json!(deleted)).recording();
        let mut memory = taken(&["a"], 10);
        memory.observe(&fleet.snapshot().unwrap());
        assert_eq!(memory, remembered);
    }
}
