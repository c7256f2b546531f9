//! Rollouts that people steer by annotations.

pub mod driver;
mod marks;
mod metrics;
mod stories;
mod undo;

use crate::cluster::Cluster;
use crate::pods::node_of;
use crate::store::{ChangeKind, Kind, text};
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;

pub const MINUTE: Duration = Duration::from_secs(60);
pub const POLICY: &str = "rollout.daemonset/policy";
pub const PAUSED: &str = "rollout.daemonset/paused";
pub const APPROVED: &str = "rollout.daemonset/approved";

pub const OLD: &str = "agent:v1";
pub const NEW: &str = "agent:v2";
pub const BROKEN: &str = "agent:non-existent";

/// A canary, then half of the nodes, then all; each but the canary needs approval.
pub const WAVES: &str = "
waves:
- upTo: 1
- upTo: 50%
  needsApproval: true
- needsApproval: true
";

/// The canary fails if its image can't be pulled within ten seconds.
pub fn canary(action: &str) -> String {
    format!("waves: [{{upTo: 1}}, {{}}]\nonFailure: {{action: {action}, waitingSeconds: 10}}\n")
}

/// The events with these reasons, in the order in which they were recorded.
pub fn story(cluster: &Cluster) -> Vec<String> {
    let pods = ["SuccessfulCreate", "SuccessfulDelete"];
    cluster.api.state().events.iter().filter(|reason| !pods.contains(&reason.as_str())).cloned().collect()
}

/// The only event with this reason.
pub fn event(cluster: &Cluster, reason: &str) -> Value {
    let state = cluster.api.state();
    let events: Vec<&Value> =
        state.stored_events.values().filter(|event| event["reason"] == reason).collect();
    let [event] = events.as_slice() else { panic!("{reason}: {events:#?}") };
    (*event).clone()
}

pub fn message(cluster: &Cluster, reason: &str) -> String {
    text(&event(cluster, reason)["message"]).to_owned()
}

/// The revision with the largest number.
pub fn current_revision(cluster: &Cluster) -> Value {
    let state = cluster.api.state();
    let of_agent = state.store.list(Kind::Revision).cloned();
    of_agent.max_by_key(|revision| revision["revision"].as_i64()).expect("a revision")
}

/// The nodes whose pods were created or deleted from this version on.
pub fn touched_nodes(cluster: &Cluster, from: usize) -> BTreeSet<String> {
    let state = cluster.api.state();
    let changes = state.store.log[from..].iter();
    let of_pods = changes.filter(|change| {
        change.id.kind == Kind::Pod && matches!(change.change_kind, ChangeKind::Added | ChangeKind::Deleted)
    });
    of_pods.map(|change| node_of(&change.object).to_owned()).collect()
}

pub fn version(cluster: &Cluster) -> usize {
    cluster.api.state().store.log.len()
}
