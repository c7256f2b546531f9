//! Leader election by a lease of Kubernetes' API, as client-go has it, with a fence: a process that has lost its lease sends
//! nothing more.
//!
//! client-go checks the renew deadline in the loop that renews the lease. A process that is stopped for longer (SIGSTOP, a frozen
//! machine, a full CPU) runs other tasks when it goes on, before that loop ends it: two processes act at once. Here the deadline is
//! a value that everything asks: [`RenewDeadline::check`] before each piece of work, and the connections of [`fenced_client`] before
//! each write to the kernel, by a clock that runs while the process and the machine are stopped.
//!
//! | | |
//! |---|---|
//! | [`Election`], [`LeaseConfig`] | waits for the lease: whose, for how long, by which identity |
//! | [`Leadership`], [`Lost`] | the lease while it is held and renewed, and the reason of its end |
//! | [`RenewDeadline`] | until when this process may act without a further renewal |
//! | [`fenced_client`], [`fenced_service`], [`FencedConnector`] | connections that write nothing afterwards |
//! | [`Standby`], [`LeaseEvent`] | for a readiness probe, and for a log |
//!
//! ```no_run
//! use daemonset_executor::lease::{Election, LeaseConfig, fenced_client};
//! use kube::{Client, Config};
//!
//! # async fn lead() -> Result<(), Box<dyn std::error::Error>> {
//! let config = Config::infer().await?;
//! let election = Election::new(LeaseConfig::new("default", "my-operator"));
//! // Sends from the first renewal on, and nothing after the deadline.
//! let writes = fenced_client(&config, &election.deadline())?;
//! let mut leadership = election.acquire_on_thread(move || Client::try_from(config)).await?;
//! tokio::select! {
//!     () = work(writes) => leadership.release().await?,
//!     lost = leadership.lost() => eprintln!("another process may act: {lost}"),
//! }
//! # Ok(())
//! # }
//! # async fn work(_: Client) {}
//! ```
//!
//! # The caller's duties
//!
//! 1. Send what needs the lease with a [`fenced_client`], and the requests for the lease itself with another client: those must be
//!    sent before and after the process leads.
//! 2. End the process, or at least all that acts, once [`Leadership::lost`] returns. Its successor begins with fresh caches.
//! 3. [Release](Leadership::release) the lease at the end, once no call is under way.
//!
//! # Durations
//!
//! client-go's defaults for a lease of 15 seconds, or the same shares of another duration ([`LeaseConfig::seconds`]):
//!
//! | | |
//! |---|---|
//! | another process takes the lease if it has not seen it change for | 15 s |
//! | the holder stops if it has not renewed the lease for | 10 s, from the moment at which it began to send the last renewal |
//! | an attempt to renew or to acquire it is made every | 2 s |
//!
//! Timestamps of other machines are ignored: clocks may differ.
//!
//! # Differences from client-go
//!
//! The requests are those of v1.36 `client-go/tools/leaderelection`, but for these:
//!
//! - A lease that was deleted still counts for its duration: its holder creates it again, and leads meanwhile.
//! - A holder that finds another holder, or none, in the lease stops at once.
//!
//! # Limits
//!
//! A request that the kernel has by then can't be taken back: it may reach the API server after the deadline. Whoever must exclude that,
//! too, needs a fencing token that the API server checks, such as `resourceVersion` in the object that is written.

mod clock;
mod config;
mod election;
mod error;
mod fenced_client;
mod fenced_stream;
mod leadership;
mod lock;
mod renew_deadline;

pub use clock::{BootClock, Clock};
pub use config::{LeaseConfig, LeaseDurations};
pub use election::{Election, LeaseEvent};
pub use error::{ElectionError, LeaseError, Lost, NotReleased};
pub use fenced_client::{FencedService, fenced_client, fenced_service};
pub use fenced_stream::{FencedConnector, FencedStream};
pub use leadership::{Leadership, Standby};
pub use renew_deadline::{DeadlineOver, RenewDeadline};
