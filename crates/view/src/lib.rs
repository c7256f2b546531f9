//! A DaemonSet's plan and its rollout in sentences, from the objects of a cluster.
//!
//! The words of the plugin `kubectl daemonset` and of the page in `crates/page`: each sentence is made here, once, for
//! both. It reads documents ([`cluster`]), plans them ([`plan`]), says why a node waits ([`why`]) and whether a rollout moves
//! ([`stuck`]), and looks for surprises in a manifest ([`mod@lint`]). The crate `daemonset-pictures` draws simulated rollouts.
//!
//! Pure, as the core is: no I/O, no clock, no randomness, no environment. Its API follows the needs of its two callers, and
//! changes with them: a program of your own reads the reports of `daemonset` and makes its own words.
#![allow(missing_docs, unreachable_pub, reason = "the plugin and the page are its only callers")]
#![allow(clippy::exhaustive_enums, clippy::exhaustive_structs, reason = "they are built with it")]

pub mod case;
pub mod cause;
pub mod cluster;
mod goal;
pub mod hostile;
pub mod lint;
pub mod numbers;
pub mod on;
pub mod plan;
pub mod policy;
pub mod share;
pub mod steered;
pub mod stuck;
pub mod turning;
pub mod waiting;
pub mod why;
pub mod words;

/// The README's examples are tested as documentation is.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
