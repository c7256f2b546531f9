//! A plan in words, for `--dry-run`.

use crate::metrics::kind_and_reason;
use crate::world::Key;
use daemonset::{Action, Plan};
use std::fmt::Write;

/// What would be done, a line each.
pub fn plan(key: &Key, plan: &Plan) -> String {
    let mut text = String::new();
    let acting = plan.actions.iter().filter(|action| !matches!(action, Action::Requeue { .. }));
    let lines: Vec<String> = acting.map(line).collect();
    // Writing to a string can't fail.
    let _ = match lines.as_slice() {
        [] => writeln!(text, "{key}: nothing to do"),
        _ => writeln!(text, "{key}: {} actions", lines.len()),
    };
    for line in lines {
        let _ = writeln!(text, "  {line}");
    }
    for warning in &plan.warnings {
        let _ = writeln!(text, "  warning: {warning:?}");
    }
    text
}

fn line(action: &Action) -> String {
    let (kind, reason) = kind_and_reason(action);
    match subject(action) {
        Some(subject) => format!("{kind} {subject} ({reason})"),
        None => format!("{kind} ({reason})"),
    }
}

/// What it is done to.
fn subject(action: &Action) -> Option<String> {
    Some(match action {
        Action::CreatePod { node, batch, .. } => format!("on {node}, batch {batch}"),
        Action::DeletePod { node, pod, .. } => format!("{} on {node}", pod.name),
        Action::AdoptPod { pod, .. } | Action::ReleasePod { pod, .. } => pod.name.clone(),
        Action::LabelPod { pod, labels, .. } => format!("{} {labels:?}", pod.name),
        Action::AdoptRevision { revision, .. }
        | Action::ReleaseRevision { revision, .. }
        | Action::DeleteRevision { revision, .. } => revision.name.clone(),
        Action::LabelRevision { revision, labels, .. } => format!("{} {labels:?}", revision.name),
        Action::RenumberRevision { revision, number, .. } => format!("{} to {number}", revision.name),
        Action::CreateRevision { revision, .. } => revision.pointer("/metadata/name")?.as_str()?.to_owned(),
        Action::UpdateStatus { status, .. } => format!(
            "updated {}, ready {}, available {} of {}",
            status.updated_number_scheduled,
            status.number_ready,
            status.number_available,
            status.desired_number_scheduled
        ),
        Action::RecordEvent { message, .. } => message.clone(),
        Action::Requeue { .. } => return None,
    })
}
