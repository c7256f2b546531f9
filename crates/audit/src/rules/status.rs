//! The written status, and the DaemonSets for which nothing may be done at all.

use crate::facts::turns::Written;
use crate::fleet::Sums;
use crate::goals::Goals;
use crate::kind::ViolationKind;
use crate::rules::turns;
use crate::violation::Findings;
use daemonset::internal::{Placement, enumerate};
use daemonset::model::DaemonSetStatus;
use daemonset::{Action, Snapshot, StatusReason, TurnReason};
use serde_json::Value;

/// Events and wake-ups change no object.
fn changes_an_object(action: &Action) -> bool {
    !matches!(action, Action::RecordEvent { .. } | Action::Requeue { .. })
}

/// Whether nothing may be done. Then each action that changes an object is a violation, and no other rule applies. An
/// empty selector comes before a deletion.
pub(crate) fn check_untouched(
    snapshot: &Snapshot<'_>,
    actions: &[Action],
    findings: &mut Findings<'_>,
) -> bool {
    let kind = if snapshot.spec().selector.is_empty() {
        ViolationKind::SelectingAll
    } else if snapshot.spec().daemon_set.metadata.deletion_timestamp.is_some() {
        ViolationKind::BeingDeleted
    } else {
        return false;
    };
    for (index, action) in actions.iter().enumerate().filter(|(_, action)| changes_an_object(action)) {
        let is_allowed = kind == ViolationKind::BeingDeleted && is_right_end(snapshot, action);
        if !is_allowed {
            findings.add(index, kind.clone());
        }
    }
    true
}

/// The turns of a DaemonSet end with it: no garbage collector finds them.
fn is_right_end(snapshot: &Snapshot<'_>, action: &Action) -> bool {
    let Action::PatchNode { node, reason: TurnReason::TurnEnds, .. } = action else { return false };
    let view = snapshot.index().node(&node.name).map(|node| snapshot.node(node));
    view.is_some_and(|view| {
        Written::on(snapshot, view).is_some() && turns::wrong_form(snapshot, view, action).is_none()
    })
}

/// Checks every status that is written.
pub(crate) fn check(
    snapshot: &Snapshot<'_>,
    goals: &Goals<'_>,
    others: Sums,
    actions: &[Action],
    findings: &mut Findings<'_>,
) {
    let alone = actions.iter().filter(|action| changes_an_object(action)).nth(1).is_none();
    for (index, action) in actions.iter().enumerate() {
        let Action::UpdateStatus { status, reason, .. } = action else { continue };
        if let Some(kind) = wrong_collision_count(snapshot, status, *reason) {
            findings.add(index, kind);
        }
        let field = if *reason == StatusReason::NameCollision {
            wrong_beside_collision(snapshot, status)
        } else {
            wrong_field(snapshot, goals, others, status)
        };
        if let Some(field) = field {
            findings.add(index, ViolationKind::WrongStatus { field });
        }
        if *reason == StatusReason::NameCollision && !alone {
            findings.add(index, ViolationKind::CollisionNotAlone);
        }
    }
}

fn wrong_collision_count(
    snapshot: &Snapshot<'_>,
    status: &DaemonSetStatus,
    reason: StatusReason,
) -> Option<ViolationKind> {
    let before = snapshot.spec().daemon_set.status.collision_count;
    let right = if reason == StatusReason::NameCollision {
        status.collision_count == Some(before.unwrap_or(0).saturating_add(1))
    } else {
        status.collision_count == before
    };
    let (from, to) = (before.unwrap_or(0), status.collision_count.unwrap_or(0));
    (!right).then_some(ViolationKind::WrongCollisionCount { from, to })
}

/// A name collision changes nothing but the count.
fn wrong_beside_collision(snapshot: &Snapshot<'_>, status: &DaemonSetStatus) -> Option<&'static str> {
    let before = &snapshot.spec().daemon_set.status;
    let same = *before == DaemonSetStatus { collision_count: before.collision_count, ..status.clone() };
    (!same).then_some("counters")
}

/// The first impossible figure.
fn wrong_field(
    snapshot: &Snapshot<'_>,
    goals: &Goals<'_>,
    others: Sums,
    status: &DaemonSetStatus,
) -> Option<&'static str> {
    let nodes = enumerate(snapshot.nodes()).map(|(node, _)| goals.placement(node));
    let targets = nodes.filter(|placement| *placement == Placement::Run).count() + others.desired as usize;
    let others = snapshot.nodes().len() + others.nodes as usize - targets;
    let up_to = |count: i32, limit: usize| usize::try_from(count).is_ok_and(|count| count <= limit);
    let DaemonSetStatus { number_ready: ready, number_available: available, .. } = *status;
    let desired = status.desired_number_scheduled;
    let rules = [
        ("observedGeneration", status.observed_generation == snapshot.spec().daemon_set.metadata.generation),
        ("conditions", keeps_conditions(snapshot, &status.conditions)),
        ("desiredNumberScheduled", usize::try_from(desired).is_ok_and(|desired| desired == targets)),
        ("currentNumberScheduled", up_to(status.current_number_scheduled, targets)),
        ("updatedNumberScheduled", up_to(status.updated_number_scheduled, targets)),
        ("numberReady", up_to(ready, targets)),
        ("numberAvailable", up_to(available, targets) && available <= ready),
        ("numberUnavailable", status.number_unavailable == desired.saturating_sub(available)),
        ("numberMisscheduled", up_to(status.number_misscheduled, others)),
    ];
    rules.into_iter().find(|(_, right)| !right).map(|(field, _)| field)
}

/// Conditions stay as they are, but for the two that the policy may ask for, of which there is one each.
fn keeps_conditions(snapshot: &Snapshot<'_>, written: &[Value]) -> bool {
    let before = &snapshot.spec().daemon_set.status.conditions;
    if !snapshot.spec().policy.conditions {
        return written == before;
    }
    let kind = |condition: &Value| condition.get("type").and_then(Value::as_str).map(str::to_owned);
    let is_ours =
        |condition: &&Value| matches!(kind(condition).as_deref(), Some("Available" | "Progressing"));
    let ours: Vec<_> = written.iter().filter(is_ours).map(kind).collect();
    let others =
        |conditions: &[Value]| conditions.iter().filter(|c| !is_ours(c)).cloned().collect::<Vec<_>>();
    matches!(ours.as_slice(), [one, other] if one != other) && others(written) == others(before)
}
