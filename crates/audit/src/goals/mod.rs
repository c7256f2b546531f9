//! The goals of nodes under a rollout, derived apart from the planner: which nodes are released, which keep base, and
//! how far the rollout may go.
//!
//! Straight from the rules of [`Policy::rollout`](field@daemonset::Policy::rollout): the planner's `reconcile::goal` is not read, so that an
//! error there is found. Without a rollout nothing is derived.

mod base;
mod marks;
mod nodes;
mod rules;
mod waves;

pub(super) use base::Base;
pub(super) use rules::check;

use super::lineage::Lineage;
use super::stage::PodStages;
use daemonset::internal::{IndexVec, NodeIx, Placement, Strategy, Taints, neutral};
use daemonset::model::Toleration;
use daemonset::policy::{FailureAction, RolloutPolicy};
use daemonset::{Action, Snapshot};
use jiff::SignedDuration;
use marks::Marks;
use nodes::Nodes;
use waves::Waves;

/// The goal of each node; the current revision where no rollout is steered.
pub(super) struct Goals<'s> {
    snapshot: &'s Snapshot<'s>,
    rollout: Option<Box<Rollout<'s>>>,
}

/// The goal of one node.
#[derive(Debug, Clone, Copy)]
struct Goal {
    is_base: bool,
    /// The rollout has not reached it.
    is_held: bool,
    /// By the template of its goal.
    placement: Placement,
}

// A node without pods that gets none.
neutral!(
    Goal,
    Goal { is_base: false, is_held: true, placement: Placement::ContinueOnly(Taints { first: 0 }) }
);

/// The rollout of the current revision.
struct Rollout<'s> {
    base: Option<Base<'s>>,
    goals: IndexVec<NodeIx, Goal>,
    stage: Stage,
    /// The current revision is there, so that it can be marked.
    exists: bool,
    marks: Marks,
    /// The index of the last open wave.
    last_open: Option<usize>,
    /// This list is the first to find that the new version has failed.
    newly_failed: Option<&'static str>,
    is_complete: bool,
}

/// How far a rollout may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Over,
    GoingOn,
    /// By a person, or because the new version has failed.
    Stopped,
    RolledBack,
}

impl<'s> Goals<'s> {
    pub(super) fn new(snapshot: &'s Snapshot<'s>, actions: &'s [Action]) -> Self {
        let policy = snapshot.spec().policy.rollout.as_ref();
        let rollout = |policy| Rollout::new(snapshot, policy, &Lineage::new(snapshot, None, actions));
        Goals { snapshot, rollout: policy.map(|policy| Box::new(rollout(policy))) }
    }

    fn goal(&self, node: NodeIx) -> Option<&Goal> {
        self.rollout.as_ref().map(|rollout| rollout.goals.at(node))
    }

    #[inline]
    pub(super) fn placement(&self, node: NodeIx) -> Placement {
        self.goal(node).map_or_else(|| self.snapshot.placement(node), |goal| goal.placement)
    }

    /// Of the pods that the node should run.
    pub(super) fn tolerations(&self, node: NodeIx) -> &[Toleration] {
        self.base_of(node)
            .map_or(&self.snapshot.spec().template.tolerations, |base| &base.template.tolerations)
    }

    /// The base, if it is the goal of this node.
    #[inline]
    pub(super) fn base_of(&self, node: NodeIx) -> Option<&Base<'s>> {
        self.base().filter(|_| self.goal(node).is_some_and(|goal| goal.is_base))
    }

    #[inline]
    pub(super) fn base(&self) -> Option<&Base<'s>> {
        self.rollout.as_ref().and_then(|rollout| rollout.base.as_ref())
    }

    /// The rollout has not reached the node.
    pub(super) fn is_held(&self, node: NodeIx) -> bool {
        self.goal(node).is_some_and(|goal| goal.is_held)
    }

    /// Whether a live pod of a held node may go to come back as base: it is neither base's nor Ready. Where another
    /// controller creates the pods, it would come back as the new version.
    pub(super) fn may_come_back_as_base(&self, node: NodeIx, is_ready: bool) -> bool {
        !is_ready && !self.snapshot.drives() && self.base_of(node).is_some()
    }
}

