//! The vocabulary that Kubernetes shares between its parts. Nothing here decides anything about a DaemonSet.

mod free;
pub(crate) mod quantity;
#[allow(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs, reason = "internal")]
pub(crate) mod quantity_text;
pub(crate) mod revision;
mod rollout_status;
pub(crate) mod selector;
mod selector_text;
pub(crate) mod tolerations;

pub use crate::words::image::ImageReference;
pub use crate::words::{canonical_json, go_json, names, well_known};
pub use free::free_resources;
pub use rollout_status::{RolloutStatus, rollout_status};
pub use selector::Selector;
pub use selector_text::{SelectorProblem, UnreadableSelector, label_requirements};
