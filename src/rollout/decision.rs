//! The decision about a rollout: how far it may go, which waves are open, and its marks. It follows from sums over the nodes,
//! the marks of the current revision and the policy.

use crate::action::RequeueReason;
use crate::input::Snapshot;
use crate::input::rollout::marks::{FailureReason, Mark, MarkChange, Marks, UndoneMark};
use crate::input::rollout::policy::{FailureAction, FailurePolicy, RolloutPolicy};
use crate::input::strategy::Strategy;
use crate::pods::history::History;
use crate::rollout::facts::{RolloutGroup, RolloutNode};
use crate::rollout::goal::NodeGoal;
use crate::rollout::report::RolloutStage;
use crate::rollout::stable::KnownStable;
use crate::rollout::sums::{GroupSums, NodeCounts, NodeSums, RolloutSums, TimeRange, TimestampSet};
use crate::rollout::undo::{FailureVerdict, UndoProgress, is_way_back, kept_until};
use crate::rollout::waves::{Opening, Waves};
use jiff::{SignedDuration, Timestamp};

/// The decision about the rollout of the current revision.
#[derive(Debug, Clone)]
pub struct RolloutDecision {
    pub stage: RolloutStage,
    pub waves: Waves,
    /// In the order of their actions.
    pub(crate) marks: Vec<MarkChange>,
    /// When time alone changes the rollout.
    pub due: Option<(Timestamp, RequeueReason)>,
    /// How many nodes take part, and how many of them have the new version.
    pub nodes: u32,
    pub updated: u32,
    /// How far the undo of a failed version is, if the policy asks for one.
    pub(crate) undo: Option<UndoProgress>,
    /// It is open for all nodes that take part: the others get the current revision, too.
    reaches_all: bool,
    /// The goal of a node that it has not reached.
    held: NodeGoal,
}

/// Everything that is known before the stage is decided.
pub struct RolloutInput<'r, I> {
    pub snapshot: &'r Snapshot<'r>,
    pub policy: &'r RolloutPolicy,
    /// The failure policy, where the rollout is judged.
    judged_by: Option<&'r FailurePolicy>,
    pub(crate) marks: Marks<'r>,
    pub number: i64,
    can_be_marked: bool,
    /// The current revision was undone, under this number or an earlier one.
    was_undone: bool,
    is_paused: bool,
    pub sums: &'r RolloutSums<I>,
}

