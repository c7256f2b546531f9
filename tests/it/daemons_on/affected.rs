//! The DaemonSets that a changed node concerns: stories, and the proof that the others have the same plan.

use super::{daemon_set, node};
use crate::properties::world::{World, world};
use crate::support::cases;
use daemonset::model::{DaemonSet, Node, Pod};
use daemonset::{Action, Recording, reconcile};
use daemonset_placement::affected;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// `gpu` and `any`: one needs the label `pool=gpu`, the other runs everywhere.
fn two() -> [DaemonSet; 2] {
    [daemon_set("gpu", json!({"nodeSelector": {"pool": "gpu"}})), daemon_set("any", json!({}))]
}

fn names(pods: &[Pod], before: Option<&Node>, after: Option<&Node>) -> Vec<String> {
    affected(&two(), pods, before, after).into_iter().map(|ds| ds.metadata.name.clone()).collect()
}

fn cpu() -> Node {
    node("a", json!({"pool": "cpu"}), &[])
}

fn with_condition(mut node: Node, kind: &str, status: &str) -> Node {
    let conditions = json!([{"type": kind, "status": status}]);
    node.status.conditions = serde_json::from_value(conditions).unwrap();
    node
}

/// A pod on node `a`, of a DaemonSet or of nobody.
fn pod(owner: Option<&str>) -> Pod {
    let owners: Vec<Value> =
        owner.iter().map(|name| json!({"uid": format!("uid-{name}"), "controller": true})).collect();
    serde_json::from_value(json!({
        "metadata": {"name": "x", "namespace": "ns", "uid": "x", "ownerReferences": owners},
        "spec": {"nodeName": "a"},
    }))
    .unwrap()
}

#[test]
fn a_node_that_joins_or_leaves_concerns_the_daemon_sets_that_may_run_there() {
    assert_eq!(names(&[], None, Some(&cpu())), ["any"]);
    assert_eq!(names(&[], Some(&cpu()), None), ["any"]);
    let gpu = node("a", json!({"pool": "gpu"}), &[]);
    assert_eq!(names(&[], None, Some(&gpu)), ["gpu", "any"]);
    assert_eq!(names(&[], None, None), [""; 0]);
}

#[test]
fn a_pod_on_an_excluded_node_concerns_its_daemon_set_when_the_node_joins_or_leaves() {
    assert_eq!(names(&[pod(Some("gpu"))], None, Some(&cpu())), ["gpu", "any"]);
    assert_eq!(names(&[pod(None)], Some(&cpu()), None), ["gpu", "any"]);
    assert_eq!(names(&[pod(Some("other"))], Some(&cpu()), None), ["any"]);
    let mut elsewhere = pod(Some("gpu"));
    elsewhere.spec.node_name = "b".into();
    assert_eq!(names(&[elsewhere], Some(&cpu()), None), ["any"]);
    let mut other_namespace = pod(Some("gpu"));
    other_namespace.metadata.namespace = "other".to_owned();
    assert_eq!(names(&[other_namespace], Some(&cpu()), None), ["any"]);
    // The pod goes in any plan, whatever else changes.
    assert_eq!(
        names(&[pod(Some("gpu"))], Some(&cpu()), Some(&with_condition(cpu(), "Ready", "False"))),
        ["any"]
    );
}

#[test]
fn a_label_that_changes_the_placement_concerns_the_daemon_set() {
    let gpu = node("a", json!({"pool": "gpu"}), &[]);
    assert_eq!(names(&[], Some(&cpu()), Some(&gpu)), ["gpu", "any"]);
    assert_eq!(names(&[], Some(&gpu), Some(&cpu())), ["gpu", "any"]);
}

#[test]
fn taints_cordon_and_conditions_concern_the_daemon_sets_that_name_and_labels_do_not_exclude() {
    let mut cordoned = cpu();
    cordoned.spec.unschedulable = true;
    let tainted = node("a", json!({"pool": "cpu"}), &["x:NoExecute"]);
    let not_ready = with_condition(cpu(), "Ready", "Unknown");
    let draining = with_condition(cpu(), "DrainInProgress", "True");
    for after in [cordoned, tainted, not_ready, draining] {
        assert_eq!(names(&[], Some(&cpu()), Some(&after)), ["any"]);
        assert_eq!(names(&[], Some(&after), Some(&cpu())), ["any"]);
    }
}

