//! From decisions to actions: their order, the cap on one plan, and when to look again.

use crate::action::{
    Action, ClaimReason, CreateReason, DeleteReason, EventReason, EventType, LabelReason, RequeueReason,
    RevisionReason, StatusReason,
};
use crate::fleet::Fleet;
use crate::history::{self, History, Revision};
use crate::manifest::{Blueprint, deterministic_name};
use crate::model::{DaemonSetStatus, Labels, ObjectRef};
use crate::node_sync::{Deletion, NodeSync};
use crate::policy::PodNames;
use crate::reconcile::{Decision, Sync};
use crate::snapshot::Snapshot;
use crate::update::Update;
use crate::view::PodView;
use jiff::Timestamp;

/// The pod deletes and creates of this plan, in order and within the cap.
#[derive(Debug)]
pub(crate) struct Agenda {
    pub(crate) deletes: Vec<Deletion>,
    pub(crate) creates: Vec<Creation>,
    /// When time alone changes the answer.
    pub(crate) requeue: Option<(Timestamp, RequeueReason)>,
}

/// A pod to create.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Creation {
    /// Position of the node.
    pub(crate) node: u32,
    pub(crate) reason: CreateReason,
}

impl Creation {
    /// Batches of 1, 2, 4 … creates: the position in the plan says which (v1.36 `slowStartBatch`).
    pub(crate) fn batch(position: usize) -> u32 {
        (position + 1).ilog2()
    }
}

impl Agenda {
    /// Orders and caps; what is left out is asked for again at once `[one-burst]`.
    pub(crate) fn of(fleet: &Fleet<'_>, sync: &NodeSync, update: &Update) -> Self {
        let burst = fleet.snapshot.policy.burst as usize;
        let mut deletes = ordered_deletes(fleet, sync, update);
        let mut creates = ordered_creates(fleet, sync, update);
        let capped = deletes.len() > burst || creates.len() > burst;
        deletes.truncate(burst);
        creates.truncate(burst);
        let requeue = if capped {
            Some((fleet.snapshot.now, RequeueReason::Burst))
        } else {
            next_change(fleet, sync, update)
        };
        Agenda { deletes, creates, requeue }
    }
}

/// Node sync's by node name then pod name, then those of pods on unknown nodes by pod name, then the update's own order.
fn ordered_deletes(fleet: &Fleet<'_>, sync: &NodeSync, update: &Update) -> Vec<Deletion> {
    let mut deletes: Vec<Deletion> = sync.standing_deletes().copied().collect();
    deletes.sort_unstable_by_key(|deletion| {
        let lost = deletion.reason == DeleteReason::NodeGone;
        let view = fleet.pods.get(deletion.pod).and_then(|pod| fleet.view(pod));
        (lost, view.filter(|_| !lost).and_then(|v| v.target), view.map(|v| v.name))
    });
    deletes.extend(&update.deletes);
    deletes
}

fn ordered_creates(fleet: &Fleet<'_>, sync: &NodeSync, update: &Update) -> Vec<Creation> {
    let missing = sync.creates.iter().map(|node| (*node, CreateReason::MissingPod));
    let surge = update.creates.iter().map(|node| (*node, CreateReason::Surge));
    let mut creates: Vec<_> = missing.chain(surge).map(|(node, reason)| Creation { node, reason }).collect();
    creates.sort_unstable_by_key(|creation| fleet.node_name(creation.node as usize));
    creates
}

/// The earliest instant at which time alone changes the answer.
fn next_change(fleet: &Fleet<'_>, sync: &NodeSync, update: &Update) -> Option<(Timestamp, RequeueReason)> {
    let held = sync.held.iter().map(|held| held.until).min();
    let in_flight = fleet.in_flight.iter().map(|create| create.until).chain(fleet.deletes_expire).min();
    [
        (next_available(fleet, sync, update), RequeueReason::MinReadySeconds),
        (held, RequeueReason::BackOff),
        (in_flight, RequeueReason::InFlightExpiry),
        (update.place_free_at, RequeueReason::TerminationOverdue),
    ]
    .into_iter()
    .filter_map(|(at, reason)| at.map(|at| (at, reason)))
    .min()
}

