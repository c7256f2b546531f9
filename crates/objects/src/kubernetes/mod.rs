//! The vocabulary that Kubernetes shares between its parts. Nothing here decides anything about a DaemonSet.

mod free;
pub(crate) mod quantity;
pub(crate) mod revision;
pub(crate) mod selector;
pub(crate) mod tolerations;

pub use crate::words::image::ImageReference;
pub use crate::words::{canonical_json, go_json, names, well_known};
pub use free::free_resources;
pub use selector::Selector;
