//! Short texts for plans.

use daemonset::report::{NodePlacement, NodeVerdict};
use daemonset::{Action, Plan};
use std::collections::BTreeMap;

/// One line for each action.
pub(super) fn actions(plan: &Plan) -> String {
    plan.actions.iter().map(action).collect::<Vec<_>>().join("\n")
}

fn action(action: &Action) -> String {
    match action {
        Action::CreateRevision { revision, reason, .. } => {
            format!("create revision {} ({reason:?})", revision["revision"])
        }
        Action::RenumberRevision { revision, number, reason, .. } => {
            format!("renumber {} to {number} ({reason:?})", revision.name)
        }
        Action::CreatePod { node, batch, reason, .. } => {
            format!("create a pod on {node} in batch {batch} ({reason:?})")
        }
        Action::DeletePod { node, pod, reason, .. } => {
            format!("delete {} on {node} ({reason:?})", suffix(&pod.name))
        }
        Action::UpdateStatus { reason, .. } => format!("update the status ({reason:?})"),
        other => format!("{other:?}"),
    }
}

/// One line for each node: placement, pods, outcome.
pub(super) fn fleet(plan: &Plan) -> String {
    plan.report.nodes.iter().map(node).collect::<Vec<_>>().join("\n")
}

fn node(verdict: &NodeVerdict) -> String {
    let mut line = verdict.node.to_string();
    if verdict.unschedulable {
        line += " (cordoned)";
    }
    if verdict.node_ready == Some(false) {
        line += " (not Ready)";
    }
    line += &format!(": {}", placement(&verdict.placement));
    for pod in &verdict.pods {
        let (name, state) = (suffix(&pod.pod.name), format!("{:?}", pod.state));
        let (revision, state) = (pod.revision.unwrap(), state.split(' ').next().unwrap());
        line += &format!(", {name} of revision {revision} ({:?}) {state}", pod.evidence);
    }
    format!("{line}: {}", outcome(verdict))
}

fn placement(placement: &NodePlacement) -> String {
    match placement {
        NodePlacement::ContinueOnly { taint, .. } => {
            format!("ContinueOnly {}={}:{}", taint.key, taint.value, taint.effect)
        }
        NodePlacement::UntoleratedNoExecute { taint, .. } => {
            format!("UntoleratedNoExecute {}={}:{}", taint.key, taint.value, taint.effect)
        }
        other => format!("{other:?}"),
    }
}

/// The number of nodes with each outcome.
pub(super) fn outcomes(plan: &Plan) -> BTreeMap<String, u32> {
    let mut counts = BTreeMap::new();
    for node in &plan.report.nodes {
        *counts.entry(outcome(node)).or_default() += 1;
    }
    counts
}

pub(super) fn outcome(verdict: &NodeVerdict) -> String {
    format!("{:?}", verdict.outcome)
}

/// A pod's name without the DaemonSet's name.
fn suffix(name: &str) -> &str {
    name.rsplit('-').next().unwrap()
}
