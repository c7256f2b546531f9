//! The action on one node or, without one, the reason.

use crate::action::{CreateReason, DeleteReason};
use crate::input::memory::Rejections;
use crate::node::wait::{Wait, WaitKind};
use jiff::Timestamp;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::fmt;

/// The action on a node or, without one, the reason.
///
/// See the example of [`Report`](crate::report::Report).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase", remote = "Self")]
#[allow(clippy::exhaustive_enums, reason = "who shows an outcome must learn of a new one")]
pub enum NodeOutcome {
    /// Its pod is updated and available.
    UpToDate,
    /// It is no target node and has no pod to delete.
    NotTarget,
    /// A pod is created.
    #[non_exhaustive]
    Create {
        /// Why.
        reason: CreateReason,
        /// The batch of the create.
        batch: u32,
        /// How often the API server has rejected creates and deletes of this node in a row.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rejected: Option<Rejections>,
    },
    /// Pods are deleted.
    #[non_exhaustive]
    Delete {
        /// The reason for the first of them.
        reason: DeleteReason,
        /// How often the API server has rejected creates and deletes of this node in a row.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rejected: Option<Rejections>,
    },
    /// Its outdated pod is changed in its place.
    #[non_exhaustive]
    UpdateInPlace {
        /// Why.
        reason: DeleteReason,
        /// How often the API server has rejected creates and deletes of this node in a row.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rejected: Option<Rejections>,
    },
    /// Its turn begins: its outdated pod goes in a later plan.
    TurnBegins,
    /// Nothing: it waits.
    #[serde(skip)]
    Waits(Wait),
}

/// A wait has the form of its outcome: `{"type": "WaitsForReady"}`.
impl Serialize for NodeOutcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            NodeOutcome::Waits(wait) => wait.serialize(serializer),
            acted => NodeOutcome::serialize(acted, serializer),
        }
    }
}

// By hand: serde's untagged variants do not name what is wrong.
impl<'de> Deserialize<'de> for NodeOutcome {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let kind = value.get("type").and_then(Value::as_str);
        if WaitKind::ALL.iter().any(|wait| kind == Some(wait.as_str())) {
            Wait::deserialize(value).map(NodeOutcome::Waits).map_err(D::Error::custom)
        } else {
            NodeOutcome::deserialize(value).map_err(D::Error::custom)
        }
    }
}

/// A few words, with the instant until or since when they hold. The alternate form `{:#}` leaves the instant out; it is
/// [`instant`](NodeOutcome::instant).
///
/// ```
/// use daemonset::report::NodeOutcome;
/// use serde_json::{from_value, json};
///
/// let outcome: NodeOutcome =
///     from_value(json!({"type": "WaitsForBackOff", "until": "2026-01-01T12:00:40Z", "failures": 3}))?;
/// assert_eq!(outcome.to_string(), "failed 3 times, waits to try again (until 2026-01-01T12:00:40Z)");
/// assert_eq!(format!("{outcome:#}"), "failed 3 times, waits to try again");
/// # Ok::<(), serde_json::Error>(())
/// ```
impl fmt::Display for NodeOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NodeOutcome::UpToDate => f.write_str("up to date"),
            NodeOutcome::NotTarget => f.write_str("no target node"),
            NodeOutcome::Create { reason, .. } => write!(f, "create: {reason}"),
            NodeOutcome::Delete { reason, .. } => write!(f, "delete: {reason}"),
            NodeOutcome::UpdateInPlace { reason, .. } => write!(f, "change in place: {reason}"),
            NodeOutcome::TurnBegins => f.write_str("its turn begins"),
            NodeOutcome::Waits(wait) => wait.fmt(f),
        }?;
        self.rejected().map_or(Ok(()), |rejected| write!(f, ", {rejected}"))
    }
}

impl NodeOutcome {
    /// The instant that ends the wait, or at which it began.
    pub fn instant(&self) -> Option<Timestamp> {
        self.wait().and_then(Wait::instant)
    }

    /// Why the node waits; `None` where the plan acts on it, and where nothing is left to do.
    pub fn wait(&self) -> Option<&Wait> {
        match self {
            NodeOutcome::Waits(wait) => Some(wait),
            NodeOutcome::UpToDate
            | NodeOutcome::NotTarget
            | NodeOutcome::Create { .. }
            | NodeOutcome::Delete { .. }
            | NodeOutcome::UpdateInPlace { .. }
            | NodeOutcome::TurnBegins => None,
        }
    }

    /// The kind of its wait.
    pub fn wait_kind(&self) -> Option<WaitKind> {
        self.wait().map(Wait::kind)
    }

    fn rejected(&self) -> Option<Rejections> {
        match self {
            NodeOutcome::Create { rejected, .. }
            | NodeOutcome::Delete { rejected, .. }
            | NodeOutcome::UpdateInPlace { rejected, .. } => *rejected,
            NodeOutcome::UpToDate
            | NodeOutcome::NotTarget
            | NodeOutcome::TurnBegins
            | NodeOutcome::Waits(_) => None,
        }
    }
}
