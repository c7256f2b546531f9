//! Leader election: one process acts, the others stand by.
//!
//! A leader must know by itself when its lease ends, because a network failure can cut it off from everything that could
//! report the end. So it stops at a deadline that lies before the instant at which another process may take the lease.

use crate::lease::{Attempt, LeaseConfig, LeaseLock};
use crate::renew_deadline::DeadlineOver;
use anyhow::Context;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, sleep_until, timeout_at};

/// Whether this process stands by: it can read the lease, and another process holds it.
#[derive(Debug, Clone, Default)]
pub struct Standby(Arc<AtomicBool>);

impl Standby {
    /// Whether the last attempt found the lease in the hands of another process.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A lease that this process holds and renews in the background.
pub struct Leadership {
    /// The durations of leader election.
    pub config: LeaseConfig,
    /// `Some` with the reason once the lease is lost.
    lost: watch::Receiver<Option<String>>,
    /// The order to give the lease back. Without one, its end stops the renewal.
    stop: oneshot::Sender<()>,
    released: oneshot::Receiver<Result<(), String>>,
}

/// The other ends of the channels of [`Leadership`], and the first report: the lease was acquired, or can't be.
struct Reports {
    acquired: oneshot::Sender<anyhow::Result<LeaseConfig>>,
    lost: watch::Sender<Option<String>>,
    stop: oneshot::Receiver<()>,
    released: oneshot::Sender<Result<(), String>>,
}

impl Leadership {
    /// Waits until this process holds the lease, however long that takes, and renews it in a task of this runtime.
    ///
    /// # Errors
    /// When the task has panicked.
    pub async fn acquire(lock: LeaseLock, standby: &Standby) -> anyhow::Result<Self> {
        let standby = standby.clone();
        Self::acquired(|reports| {
            tokio::spawn(hold(lock, standby, reports));
            Ok(())
        })
        .await
    }

    /// The same on a thread of its own, which nothing that this one computes can keep from renewing the lease. `lock` is
    /// called there: the client of a lock belongs to the runtime in which it was made.
    ///
    /// # Errors
    /// When there is no thread or no lock, or when the thread has panicked.
    pub async fn acquire_on_thread(
        lock: impl FnOnce() -> anyhow::Result<LeaseLock> + Send + 'static,
        standby: &Standby,
    ) -> anyhow::Result<Self> {
        let standby = standby.clone();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Self::acquired(|reports| {
            let elect = async move {
                match lock() {
                    Ok(lock) => hold(lock, standby, reports).await,
                    Err(error) => drop(reports.acquired.send(Err(error))),
                }
            };
            std::thread::Builder::new().name("lease".to_owned()).spawn(move || runtime.block_on(elect))?;
            Ok(())
        })
        .await
    }

    /// The leadership once it is reported to the ends of the channels that `start` gets.
    async fn acquired(start: impl FnOnce(Reports) -> anyhow::Result<()>) -> anyhow::Result<Self> {
        let (report_acquired, acquired) = oneshot::channel();
        let (report_lost, lost) = watch::channel(None);
        let (stop, stopped) = oneshot::channel();
        let (report_released, released) = oneshot::channel();
        start(Reports {
            acquired: report_acquired,
            lost: report_lost,
            stop: stopped,
            released: report_released,
        })?;
        let config = acquired.await.context(RENEWAL_ENDED)??;
        Ok(Leadership { config, lost, stop, released })
    }

    /// Waits until the lease is lost; returns the reason.
    pub async fn lost(&mut self) -> String {
        match self.lost.wait_for(Option::is_some).await {
            Ok(reason) => reason.clone().unwrap_or_default(),
            Err(_) => RENEWAL_ENDED.to_owned(),
        }
    }

