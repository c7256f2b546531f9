//! The actions of a plan as lines.

use crate::goal::GoalPhrase;
use crate::steered::Steered;
use crate::words;
use daemonset::Action;
use daemonset::model::{DaemonSetStatus, Labels, NodeName};
use indexmap::IndexMap;
use serde_json::Value;
use std::collections::BTreeMap;

/// More actions than this are put together where they are alike.
const MOST_LINES: usize = 40;

/// One line for each action but the Requeue, in order; where there are many, one for those of one kind and reason.
pub fn lines(actions: &[Action], before: &DaemonSetStatus, steered: Option<&Steered<'_>>) -> Vec<String> {
    let mut groups: IndexMap<(&str, &str, String), Vec<String>> = IndexMap::new();
    let mut lines = Vec::new();
    for action in actions.iter().filter(|action| action.acts()) {
        let (verb, noun) = (action.verb(), action.noun());
        let (object, why) = detail(action, before, steered);
        lines.push(format!("{verb} {noun} {object}: {why}"));
        groups.entry((verb, noun, why)).or_default().push(object);
    }
    if lines.len() <= MOST_LINES {
        return lines;
    }
    groups.iter().map(|((verb, noun, why), objects)| together(verb, noun, why, objects)).collect()
}

fn together(verb: &str, noun: &str, why: &str, objects: &[String]) -> String {
    let number = match objects.len() {
        1 => noun.to_owned(),
        several => words::count(several, noun),
    };
    format!("{verb} {number} {}: {why}", words::names(objects, 3))
}

/// To which object, and why.
fn detail(action: &Action, before: &DaemonSetStatus, steered: Option<&Steered<'_>>) -> (String, String) {
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
        Action::CreateRevision { revision, reason, .. } => {
            (created(action, revision), words::revising(*reason))
        }
        Action::RenumberRevision { revision, number, reason, .. } => {
            (format!("{} to #{number}", revision.name), words::revising(*reason))
        }
        Action::AnnotateRevision { revision, annotations, reason, .. } => {
            (annotated(&revision.name, annotations), words::marking(*reason))
        }
        Action::DeleteRevision { revision, reason, .. } => (revision.name.clone(), words::revising(*reason)),
        Action::PatchNode { node, unschedulable, reason, .. } => {
            let change = match unschedulable {
                Some(true) => " (cordoned)",
                Some(false) => " (uncordoned)",
                None => "",
            };
            (format!("{}{change}", node.name), words::patching(*reason))
        }
        Action::DeletePod { node, pod, reason, .. } | Action::UpdatePodInPlace { node, pod, reason, .. } => {
            (on(&pod.name, node.as_str()), goal(steered, node).deleting(*reason))
        }
        Action::CreatePod { node, batch, reason, .. } => {
            (format!("on {node} (batch {batch})"), goal(steered, node).creating(*reason))
        }
        Action::UpdateStatus { status, reason, .. } => {
            (words::writing_status(*reason), changes(before, status))
        }
        Action::RestoreTemplate { revision, reason, .. } => {
            (format!("of {}", revision.name), words::restoring(*reason))
        }
        Action::RecordEvent { event_type, reason, message, .. } => {
            (format!("{message:?}"), format!("{event_type:?} {reason:?}"))
        }
        Action::Requeue { at, reason, .. } => (at.to_string(), words::waking(*reason)),
    }
}

/// The version that a node should have.
fn goal<'a>(steered: Option<&Steered<'a>>, node: &NodeName) -> GoalPhrase<'a> {
    let verdict = steered.and_then(|steered| steered.plan.report.node(node.as_str()));
    verdict.map_or(GoalPhrase::Current, |verdict| GoalPhrase::of(steered, verdict))
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

fn created(action: &Action, revision: &Value) -> String {
    let name = action.subject_name().unwrap_or_default();
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