impl RolloutDecision {
    /// `stable`, and whether its template wants nodes that take no part. The question may cost a look at all nodes, and is asked only
    /// where the answer matters.
    pub fn new(
        snapshot: &Snapshot<'_>,
        history: &History<'_>,
        policy: &RolloutPolicy,
        sums: &RolloutSums<impl TimestampSet>,
        stable: Option<(&KnownStable, impl FnOnce() -> bool)>,
    ) -> Self {
        let input = RolloutInput::new(snapshot, history, policy, sums);
        let (stable, stable_wants_others) = stable.unzip();
        let held = if stable.is_some() { NodeGoal::HeldOnStable } else { NodeGoal::HeldOnCurrent };
        let is_settled = input.is_settled();
        // `failed` goes before `completed`: a person may write it to take a complete version back.
        let has_ended = input.marks.completed.is_some() || is_way_back(snapshot, history);
        let is_over =
            history.awaits_template.is_none() && (is_settled || (has_ended && input.marks.failed.is_none()));
        // After its end a rollout is not judged: later troubles are not its own.
        let too_many = (!is_over && input.has_too_many_failures()).then_some(FailureReason::TooManyFailures);
        // Without a failure policy the mark stops nothing; it still prevents `completed`.
        let failed_before = input.marks.failed.filter(|_| !is_over && policy.on_failure.is_some());
        let failed_before = planted::failed_before(failed_before);
        // Failures are judged before the waves, since no wave may open in the plan that finds them.
        let is_stopped = input.is_paused || too_many.is_some() || failed_before.is_some();
        let may_open = !(is_over || is_stopped || history.awaits_template.is_some());
        let mut waves = Waves::new(&input, if may_open { Opening::WhenDue } else { Opening::Never });
        // The deadline comes after the waves, since a wave that opens now puts it off.
        let deadline = if may_open { input.deadline(&waves) } else { None };
        let is_exceeded = deadline.is_some_and(|at| at <= snapshot.now);
        if is_exceeded {
            // The waves anew, now of a stopped rollout, which releases and announces nothing more. None has opened above: it would
            // have put the deadline off by at least a second, the least that the check of the policy allows.
            waves = Waves::new(&input, Opening::Never);
        }
        let reason = too_many.or(is_exceeded.then_some(FailureReason::ProgressDeadlineExceeded));
        // An earlier verdict has its mark, whose reason stays.
        let newly_failed = reason.filter(|_| failed_before.is_none());
        let undo = input.undo(history, stable, (failed_before, newly_failed));
        let stage = if is_over {
            RolloutStage::Complete
        } else if history.awaits_template.is_some() {
            // The template that the DaemonSet still shows must not go on, also where somebody has removed the mark of its failure.
            RolloutStage::Stopped {
                reason: failure_reason(failed_before, newly_failed).unwrap_or_else(undone),
            }
        } else {
            input.stage(failed_before, newly_failed, held)
        };
        let kept_until = kept_until(snapshot, history).map(|until| (until, RequeueReason::UndoDue));
        let of_undo = undo.and_then(UndoProgress::due).into_iter().chain(kept_until);
        let mut decision = RolloutDecision {
            due: input.due(&stage, &waves, deadline).into_iter().chain(of_undo).min(),
            stage,
            undo,
            waves,
            marks: Vec::new(),
            nodes: sums.count(|_| true),
            updated: sums.count(|group| group.has_new_version),
            reaches_all: false,
            held,
        };
        // The next bindings ask the decision which nodes it reaches: its stage and its waves must be there.
        let waits = sums.count(|group| !decision.reaches(group)) > 0;
        // The nodes that take no part follow the others only while the rollout goes on: a stopped one changes nothing for them.
        decision.reaches_all = !waits
            && match decision.stage {
                RolloutStage::Complete => true,
                RolloutStage::Progressing => decision.waves.all_open(),
                RolloutStage::Paused | RolloutStage::Stopped { .. } | RolloutStage::RolledBack { .. } => {
                    false
                }
            };
        // A held node outside the rollout is a target node only if the stable revision wants it, and then it runs the old version. Without a
        // stable revision it is placed by the current template, which does not want it.
        let holds_a_target = waits || (!decision.reaches_all && stable_wants_others.is_some_and(|ask| ask()));
        let is_complete = is_settled || (!holds_a_target && input.is_finished());
        let completed = is_complete.then_some(MarkChange::Completed);
        if history.awaits_template.is_none() {
            decision.marks = input.marks_to_set(&decision, newly_failed, completed);
        }
        decision
    }

    /// The goal of a node.
    pub fn goal(&self, node: &RolloutNode) -> NodeGoal {
        // Under a roll-back no node is held: the goal of every node is the stable revision, whether it takes part or not.
        if matches!(self.stage, RolloutStage::RolledBack { .. }) {
            return NodeGoal::Stable;
        }
        let is_reached = if node.facts.takes_part { self.reaches(node.group()) } else { self.reaches_all };
        if is_reached { NodeGoal::Current } else { self.held }
    }

    /// Whether the nodes of a group get the new version.
    fn reaches(&self, group: RolloutGroup) -> bool {
        match self.stage {
            RolloutStage::Complete => true,
            // A node that has the new version keeps it though its wave is not open: nothing but a roll-back takes it back.
            RolloutStage::Progressing => {
                self.waves.releases(group.first_wave) || planted::has_new_version(group.has_new_version)
            }
            // Open waves do not count: nothing goes on in them, either.
            RolloutStage::Paused | RolloutStage::Stopped { .. } => group.has_new_version,
            RolloutStage::RolledBack { .. } => false,
        }
    }

