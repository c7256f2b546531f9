//! Actions for the caller to execute, each with its typed reason, and their JSON form.
//!
//! The JSON form is stable: `type` names the action, field names are camelCase, reasons PascalCase words. `Action`
//! is exhaustive on purpose, since an executor must handle every kind; reasons may grow.

use crate::pod_manifest::PodManifest;
use daemonset_objects::model::{DaemonSetStatus, Labels, NodeName, ObjectRef};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// One step for the executor, complete: object, precondition and reason.
///
/// Its variants may get more fields: a pattern has `..`, and a planner of its own uses the constructors.
///
/// ```
/// use daemonset::{Action, RequeueReason};
///
/// let action = Action::requeue("2026-01-01T12:00:00Z".parse().unwrap(), RequeueReason::BackOff);
/// let Action::Requeue { at, .. } = &action else { panic!("it is a Requeue") };
/// assert_eq!(at.to_string(), "2026-01-01T12:00:00Z");
/// assert_eq!(action.to_string(), "Requeue at 2026-01-01T12:00:00Z (BackOff)");
/// ```
///
/// ```compile_fail,E0638
/// # fn f(action: daemonset::Action) {
/// if let daemonset::Action::Requeue { at, reason } = action {}
/// # }
/// ```
///
/// ```compile_fail,E0639
/// # fn f(at: jiff::Timestamp, reason: daemonset::RequeueReason) {
/// let action = daemonset::Action::Requeue { at, reason };
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
#[expect(
    clippy::exhaustive_enums,
    reason = "an executor must handle every kind: a new one is a breaking change"
)]
pub enum Action {
    /// Make the DaemonSet the pod's controller.
    #[non_exhaustive]
    AdoptPod {
        /// The pod.
        pod: ObjectRef,
        /// Why.
        reason: ClaimReason,
    },
    /// Remove the DaemonSet from the pod's owners.
    #[non_exhaustive]
    ReleasePod {
        /// The pod.
        pod: ObjectRef,
        /// Why.
        reason: ClaimReason,
    },
    /// Make the DaemonSet the revision's controller.
    #[non_exhaustive]
    AdoptRevision {
        /// The revision.
        revision: ObjectRef,
        /// Why.
        reason: ClaimReason,
    },
    /// Remove the DaemonSet from the revision's owners.
    #[non_exhaustive]
    ReleaseRevision {
        /// The revision.
        revision: ObjectRef,
        /// Why.
        reason: ClaimReason,
    },
    /// Create a ControllerRevision.
    #[non_exhaustive]
    CreateRevision {
        /// The full object. Its `data` must reach the API server as [Go writes it](crate::kubernetes::go_json), or no later
        /// patch of the revision succeeds; `kube::ApiCall` and
        /// [`go_json::to_string`](crate::kubernetes::go_json::to_string) write it so.
        revision: Value,
        /// Why.
        reason: RevisionReason,
    },
    /// Set labels of a revision.
    #[non_exhaustive]
    LabelRevision {
        /// The revision.
        revision: ObjectRef,
        /// The labels to set; others stay.
        labels: Labels,
        /// Why.
        reason: LabelReason,
    },
    /// Set the number of a revision.
    #[non_exhaustive]
    RenumberRevision {
        /// The revision.
        revision: ObjectRef,
        /// Its new `revision`.
        number: i64,
        /// Why.
        reason: RevisionReason,
    },
    /// Set or remove annotations of a revision: the state of its rollout.
    #[non_exhaustive]
    AnnotateRevision {
        /// The revision.
        revision: ObjectRef,
        /// The annotations to set, and those to remove as `None`; others stay.
        annotations: BTreeMap<String, Option<String>>,
        /// Why.
        reason: RolloutReason,
    },
    /// Set labels of a pod.
    #[non_exhaustive]
    LabelPod {
        /// The pod.
        pod: ObjectRef,
        /// The labels to set; others stay.
        labels: Labels,
        /// Why.
        reason: LabelReason,
    },
    /// Delete a pod.
    #[non_exhaustive]
    DeletePod {
        /// Its target node.
        node: NodeName,
        /// The pod.
        pod: ObjectRef,
        /// Why.
        reason: DeleteReason,
        /// For an updated pod that failed, how often its node has failed by now. [`Memory`](crate::Memory) keeps it for the
        /// back-off.
        #[serde(skip_serializing_if = "Option::is_none")]
        failure: Option<Failure>,
    },
    /// Create a pod.
    #[non_exhaustive]
    CreatePod {
        /// Its target node.
        node: NodeName,
        /// Creates of batch 0 go first, then those of batch 1 if all went well, and so on: 1, 2, 4 … pods
        /// (v1.36 `slowStartBatch`).
        #[doc(alias = "slowStartBatch")]
        batch: u32,
        /// Why.
        reason: CreateReason,
        /// The full manifest.
        pod: PodManifest,
    },
    /// Change a pod in its place: the update's other way to replace it.
    #[non_exhaustive]
    UpdatePodInPlace {
        /// Its node.
        node: NodeName,
        /// The pod.
        pod: ObjectRef,
        /// A strategic merge patch. The uid is a precondition beside it.
        patch: Value,
        /// Why.
        reason: DeleteReason,
    },
    /// Begin or end the turn of a node, or take the word `cordoned` from it. Uid and resource version are preconditions: a person may
    /// cordon the node in between.
    #[non_exhaustive]
    PatchNode {
        /// The node.
        node: ObjectRef,
        /// The new `spec.unschedulable`; `None`: as it is.
        #[serde(skip_serializing_if = "Option::is_none")]
        unschedulable: Option<bool>,
        /// The annotations to set, and those to remove as `None`; others stay.
        annotations: BTreeMap<String, Option<String>>,
        /// Why.
        reason: TurnReason,
    },
    /// Delete a revision.
    #[non_exhaustive]
    DeleteRevision {
        /// The revision.
        revision: ObjectRef,
        /// Why.
        reason: RevisionReason,
    },
    /// Write the status subresource.
    #[non_exhaustive]
    UpdateStatus {
        /// The DaemonSet.
        daemon_set: ObjectRef,
        /// The whole status.
        status: DaemonSetStatus,
        /// Why.
        reason: StatusReason,
    },
    /// Put the template of an old revision back into the DaemonSet: `kubectl rollout undo`. Uid and resource version are preconditions.
    #[non_exhaustive]
    RestoreTemplate {
        /// The DaemonSet.
        daemon_set: ObjectRef,
        /// The old revision.
        revision: ObjectRef,
        /// A strategic merge patch, which replaces the template and nothing else.
        patch: Value,
        /// Why.
        reason: RestoreReason,
    },
    /// Record an event about the DaemonSet.
    #[non_exhaustive]
    RecordEvent {
        /// The DaemonSet.
        daemon_set: ObjectRef,
        /// `Normal` or `Warning`.
        event_type: EventType,
        /// The event's reason.
        reason: EventReason,
        /// The event's text.
        message: String,
    },
    /// Reconcile again at this instant, even if no change is seen before.
    #[non_exhaustive]
    Requeue {
        /// The earliest instant at which time alone changes the answer.
        at: Timestamp,
        /// The change at that instant.
        reason: RequeueReason,
    },
}

