//! Candidates that wait for something else than the budget, and the rooms of turns.
//!
//! A choice leaves out the candidates that wait, and their places go to the next ones. A node in turn has its place in the budget
//! already: nobody asks for room again.

use crate::choose::limits::Budget;
use crate::input::placement::Placement;
use crate::input::policy::FitPolicy;
use crate::node::candidate::eligible;
use crate::node::figures::{Counts, Figure};
use crate::node::fleet::{Fleet, FleetPod};
use crate::node::pull::{Images, PullPod};
use crate::node::sync::NodeSync;
use crate::node::turn::NodeTurn;
use crate::node::wait::Wait;
use crate::node::{change, fit, pull, turn};
use crate::pods::history::History;
use crate::position::{self, NodeIx, Position};
use daemonset_objects::model::Pod;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The nodes of a plan for which more than the budget matters.
#[derive(Debug, Default)]
pub struct Waits {
    /// `None` for most plans, in which the budget alone matters.
    found: Option<Box<Found>>,
}

#[derive(Debug, Default)]
pub struct Found {
    /// Of all nodes: the report asks about each.
    of_nodes: Vec<Option<Wait>>,
    /// Nodes with closed gates that are overdue.
    pub overdue: BTreeMap<NodeIx, Vec<String>>,
    /// When the next ones are overdue, or their pull is waited for no longer.
    pub next_overdue: Option<Timestamp>,
    pub next_pull_end: Option<Timestamp>,
    /// When the next pull or change in place may be tried again that was refused.
    pub next_retry: Option<Timestamp>,
    /// Candidates that lack images.
    pub not_pulled: BTreeSet<NodeIx>,
    rooms: Option<TurnRooms>,
}

/// How many more turns may begin. Dead nodes must not use up the room of the others: each kind has its own.
#[derive(Debug, Clone, Copy)]
struct TurnRooms {
    counted: u32,
    excused: u32,
}

/// How the update takes a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Passage {
    /// It needs room in the budget.
    WithinBudget,
    /// It is in turn, and has its room.
    InTurn,
    /// It waits.
    Waits,
}

impl Waits {
    /// Of a plan without turns, pulls and fit nobody waits, and nothing is looked at.
    pub(crate) fn new(
        fleet: &Fleet<'_>,
        history: &History<'_>,
        node_sync: &NodeSync,
        counts: &mut Counts,
    ) -> Self {
        let Some(rare) = &fleet.rare else { return Waits::default() };
        let policy = &fleet.snapshot.spec.policy;
        let asks =
            policy.turn.is_some() || pull::rules(fleet.snapshot).is_some() || policy.fit == FitPolicy::Hold;
        // Where a person deletes the pods, nothing is a candidate.
        if !turn::updates(fleet.snapshot) || (!asks && rare.turns.is_empty()) {
            return Waits::default();
        }
        let mut found = Found { of_nodes: vec![None; fleet.nodes.len()], ..Found::default() };
        let limit = Budget::new(&counts.sums, fleet.snapshot.spec.strategy).max_unavailable;
        let without_room = without_room(fleet, node_sync, counts, limit);
        let asker = Asker { fleet, history, without_room: &without_room, goals: Goals::new(fleet, history) };
        for node in counts.with(Figure::Candidate) {
            if let Some((_, pod)) = eligible(fleet, node_sync, node) {
                let wait = asker.wait(&mut found, node, pod);
                position::change(&mut found.of_nodes, node, |place| *place = wait);
            }
        }
        if turn::rules(fleet.snapshot).is_some() {
            found.rooms =
                Some(TurnRooms::new(fleet, counts, limit, |turn| without_room.contains(&turn.node)));
        }
        // A node in turn that has room is about to be replaced. The choice reads these sums, which so must have it before.
        for turn in &rare.turns {
            let is_counted =
                fleet.placement(turn.node) == Placement::Run && !counts.has(turn.node, Figure::Excused);
            if is_counted && !without_room.contains(&turn.node) {
                counts.add(turn.node, Figure::BeingReplaced);
            }
        }
        Waits { found: Some(Box::new(found)) }
    }

    /// The facts about these nodes; `None` where the budget alone matters.
    pub fn found(&self) -> Option<&Found> {
        self.found.as_deref()
    }

    /// The thing that a candidate waits for.
    pub fn of(&self, node: NodeIx) -> Option<&Wait> {
        self.found()?.of_nodes.get(node.index())?.as_ref()
    }

    /// How many of the nodes that wait for something else than the budget count in a figure.
    pub(crate) fn count_with(&self, counts: &Counts, figure: Figure) -> u32 {
        let nodes = self.found().into_iter().flat_map(|found| position::enumerate(&found.of_nodes));
        nodes.filter(|(node, wait)| wait.is_some() && counts.has(*node, figure)).count() as u32
    }

