//! The figures and the reason that the conditions of the status are made from.

use crate::choose::Choice;
use crate::choose::limits::Budget;
use crate::input::Snapshot;
use crate::input::strategy::Strategy;
use crate::node::figures::{Figure, Sums};
use crate::node::fleet::Fleet;
use crate::node::unavailable::UnavailableNodes;
use crate::pods::history::History;
use crate::position::NodeIx;
use crate::rollout::goals::Rollout;
use crate::rollout::report::RolloutStage;
use crate::rollout::undo::UndoProgress;
use crate::rollout::waves::{Done, WaveState};

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
    /// The reason while it is not complete: that of the rollout, if the policy steers one.
    pub reason: Reason,
    /// The same in words for a person, which follow the figures; empty where these tell everything.
    pub why: String,
}

/// The reason of a condition, which decides its type and its status, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    EnoughAvailable,
    TooManyUnavailable,
    Complete,
    Updating,
    Baking,
    Paused,
    WaitingForApproval,
    TooManyFailures,
    ProgressDeadlineExceeded,
    RolledBack,
}

impl Reason {
    /// Whether the new version has failed.
    pub(crate) const fn is_of_failure(self) -> bool {
        matches!(self, Reason::TooManyFailures | Reason::ProgressDeadlineExceeded | Reason::RolledBack)
    }

    /// The type and the status of its condition, and its own word.
    pub(crate) const fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Reason::EnoughAvailable => ("Available", "True", "EnoughAvailable"),
            Reason::TooManyUnavailable => ("Available", "False", "TooManyUnavailable"),
            Reason::Complete => ("Progressing", "True", "Complete"),
            Reason::Updating => ("Progressing", "True", "Updating"),
            Reason::Baking => ("Progressing", "True", "Baking"),
            Reason::Paused => ("Progressing", "Unknown", "Paused"),
            Reason::WaitingForApproval => ("Progressing", "Unknown", "WaitingForApproval"),
            Reason::TooManyFailures => ("Progressing", "False", "TooManyFailures"),
            Reason::ProgressDeadlineExceeded => ("Progressing", "False", "ProgressDeadlineExceeded"),
            Reason::RolledBack => ("Progressing", "False", "RolledBack"),
        }
    }
}

impl Progress {
    pub(crate) fn new(
        fleet: &Fleet<'_>,
        history: &History<'_>,
        sums: &Sums,
        choice: &Choice<NodeIx>,
    ) -> Self {
        let (snapshot, budget) = (fleet.snapshot, &choice.budget);
        let (reason, why) = fleet.goals.rollout().map_or((Reason::Updating, String::new()), reason);
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
            // The nodes that `choice` tells count in the figure as well: the sum is never the smaller one.
            waiting: sums.get(Figure::Waits) - choice.waiting,
            on_delete: snapshot.spec.strategy == Strategy::OnDelete,
            held: sums.get(Figure::Held),
            reason,
            why,
        };
        debug_assert_eq!(
            progress.causes.iter().map(|(_, nodes)| nodes).sum::<u32>() - progress.causes.deleted_by_update,
            progress.unavailable,
            "each target node that counts as unavailable has one cause"
        );
        progress
    }
}

fn reason(rollout: &Rollout<'_>) -> (Reason, String) {
    let decision = &rollout.known.decision;
    let waves = &decision.waves;
    let next = waves.open;
    let last = next.checked_sub(1).and_then(|last| Some((last, waves.list.get(last)?)));
    let waits_for_approval = waves.list.get(next).is_some_and(|wave| !wave.is_approved);
    match &decision.stage {
        RolloutStage::Complete => (Reason::Updating, String::new()),
        RolloutStage::Paused => (Reason::Paused, "; the rollout is paused".to_owned()),
        RolloutStage::Stopped { reason } if decision.undo.is_some_and(UndoProgress::is_on_its_way) => {
            let why = format!("; the new version has failed ({reason}), the template before it comes back");
            (Reason::RolledBack, why)
        }
        RolloutStage::Stopped { reason } => {
            // A person may have written the mark, with any text: that counts as too many failures.
            let is_deadline = reason == Reason::ProgressDeadlineExceeded.words().2;
            let typed = if is_deadline { Reason::ProgressDeadlineExceeded } else { Reason::TooManyFailures };
            (typed, format!("; the new version has failed: {reason}"))
        }
        RolloutStage::RolledBack { reason } => {
            // A rollout without the stable revision is stopped instead, so that there is one here.
            let stable = rollout.stable.as_ref().map_or("", |stable| stable.view.name);
            let why = format!("; the new version has failed ({reason}), all nodes go back to {stable}");
            (Reason::RolledBack, why)
        }
        // Approval is asked for only once the last wave is done: before that the answer changes nothing.
        RolloutStage::Progressing => match last {
            Some((wave, WaveState { done: Done::At(until), .. })) => {
                (Reason::Baking, format!("; wave {wave} bakes until {until}"))
            }
            Some((_, WaveState { done: Done::Yes, .. })) | None if waits_for_approval => {
                (Reason::WaitingForApproval, format!("; wave {next} waits for approval"))
            }
            Some(_) | None => (Reason::Updating, String::new()),
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
