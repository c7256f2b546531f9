//! The part of a memory about restored templates: the last one, until a snapshot shows it, and refusals to restore it.

use crate::input::memory::accepted::{InFlight, RestoredTemplate};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The restored template that is remembered, and refusals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct RestoreMemory {
    /// The one that the API server accepted (or may have accepted).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) accepted: Option<InFlight<RestoredTemplate>>,
    /// The refusals since the last one that was accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) refused: Option<RefusedRestore>,
}

/// Refusals in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RefusedRestore {
    /// When the last one was known.
    pub(crate) at: Timestamp,
    /// How many they are.
    pub(crate) count: u32,
}
