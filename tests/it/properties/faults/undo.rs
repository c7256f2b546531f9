//! Templates that are restored before their time or from the wrong revision, and steps beside one that is not shown yet.

use super::rollout::{current, marked, named};
use super::{Case, Fault, Planted};
use daemonset::model::{ControllerRevision, Pod};
use daemonset::policy::FailureAction;
use daemonset::{Action, Recording, RevisionReason};
use jiff::SignedDuration;
use serde_json::json;

/// For plans that restore a template.
pub const FAULTS: &[Fault] = &[
    restored_of_another_generation,
    restored_too_late,
    restored_twice,
    restored_to_a_failed_revision,
    restored_with_another_patch,
    restored_without_marks,
    restored_while_in_flight,
    marked_while_in_flight,
    renumbered_while_in_flight,
    undone_revision_deleted,
];

/// The fleet with the marks of an undo, so that its plan restores a template; `None` if it has no revisions for that.
pub fn due(recording: &Recording) -> Option<Recording> {
    let mut recording = recording.clone();
    let rule = daemonset::policy::FailurePolicy::default().action(FailureAction::Undo);
    recording.policy = recording.policy.rollout(daemonset::policy::RolloutPolicy::default().on_failure(rule));
    recording.daemon_set.metadata.resource_version = "70".to_owned();
    let plan = daemonset::plan(&recording.snapshot().ok()?);
    recording.daemon_set.status = plan.status?;
    let (now, generation) = (recording.now, recording.daemon_set.metadata.generation);
    let rollout = plan.report.rollout?;
    let (current, stable) = (plan.report.current_revision?, rollout.stable?);
    for revision in &mut recording.revisions {
        let number = current.number;
        let marks = if revision.metadata.name == current.name {
            revision.revision = number;
            vec![
                ("failed", format!("{number} {now} by hand")),
                ("undone", format!("{number} {now} {generation}")),
            ]
        } else if revision.metadata.name == stable {
            vec![("restored", format!("{number} {now}"))]
        } else {
            Vec::new()
        };
        let marks = marks.into_iter().map(|(mark, value)| (format!("rollout.daemonset/{mark}"), value));
        revision.metadata.annotations.extend(marks);
    }
    Some(recording)
}

/// An old revision that no pod runs, and that is not the stable revision, was undone a while ago.
fn undone_revision_deleted(case: &Case<'_>) -> Option<Planted> {
    let stable = case.plan.report.rollout.as_ref()?.stable.clone()?;
    let current = case.plan.report.current_revision.as_ref()?;
    let key = "controller-revision-hash";
    let in_flight = json!(case.recording.memory).to_string();
    let is_carried = |revision: &&ControllerRevision| {
        let hash = revision.metadata.labels.get(key).unwrap_or(&revision.metadata.name);
        let carries = |pod: &Pod| pod.metadata.labels.iter().any(|(_, value)| value == hash);
        let is_known = hash == current.hash || case.recording.pods.iter().any(carries);
        // A pod in flight carries it, too.
        is_known || in_flight.contains(&format!("{hash:?}"))
    };
    let owned =
        case.recording.revisions.iter().filter(|revision| !revision.metadata.owner_references.is_empty());
    let others = owned.filter(|revision| ![&stable, &current.name].contains(&&revision.metadata.name));
    let is_deleted = |name: &str| {
        let is_it = |action: &Action| action.subject().is_some_and(|subject| subject.name == name);
        case.plan.actions.iter().any(is_it)
    };
    let idle = others.filter(|revision| !is_carried(revision) && !is_deleted(&revision.metadata.name));
    let chosen = case.choose(idle)?;
    let delete = Action::delete_revision(named(chosen), RevisionReason::HistoryLimit);
    let mut planted = case.with("UndoneDeleted", delete)?;
    let now = planted.recording.now;
    let is_it = |revision: &&mut ControllerRevision| revision.metadata.name == chosen.metadata.name;
    let revision = planted.recording.revisions.iter_mut().find(is_it)?;
    let mark = format!("0 {} 1", now - SignedDuration::from_mins(59));
    revision.metadata.annotations.extend([("rollout.daemonset/undone", mark.as_str())]);
    Some(planted)
}

fn restore(case: &Case<'_>) -> Option<usize> {
    case.choose_action(|action| matches!(action, Action::RestoreTemplate { .. }))
}

/// The same actions for a changed fleet.
fn in_another(case: &Case<'_>, change: impl FnOnce(&mut Recording)) -> Option<Planted> {
    restore(case)?;
    let mut planted = case.planted("WrongRestore", |_| ())?;
    change(&mut planted.recording);
    Some(planted)
}

fn restored_of_another_generation(case: &Case<'_>) -> Option<Planted> {
    in_another(case, |recording| recording.daemon_set.metadata.generation += 1)
}

fn restored_too_late(case: &Case<'_>) -> Option<Planted> {
    in_another(case, |recording| recording.now += SignedDuration::from_hours(1))
}

fn restored_twice(case: &Case<'_>) -> Option<Planted> {
    let index = restore(case)?;
    case.planted("WrongRestore", |actions| actions.insert(index, actions[index].clone()))
}

fn restored_to_a_failed_revision(case: &Case<'_>) -> Option<Planted> {
    let stable = case.plan.report.rollout.as_ref()?.stable.clone()?;
    in_another(case, |recording| {
        let now = recording.now;
        for revision in recording.revisions.iter_mut().filter(|revision| revision.metadata.name == stable) {
            let mark = format!("{} {now} by hand", revision.revision);
            revision.metadata.annotations.extend([("rollout.daemonset/failed", mark.as_str())]);
        }
    })
}

fn restored_with_another_patch(case: &Case<'_>) -> Option<Planted> {
    let index = restore(case)?;
    case.planted("WrongRestore", |actions| {
        if let Action::RestoreTemplate { patch, .. } = &mut actions[index] {
            patch["spec"]["minReadySeconds"] = json!(7);
        }
    })
}

fn restored_without_marks(case: &Case<'_>) -> Option<Planted> {
    in_another(case, |recording| {
        for revision in &mut recording.revisions {
            let kept = revision.metadata.annotations.iter().filter(|(key, _)| !key.ends_with("/undone"));
            revision.metadata.annotations = kept.collect();
        }
    })
}

fn remember(recording: &mut Recording) {
    let mut memory = json!(recording.memory.take().unwrap_or_default());
    memory["restores"] = json!({"accepted": {"at": recording.now, "before": 70}});
    recording.memory = serde_json::from_value(memory).unwrap();
}

fn restored_while_in_flight(case: &Case<'_>) -> Option<Planted> {
    in_another(case, remember)
}

fn marked_while_in_flight(case: &Case<'_>) -> Option<Planted> {
    restore(case)?;
    let mut planted = marked(case, "TemplateAwaited", "started", "")?;
    remember(&mut planted.recording);
    Some(planted)
}

fn renumbered_while_in_flight(case: &Case<'_>) -> Option<Planted> {
    restore(case)?;
    let revision = current(case)?;
    let number = revision.revision + 1;
    let renumbering = Action::renumber_revision(named(revision), number, RevisionReason::CurrentAgain);
    let mut planted = case.with("TemplateAwaited", renumbering)?;
    remember(&mut planted.recording);
    Some(planted)
}
