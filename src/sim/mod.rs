//! A simulated cluster around the core: API server, scheduler, kubelets, nodes that come and go, watch caches that lag
//! and a controller that may crash. Discrete events on a clock of its own; the same seed gives the same bytes.

mod event;

pub use event::{By, Change, Event, NodeState, PodIdentity, PodTrouble, Reconciled};
