//! The rules of turns: which patches of nodes are right, and whose pod goes.

use crate::facts::in_place;
use crate::facts::named::Subject;
use crate::facts::stage::PodStage;
use crate::facts::strategy::Strategy;
use crate::facts::turns::{CORDONED, PREFIX, Written, are_kept, own_key, rules};
use crate::fleet::Fleet;
use crate::fleet::context::Context;
use crate::kind::{BudgetFigure, ViolationKind};
use crate::rules::changes;
use crate::rules::creates::leaves;
use crate::rules::limits;
use crate::rules::opt_in;
use crate::violation::Findings;
use daemonset::internal::{NodeIx, Placement, TaintView, tolerated};
use daemonset::model::ObjectRef;
use daemonset::{Action, NodeView, Snapshot, TurnReason};
use std::collections::{BTreeMap, BTreeSet};

/// The candidates in turn for whose pods there is no room: their places in the order of turns are beyond the limit.
pub(crate) struct Rooms {
    limit: u32,
    without: BTreeSet<NodeIx>,
}

/// A node in turn that is not excused, in the order of turns.
pub(crate) struct Ranked {
    node: NodeIx,
    has_ready: bool,
}

/// The order of turns, by the pods before the list's deletes.
pub(crate) fn ranked(context: &Context<'_>, fleet: &Fleet) -> Vec<Ranked> {
    let turns = context.turns.in_turn().filter(|(node, _)| !fleet.nodes.at(*node).is_excused());
    let mut turns: Vec<_> = turns.map(|(node, turn)| (node, turn.at)).collect();
    let name = |node: NodeIx| context.snapshot.node(node).name;
    turns.sort_by_key(|(node, at)| (fleet.nodes.at(*node).has_available(), *at, name(*node)));
    turns.into_iter().map(|(node, _)| Ranked { node, has_ready: fleet.nodes.at(node).has_ready() }).collect()
}

impl Rooms {
    /// The other nodes count by the pods after the list's deletes, of which node sync's are no update.
    pub(crate) fn new(context: &Context<'_>, fleet: &Fleet, ranked: Vec<Ranked>) -> Self {
        let Strategy::Replace(limit) = Strategy::in_force(context.snapshot) else {
            return Rooms { limit: 0, without: BTreeSet::new() };
        };
        let limit = limits::nodes(limit, fleet.desired).max(1);
        let others =
            fleet.nodes.iter().filter(|node| !node.in_turn && (node.is_unavailable() || node.is_lost()));
        // The snapshot has all nodes in turn.
        let others = if ranked.is_empty() { 0 } else { others.count() as u32 + fleet.others.sums.down() };
        let beyond = (others..).zip(ranked).filter(|(before, turn)| *before >= limit && turn.has_ready);
        Rooms { limit, without: beyond.map(|(_, turn)| turn.node).collect() }
    }
}

/// Why the outdated pod of a target node stays, though it may be replaced and a limit has room.
pub(crate) fn stays(context: &Context<'_>, node: NodeIx) -> Option<ViolationKind> {
    if are_kept(context.snapshot) {
        return Some(ViolationKind::TurnsKept);
    }
    rules(context.snapshot)?;
    match context.turns.of(node) {
        Some(turn) if !turn.is_in_flight => {
            let gates = context.turns.closed_gates(context.snapshot, node);
            let waits = !gates.is_empty() && !context.turns.proceeds(context.snapshot, node);
            waits.then_some(ViolationKind::GateClosed { gates })
        }
        Some(_) | None => Some(ViolationKind::NotInTurn),
    }
}

/// Checks all patches of nodes, and the limits that nodes in turn have of their own.
pub(crate) fn check(context: &Context<'_>, fleet: &Fleet, rooms: &Rooms, findings: &mut Findings<'_>) {
    for (index, action, subject) in context.actions() {
        if let (Action::PatchNode { .. }, Subject::Node(node)) = (action, subject) {
            if let Some(kind) = wrong_patch(context, fleet, node, action) {
                findings.add(index, kind);
            }
        }
    }
    for delete in &context.deletes {
        let (Some(node), PodStage::Live(rank)) = (delete.facts.node, delete.stage) else { continue };
        // Elsewhere it is node sync that deletes.
        let is_target = context.goals.placement(node) == Placement::Run;
        let is_last = is_target && rank.is_outdated() && !fleet.nodes.at(node).has_live();
        if is_last && rank.is_ready() && rooms.without.contains(&node) {
            let (before, limit) = (fleet.unavailable, rooms.limit);
            let figure = BudgetFigure::Unavailable;
            findings.add(
                delete.action,
                ViolationKind::BudgetExceeded { figure, before, after: before + 1, limit, lost: 0 },
            );
        }
    }
    check_limit(context, fleet, rooms, findings);
}