    /// Whether each node has the same goal by both decisions, unless something about the node itself is different.
    pub fn has_goals_of(&self, other: &RolloutDecision) -> bool {
        let inputs = |decision: &RolloutDecision| {
            // Without the reason of a failure, on which no goal depends.
            let stage = std::mem::discriminant(&decision.stage);
            let RolloutDecision { waves, reaches_all, held, .. } = decision;
            // `None`: whether nodes in no wave are released, as they are without waves.
            (stage, waves.open, waves.releases(None), *reaches_all, *held)
        };
        inputs(self) == inputs(other)
    }
}

impl<'r, I: TimestampSet> RolloutInput<'r, I> {
    fn new(
        snapshot: &'r Snapshot<'r>,
        history: &History<'r>,
        policy: &'r RolloutPolicy,
        sums: &'r RolloutSums<I>,
    ) -> Self {
        let current = history.current();
        let keys = &snapshot.spec.mark_keys;
        // The number is the one after this plan's renumbering: an old revision that becomes current again has no valid mark.
        let marks = current.view.map(|view| Marks::valid(view.annotations, keys, current.number));
        RolloutInput {
            snapshot,
            policy,
            judged_by: judged_by(snapshot, policy, history),
            can_be_marked: can_be_marked(snapshot, history),
            marks: marks.unwrap_or_default(),
            was_undone: current.view.is_some_and(|view| UndoneMark::read(view.annotations, keys).is_some()),
            number: current.number,
            is_paused: planted::is_paused(policy.paused),
            sums,
        }
    }

    /// A policy that is added to a settled fleet begins no rollout. A version that was undone and put back begins one, though its pods are
    /// still there: it is judged once more, and is no stable revision for its last pods.
    fn is_settled(&self) -> bool {
        let Marks { started, failed, completed, .. } = self.marks;
        let is_unmarked = started.is_none() && failed.is_none() && completed.is_none();
        let NodeCounts { updated, outdated, .. } = self.sums.counts;
        let may_have_begun = planted::may_have_begun(self.may_have_begun());
        is_unmarked
            && self.can_be_marked
            && updated > 0
            && outdated == 0
            && !may_have_begun
            && !self.was_undone
    }

    /// Whether a fleet that looks settled may be in the middle of its rollout: a pause removes the mark of the start, and the
    /// last old pods may be on their way out.
    fn may_have_begun(&self) -> bool {
        let is_paused_midway = self.is_paused && self.sums.counts.missing > 0;
        // Only a caller with a memory carries out plan after plan, and so can be midway.
        self.snapshot.memory.is_some() && (self.marks.wave.is_some() || is_paused_midway)
    }

    fn has_too_many_failures(&self) -> bool {
        let Some(policy) = self.judged_by else { return false };
        // The percentage is one of all nodes that take part, in a wave or not.
        let all = self.sums.sum(|_| true);
        all.failing() > policy.may_fail(all.nodes())
    }

    /// The nodes that a wave waits for, of these nodes.
    pub fn waited_for(&self, nodes: GroupSums<TimeRange>) -> NodeSums<TimeRange> {
        // A percentage is one of these nodes, and not of all that take part.
        let may_fail = self.judged_by.map_or(0, |policy| policy.may_fail(nodes.nodes()));
        nodes.waited_for(may_fail)
    }

