//! Executes the plans of the crate `daemonset`, for an operator of DaemonSets or of a custom kind that works like one.
//!
//! A plan says what to do. Whoever sends its calls has duties that are easy to miss: a create is sent once, since one that is repeated after its response
//! was lost makes a second pod; a lost answer is no failure; a failure ends the plan, except for the status; and a node whose pod a
//! webhook refuses holds up no other. This crate has these duties, for any client and any loop.
//!
//! | | |
//! |---|---|
//! | [`Executor`] | sends the calls of a plan, batch by batch, and stops at the first failure |
//! | [`Sender`] | how a request reaches the API server: `kube::Client`, or a type of yours |
//! | [`ApiResponse`] | the answer to one call: done, rejected, later, not sent, unknown |
//! | [`InFlight`] | the driver of one DaemonSet, and the calls that were sent for it |
//! | [`RetryOrder`] | actions that were rejected before come last |
//! | [`ExecuteError`] | why a plan was not executed to its end |
//!
//! ```
//! use daemonset::model::{ControllerRevision, DaemonSet, Node, Pod};
//! use daemonset::{Observed, Policy, Reconciler};
//! use daemonset_executor::{ExecuteError, Executor, InFlight};
//!
//! # type Lists = (Vec<Node>, Vec<Pod>, Vec<ControllerRevision>);
//! async fn sync(
//!     executor: &Executor<kube::Client>,      // made once: Executor::new(client, "my-operator")
//!     in_flight: &mut InFlight<Reconciler>,   // one for each object: InFlight::new(Reconciler::new(uid, Policy::default()))
//!     ds: &DaemonSet,
//!     (nodes, pods, revisions): &Lists,       // from your caches
//! ) -> Result<(), Box<dyn std::error::Error>> {
//!     executor.settle(ds, nodes, in_flight).await?;
//!     let plan = in_flight.driver.plan(Observed { daemon_set: ds, nodes, pods, revisions }, jiff::Timestamp::now())?;
//!     let actions = in_flight.retry_order.apply(plan.actions);
//!     match executor.execute(ds, &actions, in_flight, |call| println!("{}", call.subject())).await {
//!         Err(ExecuteError::RetryAfter(delay)) => println!("again in {delay:?}"),
//!         done => drop(done?), // plan again with back-off after an error
//!     }
//!     Ok(())
//! }
//! ```
//!
//! # The caller's duties
//!
//! 1. [`Executor::settle`] before each plan, [`RetryOrder::apply`] after it, and one plan of an object at a time.
//! 2. Plan again: when an object changes, at the plan's `requeue_at`, at [`InFlight::next_settle`], after
//!    [`RetryOrder::take_delay`], and after an error, with back-off. [`ExecuteError`] says which errors need a newer snapshot or a given time.
//! 3. Before a revision is created, plan with [stored revisions](Executor::list_revisions): a watch may lag behind the one that has
//!    shown the template, and a number would be given twice.
//! 4. A client without retries. One process acts at a time: a [`Sender`] of yours answers [`ApiResponse::MayNotAct`] once another one may.
//!
//! # Sources
//!
//! The answers are read as v1.36 `pkg/controller/daemon`, `controller_utils.go` and `controller_ref_manager.go` read them; where the API
//! server itself may not know, as its own and etcd's time-outs say.
#![deny(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::string_slice,
    clippy::todo,
    clippy::unimplemented,
    clippy::unreachable,
    clippy::unwrap_used
)]
#![warn(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs)]

mod error;
mod executor;
mod in_flight;
mod reads;
mod refusals;
mod response;
mod retry_order;
mod stored_bytes;
mod tolerant;
mod turns;

pub use error::{ExecuteError, Refusal};
pub use executor::{Call, Executed, Executor};
pub use in_flight::{Driver, InFlight};
pub use response::{ApiResponse, Sender, UnknownOutcome};
pub use retry_order::RetryOrder;

/// For the controller of the same version: no part of the API.
#[doc(hidden)]
pub mod internal {
    pub use crate::error::subject;
    pub use crate::reads::PAGE_SIZE;
    pub use crate::refusals::{created_name, is_outdated};
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