impl Action {
    /// The word that names the action in its JSON form: `CreatePod`, `UpdateStatus`.
    pub const fn kind(&self) -> &'static str {
        self.words().0
    }

    /// The verb for a person: `create` for a [`CreatePod`](Action::CreatePod), `mark` for an
    /// [`AnnotateRevision`](Action::AnnotateRevision).
    pub const fn verb(&self) -> &'static str {
        self.words().1
    }

    /// The noun that follows the [verb](Self::verb): `pod`, `revision`, `status`, `event`, `DaemonSet`.
    pub const fn noun(&self) -> &'static str {
        self.words().2
    }

    /// The words that tell it: its kind, a verb, and a noun for the object.
    const fn words(&self) -> (&'static str, &'static str, &'static str) {
        match self {
            Action::AdoptPod { .. } => ("AdoptPod", "adopt", "pod"),
            Action::ReleasePod { .. } => ("ReleasePod", "release", "pod"),
            Action::AdoptRevision { .. } => ("AdoptRevision", "adopt", "revision"),
            Action::ReleaseRevision { .. } => ("ReleaseRevision", "release", "revision"),
            Action::CreateRevision { .. } => ("CreateRevision", "create", "revision"),
            Action::LabelRevision { .. } => ("LabelRevision", "label", "revision"),
            Action::RenumberRevision { .. } => ("RenumberRevision", "renumber", "revision"),
            Action::AnnotateRevision { .. } => ("AnnotateRevision", "mark", "revision"),
            Action::LabelPod { .. } => ("LabelPod", "label", "pod"),
            Action::DeletePod { .. } => ("DeletePod", "delete", "pod"),
            Action::CreatePod { .. } => ("CreatePod", "create", "pod"),
            Action::UpdatePodInPlace { .. } => ("UpdatePodInPlace", "change", "pod"),
            Action::PatchNode { .. } => ("PatchNode", "patch", "node"),
            Action::DeleteRevision { .. } => ("DeleteRevision", "delete", "revision"),
            Action::UpdateStatus { .. } => ("UpdateStatus", "write", "status"),
            Action::RestoreTemplate { .. } => ("RestoreTemplate", "restore", "template"),
            Action::RecordEvent { .. } => ("RecordEvent", "record", "event"),
            Action::Requeue { .. } => ("Requeue", "requeue", "DaemonSet"),
        }
    }

    /// The word that names its reason in its JSON form: `MissingPod`, `OutdatedAvailable`.
    pub const fn reason(&self) -> &'static str {
        match self {
            Action::AdoptPod { reason, .. }
            | Action::ReleasePod { reason, .. }
            | Action::AdoptRevision { reason, .. }
            | Action::ReleaseRevision { reason, .. } => reason.as_str(),
            Action::CreateRevision { reason, .. }
            | Action::RenumberRevision { reason, .. }
            | Action::DeleteRevision { reason, .. } => reason.as_str(),
            Action::AnnotateRevision { reason, .. } => reason.as_str(),
            Action::LabelRevision { reason, .. } | Action::LabelPod { reason, .. } => reason.as_str(),
            Action::DeletePod { reason, .. } | Action::UpdatePodInPlace { reason, .. } => reason.as_str(),
            Action::PatchNode { reason, .. } => reason.as_str(),
            Action::CreatePod { reason, .. } => reason.as_str(),
            Action::UpdateStatus { reason, .. } => reason.as_str(),
            Action::RestoreTemplate { reason, .. } => reason.as_str(),
            Action::RecordEvent { reason, .. } => reason.as_str(),
            Action::Requeue { reason, .. } => reason.as_str(),
        }
    }

    /// The object that it changes or is about; `None` for one that it creates, and for a wake-up.
    ///
    /// ```
    /// use daemonset::{Action, DeleteReason, model::{NodeName, ObjectRef}};
    ///
    /// let pod = ObjectRef { namespace: "ns".into(), name: "agent-x".into(), uid: "p1".into(), ..ObjectRef::default() };
    /// let delete = Action::delete_pod("a".into(), pod.clone(), DeleteReason::OutdatedAvailable);
    /// assert_eq!((delete.subject(), delete.subject_name()), (Some(&pod), Some("agent-x")));
    /// assert_eq!(delete.node(), Some(&NodeName::from("a")));
    /// assert_eq!((delete.verb(), delete.noun()), ("delete", "pod"));
    /// ```
    pub const fn subject(&self) -> Option<&ObjectRef> {
        match self {
            Action::AdoptPod { pod: object, .. }
            | Action::ReleasePod { pod: object, .. }
            | Action::LabelPod { pod: object, .. }
            | Action::DeletePod { pod: object, .. }
            | Action::UpdatePodInPlace { pod: object, .. }
            | Action::PatchNode { node: object, .. }
            | Action::AdoptRevision { revision: object, .. }
            | Action::ReleaseRevision { revision: object, .. }
            | Action::LabelRevision { revision: object, .. }
            | Action::RenumberRevision { revision: object, .. }
            | Action::AnnotateRevision { revision: object, .. }
            | Action::DeleteRevision { revision: object, .. }
            | Action::UpdateStatus { daemon_set: object, .. }
            | Action::RestoreTemplate { daemon_set: object, .. }
            | Action::RecordEvent { daemon_set: object, .. } => Some(object),
            Action::CreatePod { .. } | Action::CreateRevision { .. } | Action::Requeue { .. } => None,
        }
    }

    /// The name of the object, created ones included; `None` where the API server generates it, and for a wake-up.
    pub fn subject_name(&self) -> Option<&str> {
        if let Action::CreatePod { pod, .. } = self {
            pod.name()
        } else if let Action::CreateRevision { revision, .. } = self {
            revision.pointer("/metadata/name").and_then(Value::as_str)
        } else {
            self.subject().map(|object| object.name.as_str())
        }
    }

    /// The target node of the pod that it creates, deletes or changes in its place; `None` for a [`PatchNode`](Action::PatchNode), whose
    /// node is its [subject](Self::subject).
    pub const fn node(&self) -> Option<&NodeName> {
        if let Action::CreatePod { node, .. }
        | Action::DeletePod { node, .. }
        | Action::UpdatePodInPlace { node, .. } = self
        {
            Some(node)
        } else {
            None
        }
    }

    /// Whether its execution changes the cluster, if only by an event: each one does except [`Requeue`](Action::Requeue).
    pub const fn acts(&self) -> bool {
        !matches!(self, Action::Requeue { .. })
    }

    /// Whether it rests on no other action of its plan: see [`Plan::independent_after`](crate::Plan::independent_after).
    pub const fn stands_alone(&self) -> bool {
        match self {
            // A refusal about these stops nothing else, and no refusal stops them. A template is restored by marks that the snapshot shows.
            Action::UpdateStatus { .. }
            | Action::RestoreTemplate { .. }
            | Action::PatchNode { .. }
            | Action::CreatePod { reason: CreateReason::PullImages, .. }
            | Action::DeletePod { reason: DeleteReason::PullDone, .. }
            | Action::RecordEvent { .. }
            | Action::Requeue { .. } => true,
            Action::AdoptPod { .. }
            | Action::ReleasePod { .. }
            | Action::AdoptRevision { .. }
            | Action::ReleaseRevision { .. }
            | Action::CreateRevision { .. }
            | Action::LabelRevision { .. }
            | Action::RenumberRevision { .. }
            | Action::AnnotateRevision { .. }
            | Action::LabelPod { .. }
            | Action::DeletePod { .. }
            | Action::UpdatePodInPlace { .. }
            | Action::CreatePod { .. }
            | Action::DeleteRevision { .. } => false,
        }
    }

    /// The actions of a plan in batches, see [`Plan::batches`](crate::Plan::batches).
    pub fn batches(actions: &[Action]) -> impl Iterator<Item = &[Action]> {
        actions.chunk_by(|a, b| match (a, b) {
            (
                Action::DeletePod { .. } | Action::UpdatePodInPlace { .. },
                Action::DeletePod { .. } | Action::UpdatePodInPlace { .. },
            ) => true,
            (Action::CreatePod { batch: a, .. }, Action::CreatePod { batch: b, .. }) => a == b,
            _ => false,
        })
    }
}

