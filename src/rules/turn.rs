//! The turn of a node: the time from the intention to replace its pod until the new pod is available.
//!
//! The turn is kept on the Node itself, so that a crash, another leader and a person with kubectl see and end the same one.

use crate::input::Snapshot;
use crate::input::policy::{OnTimeout, RuleReads, TurnMode, TurnPolicy};
use crate::input::spec::Spec;
use crate::input::strategy::Strategy;
use crate::position::NodeIx;
use daemonset_objects::internal::rfc3339;
use daemonset_objects::kubernetes::well_known::{GATE_INFIX, PULL_OWNER_LABEL, TURN_PREFIX};
use daemonset_objects::model::Uid;
use daemonset_objects::{NodeView, PodView};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// A turn, as the annotation `turn.daemonset/<turn key>` of its node has it: `<number> <instant>[ cordoned]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn<'a> {
    /// The number of the revision and the instant at which it began. A gate is open when its annotation repeats this text.
    pub request: &'a str,
    pub at: Timestamp,
    /// The turn has set `spec.unschedulable`.
    pub cordoned: bool,
}

/// The word of a turn that has set `spec.unschedulable`.
pub(crate) const CORDONED: &str = " cordoned";

impl<'a> Turn<'a> {
    /// Anything that does not parse is no turn.
    pub(crate) fn parse(value: &'a str) -> Option<Self> {
        let (request, cordoned) = match value.strip_suffix(CORDONED) {
            Some(request) => (request, true),
            None => (value, false),
        };
        let (number, at) = request.split_once(' ')?;
        // Rust's own parser would take a `+`, too.
        let digits = number.strip_prefix('-').unwrap_or(number);
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        Some(Turn { request, at: rfc3339(at).filter(|_| is_number)?, cordoned })
    }
}

/// A node in turn.
#[derive(Debug, Clone, Copy)]
pub struct NodeTurn<'a> {
    pub node: NodeIx,
    /// The turn on the node; `None` while the snapshot does not show a patch that begins it.
    pub written: Option<Turn<'a>>,
    /// When the patch of the node expires that the snapshot does not show.
    pub in_flight_until: Option<Timestamp>,
    /// When the turn began.
    pub at: Timestamp,
}

/// A turn whose gates are not all open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct GatedTurn {
    /// When it began.
    pub since: Timestamp,
    /// When its gates are overdue; `None` if the policy has no timeout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overdue_at: Option<Timestamp>,
    /// The node is taken then, whatever its gates say.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub proceeds: bool,
}

impl GatedTurn {
    /// From when on the patience of a person counts: the beginning of the turn, or the end of the time that the policy gives its gates.
    /// `None` where time alone ends the wait.
    pub fn late_from(&self) -> Option<Timestamp> {
        (!self.proceeds).then(|| self.overdue_at.unwrap_or(self.since))
    }
}

/// The nodes in turn, in the order of the snapshot.
pub(crate) fn turns<'a>(snapshot: &'a Snapshot<'a>) -> Vec<NodeTurn<'a>> {
    let mut turns = Vec::new();
    let memory = snapshot.memory.as_ref().filter(|memory| !memory.turns.patches.is_empty());
    for (node, view) in crate::position::enumerate(&snapshot.nodes) {
        let patch = memory.and_then(|memory| memory.patched_until(view.name, snapshot));
        // Few nodes have such an annotation: the key is made for these alone.
        let written = if view.annotations.is_empty() { None } else { written_turn(snapshot, view) };
        let since = written.map(|turn| turn.at).or(patch.map(|(at, _)| at));
        turns.extend(since.map(|at| NodeTurn {
            node,
            written,
            in_flight_until: patch.map(|(_, until)| until),
            at,
        }));
    }
    turns
}

fn written_turn<'a>(snapshot: &Snapshot<'_>, view: &NodeView<'a>) -> Option<Turn<'a>> {
    let key = format!("{TURN_PREFIX}{}", snapshot.spec.turn_key());
    Turn::parse(view.annotations.get(&key)?)
}

/// The rules of turns; `None` where no turn begins.
pub fn rules<'p>(spec: &'p Spec<'_>) -> Option<&'p TurnPolicy> {
    match &spec.policy.turn {
        // Not under OnDelete, where a person updates the pods.
        Some(TurnMode::Take(turn)) if spec.strategy != Strategy::OnDelete => Some(turn),
        Some(TurnMode::Take(_) | TurnMode::Keep) | None => None,
    }
}

