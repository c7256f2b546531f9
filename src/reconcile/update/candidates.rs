//! The nodes with a pod that the update may take.

use crate::kubernetes::ownership::Ownership;
use crate::reconcile::burst::is_leaving;
use crate::reconcile::choose::{Candidates, First, Group, Urgency};
use crate::reconcile::figures::{Counts, Figure};
use crate::reconcile::fleet::{Fleet, FleetPod, Readiness};
use crate::reconcile::goal::NodeGoal;
use crate::reconcile::history::History;
use crate::reconcile::node_sync::NodeSync;
use crate::snapshot::position::{FleetIx, NodeIx};
use crate::snapshot::strategy::Strategy;

/// The outdated pod of a node, if it is the only live one left, the rollout has reached the node, and the node does not
/// leave: no other pod could come there.
pub(crate) fn candidate<'f>(
    fleet: &'f Fleet<'_>,
    node_sync: &'f NodeSync,
    node: NodeIx,
) -> Option<(FleetIx, &'f FleetPod)> {
    if fleet.lifecycle(node).is_some() {
        return None;
    }
    let mut survivors = node_sync.survivors(fleet, node);
    let only = survivors.next().filter(|(_, pod)| !pod.of_goal)?;
    if is_held(fleet, node, only.1) {
        return None;
    }
    let is_free = !fleet.snapshot.drives() || is_owned(fleet, only.1);
    (is_free && survivors.next().is_none() && fleet.in_flight(node).is_none()).then_some(only)
}

/// Whether the DaemonSet owns the pod already. Under drive the other controller adopts it, and only then may it go.
fn is_owned(fleet: &Fleet<'_>, pod: &FleetPod) -> bool {
    fleet.snapshot.facts(pod.view).ownership == Ownership::Controlled
}

/// Whether the rollout has not reached the node, so that its pod stays.
///
/// One exception: where there is a base, a pod that is neither base's nor Ready goes, and comes back as base. Broken pods of an
/// abandoned version would otherwise spend the budget for ever, and the canary of its fix could not begin. A driven update
/// has no such exception, since the other controller would create the new version.
fn is_held(fleet: &Fleet<'_>, node: NodeIx, pod: &FleetPod) -> bool {
    match fleet.goal.of(node) {
        NodeGoal::Current | NodeGoal::Base => false,
        NodeGoal::HeldOnBase => pod.is_ready() || fleet.snapshot.drives(),
        NodeGoal::HeldOnCurrent => true,
    }
}

/// The outdated pod of a [candidate] that goes, or gets an updated one beside it, as soon as there is room. Under OnDelete
/// there is none.
pub(crate) fn urgent<'f>(
    fleet: &'f Fleet<'_>,
    node_sync: &'f NodeSync,
    node: NodeIx,
) -> Option<(FleetIx, &'f FleetPod)> {
    // A node whose failed pod is held back gets no new pod.
    let may_get_a_pod = || match fleet.snapshot.spec.strategy {
        Strategy::OnDelete => false,
        Strategy::Replace(_) => node_sync.held(node).is_none(),
        Strategy::Surge { .. } => has_place(fleet, node_sync, node),
    };
    candidate(fleet, node_sync, node).filter(|(_, pod)| !pod.readiness.is_ready() || may_get_a_pod())
}

/// Whether a node with one live pod may get a second one: no other pod is unfinished, and no failed one is held back.
pub(crate) fn has_place(fleet: &Fleet<'_>, node_sync: &NodeSync, node: NodeIx) -> bool {
    let unfinished = fleet.pods_of(node).filter(|(_, pod)| pod.is_unfinished()).count();
    unfinished == 1 && node_sync.held(node).is_none()
}

pub(crate) fn group(pod: &FleetPod) -> Group {
    match pod.readiness {
        Readiness::Pending => Group::Pending,
        Readiness::NotReady => Group::NotReady,
        Readiness::NotYetAvailable => Group::NotYetAvailable,
        Readiness::Available => Group::Available,
    }
}

