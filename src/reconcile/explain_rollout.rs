//! The report of a rollout that the policy steers, and why it has not reached a node.

use crate::reconcile::fleet::Fleet;
use crate::reconcile::goal::waves::{Done, WaveState, Waves};
use crate::reconcile::goal::{Rollout, Stage};
use crate::rollout_report::{FailingNode, HoldReason, RolloutReport, RolloutStage, WaveProgress, WaveReport};
use crate::snapshot::position::NodeIx;
use std::collections::BTreeMap;

/// The state of the rollout; `None` if the policy steers none.
pub(super) fn rollout(fleet: &Fleet<'_>) -> Option<RolloutReport> {
    let rollout = fleet.goal.rollout()?;
    let taking_part = || rollout.facts.iter().filter(|facts| facts.takes_part);
    let is_judged = rollout.stage != Stage::Over;
    let evidence = |(node, facts): (NodeIx, &crate::reconcile::goal::node::RolloutFacts)| {
        let evidence = facts.failing.evidence().filter(|_| is_judged)?.clone();
        Some(FailingNode { node: fleet.node_view(node).name.into(), evidence })
    };
    let mut failing: Vec<FailingNode> = rollout.facts.enumerated().filter_map(evidence).collect();
    failing.sort_unstable_by(|a, b| a.node.cmp(&b.node));
    Some(RolloutReport {
        stage: stage(&rollout.stage),
        base: rollout.base.as_ref().map(|base| base.view.name.to_owned()),
        base_hash: rollout.base.as_ref().map(|base| base.hash.to_owned()),
        nodes: taking_part().count() as u32,
        updated: taking_part().filter(|facts| facts.has_it).count() as u32,
        waves: waves(fleet, rollout),
        failing,
    })
}

fn stage(stage: &Stage) -> RolloutStage {
    match stage {
        Stage::Over => RolloutStage::Over,
        Stage::GoingOn => RolloutStage::GoingOn,
        Stage::Paused => RolloutStage::Paused,
        Stage::Stopped(reason) => RolloutStage::Stopped { reason: reason.clone() },
        Stage::RolledBack(reason) => RolloutStage::RolledBack { reason: reason.clone() },
    }
}

fn waves(fleet: &Fleet<'_>, rollout: &Rollout<'_>) -> Vec<WaveReport> {
    let name = |node: &NodeIx| fleet.node_view(*node).name.into();
    let report = |(index, wave): (usize, &WaveState)| WaveReport {
        nodes: wave.nodes.iter().map(name).collect(),
        progress: progress(rollout, index, wave),
    };
    rollout.waves.list.iter().enumerate().map(report).collect()
}

fn progress(rollout: &Rollout<'_>, index: usize, wave: &WaveState) -> WaveProgress {
    if rollout.stage == Stage::Over {
        return WaveProgress::Done;
    }
    if wave.is_open {
        return match wave.done {
            Done::Yes => WaveProgress::Done,
            Done::At(until) => WaveProgress::Baking { until },
            Done::No => WaveProgress::Updating,
        };
    }
    let next = next_wave(&rollout.waves);
    let is_due = index == next && before(&rollout.waves, index) == Done::Yes;
    match rollout.stage {
        Stage::GoingOn if is_due && !wave.is_approved => WaveProgress::WaitsForApproval,
        Stage::Paused | Stage::Stopped(_) | Stage::RolledBack(_) if is_due => WaveProgress::Stopped,
        Stage::Over | Stage::GoingOn | Stage::Paused | Stage::Stopped(_) | Stage::RolledBack(_) => {
            WaveProgress::WaitsForWaveBefore
        }
    }
}

/// The index of the first wave that is not open.
fn next_wave(waves: &Waves) -> usize {
    waves.last_open.map_or(0, |last| last + 1)
}

/// Whether the wave before this one is done.
fn before(waves: &Waves, index: usize) -> Done {
    index.checked_sub(1).and_then(|before| waves.list.get(before)).map_or(Done::Yes, |wave| wave.done)
}

/// Why the rollout has not reached each node.
pub(super) struct Holds<'r> {
    rollout: Option<&'r Rollout<'r>>,
    /// The first wave of each node.
    first_waves: BTreeMap<NodeIx, usize>,
}

impl<'r> Holds<'r> {
    pub(super) fn new(fleet: &'r Fleet<'r>) -> Self {
        let rollout = fleet.goal.rollout();
        let mut first_waves = BTreeMap::new();
        let waves = rollout.iter().flat_map(|rollout| rollout.waves.list.iter().enumerate());
        for (index, wave) in waves {
            for node in &wave.nodes {
                first_waves.entry(*node).or_insert(index);
            }
        }
        Holds { rollout, first_waves }
    }

    /// For a node that is held.
    pub(super) fn reason(&self, node: NodeIx) -> HoldReason {
        let Some(rollout) = self.rollout else { return HoldReason::NoWave };
        match &rollout.stage {
            Stage::Paused => return HoldReason::Paused,
            Stage::Stopped(reason) | Stage::RolledBack(reason) => {
                return HoldReason::Stopped { reason: reason.clone() };
            }
            Stage::GoingOn | Stage::Over => {}
        }
        if !rollout.facts.at(node).takes_part {
            return HoldReason::Outside;
        }
        let Some(wave) = self.first_waves.get(&node) else { return HoldReason::NoWave };
        let next = next_wave(&rollout.waves);
        let progress =
            rollout.waves.list.get(next).map_or(WaveProgress::Done, |wave| progress(rollout, next, wave));
        HoldReason::Wave { wave: *wave as u32, next: next as u32, progress, opens_at: rollout.waves.opens_at }
    }
}
