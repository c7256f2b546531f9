//! Creates are allowed on target nodes that have no pod or, under surge, an outdated one.

use crate::facts::memories;
use crate::facts::strategy::Strategy;
use crate::fleet::context::Context;
use crate::fleet::{Fleet, NodeCounts};
use crate::kind::ViolationKind;
use crate::violation::Findings;
use daemonset::internal::Placement;
use daemonset::policy::LifecyclePolicy;
use daemonset::{Action, CreateReason, NodeView, Snapshot};

/// Checks all creates, and gives those that put a second pod on their node, as positions in the list.
pub(crate) fn check(context: &Context<'_>, fleet: &mut Fleet, findings: &mut Findings<'_>) -> Vec<usize> {
    let snapshot = context.snapshot;
    let mut surged = Vec::new();
    for (index, action) in context.actions.iter().enumerate() {
        let Action::CreatePod { node: name, reason, .. } = action else { continue };
        if *reason == CreateReason::PullImages {
            // It is no pod of the DaemonSet.
            continue;
        }
        let node = snapshot.index().node(name.as_str());
        let Some(target) = node.filter(|node| context.goals.placement(*node) == Placement::Run) else {
            findings.add(index, ViolationKind::NotTargetNode);
            continue;
        };
        let node = fleet.nodes.at(target);
        let wrong = must_not_get_a_pod(context, node, name.as_str());
        let wrong = wrong.or_else(|| leaves(snapshot, snapshot.node(target)));
        let live = node.live();
        let is_surge_on_held = live > 0 && context.goals.is_held(target);
        let wrong = wrong.or_else(|| is_surge_on_held.then_some(ViolationKind::NotReleased));
        fleet.nodes.change(target, |node| node.creates = true);
        match wrong {
            Some(kind) => findings.add(index, kind),
            None if live > 0 => surged.push(index),
            None => {}
        }
    }
    surged
}

fn must_not_get_a_pod(context: &Context<'_>, counts: &NodeCounts, node: &str) -> Option<ViolationKind> {
    if counts.creates {
        return Some(ViolationKind::SecondCreate);
    }
    if counts.unseen {
        return Some(ViolationKind::CreateInFlight);
    }
    let held = counts.has_failed.then(|| memories::back_off(context.snapshot, node).0).flatten();
    if let Some(until) = held {
        return Some(ViolationKind::HeldBack { until });
    }
    let live = counts.live();
    let free = match Strategy::in_force(context.snapshot) {
        Strategy::OnDelete | Strategy::Replace(_) => live + counts.terminating + counts.finished == 0,
        Strategy::Surge(_) => {
            live == 0 || (live == 1 && counts.terminating == 0 && waits_for_successor(counts))
        }
    };
    // It serves nobody now, and will again: a pod beside it would be a second one.
    let free = free && !counts.is_changing;
    (!free).then(|| ViolationKind::NodeOccupied { pods: live + counts.terminating + counts.finished })
}

/// Whether its live pod stays, is outdated and Ready `[surge-replaces-unready]`.
fn waits_for_successor(counts: &NodeCounts) -> bool {
    counts.staying(|rank| rank.is_outdated() && rank.is_ready()) > 0
}

/// The node's state forbids creates, and deletes of Ready pods, if the policy respects it.
pub(crate) fn leaves(snapshot: &Snapshot<'_>, node: &NodeView<'_>) -> Option<ViolationKind> {
    let lifecycle =
        node.lifecycle.filter(|_| snapshot.spec().policy.lifecycle == LifecyclePolicy::Respect)?;
    Some(ViolationKind::NodeLeaves { lifecycle: lifecycle.state })
}
