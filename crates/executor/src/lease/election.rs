//! The wait for the lease, and its renewal.

use crate::lease::clock::Clock;
use crate::lease::config::LeaseConfig;
use crate::lease::error::{ElectionError, LeaseError, Lost};
use crate::lease::leadership::{Leadership, Reports, Standby};
use crate::lease::lock::{Attempt, LeaseLock};
use crate::lease::renew_deadline::{DeadlineOver, RenewDeadline};
use kube::Client;
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use tokio::time::{Instant, sleep_until, timeout_at};

/// An event of an election, for a log. Each attempt is one, also if nothing has changed: whoever logs them leaves repetitions out.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum LeaseEvent<'e> {
    /// The process begins to wait for the lease.
    Waits,
    /// An attempt has found the lease in the hands of another process.
    HeldByOther {
        /// Its identity, or a few words where it is not known.
        holder: &'e str,
    },
    /// An attempt to acquire it has failed.
    NotAcquired {
        /// Why.
        error: &'e LeaseError,
    },
    /// This process holds the lease.
    Acquired,
    /// It was renewed.
    Renewed,
    /// An attempt to renew it has failed.
    NotRenewed {
        /// Why.
        error: &'e LeaseError,
    },
}

type Observer = Arc<dyn Fn(LeaseEvent<'_>) + Send + Sync>;

/// Waits for a lease.
///
/// See the example of the [crate](crate).
#[derive(Clone)]
pub struct Election {
    config: LeaseConfig,
    clock: Clock,
    deadline: RenewDeadline,
    standby: Standby,
    observer: Observer,
}

impl fmt::Debug for Election {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Election").field("config", &self.config).finish_non_exhaustive()
    }
}

impl Election {
    /// An election that has not begun: its [deadline](Self::deadline) is over until the lease is acquired.
    pub fn new(config: LeaseConfig) -> Self {
        Election {
            config,
            clock: Clock::default(),
            deadline: RenewDeadline::default(),
            standby: Standby::default(),
            observer: Arc::new(|_| {}),
        }
    }

    /// Moves this deadline, which others may have already.
    #[must_use]
    pub fn with_deadline(self, deadline: RenewDeadline) -> Self {
        Election { deadline, ..self }
    }

    /// Takes the times in the lease from this clock: people read them, and nobody decides by them.
    #[must_use]
    pub fn with_clock(self, clock: Clock) -> Self {
        Election { clock, ..self }
    }

    /// Tells each event, in the task that renews the lease: it must not take long.
    #[must_use]
    pub fn on_event(self, observer: impl Fn(LeaseEvent<'_>) + Send + Sync + 'static) -> Self {
        Election { observer: Arc::new(observer), ..self }
    }

    /// Until when this process may act.
    pub fn deadline(&self) -> RenewDeadline {
        self.deadline.clone()
    }

    /// Whether this process stands by.
    pub fn standby(&self) -> Standby {
        self.standby.clone()
    }

    /// Waits until this process holds the lease, however long that takes, and renews it in a task of this runtime.
    ///
    /// # Errors
    /// When the task has panicked.
    pub async fn acquire(self, client: Client) -> Result<Leadership, ElectionError> {
        self.acquired(|election, reports| {
            tokio::spawn(election.hold(client, reports));
            Ok(())
        })
        .await
    }

    /// The same on a thread of its own, which nothing that this one computes can keep from renewing the lease. `client` is called
    /// there: a client belongs to the runtime in which it was made.
    ///
    /// # Errors
    /// When there is no thread or no client, or when the thread has panicked.
    pub async fn acquire_on_thread<E: Into<Box<dyn Error + Send + Sync>>>(
        self,
        client: impl FnOnce() -> Result<Client, E> + Send + 'static,
    ) -> Result<Leadership, ElectionError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        self.acquired(|election, reports| {
            let elect = async move {
                match client().map_err(|error| ElectionError::Client(error.into())) {
                    Ok(client) => election.hold(client, reports).await,
                    Err(error) => drop(reports.acquired.send(Err(error))),
                }
            };
            std::thread::Builder::new().name("lease".to_owned()).spawn(move || runtime.block_on(elect))?;
            Ok(())
        })
        .await
    }

    /// The leadership once it is reported to the ends of the channels that `start` gets.
    async fn acquired(
        self,
        start: impl FnOnce(Self, Reports) -> Result<(), ElectionError>,
    ) -> Result<Leadership, ElectionError> {
        let (leadership, acquired, reports) = Leadership::channels(self.config.durations());
        start(self, reports)?;
        acquired.await.map_err(|_| ElectionError::RenewalEnded)??;
        Ok(leadership)
    }

    /// Acquires the lease, renews it until it is lost, and gives it back when asked to.
    async fn hold(self, client: Client, reports: Reports) {
        let mut lock = LeaseLock::new(client, self.config.clone(), self.clock.clone(), self.deadline.clone());
        let Reports { acquired, lost, mut stop, released } = reports;
        let sent_at = tokio::select! {
            sent_at = self.wait(&mut lock) => sent_at,
            _ = &mut stop => return,
        };
        let _ = acquired.send(Ok(()));
        let stopped = tokio::select! {
            reason = self.renew_until_lost(&mut lock, sent_at) => {
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
    async fn wait(&self, lock: &mut LeaseLock) -> Instant {
        (self.observer)(LeaseEvent::Waits);
        loop {
            let next = Instant::now() + lock.durations().retry_period();
            let attempt = lock.acquire().await;
            self.standby.set(matches!(attempt, Attempt::HeldByOther(_)));
            match attempt {
                Attempt::Held { sent_at } => {
                    (self.observer)(LeaseEvent::Acquired);
                    return sent_at;
                }
                Attempt::HeldByOther(holder) => (self.observer)(LeaseEvent::HeldByOther { holder: &holder }),
                Attempt::Failed(error) => (self.observer)(LeaseEvent::NotAcquired { error: &error }),
            }
            sleep_until(next).await;
        }
    }

    /// Renews the lease until it is lost; returns the reason. v1.36 `renew`.
    async fn renew_until_lost(&self, lock: &mut LeaseLock, mut sent_at: Instant) -> Lost {
        let durations = lock.durations();
        let mut next = sent_at + durations.retry_period();
        let mut last_error = None;
        loop {
            let deadline = sent_at + durations.renew_deadline();
            let attempt = timeout_at(deadline, async {
                sleep_until(next).await;
                next = Instant::now() + durations.retry_period();
                // The timers do not run while the machine sleeps: the process may be far behind its deadline.
                match lock.deadline.check() {
                    Ok(()) => Some(lock.renew().await),
                    Err(DeadlineOver) => None,
                }
            });
            // `None` also where tokio's clock reaches the deadline first.
            match attempt.await.ok().flatten() {
                Some(Attempt::Held { sent_at: renewed }) => {
                    (self.observer)(LeaseEvent::Renewed);
                    sent_at = renewed;
                    last_error = None;
                }
                Some(Attempt::HeldByOther(holder)) => return Lost::HeldByOther(holder),
                Some(Attempt::Failed(error)) => {
                    (self.observer)(LeaseEvent::NotRenewed { error: &error });
                    last_error = Some(error);
                }
                None => return Lost::NotRenewed(last_error),
            }
        }
    }
}
