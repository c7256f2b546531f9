//! A simulated cluster around the core: API server, scheduler, kubelets, nodes that come and go, watch caches that lag
//! and a controller that may crash. Discrete events on a clock of its own; the same seed gives the same bytes.
//!
//! ```
//! use daemonset::sim::Cluster;
//! use jiff::SignedDuration;
//! use serde_json::json;
//!
//! let mut cluster = Cluster::new(1);
//! for name in ["a", "b", "c"] {
//!     cluster.add_node(name, Default::default());
//! }
//! cluster.install(serde_json::from_value(json!({
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

mod availability;
mod chance;
mod cluster;
mod controller;
mod event;
mod kubelet;
mod machines;
mod needs;
mod queue;
mod requests;
mod restore;
mod scheduler;
mod settings;
mod summary;
mod watch;
mod world;

pub use availability::{Availability, availability};
pub use chance::{Distribution, Probability, UnreadableChance};
pub use cluster::{Cluster, Timeout};
pub use controller::Planner;
pub use event::{Actor, Change, Event, NodeState, PodIdentity, PodTrouble, Reconciled};
pub use needs::Resources;
pub use restore::resize;
pub use settings::{Behaviour, Churn, ControllerSettings, Settings};
pub use summary::{RolloutEnd, Summary, Worst};
pub use watch::Kind;
