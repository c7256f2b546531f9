//! The lease: what is stored about who leads, and for how long another one must be believed to.
//!
//! As v1.36 client-go `leaderelection.go` and `leaselock.go`, but for a lease that was deleted: here that one, too, holds for
//! its duration.

use crate::answer::told;
use crate::args::Args;
use crate::clock::Clock;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use kube::api::{Api, PostParams};
use kube::{Client, Error};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// How long what lasts: client-go's 15, 10 and 2 seconds, or the same shares of another duration.
#[derive(Debug, Clone, Copy)]
pub struct Terms(u64);

impl Terms {
    /// Others wait so long since they last saw the lease change.
    #[must_use]
    pub fn duration(self) -> Duration {
        Duration::from_secs(self.0)
    }

    /// A holder stops so long after it began to send what was its last success.
    #[must_use]
    pub fn renew_deadline(self) -> Duration {
        self.duration() * 2 / 3
    }

    /// From one attempt to the next.
    #[must_use]
    pub fn retry_period(self) -> Duration {
        self.duration() * 2 / 15
    }

    /// One answer is waited for so long: a second request must have its chance before the deadline.
    fn patience(self) -> Duration {
        self.renew_deadline() / 2
    }
}

/// What an attempt to get or to keep the lease has shown.
#[derive(Debug)]
pub enum Attempt {
    /// It is ours, by a write that was begun then. Whoever sees the write sees it later.
    Ours(Instant),
    /// It is not ours, and whose it is.
    Theirs(String),
    /// Nobody knows, and why.
    Failed(String),
}

/// What was last seen of others, and since when: their timestamps are of other clocks, and tell nothing.
struct Seen {
    /// None: there was no lease.
    record: Option<LeaseSpec>,
    since: Instant,
    holds: Duration,
}

/// A lease that this process wants, or has.
pub struct Lock {
    api: Api<Lease>,
    /// Namespace and name.
    pub lease: String,
    name: String,
    /// Who this process is; seen in `kubectl get lease`.
    pub identity: String,
    /// How long what lasts.
    pub terms: Terms,
    clock: Clock,
    /// As last read or written.
    stored: Option<Lease>,
    seen: Option<Seen>,
}

/// An answer that is no success.
struct Trouble {
    code: u16,
    text: String,
}

impl Lock {
    /// Nothing is sent yet.
    #[must_use]
    pub fn new(client: Client, clock: Clock, args: &Args) -> Self {
        Lock {
            api: Api::namespaced(client, &args.lease_namespace),
            lease: format!("{}/{}", args.lease_namespace, args.lease_name),
            name: args.lease_name.clone(),
            identity: format!("{}_{:016x}", hostname(), RandomState::new().build_hasher().finish()),
            terms: Terms(args.lease_seconds),
            clock,
            stored: None,
            seen: None,
        }
    }

    /// Takes the lease when nobody has it. v1.36 `tryAcquireOrRenew`.
    pub async fn acquire(&mut self) -> Attempt {
        if let Err(trouble) = self.read().await {
            return Attempt::Failed(trouble.text);
        }
        // Ours already: the answer to an attempt was lost.
        if !self.is_ours()
            && let Some(holder) = self.held_by_another()
        {
            return Attempt::Theirs(holder);
        }
        match self.write().await {
            Ok(begun) => Attempt::Ours(begun),
            Err(Trouble { code: 409, .. }) => Attempt::Theirs("another one that was faster".to_owned()),
            Err(trouble) => Attempt::Failed(trouble.text),
        }
    }

    /// Keeps the lease; one that was deleted is made anew.
    pub async fn renew(&mut self) -> Attempt {
        let first = match self.write().await {
            Ok(begun) => return Attempt::Ours(begun),
            Err(trouble) => trouble,
        };
        // Whatever went wrong: another one may have it.
        if self.read().await.is_err() {
            return Attempt::Failed(first.text);
        }
        match &self.stored {
            Some(lease) if !self.is_ours() => Attempt::Theirs(holder(lease).to_owned()),
            // What was changed is not who leads, or the lease is gone.
            Some(_) | None if matches!(first.code, 404 | 409) => match self.write().await {
                Ok(begun) => Attempt::Ours(begun),
                Err(trouble) => Attempt::Failed(trouble.text),
            },
            Some(_) | None => Attempt::Failed(first.text),
        }
    }

    /// Gives the lease back, if it is still ours. v1.36 `release`.
    ///
    /// # Errors
    /// When that can't be told to the API server within the renew deadline: the others wait for the end of the lease.
    pub async fn release(&mut self) -> Result<(), String> {
        let mut last = "no answer".to_owned();
        let retry = self.terms.retry_period();
        let released = timeout(self.terms.renew_deadline(), async {
            while let Err(trouble) = self.give_back().await {
                last = trouble.text;
                sleep(retry).await;
            }
        });
        released.await.map_err(|_| last)
    }

