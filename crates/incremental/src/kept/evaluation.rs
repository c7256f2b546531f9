//! The evaluation of each node in a plan: the figures in which it counts, and its places in the orders from which a plan
//! chooses.

use super::facts::Slot;
use super::standing::{Standing, Standings};
use daemonset::RequeueReason;
use daemonset::internal::{
    Figure, NodeFigures, NodePulls, Notes, PullRank, Readiness, Sums, Urgency, neutral,
};
use daemonset::model::NodeName;
use daemonset::report::Wait;
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// A yes or no about a node's part in a plan.
#[derive(Debug, Clone, Copy)]
pub(super) enum Effect {
    /// Pods of it are adopted, released or labelled.
    Claims,
    /// Node sync deletes pods of it.
    Deletes,
    /// It leaves: its deletes come last.
    Leaves,
    /// Node sync deletes its updated pod only because a better outdated one is kept.
    KeepsOutdated,
    /// Node sync creates a pod on it.
    Creates,
    /// Its turn ends, or loses its cordon.
    Patches,
    /// Nobody waits for its pull pod any more.
    EndsPulls,
}

/// The part of a node in a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Effects(u8);

neutral!(Effects, Effects(0));

impl Effects {
    pub(super) fn with(self, effect: Effect, applies: bool) -> Self {
        Effects(self.0 | u8::from(applies) << effect as u8)
    }

    pub(super) fn has(self, effect: Effect) -> bool {
        self.0 >> effect as u8 & 1 == 1
    }
}

/// The part of one node in a plan, as long as nothing about it changes.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct KeptEvaluation {
    pub(super) figures: NodeFigures,
    /// See [`Fleet::conflicts`](field@daemonset::internal::Fleet::conflicts).
    pub(super) conflicts: u32,
    pub(super) effects: Effects,
    pub(super) standing: Standing,
    /// The readiness of its outdated pod, for a candidate that only a limit holds.
    pub(super) group: Option<Readiness>,
    /// The number in its [urgency](Urgency), for a candidate.
    pub(super) number: i64,
    pub(super) instants: Option<Box<Instants>>,
    pub(super) rare: Option<Box<TurnPart>>,
}

/// The instants of a node that is on its way.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Instants {
    /// When time alone changes its evaluation.
    pub(super) due: Option<Timestamp>,
    /// The first change that time alone brings, with the reason to look again.
    pub(super) change: Option<(Timestamp, RequeueReason)>,
    /// When it stops surging.
    pub(super) place_free: Option<Timestamp>,
    /// When its update was refused, for a candidate.
    pub(super) refused_at: Option<Timestamp>,
    /// From when on its [standing](Standing::BlockedFrom) blocks, or the pod of a held node that ends is overdue.
    pub(super) blocked_from: Option<Timestamp>,
}

/// The part of a node in turns and pulls.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct TurnPart {
    pub(super) is_in_turn: bool,
    /// Its place in the order of turns, before its name; `None` for an excused node.
    pub(super) turn: Option<(bool, Timestamp)>,
    /// Its candidate is Ready, whatever it waits for.
    pub(super) has_ready_candidate: bool,
    /// Its place among the nodes that need a pull pod, before its name.
    pub(super) lacks_pull: Option<PullRank>,
    pub(super) pulls: NodePulls,
    pub(super) notes: Notes,
    /// Why its candidate waits for something else than a limit.
    pub(super) wait: Option<Wait>,
    /// It is in turn, has a pull pod, or a pod that was changed in its place.
    pub(super) is_touched: bool,
}

impl KeptEvaluation {
    fn urgency(&self) -> Urgency {
        let refused_at = self.instants.as_ref().and_then(|instants| instants.refused_at);
        Urgency { refused_at, number: self.number }
    }

    /// Whether its candidate waits for a limit, unless the plan takes it.
    pub(super) fn waits(&self) -> bool {
        self.figures.has(Figure::Waits)
    }

    /// Why its candidate waits for something else than a limit.
    pub(super) fn wait(&self) -> Option<&Wait> {
        self.rare.as_ref()?.wait.as_ref()
    }

