//! The vocabulary that Kubernetes shares between its parts. Nothing here decides anything about a DaemonSet.

pub mod canonical_json;
mod free;
pub mod go_json;
pub(crate) mod hash;
mod image;
pub mod names;
#[allow(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs, reason = "internal")]
pub(crate) mod ownership;
pub(crate) mod quantity;
pub(crate) mod revision;
mod rollout_status;
pub(crate) mod selector;
pub(crate) mod tolerations;
pub mod well_known;

pub use free::free_resources;
pub use image::ImageReference;
pub use rollout_status::{RolloutStatus, rollout_status};
pub use selector::Selector;
