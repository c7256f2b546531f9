//! A watch of objects that only some policies need: it begins when it is first asked for, and the controller does without it where it
//! lacks the right.

use crate::response::error_chain;
use crate::tasks::Tasks;
use crate::watches::{PAGE_SIZE, WATCH_SECONDS, WatchBackoff, is_forbidden};
use futures::StreamExt;
use kube::runtime::watcher;
use kube::runtime::watcher::{Config, Error as WatchError, Event};
use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

/// A first list that fails for a shorter time is awaited: to go on without it has a price, and each API server that starts answers with a
/// few errors.
const PATIENCE: Duration = Duration::from_secs(60);
/// An API server that starts refuses until it has read its RBAC rules. After this time a refusal is meant, also where the objects could be
/// read before: a right was taken away, and nobody knows whether they are still so.
const PATIENCE_WHEN_REFUSED: Duration = Duration::from_secs(20);

/// What is known of the watched objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reading<T> {
    /// They are not listed yet.
    NotYet,
    /// They can't be read, for this reason.
    Unreadable(String),
    /// As the watch has shown them last.
    Read(T),
}

impl<T> Reading<T> {
    pub(crate) fn map<U>(self, to: impl FnOnce(T) -> U) -> Reading<U> {
        match self {
            Reading::NotYet => Reading::NotYet,
            Reading::Unreadable(reason) => Reading::Unreadable(reason),
            Reading::Read(value) => Reading::Read(to(value)),
        }
    }
}

/// Takes the events of the watched objects.
pub(crate) trait Sink<K>: Send + Sync + 'static {
    /// Takes an event; [`Event::InitDone`] ends a list.
    fn take(&self, event: Event<K>);

    /// What [`SideWatch::ask`] says has changed: the objects are listed, or can't be read.
    fn reading_changed(&self);
}

/// A watch; clones are the same one.
pub(crate) struct SideWatch<K> {
    /// The objects in the words of the log.
    objects: &'static str,
    reading: Arc<Mutex<Reading<()>>>,
    /// Lets the watch begin.
    asked: Arc<Notify>,
    sink: Arc<dyn Sink<K>>,
}

impl<K> Clone for SideWatch<K> {
    fn clone(&self) -> Self {
        SideWatch {
            objects: self.objects,
            reading: Arc::clone(&self.reading),
            asked: Arc::clone(&self.asked),
            sink: Arc::clone(&self.sink),
        }
    }
}

impl<K> SideWatch<K>
where
    K: Resource<DynamicType = ()> + DeserializeOwned + Clone + Debug + Send + 'static,
{
    pub(crate) fn new(objects: &'static str, sink: Arc<dyn Sink<K>>) -> Self {
        SideWatch { objects, reading: Arc::new(Mutex::new(Reading::NotYet)), asked: Arc::default(), sink }
    }

    /// Lets the watch begin, once it is asked for.
    pub(crate) fn connect(&self, client: &Client, tasks: &Tasks) {
        tasks.spawn("watch for a policy", self.clone().follow(client.clone()));
    }

    /// Whether the objects are listed. The first call lets the watch begin.
    pub(crate) fn ask(&self) -> Reading<()> {
        self.asked.notify_one();
        self.reading().clone()
    }

    async fn follow(self, client: Client) {
        self.asked.notified().await;
        tracing::info!("a policy asks for {}: their watch begins", self.objects);
        let (mut backoff, mut failing) = (WatchBackoff::default(), FailingSideWatch::default());
        loop {
            let config = Config::default().timeout(WATCH_SECONDS).page_size(PAGE_SIZE);
            let mut events = pin!(watcher(Api::<K>::all(client.clone()), config));
            while let Some(event) = events.next().await {
                match event {
                    Ok(event) => {
                        backoff.succeeded(&event);
                        // The begin of a list is no success yet.
                        if !matches!(event, Event::Init) {
                            failing = FailingSideWatch::default();
                        }
                        let is_listed = matches!(event, Event::InitDone);
                        self.sink.take(event);
                        if is_listed {
                            *self.reading() = Reading::Read(());
                            self.sink.reading_changed();
                        }
                    }
                    Err(error) => {
                        let is_over = self.note_failure(&error, &mut failing);
                        sleep(backoff.next_delay()).await;
                        if is_over {
                            // Only a list tells that the objects can be read again: a watch that goes on may be silent.
                            break;
                        }
                    }
                }
            }
        }
    }

    /// Notes a failure of the watch. One that is interrupted goes on with what it has shown. Returns whether what it has shown counts no
    /// more.
    fn note_failure(&self, error: &WatchError, failing: &mut FailingSideWatch) -> bool {
        let is_refused = is_forbidden(error);
        let error = error_chain(error);
        let mut reading = self.reading();
        let was_read = *reading == Reading::Read(());
        let is_unreadable = failing.for_long(is_refused, was_read);
        let unreadable = Reading::Unreadable(error.clone());
        if !is_unreadable || *reading == unreadable {
            tracing::debug!(error, "{} can't be read for now", self.objects);
            return false;
        }
        tracing::warn!(error, "{} can't be read", self.objects);
        *reading = unreadable;
        drop(reading);
        self.sink.reading_changed();
        was_read
    }

    fn reading(&self) -> MutexGuard<'_, Reading<()>> {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long a watch fails.
#[derive(Debug, Default)]
struct FailingSideWatch {
    since: Option<Instant>,
    refused_since: Option<Instant>,
}

impl FailingSideWatch {
    /// A failure comes now: whether it lasts for so long that the objects count as unreadable. Those that were read before do so only
    /// where they are refused.
    fn for_long(&mut self, is_refused: bool, was_read: bool) -> bool {
        let now = Instant::now();
        let age = |since: &mut Option<Instant>| now - *since.get_or_insert(now);
        let is_refused_for_long = is_refused && age(&mut self.refused_since) >= PATIENCE_WHEN_REFUSED;
        is_refused_for_long || (age(&mut self.since) >= PATIENCE && !was_read)
    }
}

/// Makes a part of an object a resource of the whole object's kind.
macro_rules! resource_of {
    ($part:ty, $whole:ty) => {
        impl kube::Resource for $part {
            type DynamicType = ();
            type Scope = <$whole as kube::Resource>::Scope;

            fn kind((): &()) -> std::borrow::Cow<'_, str> {
                <$whole as kube::Resource>::kind(&())
            }

            fn group((): &()) -> std::borrow::Cow<'_, str> {
                <$whole as kube::Resource>::group(&())
            }

            fn version((): &()) -> std::borrow::Cow<'_, str> {
                <$whole as kube::Resource>::version(&())
            }

            fn plural((): &()) -> std::borrow::Cow<'_, str> {
                <$whole as kube::Resource>::plural(&())
            }

            fn meta(&self) -> &kube::core::ObjectMeta {
                &self.metadata
            }

            fn meta_mut(&mut self) -> &mut kube::core::ObjectMeta {
                &mut self.metadata
            }
        }
    };
}
pub(crate) use resource_of;