    /// How its candidate comes to its place among the turns.
    fn passage(&self) -> Passage {
        if self.rare.as_ref().is_some_and(|rare| rare.is_in_turn) {
            Passage::InTurn
        } else if self.figures.has(Figure::Excused) {
            Passage::Excused
        } else {
            Passage::Counted
        }
    }
}

/// The way in which a candidate comes to its place among the turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Passage {
    /// It has one.
    InTurn,
    /// It needs one of those for nodes that count.
    Counted,
    /// It needs one of those for excused nodes.
    Excused,
}

impl Passage {
    pub(super) const ALL: [Passage; 3] = [Passage::InTurn, Passage::Counted, Passage::Excused];
}

/// A node in an order by name.
pub(super) type Named = (NodeName, Slot);

/// The candidates of a group by their [passage](Passage).
#[derive(Debug, Default)]
pub(super) struct Candidates([Order; Passage::ALL.len()]);

/// Candidates, the most urgent first; of the same urgency by the name of the node.
#[derive(Debug, Default)]
pub(super) struct Order {
    by_urgency: BTreeMap<Urgency, BTreeSet<Named>>,
    length: usize,
    /// How many of them [wait](Figure::Waits).
    waiting: u32,
}

impl Candidates {
    pub(super) fn len(&self) -> usize {
        self.0.iter().map(|order| order.length).sum()
    }

    pub(super) fn waiting(&self) -> u32 {
        self.0.iter().map(|order| order.waiting).sum()
    }

    /// Those of a passage.
    pub(super) fn of(&self, passage: Passage) -> impl Iterator<Item = Ranked<'_>> {
        self.0.get(passage as usize).into_iter().flat_map(Order::iter)
    }

    /// The first `count` of all of them, in one order.
    pub(super) fn first(&self, count: usize) -> Vec<Slot> {
        let slot = |(_, (_, slot)): Ranked<'_>| *slot;
        let [in_turn, counted, excused] = &self.0;
        // Most fleets have no others.
        if in_turn.length + excused.length == 0 {
            return counted.iter().take(count).map(slot).collect();
        }
        let rest = merge(counted.iter(), excused.iter());
        merge(in_turn.iter(), rest).take(count).map(slot).collect()
    }

    fn order(&mut self, evaluation: &KeptEvaluation) -> &mut Order {
        let [in_turn, counted, excused] = &mut self.0;
        match evaluation.passage() {
            Passage::InTurn => in_turn,
            Passage::Counted => counted,
            Passage::Excused => excused,
        }
    }

    /// Adds a node, or takes it out.
    fn change(&mut self, node: Named, evaluation: &KeptEvaluation, is_added: bool) {
        let order = self.order(evaluation);
        let nodes = order.by_urgency.entry(evaluation.urgency()).or_default();
        change(nodes, Some(node), is_added);
        if nodes.is_empty() {
            order.by_urgency.remove(&evaluation.urgency());
        }
        order.count(evaluation, is_added);
    }
}

/// A candidate in its order.
pub(super) type Ranked<'o> = (Urgency, &'o Named);

/// Candidates of two orders in one.
pub(super) fn merge<'o>(
    one: impl Iterator<Item = Ranked<'o>>,
    other: impl Iterator<Item = Ranked<'o>>,
) -> impl Iterator<Item = Ranked<'o>> {
    let (mut one, mut other) = (one.peekable(), other.peekable());
    std::iter::from_fn(move || match (one.peek(), other.peek()) {
        (Some(first), Some(second)) if second < first => other.next(),
        (Some(_), _) => one.next(),
        (None, _) => other.next(),
    })
}

impl Order {
    fn iter(&self) -> impl Iterator<Item = Ranked<'_>> {
        self.by_urgency.iter().flat_map(|(urgency, nodes)| nodes.iter().map(|node| (*urgency, node)))
    }

    fn count(&mut self, evaluation: &KeptEvaluation, is_added: bool) {
        let waiting = u32::from(evaluation.waits());
        if is_added {
            (self.length, self.waiting) = (self.length + 1, self.waiting + waiting);
        } else {
            (self.length, self.waiting) = (self.length - 1, self.waiting - waiting);
        }
    }
}

