//! The caller's memory between two reconciles: accepted actions that a stale cache may not show, and the back-off of
//! failed pods.
//!
//! [`reconcile`](crate::reconcile) only reads it. The caller [records](Memory::record) the outcome of each action, and
//! lets it [forget](Memory::observe) the actions that a snapshot shows. Without it a plan is still right for the snapshot.

pub(crate) mod accepted;
pub(crate) mod in_flight;
pub(crate) mod node_failures;
mod parts;
mod rejections;
pub(crate) mod restores;
mod restores_in_flight;
pub(crate) mod turns;
mod turns_in_flight;
mod until;

use crate::action::{Action, Failure};
use accepted::{CreatedPod, DeletedPod, InFlight};
use daemonset_objects::PodView;
use daemonset_objects::model::{NodeName, ObjectRef, Uid};
use jiff::Timestamp;
use node_failures::{NodeFailures, updated_within_a_limit};
pub use rejections::Rejections;
use restores::RestoreMemory;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use turns::KeptTurns;

/// In-flight actions, failures and refusals of one DaemonSet.
///
/// It has the part of upstream's `ControllerExpectations` and `flowcontrol.Backoff`. An entry expires, where an expectation
/// could block a DaemonSet.
///
/// ```
/// use daemonset::{Action, ActionOutcome, Memory, Recording, model::{ObjectRef, Pod}, reconcile};
/// use serde_json::{from_value, json};
///
/// # let daemon_set = json!({
/// #     "metadata": {"name": "agent", "namespace": "ns", "uid": "u1"},
/// #     "spec": {
/// #         "selector": {"matchLabels": {"app": "agent"}},
/// #         "template": {"metadata": {"labels": {"app": "agent"}}},
/// #         "updateStrategy": {"type": "RollingUpdate"},
/// #     },
/// # });
/// let mut recording: Recording =
///     from_value(json!({"now": "2026-01-01T12:00:00Z", "daemonSet": daemon_set, "nodes": [{"metadata": {"name": "a"}}]}))?;
/// let actions = reconcile(&recording.snapshot().unwrap());
/// let Some(create @ Action::CreatePod { pod, .. }) = actions.get(1) else { panic!("the node lacks a pod") };
/// let mut created: Pod = from_value(pod.to_value())?;
/// (created.metadata.name, created.metadata.uid) = ("agent-x".into(), "p1".into());
///
/// let mut memory = Memory::default();
/// memory.record(create, &ActionOutcome::Created(ObjectRef::from(&created.metadata)), recording.now);
/// memory.observe(&recording.snapshot().unwrap());
/// assert!(memory.is_in_flight(create)); // the snapshot does not show the pod yet
/// recording.pods.push(created);
/// memory.observe(&recording.snapshot().unwrap());
/// assert!(!memory.is_in_flight(create));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[doc(alias = "ControllerExpectations", alias = "Backoff")]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Memory {
    /// The uid of its DaemonSet. A memory without one is of whichever DaemonSet it is used for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) uid: Option<Uid>,
    /// Creates that the API server accepted, by node.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) creates: BTreeMap<NodeName, InFlight<CreatedPod>>,
    /// Deletes that the API server accepted, by the pod's uid.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) deletes: BTreeMap<Uid, InFlight<DeletedPod>>,
    /// Failures, by node.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) failures: BTreeMap<NodeName, NodeFailures>,
    /// When an update of a node was refused.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) refusals: BTreeMap<NodeName, Timestamp>,
    /// Nodes whose pod an update deleted, until a Ready updated pod is seen there.
    #[serde(rename = "taken", skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) deleted_by_update: BTreeMap<NodeName, DeletedByUpdate>,
    /// Creates and deletes of pods that were rejected in a row, by node. A person reads them, and no decision does.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) rejections: BTreeMap<NodeName, Rejections>,
    /// Turns, pulls and changes in place.
    #[serde(skip_serializing_if = "KeptTurns::is_empty")]
    pub(crate) turns: KeptTurns,
    /// Restored templates, where there is one to remember.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) restores: Option<Box<RestoreMemory>>,
}

