//! The lease object: who leads, and how long the other processes must honour that.
//!
//! As v1.36 client-go `leaderelection.go` and `leaselock.go`, with one difference: a lease that was deleted still counts for
//! its duration.

use crate::args::Args;
use crate::clock::Clock;
use crate::connection::Connection;
use crate::renew_deadline::RenewDeadline;
use crate::response::error_chain;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use kube::api::{Api, PostParams};
use kube::{Client, Error};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// The durations of leader election: client-go's 15, 10 and 2 seconds, or the same shares of another lease duration.
#[derive(Debug, Clone, Copy)]
pub struct LeaseConfig {
    lease_seconds: u64,
}

impl LeaseConfig {
    /// How long other processes wait after they last saw the lease change.
    #[must_use]
    pub fn lease_duration(self) -> Duration {
        Duration::from_secs(self.lease_seconds)
    }

    /// How long a leader may act after it began to send its last successful renewal.
    #[must_use]
    pub fn renew_deadline(self) -> Duration {
        self.lease_duration() * 2 / 3
    }

    /// How long a leader may be without one of its watches before it gives the lease up.
    #[must_use]
    pub fn watch_deadline(self) -> Duration {
        self.lease_duration() * 4
    }

    /// The time from one attempt to the next.
    #[must_use]
    pub fn retry_period(self) -> Duration {
        self.lease_duration() * 2 / 15
    }

    /// How long one response is awaited: short enough for a second request before the deadline.
    fn response_timeout(self) -> Duration {
        self.renew_deadline() / 2
    }
}

/// The result of one attempt to acquire or to renew the lease.
#[derive(Debug)]
pub enum Attempt {
    /// This process holds the lease.
    Held {
        /// When the successful write began: no other process can see that write earlier.
        sent_at: Instant,
    },
    /// Another process holds the lease; its identity.
    HeldByOther(String),
    /// The holder is unknown; the error.
    Failed(String),
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
pub struct LeaseLock {
    api: Api<Lease>,
    /// Namespace and name.
    pub lease: String,
    name: String,
    /// The identity of this process, as `kubectl get lease` shows it.
    pub identity: String,
    /// The durations of leader election.
    pub config: LeaseConfig,
    clock: Clock,
    /// The deadline that each renewal moves.
    pub deadline: RenewDeadline,
    /// The connection that the requests use.
    pub connection: Connection,
    /// The object as last read or written.
    stored: Option<Lease>,
    observed: Option<ObservedRecord>,
}

/// A request for the lease that failed; code 0 where the API server did not respond.
struct LeaseError {
    code: u16,
    message: String,
}

impl LeaseLock {
    /// A lock that has sent nothing yet.
    #[must_use]
    pub fn new(
        client: Client,
        clock: Clock,
        deadline: RenewDeadline,
        connection: Connection,
        args: &Args,
    ) -> Self {
        LeaseLock {
            api: Api::namespaced(client, &args.lease_namespace),
            lease: format!("{}/{}", args.lease_namespace, args.lease_name),
            name: args.lease_name.clone(),
            identity: format!("{}_{:016x}", hostname(), RandomState::new().build_hasher().finish()),
            config: LeaseConfig { lease_seconds: args.lease_seconds },
            clock,
            deadline,
            connection,
            stored: None,
            observed: None,
        }
    }

    /// Takes the lease if no other process holds it. v1.36 `tryAcquireOrRenew`.
    pub async fn acquire(&mut self) -> Attempt {
        if let Err(error) = self.read().await {
            return Attempt::Failed(error.message);
        }
        // The lease is already ours if only the response to an earlier attempt was lost.
        if !self.is_held()
            && let Some(holder) = self.other_holder()
        {
            return Attempt::HeldByOther(holder);
        }
        match self.write().await {
            Ok(sent_at) => Attempt::Held { sent_at },
            Err(LeaseError { code: 409, .. }) => Attempt::HeldByOther("a process that was faster".to_owned()),
            Err(error) => Attempt::Failed(error.message),
        }
    }

    /// Renews the lease; creates it again if it was deleted.
    pub async fn renew(&mut self) -> Attempt {
        let first_error = match self.write().await {
            Ok(sent_at) => return Attempt::Held { sent_at },
            Err(error) => error,
        };
        // After any error, another process may hold the lease.
        if self.read().await.is_err() {
            return Attempt::Failed(first_error.message);
        }
        match &self.stored {
            Some(lease) if !self.is_held() => Attempt::HeldByOther(holder(lease).to_owned()),
            // Another field changed, or the lease is gone: this process still leads.
            Some(_) | None if matches!(first_error.code, 404 | 409) => match self.write().await {
                Ok(sent_at) => Attempt::Held { sent_at },
                Err(error) => Attempt::Failed(error.message),
            },
            Some(_) | None => Attempt::Failed(first_error.message),
        }
    }

