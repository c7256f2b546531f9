//! The evaluation of nodes, found with the steps of a decision.

use super::evaluation::{Effect, Effects, Instants, KeptEvaluation, TurnPart};
use daemonset::internal::{
    Claim, Evaluations, Figure, Fleet, FleetIx, Going, History, InPlace, IndexVec, NodeEvaluation, NodeIx,
    NodePulls, NodeSync, Notes, Placement, PodIx, Strategy, available_on, changes_of_turns,
    deletes_come_last, goal_hash, next_overdue, node_free_at, patched_nodes, place_in_turn, pull_pod_name,
    pull_rank, turn_rules, urgency,
};
use daemonset::{Memory, RequeueReason};
use jiff::{SignedDuration, Timestamp};

/// The first steps of a decision: they look at each node by itself.
pub(super) struct Steps<'s> {
    history: &'s History<'s>,
    pub(super) fleet: &'s Fleet<'s>,
    pub(super) node_sync: &'s NodeSync,
    pub(super) evaluations: &'s Evaluations,
    /// When time alone changes turns, pulls and changes in place, by node.
    changes: Vec<(Option<NodeIx>, (Timestamp, RequeueReason))>,
    /// The changes in place of pods, whoever owns them, by node.
    in_place: Vec<(Option<NodeIx>, &'s InPlace)>,
}

impl<'s> Steps<'s> {
    pub(super) fn new(
        history: &'s History<'s>,
        fleet: &'s Fleet<'s>,
        node_sync: &'s NodeSync,
        evaluations: &'s Evaluations,
    ) -> Self {
        let mut changes: Vec<_> = changes_of_turns(fleet).collect();
        changes.sort_unstable();
        let in_place = fleet.rare.iter().flat_map(|rare| &rare.in_place);
        let node = |pod: PodIx| fleet.snapshot.facts(pod).node;
        let mut in_place: Vec<_> = in_place.map(|(pod, change)| (node(*pod), change)).collect();
        in_place.sort_by_key(|(node, _)| *node);
        Steps { history, fleet, node_sync, evaluations, changes, in_place }
    }
}

