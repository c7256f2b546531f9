//! Waves, opened apart from the planner.

use super::marks::Marks;
use super::nodes::Nodes;
use daemonset::Snapshot;
use daemonset::internal::NodeIx;
use daemonset::kubernetes::Selector;
use daemonset::model::IntOrString;
use daemonset::policy::{RolloutPolicy, Wave};
use jiff::SignedDuration;

/// The open waves.
pub(super) struct Waves {
    count: usize,
    pub(super) last_open: Option<usize>,
    pub(super) all_open: bool,
    /// The nodes of the open ones, sorted.
    open: Vec<NodeIx>,
}

impl Waves {
    /// Where no wave may open, those that have been opened before are open.
    pub(super) fn new(
        snapshot: &Snapshot<'_>,
        policy: &RolloutPolicy,
        nodes: &Nodes<'_>,
        marks: &Marks,
        approved: usize,
        may_open: bool,
    ) -> Self {
        let mut waves =
            Waves { count: policy.waves.len(), last_open: None, all_open: true, open: Vec::new() };
        // Seconds for which the wave before bakes.
        let mut bake = None;
        for (index, wave) in policy.waves.iter().enumerate() {
            let was_open = marks.wave_index().is_some_and(|marked| index <= marked);
            let opens = may_open
                && (!wave.needs_approval || approved > index)
                && bake.is_none_or(|bake| waves.are_done(snapshot, nodes, bake));
            if !was_open && !opens {
                waves.all_open = false;
                break;
            }
            waves.last_open = Some(index);
            waves.open.extend(members(snapshot, nodes, wave));
            waves.open.sort_unstable();
            waves.open.dedup();
            bake = Some(wave.bake_seconds);
        }
        waves
    }

    pub(super) fn exist(&self) -> bool {
        self.count > 0
    }

    pub(super) fn has_open(&self, node: NodeIx) -> bool {
        self.open.binary_search(&node).is_ok()
    }

    fn are_done(&self, snapshot: &Snapshot<'_>, nodes: &Nodes<'_>, bake_seconds: u32) -> bool {
        let duration = SignedDuration::from_secs(bake_seconds.into()).max(snapshot.spec().min_ready());
        nodes.that_hold_up(&self.open).all(|node| node.is_ready_for(duration, snapshot.now()))
    }
}

/// The nodes that match, in the order of the participants, up to the limit.
fn members<'n>(
    snapshot: &'n Snapshot<'_>,
    nodes: &'n Nodes<'_>,
    wave: &Wave,
) -> impl Iterator<Item = NodeIx> + use<'n> {
    let selector = wave.nodes.as_ref().map(|nodes| Selector::new(nodes, "waves"));
    let matches = |node: &&NodeIx| match &selector {
        None => true,
        // The check of the snapshot refuses such a policy.
        Some(Err(_)) => false,
        Some(Ok(selector)) => selector.matches(snapshot.node(**node).labels),
    };
    let matching: Vec<NodeIx> = nodes.participants.iter().filter(matches).copied().collect();
    let limit = match wave.up_to {
        None => matching.len(),
        Some(IntOrString::Int(limit)) => limit as usize,
        Some(IntOrString::Percent(percent)) => matching.len().saturating_mul(percent as usize).div_ceil(100),
    };
    matching.into_iter().take(limit)
}