impl<'s> Rollout<'s> {
    fn new(snapshot: &'s Snapshot<'s>, policy: &'s RolloutPolicy, lineage: &Lineage<'s>) -> Self {
        let prefix = snapshot.spec().policy.mark_prefix.as_str();
        let current = lineage.current().map(|current| current.view);
        // A released revision gets a new number only once it is the DaemonSet's again.
        let is_released = current.is_some_and(|_| lineage.current_is_released);
        let least = lineage.largest_old().saturating_add(1);
        let number = current.map(|view| if is_released { view.number } else { view.number.max(least) });
        let annotations = current.zip(number);
        let marks = annotations.map(|(view, number)| Marks::new(view.annotations, prefix, number));
        let marks = marks.unwrap_or_default();
        let exists = current.is_some();
        let judged_by = policy.on_failure.as_ref().filter(|_| exists);
        let stages = PodStages::new(snapshot);
        let nodes = Nodes::new(snapshot, lineage, &stages, judged_by);
        let base = Base::choose(snapshot, lineage, &stages);

        let is_unmarked = marks.started.is_none() && marks.failed.is_none();
        let may_have_begun = marks.wave.is_some() || policy.paused && nodes.lack_pods();
        let acts = snapshot.memory().is_some();
        let is_settled = exists && is_unmarked && nodes.have_only_updated_pods() && !(acts && may_have_begun);
        let is_over = is_settled || (marks.completed.is_some() && marks.failed.is_none());
        let too_many = !is_over && nodes.too_many_fail();
        let had_failed = !is_over && policy.on_failure.is_some() && marks.failed.is_some();
        let may_open = !(is_over || policy.paused || too_many || had_failed);
        let approved = number.or(Some(least)).and_then(|number| policy.approved.get(&number));
        let approved = approved.copied().unwrap_or(0) as usize;
        let mut waves = Waves::new(snapshot, policy, &nodes, &marks, approved, may_open);
        let exceeded = may_open && is_too_late(snapshot, policy, &nodes, &marks, &waves);
        if exceeded {
            waves = Waves::new(snapshot, policy, &nodes, &marks, approved, false);
        }
        let newly_failed = match (had_failed, too_many, exceeded) {
            (false, true, _) => Some("TooManyFailures"),
            (false, false, true) => Some("ProgressDeadlineExceeded"),
            (true, _, _) | (false, false, false) => None,
        };
        let wants_back =
            policy.on_failure.as_ref().is_some_and(|rule| rule.action == FailureAction::RollBack);
        let stage = if is_over {
            Stage::Over
        } else if (had_failed || newly_failed.is_some()) && wants_back && base.is_some() {
            Stage::RolledBack
        } else if had_failed || newly_failed.is_some() || policy.paused {
            Stage::Stopped
        } else {
            Stage::GoingOn
        };
        let goals = goals(snapshot, &nodes, stage, &waves, base.as_ref());
        let is_complete = is_settled || is_complete(&nodes, &goals);
        let last_open = waves.last_open;
        Rollout { base, goals, stage, exists, marks, last_open, newly_failed, is_complete }
    }
}

/// The nodes that have the new version, those in open waves or, without waves, all of them.
fn goals(
    snapshot: &Snapshot<'_>,
    nodes: &Nodes<'_>,
    stage: Stage,
    waves: &Waves,
    base: Option<&Base<'_>>,
) -> IndexVec<NodeIx, Goal> {
    let is_released = |node: NodeIx| {
        nodes.at(node).has_it || (stage == Stage::GoingOn && (!waves.exist() || waves.has_open(node)))
    };
    let reaches_all =
        stage == Stage::GoingOn && waves.all_open && nodes.participants.iter().all(|node| is_released(*node));
    let goal = |node: NodeIx| {
        let is_current = match stage {
            Stage::Over => true,
            Stage::RolledBack => false,
            Stage::GoingOn | Stage::Stopped if nodes.at(node).takes_part => is_released(node),
            Stage::GoingOn | Stage::Stopped => reaches_all,
        };
        let base = base.filter(|_| !is_current);
        let own = || snapshot.placement(node);
        Goal {
            is_base: base.is_some(),
            is_held: !is_current && stage != Stage::RolledBack,
            placement: base.map_or_else(own, |base| base.placement(snapshot.node(node))),
        }
    };
    nodes.positions().map(goal).collect()
}

/// Every target node is to have the current revision, and has an available updated pod and no live outdated one.
fn is_complete(nodes: &Nodes<'_>, goals: &IndexVec<NodeIx, Goal>) -> bool {
    let waits = |node: NodeIx, goal: &Goal| nodes.at(node).takes_part && (goal.is_base || goal.is_held);
    let targets =
        || goals.enumerated().filter(|(node, goal)| goal.placement == Placement::Run || waits(*node, goal));
    let mut done = targets().map(|(node, goal)| {
        let facts = nodes.at(node);
        !goal.is_base && !goal.is_held && facts.is_available && !facts.has_outdated
    });
    targets().next().is_some() && done.all(|done| done)
}

/// The released nodes have made no progress for too long.
fn is_too_late(
    snapshot: &Snapshot<'_>,
    policy: &RolloutPolicy,
    nodes: &Nodes<'_>,
    marks: &Marks,
    waves: &Waves,
) -> bool {
    let seconds = nodes.judged_by.and_then(|rule| rule.progress_deadline_seconds);
    let Some((seconds, started)) = seconds.zip(marks.started.as_ref()) else { return false };
    if snapshot.spec().strategy == Strategy::OnDelete {
        return false;
    }
    let is_released =
        |node: &&NodeIx| policy.waves.is_empty() || nodes.at(**node).has_it || waves.has_open(**node);
    let released: Vec<NodeIx> = nodes.participants.iter().filter(is_released).copied().collect();
    if nodes.that_hold_up(&released).all(|node| node.is_available) {
        return false;
    }
    let opens = waves.last_open > marks.wave_index();
    let opened_at = if opens { Some(snapshot.now()) } else { marks.wave.as_ref().map(|wave| wave.at) };
    let progress = released.iter().filter_map(|node| nodes.at(*node).progressed_at);
    let newest = progress.chain(opened_at).fold(started.at, Ord::max);
    let deadline = newest.checked_add(SignedDuration::from_secs(seconds.into()));
    deadline.is_ok_and(|deadline| deadline <= snapshot.now())
}
