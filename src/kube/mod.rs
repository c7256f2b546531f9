//! For controllers built with `kube`: the model as its resources, and actions as API calls.
//!
//! No I/O here either: an [`ApiCall`] is data, and [`ApiCall::to_request`] an `http::Request` that somebody else sends.

mod call;
mod events;
mod metadata;
mod patches;

pub use call::{ApiCall, Caller, PatchType, Preconditions, Verb};
