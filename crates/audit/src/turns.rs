//! The turns of nodes, read apart from the planner: the nodes in turn, and the gates that are open on them.

use super::memories;
use daemonset::internal::{NodeIx, Strategy, enumerate, rfc3339};
use daemonset::policy::{OnTimeout, TurnMode, TurnPolicy};
use daemonset::{Action, NodeView, Snapshot, TurnReason};
use jiff::{SignedDuration, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

/// The annotations of all turns begin so.
pub(super) const PREFIX: &str = "turn.daemonset/";

/// The word of a turn that has cordoned its node.
pub(super) const CORDONED: &str = " cordoned";

/// The nodes in turn.
pub(super) struct Turns<'s> {
    turns: BTreeMap<NodeIx, Turn<'s>>,
    /// The nodes whose turn the list ends.
    ended: BTreeSet<NodeIx>,
}

/// A turn of the DaemonSet.
pub(super) struct Turn<'s> {
    pub(super) at: Timestamp,
    /// `None` while the snapshot does not show it.
    pub(super) written: Option<Written<'s>>,
    /// A patch of the node was accepted that the snapshot does not show.
    pub(super) is_in_flight: bool,
}

/// The annotation `<number> <instant>[ cordoned]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Written<'s> {
    /// Without the word.
    pub(super) request: &'s str,
    pub(super) number: i64,
    pub(super) at: Timestamp,
    pub(super) is_cordoned: bool,
}

impl<'s> Written<'s> {
    pub(super) fn read(value: &'s str) -> Option<Self> {
        let (request, is_cordoned) = match value.strip_suffix(CORDONED) {
            Some(request) => (request, true),
            None => (value, false),
        };
        let (number, at) = request.split_once(' ')?;
        let digits = number.strip_prefix('-').unwrap_or(number);
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        // A number beyond all that revisions have tells nothing, and is one.
        let number = is_number.then(|| number.parse().unwrap_or(i64::MAX))?;
        Some(Written { request, number, at: rfc3339(at)?, is_cordoned })
    }

    /// The turn of the DaemonSet on a node.
    pub(super) fn on(snapshot: &Snapshot<'_>, node: &NodeView<'s>) -> Option<Self> {
        // Most nodes have no such annotation.
        node.annotations.iter().find(|(key, _)| key.starts_with(PREFIX))?;
        Written::read(node.annotations.get(&own_key(snapshot))?)
    }
}

/// The key of the annotation of the DaemonSet's turns.
pub(super) fn own_key(snapshot: &Snapshot<'_>) -> String {
    format!("{PREFIX}{}", snapshot.spec().turn_key())
}

/// The rules by which nodes take their turns, if the policy has them in force.
pub(super) fn rules<'s>(snapshot: &'s Snapshot<'_>) -> Option<&'s TurnPolicy> {
    match &snapshot.spec().policy.turn {
        Some(TurnMode::Take(rules)) if snapshot.spec().strategy != Strategy::OnDelete => Some(rules),
        _ => None,
    }
}

/// Nothing begins, ends or is taken.
pub(super) fn are_kept(snapshot: &Snapshot<'_>) -> bool {
    snapshot.spec().policy.turn == Some(TurnMode::Keep)
}

impl<'s> Turns<'s> {
    pub(super) fn new(snapshot: &'s Snapshot<'s>, actions: &[Action]) -> Self {
        let mut turns = BTreeMap::new();
        for (node, view) in enumerate(snapshot.nodes()) {
            let patched_at = memories::patch_in_flight(snapshot, view.name);
            let written = Written::on(snapshot, view);
            if let Some(at) = written.map(|written| written.at).or(patched_at) {
                turns.insert(node, Turn { at, written, is_in_flight: patched_at.is_some() });
            }
        }
        let ends = actions.iter().filter_map(|action| match action {
            Action::PatchNode { node, reason: TurnReason::TurnEnds, .. } => snapshot.index().node(&node.name),
            _ => None,
        });
        Turns { ended: ends.collect(), turns }
    }

    /// The turn of a node, if the list does not end it.
    pub(super) fn of(&self, node: NodeIx) -> Option<&Turn<'s>> {
        self.turns.get(&node).filter(|_| !self.ended.contains(&node))
    }

    /// The turn of a node before the list.
    pub(super) fn before(&self, node: NodeIx) -> Option<&Turn<'s>> {
        self.turns.get(&node)
    }

    /// The nodes in turn, but for those whose turn the list ends.
    pub(super) fn in_turn(&self) -> impl Iterator<Item = (NodeIx, &Turn<'s>)> {
        self.turns.iter().filter(|(node, _)| !self.ended.contains(node)).map(|(node, turn)| (*node, turn))
    }

    /// The gates that are not open on a node in turn.
    pub(super) fn closed_gates(&self, snapshot: &Snapshot<'_>, node: NodeIx) -> Vec<String> {
        let (Some(rules), Some(turn)) = (rules(snapshot), self.of(node)) else { return Vec::new() };
        let annotations = snapshot.node(node).annotations;
        let request = turn.written.map(|written| written.request);
        let is_open = |gate: &&String| {
            let answer = annotations.get(&format!("{gate}.gate.daemonset/{}", snapshot.spec().turn_key()));
            answer.is_some() && answer == request
        };
        rules.gates.iter().filter(|gate| !is_open(gate)).cloned().collect()
    }

    /// Whether the pod of a node in turn goes though gates are closed.
    pub(super) fn proceeds(&self, snapshot: &Snapshot<'_>, node: NodeIx) -> bool {
        let (Some(rules), Some(turn)) = (rules(snapshot), self.of(node)) else { return false };
        let seconds = rules.timeout_seconds.filter(|_| rules.on_timeout == OnTimeout::Proceed);
        let overdue =
            seconds.and_then(|seconds| turn.at.checked_add(SignedDuration::from_secs(seconds.into())).ok());
        overdue.is_some_and(|at| at <= snapshot.now())
    }
}
