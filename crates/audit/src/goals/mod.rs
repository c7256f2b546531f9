//! The goals of nodes under a rollout, derived apart from the planner: which nodes are released, which keep the stable revision, and
//! how far the rollout may go.
//!
//! Straight from the rules of [`Policy::rollout`](field@daemonset::Policy::rollout): the planner's decision about the rollout is not read, so
//! that an error there is found. Without a rollout nothing is derived.

mod extent;
mod groups;
mod limit;
pub(crate) mod marks;
mod nodes;
mod stable;
mod sums;
mod surroundings;
pub(crate) mod undo;
mod waves;

pub(crate) use extent::Stage;
pub(crate) use groups::{Group, NodeGroups, Regrouped};
pub(crate) use nodes::may_fail_at;
pub(crate) use stable::{Stable, has_failed};
pub use surroundings::Surroundings;
pub(crate) use surroundings::Whole;

use crate::facts::lineage::Lineage;
use crate::facts::stage::PodStages;
use crate::facts::strategy::Strategy;
use daemonset::internal::{IndexVec, NodeIx, Placement, Taints, enumerate, neutral};
use daemonset::model::Toleration;
use daemonset::policy::{FailureAction, FailurePolicy, RolloutPolicy};
use daemonset::{Action, Snapshot};
use extent::Extent;
use groups::GroupedNode;
use jiff::SignedDuration;
use marks::Marks;
use nodes::may_fail;
use std::rc::Rc;
use waves::{Conditions, Waves};

/// The goal of each node; the current revision where no rollout is steered.
pub(crate) struct Goals<'s> {
    snapshot: &'s Snapshot<'s>,
    /// The goals of the nodes of the snapshot.
    nodes: IndexVec<NodeIx, Goal>,
    pub(crate) rollout: Option<Rc<Rollout<'s>>>,
}

/// The goal of one node.
#[derive(Debug, Clone, Copy)]
struct Goal {
    is_stable: bool,
    /// The rollout has not reached it.
    is_held: bool,
    /// By the template of its goal.
    placement: Placement,
}

// A node without pods that gets none.
neutral!(
    Goal,
    Goal { is_stable: false, is_held: true, placement: Placement::ContinueOnly(Taints { first: 0 }) }
);

/// The placement of a node by the template of the stable revision, if there is one.
#[derive(Debug, Clone, Copy)]
struct ByStable(Option<Placement>);

neutral!(ByStable, ByStable(None));

/// The goal of the nodes of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GroupGoal {
    pub(crate) is_stable: bool,
    /// The rollout has not reached them.
    pub(crate) is_held: bool,
}

/// The rollout of the current revision.
pub(crate) struct Rollout<'s> {
    pub(crate) stable: Option<Stable<'s>>,
    /// Of each node of the snapshot.
    by_stable: IndexVec<NodeIx, ByStable>,
    pub(crate) extent: Extent,
    pub(crate) can_be_marked: bool,
    pub(crate) marks: Marks,
    /// This list is the first to find that the new version has failed.
    pub(crate) newly_failed: Option<&'static str>,
    pub(crate) is_complete: bool,
    /// The marks of an undo are due.
    pub(crate) may_begin_undo: bool,
}

impl<'s> Goals<'s> {
    /// Of the nodes of a snapshot that has all of them.
    pub(crate) fn new(snapshot: &'s Snapshot<'s>, actions: &'s [Action]) -> Self {
        let Some(policy) = &snapshot.spec().policy.rollout else { return Goals::unsteered(snapshot) };
        let Ok(goals) = Goals::of_all(snapshot, policy, actions, &Whole::new(snapshot, policy));
        goals
    }

    /// The same of a rollout, with these facts about the nodes.
    ///
    /// # Errors
    /// As [`steered`](Self::steered).
    pub(crate) fn of_all<S: Surroundings>(
        snapshot: &'s Snapshot<'s>,
        policy: &'s RolloutPolicy,
        actions: &'s [Action],
        surroundings: &S,
    ) -> Result<Self, S::Error> {
        let mut groups = NodeGroups::new(&policy.waves);
        Ok(Goals::steered(snapshot, policy, actions, &mut groups, surroundings, |_| 0)?.0)
    }

    /// Without a rollout.
    pub(crate) fn unsteered(snapshot: &'s Snapshot<'s>) -> Self {
        Goals { snapshot, nodes: Vec::new().into(), rollout: None }
    }

