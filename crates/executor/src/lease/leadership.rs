//! The lease while this process holds it, or stands by.
//!
//! A leader must know by itself when its lease ends, because a network failure can cut it off from everything that could
//! report the end. So it stops at a deadline that lies before the instant at which another process may take the lease.

use crate::lease::config::LeaseDurations;
use crate::lease::error::{ElectionError, Lost, NotReleased};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::{oneshot, watch};

/// A lease that this process holds and renews in the background. Dropped, it renews the lease no more, and does not give it back.
#[derive(Debug)]
pub struct Leadership {
    durations: LeaseDurations,
    /// `Some` with the reason once the lease is lost.
    lost: watch::Receiver<Option<Lost>>,
    /// The order to give the lease back. Without one, its end stops the renewal.
    stop: oneshot::Sender<()>,
    released: oneshot::Receiver<Result<(), NotReleased>>,
}

/// The other ends of the channels of [`Leadership`], and the first report: the lease was acquired, or can't be.
pub(crate) struct Reports {
    pub(crate) acquired: oneshot::Sender<Result<(), ElectionError>>,
    pub(crate) lost: watch::Sender<Option<Lost>>,
    pub(crate) stop: oneshot::Receiver<()>,
    pub(crate) released: oneshot::Sender<Result<(), NotReleased>>,
}

impl Leadership {
    /// The leadership, for the time when it is reported as acquired, and the ends of its channels.
    pub(crate) fn channels(
        durations: LeaseDurations,
    ) -> (Self, oneshot::Receiver<Result<(), ElectionError>>, Reports) {
        let (report_acquired, acquired) = oneshot::channel();
        let (report_lost, lost) = watch::channel(None);
        let (stop, stopped) = oneshot::channel();
        let (report_released, released) = oneshot::channel();
        let reports = Reports {
            acquired: report_acquired,
            lost: report_lost,
            stop: stopped,
            released: report_released,
        };
        (Leadership { durations, lost, stop, released }, acquired, reports)
    }

    /// The durations of the lease.
    pub fn durations(&self) -> LeaseDurations {
        self.durations
    }

    /// Waits until the lease is lost; returns the reason.
    pub async fn lost(&mut self) -> Lost {
        match self.lost.wait_for(Option::is_some).await {
            Ok(reason) => reason.clone().unwrap_or(Lost::RenewalEnded),
            Err(_) => Lost::RenewalEnded,
        }
    }

    /// Gives the lease back, so that the next process need not wait for its expiry. Call it once no call is under way: the deadline is
    /// over from then on.
    ///
    /// # Errors
    /// When no request has succeeded within the renew deadline: the other processes then wait until the lease expires.
    pub async fn release(self) -> Result<(), NotReleased> {
        // The renewal has ended by itself if the lease is lost.
        let _ = self.stop.send(());
        self.released.await.unwrap_or(Err(NotReleased::RenewalEnded))
    }
}

/// Whether this process stands by: it can read the lease, and another process holds it.
#[derive(Debug, Clone, Default)]
pub struct Standby(Arc<AtomicBool>);

impl Standby {
    pub(crate) fn set(&self, is_ready: bool) {
        self.0.store(is_ready, Ordering::Relaxed);
    }

    /// Whether the last attempt found the lease in the hands of another process.
    pub fn is_ready(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
