//! Nodes with their placement and their classified pods, with the caller's memory applied.
//!
//! Every later step reads the fleet only, so that each notion (live, Ready, available, updated) is decided once. It
//! costs a few bytes per pod and node, in two lists.

mod build;
pub(crate) mod goals;

use crate::action::{DeleteReason, LabelReason};
use crate::bug;
use crate::input::placement::{Placement, Taints};
use crate::input::strategy::Strategy;
use crate::input::{LifecyclePolicy, Snapshot};
use crate::pods::classify::Evidence;
use crate::position::{FleetIx, HistoryIx, IndexVec, NodeIx, PodIx, Position, neutral};
use crate::rollout::goals::Goals;
use crate::rollout::stable::Stable;
use crate::rules::in_place::{ImageChanges, InPlace};
use crate::rules::names::one_per_node;
use crate::rules::pull::PullPod;
use crate::rules::turn::NodeTurn;
use daemonset_objects::internal::LifecycleView;
use daemonset_objects::model::Toleration;
use daemonset_objects::{NodeView, PodView};
use jiff::Timestamp;
use std::cell::OnceCell;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// All nodes of the snapshot and all pods of the DaemonSet.
#[derive(Debug)]
pub struct Fleet<'a> {
    pub snapshot: &'a Snapshot<'a>,
    /// In the order of the snapshot.
    pub nodes: IndexVec<NodeIx, FleetNode>,
    /// The pods of each node side by side, in the order of the nodes; then the pods of nodes that are not in the
    /// snapshot.
    pub pods: IndexVec<FleetIx, FleetPod>,
    /// The first pod of a node that is not in the snapshot.
    strays: FleetIx,
    /// Other pods of a node, by node: those that are gone, and those that are released.
    pub gone_or_released: Vec<(NodeIx, PodIx)>,
    /// Pods without a target node, which are left alone.
    pub without_target: Vec<PodIx>,
    /// Creates that the snapshot does not show, by node.
    pub in_flight: Vec<CreateInFlight>,
    /// When the update's delete of a pod was accepted, by node: of nodes that the memory still waits for.
    pub deleted_by_update: Vec<(NodeIx, Timestamp)>,
    /// When the current revision was created; `None` if that is unknown, or this plan creates it.
    pub revision_created_at: Option<Timestamp>,
    /// The update waits, since the other controller, which creates the pods, has not created the current revision, or not adopted it, or
    /// another revision is newer.
    pub awaits_revision: bool,
    /// Labels that pods need.
    pub labels: Vec<(PodIx, LabelReason)>,
    /// When each of the creates, deletes and changes in place that the snapshot does not show expires, by node; `None` for one that is not
    /// in the snapshot.
    expects: Vec<(Option<NodeIx>, Timestamp)>,
    /// Whether a pod has the hash of this revision.
    live_history: IndexVec<HistoryIx, bool>,
    /// The nodes of live pods whose generation says updated while their hash label names another known revision; sorted.
    pub conflicts: Vec<Option<NodeIx>>,
    pub goals: Goals<'a>,
    /// `None` for a fleet that has nothing of it, as most do.
    pub rare: Option<Box<Rare<'a>>>,
}

/// The facts about turns, changes in place, pulls and names.
#[derive(Debug)]
pub struct Rare<'a> {
    /// The nodes in turn, by node.
    pub turns: Vec<NodeTurn<'a>>,
    /// The nodes whose turn ends in this plan, by node: they are in turn no longer.
    pub ended_turns: Vec<NodeTurn<'a>>,
    /// The pods that were changed in their place, by pod.
    pub in_place: Vec<(PodIx, InPlace)>,
    /// Found where the first pod is asked about.
    pub image_changes: OnceCell<Arc<ImageChanges>>,
    /// The pods that pull images, by node. None of them is a pod of the DaemonSet.
    pub pull_pods: Vec<PullPod<'a>>,
    /// The names of those that were created and that the snapshot does not show.
    pub unseen_pulls: BTreeSet<&'a str>,
    /// The pods of the namespace by name, where each node has one name for its pods; else empty.
    pub names: BTreeMap<&'a str, PodIx>,
}