/// At most as many nodes are in turn as may be unavailable; the excused ones have a limit of their own.
fn check_limit(context: &Context<'_>, fleet: &Fleet, rooms: &Rooms, findings: &mut Findings<'_>) {
    let takes_a_place =
        |node: NodeIx| !context.snapshot.node(node).unreachable && !rooms.without.contains(&node);
    let mut in_turn = [0, 0];
    let is_excused = |node: NodeIx| usize::from(fleet.nodes.at(node).is_excused());
    for (node, _) in context.turns.in_turn().filter(|(node, _)| takes_a_place(*node)) {
        if let Some(count) = in_turn.get_mut(is_excused(node)) {
            *count += 1;
        }
    }
    for (index, action, subject) in context.actions() {
        let (Action::PatchNode { reason: TurnReason::TurnBegins, .. }, Subject::Node(node)) =
            (action, subject)
        else {
            continue;
        };
        let Some(after) = in_turn.get_mut(is_excused(node)) else { continue };
        *after += 1;
        if *after > rooms.limit {
            findings.add(index, ViolationKind::TurnLimitExceeded { after: *after, limit: rooms.limit });
        }
    }
}

fn wrong_patch(context: &Context<'_>, fleet: &Fleet, node: NodeIx, action: &Action) -> Option<ViolationKind> {
    let Action::PatchNode { node: named, reason, .. } = action else { return None };
    let view = context.snapshot.node(node);
    if !is_it(view, named) {
        return Some(ViolationKind::UnknownObject);
    }
    let is_due = match reason {
        TurnReason::TurnBegins if context.lineage.is_awaited(context.snapshot) => {
            return Some(ViolationKind::RevisionAwaited);
        }
        TurnReason::TurnBegins => begins(context, fleet, node),
        TurnReason::TurnEnds => ends(context, fleet, node),
        TurnReason::TurnLosesCordon => context.turns.of(node).is_some_and(|turn| {
            let is_cordoned = turn.written.is_some_and(|written| written.is_cordoned);
            is_cordoned && !turn.is_in_flight && !view.unschedulable
        }),
        _ => false,
    };
    if !is_due {
        return Some(ViolationKind::TurnNotDue { reason: *reason });
    }
    let waits = if *reason == TurnReason::TurnBegins { waits(context, fleet, node) } else { None };
    waits.or_else(|| wrong_form(context.snapshot, view, action))
}

/// Uid and resource version are preconditions.
fn is_it(view: &NodeView<'_>, named: &ObjectRef) -> bool {
    let object = view.object.model();
    object.metadata.uid == named.uid && object.metadata.resource_version == named.resource_version
}

/// The one live pod of the node is outdated, and nothing but its turn keeps it from being replaced.
fn begins(context: &Context<'_>, fleet: &Fleet, node: NodeIx) -> bool {
    let (view, counts) = (context.snapshot.node(node), fleet.nodes.at(node));
    let is_held =
        context.goals.is_held(node) && !context.goals.may_come_back_as_stable(node, counts.has_ready());
    rules(context.snapshot).is_some()
        && context.turns.of(node).is_none()
        && !view.unreachable
        && leaves(context.snapshot, view).is_none()
        && context.goals.placement(node) == Placement::Run
        && counts.staying(|_| true) == 1
        && counts.staying(|rank| rank.is_outdated()) == 1
        && !is_held
}

/// The turn of a node with a Ready pod waits as the pod does.
fn waits(context: &Context<'_>, fleet: &Fleet, node: NodeIx) -> Option<ViolationKind> {
    if !fleet.nodes.at(node).has_ready() {
        return None;
    }
    let asks_for_room = || {
        let is_emptied =
            rules(context.snapshot).is_some_and(|rules| rules.gates.iter().any(|gate| gate == "drained"));
        !is_emptied && !changes::is_possible_on(context, node)
    };
    opt_in::waits(context, node, asks_for_room)
}

