//! Forbidden and wrong creates of pods.

use super::{Case, Fault, Planted, lose_nodes};
use crate::properties::oracle::max_surge;
use crate::properties::planned;
use daemonset::policy::{LifecyclePolicy, PodNames};
use daemonset::report::{NodeOutcome, NodePlacement, PodState, PodVerdict, Wait};
use daemonset::{Action, CreateReason, Recording, RequeueReason};
use serde_json::{Value, json};

pub const FAULTS: &[Fault] = &[
    not_target,
    second_create,
    in_flight,
    held_back,
    on_a_node_that_leaves,
    occupied,
    one_surge_more,
    surge_beside_lost_nodes,
    wrong_batch,
    retargeted,
    of_another_template,
    under_another_name,
    pull_pod_that_runs,
];

/// The create that the plan would contain if the node had no pod and no taint.
fn create(recording: &Recording, on: &str, batch: u32) -> Action {
    let mut empty = recording.clone();
    empty.pods.clear();
    empty.memory = None;
    empty.policy.burst = 250;
    empty.policy.lifecycle = LifecyclePolicy::Ignore;
    for node in &mut empty.nodes {
        node.spec.taints.clear();
    }
    let creates = planned(&empty).actions.into_iter();
    let found = creates.filter_map(|action| match action {
        Action::CreatePod { node, reason, pod, .. }
            if node.as_str() == on && reason != CreateReason::PullImages =>
        {
            Some(Action::create_pod(node, batch, reason, pod))
        }
        _ => None,
    });
    found.last().unwrap()
}

/// Creates of pods of the DaemonSet.
fn creates(action: &Action) -> bool {
    matches!(action, Action::CreatePod { reason, .. } if *reason != CreateReason::PullImages)
}

/// Adds a create on a node with this verdict.
fn create_where(
    case: &Case<'_>,
    rule: &'static str,
    wanted: impl Fn(&NodePlacement, &NodeOutcome) -> bool,
) -> Option<Planted> {
    let nodes = case.plan.report.nodes.iter();
    let node = case.choose(nodes.filter(|verdict| wanted(&verdict.placement, &verdict.outcome)))?;
    let planned = case.plan.actions.iter().filter(|action| creates(action)).count();
    let batch = (planned + 1).ilog2();
    case.with(rule, create(case.recording, node.node.as_str(), batch))
}

fn not_target(case: &Case<'_>) -> Option<Planted> {
    create_where(case, "NotTargetNode", |placement, _| *placement != NodePlacement::Run)
}

fn in_flight(case: &Case<'_>) -> Option<Planted> {
    create_where(case, "CreateInFlight", |placement, outcome| {
        *placement == NodePlacement::Run && matches!(outcome, NodeOutcome::Waits(Wait::CreatedPod { .. }))
    })
}

/// A create in flight on the node would be found first.
fn held_back(case: &Case<'_>) -> Option<Planted> {
    let memory = json!(case.recording.memory);
    if memory["creates"].as_object().is_some_and(|creates| !creates.is_empty()) {
        return None;
    }
    create_where(case, "HeldBack", |placement, outcome| {
        *placement == NodePlacement::Run && matches!(outcome, NodeOutcome::Waits(Wait::BackOff { .. }))
    })
}

/// Its node is drained, as the policy respects.
fn on_a_node_that_leaves(case: &Case<'_>) -> Option<Planted> {
    let index = case.choose_action(creates)?;
    let Action::CreatePod { node, .. } = &case.plan.actions[index] else { return None };
    let mut planted = case.planted("NodeLeaves", |_| ())?;
    planted.recording.policy.lifecycle = LifecyclePolicy::Respect;
    let node = planted.recording.nodes.iter_mut().find(|other| other.metadata.name == *node)?;
    let drained = json!({"type": "DrainInProgress", "status": "True"});
    node.status.conditions.push(serde_json::from_value(drained).unwrap());
    Some(planted)
}

fn occupied(case: &Case<'_>) -> Option<Planted> {
    create_where(case, "NodeOccupied", |placement, outcome| {
        *placement == NodePlacement::Run && matches!(outcome, NodeOutcome::UpToDate)
    })
}

