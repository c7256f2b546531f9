//! What actions name, and whose it is.

use super::docket::Docket;
use super::kind::ViolationKind;
use super::life::Life;
use super::lineage::tie;
use super::named::Subject;
use super::violation::Findings;
use crate::action::Action;
use crate::kubernetes::ownership::Ownership;

/// Names, owners and second deletes of all actions.
pub(super) fn check(docket: &Docket<'_>, findings: &mut Findings<'_>) {
    let mut deleted_revisions = Vec::new();
    let mut deletes = docket.deletes.iter().peekable();
    for (index, action) in docket.actions.iter().enumerate() {
        let position = docket.subject(index);
        let counts = deletes.next_if(|delete| delete.action == index).is_some();
        let kind = match (Subject::of(action), position) {
            (Subject::None, _) => continue,
            (Subject::DaemonSet(named), _) => {
                let ds = &docket.snapshot.daemon_set.metadata;
                let same = named.uid == ds.uid && named.name == ds.name && named.namespace == ds.namespace;
                (!same).then_some(ViolationKind::UnknownObject)
            }
            (Subject::Pod(_) | Subject::Revision(_), None) => Some(ViolationKind::UnknownObject),
            (Subject::Pod(_), Some(position)) if counts || docket.owns_pod(position) => {
                wrong_action_on_own_pod(docket, action, position, counts)
            }
            (Subject::Pod(_), Some(position)) => wrong_action_on_pod(docket, action, position),
            (Subject::Revision(_), Some(position)) => wrong_action_on_revision(docket, action, position)
                .or_else(|| deleted_again(&mut deleted_revisions, action, position)),
        };
        if let Some(kind) = kind {
            findings.add(index, kind);
        }
    }
}

/// The pod is the DaemonSet's, or adopted in the list; `counts` says that this is the first delete of one that is there.
fn wrong_action_on_own_pod(
    docket: &Docket<'_>,
    action: &Action,
    position: u32,
    counts: bool,
) -> Option<ViolationKind> {
    let (pod, facts) = docket.pod(position)?;
    match action {
        Action::AdoptPod { .. } => {
            let may = facts.tie == Ownership::Orphan && pod.deleted_at.is_none();
            (!may).then_some(ViolationKind::WrongAdoption)
        }
        Action::ReleasePod { .. } => Some(ViolationKind::WrongRelease),
        Action::DeletePod { .. } if !counts => {
            let leaving =
                matches!(docket.doctor.life(pod, facts, &docket.lineage), Life::Leaving | Life::Gone);
            Some(if leaving { ViolationKind::AlreadyTerminating } else { ViolationKind::DeletedTwice })
        }
        _ => None,
    }
}

/// The pod is not the DaemonSet's, or no longer.
fn wrong_action_on_pod(docket: &Docket<'_>, action: &Action, position: u32) -> Option<ViolationKind> {
    let (_, facts) = docket.pod(position)?;
    match action {
        Action::AdoptPod { .. } => Some(ViolationKind::WrongAdoption),
        Action::ReleasePod { .. } => {
            (facts.tie != Ownership::Controlled).then_some(ViolationKind::WrongRelease)
        }
        _ => Some(ViolationKind::ForeignObject),
    }
}

fn wrong_action_on_revision(docket: &Docket<'_>, action: &Action, position: u32) -> Option<ViolationKind> {
    let snapshot = docket.snapshot;
    let revision = snapshot.revisions.get(position as usize)?;
    let selected = snapshot.selector.matches(revision.labels);
    let tie = tie(snapshot, revision);
    match action {
        Action::AdoptRevision { .. } => {
            let may = tie == Ownership::Orphan && selected && revision.deleted_at.is_none();
            (!may).then_some(ViolationKind::WrongAdoption)
        }
        Action::ReleaseRevision { .. } => {
            (tie != Ownership::Controlled || selected).then_some(ViolationKind::WrongRelease)
        }
        Action::LabelRevision { .. } if docket.lineage.released(position).is_some() => None,
        _ => (!docket.owns_revision(position)).then_some(ViolationKind::ForeignObject),
    }
}

/// A revision that terminates may be deleted again, but not twice by one list.
fn deleted_again(deleted: &mut Vec<u32>, action: &Action, position: u32) -> Option<ViolationKind> {
    if !matches!(action, Action::DeleteRevision { .. }) {
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