/// An update's delete of a pod, or change in its place, that the API server accepted (or may have accepted).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeletedByUpdate {
    /// The deleted pod, or the one that was changed in its place.
    pub uid: Uid,
    /// When the outcome was known.
    pub at: Timestamp,
    /// For a pod that was changed in its place, when: the pod itself is back once it shows this change, or a later one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_at: Option<Timestamp>,
}

impl DeletedByUpdate {
    fn by_delete(uid: &Uid, at: Timestamp) -> Self {
        DeletedByUpdate { uid: uid.clone(), at, changed_at: None }
    }

    /// Whether this is the pod that the update deleted, without a sign of life: its Ready condition is of the time before.
    pub(crate) fn hides(&self, pod: &PodView<'_>) -> bool {
        self.uid.as_str() == pod.uid
            && !self.changed_at.is_some_and(|at| turns::shows_change(pod.in_place(), at))
    }
}

/// The outcome of an action.
///
/// ```
/// use daemonset::{Action, ActionOutcome, DeleteReason, Memory, model::ObjectRef};
///
/// let now = "2026-01-01T12:00:00Z".parse().unwrap();
/// let pod = ObjectRef { namespace: "ns".into(), name: "agent-x".into(), uid: "p1".into(), ..ObjectRef::default() };
/// let delete = Action::delete_pod("a".into(), pod, DeleteReason::FailedPod);
/// for (outcome, in_flight) in
///     [(ActionOutcome::Done, true), (ActionOutcome::Rejected, false), (ActionOutcome::Unknown, true)]
/// {
///     let mut memory = Memory::default();
///     memory.record(&delete, &outcome, now);
///     assert_eq!(memory.is_in_flight(&delete), in_flight);
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ActionOutcome {
    /// The API server created this pod. With its `resource_version` the pod is in flight only until
    /// [`ObservedAt::pods_version`](crate::ObservedAt::pods_version) reaches that version.
    Created(ObjectRef),
    /// The API server executed the call. A pod to delete that is not found counts as deleted.
    Done,
    /// As [`Done`](Self::Done), and this is the object after the call, with its new `resource_version`. For a delete: only
    /// an object that has a deletionTimestamp, since that version is then the delete's.
    Changed(ObjectRef),
    /// The API server rejected the call, so that nothing changed. A lost answer is not a rejection but
    /// [`Unknown`](Self::Unknown): a create that was done but is reported as rejected gets its node a second pod.
    Rejected,
    /// The answer was lost (a time-out, a broken connection), and the action may have been done; see [`Memory::settle`].
    Unknown,
    /// A precondition did not hold, so that nothing changed: the object is another one by now, or has changed since the snapshot. The
    /// API server would not have rejected the call for the present object, and nothing is remembered of it.
    Conflict,
    /// A pod of this name is there already. It is the answer to a create under
    /// [`PodNames::OnePerNode`](crate::policy::PodNames::OnePerNode), and does not end the plan: the node waits until a snapshot shows that pod.
    AlreadyExists,
}

impl ActionOutcome {
    /// The object after the call, if known.
    fn object(&self) -> Option<&ObjectRef> {
        match self {
            ActionOutcome::Created(object) | ActionOutcome::Changed(object) => Some(object),
            ActionOutcome::Done
            | ActionOutcome::Rejected
            | ActionOutcome::Unknown
            | ActionOutcome::Conflict
            | ActionOutcome::AlreadyExists => None,
        }
    }
}

/// A resource version as a number, as KEP-5504 lets clients compare them; `None` for any other text.
pub(crate) fn parsed_version(version: &str) -> Option<u64> {
    version.parse().ok()
}

