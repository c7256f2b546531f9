//! The controller against an API server that refuses, fails, lags and falls silent.
//!
//! `api_server` responds from `store`, `faults` has the errors to inject, `kubelet` runs the pods, `invariants` checks every
//! change, and `cluster` runs the controller among them. `turns` has rules, gates and tenants of its own. Time is tokio's
//! paused clock: an hour takes a moment.
//!
//! `FAULTS_SEEDS=1000` runs more of the random stories, `FAULTS_SEED=7` one of them.
#![allow(unreachable_pub, clippy::restriction)]

mod admission_policy;
mod api_server;
mod bytes;
mod cluster;
mod events;
mod fair_workers;
mod faults;
mod invariants;
mod kubelet;
mod log;
mod metrics;
mod objects;
mod other_actors;
mod outages;
mod patch;
mod pods;
mod random_faults;
mod refusals;
mod rejections;
mod revision_data;
mod rights;
mod rollouts;
mod stopped_process;
mod store;
mod turns;
mod unknown_outcomes;
mod unreadable;
mod watch_server;
mod watches;