    /// Gives the lease back if this process still holds it. v1.36 `release`.
    ///
    /// # Errors
    /// When no request succeeds within the renew deadline: the other processes then wait until the lease expires.
    pub async fn release(&mut self) -> Result<(), String> {
        let mut last_error = "no response".to_owned();
        let retry_period = self.config.retry_period();
        let released = timeout(self.config.renew_deadline(), async {
            while let Err(error) = self.write_released().await {
                last_error = error.message;
                sleep(retry_period).await;
            }
        });
        released.await.map_err(|_| last_error)
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
        let replaced = self.api.replace(&self.name, &params, &lease);
        self.stored = Some(response(self.config, replaced).await?);
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
                response(self.config, self.api.replace(&self.name, &params, &lease)).await?
            }
            None => {
                let metadata = ObjectMeta { name: Some(self.name.clone()), ..ObjectMeta::default() };
                let lease = Lease { metadata, spec: Some(self.record(None)) };
                response(self.config, self.api.create(&params, &lease)).await?
            }
        };
        self.stored = Some(written);
        self.deadline.renewed(sent_at_since_boot, self.config.renew_deadline());
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
            holder_identity: Some(self.identity.clone()),
            lease_duration_seconds: Some(i32::try_from(self.config.lease_seconds).unwrap_or(i32::MAX)),
            lease_transitions: transitions,
            acquire_time: Some(acquire_time.unwrap_or_else(|| now.clone())),
            renew_time: Some(now),
            ..LeaseSpec::default()
        }
    }

    async fn read(&mut self) -> Result<(), LeaseError> {
        self.stored = response(self.config, self.api.get_opt(&self.name)).await?;
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
        let own = self.config.lease_duration();
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
        self.stored.as_ref().is_some_and(|lease| holder(lease) == self.identity)
    }
}

fn holder(lease: &Lease) -> &str {
    lease.spec.as_ref().and_then(|spec| spec.holder_identity.as_deref()).unwrap_or_default()
}

fn transitions(lease: &Lease) -> Option<i32> {
    Some(lease.spec.as_ref().and_then(|spec| spec.lease_transitions).unwrap_or(0))
}

async fn response<T>(
    config: LeaseConfig,
    call: impl Future<Output = Result<T, Error>>,
) -> Result<T, LeaseError> {
    match timeout(config.response_timeout(), call).await {
        Ok(Ok(object)) => Ok(object),
        Ok(Err(Error::Api(status))) => Err(LeaseError { code: status.code, message: status.message }),
        Ok(Err(error)) => Err(LeaseError { code: 0, message: error_chain(&error) }),
        Err(_) => {
            let message = format!("no response within {:?}", config.response_timeout());
            Err(LeaseError { code: 0, message })
        }
    }
}

/// The name of the pod, or of the machine.
fn hostname() -> String {
    let name = std::env::var("HOSTNAME").ok().or_else(|| std::fs::read_to_string("/etc/hostname").ok());
    let name = name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    name.unwrap_or_else(|| "daemonset-controller".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `kubectl get lease` shows the machine that leads.
    #[test]
    fn the_identity_begins_with_the_name_of_the_pod_or_of_the_machine() {
        let name = hostname();
        assert_eq!(name, name.trim());
        let files = ["/etc/hostname", "/proc/sys/kernel/hostname"];
        let of_machine = files.into_iter().filter_map(|file| std::fs::read_to_string(file).ok());
        let mut known: Vec<String> = of_machine.map(|name| name.trim().to_owned()).collect();
        known.extend(std::env::var("HOSTNAME"));
        known.retain(|name| !name.is_empty());
        assert!(known.is_empty() || known.contains(&name), "{name} is not among {known:?}");
    }

    /// v1.36 `component-base/config/v1alpha1/defaults.go RecommendedDefaultLeaderElectionConfiguration`.
    #[test]
    fn fifteen_seconds_give_the_durations_of_client_go() {
        let config = LeaseConfig { lease_seconds: 15 };
        assert_eq!(config.lease_duration(), Duration::from_secs(15));
        assert_eq!(config.renew_deadline(), Duration::from_secs(10));
        assert_eq!(config.retry_period(), Duration::from_secs(2));
        assert_eq!(config.response_timeout(), Duration::from_secs(5), "two requests fit before the deadline");
        assert_eq!(config.watch_deadline(), Duration::from_secs(60));
    }
}