    /// Gives the lease back, so that the next process need not wait for its expiry. Call it once no call is under way.
    pub async fn release(self) {
        // The renewal has ended by itself if the lease is lost.
        let _ = self.stop.send(());
        match self.released.await.unwrap_or_else(|_| Err(RENEWAL_ENDED.to_owned())) {
            Ok(()) => tracing::info!("this process no longer holds the lease"),
            Err(error) => tracing::warn!(error, "the lease was not given back"),
        }
    }
}

/// Only a panic ends the renewal without a report.
const RENEWAL_ENDED: &str = "the renewal of the lease ended";

/// Acquires the lease, renews it until it is lost, and gives it back when asked to.
async fn hold(mut lock: LeaseLock, standby: Standby, reports: Reports) {
    let Reports { acquired, lost, mut stop, released } = reports;
    let sent_at = tokio::select! {
        sent_at = acquire(&mut lock, &standby) => sent_at,
        _ = &mut stop => return,
    };
    let _ = acquired.send(Ok(lock.config));
    let stopped = tokio::select! {
        reason = renew_until_lost(&mut lock, sent_at) => {
            lock.deadline.end();
            lost.send_replace(Some(reason));
            stop.await
        }
        stopped = &mut stop => stopped,
    };
    if stopped.is_ok() {
        lock.deadline.end();
        let _ = released.send(lock.release().await);
    }
}

/// Waits until this process holds the lease; returns when the request was sent that acquired it. v1.36 `acquire`.
async fn acquire(lock: &mut LeaseLock, standby: &Standby) -> Instant {
    tracing::info!(lease = lock.lease, identity = lock.identity, "waiting for the lease");
    let (mut last_holder, mut logged) = (String::new(), BTreeSet::new());
    loop {
        let next = Instant::now() + lock.config.retry_period();
        let attempt = lock.acquire().await;
        standby.0.store(matches!(attempt, Attempt::HeldByOther(_)), Ordering::Relaxed);
        match attempt {
            Attempt::Held { sent_at } => {
                tracing::info!(lease = lock.lease, identity = lock.identity, "this process is the leader");
                return sent_at;
            }
            Attempt::HeldByOther(holder) if is_new_message(&mut last_holder, &holder) => {
                tracing::info!(lease = lock.lease, holder, "another process holds the lease");
            }
            // An outage is in the log already.
            Attempt::Failed(error) if !lock.connection.is_unreachable() && logged.insert(error.clone()) => {
                let server = lock.connection.server();
                tracing::warn!(
                    lease = lock.lease,
                    server,
                    error,
                    "the lease could not be acquired, retrying"
                );
            }
            Attempt::HeldByOther(_) | Attempt::Failed(_) => {}
        }
        sleep_until(next).await;
    }
}

/// Renews the lease until it is lost; returns the reason. v1.36 `renew`.
async fn renew_until_lost(lock: &mut LeaseLock, mut sent_at: Instant) -> String {
    let mut next = sent_at + lock.config.retry_period();
    let mut last_error = String::new();
    loop {
        let deadline = sent_at + lock.config.renew_deadline();
        let attempt = timeout_at(deadline, async {
            sleep_until(next).await;
            next = Instant::now() + lock.config.retry_period();
            // The timers do not run while the machine sleeps: the process may be far behind its deadline.
            match lock.deadline.check() {
                Ok(()) => Some(lock.renew().await),
                Err(DeadlineOver) => None,
            }
        });
        // `None` also where tokio's clock reaches the deadline first.
        match attempt.await.ok().flatten() {
            Some(Attempt::Held { sent_at: renewed }) => {
                sent_at = renewed;
                last_error.clear();
            }
            Some(Attempt::HeldByOther(holder)) => return format!("held by {holder:?}"),
            Some(Attempt::Failed(error)) => {
                if is_new_message(&mut last_error, &error) && !lock.connection.is_unreachable() {
                    tracing::warn!(lease = lock.lease, error, "the lease was not renewed, retrying");
                }
            }
            None if last_error.is_empty() => return "not renewed in time: no response".to_owned(),
            None => return format!("not renewed in time: {last_error}"),
        }
    }
}

/// Whether this message differs from the last one, which it replaces: a repeated message is logged once.
fn is_new_message(last: &mut String, message: &str) -> bool {
    let is_new = last != message;
    message.clone_into(last);
    is_new
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_new_until_it_is_repeated() {
        let mut last = String::new();
        let is_new = ["a", "a", "b", "a"].map(|message| is_new_message(&mut last, message));
        assert_eq!(is_new, [true, false, true, true]);
    }
}
