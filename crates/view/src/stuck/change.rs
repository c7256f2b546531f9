//! When an object of a DaemonSet has changed last.

use crate::case::Case;
use daemonset::model::{ControllerRevision, OwnerReference, Pod, Uid};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

/// By the DaemonSet, its revisions and its pods. The pods of one that is being deleted have until they should be gone. A change of the
/// DaemonSet's spec itself leaves no time, but for a restart.
pub fn last_change(case: &Case<'_>) -> Option<Timestamp> {
    let notes = &case.models.notes;
    let became_ready = |pod: &Pod| pod.readiness().and_then(|ready| ready.last_transition_time);
    let failed = |pod: &Pod| notes.pod(&pod.metadata.uid)?.failed.as_ref()?.at;
    let by_kubelets =
        own_pods(case).filter_map(|pod| became_ready(pod).max(failed(pod))).max().map(|at| at.min(case.now));
    last_call(case).max(by_kubelets)
}

/// The same without the changes that kubelets make: the last thing that a controller or a person has done.
pub fn last_call(case: &Case<'_>) -> Option<Timestamp> {
    let daemon_set = &case.planned.daemon_set;
    let deleted = daemon_set.metadata.deletion_timestamp;
    let of_pod = |pod: &Pod| {
        let grace = SignedDuration::from_secs(pod.metadata.deletion_grace_period_seconds.unwrap_or(0));
        let grace = if deleted.is_some() { SignedDuration::ZERO } else { grace };
        let ends = pod.metadata.deletion_timestamp.and_then(|at| at.checked_sub(grace).ok());
        pod.metadata.creation_timestamp.max(ends)
    };
    let of_revision = |revision: &ControllerRevision| revision.metadata.creation_timestamp;
    let uid = &daemon_set.metadata.uid;
    let revisions =
        case.models.revisions.iter().filter(|it| is_controlled_by(uid, &it.metadata.owner_references));
    let restarted =
        daemon_set.spec.template.pointer("/metadata/annotations/kubectl.kubernetes.io~1restartedAt");
    let restarted = restarted.and_then(Value::as_str).and_then(|at| at.parse().ok());
    let created = daemon_set.metadata.creation_timestamp;
    let changes = own_pods(case).filter_map(of_pod).chain(revisions.filter_map(of_revision));
    changes.chain(restarted).chain(created).chain(deleted).max().map(|at| at.min(case.now))
}

fn own_pods<'a>(case: &Case<'a>) -> impl Iterator<Item = &'a Pod> {
    let (models, uid) = (case.models, &case.planned.daemon_set.metadata.uid);
    models.pods.iter().filter(|pod| is_controlled_by(uid, &pod.metadata.owner_references))
}

fn is_controlled_by(uid: &Uid, owners: &[OwnerReference]) -> bool {
    OwnerReference::controller_of(owners) == Some(uid.as_str())
}
