//! The patches of nodes: turns that begin, end, or lose their cordon.

use crate::action::{Action, RequeueReason, TurnReason};
use crate::input::Snapshot;
use crate::node::fleet::Fleet;
use crate::node::sync::Means;
use crate::plan::steps::Steps;
use crate::position::NodeIx;
use crate::rules::turn;
use crate::rules::turn::{CORDONED, NodeTurn, Turn, turns};
use daemonset_objects::NodeView;
use daemonset_objects::kubernetes::well_known::{GATE_INFIX, TURN_PREFIX};
use daemonset_objects::model::ObjectRef;
use std::collections::BTreeMap;

/// Ends, then cordons that are lost, then begins, each by the name of the node. Ends make room before a begin counts on it.
pub(crate) fn patches(snapshot: &Snapshot<'_>, steps: &Steps<'_>, actions: &mut Vec<Action>) {
    let fleet = &steps.fleet;
    // Most plans: no policy asks for turns, and no node is in turn.
    let Some(rare) = &fleet.rare else { return };
    for turn in by_name(snapshot, rare.ended_turns.iter()) {
        actions.extend(turn.written.map(|written| end(snapshot, snapshot.node(turn.node), written)));
    }
    // It neither begins nor ends, and is due where the policy can't be read, too: a later cordon by a person must stay.
    for turn in by_name(snapshot, lost_cordons(fleet)) {
        let patch = |written| loses_cordon(snapshot, snapshot.node(turn.node), written);
        actions.extend(turn.written.map(patch));
    }
    let beginning = steps.burst.deletes.iter().filter(|taken| taken.means == Means::Turn);
    let mut nodes: Vec<NodeIx> = beginning.filter_map(|taken| fleet.node_of(taken.pod)).collect();
    nodes.sort_unstable_by(|a, b| snapshot.index.by_name(*a, *b));
    for node in nodes {
        actions.push(begin(snapshot, snapshot.node(node), steps.history.current().number));
    }
}

/// The nodes whose turn ends, or loses its cordon: they are patched whatever the update does.
pub fn patched_nodes(fleet: &Fleet<'_>) -> impl Iterator<Item = NodeIx> {
    let ended = fleet.rare.iter().flat_map(|rare| &rare.ended_turns);
    ended.chain(lost_cordons(fleet)).map(|turn| turn.node)
}

/// The turns whose cordon somebody has taken back.
fn lost_cordons<'f, 'a>(fleet: &'f Fleet<'a>) -> impl Iterator<Item = &'f NodeTurn<'a>> {
    fleet.turns().iter().filter(|turn| {
        let is_schedulable = !fleet.node_view(turn.node).unschedulable && turn.in_flight_until.is_none();
        turn.written.is_some_and(|written| planted::loses(is_schedulable && written.cordoned))
    })
}

/// The ends of all turns of a DaemonSet that is being deleted. One whose patch is in flight ends once that is shown or has expired.
pub(crate) fn ends_of_all(snapshot: &Snapshot<'_>) -> Vec<Action> {
    let mut in_turn = turns(snapshot);
    in_turn.retain(|turn| turn.written.is_some());
    let expiry = in_turn.iter().filter_map(|turn| turn.in_flight_until).min();
    in_turn.retain(|turn| turn.in_flight_until.is_none());
    let in_turn = by_name(snapshot, in_turn.iter()).into_iter();
    let ends = in_turn.filter_map(|turn| Some(end(snapshot, snapshot.node(turn.node), turn.written?)));
    ends.chain(expiry.map(|at| Action::Requeue { at, reason: RequeueReason::InFlightExpiry })).collect()
}

fn by_name<'t, 'a>(
    snapshot: &Snapshot<'_>,
    turns: impl Iterator<Item = &'t NodeTurn<'a>>,
) -> Vec<&'t NodeTurn<'a>>
where
    'a: 't,
{
    let mut turns: Vec<_> = turns.collect();
    turns.sort_unstable_by(|a, b| snapshot.index.by_name(a.node, b.node));
    turns
}

