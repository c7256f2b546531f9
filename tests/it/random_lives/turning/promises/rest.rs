//! After a plan that saw everything, with nothing in flight, no turn goes on that should have ended, and none keeps a word that is wrong;
//! a pod that is changed in its place is neither Ready nor available in the status.

use super::super::facts::Facts;
use daemonset::model::Pod;
use daemonset::policy::TurnMode;
use daemonset_sim::Cluster;

/// `is_quiet`: the plan has done nothing.
pub fn broken_in(facts: &Facts, cluster: &Cluster, is_quiet: bool) -> Vec<String> {
    let mut broken = Vec::new();
    for (name, node) in &facts.nodes {
        let Some(turn) = &node.turn else { continue };
        if turn.cordoned && !node.unschedulable {
            broken.push(format!("cordon: the turn of {name} says that it has one"));
        }
        if facts.policy.turn.is_none() {
            broken.push(format!("turn: {name} has one that nobody asks for"));
        }
        let mut pods = facts.pods_of(name).filter(|(_, pod)| !pod.is_over).peekable();
        let is_there = pods.peek().is_some();
        let is_untouched = is_there && pods.all(|(_, pod)| pod.is_live() && pod.born < turn.at);
        if node.is_unreachable && is_untouched && matches!(facts.policy.turn, Some(TurnMode::Take(_))) {
            broken.push(format!("turn: that of {name}, which is unreachable, goes on"));
        }
    }
    let counts = |pod: &&Pod| {
        let is_true = pod.readiness().is_some_and(|ready| ready.status == "True");
        is_true && (facts.is_ready(pod.metadata.uid.as_str()) || pod.metadata.deletion_timestamp.is_some())
    };
    let ready = cluster.pods().filter(counts).count();
    let status = cluster.status();
    if is_quiet && facts.policy.external_controller.is_none() && status.number_ready as usize > ready {
        broken.push(format!("in place: {} Ready pods in the status, {ready} in fact", status.number_ready));
    }
    broken
}