/// A node of the snapshot.
#[derive(Debug, Clone, Copy)]
pub struct FleetNode {
    pub placement: Placement,
    first_pod: FleetIx,
}

// A node without pods that gets none.
neutral!(
    FleetNode,
    FleetNode { placement: Placement::ContinueOnly(Taints { first: 0 }), first_pod: FleetIx::BEYOND }
);

/// A pod of the DaemonSet that is not gone.
#[derive(Debug, Clone, Copy)]
pub struct FleetPod {
    /// Its object in the snapshot.
    pub view: PodIx,
    /// The revision that its hash label names.
    pub revision: Option<HistoryIx>,
    pub stage: PodStage,
    pub readiness: Readiness,
    pub evidence: Evidence,
    /// It has the revision that is the goal of its node. Where the node is not known, or no rollout is steered: it is updated.
    pub of_goal: bool,
}

// A large cluster has a hundred thousand of them, and a decision holds two copies of each at its peak.
const _: () = assert!(size_of::<FleetPod>() == 12);

neutral!(
    FleetPod,
    FleetPod {
        view: PodIx::BEYOND,
        revision: None,
        stage: PodStage::Gone,
        readiness: Readiness::Pending,
        evidence: Evidence::NoHash,
        of_goal: false,
    }
);

/// The stage of a pod's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PodStage {
    /// Neither terminating nor finished.
    Live,
    Failed,
    Succeeded,
    /// It has a deletionTimestamp, or its deletion was accepted and the snapshot does not show it yet.
    Terminating,
    /// Terminating and finished: it runs nothing any more. No such pod is in the fleet.
    Gone,
}

impl PodStage {
    /// Whether a delete of the pod has an effect: it is not asked for yet.
    pub fn can_be_deleted(self) -> bool {
        match self {
            PodStage::Live | PodStage::Failed | PodStage::Succeeded => true,
            PodStage::Terminating | PodStage::Gone => false,
        }
    }
}

/// How ready a live pod is, best first. The candidates of the update are in groups by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Readiness {
    /// Ready for minReadySeconds.
    Available,
    /// Ready, and not yet for minReadySeconds.
    NotYetAvailable,
    NotReady,
    /// Not Ready, and its phase is Pending or unknown.
    Pending,
}

impl Readiness {
    pub const ALL: [Readiness; 4] =
        [Readiness::Available, Readiness::NotYetAvailable, Readiness::NotReady, Readiness::Pending];

    pub fn is_ready(self) -> bool {
        match self {
            Readiness::Available | Readiness::NotYetAvailable => true,
            Readiness::NotReady | Readiness::Pending => false,
        }
    }

    /// The reason for which the update deletes an outdated pod of this readiness.
    pub fn reason_of_update(self) -> DeleteReason {
        match self {
            Readiness::Available => DeleteReason::OutdatedAvailable,
            Readiness::NotYetAvailable => DeleteReason::OutdatedNotYetAvailable,
            Readiness::NotReady => DeleteReason::OutdatedNotReady,
            Readiness::Pending => DeleteReason::OutdatedPending,
        }
    }
}

/// A create that the snapshot does not show.
#[derive(Debug, Clone, Copy)]
pub struct CreateInFlight {
    pub node: NodeIx,
    /// When it was accepted.
    pub at: Timestamp,
    /// When it expires.
    pub until: Timestamp,
    /// The revision that its hash names.
    pub revision: Option<HistoryIx>,
    /// It is of the current revision.
    pub updated: bool,
    /// It is of the revision that is the goal of its node.
    pub of_goal: bool,
}

impl Rare<'_> {
    /// The change of a pod in its place.
    fn in_place(&self, pod: PodIx) -> Option<&InPlace> {
        let found = self.in_place.binary_search_by_key(&pod, |(pod, _)| *pod).ok()?;
        self.in_place.get(found).map(|(_, in_place)| in_place)
    }
}

impl FleetPod {
    pub fn is_live(&self) -> bool {
        self.stage == PodStage::Live
    }

