//! Texts as Kubernetes writes them: names, keys, hashes, canonical JSON. Nothing here knows an object.

pub mod canonical_json;
pub mod go_json;
pub(crate) mod hash;
pub(crate) mod image;
pub mod names;
#[allow(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs, reason = "internal")]
pub(crate) mod ownership;
pub mod well_known;
