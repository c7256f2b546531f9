//! The part of a memory about restored templates: the last one, until a snapshot shows it, and refusals to restore it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The restored template that is remembered, and refusals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RestoreMemory {
    /// The one that the API server accepted (or may have accepted).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<AcceptedRestore>,
    /// The refusals since the last one that was accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<RefusedRestore>,
}

/// The restore of a template that the API server accepted (or may have accepted).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedRestore {
    /// When the outcome was known.
    pub at: Timestamp,
    /// The resource version that the DaemonSet had before, which was a precondition, if it is a number. A later one shows the outcome,
    /// whatever it was: with it the patch has been done, or never will be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<u64>,
}

/// Refusals in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedRestore {
    /// When the last one was known.
    pub at: Timestamp,
    /// How many they are.
    pub count: u32,
}
