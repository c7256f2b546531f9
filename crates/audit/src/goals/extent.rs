//! How far a rollout reaches: the goal of each group of nodes.

use super::groups::{Group, NodeGroups};
use super::waves::Waves;
use daemonset::policy::RolloutPolicy;

/// How far a rollout may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Complete,
    Progressing,
    /// By a person, or because the new version has failed.
    Stopped,
    RolledBack,
}

/// How far a rollout reaches now.
#[derive(Debug)]
pub(crate) struct Extent {
    pub(crate) stage: Stage,
    has_waves: bool,
    /// The index of the last open wave.
    pub(crate) last_open: Option<usize>,
    /// All waves are open, and all nodes that take part are released.
    reaches_all: bool,
}

impl Extent {
    pub(super) fn new(stage: Stage, policy: &RolloutPolicy, waves: Waves, groups: &NodeGroups) -> Self {
        let (has_waves, last_open) = (!policy.waves.is_empty(), waves.last_open);
        let mut extent = Extent { stage, has_waves, last_open, reaches_all: false };
        if stage == Stage::Progressing && waves.all_open {
            let left = groups.total(|group| group.takes_part() && !extent.is_released(group));
            extent.reaches_all = left.nodes == 0;
        }
        extent
    }

    /// They have the new version, are in open waves or, without waves, take part.
    fn is_released(&self, group: Group) -> bool {
        let opens = !self.has_waves || group.is_open(self.last_open);
        group.has_it() || (self.stage == Stage::Progressing && opens)
    }

    /// Whether the current revision is the goal of these nodes.
    pub(crate) fn is_current(&self, group: Group) -> bool {
        match self.stage {
            Stage::Complete => true,
            Stage::RolledBack => false,
            Stage::Progressing | Stage::Stopped if group.takes_part() => self.is_released(group),
            Stage::Progressing | Stage::Stopped => self.reaches_all,
        }
    }

    /// Every target node is to have the current revision, and has an available updated pod and no live outdated one.
    pub(crate) fn is_complete(&self, groups: &NodeGroups, has_stable: bool) -> bool {
        let reached = groups.total(|group| self.is_current(group));
        let others = groups.total(|group| !self.is_current(group));
        let waiting = if has_stable { others.waiting_for_stable } else { others.held };
        reached.targets > 0 && reached.unfinished == 0 && waiting == 0
    }
}
