//! The caller's memory between two reconciles: accepted actions that a stale cache may not show, and the back-off of
//! failed pods.
//!
//! [`reconcile`](crate::reconcile) only reads it. The caller [records](Memory::record) the outcome of each action, and
//! lets it [forget](Memory::observe) the actions that a snapshot shows. Without it a plan is still right for the snapshot.

pub(crate) mod in_flight;
pub(crate) mod node_failures;
mod rejections;

use crate::action::{Action, Failure};
use crate::model::{NodeName, ObjectRef, Uid};
use jiff::{SignedDuration, Timestamp};
use node_failures::{FAILURES_FORGOTTEN_AFTER, NodeFailures, updated_within_a_limit};
pub use rejections::Rejections;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
pub struct Memory {
    /// The uid of its DaemonSet. A memory without one is of whichever DaemonSet it is used for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) uid: Option<Uid>,
    /// Creates that the API server accepted, by node.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) creates: BTreeMap<NodeName, InFlightCreate>,
    /// Deletes that the API server accepted, by the pod's uid.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) deletes: BTreeMap<Uid, InFlightDelete>,
    /// Failures, by node.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) failures: BTreeMap<NodeName, NodeFailures>,
    /// When an update of a node was refused.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) refusals: BTreeMap<NodeName, Timestamp>,
    /// Nodes whose pod an update deleted, until a Ready updated pod is seen there.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) taken: BTreeMap<NodeName, Taken>,
    /// Creates and deletes of pods that were rejected in a row, by node. A person reads them, and no decision does.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) rejections: BTreeMap<NodeName, Rejections>,
}

/// A create that the API server accepted (or may have accepted).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InFlightCreate {
    /// The pod's uid; not known when the answer was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<Uid>,
    /// The hash of the pod's revision.
    pub revision: String,
    pub at: Timestamp,
    /// The pod's version, if known: a list at this version or a later one shows the create, with the pod or without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
}

/// A delete that the API server accepted (or may have accepted).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "WrittenDelete", into = "WrittenDelete")]
pub struct InFlightDelete {
    pub at: Timestamp,
    /// The pod's version after the delete, if known.
    pub version: Option<u64>,
}

/// The JSON form of an [`InFlightDelete`]: the instant alone where no version is known.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum WrittenDelete {
    At(Timestamp),
    WithVersion { at: Timestamp, version: u64 },
}

impl From<WrittenDelete> for InFlightDelete {
    fn from(written: WrittenDelete) -> Self {
        match written {
            WrittenDelete::At(at) => InFlightDelete { at, version: None },
            WrittenDelete::WithVersion { at, version } => InFlightDelete { at, version: Some(version) },
        }
    }
}

impl From<InFlightDelete> for WrittenDelete {
    fn from(InFlightDelete { at, version }: InFlightDelete) -> Self {
        version.map_or(WrittenDelete::At(at), |version| WrittenDelete::WithVersion { at, version })
    }
}

/// An update's delete that the API server accepted (or may have accepted).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// The deleted pod.
    pub uid: Uid,
    /// When the outcome was known.
    pub at: Timestamp,
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
}

impl ActionOutcome {
    /// The object after the call, if known.
    fn object(&self) -> Option<&ObjectRef> {
        match self {
            ActionOutcome::Created(object) | ActionOutcome::Changed(object) => Some(object),
            ActionOutcome::Done | ActionOutcome::Rejected | ActionOutcome::Unknown => None,
        }
    }
}

/// For crates of the same version: [`internal`](crate::internal).
#[doc(hidden)]
impl Memory {
    /// Creates that the API server accepted, by node.
    pub fn creates(&self) -> &BTreeMap<NodeName, InFlightCreate> {
        &self.creates
    }

    /// Deletes that the API server accepted, by the pod's uid.
    pub fn deletes(&self) -> &BTreeMap<Uid, InFlightDelete> {
        &self.deletes
    }

    /// Failures, by node.
    pub fn failures_by_node(&self) -> &BTreeMap<NodeName, NodeFailures> {
        &self.failures
    }

