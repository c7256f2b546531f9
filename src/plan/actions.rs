//! The actions of a decision, in the order of their execution.

use crate::action::{
    Action, ClaimReason, CreateReason, DeleteReason, EventReason, EventType, LabelReason, RevisionReason,
    StatusReason,
};
use crate::input::Snapshot;
use crate::input::authority::Authority;
use crate::input::manifests::InvalidManifest;
use crate::input::rollout::marks::MarkChange;
use crate::node::sync::Means;
use crate::plan::burst::Creation;
use crate::plan::manifests::manifest;
use crate::plan::pod_template::{PodTemplate, Source};
use crate::plan::restore::restore;
use crate::plan::steps::{Decision, Steps};
use crate::plan::{in_place, pulls, turns};
use crate::pods::history;
use crate::pods::history::{History, Revision};
use crate::position::{PodIx, RevisionIx};
use crate::rollout::undo::undone_until;
use daemonset_objects::model::{DaemonSetStatus, Labels, NodeName, ObjectRef};
use std::collections::BTreeMap;

/// The actions of a decision: claim, history, pod deletes, pod creates, revision deletes, status, restore, pulls, patches of nodes, events,
/// requeue.
///
/// # Errors
/// The first manifest of the caller that must not be created.
pub(crate) fn actions(
    snapshot: &Snapshot<'_>,
    decision: &Decision<'_>,
) -> Result<Vec<Action>, InvalidManifest> {
    // All actions are made, and those of another controller left out: a driven update decides as any other.
    let mut actions = all_actions(snapshot, decision)?;
    let authority = Authority::of(snapshot);
    actions.retain(|action| authority.executes(action));
    Ok(actions)
}

fn all_actions(snapshot: &Snapshot<'_>, decision: &Decision<'_>) -> Result<Vec<Action>, InvalidManifest> {
    Ok(match decision {
        // A turn is no object of the DaemonSet: no garbage collector ends it.
        Decision::BeingDeleted => turns::ends_of_all(snapshot),
        Decision::SelectingAll => vec![selecting_all(snapshot)],
        // No other action is safe: without the revision an updated pod looks like an outdated one.
        Decision::NameCollision(status) => {
            vec![update_status(snapshot, status.clone(), StatusReason::NameCollision)]
        }
        Decision::Synced(steps) => {
            // Each action may rely on those before it: only an adopted object is labelled, a new pod carries the hash of a
            // revision that exists, and a duplicate goes after its pods have got another hash.
            let mut actions = Vec::new();
            claim_actions(snapshot, steps, &mut actions);
            history_actions(snapshot, steps, &mut actions);
            pod_deletes(steps, &mut actions);
            pod_creates(snapshot, steps, &mut actions)?;
            revision_deletes(snapshot, steps, &mut actions);
            // Most plans find the status as it should be, and spare the API server a request.
            let is_status_changed = steps.status != snapshot.spec.daemon_set.status;
            if is_status_changed {
                actions.push(update_status(snapshot, steps.status.clone(), StatusReason::Changed));
            }
            // A status that is written changes the version of the DaemonSet, which is a precondition of the restore.
            if !(is_status_changed && Authority::of(snapshot).writes_status()) {
                actions.extend(restore(snapshot, steps));
            }
            // Behind all that the DaemonSet itself needs: a refusal here must stop nothing of that.
            pulls(snapshot, steps, &mut actions);
            turns::patches(snapshot, steps, &mut actions);
            // After all changes: a failed action ends the plan, and a lost event does no harm.
            events(snapshot, steps, &mut actions);
            actions.extend(steps.burst.requeue.map(|(at, reason)| Action::Requeue { at, reason }));
            actions
        }
    })
}

fn selecting_all(snapshot: &Snapshot<'_>) -> Action {
    let kind = snapshot.spec.daemon_set.owner.kind_in_words();
    Action::RecordEvent {
        daemon_set: snapshot.spec.daemon_set.as_ref().into(),
        event_type: EventType::Warning,
        reason: EventReason::SelectingAll,
        message: format!("This {kind} is selecting all pods. A non-empty selector is required."),
    }
}

