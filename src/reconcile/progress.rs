//! The figures that the conditions of the status are made from.

use crate::reconcile::budget::{Budget, BudgetUse};
use crate::reconcile::fleet::Fleet;
use crate::reconcile::goal::waves::{Done, WaveState};
use crate::reconcile::goal::{Rollout, Stage};
use crate::reconcile::history::History;
use crate::reconcile::node_sync::NodeSync;
use crate::reconcile::outside::Figure;
use crate::reconcile::unavailable::unavailable_cause;
use crate::reconcile::update::Update;
use crate::reconcile::update::replace::candidate;
use crate::reconcile::update::surge::has_place;
use crate::snapshot::Snapshot;
use crate::snapshot::position::{FleetIx, NodeIx};
use crate::snapshot::strategy::Strategy;
use crate::unavailable::{UnavailableCause, UnavailableNodes};
use jiff::Timestamp;

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
    /// Target nodes that the rollout has not reached.
    pub(crate) not_reached: u32,
    /// The state of the rollout, if the policy steers it.
    pub(crate) phase: Phase,
}

/// The state of a rollout, as far as the conditions tell it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It goes on, or no rollout is steered.
    Updating,
    /// The pods of the last open wave are Ready, but not for long enough.
    Baking {
        wave: usize,
        until: Timestamp,
    },
    /// The next wave waits for approval.
    WaitingForApproval {
        wave: usize,
    },
    Paused,
    /// The new version has failed, and no further node gets it.
    Stopped {
        reason: String,
    },
    /// The new version has failed, and all nodes go back to this revision.
    RolledBack {
        base: String,
        reason: String,
    },
}

impl Progress {
    pub(crate) fn new(
        fleet: &Fleet<'_>,
        history: &History<'_>,
        node_sync: &NodeSync,
        budget: &Budget,
        update: &Update,
    ) -> Self {
        let (snapshot, outside) = (fleet.snapshot, fleet.outside);
        let mut progress = Progress {
            revision: history.current_name(snapshot),
            begins: history.current().view.is_none() || history.renumbered.is_some(),
            desired: budget.desired,
            limit: limit(snapshot, budget),
            unavailable: budget.unavailable,
            excused: budget.excused,
            causes: outside.sums.causes,
            done: outside.sums.get(Figure::Done),
            outdated: outside.sums.get(Figure::Outdated),
            held: outside.held,
            on_delete: snapshot.spec.strategy == Strategy::OnDelete,
            not_reached: not_reached(fleet),
            phase: fleet.goal.rollout().map_or(Phase::Updating, phase),
        };
        let updates = Updates::new(update);
        for node in fleet.nodes.positions() {
            let counts = BudgetUse::new(fleet, node_sync, node);
            counted_cause(fleet, node, counts).into_iter().for_each(|cause| progress.causes.add(cause));
        }
        for node in fleet.targets() {
            progress.done += u32::from(is_done(fleet, node));
            progress.outdated += u32::from(has_outdated(fleet, node));
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

/// How many target nodes the rollout has not reached.
pub(crate) fn not_reached(fleet: &Fleet<'_>) -> u32 {
    let here = fleet.targets().filter(|node| fleet.goal.of(*node).is_held()).count() as u32;
    here + fleet.outside.sums.get(Figure::NotReached)
}

fn phase(rollout: &Rollout<'_>) -> Phase {
    let course = &rollout.state.course;
    let waves = &course.waves;
    let last = waves.last_open.and_then(|last| Some((last, waves.list.get(last)?)));
    let next = waves.last_open.map_or(0, |last| last + 1);
    let waits_for_approval = waves.list.get(next).is_some_and(|wave| !wave.is_approved);
    match &course.stage {
        Stage::Paused => Phase::Paused,
        Stage::Stopped(reason) => Phase::Stopped { reason: reason.clone() },
        Stage::RolledBack(reason) => {
            let base = rollout.base.as_ref().map(|base| base.view.name.to_owned());
            Phase::RolledBack { base: base.unwrap_or_default(), reason: reason.clone() }
        }
        Stage::Over => Phase::Updating,
        Stage::GoingOn => match last {
            Some((wave, WaveState { done: Done::At(until), .. })) => Phase::Baking { wave, until: *until },
            Some((_, WaveState { done: Done::Yes, .. })) | None if waits_for_approval => {
                Phase::WaitingForApproval { wave: next }
            }
            Some(_) | None => Phase::Updating,
        },
    }
}

/// Under surge no node is without an available pod on purpose.
fn limit(snapshot: &Snapshot<'_>, budget: &Budget) -> u32 {
    match snapshot.spec.strategy {
        Strategy::OnDelete => LIMIT_UNDER_ON_DELETE,
        Strategy::Replace(_) => budget.max_unavailable,
        Strategy::Surge { .. } => 0,
    }
}

/// The cause for which a node counts as unavailable.
pub(crate) fn counted_cause(fleet: &Fleet<'_>, node: NodeIx, counts: BudgetUse) -> Option<UnavailableCause> {
    if counts.excused { None } else { unavailable_cause(fleet, node, counts) }
}

/// Whether a target node has an available updated pod, and no live outdated one.
pub(crate) fn is_done(fleet: &Fleet<'_>, node: NodeIx) -> bool {
    fleet.pods_of(node).any(|(_, pod)| pod.is_available()) && !has_outdated(fleet, node)
}

pub(crate) fn has_outdated(fleet: &Fleet<'_>, node: NodeIx) -> bool {
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

    /// Whether the outdated pod of a node waits for the budget or, under OnDelete, for a person.
    fn hold(&self, fleet: &Fleet<'_>, node_sync: &NodeSync, node: NodeIx) -> bool {
        waits_for_the_limit(fleet, node_sync, node).is_some_and(|outdated| {
            self.deletes.binary_search(&outdated).is_err() && self.creates.binary_search(&node).is_err()
        })
    }
}

/// The outdated pod of a node that waits for the budget or, under OnDelete, for a person, and for nothing else, unless this
/// plan takes it: as long as node sync deletes other pods of the node, their going comes first.
pub(crate) fn waits_for_the_limit(fleet: &Fleet<'_>, node_sync: &NodeSync, node: NodeIx) -> Option<FleetIx> {
    let (outdated, _) = candidate(fleet, node_sync, node)?;
    let is_held_back = node_sync.held(node).is_some();
    let has_excess = fleet.pods_of(node).any(|(index, _)| node_sync.deletes_pod(index));
    let is_free = match fleet.snapshot.spec.strategy {
        Strategy::OnDelete | Strategy::Replace(_) => true,
        Strategy::Surge { .. } => has_place(fleet, node_sync, node),
    };
    (is_free && !has_excess && !is_held_back).then_some(outdated)
}
