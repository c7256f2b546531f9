//! The turns of nodes, read apart from the planner: the nodes in turn, and the gates that are open on them.

use crate::facts::memories;
use crate::facts::strategy::Strategy;
use daemonset::internal::{NodeIx, enumerate, rfc3339};
use daemonset::policy::{OnTimeout, TurnMode, TurnPolicy};
use daemonset::{Action, NodeView, Snapshot, TurnReason};
use jiff::{SignedDuration, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

/// The annotations of all turns begin so.
pub(crate) const PREFIX: &str = "turn.daemonset/";

/// The word of a turn that has cordoned its node.
pub(crate) const CORDONED: &str = " cordoned";

/// The nodes in turn.
pub(crate) struct Turns<'s> {
    turns: BTreeMap<NodeIx, Turn<'s>>,
    /// The nodes whose turn the list ends.
    ended: BTreeSet<NodeIx>,
}

/// A turn of the DaemonSet.
pub(crate) struct Turn<'s> {
    pub(crate) at: Timestamp,
    /// `None` while the snapshot does not show it.
    pub(crate) written: Option<Written<'s>>,
    /// A patch of the node was accepted that the snapshot does not show.
    pub(crate) is_in_flight: bool,
}

/// The annotation `<number> <instant>[ cordoned]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Written<'s> {
    /// Without the word.
    pub(crate) request: &'s str,
    pub(crate) number: i64,
    pub(crate) at: Timestamp,
    pub(crate) is_cordoned: bool,
}

impl<'s> Written<'s> {
    pub(crate) fn read(value: &'s str) -> Option<Self> {
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
    pub(crate) fn on(snapshot: &Snapshot<'_>, node: &NodeView<'s>) -> Option<Self> {
        // Most nodes have no such annotation.
        node.annotations.iter().find(|(key, _)| key.starts_with(PREFIX))?;
        Written::read(node.annotations.get(&own_key(snapshot))?)
    }
}

/// The key of the annotation of the DaemonSet's turns.
pub(crate) fn own_key(snapshot: &Snapshot<'_>) -> String {
    format!("{PREFIX}{}", snapshot.spec().turn_key())
}

/// The rules by which nodes take their turns, if the policy has them in force.
pub(crate) fn rules<'s>(snapshot: &'s Snapshot<'_>) -> Option<&'s TurnPolicy> {
    match &snapshot.spec().policy.turn {
        Some(TurnMode::Take(rules)) if Strategy::in_force(snapshot) != Strategy::OnDelete => Some(rules),
        _ => None,
    }
}

/// Nothing begins, ends or is taken.
pub(crate) fn are_kept(snapshot: &Snapshot<'_>) -> bool {
    snapshot.spec().policy.turn == Some(TurnMode::Keep)
}

impl<'s> Turns<'s> {
    pub(crate) fn new(snapshot: &'s Snapshot<'s>, actions: &[Action]) -> Self {
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
    pub(crate) fn of(&self, node: NodeIx) -> Option<&Turn<'s>> {
        self.turns.get(&node).filter(|_| !self.ended.contains(&node))
    }

    /// The turn of a node before the list.
    pub(crate) fn before(&self, node: NodeIx) -> Option<&Turn<'s>> {
        self.turns.get(&node)
    }

    /// The nodes in turn, but for those whose turn the list ends.
    pub(crate) fn in_turn(&self) -> impl Iterator<Item = (NodeIx, &Turn<'s>)> {
        self.turns.iter().filter(|(node, _)| !self.ended.contains(node)).map(|(node, turn)| (*node, turn))
    }

    /// The gates that are not open on a node in turn.
    pub(crate) fn closed_gates(&self, snapshot: &Snapshot<'_>, node: NodeIx) -> Vec<String> {
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
    pub(crate) fn proceeds(&self, snapshot: &Snapshot<'_>, node: NodeIx) -> bool {
        let (Some(rules), Some(turn)) = (rules(snapshot), self.of(node)) else { return false };
        let seconds = rules.timeout_seconds.filter(|_| rules.on_timeout == OnTimeout::Proceed);
        let overdue =
            seconds.and_then(|seconds| turn.at.checked_add(SignedDuration::from_secs(seconds.into())).ok());
        overdue.is_some_and(|at| at <= snapshot.now())
    }
}