/// Nothing is left to do on the node, it is no node of the DaemonSet, or nobody has turns any more.
fn ends(context: &Context<'_>, fleet: &Fleet, node: NodeIx) -> bool {
    let Some(turn) = context.turns.before(node).filter(|turn| turn.written.is_some() && !turn.is_in_flight)
    else {
        return false;
    };
    if are_kept(context.snapshot) {
        return false;
    }
    if rules(context.snapshot).is_none() || is_no_longer_ours(context, node) {
        return true;
    }
    let now = context.snapshot.now();
    let pods = context.own_pods().filter(|(_, _, facts)| facts.node == Some(node));
    // Each with whether it is older than the turn, and whether it works as it should.
    let pods = pods.filter_map(|(_, pod, facts)| {
        let is_older = in_place::birth(pod, now).is_some_and(|birth| birth < turn.at);
        match context.stage(pod, facts) {
            PodStage::Live(rank) => {
                let is_kept = !rank.is_outdated()
                    || (context.goals.is_held(node)
                        && !context.goals.may_come_back_as_stable(node, rank.is_ready()));
                Some((is_older, is_kept && (is_older || rank.is_available())))
            }
            PodStage::Terminating => Some((false, false)),
            PodStage::Failed | PodStage::Succeeded | PodStage::Gone => None,
        }
    });
    let pods: Vec<_> = pods.collect();
    let is_done = matches!(pods.as_slice(), [(_, true)]);
    let is_untouched = !pods.is_empty() && pods.iter().all(|(is_older, _)| *is_older);
    !fleet.nodes.at(node).unseen && (is_done || (is_untouched && context.snapshot.node(node).unreachable))
}

fn is_no_longer_ours(context: &Context<'_>, node: NodeIx) -> bool {
    let view = context.snapshot.node(node);
    let is_other = |taint: TaintView<'_>| {
        let is_down = matches!(taint.key, "node.kubernetes.io/not-ready" | "node.kubernetes.io/unreachable");
        taint.effect == "NoSchedule" && !is_down && !tolerated(taint, context.goals.tolerations(node))
    };
    leaves(context.snapshot, view).is_some()
        || match context.goals.placement(node) {
            Placement::Run => false,
            Placement::ContinueOnly(_) => view.taints.iter().any(is_other),
            Placement::Exclude(_) => true,
        }
}

/// The first wrong part of a patch, by its reason.
pub(crate) fn wrong_form(
    snapshot: &Snapshot<'_>,
    view: &NodeView<'_>,
    action: &Action,
) -> Option<ViolationKind> {
    let Action::PatchNode { unschedulable, annotations, reason, .. } = action else { return None };
    let (expected_cordon, is_right) = match reason {
        TurnReason::TurnBegins => {
            let cordons = rules(snapshot).is_some_and(|rules| rules.cordon) && !view.unschedulable;
            let value = annotations.get(&own_key(snapshot)).and_then(Option::as_deref);
            let written = value.and_then(Written::read);
            let is_right =
                written.is_some_and(|turn| turn.at == snapshot.now() && turn.is_cordoned == cordons);
            (cordons.then_some(true), is_right && annotations.len() == 1)
        }
        TurnReason::TurnLosesCordon => {
            let request = Written::on(snapshot, view).map(|turn| turn.request.to_owned());
            (None, *annotations == BTreeMap::from([(own_key(snapshot), request)]))
        }
        TurnReason::TurnEnds => {
            let (cordon, expected) = end(snapshot, view);
            (cordon, *annotations == expected)
        }
        _ => (None, false),
    };
    if *unschedulable != expected_cordon {
        Some(ViolationKind::WrongPatch { field: "spec.unschedulable" })
    } else {
        (!is_right).then_some(ViolationKind::WrongPatch { field: "metadata.annotations" })
    }
}

/// The parts of a patch that ends the turn: it leaves no trace but a cordon that another turn takes over.
fn end(snapshot: &Snapshot<'_>, view: &NodeView<'_>) -> (Option<bool>, BTreeMap<String, Option<String>>) {
    let (own, gate) = (own_key(snapshot), format!(".gate.daemonset/{}", snapshot.spec().turn_key()));
    let all: BTreeMap<&str, &str> = view.annotations.iter().collect();
    let is_own = |key: &str| key == own || key.ends_with(&gate);
    let mut annotations: BTreeMap<String, Option<String>> =
        all.keys().filter(|key| is_own(key)).map(|key| ((*key).to_owned(), None)).collect();
    let has_cordoned = Written::on(snapshot, view).is_some_and(|turn| turn.is_cordoned) && view.unschedulable;
    if !has_cordoned {
        return (None, annotations);
    }
    let others = all.iter().filter(|(key, _)| key.starts_with(PREFIX) && **key != own);
    let others: Vec<_> =
        others.filter_map(|(key, value)| Some((*key, *value, Written::read(value)?))).collect();
    let Some((heir, value, _)) = others.first() else { return (Some(false), annotations) };
    if !others.iter().any(|(_, _, turn)| turn.is_cordoned) {
        annotations.insert((*heir).to_owned(), Some(format!("{value}{CORDONED}")));
    }
    (None, annotations)
}
