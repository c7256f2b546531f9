//! The object of each action, as the action names it and as it is found in the snapshot.

use daemonset::internal::{Hasher, NodeIx, PodIx, Position, RevisionIx};
use daemonset::model::ObjectRef;
use daemonset::{Action, Snapshot};
use indexmap::IndexMap;

/// Positions by uid, only of the requested objects.
pub(crate) struct ByUid<'s, I>(IndexMap<&'s str, Option<I>, Hasher>);

impl<'s, I: Position> ByUid<'s, I> {
    pub(crate) fn new(requested: impl Iterator<Item = &'s str>, uids: impl Iterator<Item = &'s str>) -> Self {
        let mut positions: IndexMap<&str, Option<I>, Hasher> = requested.map(|uid| (uid, None)).collect();
        if !positions.is_empty() {
            for (index, uid) in uids.enumerate() {
                if let Some(found) = positions.get_mut(uid) {
                    *found = Some(I::new(index));
                }
            }
        }
        ByUid(positions)
    }

    pub(crate) fn get(&self, uid: &str) -> Option<I> {
        self.0.get(uid).copied().flatten()
    }
}

/// The object that an action changes, as the action names it.
#[derive(Clone, Copy)]
pub(crate) enum Named<'s> {
    Pod(&'s ObjectRef),
    Revision(&'s ObjectRef),
    Node(&'s ObjectRef),
    DaemonSet(&'s ObjectRef),
    /// It creates, or wakes up.
    Nothing,
}

impl<'s> Named<'s> {
    pub(crate) fn by(action: &'s Action) -> Self {
        match action {
            Action::AdoptPod { pod, .. }
            | Action::ReleasePod { pod, .. }
            | Action::LabelPod { pod, .. }
            | Action::UpdatePodInPlace { pod, .. }
            | Action::DeletePod { pod, .. } => Named::Pod(pod),
            Action::PatchNode { node, .. } => Named::Node(node),
            Action::AdoptRevision { revision, .. }
            | Action::ReleaseRevision { revision, .. }
            | Action::LabelRevision { revision, .. }
            | Action::AnnotateRevision { revision, .. }
            | Action::RenumberRevision { revision, .. }
            | Action::DeleteRevision { revision, .. } => Named::Revision(revision),
            Action::UpdateStatus { daemon_set, .. }
            | Action::RestoreTemplate { daemon_set, .. }
            | Action::RecordEvent { daemon_set, .. } => Named::DaemonSet(daemon_set),
            Action::CreateRevision { .. } | Action::CreatePod { .. } | Action::Requeue { .. } => {
                Named::Nothing
            }
        }
    }

    pub(crate) fn pod(self) -> Option<&'s ObjectRef> {
        match self {
            Named::Pod(pod) => Some(pod),
            Named::Revision(_) | Named::Node(_) | Named::DaemonSet(_) | Named::Nothing => None,
        }
    }

    pub(crate) fn revision(self) -> Option<&'s ObjectRef> {
        match self {
            Named::Revision(revision) => Some(revision),
            Named::Pod(_) | Named::Node(_) | Named::DaemonSet(_) | Named::Nothing => None,
        }
    }
}

/// The object that an action changes, as it was found in the snapshot.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    Pod(PodIx),
    Revision(RevisionIx),
    Node(NodeIx),
    DaemonSet,
    /// The action names an object, and none of its kind has this namespace, name and uid.
    Unknown,
    /// The action creates, or wakes up.
    Nothing,
}

/// For each action its subject.
pub(crate) fn subjects(
    snapshot: &Snapshot<'_>,
    actions: &[Action],
    pods: &ByUid<'_, PodIx>,
    revisions: &ByUid<'_, RevisionIx>,
) -> Vec<Subject> {
    let is =
        |named: &ObjectRef, namespace: &str, name: &str| named.namespace == namespace && named.name == name;
    let subject = |action| match Named::by(action) {
        Named::Pod(named) => {
            match pods.get(named.uid.as_str()).map(|position| (position, snapshot.pod(position))) {
                Some((position, pod)) if is(named, pod.namespace, pod.name) => Subject::Pod(position),
                Some(_) | None => Subject::Unknown,
            }
        }
        Named::Node(named) => {
            // Uid and version are its preconditions.
            let found = snapshot.index().node(&named.name);
            found.map_or(Subject::Unknown, Subject::Node)
        }
        Named::Revision(named) => {
            match revisions.get(named.uid.as_str()).map(|position| (position, snapshot.revision(position))) {
                Some((position, found)) if is(named, found.namespace, found.name) => {
                    Subject::Revision(position)
                }
                Some(_) | None => Subject::Unknown,
            }
        }
        Named::DaemonSet(named) => {
            let ds = &snapshot.spec().daemon_set.metadata;
            let same = named.uid == ds.uid && is(named, &ds.namespace, &ds.name);
            if same { Subject::DaemonSet } else { Subject::Unknown }
        }
        Named::Nothing => Subject::Nothing,
    };
    actions.iter().map(subject).collect()
}
