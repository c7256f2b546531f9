//! A simulated cluster around the crate `daemonset`: API server, scheduler, kubelets, nodes that join and leave, watch caches that
//! lag, and controllers that may crash.
//!
//! The simulation is a discrete-event simulation with its own clock. The same seed, settings and calls give the same
//! events, byte for byte: it does no I/O, and reads neither the machine's clock nor its environment.
//!
//! ```
//! use daemonset_sim::Cluster;
//! use jiff::SignedDuration;
//! use serde_json::json;
//!
//! let mut cluster = Cluster::new(1);
//! for name in ["a", "b", "c"] {
//!     cluster.add_node(name, Default::default());
//! }
//! cluster.create_daemon_set(serde_json::from_value(json!({
//!     "metadata": {"name": "agent", "namespace": "ns"},
//!     "spec": {
//!         "selector": {"matchLabels": {"app": "agent"}},
//!         "template": {"metadata": {"labels": {"app": "agent"}}, "spec": {"containers": [{"name": "c", "image": "v1"}]}},
//!         "updateStrategy": {"type": "RollingUpdate"},
//!     },
//! })).unwrap());
//! cluster.run_until_quiet(SignedDuration::from_mins(10)).unwrap();
//! assert_eq!(cluster.status().number_available, 3);
//!
//! cluster.edit(|ds| ds.spec.template["spec"]["containers"][0]["image"] = "v2".into());
//! cluster.run_until_quiet(SignedDuration::from_mins(10)).unwrap();
//! assert!(cluster.is_rolled_out());
//! ```

mod cluster;
mod controller;
mod environment;
mod event;
mod event_queue;
mod figures;
mod probability;
mod random;
mod requirements;
mod settings;
mod steering;
mod watch;
mod workload;

pub use cluster::{Cluster, Faults, RolloutEnd, Timeout, resize};
pub use controller::Planner;
pub use event::{Actor, Change, Event, NodeState, PodIdentity, PodTrouble, Reconciled};
pub use figures::{
    Availability, RolloutFigures, Spread, Summary, TurnFigures, WaveSummary, Worst, availability, downtime,
    undone_at,
};
pub use probability::{Distribution, Probability, UnreadableSetting};
pub use requirements::Resources;
pub use settings::{Behaviour, Churn, ControllerSettings, Runtime, Settings};
pub use steering::Steering;
pub use watch::Kind;
pub use workload::Workload;

/// The README's examples are tested as documentation is.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