/// When the next Ready pod that stays becomes available.
fn next_available(fleet: &Fleet<'_>, sync: &NodeSync, update: &Update) -> Option<Timestamp> {
    if fleet.snapshot.min_ready().is_zero() {
        return None;
    }
    let mut going: Vec<usize> = update.deletes.iter().map(|deletion| deletion.pod).collect();
    going.sort_unstable();
    let stays = |index: &usize| going.binary_search(index).is_err();
    let pods = fleet.targets().flat_map(|node| sync.survivors(fleet, node));
    let young = pods.filter(|(index, pod)| !pod.is_available() && pod.is_ready() && stays(index));
    young.filter_map(|(_, pod)| fleet.available_at(pod)).min()
}

/// Puts a decision into actions: claim, history, pod deletes, pod creates, revision deletes, status, events, requeue.
pub(crate) fn actions(snapshot: &Snapshot<'_>, decision: &Decision<'_>) -> Vec<Action> {
    match decision {
        Decision::BeingDeleted => Vec::new(),
        Decision::SelectingAll => vec![selecting_all(snapshot)],
        Decision::NameCollision(status) => {
            vec![update_status(snapshot, status.clone(), StatusReason::NameCollision)]
        }
        Decision::Sync(sync) => {
            let mut actions = Vec::new();
            claim_actions(snapshot, sync, &mut actions);
            history_actions(snapshot, sync, &mut actions);
            pod_deletes(sync, &mut actions);
            pod_creates(snapshot, sync, &mut actions);
            revision_deletes(snapshot, sync, &mut actions);
            if sync.status != snapshot.daemon_set.status {
                actions.push(update_status(snapshot, sync.status.clone(), StatusReason::Changed));
            }
            events(snapshot, sync, &mut actions);
            actions.extend(sync.agenda.requeue.map(|(at, reason)| Action::Requeue { at, reason }));
            actions
        }
    }
}

fn selecting_all(snapshot: &Snapshot<'_>) -> Action {
    Action::RecordEvent {
        daemon_set: snapshot.daemon_set.object_ref(),
        event_type: EventType::Warning,
        reason: EventReason::SelectingAll,
        message: "This daemon set is selecting all pods. A non-empty selector is required.".to_owned(),
    }
}

fn update_status(snapshot: &Snapshot<'_>, status: DaemonSetStatus, reason: StatusReason) -> Action {
    Action::UpdateStatus { daemon_set: snapshot.daemon_set.object_ref(), status, reason }
}

/// Adoptions and releases, by name.
fn claim_actions(snapshot: &Snapshot<'_>, sync: &Sync<'_>, actions: &mut Vec<Action>) {
    let pods = |positions: &[u32]| {
        let mut refs: Vec<ObjectRef> = positions
            .iter()
            .filter_map(|p| snapshot.pods.get(*p as usize))
            .map(PodView::object_ref)
            .collect();
        refs.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        refs
    };
    let revisions = |positions: &[u32]| {
        let found = positions.iter().filter_map(|p| snapshot.revisions.get(*p as usize));
        let mut refs: Vec<ObjectRef> = found.map(|revision| revision.object_ref()).collect();
        refs.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        refs
    };
    let (adopt, release) = (ClaimReason::SelectorMatches, ClaimReason::SelectorNoLongerMatches);
    let claim = &sync.claim;
    let adopted = pods(&claim.pods.adopted).into_iter();
    actions.extend(adopted.map(|pod| Action::AdoptPod { pod, reason: adopt }));
    let released = pods(&claim.pods.released).into_iter();
    actions.extend(released.map(|pod| Action::ReleasePod { pod, reason: release }));
    let adopted = revisions(&claim.revisions.adopted).into_iter();
    actions.extend(adopted.map(|revision| Action::AdoptRevision { revision, reason: adopt }));
    let released = revisions(&claim.revisions.released).into_iter();
    actions.extend(released.map(|revision| Action::ReleaseRevision { revision, reason: release }));
}

