//! Lists in a wrong order or of a wrong size, wrong statuses, and DaemonSets that must be left alone.

use super::{Case, Fault, Planted, stage};
use daemonset::model::LabelSelector;
use daemonset::{Action, RequeueReason, StatusReason};
use jiff::SignedDuration;

pub const FAULTS: &[Fault] = &[
    out_of_order,
    burst_exceeded,
    requeue_in_the_past,
    second_requeue,
    wrong_status,
    wrong_collision_count,
    collision_not_alone,
    being_deleted,
    selecting_all,
];

fn out_of_order(case: &Case<'_>) -> Option<Planted> {
    let pairs = case.plan.actions.windows(2).enumerate();
    let turns = pairs.filter(|(_, pair)| stage(&pair[0]) != stage(&pair[1])).map(|(index, _)| index);
    let index = case.choose(turns)?;
    case.planted("OutOfOrder", |actions| actions.swap(index, index + 1))
}

fn burst_exceeded(case: &Case<'_>) -> Option<Planted> {
    let count = |wanted: u8| case.plan.actions.iter().filter(|action| stage(action) == wanted).count();
    if count(6).max(count(7)) < 2 {
        return None;
    }
    let mut planted = case.planted("BurstExceeded", |_| ())?;
    planted.recording.policy.burst = 1;
    Some(planted)
}

fn requeue_in_the_past(case: &Case<'_>) -> Option<Planted> {
    let at = case.recording.now - SignedDuration::from_secs(1);
    case.with("RequeueInThePast", Action::requeue(at, RequeueReason::BackOff))
}

fn second_requeue(case: &Case<'_>) -> Option<Planted> {
    let index = case.choose_action(|action| matches!(action, Action::Requeue { .. }))?;
    case.with("SecondRequeue", case.plan.actions[index].clone())
}

fn status(case: &Case<'_>, rule: &'static str, change: impl FnOnce(&mut Action)) -> Option<Planted> {
    let index = case.choose_action(|action| matches!(action, Action::UpdateStatus { .. }))?;
    case.planted(rule, |actions| change(&mut actions[index]))
}

fn wrong_status(case: &Case<'_>) -> Option<Planted> {
    let pick = case.pick;
    status(case, "WrongStatus", |action| {
        let Action::UpdateStatus { status, .. } = action else { return };
        match pick % 4 {
            0 => status.observed_generation += 1,
            1 => status.number_ready = -1,
            2 => status.desired_number_scheduled += 1,
            _ => status.number_unavailable += 1,
        }
    })
}

fn wrong_collision_count(case: &Case<'_>) -> Option<Planted> {
    status(case, "WrongCollisionCount", |action| {
        if let Action::UpdateStatus { status, .. } = action {
            status.collision_count = Some(7);
        }
    })
}

fn collision_not_alone(case: &Case<'_>) -> Option<Planted> {
    let others = case.plan.actions.iter().filter(|action| stage(action) < 9).count();
    let planted = status(case, "CollisionNotAlone", |action| {
        if let Action::UpdateStatus { reason, .. } = action {
            *reason = StatusReason::NameCollision;
        }
    });
    planted.filter(|_| others > 0)
}

fn changes_an_object(case: &Case<'_>) -> Option<()> {
    case.plan.actions.iter().any(|action| stage(action) < 10).then_some(())
}

fn being_deleted(case: &Case<'_>) -> Option<Planted> {
    changes_an_object(case)?;
    let mut planted = case.planted("BeingDeleted", |_| ())?;
    planted.recording.daemon_set.metadata.deletion_timestamp = Some(case.recording.now);
    Some(planted)
}

fn selecting_all(case: &Case<'_>) -> Option<Planted> {
    changes_an_object(case)?;
    let mut planted = case.planted("SelectingAll", |_| ())?;
    planted.recording.daemon_set.spec.selector = Some(LabelSelector::default());
    Some(planted)
}