    async fn give_back(&mut self) -> Result<(), Trouble> {
        self.read().await?;
        let Some(mut lease) = self.stored.clone().filter(|_| self.is_ours()) else { return Ok(()) };
        let now = MicroTime(self.clock.now());
        lease.spec = Some(LeaseSpec {
            holder_identity: Some(String::new()),
            lease_duration_seconds: Some(1),
            lease_transitions: transitions(&lease),
            acquire_time: Some(now.clone()),
            renew_time: Some(now),
            ..LeaseSpec::default()
        });
        let ask = PostParams::default();
        self.stored = Some(answered(self.terms, self.api.replace(&self.name, &ask, &lease)).await?);
        Ok(())
    }

    /// Writes that it is ours, and tells when that was begun.
    async fn write(&mut self) -> Result<Instant, Trouble> {
        let begun = Instant::now();
        let ask = PostParams::default();
        let written = match &self.stored {
            Some(stored) => {
                // With the resourceVersion: nobody has changed it since. With the uid: it is not made by an update.
                let lease = Lease { spec: Some(self.record(Some(stored))), ..stored.clone() };
                answered(self.terms, self.api.replace(&self.name, &ask, &lease)).await?
            }
            None => {
                let metadata = ObjectMeta { name: Some(self.name.clone()), ..ObjectMeta::default() };
                let lease = Lease { metadata, spec: Some(self.record(None)) };
                answered(self.terms, self.api.create(&ask, &lease)).await?
            }
        };
        self.stored = Some(written);
        Ok(begun)
    }

    fn record(&self, stored: Option<&Lease>) -> LeaseSpec {
        let now = MicroTime(self.clock.now());
        let (acquired, transitions) = match stored {
            None => (None, Some(0)),
            Some(lease) if self.is_ours() => {
                (lease.spec.as_ref().and_then(|spec| spec.acquire_time.clone()), transitions(lease))
            }
            Some(lease) => (None, transitions(lease).map(|count| count.saturating_add(1))),
        };
        LeaseSpec {
            holder_identity: Some(self.identity.clone()),
            lease_duration_seconds: Some(i32::try_from(self.terms.0).unwrap_or(i32::MAX)),
            lease_transitions: transitions,
            acquire_time: Some(acquired.unwrap_or_else(|| now.clone())),
            renew_time: Some(now),
            ..LeaseSpec::default()
        }
    }

    async fn read(&mut self) -> Result<(), Trouble> {
        self.stored = answered(self.terms, self.api.get_opt(&self.name)).await?;
        let record = self.stored.as_ref().map(|lease| lease.spec.clone().unwrap_or_default());
        if self.seen.as_ref().is_none_or(|seen| seen.record != record) {
            let holds = self.holds(record.as_ref());
            self.seen = Some(Seen { record, since: Instant::now(), holds });
        }
        Ok(())
    }

    /// How long a record that has just appeared is believed. A lease that is gone is made anew by its holder, which leads
    /// meanwhile; one that never was is nobody's.
    fn holds(&self, record: Option<&LeaseSpec>) -> Duration {
        let own = self.terms.duration();
        let Some(record) = record else {
            return self.seen.as_ref().map_or(Duration::ZERO, |seen| seen.holds.max(own));
        };
        match (record.holder_identity.as_deref(), record.lease_duration_seconds.map(u64::try_from)) {
            (None | Some(""), _) => Duration::ZERO,
            (Some(_), Some(Ok(seconds @ 1..))) => Duration::from_secs(seconds),
            (Some(_), Some(Ok(0) | Err(_)) | None) => own,
        }
    }

    fn held_by_another(&self) -> Option<String> {
        let seen = self.seen.as_ref().filter(|seen| seen.since.elapsed() < seen.holds)?;
        Some(match &seen.record {
            Some(record) => record.holder_identity.clone().unwrap_or_default(),
            None => "the holder of the lease that was deleted".to_owned(),
        })
    }

    fn is_ours(&self) -> bool {
        self.stored.as_ref().is_some_and(|lease| holder(lease) == self.identity)
    }
}

fn holder(lease: &Lease) -> &str {
    lease.spec.as_ref().and_then(|spec| spec.holder_identity.as_deref()).unwrap_or_default()
}

fn transitions(lease: &Lease) -> Option<i32> {
    Some(lease.spec.as_ref().and_then(|spec| spec.lease_transitions).unwrap_or(0))
}

async fn answered<T>(terms: Terms, call: impl Future<Output = Result<T, Error>>) -> Result<T, Trouble> {
    match timeout(terms.patience(), call).await {
        Ok(Ok(object)) => Ok(object),
        Ok(Err(Error::Api(status))) => Err(Trouble { code: status.code, text: status.message }),
        Ok(Err(error)) => Err(Trouble { code: 0, text: told(&error) }),
        Err(_) => Err(Trouble { code: 0, text: format!("no answer within {:?}", terms.patience()) }),
    }
}

/// The pod's name, or the machine's.
fn hostname() -> String {
    let named = std::env::var("HOSTNAME").ok().or_else(|| std::fs::read_to_string("/etc/hostname").ok());
    let named = named.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    named.unwrap_or_else(|| "daemonset-controller".to_owned())
}