    /// Nodes whose pod an update deleted, until a Ready updated pod is seen there.
    pub fn taken(&self) -> &BTreeMap<NodeName, Taken> {
        &self.taken
    }
}

/// A resource version as a number, as KEP-5504 lets clients compare them; `None` for any other text.
pub(crate) fn parsed_version(version: &str) -> Option<u64> {
    version.parse().ok()
}

impl Memory {
    /// Keeps the outcome of an action; `at` is the instant at which the outcome was known.
    ///
    /// Only creates and deletes of pods leave a trace, and only if the API server accepted them, or may have. One rejection
    /// is kept, too: when the API server rejects the update of a node within a limit, another node comes first the next
    /// time, since one pod that may not be deleted must not end a rollout.
    pub fn record(&mut self, action: &Action, outcome: &ActionOutcome, at: Timestamp) {
        if let Some(node) = updated_within_a_limit(action) {
            match outcome {
                ActionOutcome::Rejected => self.refusals.insert(node.clone(), at),
                ActionOutcome::Created(_)
                | ActionOutcome::Done
                | ActionOutcome::Changed(_)
                | ActionOutcome::Unknown => self.refusals.remove(node),
            };
        }
        self.record_rejection(action, outcome, at);
        if *outcome == ActionOutcome::Rejected {
            return;
        }
        match action {
            Action::CreatePod { node, pod, .. } => {
                let created = outcome.object();
                let uid = created.map(|created| created.uid.clone());
                let version = created.and_then(|created| parsed_version(&created.resource_version));
                let revision = pod.revision_hash().to_owned();
                self.creates.insert(node.clone(), InFlightCreate { uid, revision, at, version });
            }
            Action::DeletePod { node, pod, failure, reason } => {
                let version = outcome.object().and_then(|deleted| parsed_version(&deleted.resource_version));
                self.deletes.insert(pod.uid.clone(), InFlightDelete { at, version });
                if reason.is_update() {
                    // The first delete counts until the node is back: later ones took nothing more.
                    self.taken.entry(node.clone()).or_insert_with(|| Taken { uid: pod.uid.clone(), at });
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
            | Action::DeleteRevision { .. }
            | Action::UpdateStatus { .. }
            | Action::RecordEvent { .. }
            | Action::Requeue { .. } => {}
        }
    }

    /// Whether this create or delete is in flight: accepted, and not yet shown by an observed snapshot.
    pub fn is_in_flight(&self, action: &Action) -> bool {
        if let Action::CreatePod { node, pod, .. } = action {
            return self.creates.get(node).is_some_and(|create| create.revision == pod.revision_hash());
        }
        matches!(action, Action::DeletePod { pod, .. } if self.deletes.contains_key(&pod.uid))
    }

    /// Whether it remembers nothing but, perhaps, the uid of its DaemonSet.
    pub fn is_empty(&self) -> bool {
        let Memory { uid: _, creates, deletes, failures, refusals, taken, rejections } = self;
        let of_actions = creates.is_empty() && deletes.is_empty() && taken.is_empty();
        of_actions && failures.is_empty() && refusals.is_empty() && rejections.is_empty()
    }
}

/// For crates of the same version: [`internal`](crate::internal).
#[doc(hidden)]
impl Memory {
    /// The nodes that it has entries of, but for deletes; some more than once.
    pub fn nodes_with_entries(&self) -> impl Iterator<Item = &NodeName> {
        let by_action = self.creates.keys().chain(self.taken.keys());
        by_action.chain(self.failures.keys()).chain(self.refusals.keys()).chain(self.rejections.keys())
    }

    /// Whether it has entries of a node, but for deletes.
    pub fn has_entries_of(&self, node: &str) -> bool {
        self.creates.contains_key(node)
            || self.taken.contains_key(node)
            || self.failures.contains_key(node)
            || self.refusals.contains_key(node)
            || self.rejections.contains_key(node)
    }

    /// The entries that the outcome of an action changes.
    pub fn about(&self, action: &Action) -> Memory {
        match action {
            Action::CreatePod { node, .. } => self.part([node.as_str()].into_iter(), std::iter::empty()),
            Action::DeletePod { node, pod, .. } => {
                self.part([node.as_str()].into_iter(), [pod.uid.as_str()].into_iter())
            }
            _ => Memory::default(),
        }
    }

    /// Forgets the entries that a part of it had and has forgotten.
    pub fn forget(&mut self, before: &Memory, after: &Memory) {
        remove_lost(&mut self.creates, &before.creates, &after.creates);
        remove_lost(&mut self.deletes, &before.deletes, &after.deletes);
        remove_lost(&mut self.failures, &before.failures, &after.failures);
        remove_lost(&mut self.refusals, &before.refusals, &after.refusals);
        remove_lost(&mut self.taken, &before.taken, &after.taken);
        remove_lost(&mut self.rejections, &before.rejections, &after.rejections);
    }

    /// The part about these nodes and these pods: their names and uids.
    pub fn part<'n>(
        &self,
        nodes: impl Iterator<Item = &'n str> + Clone,
        pods: impl Iterator<Item = &'n str>,
    ) -> Memory {
        Memory {
            uid: self.uid.clone(),
            creates: part(&self.creates, nodes.clone()),
            deletes: part(&self.deletes, pods),
            failures: part(&self.failures, nodes.clone()),
            refusals: part(&self.refusals, nodes.clone()),
            taken: part(&self.taken, nodes.clone()),
            rejections: part(&self.rejections, nodes),
        }
    }

    /// The first instant after `now` at which an entry of a node or of one of its pods ends, or its effect. Actions in flight
    /// and taken nodes expire after these times.
    pub fn next_end<'p>(
        &self,
        node: &str,
        pods: impl Iterator<Item = &'p str>,
        (expiry, taken_expiry): (SignedDuration, SignedDuration),
        now: Timestamp,
    ) -> Option<Timestamp> {
        let after = |at: Timestamp, time: SignedDuration| at.checked_add(time).ok();
        let deletes = pods.filter_map(|uid| self.deletes.get(uid));
        let failures = self.failures.get(node);
        let ends = [
            self.creates.get(node).and_then(|create| after(create.at, expiry)),
            failures.and_then(|failures| after(failures.at, FAILURES_FORGOTTEN_AFTER)),
            failures.and_then(|failures| failures.back_off_ends()),
            self.refusals.get(node).and_then(|at| after(*at, FAILURES_FORGOTTEN_AFTER)),
            self.rejections.get(node).and_then(|last| after(last.at, FAILURES_FORGOTTEN_AFTER)),
            self.taken.get(node).and_then(|taken| after(taken.at, taken_expiry)),
        ];
        let deletes = deletes.filter_map(|delete| after(delete.at, expiry));
        ends.into_iter().flatten().chain(deletes).filter(|at| now < *at).min()
    }