fn update_status(snapshot: &Snapshot<'_>, status: DaemonSetStatus, reason: StatusReason) -> Action {
    Action::UpdateStatus { daemon_set: snapshot.spec.daemon_set.as_ref().into(), status, reason }
}

/// Adoptions and releases, by name.
fn claim_actions(snapshot: &Snapshot<'_>, steps: &Steps<'_>, actions: &mut Vec<Action>) {
    let pods = |pods: &[PodIx]| by_name(pods.iter().map(|pod| snapshot.pod(*pod).object_ref()));
    let revisions = |revisions: &[RevisionIx]| {
        by_name(revisions.iter().map(|revision| snapshot.revision(*revision).object_ref()))
    };
    let (adopt, release) = (ClaimReason::SelectorMatches, ClaimReason::SelectorNoLongerMatches);
    let claim = &steps.claim;
    let adopted = pods(&claim.pods.adopted).into_iter();
    actions.extend(adopted.map(|pod| Action::AdoptPod { pod, reason: adopt }));
    let released = pods(&claim.pods.released).into_iter();
    actions.extend(released.map(|pod| Action::ReleasePod { pod, reason: release }));
    let adopted = revisions(&claim.revisions.adopted).into_iter();
    actions.extend(adopted.map(|revision| Action::AdoptRevision { revision, reason: adopt }));
    let released = revisions(&claim.revisions.released).into_iter();
    actions.extend(released.map(|revision| Action::ReleaseRevision { revision, reason: release }));
}

fn by_name(objects: impl Iterator<Item = ObjectRef>) -> Vec<ObjectRef> {
    let mut objects: Vec<ObjectRef> = objects.collect();
    objects.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    objects
}

/// Create, label and renumber revisions, then relabel pods.
fn history_actions(snapshot: &Snapshot<'_>, steps: &Steps<'_>, actions: &mut Vec<Action>) {
    let key = &snapshot.spec.policy.unique_label_key;
    let history = &steps.history;
    if let Revision { view: None, hash, number, .. } = history.current() {
        let revision = history::manifest(snapshot, hash, *number);
        actions.push(Action::CreateRevision { revision, reason: RevisionReason::NewTemplate });
    }
    // A new revision has its labels and its number from the beginning: the actions below change stored ones.
    label_revisions(key, history, actions);
    if let (Some(number), Some(view)) = (history.renumbered, history.current().view) {
        let revision = view.object_ref();
        actions.push(Action::RenumberRevision { revision, number, reason: RevisionReason::CurrentAgain });
    }
    // After the number: a mark counts only with the number that its revision has.
    mark_revision(snapshot, steps, actions);
    label_pods(snapshot, steps, history, actions);
}

/// One action a mark: each has a reason of its own.
fn mark_revision(snapshot: &Snapshot<'_>, steps: &Steps<'_>, actions: &mut Vec<Action>) {
    let current = steps.history.current();
    // A revision that this plan creates has its first mark in the manifest; the others wait for the next plan.
    let (Some(rollout), Some(view)) = (steps.fleet.goals.rollout(), current.view) else { return };
    actions.extend(rollout.known.decision.marks.iter().filter_map(|mark| {
        let marked = match mark {
            MarkChange::Restored => rollout.stable.as_ref()?.view,
            MarkChange::Started
            | MarkChange::Paused
            | MarkChange::Wave(_)
            | MarkChange::Failed(_)
            | MarkChange::Completed
            | MarkChange::Undone { .. } => view,
        };
        let key = snapshot.spec.mark_keys.of(*mark).to_owned();
        let annotations = BTreeMap::from([(key, mark.value(current.number, snapshot.now))]);
        Some(Action::AnnotateRevision { revision: marked.object_ref(), annotations, reason: mark.reason() })
    }));
}

