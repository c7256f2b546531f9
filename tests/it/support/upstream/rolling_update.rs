//! The outdated pods that are deleted or get a successor (v1.36 `update.go rollingUpdate`).
//!
//! It considers every node that has a pod, target or not.

use super::Wish;
use super::facts::Facts;
use daemonset::model::{IntOrString, Pod};
use daemonset::{CreateReason, DeleteReason};
use std::collections::BTreeMap;

/// The pods of a node that are not terminating.
enum OnNode<'r> {
    /// More than one pod on one side, which is left to node sync.
    TooMany,
    Pods {
        updated: Option<&'r Pod>,
        outdated: Option<&'r Pod>,
    },
}

/// `None` if it fails.
pub(super) fn wish<'r>(facts: &Facts<'r>) -> Option<Wish<'r>> {
    let strategy = &facts.recording.daemon_set.spec.update_strategy;
    if strategy.kind != "RollingUpdate" {
        return Some(Wish::default());
    }
    let targets = facts.nodes.keys().copied().filter(|node| facts.should_run(node));
    let desired = u32::try_from(targets.clone().count()).unwrap();
    let mut max_unavailable = 0;
    let mut max_surge = 0;
    if let Some(rolling) = &strategy.rolling_update {
        // The API server defaults an absent value to 1.
        max_unavailable = rolling.max_unavailable.unwrap_or(IntOrString::Int(1)).scaled(desired);
        max_surge = rolling.max_surge.map_or(0, |limit: IntOrString| limit.scaled(desired));
    }
    if desired > 0 && max_unavailable == 0 && max_surge == 0 {
        max_unavailable = 1;
    }
    let mut nodes: BTreeMap<&'r str, OnNode<'r>> = targets.map(|node| (node, on_node(facts, &[]))).collect();
    nodes.extend(facts.pods.iter().map(|(node, pods)| (*node, on_node(facts, pods))));
    if max_surge == 0 {
        Some(replace(facts, &nodes, max_unavailable))
    } else {
        surge(facts, &nodes, max_surge, desired)
    }
}

fn on_node<'r>(facts: &Facts<'r>, pods: &[&'r Pod]) -> OnNode<'r> {
    let live = pods.iter().copied().filter(|pod| pod.metadata.deletion_timestamp.is_none());
    let (updated, outdated): (Vec<_>, Vec<_>) = live.partition(|pod| facts.is_updated(pod));
    if updated.len() > 1 || outdated.len() > 1 {
        return OnNode::TooMany;
    }
    OnNode::Pods { updated: updated.first().copied(), outdated: outdated.first().copied() }
}

/// Deletes all outdated pods that are not available, independent of the limit: also pods that are Ready but not yet
/// available (kruise#1323), and pods on nodes where they can't be created again. Unavailable pods count on every node,
/// target or not.
fn replace<'r>(facts: &Facts<'r>, nodes: &BTreeMap<&'r str, OnNode<'r>>, max_unavailable: u32) -> Wish<'r> {
    let mut wish = Wish::default();
    let mut candidates = Vec::new();
    let mut unavailable = 0;
    for on_node in nodes.values() {
        match on_node {
            OnNode::Pods { updated: None, outdated: Some(pod) } if facts.is_available(pod) => {
                candidates.push(*pod)
            }
            OnNode::Pods { updated: None, outdated: Some(pod) } => {
                wish.delete(pod, unavailable_reason(facts, pod));
                unavailable += 1;
            }
            OnNode::Pods { updated: Some(pod), outdated: None } => {
                unavailable += u32::from(!facts.is_available(pod));
            }
            OnNode::TooMany
            | OnNode::Pods { updated: None, outdated: None }
            | OnNode::Pods { updated: Some(_), outdated: Some(_) } => unavailable += 1,
        }
    }
    for pod in candidates.into_iter().take(max_unavailable.saturating_sub(unavailable) as usize) {
        wish.delete(pod, DeleteReason::OutdatedAvailable);
    }
    wish
}

/// Only pairs whose updated pod is not available count against the limit, and an outdated pod that is not available
/// gets its successor without counting. `None` if an outdated pod is on a node that is gone.
fn surge<'r>(
    facts: &Facts<'r>,
    nodes: &BTreeMap<&'r str, OnNode<'r>>,
    max_surge: u32,
    desired: u32,
) -> Option<Wish<'r>> {
    let mut wish = Wish::default();
    let (mut candidates, mut sunset) = (Vec::new(), Vec::new());
    let (mut surging, mut available) = (0, 0);
    for (node, on_node) in nodes {
        let OnNode::Pods { updated, outdated } = on_node else {
            surging += 1;
            continue;
        };
        available += u32::from((*outdated).or(*updated).is_some_and(|pod| facts.is_available(pod)));
        match (updated, outdated) {
            (_, None) => {}
            (Some(updated), Some(outdated)) if facts.is_available(updated) => {
                wish.delete(outdated, DeleteReason::SuccessorAvailable);
            }
            (Some(_), Some(_)) => surging += 1,
            (None, Some(pod)) => match (facts.nodes.contains_key(node), facts.is_available(pod)) {
                (false, _) => return None,
                (true, false) if facts.should_run(node) => wish.creates.push((node, CreateReason::Surge)),
                (true, false) => wish.delete(pod, unavailable_reason(facts, pod)),
                (true, true) if facts.should_run(node) => candidates.push(*node),
                (true, true) => sunset.push(*pod),
            },
        }
    }
    for pod in sunset.into_iter().take(available.saturating_sub(desired) as usize) {
        wish.delete(pod, DeleteReason::OutdatedAvailable);
    }
    let room = max_surge.saturating_sub(surging) as usize;
    wish.creates.extend(candidates.into_iter().take(room).map(|node| (node, CreateReason::Surge)));
    Some(wish)
}

fn unavailable_reason(facts: &Facts<'_>, pod: &Pod) -> DeleteReason {
    match pod.status.phase.as_ref() {
        _ if facts.is_ready(pod) => DeleteReason::OutdatedNotYetAvailable,
        "Running" => DeleteReason::OutdatedNotReady,
        _ => DeleteReason::OutdatedPending,
    }
}