    /// How the update comes to the pod of a candidate.
    pub(crate) fn passage(&self, fleet: &Fleet<'_>, node: NodeIx) -> Passage {
        let Some(found) = self.found() else { return Passage::WithinBudget };
        if self.of(node).is_some() {
            Passage::Waits
        } else if found.rooms.is_some() && fleet.turn(node).is_some() {
            Passage::InTurn
        } else {
            Passage::WithinBudget
        }
    }

    /// Whether the policy asks for turns: each candidate that is not in turn needs a place among them.
    pub(crate) fn limits_turns(&self) -> bool {
        self.found().is_some_and(|found| found.rooms.is_some())
    }

    /// Whether a candidate that is not in turn has a place among them.
    pub(crate) fn may_begin(&self, is_excused: bool) -> bool {
        let rooms = self.found().and_then(|found| found.rooms);
        rooms.is_none_or(|mut rooms| *rooms.of(is_excused) > 0)
    }

    /// Takes a place among the turns. Returns whether there was one.
    pub(crate) fn take_place(&mut self, is_excused: bool) -> bool {
        let has_room = self.may_begin(is_excused);
        if let Some(rooms) = self.found.as_mut().and_then(|found| found.rooms.as_mut()) {
            let room = rooms.of(is_excused);
            *room = room.saturating_sub(1);
        }
        has_room
    }
}

impl TurnRooms {
    fn of(&mut self, is_excused: bool) -> &mut u32 {
        if is_excused { &mut self.excused } else { &mut self.counted }
    }

    /// M places of each kind, less the nodes in turn. A dead node and one that can't go on take none.
    fn new(
        fleet: &Fleet<'_>,
        counts: &Counts,
        limit: u32,
        takes_none: impl Fn(&NodeTurn<'_>) -> bool,
    ) -> Self {
        let limit = planted::limit(limit);
        let mut rooms = TurnRooms { counted: limit, excused: limit };
        for turn in fleet.turns() {
            if takes_none(turn) || fleet.node_view(turn.node).unreachable {
                continue;
            }
            let room = rooms.of(counts.has(turn.node, Figure::Excused));
            *room = room.saturating_sub(1);
        }
        rooms
    }
}

/// The candidates in turn with a Ready pod for which the budget has no room any more: M may have been lowered, other nodes may have
/// gone down since, and a pod that was not Ready when its turn began may work again.
fn without_room(fleet: &Fleet<'_>, node_sync: &NodeSync, counts: &Counts, limit: u32) -> BTreeSet<NodeIx> {
    let not_excused = |turn: &&NodeTurn<'_>| !counts.has(turn.node, Figure::Excused);
    let mut in_turn: Vec<&NodeTurn<'_>> = fleet.turns().iter().filter(not_excused).collect();
    let has_available =
        |turn: &NodeTurn<'_>| node_sync.survivors(fleet, turn.node).any(|(_, pod)| pod.is_available());
    // Nodes that have lost their pod come first: they hold their places whatever follows.
    in_turn.sort_by_key(|turn| (has_available(turn), turn.at, fleet.node_view(turn.node).name));
    let is_down = |node: NodeIx| counts.has(node, Figure::Unavailable) || counts.has(node, Figure::Lost);
    // Neither figure has an excused node.
    let down_in_turn = fleet.turns().iter().filter(|turn| is_down(turn.node)).count() as u32;
    let down = counts.sums.get(Figure::Unavailable) + counts.sums.get(Figure::Lost);
    let others = down.saturating_sub(down_in_turn);
    let ranked = (others..).zip(in_turn).filter(|(before, _)| *before >= limit).map(|(_, turn)| turn.node);
    let is_ready = |pod: &FleetPod| pod.readiness.is_ready();
    let waits = |node: &NodeIx| {
        counts.has(*node, Figure::Candidate)
            && eligible(fleet, node_sync, *node).is_some_and(|(_, pod)| is_ready(pod))
    };
    ranked.filter(waits).collect()
}

/// Asks about one candidate after the other.
struct Asker<'f, 'a> {
    fleet: &'f Fleet<'a>,
    history: &'f History<'f>,
    without_room: &'f BTreeSet<NodeIx>,
    goals: Goals,
}

impl Asker<'_, '_> {
    /// The first thing that the candidate waits for.
    fn wait(&self, found: &mut Found, node: NodeIx, pod: &FleetPod) -> Option<Wait> {
        let is_ready = pod.readiness.is_ready();
        // Found first, since a pull does not wait for the turn.
        let lacks_images = self.lacks_images(found, node, is_ready);
        if turn::are_kept(self.fleet.snapshot) {
            return Some(Wait::TurnsFrozen);
        }
        if let Some(wait) = self.wait_of_turn(found, node) {
            return Some(wait);
        }
        // A pod that is not Ready serves nobody, and goes at once.
        if !is_ready {
            None
        } else if lacks_images {
            Some(Wait::Pull)
        } else if let Some(fit::Lacking { resource, .. }) = self.lacking_resource(node, pod) {
            // A change in place needs no room.
            let retry = change::retried_at(self.fleet, self.history, node, pod);
            found.next_retry = found.next_retry.into_iter().chain(retry).min();
            Some(Wait::Fit { resource })
        } else {
            self.without_room.contains(&node).then_some(Wait::Room)
        }
    }

