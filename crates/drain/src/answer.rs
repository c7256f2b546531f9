//! The API server's answer to an eviction, and its meaning.

use crate::drain::RETRY_AFTER;
use daemonset::internal::null_is_default;
use jiff::Timestamp;
use serde::Deserialize;

/// The meaning of an answer to an eviction. None of them ends a drain: the next list of pods shows whether a pod is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EvictionOutcome {
    /// The pod terminates, or is gone.
    Accepted,
    /// The pod was gone before, or another one has its name.
    Gone,
    /// Not now: a PodDisruptionBudget forbids it, the API server is busy, or the namespace is being deleted and its pods will be soon.
    Rejected,
    /// Any other refusal, which a person should see: a lack of rights, a webhook, two PodDisruptionBudgets for one pod.
    Refused,
}

impl EvictionOutcome {
    /// When to send the eviction again, unless a list shows before that the pod terminates or is gone; `None` where it has done its work.
    #[must_use]
    pub fn retry_at(self, now: Timestamp) -> Option<Timestamp> {
        match self {
            EvictionOutcome::Accepted | EvictionOutcome::Gone => None,
            EvictionOutcome::Rejected | EvictionOutcome::Refused => {
                Some(now.checked_add(RETRY_AFTER).unwrap_or(Timestamp::MAX))
            }
        }
    }

    /// Whether a person should see the answer.
    #[must_use]
    pub fn is_reported(self) -> bool {
        match self {
            EvictionOutcome::Accepted | EvictionOutcome::Gone | EvictionOutcome::Rejected => false,
            EvictionOutcome::Refused => true,
        }
    }
}

/// `meta/v1` Status: the body of the API server's answer to an eviction, accepted or not.
///
/// ```
/// use daemonset_drain::{EvictionOutcome, Status};
/// use serde_json::{from_value, json};
///
/// let budget: Status = from_value(json!({
///     "kind": "Status", "status": "Failure", "code": 429, "reason": "TooManyRequests",
///     "message": "Cannot evict pod as it would violate the pod's disruption budget.",
/// }))?;
/// assert_eq!(budget.outcome(), EvictionOutcome::Rejected);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "callers build it with `..Default::default()`, which lets it grow"
)]
pub struct Status {
    /// The HTTP status code.
    #[serde(deserialize_with = "null_is_default")]
    pub code: u16,
    /// The word for the failure, such as `NotFound`; empty where there is none.
    #[serde(deserialize_with = "null_is_default")]
    pub reason: String,
    /// The text for a person.
    #[serde(deserialize_with = "null_is_default")]
    pub message: String,
    /// More about the failure.
    #[serde(deserialize_with = "null_is_default")]
    pub details: StatusDetails,
}

/// Details of a [`Status`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "callers build it with `..Default::default()`, which lets it grow"
)]
pub struct StatusDetails {
    /// The causes.
    #[serde(deserialize_with = "null_is_default")]
    pub causes: Vec<StatusCause>,
}

/// A cause of a [`Status`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "callers build it with `..Default::default()`, which lets it grow"
)]
pub struct StatusCause {
    /// The word for the cause, such as `NamespaceTerminating`.
    #[serde(deserialize_with = "null_is_default")]
    pub reason: String,
}

impl Status {
    /// The meaning of this answer to an eviction (v1.36 `kubectl/pkg/drain/drain.go evictPods`, `registry/core/pod/storage/eviction.go`).
    #[must_use]
    pub fn outcome(&self) -> EvictionOutcome {
        if (200..300).contains(&self.code) {
            EvictionOutcome::Accepted
        } else if self.is("NotFound", 404) || self.is_of_another_pod() {
            EvictionOutcome::Gone
        } else if self.code == 429
            || self.is("TooManyRequests", 429)
            || self.is("Timeout", 504)
            || (self.is("Forbidden", 403) && self.has_cause("NamespaceTerminating"))
        {
            EvictionOutcome::Rejected
        } else {
            EvictionOutcome::Refused
        }
    }

    /// By the reason; by the code where a proxy answers without a reason (v1.36 `apimachinery/pkg/api/errors IsNotFound`).
    fn is(&self, reason: &str, code: u16) -> bool {
        self.reason == reason || (self.reason.is_empty() && self.code == code)
    }

    /// Whether the uid does not fit: another pod has the name. A conflict about a version has the same reason and no cause, so that only the
    /// text tells them apart (v1.36 `apiserver/pkg/registry/rest/delete.go BeforeDelete`, `storage Preconditions.Check`). Names of pods have no
    /// capital letters.
    fn is_of_another_pod(&self) -> bool {
        self.is("Conflict", 409)
            && ["UID in the precondition", "UID in precondition"]
                .iter()
                .any(|text| self.message.contains(text))
    }

    fn has_cause(&self, reason: &str) -> bool {
        self.details.causes.iter().any(|cause| cause.reason == reason)
    }
}
