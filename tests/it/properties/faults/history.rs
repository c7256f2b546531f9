//! Forbidden creates and deletes of revisions, and forbidden labels.

use super::{Case, Fault, Planted, number_of, reference};
use crate::properties::planned;
use daemonset::model::{ControllerRevision, Labels, ObjectRef};
use daemonset::report::RevisionOrigin;
use daemonset::{Action, LabelReason, RevisionReason};
use serde_json::json;

pub const FAULTS: &[Fault] =
    &[wrong_label, second_revision, wrong_data, low_number, current_deleted, live_deleted, history_cut_short];

const HASH: &str = "controller-revision-hash";

fn wrong_label(case: &Case<'_>) -> Option<Planted> {
    let outdated = case.fleet.owned().filter(|pod| case.is_updated(pod) == Some(false));
    let pod = reference(case.choose(outdated)?);
    let labels = Labels::from_iter([(HASH, case.plan.report.current_revision.as_ref()?.hash.as_str())]);
    case.with("WrongLabel", Action::label_pod(pod, labels, LabelReason::HashMissing))
}

fn exists<'c>(case: &'c Case<'_>) -> Option<&'c str> {
    let current = case.plan.report.current_revision.as_ref()?;
    (current.origin != RevisionOrigin::Created).then_some(current.name.as_str())
}

fn second_revision(case: &Case<'_>) -> Option<Planted> {
    exists(case)?;
    let mut empty = case.recording.clone();
    empty.revisions.clear();
    empty.pods.clear();
    let create = planned(&empty).actions.into_iter().find(|a| matches!(a, Action::CreateRevision { .. }));
    case.with("RevisionExists", create?)
}

fn creates(action: &Action) -> bool {
    matches!(action, Action::CreateRevision { .. })
}

fn wrong_data(case: &Case<'_>) -> Option<Planted> {
    let index = case.choose_action(creates)?;
    case.planted("WrongRevision", |actions| {
        if let Action::CreateRevision { revision, .. } = &mut actions[index] {
            revision["data"]["spec"]["template"]["spec"]["containers"] = json!([]);
        }
    })
}

fn low_number(case: &Case<'_>) -> Option<Planted> {
    let numbers = |action: &Action| creates(action) || matches!(action, Action::RenumberRevision { .. });
    let index = case.choose_action(numbers)?;
    case.planted("WrongRevisionNumber", |actions| match &mut actions[index] {
        Action::CreateRevision { revision, .. } => *number_of(revision) = json!(0),
        Action::RenumberRevision { number, .. } => *number = 0,
        _ => {}
    })
}

fn delete(revision: &ControllerRevision) -> Action {
    let metadata = &revision.metadata;
    let revision = ObjectRef {
        namespace: metadata.namespace.clone(),
        name: metadata.name.clone(),
        uid: metadata.uid.clone(),
        resource_version: String::new(),
    };
    Action::delete_revision(revision, RevisionReason::HistoryLimit)
}

fn current_deleted(case: &Case<'_>) -> Option<Planted> {
    let name = exists(case)?;
    let current = case.recording.revisions.iter().find(|revision| revision.metadata.name == name)?;
    current.metadata.labels.get("app")?;
    case.with("CurrentRevisionDeleted", delete(current))
}

/// The DaemonSet's revisions of other templates that the plan keeps, with or without pods of their hash.
fn old<'c>(case: &'c Case<'_>, carried: bool) -> Option<&'c ControllerRevision> {
    let carries = |hash: &str| case.fleet.owned().any(|pod| pod.metadata.labels.get(HASH) == Some(hash));
    let old = case.recording.revisions.iter().filter(|revision| {
        let meta = &revision.metadata;
        let deleted = |action: &Action| {
            matches!(action, Action::DeleteRevision { revision, .. } if revision.uid == meta.uid)
        };
        ["agent-old", "agent-older", "agent-ancient"].contains(&meta.name.as_str())
            && !meta.owner_references.is_empty()
            && carries(meta.labels.get(HASH).unwrap_or(&meta.name)) == carried
            && !case.plan.actions.iter().any(deleted)
    });
    case.choose(old)
}

fn live_deleted(case: &Case<'_>) -> Option<Planted> {
    case.with("LiveRevisionDeleted", delete(old(case, true)?))
}

fn history_cut_short(case: &Case<'_>) -> Option<Planted> {
    let unlimited = case.recording.daemon_set.spec.revision_history_limit.is_none();
    let remembers = case.recording.memory.is_some();
    let old = old(case, false).filter(|_| unlimited && !remembers)?;
    case.with("HistoryCutShort", delete(old))
}
