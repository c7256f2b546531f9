//! The list itself: its order, its length, its batches and its wake-up.

use super::kind::ViolationKind;
use super::violation::Findings;
use daemonset::{Action, Snapshot};

/// The place of an action in the order of a list.
fn place(action: &Action) -> u8 {
    match action {
        Action::AdoptPod { .. }
        | Action::ReleasePod { .. }
        | Action::AdoptRevision { .. }
        | Action::ReleaseRevision { .. } => 0,
        Action::CreateRevision { .. } => 1,
        Action::LabelRevision { .. } => 2,
        Action::RenumberRevision { .. } => 3,
        Action::AnnotateRevision { .. } => 4,
        Action::LabelPod { .. } => 5,
        Action::DeletePod { .. } => 6,
        Action::CreatePod { .. } => 7,
        Action::DeleteRevision { .. } => 8,
        Action::UpdateStatus { .. } => 9,
        Action::RecordEvent { .. } => 10,
        Action::Requeue { .. } => 11,
    }
}

/// Checks all rules that need no object.
pub(super) fn check(snapshot: &Snapshot<'_>, actions: &[Action], findings: &mut Findings<'_>) {
    let limit = snapshot.spec().policy.burst;
    let (mut furthest, mut deletes, mut creates, mut requeued) = (0, 0_u32, 0_u32, false);
    for (index, action) in actions.iter().enumerate() {
        let place = place(action);
        if place < furthest {
            findings.add(index, ViolationKind::OutOfOrder);
        }
        furthest = furthest.max(place);
        let kind = match action {
            Action::DeletePod { .. } => {
                deletes = deletes.saturating_add(1);
                (deletes > limit).then_some(ViolationKind::BurstExceeded { limit })
            }
            Action::CreatePod { batch, .. } => {
                creates = creates.saturating_add(1);
                if creates > limit {
                    findings.add(index, ViolationKind::BurstExceeded { limit });
                }
                let (expected, found) = (creates.ilog2(), *batch);
                (found != expected).then_some(ViolationKind::WrongBatch { expected, found })
            }
            Action::Requeue { at, .. } => {
                let second = std::mem::replace(&mut requeued, true);
                let late = *at < snapshot.now();
                let past = late.then_some(ViolationKind::RequeueInThePast { at: *at });
                past.or(second.then_some(ViolationKind::SecondRequeue))
            }
            _ => None,
        };
        if let Some(kind) = kind {
            findings.add(index, kind);
        }
    }
}
