//! Missing and excess pods, node by node, before the update strategy.
//!
//! v1.36 `daemon_controller.go podsShouldBeOnNode, manage`.

use crate::action::{DeleteReason, Failure};
use crate::input::authority::Authority;
use crate::input::placement::{Placement, toleration_withdrawn};
use crate::input::strategy::Strategy;
use crate::node::fleet::{Fleet, FleetPod, PodStage};
use crate::position::{FleetIx, IndexVec, NodeIx, PodIx};
use jiff::Timestamp;

/// The creates and deletes of node sync.
#[derive(Debug)]
pub struct NodeSync {
    /// Nodes without a pod, in the order of the snapshot.
    pub creates: Vec<NodeIx>,
    /// In no order.
    pub deletes: Vec<Deletion>,
    /// Whether each pod is among `deletes`.
    deleted: IndexVec<FleetIx, bool>,
    /// By the outdated pod, at most one for each node.
    given_up: Vec<GivenUp>,
    /// Nodes whose failed pods wait for their back-off, in the order of the snapshot.
    pub backed_off: Vec<BackedOff>,
    /// Nodes that get no pod since another one has its name, with that pod, in the order of the snapshot.
    pub names_taken: Vec<(NodeIx, PodIx)>,
}

/// A pod that node sync deletes or the update takes; small, since a broken fleet has one for every node.
#[derive(Debug, Clone, Copy)]
pub struct Deletion {
    pub pod: FleetIx,
    pub reason: DeleteReason,
    pub means: Means,
    /// For an updated failed pod, how often its node has failed by now; else 0.
    failures: u32,
}

/// The way in which a pod is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Means {
    Delete,
    /// It is changed in its place.
    InPlace,
    /// It is not taken yet: the turn of its node begins.
    Turn,
}

impl Deletion {
    pub fn new(pod: FleetIx, reason: DeleteReason) -> Self {
        Deletion { pod, reason, means: Means::Delete, failures: 0 }
    }

    pub fn by(self, means: Means) -> Self {
        Deletion { means, ..self }
    }

    /// Whether the pod goes in this plan.
    pub fn deletes(&self) -> bool {
        self.means == Means::Delete
    }

    /// It counts as a failure of its node.
    pub fn is_failure(&self) -> bool {
        self.failures > 0
    }

    /// The failure that the caller remembers for the node's back-off.
    pub fn failure(&self, generation: i64) -> Option<Failure> {
        self.is_failure().then_some(Failure { generation, count: self.failures })
    }
}

/// An outdated pod that stays because it is better than its node's best updated one, which goes as excess. When the
/// update then deletes the outdated pod, the updated one must stay.
#[derive(Debug, Clone, Copy)]
struct GivenUp {
    outdated: FleetIx,
    updated: FleetIx,
}

/// A node whose failed pods wait for their back-off.
#[derive(Debug, Clone, Copy)]
pub struct BackedOff {
    pub node: NodeIx,
    pub until: Timestamp,
    /// Failures in a row.
    pub failures: u32,
}

/// Decides for all nodes, and for pods that wait for a node that is gone.
#[doc(alias = "podsShouldBeOnNode")]
pub fn node_sync(fleet: &Fleet<'_>) -> NodeSync {
    let mut node_sync = NodeSync {
        creates: Vec::new(),
        deletes: Vec::new(),
        deleted: IndexVec::repeat(false, fleet.pods.len()),
        given_up: Vec::new(),
        backed_off: Vec::new(),
        names_taken: Vec::new(),
    };
    if !Authority::of(fleet.snapshot).syncs_nodes() {
        // The other controller creates and tidies up: until it has, all pods are there.
        return node_sync;
    }
    // In the order of nodes, so that all lists but `deletes` are sorted: they are found by binary search.
    for (node, state) in fleet.nodes.enumerated() {
        match state.placement {
            // Most nodes.
            Placement::Run if has_one_live_pod(fleet, node) => {}
            Placement::Run => {
                // First, since `create_missing` asks whether the node is backed off.
                node_sync.delete_finished(fleet, node);
                node_sync.delete_excess(fleet, node);
                node_sync.create_missing(fleet, node);
            }
            Placement::ContinueOnly(_) => {
                node_sync.delete_finished(fleet, node);
                // Before excess pods, so that the pod which is kept is one that may stay.
                node_sync.delete_withdrawn(fleet, node);
                node_sync.delete_excess(fleet, node);
            }
            // No back-off and no lifecycle state protects a pod from a node where none may be.
            Placement::Exclude(_) => node_sync.delete_all(fleet, node),
        }
    }
    node_sync.delete_strays(fleet);
    node_sync
}

