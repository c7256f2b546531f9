//! The safety rules: each has a list of actions that breaks this rule and no other.

mod budget;
mod changes;
mod creates;
mod excuse;
mod list;
mod objects;
mod pods;
mod released;
mod revisions;
mod rollout;
mod turns;

use crate::support::{Given, at, given, node, old, rolling};
use daemonset::model::{DaemonSetStatus, Labels, ObjectRef};
use daemonset::{
    Action, ClaimReason, DeleteReason, LabelReason, RequeueReason, RevisionReason, StatusReason,
};
use daemonset_audit::{Violation, ViolationKind as Kind, audit};
use serde_json::json;

fn violations(given: &Given, actions: &[Action]) -> Vec<Violation> {
    let recording = given.recording();
    audit(&recording.snapshot().unwrap(), actions)
}

fn broken(given: &Given, actions: &[Action]) -> Vec<Kind> {
    violations(given, actions).into_iter().map(|violation| violation.kind).collect()
}

fn named(name: &str) -> ObjectRef {
    ObjectRef {
        namespace: "ns".to_owned(),
        name: name.to_owned(),
        uid: format!("uid-{name}").into(),
        ..ObjectRef::default()
    }
}

/// Deletes the pod `<node>-<suffix>`.
fn delete(name: &str) -> Action {
    let node = name.split('-').next().unwrap().into();
    Action::delete_pod(node, named(name), DeleteReason::OutdatedAvailable)
}

/// The create for a node without pods, in this batch.
fn create_in(batch: u32, on: &str) -> Action {
    create_of(&given(rolling(1)).node(node(on)), batch)
}

/// The first pod that the plan of this fleet creates.
fn create_of(fleet: &Given, batch: u32) -> Action {
    let create = fleet.plan().actions.into_iter().find_map(|action| match action {
        Action::CreatePod { node, reason, pod, .. } => Some(Action::create_pod(node, batch, reason, pod)),
        _ => None,
    });
    create.unwrap()
}

fn create(on: &str) -> Action {
    create_in(0, on)
}

fn delete_revision(name: &str) -> Action {
    Action::delete_revision(named(name), RevisionReason::HistoryLimit)
}

fn label(pod: &str, hash: &str) -> Action {
    let labels = Labels::from_iter([("controller-revision-hash", hash)]);
    Action::label_pod(named(pod), labels, LabelReason::DuplicateRevision)
}

fn adopt(pod: &str) -> Action {
    Action::adopt_pod(named(pod), ClaimReason::SelectorMatches)
}

fn release(pod: &str) -> Action {
    Action::release_pod(named(pod), ClaimReason::SelectorNoLongerMatches)
}

fn write(status: DaemonSetStatus, reason: StatusReason) -> Action {
    Action::update_status(named("agent"), status, reason)
}

fn wake_up(seconds: i64) -> Action {
    Action::requeue(at(seconds), RequeueReason::MinReadySeconds)
}

/// Nodes a, b and c, each with an available outdated pod.
fn three(strategy: serde_json::Value) -> Given {
    given(strategy).nodes(["a", "b", "c"], old())
}

fn json_status(status: serde_json::Value) -> DaemonSetStatus {
    let mut whole = json!({"observedGeneration": 2});
    whole.as_object_mut().unwrap().extend(status.as_object().unwrap().clone());
    serde_json::from_value(whole).unwrap()
}