/// It ends where the node is no target any more, whatever the labels say.
#[test]
fn a_turn_concerns_its_daemon_set_on_a_node_that_the_labels_exclude() {
    let gpu = &two()[0];
    let mut in_turn = cpu();
    let annotation = format!("turn.daemonset/{}", daemonset::turns::key(gpu));
    in_turn.metadata.annotations = in_turn.metadata.annotations.with(&annotation, "2 2026-01-01T12:00:00Z");
    assert_eq!(names(&[], Some(&cpu()), Some(&in_turn)), ["gpu", "any"]);
    assert_eq!(names(&[], Some(&in_turn), None), ["gpu", "any"]);
    let mut cordoned = in_turn.clone();
    cordoned.spec.unschedulable = true;
    assert_eq!(names(&[], Some(&in_turn), Some(&cordoned)), ["gpu", "any"]);
    assert_eq!(names(&[], Some(&in_turn), Some(&in_turn)), [""; 0]);
}

#[test]
fn heartbeats_and_pressure_concern_nobody() {
    let mut heartbeat = cpu();
    heartbeat.metadata.resource_version = "2".to_owned();
    let pressure = with_condition(cpu(), "MemoryPressure", "True");
    for after in [cpu(), heartbeat, pressure] {
        assert_eq!(names(&[], Some(&cpu()), Some(&after)), [""; 0]);
    }
}

#[test]
fn two_nodes_are_one_that_leaves_and_one_that_joins() {
    let gpu = node("b", json!({"pool": "gpu"}), &[]);
    assert_eq!(names(&[], Some(&cpu()), Some(&gpu)), ["gpu", "any"]);
    let mut alike = cpu();
    alike.metadata.name = "b".into();
    assert_eq!(names(&[], Some(&cpu()), Some(&alike)), ["any"], "nothing but the name differs");
    assert_eq!(names(&[pod(Some("gpu"))], Some(&cpu()), Some(&alike)), ["gpu", "any"]);
}

#[test]
fn a_daemon_set_without_a_plan_is_concerned_by_nothing() {
    let mut invalid = daemon_set("any", json!({}));
    invalid.spec.selector = None;
    assert!(affected([&invalid], [], None, Some(&cpu())).is_empty());
}

/// A change of one node of a random fleet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    Joins,
    Leaves,
    Pool,
    OtherLabel,
    Taint,
    Cordon,
    Ready,
    ReadySince,
    Pressure,
    Lifecycle,
    Nothing,
}

const CHANGES: [Change; 11] = [
    Change::Joins,
    Change::Leaves,
    Change::Pool,
    Change::OtherLabel,
    Change::Taint,
    Change::Cordon,
    Change::Ready,
    Change::ReadySince,
    Change::Pressure,
    Change::Lifecycle,
    Change::Nothing,
];

impl Change {
    fn on(self, before: &Node) -> Option<Node> {
        let mut node = before.clone();
        let set = |node: &mut Node, key: &str, value: &str| {
            node.metadata.labels = node.metadata.labels.with(key, value)
        };
        match self {
            Change::Leaves => return None,
            Change::Pool if node.metadata.labels.get("pool") == Some("x") => set(&mut node, "pool", "y"),
            Change::Pool => set(&mut node, "pool", "x"),
            Change::OtherLabel => set(&mut node, "other", "1"),
            Change::Taint if node.spec.taints.is_empty() => {
                node.spec.taints =
                    serde_json::from_value(json!([{"key": "new", "effect": "NoSchedule"}])).unwrap();
            }
            Change::Taint => node.spec.taints.clear(),
            Change::Cordon => node.spec.unschedulable = !node.spec.unschedulable,
            Change::Ready => node = with_condition(node, "Ready", "False"),
            Change::ReadySince => {
                let since = Some("2025-12-31T12:00:00Z".parse().unwrap());
                if node.status.conditions.is_empty() {
                    node = with_condition(node, "Ready", "Unknown");
                }
                node.status.conditions[0].last_transition_time = since;
            }
            Change::Pressure => {
                let pressure = with_condition(Node::default(), "DiskPressure", "True");
                node.status.conditions.extend(pressure.status.conditions);
            }
            Change::Lifecycle => {
                let draining = with_condition(Node::default(), "DrainInProgress", "True");
                node.status.conditions.extend(draining.status.conditions);
            }
            Change::Joins | Change::Nothing => node.metadata.resource_version = "2".to_owned(),
        }
        Some(node)
    }
}

