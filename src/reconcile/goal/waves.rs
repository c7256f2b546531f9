//! Waves: which nodes they have, which are open, and when the next one opens.

use super::Input;
use crate::kubernetes::Selector;
#[cfg(daemonset_mutants)]
use crate::mutants::{Mutant, is_active};
use crate::problem::Problems;
use crate::snapshot::Wave;
use crate::snapshot::position::{IndexVec, NodeIx, Position};
use jiff::{SignedDuration, Timestamp};

/// The waves of a rollout.
#[derive(Debug)]
pub(crate) struct Waves {
    /// Empty where all nodes are released at once.
    pub(crate) list: Vec<WaveState>,
    /// The last open one. All before it are open.
    pub(crate) last_open: Option<usize>,
    /// Whether each node is in an open wave; empty without waves.
    released: IndexVec<NodeIx, bool>,
    /// Without waves everything is released, unless the rollout is stopped.
    releases_all: bool,
    /// When the next wave opens, if time is all that it waits for.
    pub(crate) opens_at: Option<Timestamp>,
    /// When the last open wave is done, if time is all that it waits for: the next one opens then, or waits for approval.
    pub(crate) done_at: Option<Timestamp>,
}

/// A wave, with its nodes.
#[derive(Debug)]
pub(crate) struct WaveState {
    /// Those that have it first, then by name. A node may belong to several waves.
    pub(crate) nodes: Vec<NodeIx>,
    pub(crate) is_open: bool,
    /// Enough waves are approved.
    pub(crate) is_approved: bool,
    /// Its pods, and those of the waves before it, are available for long enough; only known for open waves.
    pub(crate) done: Done,
}

/// Whether a wave is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Done {
    /// Not yet, and time alone does not do it.
    No,
    /// From this instant on, if nothing changes.
    At(Timestamp),
    Yes,
}

impl Waves {
    /// `may_open` is false where the rollout is stopped: then only waves that were open before are.
    pub(super) fn new(input: &Input<'_, '_>, may_open: bool) -> Self {
        let policy = input.policy;
        let nodes = input.fleet.nodes.len();
        let mut waves = Waves {
            list: policy.waves.iter().map(|wave| WaveState::new(input, wave)).collect(),
            last_open: None,
            released: Vec::new().into(),
            releases_all: policy.waves.is_empty() && may_open,
            opens_at: None,
            done_at: None,
        };
        if waves.list.is_empty() {
            return waves;
        }
        waves.released = IndexVec::repeat(false, nodes);
        let approved = policy.approved.get(&input.number).copied().unwrap_or(0) as usize;
        let mut union: Vec<NodeIx> = Vec::new();
        let mut before = Done::Yes;
        let mut goes_on = true;
        for (index, (state, wave)) in waves.list.iter_mut().zip(&policy.waves).enumerate() {
            state.is_approved = !wave.needs_approval || approved > index;
            #[cfg(daemonset_mutants)]
            {
                state.is_approved |= is_active(Mutant::ApprovalIgnored);
                before = if is_active(Mutant::WaveNotDone) { Done::Yes } else { before };
            }
            let was_open = input.marks.wave.is_some_and(|mark| index <= mark.index);
            let opens = may_open && before == Done::Yes && state.is_approved;
            if !(goes_on && (was_open || opens)) {
                if let (true, Done::At(at)) = (goes_on && may_open && state.is_approved, before) {
                    waves.opens_at = Some(at);
                }
                goes_on = false;
                continue;
            }
            state.is_open = true;
            waves.last_open = Some(index);
            for node in &state.nodes {
                let is_new = waves.released.change(*node, |released| !std::mem::replace(released, true));
                union.extend(is_new.filter(|is_new| *is_new).map(|_| *node));
            }
            state.done = done(input, &union, wave);
            before = state.done;
            waves.done_at = match before {
                Done::At(at) => Some(at),
                Done::No | Done::Yes => None,
            };
        }
        waves
    }

    /// Whether an open wave has the node, or there are none.
    pub(crate) fn releases(&self, node: NodeIx) -> bool {
        self.releases_all || (node.index() < self.released.len() && *self.released.at(node))
    }

    pub(crate) fn all_open(&self) -> bool {
        self.list.iter().all(|wave| wave.is_open)
    }
}

impl WaveState {
    /// The nodes that match, in their order, up to the limit.
    fn new(input: &Input<'_, '_>, wave: &Wave) -> Self {
        // The snapshot's check has reported the problems.
        let mut checked = Problems::default();
        let selector =
            wave.nodes.as_ref().map(|nodes| Selector::compile(nodes, "policy.rollout", &mut checked));
        let matches = |node: &&NodeIx| {
            let labels = input.fleet.node_view(**node).labels;
            selector.as_ref().is_none_or(|selector| selector.matches(labels))
        };
        let mut nodes: Vec<NodeIx> = input.participants.iter().filter(matches).copied().collect();
        if let Some(up_to) = wave.up_to {
            nodes.truncate(up_to.scaled(nodes.len() as u32) as usize);
        }
        WaveState { nodes, is_open: false, is_approved: true, done: Done::No }
    }
}

/// Whether each node of the open waves has an updated pod that is Ready for as long as this wave bakes.
fn done(input: &Input<'_, '_>, nodes: &[NodeIx], wave: &Wave) -> Done {
    let snapshot = input.fleet.snapshot;
    let duration = snapshot.spec.min_ready().max(SignedDuration::from_secs(wave.bake_seconds.into()));
    let mut last = snapshot.now;
    for facts in input.that_must_not_lag(nodes) {
        match facts.done_at(duration, snapshot.now) {
            Some(at) => last = last.max(at),
            None => return Done::No,
        }
    }
    if last <= snapshot.now { Done::Yes } else { Done::At(last) }
}