/// Create, label and renumber revisions, then relabel pods.
fn history_actions(snapshot: &Snapshot<'_>, sync: &Sync<'_>, actions: &mut Vec<Action>) {
    let key = &snapshot.policy.unique_label_key;
    let history = &sync.history;
    if let Some(Revision { view: None, hash, number, .. }) = history.current() {
        let revision = history::manifest(snapshot, hash, *number);
        actions.push(Action::CreateRevision { revision, reason: RevisionReason::NewTemplate });
    }
    for revision in history.unlabelled(key).into_iter().filter_map(|revision| revision.view) {
        let labels = Labels::from([(key.clone(), revision.name.to_owned())]);
        let revision = revision.object_ref();
        actions.push(Action::LabelRevision { revision, labels, reason: LabelReason::HashMissing });
    }
    if let (Some(number), Some(view)) = (history.renumbered, history.current().and_then(|c| c.view)) {
        let revision = view.object_ref();
        actions.push(Action::RenumberRevision { revision, number, reason: RevisionReason::CurrentAgain });
    }
    label_pods(snapshot, sync, history, actions);
}

fn label_pods(snapshot: &Snapshot<'_>, sync: &Sync<'_>, history: &History<'_>, actions: &mut Vec<Action>) {
    let pod = |(position, reason): &(u32, LabelReason)| {
        snapshot.pods.get(*position as usize).map(|pod| (pod, *reason))
    };
    let mut pods: Vec<_> = sync.fleet.labels.iter().filter_map(pod).collect();
    pods.sort_unstable_by_key(|(pod, _)| pod.name);
    actions.extend(pods.into_iter().map(|(pod, reason)| {
        let key = snapshot.policy.unique_label_key.clone();
        let labels = Labels::from([(key, history.current_hash().to_owned())]);
        Action::LabelPod { pod: pod.object_ref(), labels, reason }
    }));
}

fn pod_deletes(sync: &Sync<'_>, actions: &mut Vec<Action>) {
    let fleet = &sync.fleet;
    for Deletion { pod, reason, failure } in &sync.agenda.deletes {
        let Some(view) = fleet.pods.get(*pod).and_then(|pod| fleet.view(pod)) else { continue };
        let node = view.target.unwrap_or_default().into();
        actions.push(Action::DeletePod { node, pod: view.object_ref(), reason: *reason, failure: *failure });
    }
}

fn pod_creates(snapshot: &Snapshot<'_>, sync: &Sync<'_>, actions: &mut Vec<Action>) {
    if sync.agenda.creates.is_empty() {
        return;
    }
    let blueprint = Blueprint::new(snapshot, &sync.history);
    for (position, Creation { node, reason }) in sync.agenda.creates.iter().enumerate() {
        let node = sync.fleet.node_name(*node as usize);
        let name = match snapshot.policy.pod_names {
            PodNames::Generated => None,
            PodNames::Deterministic => Some(deterministic_name(snapshot, node, sync.history.current_hash())),
        };
        actions.push(Action::CreatePod {
            node: node.into(),
            batch: Creation::batch(position),
            reason: *reason,
            pod: blueprint.pod(node, name),
        });
    }
}

fn revision_deletes(snapshot: &Snapshot<'_>, sync: &Sync<'_>, actions: &mut Vec<Action>) {
    let duplicates = sync.history.duplicates().into_iter().map(|r| (r, RevisionReason::Duplicate));
    let old = sync.history.beyond_limit(snapshot, &sync.fleet).into_iter();
    let old = old.map(|r| (r, RevisionReason::HistoryLimit));
    actions.extend(duplicates.chain(old).filter_map(|(revision, reason)| {
        Some(Action::DeleteRevision { revision: revision.view?.object_ref(), reason })
    }));
}

/// One event for each finished pod that the plan deletes for it.
fn events(snapshot: &Snapshot<'_>, sync: &Sync<'_>, actions: &mut Vec<Action>) {
    for deletion in &sync.agenda.deletes {
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
        let Some(pod) = sync.fleet.pods.get(deletion.pod).and_then(|p| sync.fleet.view(p)) else { continue };
        let node = pod.target.unwrap_or_default();
        actions.push(Action::RecordEvent {
            daemon_set: snapshot.daemon_set.object_ref(),
            event_type,
            reason,
            message: format!(
                "Found {state} daemon pod {}/{} on node {node}, will try to {verb} it",
                pod.namespace, pod.name
            ),
        });
    }
}
