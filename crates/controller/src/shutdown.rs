//! The two reasons to end the process: a signal, or the loss of the lease.

use crate::leader_election::Leadership;
use tokio::signal::unix::{Signal, SignalKind, signal};

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
    /// With the reason of the loss.
    LeaseLost(String),
}

/// Everything that can end the process.
pub(crate) struct Shutdown {
    pub(crate) signals: ShutdownSignals,
    /// `None` where no lease is needed: in a dry run, a comparison, and without leader election.
    pub(crate) leadership: Option<Leadership>,
}

impl Shutdown {
    /// Waits until the process must end.
    pub(crate) async fn requested(&mut self) -> ShutdownReason {
        tokio::select! {
            () = self.signals.received() => ShutdownReason::Signal,
            reason = lease_lost(self.leadership.as_mut()) => ShutdownReason::LeaseLost(reason),
        }
    }

    /// Waits until the lease is lost; returns the reason.
    pub(crate) async fn lease_lost(&mut self) -> String {
        lease_lost(self.leadership.as_mut()).await
    }
}

async fn lease_lost(leadership: Option<&mut Leadership>) -> String {
    match leadership {
        Some(leadership) => leadership.lost().await,
        None => std::future::pending().await,
    }
}
