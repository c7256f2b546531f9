//! Plans from changes, judged by the objects that a tracker keeps.

use crate::audit;
use crate::violation::Violation;
use daemonset::{Action, ObservedAt};
use daemonset_incremental::{NeedsLists, Tracker};
use thiserror::Error;

/// Why a tracker does not keep the objects that an audit needs. [`audit()`] of a snapshot of all objects has an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NotKept {
    /// No objects are kept: the next plan needs lists, too.
    #[error(transparent)]
    NeedsLists(#[from] NeedsLists),
    /// The labels of nodes, by which the waves of a [rollout policy](field@daemonset::Policy::rollout) choose nodes.
    #[error("the labels of nodes are not kept, and the waves of a rollout policy need them")]
    NodeLabels,
}

/// As [`audit()`], by the objects that a tracker keeps for its plans, at this instant.
///
/// An object of another owner is not kept: an action on it is an [`UnknownObject`](crate::ViolationKind::UnknownObject). The cost
/// grows as nodes and pods do.
///
/// ```
/// use daemonset::{Observed, Policy, model};
/// use daemonset_incremental::{NeedsLists, Tracker};
/// use daemonset_audit::{NotKept, audit_kept};
/// use serde_json::{from_value, json};
///
/// # let daemon_set: model::DaemonSet = from_value(json!({
/// #     "metadata": {"name": "agent", "namespace": "ns", "uid": "u1"},
/// #     "spec": {"selector": {"matchLabels": {"app": "agent"}}, "template": {"metadata": {"labels": {"app": "agent"}}}},
/// # }))?;
/// # let nodes: Vec<model::Node> = from_value(json!([{"metadata": {"name": "a"}}]))?;
/// # let (pods, revisions): (Vec<model::Pod>, Vec<model::ControllerRevision>) = (vec![], vec![]);
/// # let now: jiff::Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
/// let mut tracker = Tracker::new("u1", Policy::default());
/// assert_eq!(audit_kept(&tracker, &[], now), Err(NotKept::NeedsLists(NeedsLists::NotListed)));
///
/// let observed = Observed { daemon_set: &daemon_set, nodes: &nodes, pods: &pods, revisions: &revisions };
/// let plan = tracker.list(observed, now).unwrap();
/// assert_eq!(audit_kept(&tracker, &plan.actions, now), Ok(vec![]));
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Errors
/// The reason why the objects that an audit needs are not kept.
pub fn audit_kept(
    tracker: &Tracker,
    actions: &[Action],
    at: impl Into<ObservedAt>,
) -> Result<Vec<Violation>, NotKept> {
    let snapshot = tracker.kept_snapshot(at.into())?;
    if tracker.policy().rollout.is_some() {
        return Err(NotKept::NodeLabels);
    }
    Ok(audit(&snapshot, actions))
}
