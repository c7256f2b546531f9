//! One acts, the others wait: who leads, and until when.
//!
//! A holder must know by itself when it no longer leads: it may be cut off from everything that could tell. So it stops at a
//! deadline that comes before the others may take the lease.

use crate::lease::{Attempt, Lock};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout_at};

/// Whether this process waits for a lease that it could take: a standby that is ready.
#[derive(Debug, Clone, Default)]
pub struct Standby(Arc<AtomicBool>);

impl Standby {
    /// Whether the lease was looked at, and another one has it.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A lease that is held, and renewed in the background.
pub struct Leadership {
    /// Why it is lost.
    lost: watch::Receiver<Option<String>>,
    stop: oneshot::Sender<()>,
    task: JoinHandle<Lock>,
}

impl Leadership {
    /// Waits until this process holds the lease, for ever if need be. v1.36 `acquire`.
    pub async fn acquire(mut lock: Lock, standby: &Standby) -> Self {
        tracing::info!(lease = lock.lease, identity = lock.identity, "waiting for the lease");
        let mut said = String::new();
        let begun = loop {
            let next = Instant::now() + lock.terms.retry_period();
            let attempt = lock.acquire().await;
            standby.0.store(matches!(attempt, Attempt::Theirs(_)), Ordering::Relaxed);
            match attempt {
                Attempt::Ours(begun) => break begun,
                Attempt::Theirs(holder) if is_news(&mut said, &holder) => {
                    tracing::info!(lease = lock.lease, holder, "another one acts");
                }
                Attempt::Failed(error) if is_news(&mut said, &error) => {
                    tracing::warn!(lease = lock.lease, error, "the lease can't be had, trying on");
                }
                Attempt::Theirs(_) | Attempt::Failed(_) => {}
            }
            sleep_until(next).await;
        };
        tracing::info!(lease = lock.lease, identity = lock.identity, "this process acts now");
        let (stop, stopped) = oneshot::channel();
        let (tell, lost) = watch::channel(None);
        let task = tokio::spawn(async move {
            tokio::select! {
                why = keep(&mut lock, begun) => {
                    tell.send_replace(Some(why));
                }
                _ = stopped => {}
            }
            lock
        });
        Leadership { lost, stop, task }
    }

    /// Waits until the lease is lost, and tells why.
    pub async fn lost(&mut self) -> String {
        match self.lost.wait_for(Option::is_some).await {
            Ok(why) => why.clone().unwrap_or_default(),
            Err(_) => "nobody renews it".to_owned(),
        }
    }

    /// Gives the lease back, so that the next one needs not wait for its end. To be called when nothing is under way.
    pub async fn release(self) {
        let Leadership { stop, task, .. } = self;
        // The task has ended by itself when the lease is lost.
        let _ = stop.send(());
        let released = match task.await {
            Ok(mut lock) => lock.release().await,
            Err(error) => Err(error.to_string()),
        };
        match released {
            Ok(()) => tracing::info!("this process does not hold the lease any more"),
            Err(error) => tracing::warn!(error, "the lease was not given back"),
        }
    }
}

/// Renews until that is no longer possible, and tells why. v1.36 `renew`.
async fn keep(lock: &mut Lock, mut begun: Instant) -> String {
    let mut next = begun + lock.terms.retry_period();
    let mut said = String::new();
    loop {
        let deadline = begun + lock.terms.renew_deadline();
        let attempt = timeout_at(deadline, async {
            sleep_until(next).await;
            next = Instant::now() + lock.terms.retry_period();
            lock.renew().await
        });
        match attempt.await {
            Ok(Attempt::Ours(now)) => {
                begun = now;
                said.clear();
            }
            Ok(Attempt::Theirs(holder)) => return format!("held by {holder:?}"),
            Ok(Attempt::Failed(error)) if is_news(&mut said, &error) => {
                tracing::warn!(lease = lock.lease, error, "the lease was not renewed, trying on");
            }
            Ok(Attempt::Failed(_)) => {}
            Err(_) if said.is_empty() => return "not renewed in time: no answer".to_owned(),
            Err(_) => return format!("not renewed in time: {said}"),
        }
    }
}

/// Whether this was not the last thing said.
fn is_news(said: &mut String, now: &str) -> bool {
    let is_news = said != now;
    now.clone_into(said);
    is_news
}
