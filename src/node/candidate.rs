//! Whether a node has a pod that the update may take, how ready that pod is, and how urgent.

use crate::input::authority::Authority;
use crate::input::placement::Placement;
use crate::input::strategy::Strategy;
use crate::node::fleet::{Fleet, FleetPod};
use crate::node::sync::NodeSync;
use crate::pods::history::History;
use crate::position::{FleetIx, NodeIx};
use crate::rollout::goal::NodeGoal;
use daemonset_objects::internal::Ownership;
use jiff::Timestamp;

/// How urgent a candidate is: the least first, and those alike by the name of the node.
///
/// The pods that are furthest behind go first, so that frequent edits do not starve the last nodes. A node whose update was
/// refused comes last, so that it does not starve the others `[refused-comes-last]`: among these the earliest refusal comes
/// first, whatever the revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Urgency {
    pub refused_at: Option<Timestamp>,
    /// Of the pod's revision; an unknown revision has the least number there is.
    pub number: i64,
}

/// The outdated pod of a node, if it is the only live one left, the rollout has reached the node, and the node does not
/// leave: no other pod could come there. Of any other node the update has nothing to report; a rule by which a candidate stays for a
/// reason that its report tells belongs to `eligible`.
pub(crate) fn candidate<'f>(
    fleet: &'f Fleet<'_>,
    node_sync: &'f NodeSync,
    node: NodeIx,
) -> Option<(FleetIx, &'f FleetPod)> {
    if fleet.lifecycle(node).is_some() {
        return None;
    }
    // Node sync's deletes count as done: of several pods the one that is left decides.
    let mut survivors = node_sync.survivors(fleet, node);
    let only = survivors.next().filter(|(_, pod)| !pod.of_goal)?;
    if stays_for_the_rollout(fleet, node, only.1)
        || survivors.next().is_some()
        || fleet.in_flight(node).is_some()
    {
        return None;
    }
    let may_go = Authority::of(fleet.snapshot).adopts() || is_owned(fleet, only.1);
    may_go.then_some(only)
}

/// Whether the DaemonSet owns the pod already. An external controller adopts it, and only then may it go.
fn is_owned(fleet: &Fleet<'_>, pod: &FleetPod) -> bool {
    fleet.snapshot.facts(pod.view).ownership == Ownership::Controlled
}

/// Whether the node is held, so that its pod stays.
///
/// One exception: where there is a stable revision, a pod that is neither the stable revision's nor Ready goes, and comes back as the stable revision. Broken pods of an
/// abandoned version would otherwise spend the budget for ever, and the canary of its fix could not begin. A driven update
/// has no such exception, since the other controller would create the new version.
fn stays_for_the_rollout(fleet: &Fleet<'_>, node: NodeIx, pod: &FleetPod) -> bool {
    fleet.goals.of(node).is_held() && !is_exception(fleet, node, pod)
}

/// Whether an outdated pod of a held node goes all the same.
pub(crate) fn is_exception(fleet: &Fleet<'_>, node: NodeIx, pod: &FleetPod) -> bool {
    match fleet.goals.of(node) {
        NodeGoal::HeldOnStable => !pod.is_ready() && Authority::of(fleet.snapshot).syncs_nodes(),
        // Without a stable revision a new pod would be of the current revision, which must not come here.
        NodeGoal::HeldOnCurrent | NodeGoal::Current | NodeGoal::Stable => false,
    }
}

/// The outdated pod of a candidate that goes, or gets an updated one beside it, as soon as there is room.
pub(crate) fn eligible<'f>(
    fleet: &'f Fleet<'_>,
    node_sync: &'f NodeSync,
    node: NodeIx,
) -> Option<(FleetIx, &'f FleetPod)> {
    // Until then nobody knows whether the other controller has seen the template: it would replace the pod by one of the old version, and a
    // rollout whose first pods go without the mark of its start may seem never to have begun.
    if fleet.awaits_revision {
        return None;
    }
    // A pod that is not Ready serves nobody: it goes even where no other one can come at once.
    candidate(fleet, node_sync, node)
        .filter(|(_, pod)| !pod.readiness.is_ready() || may_get_a_pod(fleet, node_sync, node))
}

/// Whether the node of a Ready outdated pod can get an updated one.
fn may_get_a_pod(fleet: &Fleet<'_>, node_sync: &NodeSync, node: NodeIx) -> bool {
    match fleet.snapshot.spec.strategy {
        // A person decides: no order of Ready pods is needed.
        Strategy::OnDelete => false,
        // A node that is backed off gets no new pod, and keeps the Ready one.
        Strategy::Replace(_) => node_sync.back_off(node).is_none(),
        Strategy::Surge { .. } => has_place(fleet, node_sync, node),
    }
}

/// Whether a node with one live pod may get a second one: no other pod is unfinished, and it is not backed off.
pub(crate) fn has_place(fleet: &Fleet<'_>, node_sync: &NodeSync, node: NodeIx) -> bool {
    // All pods, not survivors: one that node sync deletes runs beside the others until it is gone.
    let unfinished = fleet.pods_of(node).filter(|(_, pod)| pod.is_unfinished()).count();
    unfinished == 1 && node_sync.back_off(node).is_none()
}

/// The urgency of a node for its eligible pod. Under surge, pods that are not Ready go by the names of their nodes alone.
pub fn urgency(fleet: &Fleet<'_>, history: &History<'_>, node: NodeIx, pod: &FleetPod) -> Urgency {
    if fleet.is_surge() && !pod.readiness.is_ready() {
        // These deletes need no room in maxSurge, so that no node can starve another one.
        return Urgency { refused_at: None, number: i64::MIN };
    }
    let memory = fleet.snapshot.memory.as_ref();
    let refused_at =
        memory.and_then(|memory| memory.refused_at(fleet.node_view(node).name, fleet.snapshot.now));
    let number = match (refused_at, pod.revision) {
        // The current one's too, after a new number: on the way back to the stable revision its pods are the last to go.
        (None, Some(revision)) => history.revision(revision).number,
        // Nodes without a refusal come before all that have one, and only among them the number counts.
        (Some(_), _) | (None, None) => i64::MIN,
    };
    Urgency { refused_at, number }
}

/// Whether the deletes of a node come last, since it leaves. On an excluded node no pod may be, whatever its state.
pub fn deletes_come_last(fleet: &Fleet<'_>, node: NodeIx) -> bool {
    fleet.lifecycle(node).is_some() && !matches!(fleet.placement(node), Placement::Exclude(_))
}
