//! Waves: which nodes they have, which are open, and when the next one opens.

use crate::input::Snapshot;
use crate::input::rollout::policy::Wave;
use crate::position::{IndexVec, NodeIx};
use crate::rollout::decision::RolloutInput;
use crate::rollout::facts::{RolloutNode, WaveNodes};
use crate::rollout::sums::{GroupSums, NodeSums, TimeRange, TimestampSet};
use daemonset_objects::internal::Problems;
use daemonset_objects::kubernetes::Selector;
use daemonset_objects::model::IntOrString;
use jiff::{SignedDuration, Timestamp};
use std::cmp::Ordering;

/// The waves of a rollout.
#[derive(Debug, Clone)]
pub struct Waves {
    /// Empty where all nodes are released at once.
    pub list: Vec<WaveState>,
    /// How many are open: the first ones.
    pub open: usize,
    /// Without waves everything is released, unless the rollout is stopped.
    releases_all: bool,
    /// When the next wave opens, if time is all that it waits for.
    pub opens_at: Option<Timestamp>,
    /// When the last open wave is done, if time is all that it waits for: the next one opens then, or waits for approval.
    pub done_at: Option<Timestamp>,
}

/// A wave.
#[derive(Debug, Clone)]
pub struct WaveState {
    /// Enough waves are approved.
    pub is_approved: bool,
    /// Its pods, and those of the waves before it, are available for long enough; only known for open waves.
    pub done: Done,
}

/// Whether a wave is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Done {
    /// Not yet, and time alone does not do it.
    No,
    /// From this instant on, if nothing changes.
    At(Timestamp),
    Yes,
}

/// Which closed waves may open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    /// Each wave whose turn has come.
    WhenDue,
    /// None: the rollout is stopped.
    Never,
}

impl Waves {
    pub fn new(input: &RolloutInput<'_, impl TimestampSet>, opening: Opening) -> Self {
        let policy = input.policy;
        let closed = WaveState { is_approved: true, done: Done::No };
        let mut waves = Waves {
            list: vec![closed; policy.waves.len()],
            open: 0,
            releases_all: policy.waves.is_empty() && opening == Opening::WhenDue,
            opens_at: None,
            done_at: None,
        };
        let approved = policy.approved.get(&input.number).copied().unwrap_or(0) as usize;
        let mut in_open_waves: GroupSums<TimeRange> = GroupSums::default();
        // Before the first wave there is nothing to wait for.
        let mut before = Done::Yes;
        for (index, (state, wave)) in waves.list.iter_mut().zip(&policy.waves).enumerate() {
            // The loop goes on behind the first closed wave for this alone: the report tells of each wave whether it is approved.
            state.is_approved = planted::is_approved(!wave.needs_approval || approved > index);
            if index > waves.open {
                continue;
            }
            // The mark keeps a wave open that would not open today: its nodes may have become unavailable since, its approval
            // may be gone, and the rollout may be stopped.
            let was_open = input.marks.wave.is_some_and(|mark| index <= mark.index);
            let may_open = opening == Opening::WhenDue && state.is_approved;
            let opens = may_open && planted::is_done(before == Done::Yes);
            if !was_open && !opens {
                // A wave that lacks more than time is not announced: no instant opens it.
                if let (true, Done::At(at)) = (may_open, before) {
                    waves.opens_at = Some(at);
                }
                continue;
            }
            waves.open = index + 1;
            // The sum grows from wave to wave: a wave is done only with all waves before it. Each node counts in its first wave
            // alone, so that a node of two waves counts once.
            input.sums.add_wave(index, &mut in_open_waves);
            state.done = done(input, &input.waited_for(in_open_waves.clone()), wave);
            before = state.done;
            // The last open wave decides: an earlier one has let the next one open, whatever became of its pods since.
            waves.done_at = match before {
                Done::At(at) => Some(at),
                Done::No | Done::Yes => None,
            };
        }
        waves
    }

