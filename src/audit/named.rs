//! Which objects of the snapshot the actions name, and by that which ones they change.

use crate::action::Action;
use crate::kubernetes::hash::Hasher;
use crate::model::ObjectRef;
use crate::snapshot::Snapshot;
use indexmap::IndexMap;

/// Positions by uid, of those objects only that are asked for.
pub(super) struct ByUid<'s>(IndexMap<&'s str, Option<u32>, Hasher>);

impl<'s> ByUid<'s> {
    pub(super) fn of(asked: impl Iterator<Item = &'s str>, uids: impl Iterator<Item = &'s str>) -> Self {
        let mut positions: IndexMap<&str, Option<u32>, Hasher> = asked.map(|uid| (uid, None)).collect();
        if !positions.is_empty() {
            for (position, uid) in (0_u32..).zip(uids) {
                if let Some(found) = positions.get_mut(uid) {
                    *found = Some(position);
                }
            }
        }
        ByUid(positions)
    }

    pub(super) fn get(&self, uid: &str) -> Option<u32> {
        self.0.get(uid).copied().flatten()
    }
}

/// What an action does something to.
#[derive(Clone, Copy)]
pub(super) enum Subject<'s> {
    Pod(&'s ObjectRef),
    Revision(&'s ObjectRef),
    DaemonSet(&'s ObjectRef),
    /// It creates, or wakes up.
    None,
}

impl<'s> Subject<'s> {
    pub(super) fn of(action: &'s Action) -> Self {
        match action {
            Action::AdoptPod { pod, .. }
            | Action::ReleasePod { pod, .. }
            | Action::LabelPod { pod, .. }
            | Action::DeletePod { pod, .. } => Subject::Pod(pod),
            Action::AdoptRevision { revision, .. }
            | Action::ReleaseRevision { revision, .. }
            | Action::LabelRevision { revision, .. }
            | Action::RenumberRevision { revision, .. }
            | Action::DeleteRevision { revision, .. } => Subject::Revision(revision),
            Action::UpdateStatus { daemon_set, .. } | Action::RecordEvent { daemon_set, .. } => {
                Subject::DaemonSet(daemon_set)
            }
            Action::CreateRevision { .. } | Action::CreatePod { .. } | Action::Requeue { .. } => {
                Subject::None
            }
        }
    }

    pub(super) fn pod(self) -> Option<&'s ObjectRef> {
        match self {
            Subject::Pod(pod) => Some(pod),
            Subject::Revision(_) | Subject::DaemonSet(_) | Subject::None => None,
        }
    }

    pub(super) fn revision(self) -> Option<&'s ObjectRef> {
        match self {
            Subject::Revision(revision) => Some(revision),
            Subject::Pod(_) | Subject::DaemonSet(_) | Subject::None => None,
        }
    }
}

/// For each action the position of its pod or revision; none where it names none that is there under this name.
pub(super) fn positions(
    snapshot: &Snapshot<'_>,
    actions: &[Action],
    pods: &ByUid<'_>,
    revisions: &ByUid<'_>,
) -> Vec<Option<u32>> {
    let position = |action| match Subject::of(action) {
        Subject::Pod(named) => pods.get(named.uid.as_str()).filter(|position| {
            let pod = snapshot.pods.get(*position as usize);
            pod.is_some_and(|pod| pod.name == named.name && pod.namespace == named.namespace)
        }),
        Subject::Revision(named) => revisions.get(named.uid.as_str()).filter(|position| {
            let found = snapshot.revisions.get(*position as usize);
            found.is_some_and(|found| found.name == named.name && found.namespace == named.namespace)
        }),
        Subject::DaemonSet(_) | Subject::None => None,
    };
    actions.iter().map(position).collect()
}