/// Constructors, for other planners than this crate's, and for tests. A field that an action gets later has a default there.
macro_rules! constructors {
    ($($name:ident: $variant:ident { $($field:ident: $type:ty),* })*) => {
        impl Action {$(
            #[doc = concat!("Makes an [`Action::", stringify!($variant), "`].")]
            pub fn $name($($field: $type),*) -> Self {
                Action::$variant { $($field),* }
            }
        )*}
    };
}

constructors! {
    adopt_pod: AdoptPod { pod: ObjectRef, reason: ClaimReason }
    release_pod: ReleasePod { pod: ObjectRef, reason: ClaimReason }
    adopt_revision: AdoptRevision { revision: ObjectRef, reason: ClaimReason }
    release_revision: ReleaseRevision { revision: ObjectRef, reason: ClaimReason }
    create_revision: CreateRevision { revision: Value, reason: RevisionReason }
    label_revision: LabelRevision { revision: ObjectRef, labels: Labels, reason: LabelReason }
    renumber_revision: RenumberRevision { revision: ObjectRef, number: i64, reason: RevisionReason }
    annotate_revision: AnnotateRevision {
        revision: ObjectRef, annotations: BTreeMap<String, Option<String>>, reason: RolloutReason
    }
    label_pod: LabelPod { pod: ObjectRef, labels: Labels, reason: LabelReason }
    create_pod: CreatePod { node: NodeName, batch: u32, reason: CreateReason, pod: PodManifest }
    update_pod_in_place: UpdatePodInPlace { node: NodeName, pod: ObjectRef, patch: Value, reason: DeleteReason }
    patch_node: PatchNode {
        node: ObjectRef,
        unschedulable: Option<bool>,
        annotations: BTreeMap<String, Option<String>>,
        reason: TurnReason
    }
    delete_revision: DeleteRevision { revision: ObjectRef, reason: RevisionReason }
    update_status: UpdateStatus { daemon_set: ObjectRef, status: DaemonSetStatus, reason: StatusReason }
    restore_template: RestoreTemplate {
        daemon_set: ObjectRef, revision: ObjectRef, patch: Value, reason: RestoreReason
    }
    requeue: Requeue { at: Timestamp, reason: RequeueReason }
}

