//! What the rollout reads of one node, from the node's own pods and its turn.

use crate::input::placement::Placement;
use crate::input::rollout::policy::FailurePolicy;
use crate::node::failure::failing;
use crate::node::fleet::{Fleet, PodStage};
use crate::position::NodeIx;
use crate::rollout::facts::{Failing, RolloutFacts};
use crate::rules::turn;

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
            let rules = turn::rules(&fleet.snapshot.spec);
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
