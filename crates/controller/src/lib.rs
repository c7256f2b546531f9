//! A DaemonSet controller around the crate `daemonset`: it watches, asks the library what to do, and does it.
//!
//! `world` has the caches, `queue` who is next, `worker` reconciles, `execute` sends the calls of a plan and `answer` tells
//! what the API server's answers mean. `compare` puts plans beside what another controller does.

#![forbid(unsafe_code)]

pub mod answer;
pub mod args;
pub mod clock;
pub mod compare;
mod concerns;
pub mod control;
pub mod desk;
pub mod events;
pub mod execute;
pub mod input;
pub mod leader;
pub mod lease;
pub mod metrics;
pub mod print;
pub mod queue;
pub mod record;
pub mod run;
pub mod sent;
pub mod turns;
pub mod web;
pub mod worker;
pub mod world;
