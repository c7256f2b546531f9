//! The objects that actions name, and their owners.

use crate::facts::lineage::ownership;
use crate::facts::named::Subject;
use crate::facts::stage::PodStage;
use crate::facts::{memories, pulls};
use crate::fleet::context::Context;
use crate::kind::ViolationKind;
use crate::violation::Findings;
use daemonset::internal::{Ownership, PodIx, RevisionIx};
use daemonset::{Action, DeleteReason};

/// Checks names, owners and second deletes of all actions.
pub(crate) fn check(context: &Context<'_>, findings: &mut Findings<'_>) {
    let (mut deleted_revisions, mut deleted_pulls) = (Vec::new(), Vec::new());
    let mut deletes = context.deletes.iter().peekable();
    for (index, action, subject) in context.actions() {
        let counts = deletes.next_if(|delete| delete.action == index).is_some();
        let kind = match subject {
            Subject::Nothing | Subject::DaemonSet | Subject::Node(_) => continue,
            Subject::Unknown => Some(ViolationKind::UnknownObject),
            Subject::Pod(pod) if counts || context.owns_pod(pod) => {
                wrong_action_on_own_pod(context, action, pod, counts)
            }
            Subject::Pod(pod) => wrong_action_on_pod(context, action, pod)
                .or_else(|| deleted_again(&mut deleted_pulls, action, pod)),
            Subject::Revision(revision) => wrong_action_on_revision(context, action, revision)
                .or_else(|| deleted_again(&mut deleted_revisions, action, revision)),
        };
        if let Some(kind) = kind {
            findings.add(index, kind);
        }
    }
}

/// For a pod of the DaemonSet, or one that the list adopts; `counts` says that the action is the first delete of a pod that
/// is not terminating.
fn wrong_action_on_own_pod(
    context: &Context<'_>,
    action: &Action,
    pod: PodIx,
    counts: bool,
) -> Option<ViolationKind> {
    let (pod, facts) = (context.snapshot.pod(pod), context.snapshot.facts(pod));
    match action {
        Action::AdoptPod { .. } => {
            let may = facts.ownership == Ownership::Orphan && pod.deleted_at.is_none();
            (!may).then_some(ViolationKind::WrongAdoption)
        }
        Action::ReleasePod { .. } => Some(ViolationKind::WrongRelease),
        Action::DeletePod { .. } if !counts => {
            let leaving = matches!(context.stage(pod, facts), PodStage::Terminating | PodStage::Gone);
            Some(if leaving { ViolationKind::AlreadyTerminating } else { ViolationKind::DeletedTwice })
        }
        _ => None,
    }
}

/// For a pod that does not belong to the DaemonSet, or no longer does.
fn wrong_action_on_pod(context: &Context<'_>, action: &Action, pod: PodIx) -> Option<ViolationKind> {
    let facts = context.snapshot.facts(pod);
    match action {
        Action::AdoptPod { .. } => Some(ViolationKind::WrongAdoption),
        Action::ReleasePod { .. } => {
            (facts.ownership != Ownership::Controlled).then_some(ViolationKind::WrongRelease)
        }
        Action::DeletePod { reason: DeleteReason::PullDone, .. } => {
            let (snapshot, pod) = (context.snapshot, context.snapshot.pod(pod));
            let is_going = pod.deleted_at.is_some() || memories::pull_delete_in_flight(snapshot, pod.uid);
            if !pulls::is_own(snapshot, pod) {
                Some(ViolationKind::ForeignObject)
            } else {
                is_going.then_some(ViolationKind::AlreadyTerminating)
            }
        }
        _ => Some(ViolationKind::ForeignObject),
    }
}

fn wrong_action_on_revision(
    context: &Context<'_>,
    action: &Action,
    position: RevisionIx,
) -> Option<ViolationKind> {
    let snapshot = context.snapshot;
    let revision = snapshot.revision(position);
    let selected = snapshot.spec().selector.matches(revision.labels);
    let ownership = ownership(snapshot, revision);
    match action {
        Action::AdoptRevision { .. } => {
            let may = ownership == Ownership::Orphan && selected && revision.deleted_at.is_none();
            (!may).then_some(ViolationKind::WrongAdoption)
        }
        Action::ReleaseRevision { .. } => {
            (ownership != Ownership::Controlled || selected).then_some(ViolationKind::WrongRelease)
        }
        Action::LabelRevision { .. } | Action::AnnotateRevision { .. }
            if context.lineage.released(position).is_some() =>
        {
            None
        }
        _ => (!context.owns_revision(position)).then_some(ViolationKind::ForeignObject),
    }
}

/// A terminating revision may be deleted again, but neither it nor a pull pod twice by one list.
fn deleted_again<I: Ord>(deleted: &mut Vec<I>, action: &Action, position: I) -> Option<ViolationKind> {
    if !matches!(action, Action::DeleteRevision { .. } | Action::DeletePod { .. }) {
        return None;
    }
    match deleted.binary_search(&position) {
        Ok(_) => Some(ViolationKind::DeletedTwice),
        Err(place) => {
            deleted.insert(place, position);
            None
        }
    }
}