impl Steps<'_> {
    /// The evaluations of these nodes.
    pub(super) fn evaluations(
        &self,
        claim: &Claim,
        nodes: impl Iterator<Item = NodeIx>,
    ) -> Vec<KeptEvaluation> {
        let effects = self.effects(claim);
        nodes.map(|node| self.evaluation(node, *effects.at(node))).collect()
    }

    /// The part of each node in claims and in node sync: on most nodes nothing happens.
    fn effects(&self, claim: &Claim) -> IndexVec<NodeIx, Effects> {
        let Steps { fleet, node_sync, .. } = self;
        let mut effects = IndexVec::repeat(Effects::default(), fleet.nodes.len());
        let mut mark = |node: Option<NodeIx>, effect| {
            node.and_then(|node| {
                effects.change(node, |effects: &mut Effects| *effects = effects.with(effect, true))
            });
        };
        let labels = fleet.labels.iter().map(|(pod, _)| pod);
        let claimed = claim.pods.adopted.iter().chain(&claim.pods.released).chain(labels);
        claimed.for_each(|pod| mark(fleet.snapshot.facts(*pod).node, Effect::Claims));
        node_sync.deletes.iter().for_each(|deletion| mark(fleet.node_of(deletion.pod), Effect::Deletes));
        node_sync.kept_outdated().for_each(|pod| mark(fleet.node_of(pod), Effect::KeepsOutdated));
        node_sync.creates.iter().for_each(|node| mark(Some(*node), Effect::Creates));
        patched_nodes(fleet).for_each(|node| mark(Some(node), Effect::Patches));
        effects
    }

    /// `effects` without its leaving.
    fn evaluation(&self, node: NodeIx, effects: Effects) -> KeptEvaluation {
        let Steps { fleet, history, evaluations, .. } = *self;
        let evaluation = evaluations.nodes.at(node);
        let pod = evaluation.candidate.map(|pod| fleet.pod(pod));
        let candidate = pod.filter(|_| evaluation.wait().is_none());
        let urgency = candidate.map(|pod| urgency(fleet, history, node, pod));
        let (standing, blocked_from) = self.standing(node);
        let refused_at = urgency.and_then(|urgency| urgency.refused_at);
        let rare = fleet.rare.as_ref().map(|_| self.rare(node, evaluation));
        let instants = Instants { refused_at, blocked_from, ..Instants::default() };
        let instants = self.instants(node, evaluation, rare.as_ref(), instants);
        let ends_pulls = rare.as_ref().is_some_and(|rare| rare.pulls.are_over);
        KeptEvaluation {
            figures: evaluation.figures,
            conflicts: self.conflicts_on(node),
            effects: effects
                .with(Effect::Leaves, deletes_come_last(fleet, node))
                .with(Effect::EndsPulls, ends_pulls),
            standing,
            group: candidate.map(|pod| pod.readiness),
            number: urgency.map_or(0, |urgency| urgency.number),
            instants: instants.map(Box::new),
            rare: rare.filter(|rare| *rare != TurnPart::default()).map(Box::new),
        }
    }

    /// The part of a node in turns and pulls.
    fn rare(&self, node: NodeIx, evaluation: &NodeEvaluation) -> TurnPart {
        let Steps { fleet, history, node_sync, .. } = *self;
        let counts = evaluation.figures.has(Figure::InTurn);
        let is_ready = |pod: FleetIx| fleet.pod(pod).readiness.is_ready();
        TurnPart {
            // Without the rules of turns a node has no place of its own.
            is_in_turn: turn_rules(fleet.snapshot.spec()).is_some() && fleet.turn(node).is_some(),
            turn: place_in_turn(fleet, node_sync, node).filter(|_| counts),
            has_ready_candidate: evaluation.candidate.is_some_and(is_ready),
            lacks_pull: pull_rank(fleet, history, node, evaluation),
            pulls: NodePulls::new(fleet, history, node),
            notes: Notes::new(fleet, node_sync, node, evaluation),
            wait: evaluation.wait().cloned(),
            is_touched: self.is_touched(node),
        }
    }

    /// Whether the node is in turn, has a pull pod, or a pod that was changed in its place.
    fn is_touched(&self, node: NodeIx) -> bool {
        let fleet = self.fleet;
        fleet.turn(node).is_some()
            || fleet.ends_turn(node)
            || !fleet.pull_pods_of(node).is_empty()
            || self.changes_on(node).next().is_some()
    }

    /// `known` with all others.
    fn instants(
        &self,
        node: NodeIx,
        evaluation: &NodeEvaluation,
        rare: Option<&TurnPart>,
        known: Instants,
    ) -> Option<Instants> {
        let Steps { fleet, node_sync, .. } = self;
        let snapshot = fleet.snapshot;
        let memory = snapshot.memory().filter(|memory| !memory.is_empty());
        // Most nodes: nothing about them changes by itself. Nothing is `known` of them either: a refusal is the memory's, and a node is
        // blocked from an instant on by a pod that is not available.
        if rare.is_none() && memory.is_none() && self.changing_pods_of(node).next().is_none() {
            let due = self.failing_at(node)?;
            return Some(Instants { due: Some(due), ..Instants::default() });
        }
        let instants = Instants {
            due: [self.due(node, memory), self.failing_at(node), self.due_of_turns(node, evaluation, rare)]
                .into_iter()
                .flatten()
                .min(),
            change: self.change(node, evaluation),
            place_free: match (snapshot.spec().strategy, fleet.placement(node)) {
                (Strategy::Surge { .. }, Placement::Run) => node_free_at(fleet, node_sync, node),
                _ => None,
            },
            ..known
        };
        Some(instants).filter(|instants| *instants != Instants::default())
    }

    /// When time alone lets the new version fail on the node, or brings other evidence.
    fn failing_at(&self, node: NodeIx) -> Option<Timestamp> {
        self.fleet.goals.rollout()?.known.nodes.at(node).facts.failing.changes_at
    }

    /// The first change that time alone brings, with the reason to look again.
    fn change(&self, node: NodeIx, evaluation: &NodeEvaluation) -> Option<(Timestamp, RequeueReason)> {
        let Steps { fleet, node_sync, .. } = *self;
        let available = available_on(fleet, node_sync, node, &Going::default());
        let here = RequeueReason::first([
            (available, RequeueReason::MinReadySeconds),
            (node_sync.back_off(node).map(|backed_off| backed_off.until), RequeueReason::BackOff),
            (fleet.expects_until_on(node), RequeueReason::InFlightExpiry),
        ]);
        let of_hold = evaluation.hold.as_ref().and_then(|hold| hold.next);
        let of_turns = of_node(&self.changes, node, |(node, _)| *node);
        here.into_iter().chain(of_hold).chain(of_turns.map(|(_, change)| *change)).min()
    }

    /// When time alone changes the evaluation by turns, pulls and changes in place.
    fn due_of_turns(
        &self,
        node: NodeIx,
        evaluation: &NodeEvaluation,
        rare: Option<&TurnPart>,
    ) -> Option<Timestamp> {
        let (fleet, rare) = (self.fleet, rare?);
        let snapshot = fleet.snapshot;
        let hold = evaluation.hold.as_ref().and_then(|hold| hold.next).map(|(at, _)| at);
        let overdue = fleet.turn(node).and_then(|turn| next_overdue(snapshot, turn));
        let changes = self.changes_on(node).flat_map(|change| [change.settled_at, change.stuck_at()]);
        let changes = changes.flatten().filter(|at| snapshot.now() < *at);
        let memory = snapshot.memory().map(Memory::turns);
        let unseen = memory.filter(|turns| !turns.pulls.is_empty() || !turns.refused_pulls.is_empty());
        let of_pull = unseen.and_then(|_| {
            let hash = goal_hash(fleet, self.history, node);
            let name = pull_pod_name(snapshot.spec(), snapshot.node(node).name, hash);
            snapshot.memory()?.next_end_of_pull(&name, snapshot)
        });
        let instants = [hold, overdue, rare.pulls.changes_at, of_pull];
        instants.into_iter().flatten().chain(changes).min()
    }

    /// The changes in place of pods on a node, whoever owns them.
    fn changes_on(&self, node: NodeIx) -> impl Iterator<Item = &InPlace> {
        of_node(&self.in_place, node, |(node, _)| *node).map(|(_, change)| *change)
    }

    /// When time alone changes a pod of the node, or the memory of the node and its pods.
    fn due(&self, node: NodeIx, memory: Option<&Memory>) -> Option<Timestamp> {
        let Fleet { snapshot, .. } = self.fleet;
        let of_pods = self.changing_pods_of(node);
        let of_pods = of_pods.flat_map(|(pod, available_at)| [available_at, snapshot.pod(pod).deleted_at]);
        let of_pods = of_pods.flatten().filter(|at| snapshot.now() < *at);
        let of_memory = memory.and_then(|memory| {
            let spec = snapshot.spec();
            let taken = SignedDuration::from_secs(spec.policy.deleted_by_update_expiry_seconds.into());
            let name = snapshot.node(node).name;
            let pull_pods = self.fleet.pull_pods_of(node).iter().map(|pod| pod.view.uid);
            // A change in place may be refused for a pod that is available.
            let all = self.fleet.pods_of(node).filter(|_| !memory.turns().refused_in_place.is_empty());
            let all = all.map(|(_, pod)| self.fleet.view(pod).uid);
            let changing = self.changing_pods_of(node).map(|(pod, _)| snapshot.pod(pod).uid);
            let uids = changing.chain(pull_pods).chain(all);
            memory.next_end(name, uids, (spec.in_flight_expiry(), taken), snapshot.now())
        });
        of_pods.chain(of_memory).min()
    }

    /// The pods of a node that time alone can change, with those that are gone or released: an available pod stays one. Each with the
    /// instant at which it becomes available.
    fn changing_pods_of(&self, node: NodeIx) -> impl Iterator<Item = (PodIx, Option<Timestamp>)> + Clone {
        let fleet = self.fleet;
        let here = of_node(&fleet.gone_or_released, node, |(node, _)| Some(*node));
        let changing = fleet.pods_of(node).map(|(_, pod)| pod).filter(|pod| !pod.is_available());
        let changing = changing.map(|pod| {
            let is_ready = fleet.view(pod).ready == Some(true);
            (pod.view, if is_ready { fleet.available_at(pod) } else { None })
        });
        changing.chain(here.map(|(_, pod)| (*pod, None)))
    }

    /// How many pods of a node have a generation and a hash that contradict each other.
    fn conflicts_on(&self, node: NodeIx) -> u32 {
        of_node(&self.fleet.conflicts, node, |node| *node).count() as u32
    }
}

/// The entries of a node, of entries in the order of their nodes. Strays have no node and are sorted before all nodes.
fn of_node<T>(
    entries: &[T],
    node: NodeIx,
    node_of: impl Fn(&T) -> Option<NodeIx> + Clone,
) -> impl Iterator<Item = &T> + Clone {
    let first = entries.partition_point(|entry| node_of(entry) < Some(node));
    entries.iter().skip(first).take_while(move |entry| node_of(entry) == Some(node))
}
