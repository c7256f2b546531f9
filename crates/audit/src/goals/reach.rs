//! How far a rollout reaches: the goal of each group of nodes.

use super::tally::{Group, Tally};
use super::waves::Waves;
use daemonset::policy::RolloutPolicy;

/// How far a rollout may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Over,
    GoingOn,
    /// By a person, or because the new version has failed.
    Stopped,
    RolledBack,
}

/// How far a rollout reaches now.
#[derive(Debug)]
pub(super) struct Reach {
    pub(super) stage: Stage,
    has_waves: bool,
    /// The index of the last open wave.
    pub(super) last_open: Option<usize>,
    /// All waves are open, and all nodes that take part are released.
    reaches_all: bool,
}

impl Reach {
    pub(super) fn new(stage: Stage, policy: &RolloutPolicy, waves: Waves, tally: &Tally) -> Self {
        let (has_waves, last_open) = (!policy.waves.is_empty(), waves.last_open);
        let mut reach = Reach { stage, has_waves, last_open, reaches_all: false };
        if stage == Stage::GoingOn && waves.all_open {
            let left = tally.total(|group| group.takes_part() && !reach.is_released(group));
            reach.reaches_all = left.nodes == 0;
        }
        reach
    }

    /// They have the new version, are in open waves or, without waves, take part.
    fn is_released(&self, group: Group) -> bool {
        let opens = !self.has_waves || group.is_open(self.last_open);
        group.has_it() || (self.stage == Stage::GoingOn && opens)
    }

    /// Whether the current revision is the goal of these nodes.
    pub(super) fn is_current(&self, group: Group) -> bool {
        match self.stage {
            Stage::Over => true,
            Stage::RolledBack => false,
            Stage::GoingOn | Stage::Stopped if group.takes_part() => self.is_released(group),
            Stage::GoingOn | Stage::Stopped => self.reaches_all,
        }
    }

    /// Every target node is to have the current revision, and has an available updated pod and no live outdated one.
    pub(super) fn is_complete(&self, tally: &Tally, has_base: bool) -> bool {
        let reached = tally.total(|group| self.is_current(group));
        let others = tally.total(|group| !self.is_current(group));
        let waiting = if has_base { others.waiting_for_base } else { others.held };
        reached.targets > 0 && reached.undone == 0 && waiting == 0
    }
}
