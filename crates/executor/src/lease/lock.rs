//! The lease object: who leads, and how long the other processes must honour that.
//!
//! As v1.36 client-go `leaderelection.go` and `leaselock.go`, with one difference: a lease that was deleted still counts for
//! its duration.

use crate::lease::clock::Clock;
use crate::lease::config::{LeaseConfig, LeaseDurations};
use crate::lease::error::{LeaseError, NotReleased};
use crate::lease::renew_deadline::RenewDeadline;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use kube::api::{Api, PostParams};
use kube::{Client, Error};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// The result of one attempt to acquire or to renew the lease.
#[derive(Debug)]
pub(crate) enum Attempt {
    /// This process holds the lease.
    Held {
        /// When the successful write began: no other process can see that write earlier.
        sent_at: Instant,
    },
    /// Another process holds the lease; its identity.
    HeldByOther(String),
    /// The holder is unknown.
    Failed(LeaseError),
}

/// The record that was last seen in storage, and since when. Only a change of the record counts: the timestamps in it come
/// from the clocks of other machines.
struct ObservedRecord {
    /// `None`: there was no lease.
    record: Option<LeaseSpec>,
    since: Instant,
    valid_for: Duration,
}

/// A lease that this process wants or holds.
pub(crate) struct LeaseLock {
    api: Api<Lease>,
    config: LeaseConfig,
    clock: Clock,
    /// The deadline that each renewal moves.
    pub(crate) deadline: RenewDeadline,
    /// The object as last read or written.
    stored: Option<Lease>,
    observed: Option<ObservedRecord>,
}

impl LeaseLock {
    /// A lock that has sent nothing yet.
    pub(crate) fn new(client: Client, config: LeaseConfig, clock: Clock, deadline: RenewDeadline) -> Self {
        let api = Api::namespaced(client, &config.namespace);
        LeaseLock { api, config, clock, deadline, stored: None, observed: None }
    }

    pub(crate) fn durations(&self) -> LeaseDurations {
        self.config.durations
    }

    /// Takes the lease if no other process holds it. v1.36 `tryAcquireOrRenew`.
    pub(crate) async fn acquire(&mut self) -> Attempt {
        if let Err(error) = self.read().await {
            return Attempt::Failed(error);
        }
        // The lease is already ours if only the response to an earlier attempt was lost.
        if !self.is_held()
            && let Some(holder) = self.other_holder()
        {
            return Attempt::HeldByOther(holder);
        }
        match self.write().await {
            Ok(sent_at) => Attempt::Held { sent_at },
            Err(error) if error.code() == Some(409) => {
                Attempt::HeldByOther("a process that was faster".to_owned())
            }
            Err(error) => Attempt::Failed(error),
        }
    }

    /// Renews the lease; creates it again if it was deleted.
    pub(crate) async fn renew(&mut self) -> Attempt {
        let first_error = match self.write().await {
            Ok(sent_at) => return Attempt::Held { sent_at },
            Err(error) => error,
        };
        // After any error, another process may hold the lease.
        if self.read().await.is_err() {
            return Attempt::Failed(first_error);
        }
        match &self.stored {
            Some(lease) if !self.is_held() => Attempt::HeldByOther(holder(lease).to_owned()),
            // Another field changed, or the lease is gone: this process still leads.
            Some(_) | None if matches!(first_error.code(), Some(404 | 409)) => match self.write().await {
                Ok(sent_at) => Attempt::Held { sent_at },
                Err(error) => Attempt::Failed(error),
            },
            Some(_) | None => Attempt::Failed(first_error),
        }
    }

    /// Gives the lease back if this process still holds it. v1.36 `release`.
    ///
    /// # Errors
    /// When no request succeeds within the renew deadline: the other processes then wait until the lease expires.
    pub(crate) async fn release(&mut self) -> Result<(), NotReleased> {
        let mut last_error = None;
        let (retry_period, deadline) = (self.durations().retry_period(), self.durations().renew_deadline());
        let released = timeout(deadline, async {
            while let Err(error) = self.write_released().await {
                last_error = Some(error);
                sleep(retry_period).await;
            }
        });
        released.await.map_err(|_| NotReleased::Failed(last_error))
    }

    async fn write_released(&mut self) -> Result<(), LeaseError> {
        self.read().await?;
        let Some(mut lease) = self.stored.clone().filter(|_| self.is_held()) else { return Ok(()) };
        let now = MicroTime(self.clock.now());
        lease.spec = Some(LeaseSpec {
            holder_identity: Some(String::new()),
            lease_duration_seconds: Some(1),
            lease_transitions: transitions(&lease),
            acquire_time: Some(now.clone()),
            renew_time: Some(now),
            ..LeaseSpec::default()
        });
        let params = PostParams::default();
        let replaced = self.api.replace(&self.config.name, &params, &lease);
        self.stored = Some(response(self.durations(), replaced).await?);
        Ok(())
    }

