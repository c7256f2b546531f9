//! Rollouts that people steer: waves, pauses, failures, the way back, and the update beside another controller.

mod annotations;
mod conditions;
mod drive;
mod failure;
mod goal;
mod marks;
mod policy;
mod report;
mod undo;
mod waves;

use crate::support::{Given, at, given, revision, rolling};
use daemonset::{Action, Plan};
use serde_json::{Value, json};

/// A fleet at maxUnavailable 100 % whose rollout has started ten minutes ago: only the rollout holds nodes back.
pub(super) fn steered(rollout: Value) -> Given {
    given(rolling("100%"))
        .policy(json!({"rollout": rollout}))
        .revisions([revision("old", 1), marked("new", 2, &[("started", &format!("2 {}", at(-600)))])])
}

/// A revision with marks.
fn marked(version: &str, number: i64, marks: &[(&str, &str)]) -> Value {
    let mut revision = revision(version, number);
    let mark = |(name, value): &(&str, &str)| (format!("rollout.daemonset/{name}"), json!(value));
    revision["metadata"]["annotations"] = marks.iter().map(mark).collect();
    revision
}

/// The same with these revisions; the current one has started.
pub(super) fn revisions(given: Given, stable: Value, marks: &[(&str, &str)]) -> Given {
    let started = format!("2 {}", at(-600));
    let all: Vec<_> = [("started", started.as_str())].into_iter().chain(marks.iter().copied()).collect();
    given.revisions([stable, marked("new", 2, &all)])
}

/// The value of a mark on the current revision, set a minute ago.
pub(super) fn mark(rest: &str) -> String {
    format!("2 {} {rest}", at(-60)).trim_end().to_owned()
}

/// The nodes whose pod is deleted.
fn deletes(plan: &Plan) -> Vec<String> {
    let node = |action: &Action| match action {
        Action::DeletePod { node, .. } => Some(node.to_string()),
        _ => None,
    };
    plan.actions.iter().filter_map(node).collect()
}

/// The nodes that get a pod, with the hash of its revision.
fn creates(plan: &Plan) -> Vec<(String, String)> {
    let node = |action: &Action| match action {
        Action::CreatePod { node, pod, .. } => Some((node.to_string(), pod.revision_hash().to_owned())),
        _ => None,
    };
    plan.actions.iter().filter_map(node).collect()
}

/// The marks that a plan sets, as `name=rest`, or `name-` for a removed one. Number and instant are those of the plan.
fn marks(plan: &Plan) -> Vec<String> {
    let now = format!("2 {}", at(0));
    let written = |(key, value): (&String, &Option<String>)| {
        let name = key.strip_prefix("rollout.daemonset/").unwrap();
        match value {
            Some(value) => format!("{name}={}", value.strip_prefix(&now).unwrap().trim_start()),
            None => format!("{name}-"),
        }
    };
    let of_action = |action: &Action| match action {
        Action::AnnotateRevision { annotations, .. } => annotations.iter().map(written).collect(),
        _ => Vec::new(),
    };
    plan.actions.iter().flat_map(of_action).collect()
}

/// The instant of the plan's wake-up, in seconds from now, with its reason.
fn requeue(plan: &Plan) -> Option<(i64, String)> {
    plan.requeue().map(|(instant, reason)| (instant.duration_since(at(0)).as_secs(), reason.to_string()))
}
