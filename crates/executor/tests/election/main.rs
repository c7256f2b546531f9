//! Leader election against an API server that has one lease, and refuses, fails, lags and falls silent. Time is tokio's paused clock:
//! an hour takes a moment.
//!
//! `FAULTS_SEEDS=1000` runs more of the random hours.
#![allow(unreachable_pub, clippy::restriction)]

mod chaos;
mod fault;
mod machine;
mod server;
mod stopped_process;
mod stories;
