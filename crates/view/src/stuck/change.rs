//! When an object of a DaemonSet has changed last.

use crate::case::Case;
use daemonset::model::{ControllerRevision, OwnerReference, Pod};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

/// By the DaemonSet, its revisions and its pods. The pods of one that is being deleted have until they should be gone. A change of the
/// DaemonSet's spec itself leaves no time, but for a restart.
pub fn last_change(case: &Case<'_>) -> Option<Timestamp> {
    let daemon_set = &case.planned.daemon_set;
    let (uid, deleted) = (&daemon_set.metadata.uid, daemon_set.metadata.deletion_timestamp);
    let is_own = |owners: &[OwnerReference]| OwnerReference::controller_of(owners) == Some(uid.as_str());
    let of_pod = |pod: &Pod| {
        let ready = pod.readiness().and_then(|ready| ready.last_transition_time);
        let grace = SignedDuration::from_secs(pod.metadata.deletion_grace_period_seconds.unwrap_or(0));
        let grace = if deleted.is_some() { SignedDuration::ZERO } else { grace };
        let ends = pod.metadata.deletion_timestamp.and_then(|at| at.checked_sub(grace).ok());
        [pod.metadata.creation_timestamp, ready, ends].into_iter().flatten().max()
    };
    let of_revision = |revision: &ControllerRevision| revision.metadata.creation_timestamp;
    let pods = case.models.pods.iter().filter(|pod| is_own(&pod.metadata.owner_references));
    let revisions = case.models.revisions.iter().filter(|it| is_own(&it.metadata.owner_references));
    let restarted =
        daemon_set.spec.template.pointer("/metadata/annotations/kubectl.kubernetes.io~1restartedAt");
    let restarted = restarted.and_then(Value::as_str).and_then(|at| at.parse().ok());
    let created = daemon_set.metadata.creation_timestamp;
    let changes = pods.filter_map(of_pod).chain(revisions.filter_map(of_revision));
    changes.chain(restarted).chain(created).chain(deleted).max().map(|at| at.min(case.now))
}
