//! The figures that the conditions of the status are made from.

use crate::choose::Choice;
use crate::choose::limits::Budget;
use crate::input::Snapshot;
use crate::input::strategy::Strategy;
use crate::node::figures::{Figure, Sums};
use crate::node::fleet::Fleet;
use crate::node::unavailable::UnavailableNodes;
use crate::objects::position::NodeIx;
use crate::pods::history::History;
use crate::rollout::goals::Rollout;
use crate::rollout::report::RolloutStage;
use crate::rollout::waves::{Done, WaveState};
use jiff::Timestamp;

/// How many nodes may be without an available pod under OnDelete, where no limit is written: the default of
/// maxUnavailable, so that a person can replace one pod at a time.
const LIMIT_UNDER_ON_DELETE: u32 = 1;

/// How far the current revision has come. All numbers are of target nodes, except for the taken ones of `causes`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Progress {
    /// The name of the current revision.
    pub revision: String,
    /// This plan creates the current revision, or makes an old one current again.
    pub begins: bool,
    pub desired: u32,
    /// How many may be without an available pod.
    pub limit: u32,
    /// U: how many are, without the excused ones.
    pub unavailable: u32,
    pub excused: u32,
    pub causes: UnavailableNodes,
    /// With an available updated pod, and without a live outdated one.
    pub done: u32,
    /// With a live outdated pod, in flight included.
    pub outdated: u32,
    /// Nodes of `outdated` that this plan leaves as they are because a limit or, under OnDelete, a person decides.
    pub waiting: u32,
    /// A person decides.
    pub on_delete: bool,
    /// Target nodes that the rollout has not reached.
    pub held: u32,
    /// The state of the rollout, if the policy steers it.
    pub phase: RolloutPhase,
}

/// The state of a rollout, as far as the conditions tell it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RolloutPhase {
    /// It goes on, or no rollout is steered.
    Updating,
    /// The pods of the last open wave are Ready, and not yet for long enough.
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
        sums: &Sums,
        budget: &Budget,
        choice: &Choice<NodeIx>,
    ) -> Self {
        let snapshot = fleet.snapshot;
        let progress = Progress {
            revision: history.current_name(snapshot),
            begins: history.current().view.is_none() || history.renumbered.is_some(),
            desired: budget.desired,
            limit: limit(snapshot, budget),
            unavailable: budget.unavailable,
            excused: budget.excused,
            causes: sums.causes,
            done: sums.get(Figure::Done),
            outdated: sums.get(Figure::Outdated),
            // The chosen ones count among all that wait: the sum is never the smaller one.
            waiting: sums.get(Figure::Waits) - choice.waiting,
            on_delete: snapshot.spec.strategy == Strategy::OnDelete,
            held: sums.get(Figure::Held),
            phase: fleet.goals.rollout().map_or(RolloutPhase::Updating, phase),
        };
        debug_assert_eq!(
            progress.causes.iter().map(|(_, nodes)| nodes).sum::<u32>() - progress.causes.taken,
            progress.unavailable,
            "each target node that counts as unavailable has one cause"
        );
        progress
    }
}

fn phase(rollout: &Rollout<'_>) -> RolloutPhase {
    let decision = &rollout.known.decision;
    let waves = &decision.waves;
    let next = waves.open;
    let last = next.checked_sub(1).and_then(|last| Some((last, waves.list.get(last)?)));
    let waits_for_approval = waves.list.get(next).is_some_and(|wave| !wave.is_approved);
    match &decision.stage {
        RolloutStage::Paused => RolloutPhase::Paused,
        RolloutStage::Stopped { reason } => RolloutPhase::Stopped { reason: reason.clone() },
        RolloutStage::RolledBack { reason } => {
            // A rollout without base is stopped instead, so that there is one here.
            let base = rollout.base.as_ref().map(|base| base.view.name.to_owned());
            RolloutPhase::RolledBack { base: base.unwrap_or_default(), reason: reason.clone() }
        }
        RolloutStage::Over => RolloutPhase::Updating,
        // Approval is asked for only once the last wave is done: before that the answer changes nothing.
        RolloutStage::GoingOn => match last {
            Some((wave, WaveState { done: Done::At(until), .. })) => {
                RolloutPhase::Baking { wave, until: *until }
            }
            Some((_, WaveState { done: Done::Yes, .. })) | None if waits_for_approval => {
                RolloutPhase::WaitingForApproval { wave: next }
            }
            Some(_) | None => RolloutPhase::Updating,
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