impl Action {
    /// Makes an [`Action::DeletePod`] that counts as no failure of its node.
    pub fn delete_pod(node: NodeName, pod: ObjectRef, reason: DeleteReason) -> Self {
        Action::DeletePod { node, pod, reason, failure: None }
    }

    /// Makes an [`Action::DeletePod`] of an updated pod that failed.
    pub fn delete_failed_pod(node: NodeName, pod: ObjectRef, reason: DeleteReason, failure: Failure) -> Self {
        Action::DeletePod { node, pod, reason, failure: Some(failure) }
    }

    /// Makes an [`Action::RecordEvent`].
    pub fn record_event(
        daemon_set: ObjectRef,
        event_type: EventType,
        reason: EventReason,
        message: impl Into<String>,
    ) -> Self {
        Action::RecordEvent { daemon_set, event_type, reason, message: message.into() }
    }
}

/// One line: the kind, the object and the reason, such as `DeletePod web-x on node-1 (OutdatedAvailable)`.
impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind())?;
        match self {
            Action::CreatePod { node, batch, .. } => write!(f, " on {node}, batch {batch}"),
            Action::DeletePod { node, pod, .. } | Action::UpdatePodInPlace { node, pod, .. } => {
                write!(f, " {} on {node}", pod.name)
            }
            Action::PatchNode { node, unschedulable, .. } => {
                write!(f, " {}", node.name)?;
                match unschedulable {
                    Some(true) => f.write_str(", cordoned"),
                    Some(false) => f.write_str(", uncordoned"),
                    None => Ok(()),
                }
            }
            Action::LabelPod { pod: object, labels, .. }
            | Action::LabelRevision { revision: object, labels, .. } => {
                write!(f, " {} {labels:?}", object.name)
            }
            Action::AnnotateRevision { revision, annotations, .. } => {
                write!(f, " {}", revision.name)?;
                annotations.iter().try_for_each(|(key, value)| match value {
                    Some(value) => write!(f, " {key}={value:?}"),
                    None => write!(f, " {key}-"),
                })
            }
            Action::RenumberRevision { revision, number, .. } => write!(f, " {} to {number}", revision.name),
            Action::UpdateStatus { status, .. } => write!(
                f,
                " updated {}, ready {}, available {} of {}",
                status.updated_number_scheduled,
                status.number_ready,
                status.number_available,
                status.desired_number_scheduled
            ),
            Action::RestoreTemplate { revision, .. } => write!(f, " of {}", revision.name),
            Action::RecordEvent { message, .. } => write!(f, " {message}"),
            Action::Requeue { at, .. } => write!(f, " at {at}"),
            Action::AdoptPod { .. }
            | Action::ReleasePod { .. }
            | Action::AdoptRevision { .. }
            | Action::ReleaseRevision { .. }
            | Action::CreateRevision { .. }
            | Action::DeleteRevision { .. } => {
                self.subject_name().map_or(Ok(()), |name| write!(f, " {name}"))
            }
        }?;
        write!(f, " ({})", self.reason())
    }
}