fn key(snapshot: &Snapshot<'_>) -> String {
    format!("{TURN_PREFIX}{}", snapshot.spec.turn_key())
}

fn begin(snapshot: &Snapshot<'_>, node: &NodeView<'_>, number: i64) -> Action {
    let cordons = turn::rules(&snapshot.spec).is_some_and(|rules| rules.cordon) && !node.unschedulable;
    let cordoned = if planted::has_cordoned(cordons) { CORDONED } else { "" };
    let annotations = BTreeMap::from([(key(snapshot), Some(format!("{number} {}{cordoned}", snapshot.now)))]);
    patch(node, cordons.then_some(true), annotations, TurnReason::TurnBegins)
}

fn loses_cordon(snapshot: &Snapshot<'_>, node: &NodeView<'_>, turn: Turn<'_>) -> Action {
    let annotations = BTreeMap::from([(key(snapshot), Some(turn.request.to_owned()))]);
    patch(node, None, annotations, TurnReason::TurnLosesCordon)
}

fn end(snapshot: &Snapshot<'_>, node: &NodeView<'_>, turn: Turn<'_>) -> Action {
    let own = snapshot.spec.turn_key();
    let is_own = |key: &str| key.strip_prefix(TURN_PREFIX) == Some(own);
    let is_gate = |key: &str| key.strip_suffix(own).is_some_and(|gate| gate.ends_with(GATE_INFIX));
    let removed = keys(node).filter(|key| is_own(key) || is_gate(key));
    let others = others(node, |key| !is_own(key));
    end_with(node, removed, turn.cordoned, &others)
}

pub(crate) fn keys<'a>(node: &NodeView<'a>) -> impl Iterator<Item = &'a str> + use<'a> {
    node.annotations.iter().map(|(key, _)| key)
}

/// The turns on a node with these keys, by key.
pub(crate) fn others<'a>(node: &NodeView<'a>, is_other: impl Fn(&str) -> bool) -> BTreeMap<&'a str, &'a str> {
    let turns = node.annotations.iter().filter(|(key, _)| key.starts_with(TURN_PREFIX) && is_other(key));
    turns.filter(|(_, value)| Turn::parse(value).is_some()).collect()
}

/// The end of turns of which one may have cordoned the node, beside turns of other DaemonSets.
pub(crate) fn end_with<'a>(
    node: &NodeView<'_>,
    removed: impl Iterator<Item = &'a str>,
    has_cordoned: bool,
    others: &BTreeMap<&str, &str>,
) -> Action {
    let mut annotations: BTreeMap<String, Option<String>> =
        removed.map(|key| (key.to_owned(), None)).collect();
    let is_cordoned = has_cordoned && node.unschedulable;
    // The node stays cordoned for the turn of another DaemonSet, which then takes the cordon back.
    let has_it = others.values().any(|value| value.ends_with(CORDONED));
    if let (Some((heir, value)), true, false) = (others.first_key_value(), is_cordoned, has_it) {
        annotations.insert((*heir).to_owned(), Some(format!("{value}{CORDONED}")));
    }
    let uncordons = planted::uncordons(is_cordoned && others.is_empty(), is_cordoned);
    patch(node, uncordons.then_some(false), annotations, TurnReason::TurnEnds)
}

fn patch(
    node: &NodeView<'_>,
    unschedulable: Option<bool>,
    annotations: BTreeMap<String, Option<String>>,
    reason: TurnReason,
) -> Action {
    let object = node.object.model();
    let node = ObjectRef {
        name: node.name.to_owned(),
        uid: object.metadata.uid.clone(),
        resource_version: object.metadata.resource_version.clone(),
        ..ObjectRef::default()
    };
    Action::PatchNode { node, unschedulable, annotations, reason }
}

/// The deliberate errors in this file.
mod planted {
    crate::planted::planted! {
        loses(right: bool): LostCordonKept => false;
        has_cordoned(right: bool): PersonsCordonTaken => true;
        uncordons(right: bool, is_cordoned: bool): CordonLeft => false, CordonNotHandedOver => is_cordoned;
    }
}
