//! The course of a rollout: how far it may go, which waves are open, and its marks. It follows from sums over the nodes, the
//! marks of the current revision and the policy.

use crate::action::RequeueReason;
use crate::input::Snapshot;
use crate::input::strategy::Strategy;
#[cfg(daemonset_mutants)]
use crate::objects::mutants::{Mutant, is_active};
use crate::pods::history::History;
use crate::rollout::facts::RolloutNode;
use crate::rollout::goal::{NodeGoal, Stage};
use crate::rollout::marks::{FailureReason, Mark, MarkChange, Marks};
use crate::rollout::policy::{FailureAction, FailurePolicy, RolloutPolicy};
use crate::rollout::sums::{GroupSums, ReadinessSums, RolloutSums, TimeRange, TimestampSet};
use crate::rollout::waves::Waves;
use jiff::{SignedDuration, Timestamp};

/// The course of the rollout of the current revision.
#[derive(Debug, Clone)]
pub struct RolloutDecision {
    pub stage: Stage,
    pub waves: Waves,
    /// In the order of their actions.
    pub(crate) marks: Vec<MarkChange>,
    /// When time alone changes the rollout.
    pub due: Option<(Timestamp, RequeueReason)>,
    /// The policy rolls a failed version back.
    wants_base: bool,
    /// How many nodes take part, and how many of them have the new version.
    pub nodes: u32,
    pub updated: u32,
    /// It is open for all nodes that take part: the others get the current revision, too.
    reaches_all: bool,
    /// The goal of a node that it has not reached.
    held: NodeGoal,
}

/// The parts of a course on which the goal of a node depends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GoalInputs {
    stage: std::mem::Discriminant<Stage>,
    last_open: Option<usize>,
    may_open: bool,
    reaches_all: bool,
    held: NodeGoal,
}

/// Everything that is decided before the stage.
pub struct RolloutInput<'r, I> {
    pub snapshot: &'r Snapshot<'r>,
    pub policy: &'r RolloutPolicy,
    /// The failure policy, where the rollout is judged.
    judged_by: Option<&'r FailurePolicy>,
    pub(crate) marks: Marks<'r>,
    pub number: i64,
    /// The current revision is there, and can be marked.
    exists: bool,
    pub sums: &'r RolloutSums<I>,
}

impl RolloutDecision {
    /// `has_base`: there is one; `keeps_others`: the template of base wants nodes that do not take part.
    pub fn new(
        snapshot: &Snapshot<'_>,
        history: &History<'_>,
        policy: &RolloutPolicy,
        sums: &RolloutSums<impl TimestampSet>,
        has_base: bool,
        keeps_others: impl FnOnce() -> bool,
    ) -> Self {
        #[cfg(daemonset_mutants)]
        let policy = &with_errors(policy);
        let input = RolloutInput::new(snapshot, history, policy, sums);
        let settled = input.is_settled();
        let over = settled || (input.marks.completed.is_some() && input.marks.failed.is_none());
        let too_many = (!over && input.has_too_many_failures()).then_some(FailureReason::TooManyFailures);
        let failed_before = input.marks.failed.filter(|_| policy.on_failure.is_some() && !over);
        #[cfg(daemonset_mutants)]
        let failed_before = failed_before.filter(|_| !is_active(Mutant::FailureIgnored));
        let may_open = !(over || policy.paused || too_many.is_some() || failed_before.is_some());
        let mut waves = Waves::new(&input, may_open);
        let deadline = if may_open { input.deadline(&waves) } else { None };
        let exceeded = deadline.is_some_and(|at| at <= snapshot.now);
        let reason = too_many.or(exceeded.then_some(FailureReason::ProgressDeadlineExceeded));
        if exceeded {
            waves = Waves::new(&input, false);
        }
        let newly_failed = reason.filter(|_| failed_before.is_none());
        let stage = input.stage(over, failed_before, newly_failed, has_base);
        let mut decision = RolloutDecision {
            due: input.due(&stage, &waves, deadline),
            stage,
            waves,
            marks: Vec::new(),
            wants_base: policy.on_failure.as_ref().is_some_and(|p| p.action == FailureAction::RollBack),
            nodes: sums.count(|_, _| true),
            updated: sums.count(|_, has_new_version| has_new_version),
            reaches_all: false,
            held: if has_base { NodeGoal::HeldOnBase } else { NodeGoal::HeldOnCurrent },
        };
        let waits = sums.count(|wave, has_new_version| !decision.reaches(wave, has_new_version)) > 0;
        decision.reaches_all = !waits
            && match decision.stage {
                Stage::Over => true,
                Stage::GoingOn => decision.waves.all_open(),
                Stage::Paused | Stage::Stopped(_) | Stage::RolledBack(_) => false,
            };
        let holds_none = !waits && (decision.reaches_all || !has_base || !keeps_others());
        let complete = settled || (holds_none && input.is_finished());
        decision.marks = input.marks_to_set(&decision.stage, &decision.waves, newly_failed, complete);
        decision
    }

