//! Plans, actions and warnings in words, for `--dry-run`, the log and the labels of metrics.

use crate::caches::Key;
use daemonset::{Action, Plan, Warning};
use serde_json::Value;
use std::fmt::Write;

/// The type and the reason of an action, as its JSON form names them.
pub(crate) fn kind_and_reason(action: &Action) -> (String, String) {
    // Serializing the whole action would copy the pod's manifest, which is large.
    if let Action::CreatePod { reason, .. } = action {
        let reason = serde_json::to_value(reason).unwrap_or_default();
        return ("CreatePod".to_owned(), reason.as_str().unwrap_or_default().to_owned());
    }
    let json = serde_json::to_value(action).unwrap_or_default();
    let word = |name: &str| json.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    (word("type"), word("reason"))
}

/// A plan, one line per action and per warning.
pub(crate) fn plan(key: &Key, plan: &Plan) -> String {
    let mut text = String::new();
    let shown = plan.actions.iter().filter(|action| !matches!(action, Action::Requeue { .. }));
    let lines: Vec<String> = shown.map(line).collect();
    // Writing to a string can't fail.
    let _ = match lines.as_slice() {
        [] => writeln!(text, "{key}: nothing to do"),
        _ => writeln!(text, "{key}: {} actions", lines.len()),
    };
    for line in lines {
        let _ = writeln!(text, "  {line}");
    }
    for plan_warning in &plan.warnings {
        let _ = writeln!(text, "  warning: {}", warning(plan_warning));
    }
    text
}

fn line(action: &Action) -> String {
    let (kind, reason) = kind_and_reason(action);
    match object(action) {
        Some(object) => format!("{kind} {object} ({reason})"),
        None => format!("{kind} ({reason})"),
    }
}

/// The object of an action, with its new values.
fn object(action: &Action) -> Option<String> {
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

/// A warning as a sentence without a full stop.
pub(crate) fn warning(warning: &Warning) -> String {
    match warning {
        Warning::HostPortWithSurge { port } => {
            format!(
                "with maxSurge the new pod may stay Pending, because both pods of a node use host port {port}"
            )
        }
        Warning::NodesLost { nodes } => {
            format!("{nodes} nodes went down with the updated pod on them and count against the limit")
        }
        Warning::GenerationHashConflict { pods } => {
            format!(
                "the template generation of {pods} pods is current, but their hash label names another revision"
            )
        }
        Warning::PodsWithoutTarget { pods } => {
            format!("pods that neither have a node nor name one are left alone: {}", pods.join(", "))
        }
        Warning::PodsOnUnknownNodes { pods } => {
            format!("pods on unknown nodes are left to the pod garbage collector: {}", pods.join(", "))
        }
        Warning::PercentRoundsToAll { percent, desired } => {
            format!("{percent}% of {desired} target nodes rounds up to all of them")
        }
        Warning::BothLimitsSet => "maxUnavailable is ignored, because maxSurge is set too".to_owned(),
        Warning::BothLimitsZero => "maxUnavailable and maxSurge are 0: maxUnavailable 1 is used".to_owned(),
        Warning::StrategyMissing => "the update strategy has no type: OnDelete is used".to_owned(),
        Warning::NoTargetNodes => "no node should run the pod".to_owned(),
        // The enum may grow; its JSON form names the variant and its fields.
        other => serde_json::to_string(other).unwrap_or_default(),
    }
}
