//! The functions of the page, which its worker calls: they take and give JSON.
//!
//! [`Session`] has the cluster that a person has opened. Everything that the page says comes from `daemonset-view`; the page's
//! own part is the shape of the answers. Pure: the page's worker gives texts, and the clock is a slider.
#![deny(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::string_slice,
    clippy::todo,
    clippy::unimplemented,
    clippy::unreachable,
    clippy::unwrap_used
)]

#[cfg(target_arch = "wasm32")]
mod exports;
mod fleet;
mod policy;
mod rehearsal;
mod session;
mod stories;

pub use session::Session;
pub use stories::{Story, stories};
