//! The reasons to end the process: a signal, an output that no one reads, the loss of the lease, a task that has ended, or watches
//! that fail while another process may wait.

use crate::leader_election::lost;
use crate::output::Output;
use crate::tasks::EndedTask;
use crate::watch_health::WatchHealth;
use daemonset_executor::lease::{Leadership, LeaseDurations};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// How many lease durations a leader may be without one of its watches before it gives the lease up.
const WATCH_DEADLINE: u32 = 4;

/// SIGTERM and SIGINT.
pub(crate) struct ShutdownSignals {
    terminate: Signal,
    interrupt: Signal,
}

impl ShutdownSignals {
    /// Installs the handlers.
    pub(crate) fn install() -> std::io::Result<Self> {
        Ok(ShutdownSignals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Waits for the next signal.
    pub(crate) async fn received(&mut self) {
        tokio::select! { _ = self.terminate.recv() => {}, _ = self.interrupt.recv() => {} }
    }
}

/// Why the process ends.
pub(crate) enum ShutdownReason {
    Signal,
    /// No one reads the plans or the comparison any more.
    OutputClosed,
    /// With the reason of the loss.
    LeaseLost(String),
    /// A task has ended, or the lease is held and a watch has failed for too long; with its failure.
    CantWork(String),
}

/// Everything that can end the process.
pub(crate) struct Shutdown {
    pub(crate) signals: ShutdownSignals,
    /// `None` where no lease is needed: in a dry run, a comparison, and without leader election.
    pub(crate) leadership: Option<Leadership>,
    pub(crate) watches: WatchHealth,
    pub(crate) tasks: EndedTask,
    pub(crate) output: Output,
}

impl Shutdown {
    /// Waits until the process must end.
    pub(crate) async fn requested(&mut self) -> ShutdownReason {
        let fail = watches_fail(self.watches.clone(), self.leadership.as_ref().map(Leadership::durations));
        tokio::select! {
            () = self.signals.received() => ShutdownReason::Signal,
            () = self.output.closed() => ShutdownReason::OutputClosed,
            reason = self.tasks.wait() => ShutdownReason::CantWork(reason),
            reason = fail => ShutdownReason::CantWork(reason),
            reason = lease_lost(self.leadership.as_mut()) => ShutdownReason::LeaseLost(reason),
        }
    }

    /// Waits until the lease is lost; returns the reason.
    pub(crate) async fn lease_lost(&mut self) -> String {
        lease_lost(self.leadership.as_mut()).await
    }
}

/// Waits until a watch has failed for so long that another process should try: it may have rights that this one lacks. Without
/// a lease there is no other process.
async fn watches_fail(watches: WatchHealth, lease: Option<LeaseDurations>) -> String {
    match lease {
        Some(lease) => watches.failed_for(lease.lease_duration() * WATCH_DEADLINE).await,
        None => std::future::pending().await,
    }
}

async fn lease_lost(leadership: Option<&mut Leadership>) -> String {
    match leadership {
        Some(leadership) => lost(leadership).await,
        None => std::future::pending().await,
    }
}
