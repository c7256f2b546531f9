//! The report of a rollout that the policy steers, and why it has not reached a node.

use crate::node::fleet::Fleet;
use crate::position::{IndexVec, NodeIx};
use crate::report::NodeVerdict;
use crate::rollout::decision::RolloutDecision;
use crate::rollout::facts::{RolloutNode, WaveFigures, WaveNodes};
use crate::rollout::goals::{KnownRollout, Rollout};
use crate::rollout::report::{HoldReason, RolloutReport, RolloutStage, WaveProgress, WaveReport};
use crate::rollout::waves::{Done, WaveState, Waves};
use daemonset_objects::model::NodeName;
use std::sync::Arc;

/// The state of the rollout, from the verdicts on all nodes by name; `None` if the policy steers none.
pub(crate) fn rollout<'v>(
    fleet: &Fleet<'_>,
    verdicts: impl Iterator<Item = (NodeIx, &'v NodeVerdict)> + Clone,
) -> Option<RolloutReport> {
    let Rollout { stable, known } = fleet.goals.rollout()?;
    let decision = &*known.decision;
    let is_judged = decision.stage != RolloutStage::Complete;
    let waves = known.waves.iter().zip(&decision.waves.list).enumerate();
    Some(RolloutReport {
        stage: decision.stage.clone(),
        stable: stable.as_ref().map(|stable| stable.view.name.to_owned()),
        stable_hash: stable.as_ref().map(|stable| stable.hash.to_string()),
        nodes: decision.nodes,
        updated: decision.updated,
        waves: waves
            .map(|(index, (nodes, wave))| {
                let (nodes, WaveFigures { updated, available }) = wave_nodes(known, nodes, verdicts.clone());
                WaveReport { nodes, updated, available, progress: progress(decision, index, wave) }
            })
            .collect(),
        failing: if is_judged { Arc::clone(&known.failing) } else { Arc::default() },
    })
}

/// The nodes of a wave, by name.
fn wave_nodes<'v>(
    known: &KnownRollout,
    nodes: &WaveNodes,
    verdicts: impl Iterator<Item = (NodeIx, &'v NodeVerdict)>,
) -> (Arc<[NodeName]>, WaveFigures) {
    if let WaveNodes::Named(names, figures) = nodes {
        return (Arc::clone(names), *figures);
    }
    let nodes = nodes.inside();
    let mut figures = WaveFigures::default();
    let mut is_inside: IndexVec<NodeIx, bool> = IndexVec::repeat(false, known.nodes.len());
    for node in nodes {
        figures.add(WaveFigures::new(&known.nodes.at(*node).facts));
        is_inside.change(*node, |is_inside| *is_inside = true);
    }
    // The verdicts are in the order of the names: they are compared once for all waves.
    let mut names = Vec::with_capacity(nodes.len());
    let inside = verdicts.filter(|(node, _)| *is_inside.at(*node));
    names.extend(inside.map(|(_, verdict)| verdict.node.clone()));
    (names.into(), figures)
}

fn progress(decision: &RolloutDecision, index: usize, wave: &WaveState) -> WaveProgress {
    if decision.stage == RolloutStage::Complete {
        return WaveProgress::Done;
    }
    let next = decision.waves.open;
    if index < next {
        return match wave.done {
            Done::Yes => WaveProgress::Done,
            Done::At(until) => WaveProgress::Baking { until },
            Done::No => WaveProgress::Updating,
        };
    }
    let is_due = index == next && before(&decision.waves, index) == Done::Yes;
    match decision.stage {
        RolloutStage::Progressing if is_due && !wave.is_approved => WaveProgress::WaitsForApproval,
        RolloutStage::Paused | RolloutStage::Stopped { .. } | RolloutStage::RolledBack { .. } if is_due => {
            WaveProgress::Stopped
        }
        RolloutStage::Complete
        | RolloutStage::Progressing
        | RolloutStage::Paused
        | RolloutStage::Stopped { .. }
        | RolloutStage::RolledBack { .. } => WaveProgress::WaitsForWaveBefore,
    }
}

/// Whether the wave before this one is done.
fn before(waves: &Waves, index: usize) -> Done {
    index.checked_sub(1).and_then(|before| waves.list.get(before)).map_or(Done::Yes, |wave| wave.done)
}

/// Why the rollout has not reached a node that is held.
pub(crate) fn hold_reason(fleet: &Fleet<'_>, node: NodeIx) -> HoldReason {
    let Some(rollout) = fleet.goals.rollout() else { return HoldReason::NoWave };
    let known = &rollout.known;
    HeldNode::new(known.nodes.at(node)).reason(&known.decision)
}

/// The part of a held node in the waves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(clippy::exhaustive_enums, reason = "internal")]
pub enum HeldNode {
    /// It does not take part.
    Outside,
    /// It takes part, and no wave has it.
    InNoWave,
    /// By its first wave.
    InWave(u32),
}

impl HeldNode {
    /// Of a node that is held.
    pub fn new(node: &RolloutNode) -> Self {
        match node.first_wave {
            _ if !node.facts.takes_part => HeldNode::Outside,
            Some(wave) => HeldNode::InWave(wave),
            None => HeldNode::InNoWave,
        }
    }

    /// Why the rollout has not reached it.
    pub fn reason(self, decision: &RolloutDecision) -> HoldReason {
        match &decision.stage {
            RolloutStage::Paused => return HoldReason::Paused,
            RolloutStage::Stopped { reason } | RolloutStage::RolledBack { reason } => {
                return HoldReason::Stopped { reason: reason.clone() };
            }
            RolloutStage::Progressing | RolloutStage::Complete => {}
        }
        let wave = match self {
            HeldNode::Outside => return HoldReason::Outside,
            HeldNode::InNoWave => return HoldReason::NoWave,
            HeldNode::InWave(wave) => wave,
        };
        let next = decision.waves.open;
        let progress =
            decision.waves.list.get(next).map_or(WaveProgress::Done, |wave| progress(decision, next, wave));
        HoldReason::Wave { wave, next: next as u32, progress, opens_at: decision.waves.opens_at }
    }
}
