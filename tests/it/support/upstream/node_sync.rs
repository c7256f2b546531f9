//! Missing and excess pods (v1.36 `daemon_controller.go podsShouldBeOnNode`).

use super::facts::{Facts, Placement};
use super::{Deletion, Wish};
use daemonset::model::{IntOrString, Pod};
use daemonset::{CreateReason, DeleteReason, Failure};

pub(super) fn wish<'r>(facts: &Facts<'r>) -> Wish<'r> {
    let mut wish = Wish::default();
    for (node, placement) in &facts.nodes {
        let pods = facts.pods.get(node).map_or(&[][..], Vec::as_slice);
        match placement {
            Placement::Run if pods.is_empty() => wish.creates.push((node, CreateReason::MissingPod)),
            Placement::Run | Placement::Continue => continue_on(facts, node, pods, &mut wish),
            Placement::Exclude => {
                for pod in pods.iter().filter(|pod| !is_terminating(pod)) {
                    wish.delete(pod, DeleteReason::NodeExcluded);
                }
            }
        }
    }
    // They are deleted again in each sync while they terminate.
    let strays = facts.pods.iter().filter(|(node, _)| !facts.nodes.contains_key(*node));
    for pod in strays.flat_map(|(_, pods)| pods).filter(|pod| pod.spec.node_name.as_str().is_empty()) {
        wish.delete(pod, DeleteReason::NodeGone);
    }
    wish
}

fn continue_on<'r>(facts: &Facts<'r>, node: &'r str, pods: &[&'r Pod], wish: &mut Wish<'r>) {
    let running = delete_finished(facts, node, pods, wish);
    if !allows_surge(facts) {
        for excess in running.iter().skip(1) {
            wish.delete(excess, DeleteReason::ExcessPod);
        }
    } else if running.is_empty() {
        if facts.should_run(node) {
            wish.creates.push((node, CreateReason::MissingPod));
        }
    } else if running.len() > 1 {
        keep_a_pair(facts, &running, wish);
    }
}

/// One failed pod is deleted, and holds back the node's next one. Returns the pods that run.
fn delete_finished<'r>(facts: &Facts<'r>, node: &str, pods: &[&'r Pod], wish: &mut Wish<'r>) -> Vec<&'r Pod> {
    let (count, mut held_until) = facts.failures(node);
    let mut holds = held_until.is_some();
    let mut running = Vec::new();
    for pod in pods.iter().copied().filter(|pod| !is_terminating(pod)) {
        match pod.status.phase.as_ref() {
            "Failed" if holds => {
                wish.retry_at = wish.retry_at.into_iter().chain(held_until.take()).min();
            }
            "Failed" => {
                holds = true;
                let generation = facts.recording.daemon_set.metadata.generation;
                let failure = Some(Failure::new(generation, count + 1));
                wish.deletes.push(Deletion { pod, reason: DeleteReason::FailedPod, failure });
            }
            "Succeeded" => wish.delete(pod, DeleteReason::SucceededPod),
            _ => running.push(pod),
        }
    }
    running
}

/// The oldest pod with the current hash and the oldest one without it: only the hash decides the side.
fn keep_a_pair<'r>(facts: &Facts<'r>, running: &[&'r Pod], wish: &mut Wish<'r>) {
    let (mut updated, mut outdated) = (None, None);
    for pod in running.iter().copied() {
        let side = if facts.has_current_hash(pod) { &mut updated } else { &mut outdated };
        match side {
            None => *side = Some(pod),
            Some(_) => wish.delete(pod, DeleteReason::ExcessPod),
        }
    }
    if let (Some(updated), Some(outdated)) = (updated, outdated) {
        if !facts.is_ready(outdated) {
            wish.delete(outdated, DeleteReason::NotReadyBesideSuccessor);
        } else if facts.is_available(updated) {
            wish.delete(outdated, DeleteReason::SuccessorAvailable);
        }
    }
}

/// Deletes for one node.
fn allows_surge(facts: &Facts<'_>) -> bool {
    let strategy = &facts.recording.daemon_set.spec.update_strategy;
    let limit = strategy.rolling_update.as_ref().and_then(|rolling| rolling.max_surge);
    strategy.kind == "RollingUpdate" && limit.is_some_and(|limit: IntOrString| limit.scaled(1) > 0)
}

fn is_terminating(pod: &Pod) -> bool {
    pod.metadata.deletion_timestamp.is_some()
}
