//! The rollout that a fleet shows: the facts about each node, the base and the waves, from which the goals of all nodes follow.

use crate::input::placement::Placement;
use crate::node::fleet::{Fleet, FleetPod, PodStage};
use crate::node::turn;
use crate::pods::history::History;
use crate::position::{HistoryIx, IndexVec, NodeIx};
use crate::rollout::base::KnownBase;
use crate::rollout::decision::{RolloutDecision, judged_by};
use crate::rollout::facts::{Failing, RolloutFacts, RolloutNode};
use crate::rollout::failure::failing;
use crate::rollout::goals::{Goals, KnownRollout};
use crate::rollout::policy::{FailurePolicy, RolloutPolicy};
use crate::rollout::report::FailingNode;
use crate::rollout::sums::RolloutSums;
use crate::rollout::waves::choose_nodes;
use std::borrow::Cow;
use std::sync::Arc;

impl<'a> Goals<'a> {
    /// The goals for this fleet, which is still the one of the current revision alone. `known` is the state of the rollout where
    /// the nodes of the fleet do not suffice to find it.
    pub fn new(fleet: &Fleet<'a>, history: &History<'a>, known: Option<&'a KnownRollout>) -> Self {
        let Some(policy) = &fleet.snapshot.spec.policy.rollout else { return Goals::default() };
        let known = match known {
            Some(known) => Cow::Borrowed(known),
            None => Cow::Owned(KnownRollout::new(fleet, history, policy)),
        };
        Goals::of_rollout(Some(known), history)
    }
}

impl KnownRollout {
    /// The state of a rollout, all of whose nodes are in the snapshot.
    fn new(fleet: &Fleet<'_>, history: &History<'_>, policy: &RolloutPolicy) -> Self {
        let judged_by = judged_by(fleet.snapshot, policy, history);
        let facts = |node| RolloutNode::new(RolloutFacts::new(fleet, node, judged_by));
        let mut nodes: IndexVec<NodeIx, RolloutNode> = fleet.nodes.positions().map(facts).collect();
        let waves = choose_nodes(fleet.snapshot, &mut nodes, &policy.waves);
        // After the waves: the sums have each node in the group of its first wave.
        let mut sums = RolloutSums::new(policy.waves.len());
        nodes.iter().for_each(|node| sums.add(node));
        let live = live_pods(fleet, history, fleet.pods.iter());
        // By the pods of all nodes: base is the revision that most of them run, where no mark tells more.
        let base = KnownBase::choose(fleet.snapshot, history, &live, None);
        let placement_by =
            |base: &KnownBase, node| base.placement(fleet.node_view(node), fleet.placement(node));
        // Lazy: where base has another placement, the answer decides about each node that takes no part.
        let base_wants_others = base.as_ref().map(|base| {
            let mut others = nodes.enumerated().filter(|(_, node)| !node.facts.takes_part);
            move || others.any(|(node, _)| placement_by(base, node) == Placement::Run)
        });
        let decision = RolloutDecision::new(
            fleet.snapshot,
            history,
            policy,
            &sums,
            base.as_ref().zip(base_wants_others),
        );
        for position in fleet.nodes.positions() {
            nodes.change(position, |node| {
                node.goal = decision.goal(node);
                let base = base.as_ref().filter(|_| node.goal.is_base());
                node.base_placement = base.map(|base| placement_by(base, position));
            });
        }
        let failing = nodes.enumerated().filter_map(|(position, node)| {
            let evidence = node.facts.failing.evidence.clone()?;
            Some(FailingNode { node: fleet.node_view(position).name.into(), evidence })
        });
        let mut failing: Vec<FailingNode> = failing.collect();
        // The nodes of a snapshot are in the caller's order, and the report is the same for every order.
        failing.sort_unstable_by(|a, b| a.node.cmp(&b.node));
        KnownRollout { base, decision: Arc::new(decision), nodes, waves, failing: failing.into() }
    }
}