    fn wait_of_turn(&self, found: &mut Found, node: NodeIx) -> Option<Wait> {
        let (fleet, now) = (self.fleet, self.fleet.snapshot.now);
        let turn = fleet.turn(node);
        if let Some(until) = turn.and_then(|turn| turn.in_flight_until) {
            // The patch may not have been done, whatever the policy is by now.
            return Some(Wait::NodePatch { until });
        }
        let rules = turn::rules(fleet.snapshot)?;
        let Some(turn) = turn else {
            // Its kubelet could do nothing.
            return fleet.node_view(node).unreachable.then_some(Wait::NodeUnreachable);
        };
        let closed: Vec<String> =
            turn::closed_gates(fleet.snapshot, turn, rules).into_iter().cloned().collect();
        if closed.is_empty() {
            return None;
        }
        match turn::overdue_at(turn, rules) {
            Some(at) if at <= now => _ = found.overdue.insert(node, closed.clone()),
            at => found.next_overdue = found.next_overdue.into_iter().chain(at).min(),
        }
        (!turn::proceeds(turn, rules, now))
            .then(|| Wait::Gates { gates: closed, turn: Some(turn::gated(turn, rules)) })
    }

    fn lacks_images(&self, found: &mut Found, node: NodeIx, is_ready: bool) -> bool {
        let snapshot = self.fleet.snapshot;
        let Some(rules) = pull::rules(snapshot) else { return false };
        let images = &self.goals.of(self.fleet, node).images;
        let name = snapshot.node(node).name;
        let is_its_own = |pod: &&PullPod<'_>| pod.hash == images.hash;
        let pods = self.fleet.pull_pods_of(node).iter().filter(is_its_own);
        // The name is a hash: most memories have no refusal, and spare it.
        let memory = snapshot.memory.as_ref().filter(|memory| !memory.turns.refused_pulls.is_empty());
        let refused_until = memory.and_then(|memory| {
            memory.pull_refused_until(&pull::pod_name(snapshot, name, &images.hash), snapshot.now)
        });
        if planted::is_pulled(pull::is_pulled(snapshot, rules, node, images, pods.clone())) {
            return false;
        }
        if refused_until.is_some() {
            // Nobody waits for it until it is tried again.
            found.next_retry = found.next_retry.into_iter().chain(refused_until).min();
            return false;
        }
        found.not_pulled.insert(node);
        // Only a Ready pod waits for it, and the first of several pull pods that is late ends the wait.
        let waits = is_ready && !turn::are_kept(snapshot);
        let ends_at = pods.filter(|_| waits).filter_map(|pod| pod.ends_at(rules));
        found.next_pull_end = found.next_pull_end.into_iter().chain(ends_at).min();
        true
    }

    fn lacking_resource(&self, node: NodeIx, pod: &FleetPod) -> Option<fit::Lacking> {
        let fleet = self.fleet;
        if fleet.snapshot.spec.policy.fit != FitPolicy::Hold {
            return None;
        }
        // It is asked where a turn begins, and not at all where the turn empties the node.
        let rules = turn::rules(fleet.snapshot);
        let is_drained = rules.is_some_and(|rules| rules.gates.iter().any(|gate| gate == DRAINED));
        let has_begun = rules.is_some() && fleet.turn(node).is_some();
        if is_drained || has_begun || change::is_possible(fleet, self.history, node, pod) {
            return None;
        }
        fit::lacking(fleet, node, self.goals.of(fleet, node).pod.as_ref()?)
    }
}

/// The gate that the drain of a node opens.
const DRAINED: &str = "drained";

/// The facts about the current revision and about base that their nodes need.
pub(crate) struct Goals {
    current: Goal,
    base: Option<Goal>,
}

pub(crate) struct Goal {
    pub images: Images,
    /// Its pod; `None` for a template whose containers can't be read.
    pub pod: Option<Pod>,
}

impl Goals {
    pub(crate) fn new(fleet: &Fleet<'_>, history: &History<'_>) -> Self {
        let goal = |template: &Value, hash: &str| {
            let spec = template.get("spec").unwrap_or(&Value::Null);
            Goal {
                images: Images::of_template(template, hash),
                pod: Pod::deserialize(&json!({"spec": spec})).ok(),
            }
        };
        Goals {
            current: goal(fleet.snapshot.spec.raw_template(), history.current_hash()),
            base: fleet.goals.base().map(|base| goal(base.raw_template(), &base.hash)),
        }
    }

    pub(crate) fn of(&self, fleet: &Fleet<'_>, node: NodeIx) -> &Goal {
        self.base.as_ref().filter(|_| fleet.goals.of(node).is_base()).unwrap_or(&self.current)
    }
}

/// The deliberate errors in this file.
mod planted {
    crate::planted::planted! {
        limit(right: u32): TurnLimitOffByOne => right + 1;
        is_pulled(right: bool): PullNotAwaited => true;
    }
}