/// The sums of all nodes, and the orders from which a plan chooses.
#[derive(Debug, Default)]
pub(super) struct KeptEvaluations {
    pub(super) sums: Sums,
    pub(super) conflicts: u32,
    pub(super) pending: Candidates,
    pub(super) not_ready: Candidates,
    pub(super) not_yet_available: Candidates,
    pub(super) available: Candidates,
    pub(super) claiming: BTreeSet<Slot>,
    /// Nodes that leave come last.
    pub(super) deleting: BTreeSet<(bool, Named)>,
    pub(super) keeping_outdated: BTreeSet<Slot>,
    /// Nodes that lose their available pods [last](Figure::LeavesLast), in the order of their going.
    pub(super) leaving_last: BTreeSet<(bool, Named)>,
    pub(super) creating: BTreeSet<Named>,
    pub(super) deleted_by_update: BTreeSet<Slot>,
    pub(super) held_without_pod: BTreeSet<Slot>,
    pub(super) due: BTreeSet<(Timestamp, Slot)>,
    pub(super) changes: BTreeSet<(Timestamp, RequeueReason, Slot)>,
    pub(super) places_free: BTreeSet<(Timestamp, Slot)>,
    pub(super) standings: Standings,
    /// Nodes in turn that are not excused, in the order of turns.
    pub(super) turns: BTreeSet<(bool, Timestamp, Named)>,
    /// Nodes whose turn ends, or loses its cordon.
    pub(super) patching: BTreeSet<Slot>,
    /// Nodes of which warnings tell.
    pub(super) noted: BTreeSet<Slot>,
    /// Nodes whose candidate waits for something else than a limit.
    pub(super) waits: BTreeSet<Named>,
    /// Nodes in turn, and those with a pull pod or a pod that was changed in its place.
    pub(super) touched: BTreeSet<Slot>,
    /// Nodes with pull pods that go, by name.
    pub(super) ending_pulls: BTreeSet<Named>,
    /// Nodes that need a pull pod, in their order.
    pub(super) lacking_pulls: BTreeSet<(PullRank, Named)>,
    /// How many pods pull.
    pub(super) pulling: u32,
    /// When the time of the first pod that pulls on a node is over.
    pub(super) pull_ends: BTreeSet<(Timestamp, Slot)>,
}

impl KeptEvaluations {
    pub(super) fn group(&self, group: Readiness) -> &Candidates {
        match group {
            Readiness::Pending => &self.pending,
            Readiness::NotReady => &self.not_ready,
            Readiness::NotYetAvailable => &self.not_yet_available,
            Readiness::Available => &self.available,
        }
    }

    fn group_mut(&mut self, group: Readiness) -> &mut Candidates {
        match group {
            Readiness::Pending => &mut self.pending,
            Readiness::NotReady => &mut self.not_ready,
            Readiness::NotYetAvailable => &mut self.not_yet_available,
            Readiness::Available => &mut self.available,
        }
    }

