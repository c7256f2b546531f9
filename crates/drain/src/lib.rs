//! Decides which pods a drain of a node evicts, which ones it waits for, and which ones block it.
//!
//! [`drain()`] has the rules of `kubectl drain --ignore-daemonsets` (v1.36 `kubectl/pkg/drain/filters.go`). It is a function of one node, so that
//! a controller, a script that reads a dump and a test give the same answer.
//!
//! Pure: no I/O, no clock, no randomness, no environment. Total: all objects have an answer. Deterministic: the same objects give the
//! same answer, in whatever order they are listed.
//!
//! | | |
//! |---|---|
//! | [`drain()`], [`Drain`] | the decision: the state, the pods to evict, and when to look again |
//! | [`verdicts`], [`PodVerdict`] | the same for each pod, with the reason why it is left alone |
//! | [`DrainPolicy`], [`PodSelector`] | the caller's choices: the flags of `kubectl drain` |
//! | [`EvictPod`] | one eviction, with its body for the API server |
//! | [`Status`], [`EvictionOutcome`] | the API server's answer to an eviction, and its meaning |
//!
//! # The caller's duties
//!
//! 1. Cordon the node. A scheduler that has not seen the cordon may still bind a pod to the node: `kubectl drain` has the same gap.
//! 2. List the pods of the node, of all namespaces, after the cordon; and all DaemonSets.
//! 3. Send each eviction in [`Drain::evict`], in any order, and read its answer with [`Status::outcome`].
//! 4. List and decide again at [`Drain::look_again`], and when a pod of the node changes, until the state is
//!    [`Drained`](DrainState::Drained).
//!
//! # Features
//!
//! `kube`: an eviction as a `daemonset::kube::ApiCall` (Rust 1.89). Without features the crate needs Rust 1.85.

mod answer;
mod daemon;
mod drain;
mod eviction;
mod pod;
mod verdict;

#[doc(inline)]
pub use daemonset::policy::{DrainPolicy, PodSelector};
pub use daemonset::{InvalidInput, Problem, ProblemKind};

pub use answer::{EvictionOutcome, Status, StatusCause, StatusDetails};
pub use daemon::DaemonOwner;
pub use drain::{BlockedPod, Drain, DrainState, RETRY_AFTER, drain};
pub use eviction::{EvictPod, EvictReason};
pub use pod::{EmptyDir, Pod, PodSpec, PodStatus, Volume};
pub use verdict::{BlockReason, LeftAlone, PodVerdict, verdicts};

/// The README's examples are tested as documentation is.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
