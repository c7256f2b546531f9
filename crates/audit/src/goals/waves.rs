//! Waves, opened apart from the planner.

use super::groups::NodeGroups;
use super::marks::Marks;
use super::nodes::may_fail;
use daemonset::kubernetes::Selector;
use daemonset::policy::{FailurePolicy, RolloutPolicy, Wave};
use daemonset::{InvalidInput, NodeView, Snapshot};
use jiff::SignedDuration;
use std::sync::Arc;

/// The open waves.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waves {
    pub(super) last_open: Option<usize>,
    pub(super) all_open: bool,
}

/// The conditions under which waves open.
#[derive(Clone, Copy)]
pub(super) struct Conditions<'c> {
    pub(super) marks: &'c Marks,
    /// How many waves are approved.
    pub(super) approved: usize,
    /// The failure policy, where the rollout is judged.
    pub(super) judged_by: Option<&'c FailurePolicy>,
    pub(super) may_open: bool,
}

impl Waves {
    /// Where no wave may open, those that have been opened before are open.
    pub(super) fn new(
        snapshot: &Snapshot<'_>,
        policy: &RolloutPolicy,
        groups: &NodeGroups,
        conditions: Conditions<'_>,
    ) -> Self {
        let Conditions { marks, approved, judged_by, may_open } = conditions;
        let mut waves = Waves { last_open: None, all_open: true };
        // Seconds for which the wave before bakes.
        let mut bake = None;
        for (index, wave) in policy.waves.iter().enumerate() {
            let was_open = marks.wave_index().is_some_and(|marked| index <= marked);
            let opens = may_open
                && (!wave.needs_approval || approved > index)
                && bake.is_none_or(|bake| waves.are_done(snapshot, groups, judged_by, bake));
            if !was_open && !opens {
                waves.all_open = false;
                break;
            }
            waves.last_open = Some(index);
            bake = Some(wave.bake_seconds);
        }
        waves
    }

    fn are_done(
        self,
        snapshot: &Snapshot<'_>,
        groups: &NodeGroups,
        judged_by: Option<&FailurePolicy>,
        bake_seconds: u32,
    ) -> bool {
        let duration = SignedDuration::from_secs(bake_seconds.into()).max(snapshot.spec().min_ready());
        let open = groups.total(|group| group.is_open(self.last_open));
        open.are_ready_for(duration, snapshot.now(), may_fail(judged_by, open.nodes))
    }
}

/// The selectors of waves.
pub(super) struct Matcher<'p>(Vec<Option<Result<Selector<'p>, InvalidInput>>>);

impl<'p> Matcher<'p> {
    pub(super) fn new(waves: &'p [Wave]) -> Self {
        let selector = |wave: &'p Wave| wave.nodes.as_ref().map(|nodes| Selector::new(nodes, "waves"));
        Matcher(waves.iter().map(selector).collect())
    }

    /// For each wave, whether it matches a node.
    pub(super) fn matches(&self, node: &NodeView<'_>) -> Arc<[bool]> {
        let selectors = self.0.iter().map(|selector| match selector {
            None => true,
            // The check of the snapshot refuses such a policy.
            Some(Err(_)) => false,
            Some(Ok(selector)) => selector.matches(node.labels),
        });
        selectors.collect()
    }
}