    /// Live and Ready.
    pub fn is_ready(&self) -> bool {
        self.is_live() && self.readiness.is_ready()
    }

    /// Live, and Ready for minReadySeconds. A terminating pod never is `[terminating-is-unavailable]`.
    pub fn is_available(&self) -> bool {
        self.is_live() && self.readiness == Readiness::Available
    }

    /// It is of the current revision, which need not be the goal of its node.
    pub fn is_updated(&self) -> bool {
        self.evidence.is_updated()
    }

    /// Live or terminating: it still runs, or may.
    pub fn is_unfinished(&self) -> bool {
        match self.stage {
            PodStage::Live | PodStage::Terminating => true,
            PodStage::Failed | PodStage::Succeeded | PodStage::Gone => false,
        }
    }
}

impl<'a> Fleet<'a> {
    /// The fleet on the way to these goals: the placement of each node is by its goal's template, and its pods are compared with
    /// its goal.
    pub fn towards(mut self, goals: Goals<'a>) -> Self {
        // Without a rollout, or without the stable revision, nothing changes.
        if let Some(stable) = goals.stable() {
            // The template of the stable revision may want other nodes than the current one, and its pods are updated ones there.
            for node in self.nodes.positions() {
                if let Some(placement) = goals.stable_placement(node) {
                    self.turn_to_stable(node, placement, stable);
                }
            }
            for create in self.in_flight.iter_mut().filter(|create| goals.of(create.node).is_stable()) {
                create.of_goal = stable.is_revision_of(create.revision);
            }
        }
        self.goals = goals;
        self
    }

    fn turn_to_stable(&mut self, node: NodeIx, placement: Placement, stable: &Stable<'_>) {
        let first = self.nodes.at(node).first_pod;
        // A node has no end of its own: the pods of the next one follow, and the strays after the last one.
        let end = self.nodes.after(node).map_or(self.strays, |next| next.first_pod);
        self.nodes.change(node, |node| node.placement = placement);
        for pod in (first.index()..end.index()).map(FleetIx::new) {
            self.pods.change(pod, |pod| pod.of_goal = stable.is_revision_of(pod.revision));
        }
    }

    /// The comparison of revisions for changes in place, if it was asked for.
    pub fn image_changes(&self) -> Option<&Arc<ImageChanges>> {
        self.rare.as_ref()?.image_changes.get()
    }

    /// Takes over the comparison of an earlier plan, of the same revisions.
    pub fn set_image_changes(&self, known: Option<&Arc<ImageChanges>>) {
        if let (Some(rare), Some(known)) = (&self.rare, known) {
            rare.image_changes.get_or_init(|| Arc::clone(known));
        }
    }

    /// Whether a node may have two pods during its update.
    pub fn is_surge(&self) -> bool {
        match self.snapshot.spec.strategy {
            Strategy::Surge { .. } => true,
            Strategy::OnDelete | Strategy::Replace(_) => false,
        }
    }

    /// The tolerations of the pods that the node should run: the template's and those of every daemon pod.
    pub fn tolerations(&self, node: NodeIx) -> &[Toleration] {
        self.goals
            .stable_of(node)
            .map_or(&self.snapshot.spec.template.tolerations, |stable| &stable.template.tolerations)
    }

    /// Whether the node should run the pod and is Ready itself; a node without condition Ready counts as Ready.
    pub fn is_ready_target(&self, node: NodeIx) -> bool {
        self.placement(node) == Placement::Run && self.node_view(node).ready != Some(false)
    }

    #[inline]
    pub fn placement(&self, node: NodeIx) -> Placement {
        self.nodes.at(node).placement
    }

    #[inline]
    pub fn pod(&self, pod: FleetIx) -> &FleetPod {
        self.pods.at(pod)
    }

    /// The pods of a node.
    #[inline]
    pub fn pods_of(&self, node: NodeIx) -> impl Iterator<Item = (FleetIx, &FleetPod)> + Clone {
        let end = self.nodes.after(node).map_or(self.strays, |next| next.first_pod);
        self.pods.range(self.nodes.at(node).first_pod, end)
    }

