//! The actions of a decision, in the order of their execution.

use crate::action::{
    Action, ClaimReason, DeleteReason, EventReason, EventType, LabelReason, RevisionReason, StatusReason,
};
use crate::input::Snapshot;
use crate::model::{DaemonSetStatus, Labels, ObjectRef};
use crate::objects::pod_manifest::PodManifest;
use crate::objects::position::{PodIx, RevisionIx};
use crate::objects::view::NodeView;
use crate::plan::authority::Authority;
use crate::plan::burst::Creation;
use crate::plan::pod_template::{PodTemplate, Source};
use crate::plan::steps::{Decision, Steps};
use crate::pods::history;
use crate::pods::history::{History, Revision};
use std::collections::BTreeMap;
use std::convert::Infallible;

/// Gives the creates of a plan their bodies.
pub trait Bodies {
    type Error;

    /// The manifest to create on a node, from the template's.
    fn body(
        &self,
        snapshot: &Snapshot<'_>,
        node: &NodeView<'_>,
        pod: PodManifest,
        source: &Source<'_>,
    ) -> Result<PodManifest, Self::Error>;
}

/// The template's own manifests.
pub struct FromTemplate;

impl Bodies for FromTemplate {
    type Error = Infallible;

    fn body(
        &self,
        _: &Snapshot<'_>,
        _: &NodeView<'_>,
        pod: PodManifest,
        _: &Source<'_>,
    ) -> Result<PodManifest, Infallible> {
        Ok(pod)
    }
}

/// The actions of a decision: claim, history, pod deletes, pod creates, revision deletes, status, events, requeue.
pub(crate) fn actions<B: Bodies>(
    snapshot: &Snapshot<'_>,
    decision: &Decision<'_>,
    bodies: &B,
) -> Result<Vec<Action>, B::Error> {
    let mut actions = all_actions(snapshot, decision, bodies)?;
    let authority = Authority::of(snapshot);
    actions.retain(|action| authority.executes(action));
    Ok(actions)
}

fn all_actions<B: Bodies>(
    snapshot: &Snapshot<'_>,
    decision: &Decision<'_>,
    bodies: &B,
) -> Result<Vec<Action>, B::Error> {
    Ok(match decision {
        Decision::BeingDeleted => Vec::new(),
        Decision::SelectingAll => vec![selecting_all(snapshot)],
        Decision::NameCollision(status) => {
            vec![update_status(snapshot, status.clone(), StatusReason::NameCollision)]
        }
        Decision::Synced(steps) => {
            let mut actions = Vec::new();
            claim_actions(snapshot, steps, &mut actions);
            history_actions(snapshot, steps, &mut actions);
            pod_deletes(steps, &mut actions);
            pod_creates(snapshot, steps, bodies, &mut actions)?;
            revision_deletes(snapshot, steps, &mut actions);
            if steps.status != snapshot.spec.daemon_set.status {
                actions.push(update_status(snapshot, steps.status.clone(), StatusReason::Changed));
            }
            events(snapshot, steps, &mut actions);
            actions.extend(steps.burst.requeue.map(|(at, reason)| Action::Requeue { at, reason }));
            actions
        }
    })
}

fn selecting_all(snapshot: &Snapshot<'_>) -> Action {
    let kind = snapshot.spec.daemon_set.owner.kind_in_words();
    Action::RecordEvent {
        daemon_set: snapshot.spec.daemon_set.object_ref(),
        event_type: EventType::Warning,
        reason: EventReason::SelectingAll,
        message: format!("This {kind} is selecting all pods. A non-empty selector is required."),
    }
}

fn update_status(snapshot: &Snapshot<'_>, status: DaemonSetStatus, reason: StatusReason) -> Action {
    Action::UpdateStatus { daemon_set: snapshot.spec.daemon_set.object_ref(), status, reason }
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
    label_revisions(key, history, actions);
    if let (Some(number), Some(view)) = (history.renumbered, history.current().view) {
        let revision = view.object_ref();
        actions.push(Action::RenumberRevision { revision, number, reason: RevisionReason::CurrentAgain });
    }
    mark_revision(snapshot, steps, actions);
    label_pods(snapshot, steps, history, actions);
}

/// One action a mark: each has a reason of its own.
fn mark_revision(snapshot: &Snapshot<'_>, steps: &Steps<'_>, actions: &mut Vec<Action>) {
    let current = steps.history.current();
    let (Some(rollout), Some(view)) = (steps.fleet.goals.rollout(), current.view) else { return };
    if view.controller.is_none() && !Authority::of(snapshot).adopts() {
        // The other controller adopts it first.
        return;
    }
    actions.extend(rollout.known.decision.marks.iter().map(|mark| {
        let key = snapshot.spec.mark_keys.of(*mark).to_owned();
        let annotations = BTreeMap::from([(key, mark.value(current.number, snapshot.now))]);
        Action::AnnotateRevision { revision: view.object_ref(), annotations, reason: mark.reason() }
    }));
}