/// Nothing is in excess, finished or missing then.
fn has_one_live_pod(fleet: &Fleet<'_>, node: NodeIx) -> bool {
    let mut pods = fleet.pods_of(node);
    pods.next().is_some_and(|(_, pod)| pod.is_live()) && pods.next().is_none()
}

/// The live outdated pods of a node that stay only by a toleration which the template has withdrawn
/// `[only-target-nodes]`. Under OnDelete a person decides, and a node that the rollout has not reached keeps its pod.
fn withdrawn<'f>(fleet: &'f Fleet<'_>, node: NodeIx) -> impl Iterator<Item = (FleetIx, &'f FleetPod)> {
    let outdated = fleet.pods_of(node).filter(|(_, pod)| pod.is_live() && !pod.of_goal);
    let applies = fleet.snapshot.spec.strategy != Strategy::OnDelete && !fleet.goals.of(node).is_held();
    outdated.filter(move |(_, pod)| {
        // Few nodes have such a pod, so that taints are compared with tolerations for these alone.
        let own = fleet.view(pod).tolerations;
        applies && toleration_withdrawn(fleet.tolerations(node), fleet.node_view(node), own)
    })
}

impl NodeSync {
    pub fn deletes_pod(&self, pod: FleetIx) -> bool {
        *self.deleted.at(pod)
    }

    /// Whether a pod is created on this node.
    pub fn creates_on(&self, node: NodeIx) -> bool {
        self.creates.binary_search(&node).is_ok()
    }