    /// These evaluations of nodes with their sums, best by name: a set that is made of a sorted list takes no search.
    pub(super) fn of<'n>(nodes: impl Iterator<Item = (Named, &'n KeptEvaluation)>, sums: Sums) -> Self {
        let mut evaluations = KeptEvaluations { sums, ..KeptEvaluations::default() };
        let mut creating = Vec::new();
        let mut groups: BTreeMap<(Readiness, Urgency), Vec<Named>> = BTreeMap::new();
        for (node, evaluation) in nodes {
            evaluations.conflicts += evaluation.conflicts;
            evaluations.change_others(&node, evaluation, true);
            if evaluation.effects.has(Effect::Creates) {
                creating.push(node.clone());
            }
            if let Some(group) = evaluation.group {
                match evaluation.passage() {
                    Passage::Counted => {
                        evaluations.group_mut(group).order(evaluation).count(evaluation, true);
                        groups.entry((group, evaluation.urgency())).or_default().push(node);
                    }
                    Passage::InTurn | Passage::Excused => {
                        evaluations.group_mut(group).change(node, evaluation, true);
                    }
                }
            }
        }
        evaluations.creating = creating.into_iter().collect();
        for ((group, urgency), nodes) in groups {
            let [_, counted, _] = &mut evaluations.group_mut(group).0;
            counted.by_urgency.insert(urgency, nodes.into_iter().collect());
        }
        evaluations
    }

    /// Puts a node where its evaluation belongs, or takes it out of the places that it has by the evaluation.
    pub(super) fn change(&mut self, node: &Named, evaluation: &KeptEvaluation, is_added: bool) {
        if is_added {
            self.sums.change(evaluation.figures, |sum| *sum += 1);
            self.conflicts += evaluation.conflicts;
        } else {
            self.sums.change(evaluation.figures, |sum| {
                // A release build goes on with a sum of 0: an overflow would open every limit.
                debug_assert!(*sum > 0, "only what was added is taken back");
                *sum = sum.saturating_sub(1);
            });
            self.conflicts -= evaluation.conflicts;
        }
        self.change_others(node, evaluation, is_added);
        let creating = evaluation.effects.has(Effect::Creates).then(|| node.clone());
        change(&mut self.creating, creating, is_added);
        if let Some(group) = evaluation.group {
            self.group_mut(group).change(node.clone(), evaluation, is_added);
        }
    }

    /// All orders but those of the candidates and of the nodes that get a pod, which most nodes can be.
    fn change_others(&mut self, node: &Named, evaluation: &KeptEvaluation, is_added: bool) {
        let slot = node.1;
        let KeptEvaluation { effects, instants, .. } = evaluation;
        self.standings.change(slot, evaluation, is_added);
        let has = |effect| effects.has(effect);
        let counts = |figure| evaluation.figures.has(figure);
        // Most nodes: nothing happens on them.
        if *effects != Effects::default() {
            let if_deleting = has(Effect::Deletes).then(|| (has(Effect::Leaves), node.clone()));
            change(&mut self.claiming, has(Effect::Claims).then_some(slot), is_added);
            change(&mut self.deleting, if_deleting, is_added);
            change(&mut self.keeping_outdated, has(Effect::KeepsOutdated).then_some(slot), is_added);
            change(&mut self.patching, has(Effect::Patches).then_some(slot), is_added);
            change(&mut self.ending_pulls, has(Effect::EndsPulls).then(|| node.clone()), is_added);
        }
        if counts(Figure::LeavesLast) {
            change(&mut self.leaving_last, Some((has(Effect::Leaves), node.clone())), is_added);
        }
        change(&mut self.deleted_by_update, counts(Figure::DeletedByUpdate).then_some(slot), is_added);
        change(&mut self.held_without_pod, counts(Figure::HeldWithoutPod).then_some(slot), is_added);
        if let Some(rare) = &evaluation.rare {
            self.change_rare(node, rare, is_added);
        }
        let Some(Instants { due, change: next, place_free, .. }) = instants.as_deref() else {
            return;
        };
        change(&mut self.due, due.map(|at| (at, slot)), is_added);
        change(&mut self.changes, next.map(|(at, reason)| (at, reason, slot)), is_added);
        change(&mut self.places_free, place_free.map(|at| (at, slot)), is_added);
    }

    /// The orders of turns and pulls.
    fn change_rare(&mut self, node: &Named, rare: &TurnPart, is_added: bool) {
        let slot = node.1;
        let TurnPart {
            is_in_turn: _,
            turn,
            has_ready_candidate: _,
            lacks_pull,
            pulls,
            notes,
            wait,
            is_touched,
        } = rare;
        let NodePulls { are_over: _, pulling, ends_at, changes_at: _ } = pulls;
        let turn = turn.map(|(has_available, at)| (has_available, at, node.clone()));
        change(&mut self.turns, turn, is_added);
        change(&mut self.lacking_pulls, lacks_pull.map(|rank| (rank, node.clone())), is_added);
        self.pulling = if is_added { self.pulling + pulling } else { self.pulling.saturating_sub(*pulling) };
        change(&mut self.pull_ends, ends_at.map(|at| (at, slot)), is_added);
        change(&mut self.waits, wait.as_ref().map(|_| node.clone()), is_added);
        change(&mut self.touched, is_touched.then_some(slot), is_added);
        change(&mut self.noted, (*notes != Notes::default()).then_some(slot), is_added);
    }
}

/// Adds an element to a set, or takes it out.
pub(super) fn change<T: Ord>(set: &mut BTreeSet<T>, element: Option<T>, is_added: bool) {
    match element {
        Some(element) if is_added => {
            set.insert(element);
        }
        Some(element) => {
            set.remove(&element);
        }
        None => {}
    }
}
