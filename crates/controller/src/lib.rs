//! A DaemonSet controller around the crate `daemonset`: it watches the cluster, asks the library for a plan, and executes it.
//!
//! One pass, by module:
//!
//! 1. [`watches`] fill the [`caches`] and note each changed object in the [`change_log`]; [`event_mapper`] maps it to
//!    DaemonSets and puts their keys into the [`queue`].
//! 2. A [`worker`] takes a key, applies the changes since its last plan, plans and audits.
//! 3. [`executor`] sends the plan's API calls by the crate `daemonset_executor`, which classifies the answers and keeps the
//!    outcomes for the next pass; [`response`] is its client.
//! 4. [`rollout`] reads the policy of each DaemonSet, and reports how its rollout goes on; [`turns`] drains nodes in turn.
//!
//! [`other_controller`] stops it beside another DaemonSet controller. [`program`] has the begin and the end of each program,
//! [`run`](mod@run) the life of the process, and `daemonset_executor::lease` lets one process act at a time. The program
//! `daemonset-compare` gives the worker a [`comparison`] in place of the executor.
#![allow(
    unreachable_pub,
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    reason = "its own binaries and tests are its callers"
)]

pub mod args;
pub mod caches;
pub mod change_log;
mod clients;
/// The clocks, which tests replace.
pub mod clock {
    pub use daemonset_executor::lease::{BootClock, Clock};
}
pub mod comparison;
pub mod connection;
pub mod controller;
mod event_correlator;
pub mod event_mapper;
pub mod event_recorder;
pub mod executor;
mod health;
mod http_server;
mod leader_election;
pub mod log_lines;
pub mod metrics;
pub mod other_controller;
pub mod output;
pub mod per_daemon_set;
mod policy_file;
pub mod program;
pub mod queue;
pub mod recorder;
pub mod response;
pub mod rollout;
pub mod run;
mod shutdown;
pub mod tasks;
pub mod turns;
pub mod utf8_body;
pub mod wants;
pub mod watch_health;
pub mod watches;
pub mod worker;
mod yaml;
