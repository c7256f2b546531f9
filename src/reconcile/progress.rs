//! The figures that the conditions of the status are made from.

use crate::reconcile::budget::{Budget, BudgetUse};
use crate::reconcile::fleet::Fleet;
use crate::reconcile::history::History;
use crate::reconcile::node_sync::NodeSync;
use crate::reconcile::unavailable::unavailable_cause;
use crate::reconcile::update::Update;
use crate::reconcile::update::replace::candidate;
use crate::reconcile::update::surge::has_place;
use crate::snapshot::Snapshot;
use crate::snapshot::position::{FleetIx, NodeIx};
use crate::snapshot::strategy::Strategy;
use crate::unavailable::UnavailableNodes;

/// How many nodes may be without an available pod under OnDelete, where no limit is written: the default of
/// maxUnavailable, so that a person can replace one pod at a time.
const LIMIT_UNDER_ON_DELETE: u32 = 1;

/// How far the current revision has come; all numbers are of target nodes, but for the taken ones of `causes`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Progress {
    /// The name of the current revision.
    pub(crate) revision: String,
    /// This plan creates the current revision, or makes an old one current again.
    pub(crate) begins: bool,
    pub(crate) desired: u32,
    /// How many may be without an available pod.
    pub(crate) limit: u32,
    /// U: how many are, without the excused ones.
    pub(crate) unavailable: u32,
    pub(crate) excused: u32,
    pub(crate) causes: UnavailableNodes,
    /// With an available updated pod, and without a live outdated one.
    pub(crate) done: u32,
    /// With a live outdated pod, in flight included.
    pub(crate) outdated: u32,
    /// Those of `outdated` that this plan leaves as they are because a limit or, under OnDelete, a person decides.
    pub(crate) held: u32,
    /// A person decides.
    pub(crate) on_delete: bool,
}

impl Progress {
    pub(crate) fn new(
        fleet: &Fleet<'_>,
        history: &History<'_>,
        node_sync: &NodeSync,
        budget: &Budget,
        update: &Update,
    ) -> Self {
        let snapshot = fleet.snapshot;
        let mut progress = Progress {
            revision: history.current_name(snapshot),
            begins: history.current().view.is_none() || history.renumbered.is_some(),
            desired: budget.desired,
            limit: limit(snapshot, budget),
            unavailable: budget.unavailable,
            excused: budget.excused,
            causes: UnavailableNodes::default(),
            done: 0,
            outdated: 0,
            held: 0,
            on_delete: snapshot.strategy == Strategy::OnDelete,
        };
        let updates = Updates::new(update);
        for node in fleet.nodes.positions() {
            let counts = BudgetUse::new(fleet, node_sync, node);
            if !counts.excused {
                unavailable_cause(fleet, node, counts)
                    .into_iter()
                    .for_each(|cause| progress.causes.add(cause));
            }
        }
        for node in fleet.targets() {
            let is_outdated = has_outdated(fleet, node);
            let is_available = fleet.pods_of(node).any(|(_, pod)| pod.is_available());
            progress.done += u32::from(is_available && !is_outdated);
            progress.outdated += u32::from(is_outdated);
            progress.held += u32::from(updates.hold(fleet, node_sync, node));
        }
        debug_assert_eq!(
            progress.causes.iter().map(|(_, nodes)| nodes).sum::<u32>() - progress.causes.taken,
            progress.unavailable,
            "each target node that counts as unavailable has one cause"
        );
        progress
    }
}

/// Under surge no node is without an available pod on purpose.
fn limit(snapshot: &Snapshot<'_>, budget: &Budget) -> u32 {
    match snapshot.strategy {
        Strategy::OnDelete => LIMIT_UNDER_ON_DELETE,
        Strategy::Replace(_) => budget.max_unavailable,
        Strategy::Surge { .. } => 0,
    }
}

fn has_outdated(fleet: &Fleet<'_>, node: NodeIx) -> bool {
    fleet.pods_of(node).any(|(_, pod)| pod.is_live() && !pod.is_updated())
        || fleet.in_flight(node).is_some_and(|create| !create.updated)
}

/// The nodes that the update reaches now, or as soon as a plan has room.
struct Updates {
    /// Sorted.
    deletes: Vec<FleetIx>,
    /// Sorted.
    creates: Vec<NodeIx>,
}

impl Updates {
    fn new(update: &Update) -> Self {
        let mut deletes: Vec<FleetIx> = update.deletes.iter().map(|deletion| deletion.pod).collect();
        let mut creates = update.creates.clone();
        deletes.sort_unstable();
        creates.sort_unstable();
        Updates { deletes, creates }
    }

    /// Whether the outdated pod of a node waits for the budget or, under OnDelete, for a person, and for nothing else: as
    /// long as node sync deletes other pods of the node, their going comes first.
    fn hold(&self, fleet: &Fleet<'_>, node_sync: &NodeSync, node: NodeIx) -> bool {
        let Some((outdated, _)) = candidate(fleet, node_sync, node) else { return false };
        let is_held_back = node_sync.held(node).is_some();
        let goes = self.deletes.binary_search(&outdated).is_ok() || self.creates.binary_search(&node).is_ok();
        let has_excess = fleet.pods_of(node).any(|(index, _)| node_sync.deletes_pod(index));
        let is_free = match fleet.snapshot.strategy {
            Strategy::OnDelete | Strategy::Replace(_) => true,
            Strategy::Surge { .. } => has_place(fleet, node_sync, node),
        };
        is_free && !goes && !has_excess && !is_held_back
    }
}