/// Whether nothing begins, ends, or is taken.
pub(crate) fn are_kept(snapshot: &Snapshot<'_>) -> bool {
    planted::are_kept(matches!(snapshot.spec.policy.turn, Some(TurnMode::Keep)))
}

/// Whether this controller updates pods one by one: not under OnDelete, where a person does.
pub(crate) fn updates(snapshot: &Snapshot<'_>) -> bool {
    snapshot.spec.strategy != Strategy::OnDelete
}

/// The gates that are not open on a node in turn, in the order of the policy.
pub(crate) fn closed_gates<'p>(
    snapshot: &Snapshot<'_>,
    turn: &NodeTurn<'_>,
    rules: &'p TurnPolicy,
) -> Vec<&'p String> {
    let (view, key) = (snapshot.node(turn.node), snapshot.spec.turn_key());
    let is_open = |gate: &String| {
        let answer = view.annotations.get(&format!("{gate}{GATE_INFIX}{key}"));
        // An answer to another turn opens nothing.
        planted::is_open(turn.written.is_some_and(|turn| answer == Some(turn.request)), answer.is_some())
    };
    rules.gates.iter().filter(|gate| !is_open(gate)).collect()
}

/// When closed gates of a turn are overdue.
pub(crate) fn overdue_at(turn: &NodeTurn<'_>, rules: &TurnPolicy) -> Option<Timestamp> {
    turn.at.checked_add(SignedDuration::from_secs(rules.timeout_seconds?.into())).ok()
}

/// When the gates of a turn will be overdue, if they are not yet.
pub fn next_overdue(snapshot: &Snapshot<'_>, turn: &NodeTurn<'_>) -> Option<Timestamp> {
    overdue_at(turn, rules(&snapshot.spec)?).filter(|at| snapshot.now < *at)
}

/// Whether a node whose gates are closed is taken all the same.
pub(crate) fn proceeds(turn: &NodeTurn<'_>, rules: &TurnPolicy, now: Timestamp) -> bool {
    rules.on_timeout == OnTimeout::Proceed && overdue_at(turn, rules).is_some_and(|at| at <= now)
}

/// The wait of a node whose gates are closed.
pub(crate) fn gated(turn: &NodeTurn<'_>, rules: &TurnPolicy) -> GatedTurn {
    let overdue_at = overdue_at(turn, rules);
    let proceeds = rules.on_timeout == OnTimeout::Proceed && overdue_at.is_some();
    GatedTurn { since: turn.at, overdue_at, proceeds }
}

/// Whether a decision about this snapshot may look at the whole of some objects: for turns, pulls, changes in place, fit, and names that
/// each node has one of.
pub(crate) fn needs_whole_objects(snapshot: &Snapshot<'_>) -> bool {
    let is_remembered = || snapshot.memory.as_ref().is_some_and(|memory| !memory.turns.is_empty());
    RuleReads::of(&snapshot.spec.policy).any()
        || is_remembered()
        || snapshot.nodes.iter().any(|node| has_turn(node, &snapshot.spec))
        || snapshot.pods.iter().any(|pod| is_of_turns(pod, &snapshot.spec.daemon_set.metadata.uid))
}

/// Whether a node has the annotation of a turn of the DaemonSet.
#[inline]
fn has_turn(node: &NodeView<'_>, spec: &Spec<'_>) -> bool {
    !node.annotations.is_empty()
        && node
            .annotations
            .iter()
            .any(|(key, _)| key.strip_prefix(TURN_PREFIX).is_some_and(|key| key == spec.turn_key()))
}

/// Whether a pod was changed in its place, or pulls images for the DaemonSet with this uid.
#[inline]
fn is_of_turns(pod: &PodView<'_>, uid: &Uid) -> bool {
    match pod.controller {
        Some(controller) => pod.in_place().is_some() && controller == uid.as_str(),
        None => pod.in_place().is_some() || pod.labels.get(PULL_OWNER_LABEL) == Some(uid.as_str()),
    }
}

/// The deliberate errors in this file.
mod planted {
    crate::planted::planted! {
        are_kept(right: bool): KeepIgnored => false;
        is_open(right: bool, is_answered: bool): GateIgnored => true, AnyAnswerOpens => is_answered;
    }
}