    /// When the rollout has made no progress for too long; `None` where nothing is waited for.
    fn deadline(&self, waves: &Waves) -> Option<Timestamp> {
        let seconds = self.judged_by?.progress_deadline_seconds?;
        // Without the mark the rollout has just begun, or has just been resumed: this plan sets it, and time runs from there.
        let started = self.marks.started?;
        // A person or another controller decides when the nodes are updated.
        if self.snapshot.spec.strategy == Strategy::OnDelete {
            return None;
        }
        let released = self.sums.sum(|group| group.has_new_version || waves.releases(group.first_wave));
        // Taken from all released nodes, before the next step drops some.
        let progress = released.last_progress();
        // A gate has a time of its own, and its opener may be a person.
        if released.gated() > 0 || self.waited_for(released).unavailable == 0 {
            return None;
        }
        // The mark of a wave that opens in this plan is not written yet.
        let opened = match self.opened(waves) {
            Some(_) => Some(self.snapshot.now),
            None => self.marks.wave.map(|wave| wave.at),
        };
        let last = [progress, opened, Some(started.at)].into_iter().flatten().max()?;
        // An instant beyond the calendar never comes.
        last.checked_add(SignedDuration::from_secs(seconds.into())).ok()
    }

    /// The last open wave, where it opens in this plan.
    fn opened(&self, waves: &Waves) -> Option<usize> {
        // The mark only rises: a policy that loses waves for a while closes none that was open.
        let last = waves.open.checked_sub(1);
        last.filter(|_| last > self.marks.wave.map(|wave| wave.index))
    }

    /// The stage of a rollout that is not over, where `held` is the goal of the nodes that it has not reached.
    fn stage(
        &self,
        failed_before: Option<Mark<'_>>,
        newly_failed: Option<FailureReason>,
        held: NodeGoal,
    ) -> RolloutStage {
        let failure = failure_reason(failed_before, newly_failed);
        let action = self.policy.on_failure.as_ref().map(|policy| policy.action);
        // A failure goes before a pause: a paused rollout is rolled back all the same.
        match (failure, action) {
            (Some(reason), Some(FailureAction::RollBack)) if planted::has_stable(held.is_stable()) => {
                RolloutStage::RolledBack { reason }
            }
            (Some(reason), _) => RolloutStage::Stopped { reason },
            (None, _) if self.is_paused => RolloutStage::Paused,
            (None, _) => RolloutStage::Progressing,
        }
    }