    /// The node of a pod; `None` where the snapshot does not have it.
    pub fn node_of(&self, pod: FleetIx) -> Option<NodeIx> {
        self.snapshot.facts(self.pod(pod).view).node
    }

    /// The pods of nodes that are not in the snapshot.
    pub fn strays(&self) -> impl Iterator<Item = (FleetIx, &FleetPod)> {
        self.pods.range(self.strays, self.pods.end())
    }

    /// The create of this node that the snapshot does not show.
    pub fn in_flight(&self, node: NodeIx) -> Option<&CreateInFlight> {
        // At most one: the memory has one create for each node.
        let found = self.in_flight.binary_search_by_key(&node, |create| create.node).ok()?;
        self.in_flight.get(found)
    }

    /// When the update deleted the pod of this node, if the memory still waits for another one.
    pub fn deleted_by_update_at(&self, node: NodeIx) -> Option<Timestamp> {
        let found = self.deleted_by_update.binary_search_by_key(&node, |(node, _)| *node).ok()?;
        self.deleted_by_update.get(found).map(|(_, at)| *at)
    }

    /// When the first of the creates, deletes and changes in place expires that the snapshot does not show.
    pub fn expects_until(&self) -> Option<Timestamp> {
        self.expects.iter().map(|(_, until)| *until).min()
    }

    /// The same of one node.
    pub fn expects_until_on(&self, node: NodeIx) -> Option<Timestamp> {
        let first = self.expects.partition_point(|(other, _)| *other < Some(node));
        let first = self.expects.get(first).filter(|(other, _)| *other == Some(node));
        first.map(|(_, until)| *until)
    }

    /// The nodes in turn, by node.
    pub fn turns(&self) -> &[NodeTurn<'a>] {
        self.rare.as_ref().map_or(&[], |rare| &rare.turns)
    }