    /// Whether an open wave has the nodes whose first wave is this one, or there are no waves.
    pub fn releases(&self, first_wave: Option<usize>) -> bool {
        self.releases_all || first_wave.is_some_and(|wave| wave < self.open)
    }

    pub fn all_open(&self) -> bool {
        self.open == self.list.len()
    }
}

/// Whether each node of the open waves has an updated pod that is Ready for as long as this wave bakes.
fn done(input: &RolloutInput<'_, impl TimestampSet>, nodes: &NodeSums<TimeRange>, wave: &Wave) -> Done {
    let snapshot = input.snapshot;
    let duration = snapshot.spec.min_ready().max(SignedDuration::from_secs(wave.bake_seconds.into()));
    // A pod that needs no time is available as soon as it is Ready, also where the instant is unknown.
    if duration.is_zero() {
        return if nodes.not_ready == 0 { Done::Yes } else { Done::No };
    }
    // This includes the nodes that are not Ready: they have no instant.
    if nodes.since_unknown > 0 {
        return Done::No;
    }
    // Without any node there is nothing to wait for: an empty wave is done.
    let Some(last) = nodes.ready_since.last else { return Done::Yes };
    match last.checked_add(duration) {
        Ok(at) if at <= snapshot.now => Done::Yes,
        Ok(at) => Done::At(at),
        // The instant is beyond the calendar: it never comes.
        Err(_) => Done::No,
    }
}

/// The nodes that a wave may have; `None` for all.
pub fn wave_selector(wave: &Wave) -> Option<Selector<'_>> {
    // The check of the snapshot has refused a policy with problems.
    let mut checked = Problems::default();
    wave.nodes.as_ref().map(|nodes| Selector::compile(nodes, "policy.rollout", &mut checked))
}

/// How many nodes a wave has, of this number of matching ones.
pub fn size_of_wave(up_to: Option<IntOrString>, matching: usize) -> usize {
    up_to.map_or(matching, |up_to| (up_to.scaled(matching as u32) as usize).min(matching))
}

/// The nodes of each wave, and the first wave of each node. A node may belong to several waves.
pub(crate) fn choose_nodes(
    snapshot: &Snapshot<'_>,
    nodes: &mut IndexVec<NodeIx, RolloutNode>,
    waves: &[Wave],
) -> Vec<WaveNodes> {
    let mut chosen = Vec::with_capacity(waves.len());
    for (index, wave) in waves.iter().enumerate() {
        let selector = wave_selector(wave);
        let takes_part = nodes.enumerated().filter(|(_, node)| node.facts.takes_part).map(|(node, _)| node);
        let matching = takes_part.filter(|node| {
            selector.as_ref().is_none_or(|selector| selector.matches(snapshot.node(*node).labels))
        });
        let mut matching: Vec<NodeIx> = matching.collect();
        let size = size_of_wave(wave.up_to, matching.len());
        if size < matching.len() {
            // The turn matters at the limit alone: a selection costs less than a sort of all nodes.
            matching.select_nth_unstable_by(size, |a, b| {
                by_turn(nodes.at(*a), nodes.at(*b)).then_with(|| snapshot.index.by_name(*a, *b))
            });
        }
        let wave = WaveNodes::Matching { nodes: matching, size };
        for node in wave.inside() {
            // The waves come in their order, so that an earlier one has been here before: it stays the first.
            nodes.change(*node, |node| node.first_wave = node.first_wave.or(Some(index as u32)));
        }
        chosen.push(wave);
    }
    chosen
}

/// Nodes that have the new version come first: the canary stays the canary when a node with a lesser name joins.
fn by_turn(a: &RolloutNode, b: &RolloutNode) -> Ordering {
    b.facts.has_new_version.cmp(&a.facts.has_new_version)
}

/// The deliberate errors in this file.
mod planted {
    crate::planted::planted! {
        is_approved(right: bool): ApprovalIgnored => true;
        is_done(right: bool): WaveNotDone => true;
    }
}
