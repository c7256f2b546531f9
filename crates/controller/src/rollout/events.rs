//! Which events a rollout has, each once.
//!
//! Most transitions are marks: such an event follows the write of its mark, so that a process that finds the mark is silent. The
//! other transitions are seen by comparing a plan with the one before. The first plan of a process reports none of them, unless
//! it begins the rollout: an earlier process has reported them.

use super::words::Words;
use daemonset::model::DaemonSet;
use daemonset::report::{NodeOutcome, RevisionOrigin, RolloutReport, RolloutStage, WaitKind, WaveProgress};
use daemonset::{Action, EventType, Plan, RolloutReason};

/// An event about a rollout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RolloutEvent {
    pub(crate) event_type: EventType,
    pub(crate) reason: &'static str,
    pub(crate) message: String,
}

/// The part of a rollout that its events have reported.
#[derive(Debug, Clone, Default)]
pub(crate) struct RolloutStory {
    reported: Option<Reported>,
    /// The state after the last plan.
    next: ReportedState,
    /// Events that follow the writes of the last plan's marks.
    by_mark: Vec<(RolloutReason, RolloutEvent)>,
}

#[derive(Debug, Clone)]
struct Reported {
    /// Name and number of the revision.
    revision: (String, i64),
    state: ReportedState,
}

/// The state of a rollout, as far as events report it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct ReportedState {
    is_paused: bool,
    last_open_wave: Option<usize>,
    has_failed: bool,
    is_complete: bool,
    /// The wave that waits for approval.
    waits_for_approval: Option<usize>,
    /// A failed version was rolled back, and every node is on the version before.
    is_back: bool,
}

impl RolloutStory {
    /// The events that are due now. Those of marks follow with [`written`](Self::written).
    pub(crate) fn observe(&mut self, ds: &DaemonSet, plan: &Plan) -> Vec<RolloutEvent> {
        let (Some(rollout), Some(current)) = (&plan.report.rollout, &plan.report.current_revision) else {
            *self = RolloutStory::default();
            return Vec::new();
        };
        let marks = marks(plan, rollout);
        let mut next = match current.origin {
            // Its marks come with the next plan, and the other events after the one of the beginning.
            RevisionOrigin::Created => ReportedState::default(),
            // Beside another controller, which has to renumber it first.
            RevisionOrigin::CurrentAgain if !plan.actions.iter().any(is_renumbering) => {
                ReportedState::default()
            }
            _ => ReportedState::after(plan, rollout, &marks),
        };
        let revision = (current.name.clone(), current.number);
        let starts = marks.contains(&RolloutReason::RolloutStarted);
        let begins = starts || current.origin != RevisionOrigin::Kept;
        let before = self.state_of(&revision).unwrap_or_else(|| match begins {
            // A version that comes back is over from its beginning, and complete once its mark says so.
            true => ReportedState {
                is_complete: rollout.stage == RolloutStage::Complete,
                ..ReportedState::default()
            },
            // An earlier process has reported it.
            false => next.without(&marks),
        });
        // The roll-back ends once: a node that goes down later is not the rollout's.
        next.is_back |= before.is_back && matches!(rollout.stage, RolloutStage::RolledBack { .. });
        let words = Words { ds, plan, rollout, current };
        let mut events = Vec::new();
        self.by_mark.clear();
        if starts && !next.is_complete {
            self.by_mark.push((RolloutReason::RolloutStarted, words.started()));
        }
        for transition in Transition::ALL {
            let (mark, happens) = (transition.mark(), transition.happens(&before, &next));
            match mark.filter(|mark| marks.contains(mark)) {
                Some(mark) => self.by_mark.push((mark, transition.event(&words, &next))),
                None if happens => events.push(transition.event(&words, &next)),
                None => {}
            }
        }
        // The transitions whose marks are not written yet are reported with the write, or once another process's write shows.
        let mut state = next.clone();
        marks.iter().for_each(|mark| state.take(*mark, &before));
        self.reported = Some(Reported { revision, state });
        self.next = next;
        events
    }

    /// Whether a failed version was rolled back, and the end of that is reported: further plans need not have the verdicts of
    /// all nodes.
    pub(crate) fn has_gone_back(&self) -> bool {
        self.reported.as_ref().is_some_and(|reported| reported.state.is_back)
    }

    /// The reported state of this revision; `None` if the reports are about another one.
    fn state_of(&self, revision: &(String, i64)) -> Option<ReportedState> {
        let reported = self.reported.as_ref().filter(|reported| reported.revision == *revision);
        reported.map(|reported| reported.state.clone())
    }

    /// The event that follows this action, which is done.
    pub(crate) fn written(&mut self, action: &Action) -> Option<RolloutEvent> {
        let mark = mark_of(action)?;
        let position = self.by_mark.iter().position(|(of, _)| *of == mark)?;
        let (_, event) = self.by_mark.remove(position);
        if let Some(reported) = &mut self.reported {
            reported.state.take(mark, &self.next);
        }
        Some(event)
    }
}

/// The marks that a plan writes.
fn marks(plan: &Plan, rollout: &RolloutReport) -> Vec<RolloutReason> {
    // A revision that is created while the rollout is paused has no mark.
    let begins = rollout.stage != RolloutStage::Paused;
    plan.actions
        .iter()
        .filter_map(mark_of)
        .filter(|mark| begins || *mark != RolloutReason::RolloutStarted)
        .collect()
}