impl Memory {
    /// Keeps the outcome of an action; `at` is the instant at which the outcome was known.
    ///
    /// Creates, deletes and changes in place of pods, patches of nodes and restored templates leave a trace if the API server accepted
    /// them, or may have. Rejections are kept, too: the next try waits, is another one, or a person is told. When the API server rejects
    /// the update of a node within a limit, another node comes first the next time, since one pod that may not be deleted must not end a
    /// rollout.
    pub fn record(&mut self, action: &Action, outcome: &ActionOutcome, at: Timestamp) {
        // These change nothing, and say nothing about the next try.
        if matches!(outcome, ActionOutcome::Conflict | ActionOutcome::AlreadyExists) {
            return;
        }
        if let Some(node) = updated_within_a_limit(action) {
            // A lost answer ends a refusal, too: the action may have been done.
            if *outcome == ActionOutcome::Rejected {
                self.refusals.insert(node.into_owned(), at);
            } else {
                self.refusals.remove(&*node);
            }
        }
        if self.record_of_turns(action, outcome, at) {
            return;
        }
        self.record_restore(action, outcome, at);
        self.record_rejection(action, outcome, at);
        if *outcome == ActionOutcome::Rejected {
            return;
        }
        match action {
            Action::CreatePod { node, pod, .. } => {
                let created = outcome.object();
                let uid = created.map(|created| created.uid.clone());
                // No pod has an empty one, and the pod would never show.
                let uid = uid.filter(|uid| !uid.as_str().is_empty());
                let version = created.and_then(|created| parsed_version(&created.resource_version));
                let revision = pod.revision_hash().to_owned();
                self.creates
                    .insert(node.clone(), InFlight { expected: CreatedPod { uid, revision }, at, version });
            }
            Action::DeletePod { node, pod, failure, reason } => {
                let version = outcome.object().and_then(|deleted| parsed_version(&deleted.resource_version));
                self.deletes.insert(pod.uid.clone(), InFlight { expected: DeletedPod, at, version });
                if reason.is_update() {
                    // The first delete counts until the node is back: later ones took nothing more.
                    self.deleted_by_update
                        .entry(node.clone())
                        .or_insert_with(|| DeletedByUpdate::by_delete(&pod.uid, at));
                }
                if let Some(Failure { generation, count }) = *failure {
                    self.failures.insert(node.clone(), NodeFailures { generation, count, at });
                }
            }
            Action::AdoptPod { .. }
            | Action::ReleasePod { .. }
            | Action::AdoptRevision { .. }
            | Action::ReleaseRevision { .. }
            | Action::CreateRevision { .. }
            | Action::LabelRevision { .. }
            | Action::AnnotateRevision { .. }
            | Action::RenumberRevision { .. }
            | Action::LabelPod { .. }
            | Action::UpdatePodInPlace { .. }
            | Action::PatchNode { .. }
            | Action::DeleteRevision { .. }
            | Action::UpdateStatus { .. }
            | Action::RestoreTemplate { .. }
            | Action::RecordEvent { .. }
            | Action::Requeue { .. } => {}
        }
    }

    /// Whether this action is in flight: a create or a delete, a change of a pod in its place, a patch of a node, or a restored template
    /// that was accepted and is not yet shown by an observed snapshot.
    pub fn is_in_flight(&self, action: &Action) -> bool {
        if let Some(is_in_flight) = self.turns.is_in_flight(action) {
            return is_in_flight;
        }
        if let Action::CreatePod { node, pod, .. } = action {
            return self
                .creates
                .get(node)
                .is_some_and(|create| create.expected.revision == pod.revision_hash());
        }
        if let Action::RestoreTemplate { .. } = action {
            return self.restores.as_ref().is_some_and(|restores| restores.accepted.is_some());
        }
        matches!(action, Action::DeletePod { pod, .. } if self.deletes.contains_key(&pod.uid))
    }

    /// Whether it remembers nothing but, perhaps, the uid of its DaemonSet.
    pub fn is_empty(&self) -> bool {
        let Memory {
            uid: _,
            creates,
            deletes,
            failures,
            refusals,
            deleted_by_update,
            rejections,
            turns,
            restores,
        } = self;
        let of_actions = creates.is_empty() && deletes.is_empty() && deleted_by_update.is_empty();
        of_actions
            && turns.is_empty()
            && restores.is_none()
            && failures.is_empty()
            && refusals.is_empty()
            && rejections.is_empty()
    }
}