    /// The live pods of a node that stay.
    pub fn survivors<'f>(
        &self,
        fleet: &'f Fleet<'_>,
        node: NodeIx,
    ) -> impl Iterator<Item = (FleetIx, &'f FleetPod)> + Clone {
        fleet.pods_of(node).filter(|(index, pod)| pod.is_live() && !self.deletes_pod(*index))
    }

    /// Whether an outdated and an updated pod stay side by side until the updated one is available.
    pub fn keeps_a_pair(&self, fleet: &Fleet<'_>, node: NodeIx) -> bool {
        let mut survivors = self.survivors(fleet, node);
        survivors.clone().any(|(_, pod)| pod.of_goal) && survivors.any(|(_, pod)| !pod.of_goal)
    }

    /// The back-off of a node whose failed pods wait for it.
    pub fn back_off(&self, node: NodeIx) -> Option<&BackedOff> {
        let found = self.backed_off.binary_search_by_key(&node, |backed_off| backed_off.node).ok()?;
        self.backed_off.get(found)
    }

    /// The pod that has the name of a node's pod, where that keeps the pod away.
    pub fn name_taken_by(&self, node: NodeIx) -> Option<PodIx> {
        let found = self.names_taken.binary_search_by_key(&node, |(node, _)| *node).ok()?;
        self.names_taken.get(found).map(|(_, pod)| *pod)
    }

    /// The updated pod that goes only because this outdated one of its node is kept instead.
    pub fn given_up_for(&self, outdated: FleetIx) -> Option<FleetIx> {
        let found = self.given_up.binary_search_by_key(&outdated, |pair| pair.outdated).ok()?;
        self.given_up.get(found).map(|pair| pair.updated)
    }

    /// The outdated pods for which an updated one goes.
    pub fn kept_outdated(&self) -> impl Iterator<Item = FleetIx> {
        self.given_up.iter().map(|pair| pair.outdated)
    }

    fn delete(&mut self, pod: FleetIx, reason: DeleteReason) {
        self.push(Deletion::new(pod, reason));
    }

    fn push(&mut self, deletion: Deletion) {
        self.deleted.set(deletion.pod, true);
        self.deletes.push(deletion);
    }

    /// Succeeded pods go; failed ones too, unless they are updated and wait for the node's back-off. All failed
    /// pods of a node go together and count as one failure `[failed-pods-together]`. On a node that leaves they stay: no other
    /// pod could come.
    fn delete_finished(&mut self, fleet: &Fleet<'_>, node: NodeIx) {
        if fleet.lifecycle(node).is_some() {
            return;
        }
        for (index, pod) in fleet.pods_of(node) {
            match pod.stage {
                // Upstream has no back-off for these either: a daemon that ends without an error is created again at once.
                PodStage::Succeeded => self.delete(index, DeleteReason::SucceededPod),
                PodStage::Failed if pod.of_goal => self.delete_or_back_off(fleet, node, index),
                // The back-off slows down a version that fails. This pod's successor has another version.
                PodStage::Failed => self.delete(index, DeleteReason::FailedPod),
                PodStage::Live | PodStage::Terminating | PodStage::Gone => {}
            }
        }
    }

    fn delete_or_back_off(&mut self, fleet: &Fleet<'_>, node: NodeIx, pod: FleetIx) {
        let snapshot = fleet.snapshot;
        let (name, generation) = (fleet.node_view(node).name, snapshot.spec.failure_generation());
        let failures = snapshot.memory.as_ref().map(|m| m.failures(name, generation, snapshot.now));
        let count = failures.as_ref().map_or(0, |failures| failures.count);
        match failures.and_then(|failures| failures.backed_off_until) {
            // All failed pods of a node wait for the same instant.
            Some(_) if self.backed_off.last().is_some_and(|last| last.node == node) => {}
            Some(until) => self.backed_off.push(BackedOff { node, until, failures: count }),
            None => {
                // The memory is that of before this plan, so that all failed pods of a node get the same count: one failure.
                let deletion = Deletion::new(pod, DeleteReason::FailedPod);
                self.push(Deletion { failures: count.saturating_add(1), ..deletion });
            }
        }
    }

    /// Without surge one live pod stays; with surge one of each side. Sides are by classification, not by hash label alone
    /// `[surge-sides-by-classification]`.
    fn delete_excess(&mut self, fleet: &Fleet<'_>, node: NodeIx) {
        let live = self.survivors(fleet, node);
        // Before the comparison of pods, which reads their objects.
        if live.clone().nth(1).is_none() {
            return;
        }
        let updated = best(fleet, live.clone().filter(|(_, pod)| pod.of_goal));
        let outdated = best(fleet, live.filter(|(_, pod)| !pod.of_goal));
        match (updated, outdated) {
            (Some((updated, successor)), Some((outdated, old))) if fleet.is_surge() => {
                self.keep_only(fleet, node, &[updated, outdated]);
                let end = planted::end_of_pair(end_of_pair(old, successor));
                end.into_iter().for_each(|reason| self.delete(outdated, reason));
            }
            // Of the best pods of both sides the better one stays `[keep-the-available-one]`. For now the updated one goes as
            // excess: `Update::spared` takes it back if the update deletes the outdated one.
            (Some((updated, u)), Some((outdated, o))) if fleet.by_worth(o, u).is_lt() => {
                self.given_up.push(GivenUp { outdated, updated });
                self.keep_only(fleet, node, &[outdated]);
            }
            (Some((kept, _)), _) | (None, Some((kept, _))) => self.keep_only(fleet, node, &[kept]),
            (None, None) => {}
        }
    }

    fn keep_only(&mut self, fleet: &Fleet<'_>, node: NodeIx, kept: &[FleetIx]) {
        for (index, pod) in fleet.pods_of(node) {
            // A pod that goes already keeps its reason.
            if pod.is_live() && !self.deletes_pod(index) && !kept.contains(&index) {
                self.delete(index, DeleteReason::ExcessPod);
            }
        }
    }

    /// [Withdrawn](withdrawn) pods go. Under surge the available ones go last, when all nodes are counted
    /// `[surge-leaves-last]`.
    fn delete_withdrawn(&mut self, fleet: &Fleet<'_>, node: NodeIx) {
        for (index, pod) in withdrawn(fleet, node) {
            let goes_last = fleet.is_surge() && pod.is_available();
            if !goes_last {
                self.delete(index, DeleteReason::TolerationWithdrawn);
            }
        }
    }

    /// The available pods of a node that go by a withdrawn toleration once enough target nodes have one
    /// `[surge-leaves-last]`: see [`Figure::LeavesLast`](crate::node::figures::Figure::LeavesLast).
    pub fn leaving<'f>(
        &'f self,
        fleet: &'f Fleet<'_>,
        node: NodeIx,
    ) -> impl Iterator<Item = (FleetIx, &'f FleetPod)> {
        // Without surge they go as all others do: no node leaves last.
        let withdrawn = fleet.is_surge().then(|| withdrawn(fleet, node)).into_iter().flatten();
        withdrawn.filter(move |(index, pod)| pod.is_available() && !self.deletes_pod(*index))
    }

    /// Without surge a pod is created only when the node has none at all, not even a terminating one; with surge, when
    /// it has no live one, and none that is being changed in its place and stays. In both cases a back-off, a create in flight,
    /// and a lifecycle state that the policy respects prevent it: a kubelet that shuts down rejects each pod, and would get one
    /// after the other (kubernetes#122912).
    fn create_missing(&mut self, fleet: &Fleet<'_>, node: NodeIx) {
        let mut pods = fleet.pods_of(node);
        // The deletes of this plan free no place yet: their pods are there until a later snapshot.
        let is_free = if fleet.is_surge() {
            pods.all(|(_, pod)| !pod.is_live() && !fleet.is_changing(pod))
        } else {
            pods.next().is_none()
        };
        let may_get_a_pod = self.back_off(node).is_none() && fleet.lifecycle(node).is_none();
        if is_free && may_get_a_pod && fleet.in_flight(node).is_none() {
            match fleet.with_name_of(node) {
                // The API server would refuse it: a pod that goes holds its name until it is gone.
                Some(pod) => self.names_taken.push((node, pod)),
                None => self.creates.push(node),
            }
        }
    }

    fn delete_all(&mut self, fleet: &Fleet<'_>, node: NodeIx) {
        for (index, pod) in fleet.pods_of(node) {
            if pod.stage.can_be_deleted() {
                self.delete(index, DeleteReason::NodeExcluded);
            }
        }
    }

    /// Pods that were never bound and wait for a node that is gone `[lost-terminating]`; bound ones are the pod
    /// garbage collector's.
    fn delete_strays(&mut self, fleet: &Fleet<'_>) {
        for (index, pod) in fleet.strays() {
            if !fleet.view(pod).bound && pod.stage.can_be_deleted() {
                self.delete(index, DeleteReason::NodeGone);
            }
        }
    }
}

