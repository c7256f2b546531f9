//! Actions as short lines.

use daemonset::{Action, Plan};

/// The actions of a plan, one line each, without the status.
pub fn steps(plan: &Plan) -> Vec<String> {
    let status = |action: &&Action| matches!(action, Action::UpdateStatus { .. });
    plan.actions.iter().filter(|action| !status(action)).map(line).collect()
}

/// The actions of a plan, one line each, with the status.
pub fn everything(plan: &Plan) -> Vec<String> {
    lines(&plan.actions)
}

/// One line each.
pub fn lines(actions: &[Action]) -> Vec<String> {
    actions.iter().map(line).collect()
}

fn line(action: &Action) -> String {
    match action {
        Action::AdoptPod { pod, reason, .. } => format!("adopt {}: {reason:?}", pod.name),
        Action::ReleasePod { pod, reason, .. } => format!("release {}: {reason:?}", pod.name),
        Action::AdoptRevision { revision, reason, .. } => format!("adopt {}: {reason:?}", revision.name),
        Action::ReleaseRevision { revision, reason, .. } => format!("release {}: {reason:?}", revision.name),
        Action::CreateRevision { revision, reason, .. } => {
            format!("create revision {}: {reason:?}", revision["revision"])
        }
        Action::LabelRevision { revision, labels, reason, .. } => {
            format!("label {} {labels:?}: {reason:?}", revision.name)
        }
        Action::RenumberRevision { revision, number, reason, .. } => {
            format!("renumber {} to {number}: {reason:?}", revision.name)
        }
        Action::AnnotateRevision { revision, annotations, reason, .. } => {
            format!("mark {} {annotations:?}: {reason:?}", revision.name)
        }
        Action::LabelPod { pod, labels, reason, .. } => format!("label {} {labels:?}: {reason:?}", pod.name),
        Action::DeletePod { pod, reason, failure, .. } => {
            let failure = failure.map_or_else(String::new, |f| format!(" ({} of {})", f.count, f.generation));
            format!("delete {}: {reason:?}{failure}", pod.name)
        }
        Action::UpdatePodInPlace { pod, reason, .. } => format!("change {} in place: {reason:?}", pod.name),
        Action::PatchNode { node, unschedulable, reason, .. } => match unschedulable {
            Some(true) => format!("patch {}, cordoned: {reason:?}", node.name),
            Some(false) => format!("patch {}, uncordoned: {reason:?}", node.name),
            None => format!("patch {}: {reason:?}", node.name),
        },
        Action::CreatePod { node, batch, reason, .. } => {
            format!("create on {node} in batch {batch}: {reason:?}")
        }
        Action::DeleteRevision { revision, reason, .. } => format!("delete {}: {reason:?}", revision.name),
        Action::UpdateStatus { reason, .. } => format!("status: {reason:?}"),
        Action::RestoreTemplate { revision, reason, .. } => {
            format!("restore the template of {}: {reason:?}", revision.name)
        }
        Action::RecordEvent { event_type, reason, .. } => format!("event {event_type:?} {reason:?}"),
        Action::Requeue { at, reason, .. } => format!("requeue at {at}: {reason:?}"),
    }
}