    /// The turn of this node.
    #[inline]
    pub fn turn(&self, node: NodeIx) -> Option<&NodeTurn<'a>> {
        let turns = &self.rare.as_ref()?.turns;
        let found = turns.binary_search_by_key(&node, |turn| turn.node).ok()?;
        turns.get(found)
    }

    /// Whether a target node runs one pod, which is available, of the current revision and of its goal, and nothing else matters of it:
    /// most nodes do.
    #[inline]
    pub fn is_settled(&self, node: NodeIx) -> bool {
        let mut pods = self.pods_of(node);
        let is_right = |pod: &FleetPod| pod.is_available() && pod.of_goal && pod.is_updated();
        (self.rare.is_none() && self.in_flight.is_empty() && self.deleted_by_update.is_empty())
            && self.placement(node) == Placement::Run
            && pods.next().is_some_and(|(_, pod)| is_right(pod))
            && pods.next().is_none()
    }

    /// Whether the turn of a node ends in this plan.
    pub fn ends_turn(&self, node: NodeIx) -> bool {
        let has_ended =
            |rare: &Rare<'_>| rare.ended_turns.binary_search_by_key(&node, |turn| turn.node).is_ok();
        self.rare.as_deref().is_some_and(has_ended)
    }

    /// The pods that pull images on this node.
    pub fn pull_pods_of(&self, node: NodeIx) -> &[PullPod<'a>] {
        let pods = self.pull_pods();
        let first = pods.partition_point(|pod| pod.node < Some(node));
        let after = pods.partition_point(|pod| pod.node <= Some(node));
        pods.get(first..after).unwrap_or_default()
    }

    /// The pods that pull images, by node.
    pub fn pull_pods(&self) -> &[PullPod<'a>] {
        self.rare.as_ref().map_or(&[], |rare| &rare.pull_pods)
    }

    /// The change of this pod in its place.
    #[inline]
    pub fn in_place(&self, pod: &FleetPod) -> Option<&InPlace> {
        self.rare.as_ref()?.in_place(pod.view)
    }

    /// Whether the change of this pod in its place is in flight, and no deletion is: it serves nobody, and stays.
    pub fn is_changing(&self, pod: &FleetPod) -> bool {
        let (view, snapshot) = (self.view(pod), self.snapshot);
        let memory = snapshot.memory.as_ref().filter(|_| self.rare.is_some() && view.deleted_at.is_none());
        memory.is_some_and(|memory| {
            memory.changing_until(view, snapshot).is_some()
                && memory.deleting_until(view.uid, snapshot).is_none()
        })
    }

    /// When a pod was created, or changed in its place after that: its version has run since then.
    pub fn birth(&self, pod: &FleetPod) -> Option<Timestamp> {
        // `None` is less than each instant, so that a pod of unknown creation has the instant of its change.
        self.view(pod).created_at.max(self.in_place(pod).map(|in_place| in_place.since.at))
    }

    /// Since when a Ready pod has been ready as it is.
    pub fn ready_since(&self, pod: &FleetPod) -> Option<Timestamp> {
        let transition = self.view(pod).ready_since;
        self.in_place(pod).map_or(transition, |in_place| in_place.ready_since(transition))
    }

    /// The pod that has the name of a pod for this node, where each node has one name.
    pub fn with_name_of(&self, node: NodeIx) -> Option<PodIx> {
        let names = self.rare.as_ref().map(|rare| &rare.names).filter(|names| !names.is_empty())?;
        names.get(one_per_node(&self.snapshot.spec, self.node_view(node).name).as_str()).copied()
    }

    /// The state in which the node is left alone, if the policy respects it.
    #[inline]
    pub fn lifecycle(&self, node: NodeIx) -> Option<LifecycleView> {
        let lifecycle = self.node_view(node).lifecycle?;
        (self.snapshot.spec.policy.lifecycle == LifecyclePolicy::Respect).then_some(lifecycle)
    }

    /// Whether a pod of the DaemonSet has this revision's hash, so that the revision must stay.
    pub fn is_live_history(&self, revision: HistoryIx) -> bool {
        *self.live_history.at(revision)
    }

    #[inline]
    pub fn view(&self, pod: &FleetPod) -> &'a PodView<'a> {
        self.snapshot.pod(pod.view)
    }

    #[inline]
    pub fn node_view(&self, node: NodeIx) -> &'a NodeView<'a> {
        self.snapshot.node(node)
    }

    /// The name of a pod's target node.
    pub fn target_name(&self, pod: &FleetPod) -> &'a str {
        let target = self.view(pod).target;
        debug_assert!(target.is_some(), "a pod without a target is not in the fleet");
        bug::expected(target).unwrap_or_default()
    }

    /// When the deletion of a terminating pod was asked for.
    pub fn deletion_asked_at(&self, pod: &FleetPod) -> Option<Timestamp> {
        let view = self.view(pod);
        let deletes = self.snapshot.memory.as_ref().map(|memory| &memory.deletes);
        // The API server's own instant, where the list shows one: somebody else may have deleted the pod before this controller.
        view.deletion_asked_at().or_else(|| deletes?.get(view.uid).map(|delete| delete.at))
    }

    /// When a Ready pod becomes available; `None` when time alone never makes it so: for a missing transition time, and for an instant
    /// beyond the last one that a [`Timestamp`] has.
    pub fn available_at(&self, pod: &FleetPod) -> Option<Timestamp> {
        self.ready_since(pod)?.checked_add(self.snapshot.spec.min_ready()).ok()
    }

    /// Orders two live pods of a node by which is the better one to keep: available before Ready before updated before
    /// bound before oldest before name `[keep-the-available-one]`.
    pub fn by_worth(&self, a: &FleetPod, b: &FleetPod) -> Ordering {
        let rank = |pod: &FleetPod| {
            let view = self.view(pod);
            let (available, ready) = (pod.is_available(), pod.is_ready());
            // `false` is less than `true`, so that a property which makes a pod better is negated. The name decides last: no two
            // pods are equal, and the order of the list does not matter.
            (!available, !ready, !pod.of_goal, !view.bound, view.created_at, view.name)
        };
        rank(a).cmp(&rank(b))
    }
}