fn label_revisions(key: &str, history: &History<'_>, actions: &mut Vec<Action>) {
    for revision in history.unlabelled(key).into_iter().filter_map(|revision| revision.view) {
        let labels = Labels::from_iter([(key, revision.name)]);
        let revision = revision.object_ref();
        actions.push(Action::LabelRevision { revision, labels, reason: LabelReason::HashMissing });
    }
    // These make the selector match again, so that the next plan adopts the revision.
    let missing = history.missing_labels.as_ref().filter(|labels| !labels.is_empty());
    if let (Some(labels), Some(view)) = (missing, history.current().view) {
        let (revision, labels) = (view.object_ref(), labels.clone());
        actions.push(Action::LabelRevision { revision, labels, reason: LabelReason::LabelsLost });
    }
}

fn label_pods(snapshot: &Snapshot<'_>, steps: &Steps<'_>, history: &History<'_>, actions: &mut Vec<Action>) {
    let mut pods: Vec<_> =
        steps.fleet.labels.iter().map(|(pod, reason)| (snapshot.pod(*pod), *reason)).collect();
    pods.sort_unstable_by_key(|(pod, _)| pod.name);
    for (pod, reason) in pods {
        // For each reason the same label: these pods run the current template, whatever their own one says.
        let labels = Labels::from_iter([(&snapshot.spec.policy.unique_label_key, history.current_hash())]);
        actions.push(Action::LabelPod { pod: pod.object_ref(), labels, reason });
    }
}

fn pod_deletes(steps: &Steps<'_>, actions: &mut Vec<Action>) {
    let fleet = &steps.fleet;
    let generation = fleet.snapshot.spec.failure_generation();
    for deletion in &steps.burst.deletes {
        let pod = fleet.pod(deletion.pod);
        let node: NodeName = fleet.target_name(pod).into();
        let (reason, failure) = (deletion.reason, deletion.failure(generation));
        let object = fleet.view(pod).object_ref();
        match deletion.means {
            Means::Delete => actions.push(Action::DeletePod { node, pod: object, reason, failure }),
            Means::InPlace => {
                let position = fleet.node_of(deletion.pod);
                let patch = position.and_then(|node| in_place::patch(fleet, &steps.history, node, pod));
                actions.extend(patch.map(|patch| Action::UpdatePodInPlace {
                    node,
                    pod: object,
                    patch,
                    reason,
                }));
            }
            // Its node is patched.
            Means::Turn => {}
        }
    }
}

fn pod_creates(
    snapshot: &Snapshot<'_>,
    steps: &Steps<'_>,
    actions: &mut Vec<Action>,
) -> Result<(), InvalidManifest> {
    // Most plans create nothing, and are spared the template's JSON.
    if steps.burst.creates.is_empty() {
        return Ok(());
    }
    let rest = steps.rest;
    let current = PodTemplate::new(snapshot, rest, Source::current(snapshot, &steps.history));
    let goals = &steps.fleet.goals;
    let stable = goals.stable().map(|stable| PodTemplate::new(snapshot, rest, Source::stable(stable)));
    for (position, creation) in steps.burst.creates.iter().enumerate() {
        // The batches go over both revisions: the position is that among all creates.
        let batch = Creation::batch(position);
        let template = match &stable {
            Some(stable) if goals.of(creation.node).is_stable() => stable,
            Some(_) | None => &current,
        };
        let node = snapshot.node(creation.node);
        actions.push(Action::CreatePod {
            node: node.name.into(),
            batch,
            reason: creation.reason,
            pod: manifest(snapshot, node, template.manifest(node.name), &template.source)?,
        });
    }
    Ok(())
}