    /// Of the nodes of a snapshot beside those that are grouped already, with the live pods that these have of each hash. They are grouped
    /// as well; returns the nodes whose group has changed.
    ///
    /// # Errors
    /// Where the placement of a node by the template of the stable revision is not known.
    pub(crate) fn steered<S: Surroundings>(
        snapshot: &'s Snapshot<'s>,
        policy: &'s RolloutPolicy,
        actions: &'s [Action],
        groups: &mut NodeGroups,
        surroundings: &S,
        live_elsewhere: impl Fn(&str) -> u32,
    ) -> Result<(Self, Regrouped), S::Error> {
        let lineage = Lineage::new(snapshot, actions);
        let stages = PodStages::new(snapshot);
        let judged_by = policy.on_failure.as_ref().filter(|_| can_be_marked(snapshot, &lineage));
        let stable = Stable::choose(snapshot, &lineage, &stages, live_elsewhere);
        let by_stable = enumerate(snapshot.nodes()).map(|(node, _)| {
            let by = |stable: &Stable<'_>| surroundings.placement_by(stable.view.uid, &stable.template, node);
            stable.as_ref().map(by).transpose().map(ByStable)
        });
        let by_stable: IndexVec<NodeIx, ByStable> = by_stable.collect::<Result<Vec<_>, _>>()?.into();
        let facts = nodes::facts(snapshot, &lineage, &stages, judged_by);
        for (node, view) in enumerate(snapshot.nodes()) {
            let grouped = GroupedNode {
                name: view.name.into(),
                facts: *facts.at(node),
                runs: snapshot.placement(node) == Placement::Run,
                runs_stable: by_stable.at(node).0.is_some_and(|placement| placement == Placement::Run),
                matches: surroundings.matches(node),
            };
            groups.put(surroundings.key(node), grouped);
        }
        let regrouped = groups.settle();
        let rollout = Rollout::new(snapshot, policy, &lineage, groups, judged_by, stable, by_stable);
        let goal = |node: NodeIx| rollout.goal(snapshot, node, groups.group(surroundings.key(node)));
        let nodes = facts.positions().map(goal).collect();
        Ok((Goals { snapshot, nodes, rollout: Some(Rc::new(rollout)) }, regrouped))
    }

    /// The same, if each node were to run a pod of the stable revision; `None` without a stable revision.
    pub(crate) fn all_stable(&self) -> Option<Self> {
        let rollout = self.rollout.as_ref().filter(|rollout| rollout.stable.is_some())?;
        let all = GroupGoal { is_stable: true, is_held: false };
        let goal = |node: NodeIx| rollout.goal_of_node(self.snapshot, node, all);
        let nodes = self.nodes.positions().map(goal).collect();
        Some(Goals { snapshot: self.snapshot, nodes, rollout: Some(Rc::clone(rollout)) })
    }

    /// The goal of the nodes of a group.
    pub(crate) fn of_group(&self, group: Group) -> GroupGoal {
        let current = GroupGoal { is_stable: false, is_held: false };
        self.rollout.as_ref().map_or(current, |rollout| rollout.goal_of_group(group))
    }

    fn goal(&self, node: NodeIx) -> Option<&Goal> {
        self.rollout.as_ref().map(|_| self.nodes.at(node))
    }

    #[inline]
    pub(crate) fn placement(&self, node: NodeIx) -> Placement {
        self.goal(node).map_or_else(|| self.snapshot.placement(node), |goal| goal.placement)
    }

    /// Of the pods that the node should run.
    pub(crate) fn tolerations(&self, node: NodeIx) -> &[Toleration] {
        self.stable_of(node)
            .map_or(&self.snapshot.spec().template.tolerations, |stable| &stable.template.tolerations)
    }

    /// The stable revision, if it is the goal of this node.
    #[inline]
    pub(crate) fn stable_of(&self, node: NodeIx) -> Option<&Stable<'s>> {
        self.stable().filter(|_| self.goal(node).is_some_and(|goal| goal.is_stable))
    }

    #[inline]
    pub(crate) fn stable(&self) -> Option<&Stable<'s>> {
        self.rollout.as_ref().and_then(|rollout| rollout.stable.as_ref())
    }

    /// The rollout has not reached the node.
    pub(crate) fn is_held(&self, node: NodeIx) -> bool {
        self.goal(node).is_some_and(|goal| goal.is_held)
    }

    /// Whether a live pod of a held node may go to come back as the stable revision: it is neither the stable revision's nor Ready. Where another
    /// controller creates the pods, it would come back as the new version.
    pub(crate) fn may_come_back_as_stable(&self, node: NodeIx, is_ready: bool) -> bool {
        !is_ready && !self.snapshot.drives() && self.stable_of(node).is_some()
    }
}

