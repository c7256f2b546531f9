//! The list itself: its order, its length, its batches and its wake-up.

use crate::kind::ViolationKind;
use crate::violation::Findings;
use daemonset::{Action, CreateReason, DeleteReason, Snapshot, TurnReason};

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
        // Pull pods come behind all that concerns the DaemonSet itself.
        Action::DeletePod { reason: DeleteReason::PullDone, .. } => 11,
        Action::CreatePod { reason: CreateReason::PullImages, .. } => 12,
        Action::PatchNode { .. } => 13,
        Action::DeletePod { .. } | Action::UpdatePodInPlace { .. } => 6,
        Action::CreatePod { .. } => 7,
        Action::DeleteRevision { .. } => 8,
        Action::UpdateStatus { .. } => 9,
        Action::RestoreTemplate { .. } => 10,
        Action::RecordEvent { .. } => 14,
        Action::Requeue { .. } => 15,
    }
}

/// Checks all rules that need no object.
pub(crate) fn check(snapshot: &Snapshot<'_>, actions: &[Action], findings: &mut Findings<'_>) {
    let limit = snapshot.spec().policy.burst;
    let (mut furthest, mut deletes, mut creates, mut requeued) = (0, 0_u32, 0_u32, false);
    let mut pulls = 0_u32;
    for (index, action) in actions.iter().enumerate() {
        let place = place(action);
        if place < furthest {
            findings.add(index, ViolationKind::OutOfOrder);
        }
        furthest = furthest.max(place);
        let kind = match action {
            // The beginning of a turn counts as the delete that follows it.
            Action::DeletePod { .. }
            | Action::UpdatePodInPlace { .. }
            | Action::PatchNode { reason: TurnReason::TurnBegins, .. } => {
                deletes = deletes.saturating_add(1);
                (deletes > limit).then_some(ViolationKind::BurstExceeded { limit })
            }
            Action::CreatePod { batch, reason, .. } => {
                creates = creates.saturating_add(1);
                if creates > limit {
                    findings.add(index, ViolationKind::BurstExceeded { limit });
                }
                // Pull pods have a slow start of their own.
                let is_pull = *reason == CreateReason::PullImages;
                pulls += u32::from(is_pull);
                let (expected, found) = (if is_pull { pulls } else { creates }.ilog2(), *batch);
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