/// A full plan leaves out creates whose pods would hold places in maxSurge.
fn one_surge_more(case: &Case<'_>) -> Option<Planted> {
    let full = |action: &Action| matches!(action, Action::Requeue { reason: RequeueReason::Burst, .. });
    if case.plan.actions.iter().any(full) {
        return None;
    }
    // A node that was taken, and whose Ready pod leaves last, counts for the planner, which does not know yet that the pod stays.
    let is_ready =
        |pod: &PodVerdict| matches!(pod.state, PodState::Available { .. } | PodState::Ready { .. });
    let mut nodes = case.plan.report.nodes.iter();
    if nodes.any(|node| node.counts.deleted_by_update && node.pods.iter().any(is_ready)) {
        return None;
    }
    create_where(case, "SurgeExceeded", |_, outcome| {
        matches!(outcome, NodeOutcome::Waits(Wait::MaxSurge { .. }))
    })
}

/// The new version took down as many nodes as may have two pods.
fn surge_beside_lost_nodes(case: &Case<'_>) -> Option<Planted> {
    let surges = |action: &Action| matches!(action, Action::CreatePod { reason: CreateReason::Surge, .. });
    case.choose_action(surges)?;
    let mut planted = case.planted("SurgeExceeded beside lost nodes", |_| ())?;
    lose_nodes(case, &mut planted, max_surge(case.recording)?);
    Some(planted)
}

fn second_create(case: &Case<'_>) -> Option<Planted> {
    let index = case.choose_action(creates)?;
    case.with("SecondCreate", case.plan.actions[index].clone())
}

fn wrong_batch(case: &Case<'_>) -> Option<Planted> {
    let index = case.choose_action(creates)?;
    case.planted("WrongBatch", |actions| {
        if let Action::CreatePod { batch, .. } = &mut actions[index] {
            *batch += 1;
        }
    })
}

fn retargeted(case: &Case<'_>) -> Option<Planted> {
    let index = case.choose_action(creates)?;
    case.planted("WrongManifest", |actions| {
        if let Action::CreatePod { node, .. } = &mut actions[index] {
            let other = if node.as_str() == "n0" { "n1" } else { "n0" };
            *node = other.into();
        }
    })
    // If there is no such node, the audit reports that alone.
    .filter(|_| case.recording.nodes.len() > 1)
}

fn of_another_template(case: &Case<'_>) -> Option<Planted> {
    let index = case.choose_action(creates)?;
    let mut other = case.recording.clone();
    other.daemon_set.spec.template["spec"]["containers"][0]["image"] = "of-tomorrow".into();
    let Action::CreatePod { node, batch, .. } = &case.plan.actions[index] else { return None };
    let create = create(&other, node.as_str(), *batch);
    case.planted("WrongManifest", |actions| actions[index] = create)
}

/// The same create with another manifest.
fn remade(action: &Action, change: impl FnOnce(&mut Value)) -> Option<Action> {
    let Action::CreatePod { node, batch, reason, pod, .. } = action else { return None };
    let mut value = pod.to_value();
    change(&mut value);
    Some(Action::create_pod(node.clone(), *batch, *reason, serde_json::from_value(value).unwrap()))
}

/// Where the policy names the pods: under another name, or under that of another pod.
fn under_another_name(case: &Case<'_>) -> Option<Planted> {
    (case.recording.policy.pod_names != PodNames::Generated).then_some(())?;
    let index = case.choose_action(creates)?;
    let action = &case.plan.actions[index];
    let mut planted = case.planted("WrongManifest metadata.name", |_| ())?;
    if case.pick % 2 == 0 {
        planted.actions[index] = remade(action, |pod| pod["metadata"]["name"] = json!("agent-of-tomorrow"))?;
    } else {
        let Action::CreatePod { pod, .. } = action else { return None };
        let taken = json!({"metadata": {"namespace": "ns", "name": pod.name(), "uid": "uid-taken"}});
        planted.recording.pods.push(serde_json::from_value(taken).unwrap());
    }
    Some(planted)
}

fn pull_pod_that_runs(case: &Case<'_>) -> Option<Planted> {
    let pulls =
        |action: &Action| matches!(action, Action::CreatePod { reason: CreateReason::PullImages, .. });
    let index = case.choose_action(pulls)?;
    let (rule, pointer, value) = if case.pick % 2 == 0 {
        ("WrongManifest spec.containers", "/spec/containers/0/command", json!(["/run"]))
    } else {
        ("WrongManifest spec.restartPolicy", "/spec/restartPolicy", json!("Always"))
    };
    let wrong = remade(&case.plan.actions[index], |pod| *pod.pointer_mut(pointer).unwrap() = value)?;
    case.planted(rule, |actions| actions[index] = wrong)
}