/// The deletes of pull pods, then their creates.
fn pulls(snapshot: &Snapshot<'_>, steps: &Steps<'_>, actions: &mut Vec<Action>) {
    let Some(pulls) = &steps.burst.pulls else { return };
    for pod in &pulls.deletes {
        let (node, pod) = (pod.view.target.unwrap_or_default().into(), pod.view.object_ref());
        actions.push(Action::DeletePod { node, pod, reason: DeleteReason::PullDone, failure: None });
    }
    if pulls.creates.is_empty() {
        return;
    }
    // One for all nodes with the same goal: a wave may begin on hundreds of them at once.
    let shared = |source| pulls::shared(snapshot, &PodTemplate::new(snapshot, steps.rest, source));
    let current = shared(Source::current(snapshot, &steps.history));
    let goals = &steps.fleet.goals;
    let stable = goals.stable().map(|stable| shared(Source::stable(stable)));
    for (position, node) in pulls.creates.iter().enumerate() {
        let shared = stable.as_ref().filter(|_| goals.of(*node).is_stable()).unwrap_or(&current);
        let name = snapshot.node(*node).name;
        actions.push(Action::CreatePod {
            node: name.into(),
            batch: Creation::batch(position),
            reason: CreateReason::PullImages,
            pod: pulls::manifest(snapshot, shared, name),
        });
    }
}

fn revision_deletes(snapshot: &Snapshot<'_>, steps: &Steps<'_>, actions: &mut Vec<Action>) {
    for duplicate in steps.history.duplicates() {
        delete_revision(duplicate, RevisionReason::Duplicate, actions);
    }
    let limit = snapshot.spec.daemon_set.spec.revision_history_limit;
    // As the snapshot shows it: a revision whose last pod goes in this plan stays until a later one.
    let is_live_history = |revision| steps.fleet.is_live_history(revision);
    let stable = steps.fleet.goals.stable().map(|stable| stable.position);
    let is_needed = |position, revision: &Revision<'_>| {
        Some(position) == stable || undone_until(snapshot, revision).is_some()
    };
    for old in steps.history.beyond_limit(limit, is_live_history, is_needed) {
        delete_revision(old, RevisionReason::HistoryLimit, actions);
    }
}

fn delete_revision(revision: &Revision<'_>, reason: RevisionReason, actions: &mut Vec<Action>) {
    // Only the current revision may lack an object, and it never goes.
    if let Some(view) = revision.view {
        actions.push(Action::DeleteRevision { revision: view.object_ref(), reason });
    }
}

/// One event for each pod that the plan deletes because it is finished.
fn events(snapshot: &Snapshot<'_>, steps: &Steps<'_>, actions: &mut Vec<Action>) {
    // Of this plan's deletes alone: a pod that the cap leaves for the next plan has its event then.
    for deletion in &steps.burst.deletes {
        let (event_type, reason, state, verb) = match deletion.reason {
            DeleteReason::FailedPod => (EventType::Warning, EventReason::FailedDaemonPod, "failed", "kill"),
            DeleteReason::SucceededPod => {
                (EventType::Normal, EventReason::SucceededDaemonPod, "succeeded", "delete")
            }
            DeleteReason::ExcessPod
            | DeleteReason::SuccessorAvailable
            | DeleteReason::NotReadyBesideSuccessor
            | DeleteReason::NodeExcluded
            | DeleteReason::TolerationWithdrawn
            | DeleteReason::NodeGone
            | DeleteReason::PullDone
            | DeleteReason::OutdatedPending
            | DeleteReason::OutdatedNotReady
            | DeleteReason::OutdatedNotYetAvailable
            | DeleteReason::OutdatedAvailable => continue,
        };
        let pod = steps.fleet.pod(deletion.pod);
        let node = steps.fleet.target_name(pod);
        let pod = steps.fleet.view(pod);
        actions.push(Action::RecordEvent {
            daemon_set: snapshot.spec.daemon_set.as_ref().into(),
            event_type,
            reason,
            message: format!(
                "Found {state} daemon pod {}/{} on node {node}, will try to {verb} it",
                pod.namespace, pod.name
            ),
        });
    }
}
