//! The evaluation of nodes, found with the steps of a decision.

use super::evaluation::{Effect, Effects, Instants, NodeEvaluation};
use daemonset::internal::{
    Claim, Counts, Figure, Fleet, History, IndexVec, NodeIx, NodeSync, Placement, PodIx, Strategy,
    available_at, deletes_come_last, eligible, next_available_on, node_free_at, urgency,
};
use daemonset::{Memory, RequeueReason};
use jiff::{SignedDuration, Timestamp};

/// The first steps of a decision: they look at each node by itself.
pub(super) struct Steps<'s> {
    pub(super) history: &'s History<'s>,
    pub(super) fleet: &'s Fleet<'s>,
    pub(super) node_sync: &'s NodeSync,
    pub(super) counts: &'s Counts,
}

impl Steps<'_> {
    /// The evaluations of these nodes.
    pub(super) fn evaluations(
        &self,
        claim: &Claim,
        nodes: impl Iterator<Item = NodeIx>,
    ) -> Vec<NodeEvaluation> {
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
        effects
    }

    /// `effects` without its leaving.
    fn evaluation(&self, node: NodeIx, effects: Effects) -> NodeEvaluation {
        let Steps { fleet, node_sync, .. } = self;
        let is_candidate = self.counts.has(node, Figure::Candidate);
        let candidate = if is_candidate { eligible(fleet, node_sync, node) } else { None };
        let urgency = candidate.map(|(_, pod)| urgency(fleet, self.history, node, pod));
        let (standing, blocked_from) = self.standing(node);
        let refused_at = urgency.and_then(|urgency| urgency.refused_at);
        let instants = self.instants(node, Instants { refused_at, blocked_from, ..Instants::default() });
        NodeEvaluation {
            figures: *self.counts.nodes.at(node),
            conflicts: self.conflicts_on(node),
            effects: effects.with(Effect::Leaves, deletes_come_last(fleet, node)),
            standing,
            group: candidate.map(|(_, pod)| pod.readiness),
            number: urgency.map_or(0, |urgency| urgency.number),
            instants: instants.map(Box::new),
        }
    }

    /// `known` with all others.
    fn instants(&self, node: NodeIx, known: Instants) -> Option<Instants> {
        let Steps { fleet, node_sync, .. } = self;
        let snapshot = fleet.snapshot;
        let memory = snapshot.memory().filter(|memory| !memory.is_empty());
        // Most nodes: nothing about them changes by itself. Nothing is `known` of them either: a refusal is the memory's, and a node is
        // blocked from an instant on by a pod that is not available.
        if memory.is_none() && self.changing_pods_of(node).next().is_none() {
            let due = self.failing_at(node)?;
            return Some(Instants { due: Some(due), ..Instants::default() });
        }
        let instants = Instants {
            due: [self.due(node, memory), self.failing_at(node)].into_iter().flatten().min(),
            change: RequeueReason::first([
                (next_available_on(fleet, node_sync, node), RequeueReason::MinReadySeconds),
                (node_sync.back_off(node).map(|backed_off| backed_off.until), RequeueReason::BackOff),
                (self.expects_until(node, memory), RequeueReason::InFlightExpiry),
            ]),
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

    /// When time alone changes a pod of the node, or the memory of the node and its pods.
    fn due(&self, node: NodeIx, memory: Option<&Memory>) -> Option<Timestamp> {
        let Fleet { snapshot, .. } = self.fleet;
        let pods = || self.changing_pods_of(node).map(|pod| snapshot.pod(pod));
        let of_pods = pods().flat_map(|pod| {
            let available_at =
                if pod.ready == Some(true) { available_at(snapshot, pod.ready_since) } else { None };
            [pod.deleted_at, available_at]
        });
        let of_pods = of_pods.flatten().filter(|at| snapshot.now() < *at);
        let of_memory = memory.and_then(|memory| {
            let policy = &snapshot.spec().policy;
            let expiries = [policy.in_flight_expiry_seconds, policy.taken_expiry_seconds];
            let [in_flight, taken] = expiries.map(|seconds| SignedDuration::from_secs(seconds.into()));
            let name = snapshot.node(node).name;
            memory.next_end(name, pods().map(|pod| pod.uid), (in_flight, taken), snapshot.now())
        });
        of_pods.chain(of_memory).min()
    }

    /// When the first create or delete of the node expires that the snapshot does not show.
    fn expects_until(&self, node: NodeIx, memory: Option<&Memory>) -> Option<Timestamp> {
        let snapshot = self.fleet.snapshot;
        let create = self.fleet.in_flight(node).map(|create| create.until);
        let deletes = memory.filter(|memory| !memory.deletes().is_empty()).into_iter().flat_map(|memory| {
            let ours = self.changing_pods_of(node).filter(|pod| self.is_ours(*pod));
            let unseen = ours.map(|pod| snapshot.pod(pod)).filter(|pod| pod.deleted_at.is_none());
            unseen.filter_map(|pod| memory.deleting_until(pod.uid, snapshot))
        });
        deletes.chain(create).min()
    }

    /// The pods of a node that time alone can change, with those that are gone or released: an available pod stays one.
    fn changing_pods_of(&self, node: NodeIx) -> impl Iterator<Item = PodIx> {
        let list = &self.fleet.gone_or_released;
        let first = list.partition_point(|(other, _)| *other < node);
        let here = list.iter().skip(first).take_while(move |(other, _)| *other == node);
        let changing = self.fleet.pods_of(node).map(|(_, pod)| pod).filter(|pod| !pod.is_available());
        changing.map(|pod| pod.view).chain(here.map(|(_, pod)| *pod))
    }

    /// How many pods of a node have a generation and a hash that contradict each other.
    fn conflicts_on(&self, node: NodeIx) -> u32 {
        // Strays have no node and are sorted before all nodes.
        let conflicts = &self.fleet.conflicts;
        let first = conflicts.partition_point(|other| *other < Some(node));
        conflicts.iter().skip(first).take_while(|other| **other == Some(node)).count() as u32
    }

    fn is_ours(&self, pod: PodIx) -> bool {
        let snapshot = self.fleet.snapshot;
        snapshot.facts(pod).verdict(snapshot.pod(pod)).is_ours()
    }
}