/// Enums of words: each variant is named in JSON as it is here.
macro_rules! words {
    ($($(#[$about:meta])* pub enum $reason:ident { $($(#[$meaning:meta])* $variant:ident,)* })*) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum $reason {
            $($(#[$meaning])* $variant,)*
        }

        impl $reason {
            /// The word that names it in JSON.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($reason::$variant => stringify!($variant),)*
                }
            }
        }

        impl fmt::Display for $reason {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    )*};
}

words! {
    /// Why an object is adopted or released.
    pub enum ClaimReason {
        /// It has no controller and its labels match the selector.
        SelectorMatches,
        /// Its labels no longer match the selector.
        SelectorNoLongerMatches,
    }

    /// Why an object is labelled.
    pub enum LabelReason {
        /// The hash label is missing.
        HashMissing,
        /// The pod's hash names a revision that is deleted as a duplicate of the current one.
        DuplicateRevision,
        /// The revision has the current template and the name for it, but no controller, since its labels don't match the
        /// selector. With these labels a later plan adopts it.
        LabelsLost,
    }

    /// The state of a rollout that a mark on its revision keeps.
    pub enum RolloutReason {
        /// It has begun, or goes on after a pause.
        RolloutStarted,
        /// It is paused: its beginning no longer counts for the deadline.
        RolloutPaused,
        /// The nodes of a wave may get the new version.
        WaveOpened,
        /// The new version has failed.
        RolloutFailed,
        /// Every target node has the new version.
        RolloutCompleted,
        /// The new version has failed, and the template of the version before comes back.
        RolloutUndone,
    }

    /// Why a revision is created, renumbered or deleted.
    pub enum RevisionReason {
        /// No revision has the template.
        NewTemplate,
        /// The current revision must have the largest number.
        CurrentAgain,
        /// Another revision with the same content is kept.
        #[doc(alias = "dedupCurHistories")]
        Duplicate,
        /// More old revisions than `spec.revisionHistoryLimit`.
        #[doc(alias = "cleanupHistory")]
        HistoryLimit,
    }

    /// Why a pod is created.
    pub enum CreateReason {
        /// The node should run a pod and has none.
        MissingPod,
        /// The node's pod is outdated: its successor comes first (proposal: SurgingRollingUpdate).
        Surge,
        /// It is no pod of the DaemonSet: it pulls the images of the new version before the old pod goes.
        PullImages,
    }

    /// Why a pod is deleted.
    pub enum DeleteReason {
        /// It has succeeded, which a daemon should not.
        SucceededPod,
        /// It has failed.
        FailedPod,
        /// Its node has a better one.
        ExcessPod,
        /// Its successor on the node is available.
        SuccessorAvailable,
        /// It has a successor on the node, and is not Ready itself.
        NotReadyBesideSuccessor,
        /// Its node must not run it.
        NodeExcluded,
        /// It is outdated, and stays only by a toleration that the template has withdrawn (kubernetes#118823).
        TolerationWithdrawn,
        /// It was never bound, and its target node is gone.
        NodeGone,
        /// It is outdated, and pending or unknown.
        OutdatedPending,
        /// It is outdated, and running but not Ready.
        OutdatedNotReady,
        /// It is outdated, Ready, and not yet available; within the budget.
        OutdatedNotYetAvailable,
        /// It is outdated and available; within the budget.
        OutdatedAvailable,
        /// It is a pull pod whose images nobody waits for any more.
        PullDone,
    }

    /// Why a node is patched.
    pub enum TurnReason {
        /// Its turn begins.
        TurnBegins,
        /// Its turn ends.
        TurnEnds,
        /// A person has uncordoned it: a later cordon is not the turn's.
        TurnLosesCordon,
    }

    /// Why the status is written.
    pub enum StatusReason {
        /// A counter or the observed generation differs.
        Changed,
        /// The new revision's name is taken: the next plan needs another hash.
        NameCollision,
    }

    /// Why a template is restored.
    pub enum RestoreReason {
        /// The new version has failed.
        RolledBack,
    }

    /// Type of an event.
    pub enum EventType {
        /// Information.
        Normal,
        /// A problem that a person should look at.
        Warning,
    }

    /// Reason of an event (v1.36 `daemon_controller.go`).
    pub enum EventReason {
        /// The selector is empty: nothing is done.
        SelectingAll,
        /// A failed pod is deleted.
        FailedDaemonPod,
        /// A succeeded pod is deleted.
        SucceededDaemonPod,
        /// The annotations of the DaemonSet hold no valid policy: its rollout is paused. No plan has this event, since a plan begins with
        /// a policy: [`InvalidRolloutPolicy::event`](crate::policy::InvalidRolloutPolicy::event) makes it.
        InvalidRolloutPolicy,
    }

    /// The change that time alone brings.
    pub enum RequeueReason {
        /// More creates or deletes are due than one plan may hold.
        Burst,
        /// A Ready pod becomes available.
        MinReadySeconds,
        /// A node's failed pod may be deleted.
        BackOff,
        /// An accepted action that no snapshot has shown expires.
        InFlightExpiry,
        /// A terminating pod is overdue and no longer holds a place in maxSurge.
        TerminationOverdue,
        /// The pods of a wave have been Ready for long enough, and the next wave opens.
        WaveDone,
        /// A pod or a node has been in trouble for so long that it counts as failed.
        FailureDue,
        /// The rollout has made no progress for so long that it counts as failed.
        ProgressDeadline,
        /// The closed gates of a node in turn are overdue.
        TurnOverdue,
        /// A pull is waited for no longer.
        PullTimeout,
        /// A pod that was changed in its place has settled.
        InPlaceSettled,
        /// A pull or a change in place that the API server refused half an hour ago is tried again.
        RetryDue,
        /// The undo of a failed version may begin, or be tried again; or it no longer counts.
        UndoDue,
    }
}

impl DeleteReason {
    /// Whether the update strategy deletes for it, and not node sync.
    pub const fn is_update(self) -> bool {
        match self {
            DeleteReason::OutdatedPending
            | DeleteReason::OutdatedNotReady
            | DeleteReason::OutdatedNotYetAvailable
            | DeleteReason::OutdatedAvailable => true,
            DeleteReason::SucceededPod
            | DeleteReason::FailedPod
            | DeleteReason::ExcessPod
            | DeleteReason::SuccessorAvailable
            | DeleteReason::NotReadyBesideSuccessor
            | DeleteReason::NodeExcluded
            | DeleteReason::TolerationWithdrawn
            | DeleteReason::NodeGone
            | DeleteReason::PullDone => false,
        }
    }
}

impl RequeueReason {
    /// The first of these changes, each at its instant if it comes at all.
    #[doc(hidden)]
    pub fn first(changes: impl IntoIterator<Item = (Option<Timestamp>, Self)>) -> Option<(Timestamp, Self)> {
        changes.into_iter().filter_map(|(at, reason)| at.map(|at| (at, reason))).min()
    }
}

/// How often the updated pods of a node have failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Failure {
    /// The template generation that failed; where there is none, `metadata.generation`.
    pub generation: i64,
    /// Failures in a row, this one included.
    pub count: u32,
}

impl Failure {
    /// `count` failures in a row under this template generation.
    pub fn new(generation: i64, count: u32) -> Self {
        Failure { generation, count }
    }
}