impl<'s> Rollout<'s> {
    /// As all nodes of the groups decide.
    fn new(
        snapshot: &'s Snapshot<'s>,
        policy: &'s RolloutPolicy,
        lineage: &Lineage<'s>,
        groups: &NodeGroups,
        judged_by: Option<&'s FailurePolicy>,
        stable: Option<Stable<'s>>,
        by_stable: IndexVec<NodeIx, ByStable>,
    ) -> Self {
        let prefix = snapshot.spec().policy.mark_prefix.as_str();
        let current = lineage.current().map(|current| current.view);
        let least = lineage.largest_old().saturating_add(1);
        let number = undo::number(snapshot, lineage);
        let annotations = current.zip(number);
        let marks = annotations.map(|(view, number)| Marks::new(view.annotations, prefix, number));
        let marks = marks.unwrap_or_default();
        let can_be_marked = can_be_marked(snapshot, lineage);

        let all = groups.total(|_| true);
        let participants = groups.total(Group::takes_part);
        let is_unmarked = marks.started.is_none() && marks.failed.is_none();
        // Where a node that takes part lacks the new version and is not down, a pause may have begun the rollout.
        let may_have_begun = marks.wave.is_some() || policy.paused && participants.waiting > 0;
        let acts = snapshot.memory().is_some();
        let has_only_updated_pods = all.updated > 0 && all.outdated == 0;
        let may_be_settled = is_unmarked && !undo::was_undone(snapshot, lineage);
        let is_settled =
            can_be_marked && may_be_settled && has_only_updated_pods && !(acts && may_have_begun);
        let awaits_template = undo::awaits_template(snapshot, lineage);
        let has_ended = marks.completed.is_some() || undo::is_way_back(snapshot, lineage);
        let is_over = !awaits_template && (is_settled || (has_ended && marks.failed.is_none()));
        let may_fail = may_fail(judged_by, participants.nodes);
        let too_many = !is_over && participants.failing as usize > may_fail;
        let had_failed = !is_over && policy.on_failure.is_some() && marks.failed.is_some();
        let may_open = !(is_over || policy.paused || too_many || had_failed || awaits_template);
        let approved = number.or(Some(least)).and_then(|number| policy.approved.get(&number));
        let approved = approved.copied().unwrap_or(0) as usize;
        let conditions = Conditions { marks: &marks, approved, judged_by, may_open };
        let mut waves = Waves::new(snapshot, policy, groups, conditions);
        let exceeded = may_open && is_too_late(snapshot, policy, groups, conditions, waves);
        if exceeded {
            waves = Waves::new(snapshot, policy, groups, Conditions { may_open: false, ..conditions });
        }
        let newly_failed = match (had_failed, too_many, exceeded) {
            (false, true, _) => Some("TooManyFailures"),
            (false, false, true) => Some("ProgressDeadlineExceeded"),
            (true, _, _) | (false, false, false) => None,
        };
        let has_failed = had_failed || newly_failed.is_some();
        let wants_back =
            policy.on_failure.as_ref().is_some_and(|rule| rule.action == FailureAction::RollBack);
        let stage = if is_over {
            Stage::Complete
        } else if has_failed && wants_back && stable.is_some() && !awaits_template {
            Stage::RolledBack
        } else if has_failed || policy.paused || awaits_template {
            Stage::Stopped
        } else {
            Stage::Progressing
        };
        let extent = Extent::new(stage, policy, waves, groups);
        let is_complete = is_settled || extent.is_complete(groups, stable.is_some());
        let may_begin_undo = has_failed && undo::may_begin(snapshot, policy, lineage, stable.is_some());
        Rollout { stable, by_stable, extent, can_be_marked, marks, newly_failed, is_complete, may_begin_undo }
    }

    fn goal(&self, snapshot: &Snapshot<'_>, node: NodeIx, group: Group) -> Goal {
        self.goal_of_node(snapshot, node, self.goal_of_group(group))
    }

    fn goal_of_group(&self, group: Group) -> GroupGoal {
        let is_current = self.extent.is_current(group);
        GroupGoal {
            is_stable: !is_current && self.stable.is_some(),
            is_held: !is_current && self.extent.stage != Stage::RolledBack,
        }
    }

    fn goal_of_node(&self, snapshot: &Snapshot<'_>, node: NodeIx, goal: GroupGoal) -> Goal {
        let GroupGoal { is_stable, is_held } = goal;
        let by_stable = self.by_stable.at(node).0.filter(|_| is_stable);
        Goal { is_stable, is_held, placement: by_stable.unwrap_or_else(|| snapshot.placement(node)) }
    }
}

/// The current revision is there, and no other controller has to do anything about it first.
fn can_be_marked(snapshot: &Snapshot<'_>, lineage: &Lineage<'_>) -> bool {
    lineage.current().is_some() && !lineage.is_awaited(snapshot)
}

/// The released nodes have made no progress for too long.
fn is_too_late(
    snapshot: &Snapshot<'_>,
    policy: &RolloutPolicy,
    groups: &NodeGroups,
    conditions: Conditions<'_>,
    waves: Waves,
) -> bool {
    let Conditions { marks, judged_by, .. } = conditions;
    let seconds = judged_by.and_then(|rule| rule.progress_deadline_seconds);
    let Some((seconds, started)) = seconds.zip(marks.started.as_ref()) else { return false };
    if Strategy::in_force(snapshot) == Strategy::OnDelete {
        return false;
    }
    let has_no_waves = policy.waves.is_empty();
    let released = groups.total(|group| {
        group.takes_part() && (has_no_waves || group.has_it() || group.is_open(waves.last_open))
    });
    if released.gated > 0 || released.are_available(may_fail(judged_by, released.nodes)) {
        return false;
    }
    let opens = waves.last_open > marks.wave_index();
    let opened_at = if opens { Some(snapshot.now()) } else { marks.wave.as_ref().map(|wave| wave.at) };
    let newest = [released.progressed_at, opened_at].into_iter().flatten().fold(started.at, Ord::max);
    let deadline = newest.checked_add(SignedDuration::from_secs(seconds.into()));
    deadline.is_ok_and(|deadline| deadline <= snapshot.now())
}
