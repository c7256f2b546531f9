//! Steps of a rollout before their time, and the way back to a revision that has failed.

use super::{Case, Fault, Planted, delete};
use daemonset::model::{ControllerRevision, ObjectRef};
use daemonset::report::{NodeOutcome, PodState, PodVerdict, Wait};
use daemonset::{Action, RevisionReason, RolloutReason};
use jiff::Timestamp;
use serde_json::{Value, json};

/// For plans with [`policy`].
pub const FAULTS: &[Fault] = &[
    held_node_updated,
    wave_opened,
    completed_too_early,
    wrong_number,
    failed_revision_comes_back,
    stable_deleted,
];

/// No wave opens without approval, which nobody gives.
pub fn policy() -> Value {
    json!({"waves": [{"upTo": 1, "needsApproval": true}, {"needsApproval": true}]})
}

fn held_node_updated(case: &Case<'_>) -> Option<Planted> {
    let held = case.plan.report.nodes.iter().filter(|node| {
        matches!(node.outcome, NodeOutcome::Waits(Wait::Rollout { .. })) && case.strategy() == "RollingUpdate"
    });
    // A pod whose deletion is in flight is terminating, whatever its object says: to delete it again breaks another rule.
    let is_ready =
        |pod: &PodVerdict| matches!(pod.state, PodState::Available { .. } | PodState::Ready { .. });
    let alone =
        held.filter(|node| node.pods.len() == 1 && node.pods.iter().all(|pod| !pod.updated && is_ready(pod)));
    let wanted = alone.map(|node| node.pods[0].pod.uid.clone());
    let uid = case.choose(wanted)?;
    let pod = case.recording.pods.iter().find(|pod| pod.metadata.uid == uid)?;
    case.with("NotReleased", delete(pod))
}

/// The revision that is current, if this plan neither creates nor renumbers it.
pub fn current<'c>(case: &'c Case<'_>) -> Option<&'c ControllerRevision> {
    let current = case.plan.report.current_revision.as_ref()?;
    let revision = case.recording.revisions.iter().find(|r| r.metadata.name == current.name)?;
    (revision.revision == current.number).then_some(revision)
}

pub fn named(revision: &ControllerRevision) -> ObjectRef {
    let metadata = &revision.metadata;
    ObjectRef {
        namespace: metadata.namespace.clone(),
        name: metadata.name.clone(),
        uid: metadata.uid.clone(),
        resource_version: metadata.resource_version.clone(),
    }
}

pub fn marked(case: &Case<'_>, rule: &'static str, name: &str, rest: &str) -> Option<Planted> {
    let revision = current(case)?;
    let value = format!("{} {}{rest}", revision.revision, case.recording.now);
    let annotations = [(format!("rollout.daemonset/{name}"), Some(value))].into();
    case.with(rule, Action::annotate_revision(named(revision), annotations, RolloutReason::WaveOpened))
}

fn wave_opened(case: &Case<'_>) -> Option<Planted> {
    let steered = !case.plan.report.rollout.as_ref()?.waves.is_empty();
    steered.then(|| marked(case, "WaveNotDue", "wave", " 0"))?
}

fn completed_too_early(case: &Case<'_>) -> Option<Planted> {
    let completes = |action: &Action| action.to_string().contains("rollout.daemonset/completed");
    let planned = case.plan.actions.iter().any(completes);
    (!planned).then(|| marked(case, "WrongMark", "completed", ""))?
}

fn wrong_number(case: &Case<'_>) -> Option<Planted> {
    let index = case.choose_action(|action| matches!(action, Action::AnnotateRevision { .. }))?;
    case.planted("WrongMark", |actions| {
        if let Action::AnnotateRevision { annotations, .. } = &mut actions[index] {
            let changed = |value: &mut Option<String>| *value = Some(format!("99 {}", Timestamp::UNIX_EPOCH));
            annotations.values_mut().for_each(changed);
        }
    })
}

fn stable<'r>(
    case: &Case<'_>,
    recording: &'r mut daemonset::Recording,
) -> Option<&'r mut ControllerRevision> {
    let stable = case.plan.report.rollout.as_ref()?.stable.clone()?;
    recording.revisions.iter_mut().find(|revision| revision.metadata.name == stable)
}

fn failed_revision_comes_back(case: &Case<'_>) -> Option<Planted> {
    let hash = case.plan.report.rollout.as_ref()?.stable_hash.clone()?;
    let of_stable =
        |action: &Action| matches!(action, Action::CreatePod { pod, .. } if pod.revision_hash() == hash);
    case.choose_action(of_stable)?;
    let mut planted = case.planted("FailedRevisionCreated", |_| ())?;
    let now = case.recording.now;
    let stable = stable(case, &mut planted.recording)?;
    let mark = format!("{} {now} TooManyFailures", stable.revision);
    stable.metadata.annotations = stable.metadata.annotations.with("rollout.daemonset/failed", &mark);
    // Another revision with the same hash would be the pod's as well.
    let key = "controller-revision-hash";
    let label = |r: &ControllerRevision| r.metadata.labels.get(key).unwrap_or(&r.metadata.name).to_owned();
    let same = planted.recording.revisions.iter().filter(|r| label(r) == hash).count();
    (same == 1).then_some(planted)
}

fn stable_deleted(case: &Case<'_>) -> Option<Planted> {
    let rollout = case.plan.report.rollout.as_ref()?;
    let (name, hash) = (rollout.stable.clone()?, rollout.stable_hash.clone()?);
    let is_carried =
        case.recording.pods.iter().any(|pod| pod.metadata.labels.iter().any(|(_, value)| value == hash));
    let is_unseen =
        case.recording.memory.as_ref().is_some_and(|memory| json!(memory).to_string().contains(&hash));
    let revision = case.recording.revisions.iter().find(|revision| revision.metadata.name == name)?;
    let owned = !revision.metadata.owner_references.is_empty();
    let fits = owned && !is_carried && !is_unseen;
    fits.then(|| {
        case.with("BaseDeleted", Action::delete_revision(named(revision), RevisionReason::HistoryLimit))
    })?
}