    /// The goal of a node.
    pub fn goal(&self, node: &RolloutNode) -> NodeGoal {
        let facts = &node.facts;
        if self.stage_is_rolled_back() {
            return NodeGoal::Base;
        }
        let is_reached = if facts.takes_part {
            self.reaches(node.first_wave.map(|wave| wave as usize), facts.has_new_version)
        } else {
            self.reaches_all
        };
        if is_reached { NodeGoal::Current } else { self.held }
    }

    /// Whether the nodes get the new version that take part, have this first wave, and have it or not.
    fn reaches(&self, first_wave: Option<usize>, has_new_version: bool) -> bool {
        match self.stage {
            Stage::Over => true,
            Stage::GoingOn => {
                let is_released = self.waves.releases(first_wave);
                #[cfg(daemonset_mutants)]
                let has_new_version = has_new_version && !is_active(Mutant::ReachedNodeTakenBack);
                #[cfg(daemonset_mutants)]
                let is_released = is_released || is_active(Mutant::HeldNodeUpdated);
                is_released || has_new_version
            }
            Stage::Paused | Stage::Stopped(_) => has_new_version,
            Stage::RolledBack(_) => false,
        }
    }

    fn stage_is_rolled_back(&self) -> bool {
        matches!(self.stage, Stage::RolledBack(_))
    }

    /// It should go back to base, but there is none.
    pub fn lacks_base_to_go_back_to(&self) -> bool {
        self.wants_base && self.held == NodeGoal::HeldOnCurrent && matches!(self.stage, Stage::Stopped(_))
    }

    /// While this is the same, a node has another goal only if something about the node itself changes.
    pub fn reach(&self) -> GoalInputs {
        GoalInputs {
            stage: std::mem::discriminant(&self.stage),
            last_open: self.waves.last_open,
            may_open: self.waves.releases(None),
            reaches_all: self.reaches_all,
            held: self.held,
        }
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
        let marks = current.view.map(|view| Marks::valid(view.annotations, keys, current.number));
        RolloutInput {
            snapshot,
            policy,
            judged_by: judged_by(policy, history),
            exists: marks.is_some(),
            marks: marks.unwrap_or_default(),
            number: current.number,
            sums,
        }
    }

    /// A policy that is added to a settled fleet begins no rollout.
    fn is_settled(&self) -> bool {
        let Marks { started, failed, completed, .. } = self.marks;
        let unmarked = started.is_none() && failed.is_none() && completed.is_none();
        let counts = &self.sums.counts;
        unmarked && self.exists && counts.updated > 0 && counts.outdated == 0 && !self.may_have_begun()
    }

    /// Whether a fleet that looks settled may be in the middle of its rollout: a pause removes the mark of the start, and the
    /// last old pods may be on their way out. Only a caller with a memory acts on the answer, plan after plan.
    fn may_have_begun(&self) -> bool {
        #[cfg(daemonset_mutants)]
        if is_active(Mutant::SettledMidway) {
            return false;
        }
        let is_paused_midway = self.policy.paused && self.sums.counts.missing > 0;
        self.snapshot.memory.is_some() && (self.marks.wave.is_some() || is_paused_midway)
    }

    fn has_too_many_failures(&self) -> bool {
        let Some(policy) = self.judged_by else { return false };
        let GroupSums { nodes, failing, .. } = self.sums.sum(|_, _| true);
        failing > policy.may_fail(nodes)
    }

    /// Of these nodes those that must not lag: all but those that are out of reach, and but the failing ones while so
    /// many may fail, and not all of them do.
    pub fn that_must_not_lag(&self, nodes: GroupSums<TimeRange>) -> ReadinessSums<TimeRange> {
        let may_fail = self.judged_by.map_or(0, |policy| policy.may_fail(nodes.nodes));
        let tolerated = nodes.failing <= may_fail && nodes.failing < nodes.nodes;
        nodes.that_must_not_lag(tolerated)
    }