/// The place of a node in the order of turns, before its name: whether an available pod is left, and when its turn began.
pub fn place_in_turn(fleet: &Fleet<'_>, node_sync: &NodeSync, node: NodeIx) -> Option<(bool, Timestamp)> {
    let turn = fleet.turn(node)?;
    Some((node_sync.survivors(fleet, node).any(|(_, pod)| pod.is_available()), turn.at))
}

/// The best pod of one side of a node.
fn best<'f>(
    fleet: &Fleet<'_>,
    side: impl Iterator<Item = (FleetIx, &'f FleetPod)>,
) -> Option<(FleetIx, &'f FleetPod)> {
    side.min_by(|(_, a), (_, b)| fleet.by_worth(a, b))
}

/// Why the outdated pod of a pair goes, once it is of no use: it is not Ready itself, or its successor is available.
fn end_of_pair(old: &FleetPod, successor: &FleetPod) -> Option<DeleteReason> {
    if !old.is_ready() {
        Some(DeleteReason::NotReadyBesideSuccessor)
    } else if successor.is_available() {
        Some(DeleteReason::SuccessorAvailable)
    } else {
        None
    }
}

/// The deliberate errors in this file.
mod planted {
    use crate::action::DeleteReason;

    crate::planted::planted! {
        end_of_pair(right: Option<DeleteReason>): SurgeWithoutWaiting => Some(DeleteReason::SuccessorAvailable);
    }
}
