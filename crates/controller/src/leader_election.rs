//! Leader election: one process acts, the others stand by.
//!
//! A leader must know by itself when its lease ends, because a network failure can cut it off from everything that could
//! report the end. So it stops at a deadline that lies before the instant at which another process may take the lease.

use crate::lease::{Attempt, LeaseConfig, LeaseLock};
use crate::renew_deadline::DeadlineOver;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
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
    stop: oneshot::Sender<()>,
    renewal: JoinHandle<LeaseLock>,
}

impl Leadership {
    /// Waits until this process holds the lease, however long that takes. v1.36 `acquire`.
    pub async fn acquire(mut lock: LeaseLock, standby: &Standby) -> Self {
        tracing::info!(lease = lock.lease, identity = lock.identity, "waiting for the lease");
        let (mut last_holder, mut logged) = (String::new(), BTreeSet::new());
        let sent_at = loop {
            let next = Instant::now() + lock.config.retry_period();
            let attempt = lock.acquire().await;
            standby.0.store(matches!(attempt, Attempt::HeldByOther(_)), Ordering::Relaxed);
            match attempt {
                Attempt::Held { sent_at } => break sent_at,
                Attempt::HeldByOther(holder) if is_new_message(&mut last_holder, &holder) => {
                    tracing::info!(lease = lock.lease, holder, "another process holds the lease");
                }
                // An outage is in the log already.
                Attempt::Failed(error)
                    if !lock.connection.is_unreachable() && logged.insert(error.clone()) =>
                {
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
        };
        tracing::info!(lease = lock.lease, identity = lock.identity, "this process is the leader");
        let config = lock.config;
        let (stop, stopped) = oneshot::channel();
        let (report_loss, lost) = watch::channel(None);
        let renewal = tokio::spawn(async move {
            tokio::select! {
                reason = renew_until_lost(&mut lock, sent_at) => {
                    lock.deadline.end();
                    report_loss.send_replace(Some(reason));
                }
                _ = stopped => {}
            }
            lock
        });
        Leadership { config, lost, stop, renewal }
    }

    /// Waits until the lease is lost; returns the reason.
    pub async fn lost(&mut self) -> String {
        match self.lost.wait_for(Option::is_some).await {
            Ok(reason) => reason.clone().unwrap_or_default(),
            Err(_) => "the renewal task ended".to_owned(),
        }
    }

    /// Gives the lease back, so that the next process need not wait for its expiry. Call it once no call is under way.
    pub async fn release(self) {
        let Leadership { stop, renewal, .. } = self;
        // The task has ended by itself if the lease is lost.
        let _ = stop.send(());
        let released = match renewal.await {
            Ok(mut lock) => {
                lock.deadline.end();
                lock.release().await
            }
            Err(error) => Err(error.to_string()),
        };
        match released {
            Ok(()) => tracing::info!("this process no longer holds the lease"),
            Err(error) => tracing::warn!(error, "the lease was not given back"),
        }
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
