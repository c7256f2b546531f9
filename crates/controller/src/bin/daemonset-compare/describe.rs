//! Actions and verdicts in words.

use daemonset::Action;
use daemonset::report::{NodeOutcome, NodeVerdict, Situation, Wait};

/// An action with its object: `delete pod web-x on node-3`.
pub(crate) fn action(action: &Action) -> String {
    match action {
        Action::CreatePod { node, .. } => format!("create pod on {node}"),
        Action::DeletePod { node, pod, .. } => format!("delete pod {} on {node}", pod.name),
        Action::AdoptPod { .. }
        | Action::ReleasePod { .. }
        | Action::LabelPod { .. }
        | Action::CreateRevision { .. }
        | Action::DeleteRevision { .. }
        | Action::AdoptRevision { .. }
        | Action::ReleaseRevision { .. }
        | Action::LabelRevision { .. }
        | Action::AnnotateRevision { .. }
        | Action::UpdatePodInPlace { .. }
        | Action::RestoreTemplate { .. }
        | Action::PatchNode { .. } => with_name(action),
        Action::RenumberRevision { number, .. } => format!("{} as #{number}", with_name(action)),
        Action::UpdateStatus { .. } => "update the status".to_owned(),
        Action::RecordEvent { .. } => "record an event".to_owned(),
        Action::Requeue { .. } => "requeue".to_owned(),
    }
}

fn with_name(action: &Action) -> String {
    format!("{} {} {}", action.verb(), action.noun(), action.subject_name().unwrap_or_default())
}

/// The reason of an action, as its JSON form names it.
pub(crate) fn reason(action: &Action) -> String {
    action.reason().to_owned()
}

/// The outcome of a node and the state of its pods.
pub(crate) fn node(node: &NodeVerdict) -> String {
    let pods = node.pods.iter().map(|pod| {
        let version = if pod.updated { "updated" } else { "outdated" };
        format!("{} {version}, {}", pod.pod.name, pod.state)
    });
    let pods: Vec<String> = pods.collect();
    match pods.as_slice() {
        [] => outcome(&node.outcome),
        pods => format!("{} ({})", outcome(&node.outcome), pods.join("; ")),
    }
}

/// The situation that a plan was made for.
pub(crate) fn situation(situation: Situation) -> String {
    match situation {
        Situation::Synced => "planned".to_owned(),
        Situation::SelectingAll => "the selector is empty".to_owned(),
        Situation::BeingDeleted => "the DaemonSet is being deleted".to_owned(),
        Situation::NameCollision => "the name of the new revision is taken".to_owned(),
        other => json(&other),
    }
}

fn outcome(outcome: &NodeOutcome) -> String {
    match outcome {
        NodeOutcome::Waits(Wait::BackOff { .. }) => {
            format!("{outcome}; a restart of the other controller resets its count")
        }
        outcome => outcome.to_string(),
    }
}

/// For variants that the library may add.
fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