    /// Writes this process as the holder; returns the instant at which the request was sent.
    async fn write(&mut self) -> Result<Instant, LeaseError> {
        let (sent_at, sent_at_since_boot) = (Instant::now(), self.deadline.now());
        let params = PostParams::default();
        let written = match &self.stored {
            Some(stored) => {
                // The resourceVersion rejects the write if the lease has changed; the uid keeps an update from creating it.
                let lease = Lease { spec: Some(self.record(Some(stored))), ..stored.clone() };
                response(self.durations(), self.api.replace(&self.config.name, &params, &lease)).await?
            }
            None => {
                let metadata = ObjectMeta { name: Some(self.config.name.clone()), ..ObjectMeta::default() };
                let lease = Lease { metadata, spec: Some(self.record(None)) };
                response(self.durations(), self.api.create(&params, &lease)).await?
            }
        };
        self.stored = Some(written);
        self.deadline.renewed(sent_at_since_boot, self.durations().renew_deadline());
        Ok(sent_at)
    }

    fn record(&self, stored: Option<&Lease>) -> LeaseSpec {
        let now = MicroTime(self.clock.now());
        let (acquire_time, transitions) = match stored {
            None => (None, Some(0)),
            Some(lease) if self.is_held() => {
                (lease.spec.as_ref().and_then(|spec| spec.acquire_time.clone()), transitions(lease))
            }
            Some(lease) => (None, transitions(lease).map(|count| count.saturating_add(1))),
        };
        LeaseSpec {
            holder_identity: Some(self.config.identity.clone()),
            lease_duration_seconds: Some(self.durations().seconds()),
            lease_transitions: transitions,
            acquire_time: Some(acquire_time.unwrap_or_else(|| now.clone())),
            renew_time: Some(now),
            ..LeaseSpec::default()
        }
    }

    async fn read(&mut self) -> Result<(), LeaseError> {
        self.stored = response(self.durations(), self.api.get_opt(&self.config.name)).await?;
        let record = self.stored.as_ref().map(|lease| lease.spec.clone().unwrap_or_default());
        if self.observed.as_ref().is_none_or(|observed| observed.record != record) {
            let valid_for = self.valid_for(record.as_ref());
            self.observed = Some(ObservedRecord { record, since: Instant::now(), valid_for });
        }
        Ok(())
    }

    /// How long a record that has just appeared must be honoured. The holder of a deleted lease creates it again and leads
    /// meanwhile; a lease that never existed has no holder.
    fn valid_for(&self, record: Option<&LeaseSpec>) -> Duration {
        let own = self.durations().lease_duration();
        let Some(record) = record else {
            return self.observed.as_ref().map_or(Duration::ZERO, |observed| observed.valid_for.max(own));
        };
        match (record.holder_identity.as_deref(), record.lease_duration_seconds.map(u64::try_from)) {
            (None | Some(""), _) => Duration::ZERO,
            (Some(_), Some(Ok(seconds @ 1..))) => Duration::from_secs(seconds),
            (Some(_), Some(Ok(0) | Err(_)) | None) => own,
        }
    }

    /// The holder of a record that is still valid.
    fn other_holder(&self) -> Option<String> {
        let is_valid = |observed: &&ObservedRecord| observed.since.elapsed() < observed.valid_for;
        let observed = self.observed.as_ref().filter(is_valid)?;
        Some(match &observed.record {
            Some(record) => record.holder_identity.clone().unwrap_or_default(),
            None => "the holder of the deleted lease".to_owned(),
        })
    }

    fn is_held(&self) -> bool {
        self.stored.as_ref().is_some_and(|lease| holder(lease) == self.config.identity)
    }
}

fn holder(lease: &Lease) -> &str {
    lease.spec.as_ref().and_then(|spec| spec.holder_identity.as_deref()).unwrap_or_default()
}

fn transitions(lease: &Lease) -> Option<i32> {
    Some(lease.spec.as_ref().and_then(|spec| spec.lease_transitions).unwrap_or(0))
}

async fn response<T>(
    durations: LeaseDurations,
    call: impl Future<Output = Result<T, Error>>,
) -> Result<T, LeaseError> {
    match timeout(durations.response_timeout(), call).await {
        Ok(answer) => answer.map_err(|error| LeaseError::Request(Arc::new(error))),
        Err(_) => Err(LeaseError::NoResponse(durations.response_timeout())),
    }
}
