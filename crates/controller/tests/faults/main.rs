//! The controller against an API server that refuses, fails, lags and falls silent.
//!
//! `api` answers from `store`, `faults` tells what goes wrong, `kubelet` runs the pods, `guard` looks at every change, and
//! `cluster` puts the controller among them; `leases` is another API server, with a lease and nothing else. Time
//! is tokio's paused clock: an hour takes a moment.
//!
//! `FAULTS_SEEDS=1000` tells more of the stories at random, `FAULTS_SEED=7` one of them.

mod answers;
mod api;
mod cluster;
mod faults;
mod guard;
mod hands;
mod kubelet;
mod lease;
mod lease_chaos;
mod leases;
mod lost;
mod mixed;
mod objects;
mod patch;
mod pods;
mod policy;
mod refused;
mod store;
mod watch;
mod watches;