    /// Adds the deletes of these pods that another memory has.
    pub fn add_deletes<'p>(&mut self, other: &Memory, pods: impl IntoIterator<Item = &'p Uid>) {
        let deletes = pods.into_iter().filter_map(|uid| other.deletes.get_key_value(uid));
        self.deletes.extend(deletes.map(|(uid, delete)| (uid.clone(), *delete)));
    }

    /// Whether it has any delete. Without one, no pod needs to be looked up.
    pub fn has_deletes(&self) -> bool {
        !self.deletes.is_empty()
    }
}

/// Removes the entries that `before` has and `after` lacks.
fn remove_lost<K: Ord, V>(entries: &mut BTreeMap<K, V>, before: &BTreeMap<K, V>, after: &BTreeMap<K, V>) {
    for key in before.keys().filter(|key| !after.contains_key(*key)) {
        entries.remove(key);
    }
}

/// The entries with these keys.
fn part<'k, K, V>(entries: &BTreeMap<K, V>, keys: impl Iterator<Item = &'k str>) -> BTreeMap<K, V>
where
    K: Ord + Clone + std::borrow::Borrow<str>,
    V: Clone,
{
    if entries.is_empty() {
        return BTreeMap::new();
    }
    keys.filter_map(|key| entries.get_key_value(key))
        .map(|(key, entry)| (key.clone(), entry.clone()))
        .collect()
}
