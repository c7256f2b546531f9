//! The goal of each node: the revision that its pod should have.
//!
//! Without [`Policy::rollout`](field@crate::Policy::rollout) it is the current one everywhere. All global questions of a rollout are answered
//! here, once: its marks, its base, its waves, and whether it is over, paused or failed. Later steps ask for the goal of
//! one node.

pub(crate) mod base;
pub(crate) mod failure;
pub(crate) mod marks;
pub(crate) mod node;
pub(crate) mod waves;

use crate::action::RequeueReason;
#[cfg(daemonset_mutants)]
use crate::mutants::{Mutant, is_active};
use crate::reconcile::fleet::Fleet;
use crate::reconcile::history::History;
use crate::snapshot::placement::Placement;
use crate::snapshot::position::{IndexVec, NodeIx, neutral};
use crate::snapshot::strategy::Strategy;
use crate::snapshot::{FailureAction, FailurePolicy, RolloutPolicy};
use base::Base;
use jiff::{SignedDuration, Timestamp};
use marks::{FailureReason, MarkChange, Marks};
use node::RolloutFacts;
use waves::Waves;

/// The goals of all nodes.
#[derive(Debug, Default)]
pub(crate) struct Goal<'a>(Option<Box<Rollout<'a>>>);

/// The goal of one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NodeGoal {
    /// The current revision.
    Current,
    /// The base, since the rollout is rolled back.
    Base,
    /// The base, since the rollout has not reached the node: it is not updated.
    HeldOnBase,
    /// As [`HeldOnBase`](Self::HeldOnBase), but there is no base: a missing pod is created from the current revision.
    HeldOnCurrent,
}

neutral!(NodeGoal, NodeGoal::HeldOnCurrent);

impl NodeGoal {
    pub(crate) fn is_held(self) -> bool {
        match self {
            NodeGoal::HeldOnBase | NodeGoal::HeldOnCurrent => true,
            NodeGoal::Current | NodeGoal::Base => false,
        }
    }

    pub(crate) fn is_base(self) -> bool {
        match self {
            NodeGoal::Base | NodeGoal::HeldOnBase => true,
            NodeGoal::Current | NodeGoal::HeldOnCurrent => false,
        }
    }
}

/// The rollout of the current revision.
#[derive(Debug)]
pub(crate) struct Rollout<'a> {
    pub(crate) base: Option<Base<'a>>,
    /// The policy rolls a failed version back.
    wants_base: bool,
    pub(crate) stage: Stage,
    /// Nodes outside the rollout get the current revision, too: it is open for all.
    pub(crate) waves: Waves,
    pub(crate) facts: IndexVec<NodeIx, RolloutFacts>,
    goals: IndexVec<NodeIx, NodeGoal>,
    /// In the order of their actions.
    pub(crate) marks: Vec<MarkChange>,
    /// When time alone changes the rollout.
    pub(crate) due: Option<(Timestamp, RequeueReason)>,
}

/// How far the rollout may go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stage {
    /// It is complete: later troubles are not the rollout's.
    Over,
    /// It goes on, wave after wave.
    GoingOn,
    /// A person has paused it.
    Paused,
    /// The new version has failed: no further node gets it.
    Stopped(String),
    /// The new version has failed: all nodes go back to base.
    RolledBack(String),
}

impl<'a> Goal<'a> {
    /// The goals for this fleet, which is still the one of the current revision alone.
    pub(crate) fn new(fleet: &Fleet<'a>, history: &History<'a>) -> Self {
        let policy = fleet.snapshot.spec.policy.rollout.as_ref();
        Goal(policy.map(|policy| Box::new(Rollout::new(fleet, history, policy))))
    }

    /// The rollout, if the policy steers it.
    #[inline]
    pub(crate) fn rollout(&self) -> Option<&Rollout<'a>> {
        self.0.as_deref()
    }

    #[inline]
    pub(crate) fn of(&self, node: NodeIx) -> NodeGoal {
        match &self.0 {
            Some(rollout) => *rollout.goals.at(node),
            None => NodeGoal::Current,
        }
    }

    pub(crate) fn base(&self) -> Option<&Base<'a>> {
        self.rollout().and_then(|rollout| rollout.base.as_ref())
    }

    /// The base, for a node whose goal it is.
    #[inline]
    pub(crate) fn base_of(&self, node: NodeIx) -> Option<&Base<'a>> {
        self.base().filter(|_| self.of(node).is_base())
    }
}

/// Everything that is decided before the stage.
struct Input<'r, 'a> {
    fleet: &'r Fleet<'a>,
    policy: &'r RolloutPolicy,
    /// The failure policy, where the rollout is judged.
    judged_by: Option<&'r FailurePolicy>,
    marks: Marks<'a>,
    number: i64,
    /// The current revision is there, and can be marked.
    exists: bool,
    facts: IndexVec<NodeIx, RolloutFacts>,
    /// The nodes that take part: those that have it first, then by name.
    participants: Vec<NodeIx>,
}