fn label_revisions(key: &str, history: &History<'_>, actions: &mut Vec<Action>) {
    for revision in history.unlabelled(key).into_iter().filter_map(|revision| revision.view) {
        let labels = Labels::from_iter([(key, revision.name)]);
        let revision = revision.object_ref();
        actions.push(Action::LabelRevision { revision, labels, reason: LabelReason::HashMissing });
    }
    let lost = history.lost_labels.as_ref().filter(|labels| !labels.is_empty());
    if let (Some(labels), Some(view)) = (lost, history.current().view) {
        let (revision, labels) = (view.object_ref(), labels.clone());
        actions.push(Action::LabelRevision { revision, labels, reason: LabelReason::LabelsLost });
    }
}

fn label_pods(snapshot: &Snapshot<'_>, steps: &Steps<'_>, history: &History<'_>, actions: &mut Vec<Action>) {
    let pod = |(pod, reason): &(PodIx, LabelReason)| (snapshot.pod(*pod), *reason);
    let mut pods: Vec<_> = steps.fleet.labels.iter().map(pod).collect();
    pods.sort_unstable_by_key(|(pod, _)| pod.name);
    actions.extend(pods.into_iter().map(|(pod, reason)| {
        let labels = Labels::from_iter([(&snapshot.spec.policy.unique_label_key, history.current_hash())]);
        Action::LabelPod { pod: pod.object_ref(), labels, reason }
    }));
}

fn pod_deletes(steps: &Steps<'_>, actions: &mut Vec<Action>) {
    let fleet = &steps.fleet;
    let generation = fleet.snapshot.spec.failure_generation();
    for deletion in &steps.burst.deletes {
        let pod = fleet.pod(deletion.pod);
        let node = fleet.target_name(pod).into();
        let (reason, failure) = (deletion.reason, deletion.failure(generation));
        let pod = fleet.view(pod).object_ref();
        actions.push(Action::DeletePod { node, pod, reason, failure });
    }
}

fn pod_creates<B: Bodies>(
    snapshot: &Snapshot<'_>,
    steps: &Steps<'_>,
    bodies: &B,
    actions: &mut Vec<Action>,
) -> Result<(), B::Error> {
    if steps.burst.creates.is_empty() {
        return Ok(());
    }
    let outside = steps.outside;
    let pod_template = PodTemplate::new(snapshot, outside, Source::current(snapshot, &steps.history));
    let goals = &steps.fleet.goals;
    let of_base = goals.base().map(|base| PodTemplate::new(snapshot, outside, Source::base(base)));
    for (position, Creation { node, reason }) in steps.burst.creates.iter().enumerate() {
        let of_base = of_base.as_ref().filter(|_| goals.of(*node).is_base());
        let pod_template = of_base.unwrap_or(&pod_template);
        let node = snapshot.node(*node);
        actions.push(Action::CreatePod {
            node: node.name.into(),
            batch: Creation::batch(position),
            reason: *reason,
            pod: bodies.body(snapshot, node, pod_template.manifest(node.name), &pod_template.source)?,
        });
    }
    Ok(())
}

fn revision_deletes(snapshot: &Snapshot<'_>, steps: &Steps<'_>, actions: &mut Vec<Action>) {
    let duplicates = steps.history.duplicates().into_iter().map(|r| (r, RevisionReason::Duplicate));
    let limit = snapshot.spec.daemon_set.spec.revision_history_limit;
    let is_live_history = |revision| steps.fleet.is_live_history(revision);
    let base = steps.fleet.goals.base().map(|base| base.position);
    let old = steps.history.beyond_limit(limit, is_live_history, base).into_iter();
    let old = old.map(|r| (r, RevisionReason::HistoryLimit));
    actions.extend(duplicates.chain(old).filter_map(|(revision, reason)| {
        Some(Action::DeleteRevision { revision: revision.view?.object_ref(), reason })
    }));
}

/// One event for each pod that the plan deletes because it is finished.
fn events(snapshot: &Snapshot<'_>, steps: &Steps<'_>, actions: &mut Vec<Action>) {
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
            | DeleteReason::OutdatedPending
            | DeleteReason::OutdatedNotReady
            | DeleteReason::OutdatedNotYetAvailable
            | DeleteReason::OutdatedAvailable => continue,
        };
        let pod = steps.fleet.pod(deletion.pod);
        let node = steps.fleet.target_name(pod);
        let pod = steps.fleet.view(pod);
        actions.push(Action::RecordEvent {
            daemon_set: snapshot.spec.daemon_set.object_ref(),
            event_type,
            reason,
            message: format!(
                "Found {state} daemon pod {}/{} on node {node}, will try to {verb} it",
                pod.namespace, pod.name
            ),
        });
    }
}
