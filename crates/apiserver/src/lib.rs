//! The API server's side of a DaemonSet, as pure functions over `serde_json::Value` in the form that the API server
//! speaks.
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(missing_docs, unreachable_pub)]
#![warn(clippy::exhaustive_enums, clippy::exhaustive_structs)]
#![deny(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::expect_used,
    clippy::float_arithmetic,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::todo,
    clippy::unimplemented,
    clippy::unreachable,
    clippy::unwrap_used
)]

pub mod admission;
pub mod cascade;
pub mod go;
pub mod json;
pub mod patch;
pub mod quantity;
mod schema;
pub mod syntax;