    /// When the rollout has made no progress for too long; `None` where nothing is waited for.
    fn deadline(&self, waves: &Waves) -> Option<Timestamp> {
        let seconds = self.judged_by?.progress_deadline_seconds?;
        let started = self.marks.started?;
        if self.snapshot.spec.strategy == Strategy::OnDelete {
            return None;
        }
        let released = self.sums.sum(|wave, has_new_version| has_new_version || waves.releases(wave));
        let progress = released.last_progress();
        if self.that_must_not_lag(released).unavailable == 0 {
            return None;
        }
        let opened = if waves.last_open > self.marks.wave.map(|wave| wave.index) {
            Some(self.snapshot.now)
        } else {
            self.marks.wave.map(|wave| wave.at)
        };
        let last = [progress, opened, Some(started.at)].into_iter().flatten().max()?;
        last.checked_add(SignedDuration::from_secs(seconds.into())).ok()
    }

    fn stage(
        &self,
        over: bool,
        failed_before: Option<Mark<'_>>,
        newly_failed: Option<FailureReason>,
        has_base: bool,
    ) -> Stage {
        let failure = failed_before
            .map(|mark| mark.reason().to_owned())
            .or_else(|| newly_failed.map(|reason| reason.as_str().to_owned()));
        let action = self.policy.on_failure.as_ref().map(|policy| policy.action);
        match (failure, action) {
            _ if over => Stage::Over,
            (Some(reason), Some(FailureAction::RollBack)) if has_base => Stage::RolledBack(reason),
            (Some(reason), _) => Stage::Stopped(reason),
            (None, _) if self.policy.paused => Stage::Paused,
            (None, _) => Stage::GoingOn,
        }
    }

    /// Whether every target node of the current template has an available updated pod and no live outdated one.
    fn is_finished(&self) -> bool {
        let counts = &self.sums.counts;
        #[cfg(daemonset_mutants)]
        if is_active(Mutant::CompletedTooEarly) {
            return counts.targets > 0;
        }
        counts.targets > 0 && counts.unfinished == 0
    }

    fn marks_to_set(
        &self,
        stage: &Stage,
        waves: &Waves,
        newly_failed: Option<FailureReason>,
        complete: bool,
    ) -> Vec<MarkChange> {
        let Marks { started, wave, failed, completed } = self.marks;
        if !self.exists {
            return Vec::new();
        }
        #[cfg(daemonset_mutants)]
        let newly_failed = newly_failed.filter(|_| !is_active(Mutant::VerdictNotMarked));
        if let Some(reason) = newly_failed {
            return vec![MarkChange::Failed(reason)];
        }
        let mut marks = Vec::new();
        match (self.policy.paused, started) {
            (false, None) => marks.push(MarkChange::Started),
            (true, Some(_)) if *stage != Stage::Over => marks.push(MarkChange::Paused),
            (true | false, _) => {}
        }
        if *stage == Stage::GoingOn {
            let opened = waves.last_open.filter(|_| waves.last_open > wave.map(|wave| wave.index));
            marks.extend(opened.map(MarkChange::Wave));
            #[cfg(daemonset_mutants)]
            if is_active(Mutant::WaveLowered) && wave.is_some_and(|wave| wave.index > 0) {
                marks.push(MarkChange::Wave(0));
            }
        }
        if complete && completed.is_none() && failed.is_none() {
            marks.push(MarkChange::Completed);
        }
        marks
    }

    /// When time alone changes the rollout.
    fn due(
        &self,
        stage: &Stage,
        waves: &Waves,
        deadline: Option<Timestamp>,
    ) -> Option<(Timestamp, RequeueReason)> {
        let is_judged = matches!(stage, Stage::GoingOn | Stage::Paused);
        let failing = self.sums.next_failing_at();
        RequeueReason::first([
            (waves.done_at.filter(|_| *stage == Stage::GoingOn), RequeueReason::WaveDone),
            (failing.filter(|_| is_judged), RequeueReason::FailureDue),
            (deadline.filter(|_| *stage == Stage::GoingOn), RequeueReason::ProgressDeadline),
        ])
    }
}

/// The failure policy, where the rollout is judged: a revision that this plan creates is not.
pub fn judged_by<'p>(policy: &'p RolloutPolicy, history: &History<'_>) -> Option<&'p FailurePolicy> {
    policy.on_failure.as_ref().filter(|_| history.current().view.is_some())
}

#[cfg(daemonset_mutants)]
fn with_errors(policy: &RolloutPolicy) -> RolloutPolicy {
    let mut policy = policy.clone();
    policy.paused &= !is_active(Mutant::PauseIgnored);
    if let Some(on_failure) = policy.on_failure.as_mut().filter(|_| is_active(Mutant::RollBackForgotten)) {
        on_failure.action = FailureAction::Pause;
    }
    policy
}
