//! Options of a DELETE request.

use daemonset_objects::model::{Owner, Uid};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The kinds of objects in the deletion of a DaemonSet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[expect(clippy::exhaustive_enums, reason = "a DaemonSet owns pods and revisions, nothing else")]
pub enum Kind {
    /// `apps/v1` DaemonSet, or an object of a custom kind that works like one: removed as soon as it has no finalizer.
    DaemonSet,
    /// `apps/v1` ControllerRevision: removed as soon as it has no finalizer.
    ControllerRevision,
    /// `core/v1` Pod: its kubelet has the grace period to stop it.
    Pod,
}

impl Kind {
    /// As the API server's conflicts name it: `DaemonSet.apps`, `Pod`. A DaemonSet may be of a custom kind, which the object
    /// names.
    pub(super) fn qualified(self, object: &Value) -> String {
        match self {
            Kind::DaemonSet => Owner::from_object(object).qualified_kind(),
            Kind::ControllerRevision => "ControllerRevision.apps".to_owned(),
            Kind::Pod => "Pod".to_owned(),
        }
    }
}

/// The treatment of the objects that the deleted one owns (v1.36 `metav1.DeletionPropagation`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Propagation {
    /// They stay, without this owner.
    Orphan,
    /// They are deleted once the owner is gone.
    Background,
    /// They are deleted first; the owner follows once those that block it are gone.
    Foreground,
}

/// Body of a DELETE (v1.36 `metav1.DeleteOptions`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct DeleteOptions {
    /// The treatment of the objects that this one owns. `None`: the policy of the object's finalizers, else
    /// background.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub propagation_policy: Option<Propagation>,
    /// The older form: true is `Orphan`, false `Background`. It excludes `propagationPolicy`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub orphan_dependents: Option<bool>,
    /// The grace period of a pod in seconds, instead of the pod's own; a negative number counts as 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grace_period_seconds: Option<i64>,
    /// Conditions without which the request is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preconditions: Option<Preconditions>,
}

/// Identifies the object exactly.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Preconditions {
    /// Its uid must be this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<Uid>,
    /// Its resource version must be this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_version: Option<String>,
}

impl DeleteOptions {
    /// Options without any field set: the API server's defaults apply.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the propagation policy.
    #[must_use]
    pub fn propagation_policy(self, policy: Propagation) -> Self {
        DeleteOptions { propagation_policy: Some(policy), ..self }
    }

    /// Sets the older form of the policy: true is `Orphan`, false `Background`.
    #[must_use]
    pub fn orphan_dependents(self, orphan: bool) -> Self {
        DeleteOptions { orphan_dependents: Some(orphan), ..self }
    }

    /// Sets the grace period of a pod, in seconds.
    #[must_use]
    pub fn grace_period_seconds(self, seconds: i64) -> Self {
        DeleteOptions { grace_period_seconds: Some(seconds), ..self }
    }

    /// Sets the preconditions.
    #[must_use]
    pub fn preconditions(self, preconditions: Preconditions) -> Self {
        DeleteOptions { preconditions: Some(preconditions), ..self }
    }

    /// The requested policy, in either form.
    pub(super) fn asked(&self) -> Option<Propagation> {
        match self.orphan_dependents {
            Some(true) => Some(Propagation::Orphan),
            Some(false) => Some(Propagation::Background),
            None => self.propagation_policy,
        }
    }
}

impl Preconditions {
    /// Preconditions that every object meets.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Requires this uid.
    #[must_use]
    pub fn uid(self, uid: impl Into<Uid>) -> Self {
        Preconditions { uid: Some(uid.into()), ..self }
    }

    /// Requires this resource version.
    #[must_use]
    pub fn resource_version(self, version: impl Into<String>) -> Self {
        Preconditions { resource_version: Some(version.into()), ..self }
    }
}