fn change() -> impl Strategy<Value = (World, u8, usize, Change)> {
    (world(), 0_u8..8, 0_usize..7, select(&CHANGES[..]))
}

/// The fleet before and after the change, and whether the DaemonSet is affected. `pools` says which nodes are in the
/// pool that the template selects; without any, it selects none. `None` for a fleet without nodes.
fn both((world, pools, which, change): &(World, u8, usize, Change)) -> Option<(Recording, Recording, bool)> {
    let mut after = world.recording();
    // A create that no list shows is beyond the answer's pods.
    after.memory = None;
    if *pools > 0 {
        after.daemon_set.spec.template["spec"]["nodeSelector"] = json!({"pool": "x"});
    }
    for (position, node) in after.nodes.iter_mut().enumerate() {
        let pool = if pools >> (position % 3) & 1 == 1 { "x" } else { "y" };
        node.metadata.labels = node.metadata.labels.with("pool", pool);
    }
    let mut before = after.clone();
    let position = which.checked_rem(after.nodes.len())?;
    let old = after.nodes.remove(position);
    let new = change.on(&old);
    after.nodes.extend(new.clone());
    let old = if *change == Change::Joins {
        before.nodes.remove(position);
        None
    } else {
        Some(old)
    };
    let named = !affected([&before.daemon_set], &before.pods, old.as_ref(), new.as_ref()).is_empty();
    Some((before, after, named))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(500), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_daemon_set_that_is_not_named_has_the_same_actions_before_and_after(change in change()) {
        if let Some((before, after, false)) = both(&change) {
            let (before, after) = (before.snapshot().unwrap(), after.snapshot().unwrap());
            prop_assert_eq!(without_versions(reconcile(&before)), without_versions(reconcile(&after)));
        }
    }
}

/// The patch of a node has the version that it was decided on: another version is no other decision.
fn without_versions(mut actions: Vec<Action>) -> Vec<Action> {
    for action in &mut actions {
        if let Action::PatchNode { node, .. } = action {
            node.resource_version.clear();
        }
    }
    actions
}

/// How often each change names the DaemonSet, leaves it out, and changes its actions.
#[test]
fn the_changes_reach_both_answers() {
    let mut runner = TestRunner::deterministic();
    let mut reached: BTreeMap<Change, [u32; 3]> = BTreeMap::new();
    for _ in 0..2000 {
        let change = change().new_tree(&mut runner).unwrap().current();
        let Some((before, after, named)) = both(&change) else { continue };
        let actions = |recording: &Recording| without_versions(reconcile(&recording.snapshot().unwrap()));
        let differs = actions(&before) != actions(&after);
        let [named_so_far, left_out, different] = reached.entry(change.3).or_default();
        *named_so_far += u32::from(named);
        *left_out += u32::from(!named);
        *different += u32::from(differs);
    }
    for (change, [named, left_out, different]) in &reached {
        let concerns_nobody = matches!(change, Change::Pressure | Change::Nothing);
        assert_eq!(*named == 0, concerns_nobody, "{change:?}: {reached:?}");
        assert!(*left_out > 5 || *change == Change::Pool, "{change:?}: {reached:?}");
        let decides = matches!(change, Change::Joins | Change::Leaves | Change::Pool | Change::Taint);
        assert!(!decides || *different > 20, "{change:?}: {reached:?}");
    }
}