impl<'a> Rollout<'a> {
    fn new(fleet: &Fleet<'a>, history: &History<'a>, policy: &RolloutPolicy) -> Self {
        #[cfg(daemonset_mutants)]
        let policy = &with_errors(policy);
        let input = Input::new(fleet, history, policy);
        let base = Base::choose(fleet, history);
        let settled = input.is_settled();
        let over = settled || (input.marks.completed.is_some() && input.marks.failed.is_none());
        let too_many = (!over && input.has_too_many_failures()).then_some(FailureReason::TooManyFailures);
        let failed_before = input.marks.failed.filter(|_| policy.on_failure.is_some() && !over);
        #[cfg(daemonset_mutants)]
        let failed_before = failed_before.filter(|_| !is_active(Mutant::FailureIgnored));
        let may_open = !(over || policy.paused || too_many.is_some() || failed_before.is_some());
        let mut waves = Waves::new(&input, may_open);
        let deadline = if may_open { input.deadline(&waves) } else { None };
        let exceeded = deadline.is_some_and(|at| at <= fleet.snapshot.now);
        let reason = too_many.or(exceeded.then_some(FailureReason::ProgressDeadlineExceeded));
        if exceeded {
            waves = Waves::new(&input, false);
        }
        let newly_failed = reason.filter(|_| failed_before.is_none());
        let failure = failed_before
            .map(|mark| mark.reason().to_owned())
            .or_else(|| newly_failed.map(|reason| reason.as_str().to_owned()));
        let stage = input.stage(over, failure, base.is_some());
        let goals = goals(&input, &stage, &waves, base.is_some());
        let due = input.due(&stage, &waves, deadline);
        let complete = settled || input.is_complete(&goals, base.as_ref());
        let marks = input.marks_to_set(&stage, &waves, newly_failed, complete);
        let wants_base = policy.on_failure.as_ref().is_some_and(|p| p.action == FailureAction::RollBack);
        Rollout { base, wants_base, stage, waves, facts: input.facts, goals, marks, due }
    }
}

impl Rollout<'_> {
    /// It should go back to base, but there is none.
    pub(crate) fn lacks_base_to_go_back_to(&self) -> bool {
        self.wants_base && self.base.is_none() && matches!(self.stage, Stage::Stopped(_))
    }
}

impl<'r, 'a> Input<'r, 'a> {
    fn new(fleet: &'r Fleet<'a>, history: &History<'a>, policy: &'r RolloutPolicy) -> Self {
        let current = history.current();
        let prefix = &fleet.snapshot.spec.policy.mark_prefix;
        let marks = current.view.map(|view| Marks::valid(view.annotations, prefix, current.number));
        let exists = marks.is_some();
        let marks = marks.unwrap_or_default();
        let judged_by = policy.on_failure.as_ref().filter(|_| exists);
        let facts: IndexVec<NodeIx, RolloutFacts> =
            fleet.nodes.positions().map(|node| RolloutFacts::new(fleet, node, judged_by)).collect();
        let mut participants: Vec<NodeIx> =
            facts.enumerated().filter(|(_, facts)| facts.takes_part).map(|(node, _)| node).collect();
        participants.sort_unstable_by(|a, b| {
            let lacks_it = |node: NodeIx| !facts.at(node).has_it;
            lacks_it(*a).cmp(&lacks_it(*b)).then_with(|| fleet.snapshot.index.by_name(*a, *b))
        });
        Input { fleet, policy, judged_by, marks, number: current.number, exists, facts, participants }
    }

    /// A policy that is added to a settled fleet begins no rollout.
    fn is_settled(&self) -> bool {
        let Marks { started, failed, completed, .. } = self.marks;
        let unmarked = started.is_none() && failed.is_none() && completed.is_none();
        let facts = || self.facts.iter();
        unmarked
            && self.exists
            && facts().any(|facts| facts.has_updated)
            && facts().all(|facts| !facts.has_outdated)
            && !self.may_have_begun()
    }

    /// Whether a fleet that looks settled may be in the middle of its rollout: a pause removes the mark of the start, and the
    /// last old pods may be on their way out. Only a caller with a memory acts on the answer, plan after plan.
    fn may_have_begun(&self) -> bool {
        let is_missing = |facts: &RolloutFacts| facts.takes_part && !facts.has_it && !facts.is_down;
        let is_paused_midway = self.policy.paused && self.facts.iter().any(is_missing);
        self.fleet.snapshot.memory.is_some() && (self.marks.wave.is_some() || is_paused_midway)
    }

    fn failing_among(&self, nodes: impl Iterator<Item = NodeIx>) -> u32 {
        nodes.filter(|node| self.facts.at(*node).failing.is_now()).count() as u32
    }

    fn has_too_many_failures(&self) -> bool {
        let failing = self.failing_among(self.participants.iter().copied());
        self.judged_by.is_some_and(|policy| failing > policy.may_fail(self.participants.len() as u32))
    }

