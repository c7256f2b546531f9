//! The garbage collector's side: the next actions for the dependents of a deleted DaemonSet.
//!
//! v1.36 `pkg/controller/garbagecollector/garbagecollector.go attemptToDeleteItem, processDeletingDependentsItem,
//! orphanDependents`.

use super::action::{CascadeAction, CollectReason, DisownReason, FinalizeReason};
use super::options::Propagation;
use super::state::{Stage, State};
use super::{FOREGROUND_DELETION, ORPHAN, Object};

/// The next actions, in order: pods, revisions, then the DaemonSet itself; each group sorted by name.
///
/// The result depends on the objects alone. Called again after every change, it ends with an empty list, and a crash
/// between two actions loses nothing. An empty list means that the deletion waits for an object to change (see
/// [`State::stage`]) or is complete.
///
/// - Orphan: every object is released. The finalizer is removed in a later call, once no object names the DaemonSet
///   as owner: a pod that was created in between would otherwise be collected `[orphans-seen-released]`.
/// - Foreground: every object is deleted; the finalizer is removed once no object is left that blocks the DaemonSet.
/// - Gone: every object is deleted.
///
/// In the last two cases an object with another owner is only released, and an object that is being deleted already
/// gets no action. Other owners are assumed to exist `[other-owners-are-there]`: if one does not, its own cascade
/// deletes the object. A pod that is deleted with a finalizer of the garbage collector has a cascade of its own,
/// which is not part of this one.
#[must_use = "actions do nothing by themselves: execute them"]
pub fn cascade(state: &State<'_>) -> Vec<CascadeAction> {
    match state.stage() {
        Stage::NotBeingDeleted | Stage::HeldByFinalizers { .. } => Vec::new(),
        Stage::Orphaning { dependents: 0 } => remove(state, ORPHAN, FinalizeReason::DependentsOrphaned),
        Stage::Orphaning { .. } => orphan(state),
        Stage::WaitingForDependents { blocking, .. } => {
            let mut actions = collect(state, CollectReason::OwnerWaits);
            if blocking == 0 {
                actions.extend(remove(state, FOREGROUND_DELETION, FinalizeReason::DependentsGone));
            }
            actions
        }
        Stage::ReadyToGo => end(state),
        Stage::Gone { .. } => collect(state, CollectReason::OwnerGone),
    }
}

fn orphan(state: &State<'_>) -> Vec<CascadeAction> {
    let pods = state.owned_pods().into_iter().map(|pod| release_pod(state, pod, DisownReason::Orphaned));
    let revisions = state.owned_revisions();
    pods.chain(revisions.into_iter().map(|one| release_revision(state, one, DisownReason::Orphaned)))
        .collect()
}

fn collect(state: &State<'_>, reason: CollectReason) -> Vec<CascadeAction> {
    let pods = state.owned_pods().into_iter().filter_map(|pod| match fate(state, pod)? {
        Fate::Released => Some(release_pod(state, pod, DisownReason::OtherOwner)),
        Fate::Deleted(propagation_policy) => {
            Some(CascadeAction::DeletePod { pod: pod.object_ref(), propagation_policy, reason })
        }
    });
    let revisions = state.owned_revisions().into_iter().filter_map(|revision| match fate(state, revision)? {
        Fate::Released => Some(release_revision(state, revision, DisownReason::OtherOwner)),
        Fate::Deleted(propagation_policy) => {
            let revision = revision.object_ref();
            Some(CascadeAction::DeleteRevision { revision, propagation_policy, reason })
        }
    });
    pods.chain(revisions).collect()
}

/// The treatment of a dependent.
enum Fate {
    Released,
    Deleted(Propagation),
}

/// `None` if the object is being deleted already, which can't be undone.
fn fate(state: &State<'_>, object: &Object) -> Option<Fate> {
    if object.is_being_deleted() {
        None
    } else if object.has_owner_beside(state.uid()) {
        Some(Fate::Released)
    } else if object.has_finalizer(ORPHAN) {
        // A finalizer that was set beforehand is respected.
        Some(Fate::Deleted(Propagation::Orphan))
    } else if object.has_finalizer(FOREGROUND_DELETION) {
        Some(Fate::Deleted(Propagation::Foreground))
    } else {
        Some(Fate::Deleted(Propagation::Background))
    }
}

fn release_pod(state: &State<'_>, pod: &Object, reason: DisownReason) -> CascadeAction {
    CascadeAction::ReleasePod { pod: pod.object_ref(), owner: state.uid().clone(), reason }
}

fn release_revision(state: &State<'_>, revision: &Object, reason: DisownReason) -> CascadeAction {
    CascadeAction::ReleaseRevision { revision: revision.object_ref(), owner: state.uid().clone(), reason }
}

fn remove(state: &State<'_>, finalizer: &str, reason: FinalizeReason) -> Vec<CascadeAction> {
    let action = |daemon_set: &Object| {
        let others = daemon_set.metadata.finalizers.iter().filter(|one| *one != finalizer);
        CascadeAction::RemoveFinalizer {
            daemon_set: daemon_set.object_ref(),
            finalizer: finalizer.to_owned(),
            finalizers: others.cloned().collect(),
            reason,
        }
    };
    state.daemon_set().map(action).into_iter().collect()
}

fn end(state: &State<'_>) -> Vec<CascadeAction> {
    let action = |daemon_set: &Object| CascadeAction::DeleteDaemonSet {
        daemon_set: daemon_set.object_ref(),
        reason: FinalizeReason::NothingHoldsIt,
    };
    state.daemon_set().map(action).into_iter().collect()
}