    /// The undo of a version that has failed, if the policy asks for one.
    fn undo(
        &self,
        history: &History<'_>,
        stable: Option<&KnownStable>,
        (failed_before, newly_failed): (Option<Mark<'_>>, Option<FailureReason>),
    ) -> Option<UndoProgress> {
        if let Some(until) = history.awaits_template {
            return Some(UndoProgress::Awaited { until });
        }
        let policy = self.policy.on_failure.as_ref()?;
        let verdict = match (failed_before, newly_failed) {
            (Some(_), _) => FailureVerdict::Marked,
            (None, Some(_)) => FailureVerdict::New,
            (None, None) => return None,
        };
        match policy.action {
            // A pause stops no undo, as it stops no roll-back.
            FailureAction::Undo => Some(UndoProgress::of_failed(self.snapshot, history, stable, verdict)),
            FailureAction::Pause | FailureAction::RollBack => None,
        }
    }

    /// Whether every target node of the current template has an available updated pod and no live outdated one.
    fn is_finished(&self) -> bool {
        // A fleet without target nodes has shown nothing: its version must not become the stable revision by a mark.
        let NodeCounts { targets, unfinished, .. } = self.sums.counts;
        targets > 0 && planted::is_finished(unfinished == 0)
    }

    fn marks_to_set(
        &self,
        decision: &RolloutDecision,
        newly_failed: Option<FailureReason>,
        completed: Option<MarkChange>,
    ) -> Vec<MarkChange> {
        // A revision that this plan creates has its first mark in its manifest. Beside another controller a mark under the number that the
        // revision is to get may outlive the view that it came from: a version that returns under that number would seem complete.
        if !self.can_be_marked {
            return Vec::new();
        }
        let of_undo = decision.undo.map(UndoProgress::marks).unwrap_or_default();
        let mut marks = self.marks_on_the_way(decision);
        // The verdict stands alone, but for the undo that follows from it: a plan that reaches it sets and removes no other mark.
        if let Some(reason) = planted::newly_failed(newly_failed) {
            marks = vec![MarkChange::Failed(reason)];
            marks.extend(of_undo);
            return marks;
        }
        marks.extend(of_undo);
        // A failed revision does not become complete, whatever its pods do: a person must remove its mark first.
        if self.marks.completed.is_none() && self.marks.failed.is_none() {
            marks.extend(completed);
        }
        marks
    }

    /// The marks of the start, of a pause and of a wave.
    fn marks_on_the_way(&self, decision: &RolloutDecision) -> Vec<MarkChange> {
        let mut marks = Vec::new();
        match (self.is_paused, self.marks.started) {
            // Even where the rollout is over, so that a settled fleet has both marks after one plan.
            (false, None) => marks.push(MarkChange::Started),
            // Its removal lets the deadline begin anew on resumption. After the end no deadline runs.
            (true, Some(_)) if decision.stage != RolloutStage::Complete => marks.push(MarkChange::Paused),
            (true | false, _) => {}
        }
        if decision.stage == RolloutStage::Progressing {
            let opened = self.opened(&decision.waves);
            let opened = planted::opened(opened, self.marks.wave);
            marks.extend(opened.map(MarkChange::Wave));
        }
        marks
    }

    /// When time alone changes the rollout.
    fn due(
        &self,
        stage: &RolloutStage,
        waves: &Waves,
        deadline: Option<Timestamp>,
    ) -> Option<(Timestamp, RequeueReason)> {
        // A paused rollout may fail and then be rolled back. One that has failed or is over waits for nothing.
        let is_judged = matches!(stage, RolloutStage::Progressing | RolloutStage::Paused);
        let failing = self.sums.next_failing_at();
        RequeueReason::first([
            (waves.done_at.filter(|_| *stage == RolloutStage::Progressing), RequeueReason::WaveDone),
            (failing.filter(|_| is_judged), RequeueReason::FailureDue),
            (deadline.filter(|_| *stage == RolloutStage::Progressing), RequeueReason::ProgressDeadline),
        ])
    }
}

/// At most one of the two is there: a verdict from before leaves no new one. A person may have written its reason.
fn failure_reason(failed_before: Option<Mark<'_>>, newly_failed: Option<FailureReason>) -> Option<String> {
    let before = failed_before.map(|mark| mark.reason().to_owned());
    before.or_else(|| newly_failed.map(|reason| reason.as_str().to_owned()))
}

/// The reason of a version whose template was replaced, where it has no mark of a failure any more.
fn undone() -> String {
    "Undone".to_owned()
}

/// Whether the current revision is there, and this plan may mark it.
fn can_be_marked(snapshot: &Snapshot<'_>, history: &History<'_>) -> bool {
    history.current().view.is_some() && !history.awaits_current(snapshot.drives())
}

/// The failure policy, where the rollout is judged: a revision that can't be marked is not.
pub fn judged_by<'p>(
    snapshot: &Snapshot<'_>,
    policy: &'p RolloutPolicy,
    history: &History<'_>,
) -> Option<&'p FailurePolicy> {
    policy.on_failure.as_ref().filter(|_| can_be_marked(snapshot, history))
}

/// The deliberate errors in this file.
mod planted {
    use crate::input::rollout::marks::{FailureReason, Mark, WaveMark};

    crate::planted::planted! {
        failed_before(right: Option<Mark<'_>>): FailureIgnored => None;
        has_new_version(right: bool): HeldNodeUpdated => true, ReachedNodeTakenBack => false;
        is_paused(right: bool): PauseIgnored => false;
        may_have_begun(right: bool): SettledMidway => false;
        has_stable(right: bool): RollBackForgotten => false;
        is_finished(right: bool): CompletedTooEarly => true;
        newly_failed(right: Option<FailureReason>): VerdictNotMarked => None;
        opened(right: Option<usize>, marked: Option<WaveMark>): WaveLowered => right.or(marked.and(Some(0)));
    }
}
