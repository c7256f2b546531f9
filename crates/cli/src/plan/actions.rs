//! The actions of a plan as lines, and their sum.

use crate::words::{self, deleting};
use daemonset::Action;
use daemonset::model::{DaemonSetStatus, Labels};
use indexmap::IndexMap;
use serde_json::Value;
use std::collections::BTreeMap;

/// More actions than this are put together where they are alike.
const MOST_LINES: usize = 40;

/// One line for each action but the Requeue, in order; where there are many, one for those of one kind and reason.
pub(crate) fn lines(actions: &[Action], before: &DaemonSetStatus) -> Vec<String> {
    let mut groups: IndexMap<(Kind, String), Vec<String>> = IndexMap::new();
    let mut lines = Vec::new();
    for action in actions {
        let Some(kind) = kind(action) else { continue };
        let (object, why) = detail(action, before);
        lines.push(format!("{} {} {object}: {why}", kind.verb, kind.noun));
        groups.entry((kind, why)).or_default().push(object);
    }
    if lines.len() <= MOST_LINES {
        return lines;
    }
    groups.iter().map(|((kind, why), objects)| together(kind, why, objects)).collect()
}

fn together(kind: &Kind, why: &str, objects: &[String]) -> String {
    let number = match objects.len() {
        1 => kind.noun.to_owned(),
        several => words::count(several, kind.noun),
    };
    format!("{} {number} {}: {why}", kind.verb, words::names(objects, 3))
}

/// `delete 1 pod, create 5 pods, write the status`.
pub(crate) fn summary(actions: &[Action]) -> String {
    let mut counts: IndexMap<Kind, usize> = IndexMap::new();
    for kind in actions.iter().filter_map(kind) {
        *counts.entry(kind).or_default() += 1;
    }
    let parts = counts.into_iter().map(|(Kind { verb, noun }, number)| match noun {
        "status" => format!("{verb} the {noun}"),
        _ => format!("{verb} {}", words::count(number, noun)),
    });
    parts.collect::<Vec<_>>().join(", ")
}

/// Verb and object: `delete`, `pod`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Kind {
    verb: &'static str,
    noun: &'static str,
}

/// `None` for a Requeue, which changes nothing.
fn kind(action: &Action) -> Option<Kind> {
    let (verb, noun) = match action {
        Action::AdoptPod { .. } => ("adopt", "pod"),
        Action::ReleasePod { .. } => ("release", "pod"),
        Action::AdoptRevision { .. } => ("adopt", "revision"),
        Action::ReleaseRevision { .. } => ("release", "revision"),
        Action::CreateRevision { .. } => ("create", "revision"),
        Action::LabelRevision { .. } => ("label", "revision"),
        Action::RenumberRevision { .. } => ("renumber", "revision"),
        Action::AnnotateRevision { .. } => ("mark", "revision"),
        Action::LabelPod { .. } => ("label", "pod"),
        Action::DeletePod { .. } => ("delete", "pod"),
        Action::CreatePod { .. } => ("create", "pod"),
        Action::DeleteRevision { .. } => ("delete", "revision"),
        Action::UpdateStatus { .. } => ("write", "status"),
        Action::RecordEvent { .. } => ("record", "event"),
        Action::Requeue { .. } => return None,
    };
    Some(Kind { verb, noun })
}

/// To which object, and why.
fn detail(action: &Action, before: &DaemonSetStatus) -> (String, String) {
    match action {
        Action::AdoptPod { pod: object, reason, .. }
        | Action::ReleasePod { pod: object, reason, .. }
        | Action::AdoptRevision { revision: object, reason, .. }
        | Action::ReleaseRevision { revision: object, reason, .. } => {
            (object.name.clone(), words::claiming(*reason))
        }
        Action::LabelRevision { revision: object, labels, reason, .. }
        | Action::LabelPod { pod: object, labels, reason, .. } => {
            (labelled(&object.name, labels), words::labelling(*reason))
        }
        Action::CreateRevision { revision, reason, .. } => (created(revision), words::revising(*reason)),
        Action::RenumberRevision { revision, number, reason, .. } => {
            (format!("{} to #{number}", revision.name), words::revising(*reason))
        }
        Action::AnnotateRevision { revision, annotations, reason, .. } => {
            (annotated(&revision.name, annotations), words::marking(*reason))
        }
        Action::DeleteRevision { revision, reason, .. } => (revision.name.clone(), words::revising(*reason)),
        Action::DeletePod { node, pod, reason, .. } => (on(&pod.name, node.as_str()), deleting(*reason)),
        Action::CreatePod { node, batch, reason, .. } => {
            (format!("on {node} (batch {batch})"), words::creating(*reason))
        }
        Action::UpdateStatus { status, reason, .. } => {
            (words::writing_status(*reason), changes(before, status))
        }
        Action::RecordEvent { event_type, reason, message, .. } => {
            (format!("{message:?}"), format!("{event_type:?} {reason:?}"))
        }
        Action::Requeue { at, reason, .. } => (at.to_string(), words::waking(*reason)),
    }
}

/// As `kubectl annotate` has it: `name key=value`, or `name key-` where it is removed.
fn annotated(name: &str, annotations: &BTreeMap<String, Option<String>>) -> String {
    let changes = annotations.iter().map(|(key, value)| match value {
        Some(value) => format!("{key}={value:?}"),
        None => format!("{key}-"),
    });
    format!("{name} {}", changes.collect::<Vec<_>>().join(" "))
}

fn on(pod: &str, node: &str) -> String {
    if node.is_empty() { pod.to_owned() } else { format!("{pod} on {node}") }
}

fn labelled(name: &str, labels: &Labels) -> String {
    let labels = labels.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>();
    format!("{name} with {}", labels.join(", "))
}

fn created(revision: &Value) -> String {
    let name = revision.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
    let number = revision.get("revision").and_then(Value::as_i64).unwrap_or_default();
    format!("{name} as #{number}")
}

/// The counters and the conditions that differ.
fn changes(before: &DaemonSetStatus, after: &DaemonSetStatus) -> String {
    let counters = |status: &DaemonSetStatus| {
        [
            ("desired", i64::from(status.desired_number_scheduled)),
            ("scheduled", status.current_number_scheduled.into()),
            ("misscheduled", status.number_misscheduled.into()),
            ("updated", status.updated_number_scheduled.into()),
            ("ready", status.number_ready.into()),
            ("available", status.number_available.into()),
            ("unavailable", status.number_unavailable.into()),
            ("observedGeneration", status.observed_generation),
            ("collisionCount", status.collision_count.unwrap_or(0).into()),
        ]
    };
    let pairs = counters(before).into_iter().zip(counters(after)).filter(|(before, after)| before != after);
    let changed = pairs.map(|((name, before), (_, after))| format!("{name} {before} -> {after}"));
    let conditions = after.conditions.iter().filter(|condition| !before.conditions.contains(condition));
    changed.chain(conditions.map(condition)).collect::<Vec<_>>().join(", ")
}

/// `Available True (EnoughAvailable)`.
fn condition(condition: &Value) -> String {
    let text = |member: &str| condition.get(member).and_then(Value::as_str).unwrap_or_default();
    format!("{} {} ({})", text("type"), text("status"), text("reason"))
}
