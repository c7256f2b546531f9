//! Executes the plans of the crate `daemonset`, for an operator of DaemonSets or of a custom kind that works like one.
//!
//! A plan says what to do. Whoever sends its calls has duties that are easy to miss: a create is sent once, since one that is repeated after its response
//! was lost makes a second pod; a lost answer is no failure; a failure ends the plan, except for the status; and a node whose pod a
//! webhook refuses holds up no other. This crate has these duties, for any client and any loop.
//!
//! | | |
//! |---|---|
//! | [`Executor`] | [`sync`](Executor::sync) is one pass of a loop; [`execute`](Executor::execute) sends the calls of a plan, batch by batch, and stops at the first failure |
//! | [`Sender`] | how a request reaches the API server: `kube::Client`, or a type of yours |
//! | [`ApiResponse`] | the answer to one call: done, rejected, later, not sent, unknown |
//! | [`InFlight`] | the driver of one DaemonSet, the calls that were sent for it, and when to plan it again |
//! | [`RetryOrder`] | actions that were rejected before come last |
//! | [`ExecuteError`] | why a plan was not executed to its end, and when the next one is due |
//! | `lease`, a feature | leader election, with connections on which a former leader sends nothing more |
//!
//! ```
//! use daemonset::model::{ControllerRevision, DaemonSet, Node, Pod};
//! use daemonset::{Observed, PlanError, Reconciler};
//! use daemonset_executor::{Executor, InFlight};
//! use std::time::Duration;
//!
//! # type Lists = (Vec<Node>, Vec<Pod>, Vec<ControllerRevision>);
//! /// Returns the time until it is to be called again, unless an object changes before.
//! async fn sync(
//!     executor: &Executor<kube::Client>,      // made once: Executor::new(client, "my-operator"), the client with default_retry = false
//!     in_flight: &mut InFlight<Reconciler>,   // one for each object: InFlight::new(Reconciler::new(uid, Policy::default()))
//!     ds: &DaemonSet,
//!     (nodes, pods, revisions): &Lists,       // from your caches
//! ) -> Result<Option<Duration>, PlanError> {
//!     let observed = Observed { daemon_set: ds, nodes, pods, revisions };
//!     let synced = executor.sync(observed, in_flight, |call| {
//!         if call.error.is_none() {
//!             println!("{}", call.subject()); // it was done
//!         }
//!     }).await?;
//!     if let Err(error) = &synced.executed {
//!         eprintln!("{error}"); // next_plan knows what follows from it
//!     }
//!     Ok(synced.next_plan)
//! }
//! ```
//!
//! # The caller's duties
//!
//! 1. Lists of everything: all nodes, and all pods and ControllerRevisions of the namespace. One pass of an object at a time, each with the
//!    same [`InFlight`].
//! 2. The next pass: when an object changes, and after [`Synced::next_plan`]. After a [`PlanError`](daemonset::PlanError) a change alone helps.
//! 3. A client without retries: kube's has them unless `Config::default_retry` is `false`, and repeats a create after 504. One process
//!    acts at a time: a [`Sender`] of yours answers [`ApiResponse::MayNotAct`] once another one may.
//!
//! [`Executor::sync`] makes these steps; who makes them by hand (with a `Tracker`, or with a guard between plan and calls) makes all of
//! them, in this order:
//!
//! 1. [`Executor::settle`] reads back the calls whose answer was lost.
//! 2. The driver plans. Before a revision is created, it plans once more with [stored revisions](Executor::list_revisions): a watch may
//!    lag behind the one that has shown the template, and a number would be given twice.
//! 3. The plan's `requeue_at` is kept, before [`RetryOrder::apply`] takes the actions.
//! 4. [`Executor::execute`].
//! 5. [`InFlight::next_plan`] says when to plan again: at `requeue_at`, when a lost call can be read back, seconds after the first rejection of a target,
//!    and after an error as [`ExecuteError`] says, with back-off.
//!
//! # Sources
//!
//! The answers are read as v1.36 `pkg/controller/daemon`, `controller_utils.go` and `controller_ref_manager.go` read them; where the API
//! server itself may not know, as its own and etcd's time-outs say.

mod back_off;
mod error;
mod events;
mod executor;
mod in_flight;
#[cfg(feature = "lease")]
pub mod lease;
mod reads;
mod refusals;
mod response;
mod retry_order;
mod stored_bytes;
mod sync;
mod tolerant;
mod turns;

pub use error::{ExecuteError, Refusal};
pub use events::CallEvent;
pub use executor::{Call, Executed, Executor};
pub use in_flight::{Driver, InFlight};
pub use response::{ApiResponse, Sender, UnknownOutcome};
pub use retry_order::RetryOrder;
pub use sync::Synced;

/// For the controller of the same version: no part of the API.
#[doc(hidden)]
pub mod internal {
    pub use crate::back_off::{BackOff, LONGEST as LONGEST_BACK_OFF, LONGEST_IN_OUTAGE};
    pub use crate::reads::PAGE_SIZE;
    pub use crate::refusals::is_outdated;
    pub use crate::response::{
        error_chain, is_connect, is_namespace_terminating, retry_after_header, shortened,
    };
    pub use crate::tolerant::{FromJson, Tolerant};
    pub use crate::turns::is_of_turns;
}

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
