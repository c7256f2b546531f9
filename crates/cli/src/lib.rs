//! The part of the plugin `kubectl daemonset` that answers as kubectl does, apart from the program, so that tests can call it.
//!
//! It is no API: it follows the needs of the program, and changes in any release.
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

pub mod kubectl;
