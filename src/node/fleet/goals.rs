//! The rollout that a fleet shows: the facts about each node, the stable revision and the waves, from which the goals of all nodes follow.

use crate::input::placement::Placement;
use crate::input::rollout::policy::RolloutPolicy;
use crate::node::fleet::{Fleet, FleetPod};
use crate::pods::history::History;
use crate::position::{HistoryIx, IndexVec, NodeIx};
use crate::rollout::decision::{RolloutDecision, judged_by};
use crate::rollout::facts::{RolloutFacts, RolloutNode};
use crate::rollout::goals::{Goals, KnownRollout};
use crate::rollout::report::FailingNode;
use crate::rollout::stable::KnownStable;
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
        // By the pods of all nodes: the stable revision is the revision that most of them run, where no mark tells more.
        let stable = KnownStable::choose(fleet.snapshot, history, &live, None);
        let placement_by =
            |stable: &KnownStable, node| stable.placement(fleet.node_view(node), fleet.placement(node));
        // Lazy: where the stable revision has another placement, the answer decides about each node that takes no part.
        let stable_wants_others = stable.as_ref().map(|stable| {
            let mut others = nodes.enumerated().filter(|(_, node)| !node.facts.takes_part);
            move || others.any(|(node, _)| placement_by(stable, node) == Placement::Run)
        });
        let decision = RolloutDecision::new(
            fleet.snapshot,
            history,
            policy,
            &sums,
            stable.as_ref().zip(stable_wants_others),
        );
        for position in fleet.nodes.positions() {
            nodes.change(position, |node| {
                node.goal = decision.goal(node);
                let stable = stable.as_ref().filter(|_| node.goal.is_stable());
                node.stable_placement = stable.map(|stable| placement_by(stable, position));
            });
        }
        let failing = nodes.enumerated().filter_map(|(position, node)| {
            let evidence = node.facts.failing.evidence.clone()?;
            Some(FailingNode { node: fleet.node_view(position).name.into(), evidence })
        });
        let mut failing: Vec<FailingNode> = failing.collect();
        // The nodes of a snapshot are in the caller's order, and the report is the same for every order.
        failing.sort_unstable_by(|a, b| a.node.cmp(&b.node));
        KnownRollout { stable, decision: Arc::new(decision), nodes, waves, failing: failing.into() }
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