impl RolloutFacts {
    /// `judged_by` is the failure policy, where the rollout is judged.
    pub fn new(fleet: &Fleet<'_>, node: NodeIx, judged_by: Option<&FailurePolicy>) -> Self {
        let in_flight = fleet.in_flight(node);
        let mut facts = RolloutFacts {
            is_down: fleet.node_view(node).ready == Some(false),
            has_new_version: in_flight.is_some_and(|create| create.updated),
            has_outdated: in_flight.is_some_and(|create| !create.updated),
            ..RolloutFacts::NONE
        };
        // Placement and pods are those of the current revision here: the fleet turns to its goals later.
        for (_, pod) in fleet.pods_of(node) {
            facts.has_updated |= pod.is_live() && pod.is_updated();
            facts.has_outdated |= pod.is_live() && !pod.is_updated();
            // A finished pod may have failed under the new version, and still tells of it. A terminating one is not judged: its end
            // may be our own doing.
            let stays = match pod.stage {
                PodStage::Live | PodStage::Failed | PodStage::Succeeded => pod.is_updated(),
                PodStage::Terminating | PodStage::Gone => false,
            };
            if !stays {
                continue;
            }
            // `None` is less than each instant, so that `max` takes the known one.
            facts.progressed_at = facts.progressed_at.max(fleet.birth(pod));
            if pod.is_ready() {
                let ready_since = fleet.ready_since(pod);
                facts.progressed_at = facts.progressed_at.max(ready_since);
                facts.is_available |= pod.is_available();
                // The first one counts: the node has been Ready for as long as any of its pods.
                facts.ready_since = match (facts.ready_since, ready_since) {
                    (Some(first), Some(since)) => Some(first.min(since)),
                    // Here an unknown instant must not win: `min` alone would take it.
                    (one, None) | (None, one) => one,
                };
                facts.is_ready = true;
            }
            if let Some(policy) = judged_by {
                facts.failing.add(failing(fleet, node, pod, policy));
            }
        }
        facts.has_new_version |= facts.has_updated;
        if let Some(turn) = fleet.turn(node) {
            facts.progressed_at = facts.progressed_at.max(Some(turn.at));
            let rules = turn::rules(fleet.snapshot);
            // A node whose gates are overdue may not wait for them, and one whose outdated pod is gone does not. Nothing is taken, and no
            // gate opens, before the node shows its turn.
            let goes_on =
                |rules| turn.in_flight_until.is_none() && turn::proceeds(turn, rules, fleet.snapshot.now);
            let is_gated = rules.is_some_and(|rules| {
                !turn::closed_gates(fleet.snapshot, turn, rules).is_empty() && !goes_on(rules)
            });
            facts.waits_for_gates = is_gated && facts.has_outdated;
        }
        for pod in fleet.pull_pods_of(node).iter().filter(|pod| pod.is_current) {
            facts.progressed_at = facts.progressed_at.max(pod.view.created_at);
        }
        facts.is_target = fleet.placement(node) == Placement::Run;
        facts.takes_part = match fleet.placement(node) {
            Placement::Run => true,
            Placement::ContinueOnly(_) => facts.has_new_version,
            Placement::Exclude(_) => false,
        };
        // Only now, since a node that is no target takes part by the pods that it has. Other nodes are not judged.
        if !facts.takes_part {
            facts.failing = Failing::NEVER;
        }
        facts
    }
}

/// How many live pods each revision has, by their hashes: of these pods and of the pods without a target.
pub fn live_pods<'f>(
    fleet: &Fleet<'_>,
    history: &History<'_>,
    pods: impl Iterator<Item = &'f FleetPod>,
) -> IndexVec<HistoryIx, u32> {
    let mut live = IndexVec::repeat(0, history.revisions.len());
    let pods = pods.filter(|pod| pod.is_live()).filter_map(|pod| pod.revision);
    let key = fleet.snapshot.spec.policy.unique_label_key.as_str();
    // These are in no list of a node, but run all the same.
    let without_target = fleet.without_target.iter().map(|pod| fleet.snapshot.pod(*pod));
    let without_target = without_target.filter(|pod| pod.deleted_at.is_none() && !pod.finished());
    let without_target = without_target.filter_map(|pod| history.position(pod.labels.get(key)?));
    for revision in pods.chain(without_target) {
        live.change(revision, |pods| *pods += 1);
    }
    live
}
