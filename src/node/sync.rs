//! Missing and excess pods, node by node, before the update strategy.
//!
//! v1.36 `daemon_controller.go podsShouldBeOnNode, manage`.

use crate::action::{DeleteReason, Failure};
use crate::input::placement::{Placement, toleration_withdrawn};
use crate::input::strategy::Strategy;
use crate::node::fleet::{Fleet, FleetPod, PodStage};
#[cfg(daemonset_mutants)]
use crate::objects::mutants::{Mutant, is_active};
use crate::objects::position::{FleetIx, IndexVec, NodeIx};
use crate::plan::authority::Authority;
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
    kept_instead: Vec<KeptInstead>,
    /// Nodes whose failed pods are held back.
    pub held: Vec<Held>,
    /// Nodes with an available pod that goes by a withdrawn toleration, but [last](crate::node::figures::Figure::LeavesLast); in the order of the
    /// snapshot.
    leaving_last: Vec<NodeIx>,
}

/// A pod to delete; small, since a broken fleet has one for every node.
#[derive(Debug, Clone, Copy)]
pub struct Deletion {
    pub pod: FleetIx,
    pub reason: DeleteReason,
    /// For an updated failed pod, how often its node has failed by now; else 0.
    failures: u32,
}

impl Deletion {
    pub fn new(pod: FleetIx, reason: DeleteReason) -> Self {
        Deletion { pod, reason, failures: 0 }
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
struct KeptInstead {
    outdated: FleetIx,
    updated: FleetIx,
}

/// A node whose failed pods wait for their back-off.
#[derive(Debug, Clone, Copy)]
pub struct Held {
    pub node: NodeIx,
    pub until: Timestamp,
    /// Failures in a row.
    pub count: u32,
}

/// Decides for all nodes, and for pods that wait for a node that is gone.
#[doc(alias = "podsShouldBeOnNode")]
pub fn node_sync(fleet: &Fleet<'_>) -> NodeSync {
    let mut node_sync = NodeSync {
        creates: Vec::new(),
        deletes: Vec::new(),
        deleted: IndexVec::repeat(false, fleet.pods.len()),
        kept_instead: Vec::new(),
        held: Vec::new(),
        leaving_last: Vec::new(),
    };
    if !Authority::of(fleet.snapshot).syncs_nodes() {
        // The other controller creates and tidies up: until it has, all pods are there.
        return node_sync;
    }
    for (node, state) in fleet.nodes.enumerated() {
        match state.placement {
            // Most nodes.
            Placement::Run if has_one_live_pod(fleet, node) => {}
            Placement::Run => {
                node_sync.delete_finished(fleet, node);
                node_sync.delete_excess(fleet, node);
                node_sync.create_missing(fleet, node);
            }
            Placement::ContinueOnly(_) => {
                node_sync.delete_finished(fleet, node);
                // Before excess pods, so that the pod which is kept is one that may stay.
                node_sync.delete_withdrawn(fleet, node);
                node_sync.delete_excess(fleet, node);
                if node_sync.leaving(fleet, node).next().is_some() {
                    node_sync.leaving_last.push(node);
                }
            }
            Placement::Exclude(_) => node_sync.delete_all(fleet, node),
        }
    }
    node_sync.delete_lost(fleet);
    node_sync
}

/// Nothing is in excess, finished or missing then.
fn has_one_live_pod(fleet: &Fleet<'_>, node: NodeIx) -> bool {
    let mut pods = fleet.pods_of(node);
    pods.next().is_some_and(|(_, pod)| pod.is_live()) && pods.next().is_none()
}

fn is_surge(fleet: &Fleet<'_>) -> bool {
    match fleet.snapshot.spec.strategy {
        Strategy::Surge { .. } => true,
        Strategy::OnDelete | Strategy::Replace(_) => false,
    }
}

/// The live outdated pods of a node that stay only by a toleration which the template has withdrawn
/// `[only-target-nodes]`. Under OnDelete a person decides, and a node that the rollout has not reached keeps its pod.
fn withdrawn<'f>(fleet: &'f Fleet<'_>, node: NodeIx) -> impl Iterator<Item = (FleetIx, &'f FleetPod)> {
    let outdated = fleet.pods_of(node).filter(|(_, pod)| pod.is_live() && !pod.of_goal);
    let applies = fleet.snapshot.spec.strategy != Strategy::OnDelete && !fleet.goals.of(node).is_held();
    outdated.filter(move |(_, pod)| {
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
        &'f self,
        fleet: &'f Fleet<'_>,
        node: NodeIx,
    ) -> impl Iterator<Item = (FleetIx, &'f FleetPod)> + Clone {
        fleet.pods_of(node).filter(|(index, pod)| pod.is_live() && !self.deletes_pod(*index))
    }

    /// Whether an outdated and an updated pod stay side by side until the updated one is available.
    pub fn keeps_a_pair(&self, fleet: &Fleet<'_>, node: NodeIx) -> bool {
        let side = |of_goal| self.survivors(fleet, node).any(|(_, pod)| pod.of_goal == of_goal);
        side(true) && side(false)
    }

    /// The back-off of a node whose failed pods are held back.
    pub fn held(&self, node: NodeIx) -> Option<&Held> {
        let found = self.held.binary_search_by_key(&node, |held| held.node).ok()?;
        self.held.get(found)
    }

    /// The updated pod that goes only because this outdated one of its node is kept instead.
    pub fn given_up_for(&self, outdated: FleetIx) -> Option<FleetIx> {
        let found = self.kept_instead.binary_search_by_key(&outdated, |pair| pair.outdated).ok()?;
        self.kept_instead.get(found).map(|pair| pair.updated)
    }

    /// The outdated pods for which an updated one goes.
    pub fn kept_outdated(&self) -> impl Iterator<Item = FleetIx> {
        self.kept_instead.iter().map(|pair| pair.outdated)
    }

    /// Whether the node has an available pod that goes by a withdrawn toleration, but last.
    pub fn leaves_last(&self, node: NodeIx) -> bool {
        self.leaving_last.binary_search(&node).is_ok()
    }

    /// The nodes that [leave last](Self::leaves_last) and go in this plan.
    pub fn gone_last(&self, fleet: &Fleet<'_>) -> impl Iterator<Item = NodeIx> {
        let goes = |node: &NodeIx| self.leaving(fleet, *node).next().is_none();
        self.leaving_last.iter().copied().filter(goes)
    }

    fn delete(&mut self, pod: FleetIx, reason: DeleteReason) {
        self.push(Deletion::new(pod, reason));
    }

    fn push(&mut self, deletion: Deletion) {
        self.deleted.set(deletion.pod, true);
        self.deletes.push(deletion);
    }

    /// Succeeded pods go; failed ones too, unless they are updated and the node's back-off holds them. All failed
    /// pods of a node go together and count as one failure `[failed-pods-together]`. On a node that leaves they stay: no other
    /// pod could come.
    fn delete_finished(&mut self, fleet: &Fleet<'_>, node: NodeIx) {
        if fleet.lifecycle(node).is_some() {
            return;
        }
        for (index, pod) in fleet.pods_of(node) {
            match pod.stage {
                PodStage::Succeeded => self.delete(index, DeleteReason::SucceededPod),
                PodStage::Failed if pod.of_goal => self.delete_or_hold(fleet, node, index),
                PodStage::Failed => self.delete(index, DeleteReason::FailedPod),
                PodStage::Live | PodStage::Terminating | PodStage::Gone => {}
            }
        }
    }

    fn delete_or_hold(&mut self, fleet: &Fleet<'_>, node: NodeIx, pod: FleetIx) {
        let snapshot = fleet.snapshot;
        let (name, generation) = (fleet.node_view(node).name, snapshot.spec.failure_generation());
        let failures = snapshot.memory.as_ref().map(|m| m.failures(name, generation, snapshot.now));
        let count = failures.as_ref().map_or(0, |failures| failures.count);
        match failures.and_then(|failures| failures.held_until) {
            Some(until) => self.hold(Held { node, until, count }),
            None => {
                let deletion = Deletion::new(pod, DeleteReason::FailedPod);
                self.push(Deletion { failures: count.saturating_add(1), ..deletion });
            }
        }
    }

    fn hold(&mut self, held: Held) {
        if self.held.last().is_none_or(|last| last.node != held.node) {
            self.held.push(held);
        }
    }

    /// Without surge one live pod stays; with surge one of each side.
    fn delete_excess(&mut self, fleet: &Fleet<'_>, node: NodeIx) {
        let live = fleet.pods_of(node).filter(|(index, pod)| pod.is_live() && !self.deletes_pod(*index));
        if live.clone().nth(1).is_none() {
            return;
        }
        let best = |updated: bool| {
            let side = live.clone().filter(move |(_, pod)| pod.of_goal == updated);
            side.min_by(|(_, a), (_, b)| fleet.by_worth(a, b))
        };
        let (updated, outdated) = (best(true), best(false));
        match fleet.snapshot.spec.strategy {
            Strategy::Surge { .. } => self.keep_one_a_side(fleet, node, updated, outdated),
            Strategy::OnDelete | Strategy::Replace(_) => self.keep_the_best(fleet, node, updated, outdated),
        }
    }

    /// Of the best pods of both sides the better one stays `[keep-the-available-one]`.
    fn keep_the_best(
        &mut self,
        fleet: &Fleet<'_>,
        node: NodeIx,
        updated: Option<(FleetIx, &FleetPod)>,
        outdated: Option<(FleetIx, &FleetPod)>,
    ) {
        let kept = match (updated, outdated) {
            (Some((updated, u)), Some((outdated, o))) if fleet.by_worth(o, u).is_lt() => {
                self.kept_instead.push(KeptInstead { outdated, updated });
                Some(outdated)
            }
            (Some((kept, _)), _) | (None, Some((kept, _))) => Some(kept),
            (None, None) => None,
        };
        self.keep_only(fleet, node, [kept, None]);
    }

    /// Sides are by classification, not by hash label alone `[surge-sides-by-classification]`. The outdated one goes
    /// once it is of no use: not Ready itself, or its successor is available.
    fn keep_one_a_side(
        &mut self,
        fleet: &Fleet<'_>,
        node: NodeIx,
        updated: Option<(FleetIx, &FleetPod)>,
        outdated: Option<(FleetIx, &FleetPod)>,
    ) {
        let kept = [updated, outdated].map(|side| side.map(|(index, _)| index));
        self.keep_only(fleet, node, kept);
        if let (Some((_, successor)), Some((index, old))) = (updated, outdated) {
            #[cfg(daemonset_mutants)]
            if is_active(Mutant::SurgeWithoutWaiting) {
                return self.delete(index, DeleteReason::SuccessorAvailable);
            }
            if !old.is_ready() {
                self.delete(index, DeleteReason::NotReadyBesideSuccessor);
            } else if successor.is_available() {
                self.delete(index, DeleteReason::SuccessorAvailable);
            }
        }
    }

    fn keep_only(&mut self, fleet: &Fleet<'_>, node: NodeIx, kept: [Option<FleetIx>; 2]) {
        for (index, pod) in fleet.pods_of(node) {
            if pod.is_live() && !self.deletes_pod(index) && !kept.contains(&Some(index)) {
                self.delete(index, DeleteReason::ExcessPod);
            }
        }
    }

    /// [Withdrawn](withdrawn) pods go. Under surge the available ones go last, when all nodes are counted
    /// `[surge-leaves-last]`.
    fn delete_withdrawn(&mut self, fleet: &Fleet<'_>, node: NodeIx) {
        for (index, pod) in withdrawn(fleet, node) {
            let goes_last = is_surge(fleet) && pod.is_available();
            if !goes_last {
                self.delete(index, DeleteReason::TolerationWithdrawn);
            }
        }
    }

    /// The pods of a node that [leaves last](Self::leaves_last).
    pub fn leaving<'f>(
        &'f self,
        fleet: &'f Fleet<'_>,
        node: NodeIx,
    ) -> impl Iterator<Item = (FleetIx, &'f FleetPod)> {
        let stays = |index| is_surge(fleet) && !self.deletes_pod(index);
        withdrawn(fleet, node).filter(move |(index, pod)| pod.is_available() && stays(*index))
    }

    /// Lets a node that [leaves last](Self::leaves_last) go in this plan.
    pub fn delete_leaving(&mut self, fleet: &Fleet<'_>, node: NodeIx) {
        let pods: Vec<FleetIx> = self.leaving(fleet, node).map(|(index, _)| index).collect();
        pods.into_iter().for_each(|pod| self.delete(pod, DeleteReason::TolerationWithdrawn));
    }

    /// Without surge a pod is created only when the node has none at all, not even a terminating one; with surge, when
    /// it has no live one. In both cases a failed pod that is held back, a create in flight, and a lifecycle state that the
    /// policy respects prevent it: a kubelet that shuts down rejects each pod, and would get one after the other
    /// (kubernetes#122912).
    fn create_missing(&mut self, fleet: &Fleet<'_>, node: NodeIx) {
        let mut pods = fleet.pods_of(node);
        let free = match fleet.snapshot.spec.strategy {
            Strategy::Surge { .. } => pods.all(|(_, pod)| !pod.is_live()),
            Strategy::OnDelete | Strategy::Replace(_) => pods.next().is_none(),
        };
        let may_get_a_pod = self.held(node).is_none() && fleet.lifecycle(node).is_none();
        if free && may_get_a_pod && fleet.in_flight(node).is_none() {
            self.creates.push(node);
        }
    }

    fn delete_all(&mut self, fleet: &Fleet<'_>, node: NodeIx) {
        for (index, pod) in fleet.pods_of(node) {
            match pod.stage {
                PodStage::Live | PodStage::Failed | PodStage::Succeeded => {
                    self.delete(index, DeleteReason::NodeExcluded);
                }
                PodStage::Terminating | PodStage::Gone => {}
            }
        }
    }

    /// Pods that were never bound and wait for a node that is gone `[lost-terminating]`; bound ones are the pod
    /// garbage collector's.
    fn delete_lost(&mut self, fleet: &Fleet<'_>) {
        for (index, pod) in fleet.strays() {
            let unbound = !fleet.view(pod).bound;
            match pod.stage {
                PodStage::Live | PodStage::Failed | PodStage::Succeeded if unbound => {
                    self.delete(index, DeleteReason::NodeGone);
                }
                PodStage::Live
                | PodStage::Failed
                | PodStage::Succeeded
                | PodStage::Terminating
                | PodStage::Gone => {}
            }
        }
    }
}