    /// Of these nodes those that must not lag: all but those that are out of reach, and but the failing ones while so
    /// many may fail, and not all of them do.
    fn that_must_not_lag<'n>(&'n self, nodes: &'n [NodeIx]) -> impl Iterator<Item = &'n RolloutFacts> {
        let failing = self.failing_among(nodes.iter().copied());
        let count = nodes.len() as u32;
        let may_fail = self.judged_by.map_or(0, |policy| policy.may_fail(count));
        let tolerated = failing <= may_fail && failing < count;
        let facts = nodes.iter().map(|node| self.facts.at(*node));
        facts.filter(move |facts| !(facts.is_out_of_reach() || (tolerated && facts.failing.is_now())))
    }

    /// When the rollout has made no progress for too long; `None` where nothing is waited for.
    fn deadline(&self, waves: &Waves) -> Option<Timestamp> {
        let seconds = self.judged_by?.progress_deadline_seconds?;
        let started = self.marks.started?;
        if self.fleet.snapshot.spec.strategy == Strategy::OnDelete {
            return None;
        }
        let released = self.released(waves);
        self.that_must_not_lag(&released).find(|facts| !facts.is_available)?;
        let opened = if waves.last_open > self.marks.wave.map(|wave| wave.index) {
            Some(self.fleet.snapshot.now)
        } else {
            self.marks.wave.map(|wave| wave.at)
        };
        let progress = released.iter().filter_map(|node| self.facts.at(*node).progressed_at);
        let last = progress.chain(opened).chain([started.at]).max()?;
        last.checked_add(SignedDuration::from_secs(seconds.into())).ok()
    }

    /// The nodes that may have the new version while nothing is stopped.
    fn released(&self, waves: &Waves) -> Vec<NodeIx> {
        let is_released = |node: &&NodeIx| waves.releases(**node) || self.facts.at(**node).has_it;
        self.participants.iter().filter(is_released).copied().collect()
    }

    fn stage(&self, over: bool, failure: Option<String>, has_base: bool) -> Stage {
        let action = self.policy.on_failure.as_ref().map(|policy| policy.action);
        match (failure, action) {
            _ if over => Stage::Over,
            (Some(reason), Some(FailureAction::RollBack)) if has_base => Stage::RolledBack(reason),
            (Some(reason), _) => Stage::Stopped(reason),
            (None, _) if self.policy.paused => Stage::Paused,
            (None, _) => Stage::GoingOn,
        }
    }

    /// Whether every target node is on the current revision: it is not held, and has an available updated pod and no live
    /// outdated one.
    fn is_complete(&self, goals: &IndexVec<NodeIx, NodeGoal>, base: Option<&Base<'a>>) -> bool {
        let mut targets = 0;
        for (node, facts) in self.facts.enumerated() {
            let goal = *goals.at(node);
            let placement = match base.filter(|_| goal.is_base()) {
                Some(base) => base.placement(self.fleet.node_view(node)),
                None => self.fleet.placement(node),
            };
            #[cfg(daemonset_mutants)]
            if is_active(Mutant::CompletedTooEarly) && goal == NodeGoal::Current {
                targets += 1;
                continue;
            }
            // A node that only the current template wants waits for its wave, too.
            if placement == Placement::Run || (facts.takes_part && goal != NodeGoal::Current) {
                targets += 1;
                if goal != NodeGoal::Current || !facts.is_available || facts.has_outdated {
                    return false;
                }
            }
        }
        targets > 0
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
        let failing = self.facts.iter().filter_map(|facts| facts.failing.due_at()).min();
        RequeueReason::first([
            (waves.done_at.filter(|_| *stage == Stage::GoingOn), RequeueReason::WaveDone),
            (failing.filter(|_| is_judged), RequeueReason::FailureDue),
            (deadline.filter(|_| *stage == Stage::GoingOn), RequeueReason::ProgressDeadline),
        ])
    }
}

fn goals(input: &Input<'_, '_>, stage: &Stage, waves: &Waves, has_base: bool) -> IndexVec<NodeIx, NodeGoal> {
    let held = if has_base { NodeGoal::HeldOnBase } else { NodeGoal::HeldOnCurrent };
    let is_released = |node: NodeIx| input.facts.at(node).has_it || waves.releases(node);
    #[cfg(daemonset_mutants)]
    let is_released = |node: NodeIx| {
        let is_taken_back = is_active(Mutant::ReachedNodeTakenBack) && !waves.releases(node);
        is_active(Mutant::HeldNodeUpdated) || (is_released(node) && !is_taken_back)
    };
    let reaches_all = waves.all_open() && input.participants.iter().all(|node| is_released(*node));
    let goal = |(node, facts): (NodeIx, &RolloutFacts)| match stage {
        Stage::Over => NodeGoal::Current,
        Stage::RolledBack(_) => NodeGoal::Base,
        Stage::GoingOn if facts.takes_part && is_released(node) => NodeGoal::Current,
        Stage::GoingOn if !facts.takes_part && reaches_all => NodeGoal::Current,
        Stage::Paused | Stage::Stopped(_) if facts.takes_part && facts.has_it => NodeGoal::Current,
        Stage::GoingOn | Stage::Paused | Stage::Stopped(_) => held,
    };
    input.facts.enumerated().map(goal).collect()
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