/// The urgency of a node for its [urgent] pod. Under surge, pods that are not Ready go by the names of their nodes alone.
pub(crate) fn urgency(fleet: &Fleet<'_>, history: &History<'_>, node: NodeIx, pod: &FleetPod) -> Urgency {
    let is_surge = matches!(fleet.snapshot.spec.strategy, Strategy::Surge { .. });
    if is_surge && !pod.readiness.is_ready() {
        return Urgency::new(None, None);
    }
    let memory = fleet.snapshot.memory.as_ref();
    let refused_at =
        memory.and_then(|memory| memory.refused_at(fleet.node_view(node).name, fleet.snapshot.now));
    // The current one's too, after a new number: on the way back to base its pods are the last to go.
    let number = pod.revision.map(|revision| history.revision(revision).number);
    Urgency::new(refused_at, number)
}

/// The candidates of a snapshot of all nodes, in no order: few plans need the order of a whole fleet.
pub(crate) struct Unsorted<'f> {
    fleet: &'f Fleet<'f>,
    history: &'f History<'f>,
    counts: &'f Counts,
    pending: Vec<(NodeIx, FleetIx)>,
    not_ready: Vec<(NodeIx, FleetIx)>,
    not_yet_available: Vec<(NodeIx, FleetIx)>,
    available: Vec<(NodeIx, FleetIx)>,
}

impl<'f> Unsorted<'f> {
    pub(crate) fn new(
        fleet: &'f Fleet<'f>,
        history: &'f History<'f>,
        node_sync: &'f NodeSync,
        counts: &'f Counts,
    ) -> Self {
        let (pending, not_ready, not_yet_available, available) = Default::default();
        let mut candidates =
            Unsorted { fleet, history, counts, pending, not_ready, not_yet_available, available };
        for node in counts.with(Figure::Candidate) {
            if let Some((index, pod)) = urgent(fleet, node_sync, node) {
                candidates.group_mut(group(pod)).push((node, index));
            }
        }
        candidates
    }

    fn group_mut(&mut self, group: Group) -> &mut Vec<(NodeIx, FleetIx)> {
        match group {
            Group::Pending => &mut self.pending,
            Group::NotReady => &mut self.not_ready,
            Group::NotYetAvailable => &mut self.not_yet_available,
            Group::Available => &mut self.available,
        }
    }
}

impl Candidates for Unsorted<'_> {
    type Node = NodeIx;

    fn len(&self, group: Group) -> u32 {
        let group = match group {
            Group::Pending => &self.pending,
            Group::NotReady => &self.not_ready,
            Group::NotYetAvailable => &self.not_yet_available,
            Group::Available => &self.available,
        };
        group.len() as u32
    }

    fn first(&mut self, group: Group, count: u32) -> First<NodeIx> {
        let nodes = if count == 0 { Vec::new() } else { std::mem::take(self.group_mut(group)) };
        let urgency = |(node, pod): (NodeIx, FleetIx)| {
            (urgency(self.fleet, self.history, node, self.fleet.pod(pod)), node)
        };
        let mut nodes: Vec<(Urgency, NodeIx)> = nodes.into_iter().map(urgency).collect();
        let index = &self.fleet.snapshot.index;
        let order = |(a, one): &(Urgency, NodeIx), (b, other): &(Urgency, NodeIx)| {
            a.cmp(b).then_with(|| index.by_name(*one, *other))
        };
        // A whole fleet may be outdated while a few nodes may be updated. Selection puts the first ones in front in linear
        // time, and only they are sorted. With room for all there is nothing to select.
        let count = count as usize;
        if count < nodes.len() {
            nodes.select_nth_unstable_by(count, order);
            nodes.truncate(count);
        }
        nodes.sort_unstable_by(order);
        let nodes: Vec<NodeIx> = nodes.into_iter().map(|(_, node)| node).collect();
        let waiting = nodes.iter().filter(|node| self.counts.has(**node, Figure::Waits)).count();
        First { count: nodes.len() as u32, waiting: waiting as u32, nodes }
    }

    fn leaving(&mut self, count: u32) -> Vec<NodeIx> {
        // Most plans: no node is looked at.
        if count == 0 {
            return Vec::new();
        }
        let mut nodes: Vec<NodeIx> = self.counts.with(Figure::LeavesLast).collect();
        nodes.sort_unstable_by_key(|node| (is_leaving(self.fleet, *node), self.fleet.node_view(*node).name));
        nodes.truncate(count as usize);
        nodes
    }
}