fn is_renumbering(action: &Action) -> bool {
    matches!(action, Action::RenumberRevision { .. })
}

/// The mark that an action writes. A revision is created with the mark of its beginning.
fn mark_of(action: &Action) -> Option<RolloutReason> {
    match action {
        Action::AnnotateRevision { reason, .. } => Some(*reason),
        Action::CreateRevision { .. } => Some(RolloutReason::RolloutStarted),
        _ => None,
    }
}

impl ReportedState {
    fn after(plan: &Plan, rollout: &RolloutReport, marks: &[RolloutReason]) -> Self {
        let is_open = |progress: &WaveProgress| {
            matches!(progress, WaveProgress::Updating | WaveProgress::Baking { .. } | WaveProgress::Done)
        };
        let waves = || rollout.waves.iter().map(|wave| &wave.progress);
        let is_complete =
            rollout.stage == RolloutStage::Complete || marks.contains(&RolloutReason::RolloutCompleted);
        ReportedState {
            is_paused: rollout.stage == RolloutStage::Paused,
            last_open_wave: waves().rposition(is_open).filter(|_| rollout.stage != RolloutStage::Complete),
            has_failed: matches!(
                rollout.stage,
                RolloutStage::Stopped { .. } | RolloutStage::RolledBack { .. }
            ),
            is_complete,
            waits_for_approval: waves().position(|progress| *progress == WaveProgress::WaitsForApproval),
            is_back: matches!(rollout.stage, RolloutStage::RolledBack { .. }) && is_back(plan, rollout),
        }
    }

    /// Takes over the part that a mark keeps.
    fn take(&mut self, mark: RolloutReason, from: &ReportedState) {
        match mark {
            RolloutReason::RolloutPaused => self.is_paused = from.is_paused,
            RolloutReason::WaveOpened => self.last_open_wave = from.last_open_wave,
            RolloutReason::RolloutFailed => self.has_failed = from.has_failed,
            RolloutReason::RolloutCompleted => self.is_complete = from.is_complete,
            // Its event has no other source than the write.
            _ => {}
        }
    }

    /// This state before these marks.
    fn without(&self, marks: &[RolloutReason]) -> Self {
        let mut state = self.clone();
        marks.iter().for_each(|mark| state.take(*mark, &ReportedState::default()));
        state
    }
}

/// Whether no node has the failed version, and each that is not down has its pod again.
fn is_back(plan: &Plan, rollout: &RolloutReport) -> bool {
    let is_settled = |outcome: &NodeOutcome| match outcome {
        NodeOutcome::UpToDate | NodeOutcome::NotTarget => true,
        NodeOutcome::Waits(wait) => wait.kind() == WaitKind::NodeLeaves,
        NodeOutcome::Create { .. }
        | NodeOutcome::Delete { .. }
        | NodeOutcome::UpdateInPlace { .. }
        | NodeOutcome::TurnBegins => false,
    };
    let mut nodes = plan.report.nodes.iter();
    rollout.updated == 0 && nodes.all(|node| is_settled(&node.outcome) || node.node_ready == Some(false))
}

/// A change of the state that has an event.
#[derive(Debug, Clone, Copy)]
enum Transition {
    Paused,
    WaveOpened,
    WaitsForApproval,
    Failed,
    FailureTakenBack,
    RolledBack,
    Completed,
}

impl Transition {
    /// In the order of their events.
    const ALL: [Transition; 7] = [
        Transition::Paused,
        Transition::FailureTakenBack,
        Transition::WaveOpened,
        Transition::WaitsForApproval,
        Transition::Failed,
        Transition::RolledBack,
        Transition::Completed,
    ];

    /// The mark that keeps it, if one does.
    fn mark(self) -> Option<RolloutReason> {
        match self {
            Transition::Paused => Some(RolloutReason::RolloutPaused),
            Transition::WaveOpened => Some(RolloutReason::WaveOpened),
            Transition::Failed => Some(RolloutReason::RolloutFailed),
            Transition::Completed => Some(RolloutReason::RolloutCompleted),
            Transition::WaitsForApproval | Transition::FailureTakenBack | Transition::RolledBack => None,
        }
    }

    fn happens(self, before: &ReportedState, next: &ReportedState) -> bool {
        match self {
            Transition::Paused => next.is_paused && !before.is_paused,
            Transition::WaveOpened => next.last_open_wave > before.last_open_wave,
            Transition::WaitsForApproval => {
                next.waits_for_approval.is_some() && next.waits_for_approval != before.waits_for_approval
            }
            Transition::Failed => next.has_failed && !before.has_failed,
            Transition::FailureTakenBack => before.has_failed && !next.has_failed,
            Transition::RolledBack => next.is_back && !before.is_back,
            Transition::Completed => next.is_complete && !before.is_complete,
        }
    }

    fn event(self, words: &Words<'_>, next: &ReportedState) -> RolloutEvent {
        match self {
            Transition::Paused => words.paused(),
            Transition::WaveOpened => words.wave_opened(next.last_open_wave.unwrap_or_default()),
            Transition::WaitsForApproval => {
                words.waits_for_approval(next.waits_for_approval.unwrap_or_default())
            }
            Transition::Failed => words.failed(),
            Transition::FailureTakenBack => words.failure_taken_back(),
            Transition::RolledBack => words.rolled_back(),
            Transition::Completed => words.completed(),
        }
    }
}
