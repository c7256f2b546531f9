//! The watches: they fill the caches, pass each change to the event mapper, and start again after every error.

use crate::caches::CacheWriters;
use crate::comparison::Comparison;
use crate::comparison::watch_events::{self, ComparedObject};
use crate::connection::Connection;
use crate::event_mapper::{EventMapper, WatchedObject};
use crate::response::error_chain;
use crate::tasks::Tasks;
use crate::watch_health::LogAs;
pub(crate) use daemonset_executor::internal::PAGE_SIZE;
use daemonset_executor::internal::{FromJson, Tolerant};
use futures::future::ready;
use futures::{StreamExt, TryStreamExt};
use kube::runtime::reflector::ObjectRef;
use kube::runtime::reflector::store::Writer;
use kube::runtime::watcher;
use kube::runtime::watcher::Error as WatchError;
use kube::runtime::watcher::{Config, Event};
use kube::{Api, Client, Resource};
use std::fmt::Debug;
use std::mem::take;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::yield_now;
use tokio::time::{Instant, sleep};

/// The API server ends a watch after this time, and the watcher gives a silent one up 5 s later: a connection that is half open
/// is noticed within a minute. A watch that has nothing to tell is silent for a minute, the time between two bookmarks.
pub(crate) const WATCH_SECONDS: u32 = 50;

/// Which objects are watched.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// One namespace; `None` for all.
    pub namespace: Option<String>,
    /// A label selector for DaemonSets.
    pub selector: Option<String>,
}

/// The watches of all four kinds.
#[derive(Clone)]
pub struct Watches {
    mapper: EventMapper,
    /// It needs every change.
    comparison: Option<Arc<dyn Comparison>>,
    connection: Connection,
}

impl Watches {
    /// Watches that have not started.
    pub fn new(mapper: EventMapper, comparison: Option<Arc<dyn Comparison>>, connection: Connection) -> Self {
        Watches { mapper, comparison, connection }
    }

    /// Starts one task for each kind, which lists and then watches.
    ///
    /// The lists are read from storage, not from the API server's watch cache, which may lag: they contain every earlier write
    /// of this process and of the one before it.
    pub fn start(self, writers: CacheWriters, client: &Client, scope: &Scope, tasks: &Tasks) {
        let all = Config::default().timeout(WATCH_SECONDS).page_size(PAGE_SIZE);
        let selected = Config { label_selector: scope.selector.clone(), ..all.clone() };
        let follow = self.clone().follow(apis(client, scope), selected, writers.daemon_sets);
        tasks.spawn("watch of daemonsets", follow);
        let follow = self.clone().follow(apis(client, scope), all.clone(), writers.pods);
        let wants = self.mapper.caches().wants.clone();
        tasks.spawn("watch of pods", async move {
            wants.wait_until_known().await;
            follow.await;
        });
        let follow = self.clone().follow(apis_of_all(client), all.clone(), writers.nodes);
        tasks.spawn("watch of nodes", follow);
        let follow = self.follow(apis(client, scope), all, writers.revisions);
        tasks.spawn("watch of controllerrevisions", follow);
    }

    /// Follows one kind for as long as the process lives.
    async fn follow<K>(self, (api, tolerant): Apis<K>, config: Config, mut writer: Writer<K>)
    where
        K: WatchedObject + ComparedObject + FromJson,
        K: Clone + Debug + Send + Sync + 'static,
    {
        let (mut backoff, mut busy) = (WatchBackoff::default(), Duration::ZERO);
        // To be tolerant takes a second look at each text: only where a tenant can write any text, and once a text was at fault.
        let mut is_tolerant = K::HAS_TEXT_OF_TENANTS;
        loop {
            let events = match is_tolerant {
                true => watcher(tolerant.clone(), config.clone()).map_ok(plain).left_stream(),
                false => watcher(api.clone(), config.clone()).right_stream(),
            };
            // The start of a list is no success yet: it must not reset the back-off.
            let events = events.try_filter(|event| ready(!matches!(event, Event::Init)));
            let mut events = pin!(events);
            while let Some(event) = events.next().await {
                match event {
                    Ok(mut event) => {
                        let start = Instant::now();
                        if let Event::Apply(object) | Event::Delete(object) | Event::InitApply(object) =
                            &mut event
                        {
                            object.make_lean(&self.mapper.caches().wants);
                        }
                        backoff.succeeded(&event);
                        self.take_event(&mut writer, &event);
                        busy += start.elapsed();
                        if busy > LONGEST_TURN {
                            busy = Duration::ZERO;
                            yield_now().await;
                        }
                    }
                    Err(error) => {
                        let (log_as, delay) = self.judge(&error, &mut backoff);
                        self.connection.watches.failed(&K::plural(&()), error_chain(&error), log_as);
                        // The next list starts from its first page: drop the pages of the list that failed.
                        writer.apply_watcher_event(&Event::Init);
                        sleep(delay.max(self.connection.watches.take_retry_after(&K::plural(&())))).await;
                        if is_undecodable(&error) {
                            // The watcher would go on without the change. Another one begins with a list, which has it.
                            is_tolerant = true;
                            break;
                        }
                    }
                }
            }
        }
    }

    /// Puts an event into the cache, and the DaemonSets that it concerns into the queue.
    fn take_event<K>(&self, writer: &mut Writer<K>, event: &Event<K>)
    where
        K: WatchedObject + ComparedObject + Resource<DynamicType = ()> + Clone + 'static,
    {
        let listed_before = match event {
            Event::InitDone => writer.as_reader().state(),
            Event::Init | Event::InitApply(_) | Event::Apply(_) | Event::Delete(_) => Vec::new(),
        };
        let before = self.update_cache(writer, event);
        K::note(event, self.mapper.caches());
        match event {
            Event::Apply(object) => self.mapper.applied(before.as_deref(), object),
            Event::Delete(object) => self.mapper.deleted(before.as_deref(), object),
            Event::InitDone => {
                self.connection.watches.works(&K::plural(&()));
                // The list contains the changes that happened while there was no watch, and lacks the DaemonSets that left
                // meanwhile.
                K::enqueue_listed_before(&listed_before, &self.mapper);
                self.mapper.enqueue_all();
            }
            Event::Init | Event::InitApply(_) => {}
        }
    }

    /// How a failure of a list or a watch is logged, and the delay until the next attempt.
    fn judge(&self, error: &WatchError, backoff: &mut WatchBackoff) -> (LogAs, Duration) {
        if self.connection.is_unreachable() {
            backoff.is_outage = true;
            return (LogAs::Outage, backoff.next_delay());
        }
        if take(&mut backoff.is_outage) {
            // The API server is back: the attempts without a connection no longer count.
            backoff.failures = 0;
        }
        match error {
            error if is_undecodable(error) => (LogAs::Failure, backoff.next_delay_of_undecodable()),
            WatchError::WatchFailed(_) => {
                self.connection.interrupted();
                (LogAs::Routine, backoff.next_delay())
            }
            // The history is compacted, or the API server has started again: a list comes next.
            WatchError::WatchError(status) if status.code == 410 => (LogAs::Routine, backoff.next_delay()),
            error if is_forbidden(error) && self.connection.may_be_starting() => {
                (LogAs::Outage, RETRY_WHILE_STARTING)
            }
            _ => (LogAs::Failure, backoff.next_delay()),
        }
    }

    /// Applies an event to the cache and to the comparison; returns the object as it was before.
    fn update_cache<K>(&self, writer: &mut Writer<K>, event: &Event<K>) -> Option<Arc<K>>
    where
        K: WatchedObject + ComparedObject + Resource<DynamicType = ()> + Clone + 'static,
    {
        let log = &self.mapper.caches().change_log;
        let store = writer.as_reader();
        let before = match event {
            Event::Apply(object) | Event::Delete(object) => store.get(&ObjectRef::from_obj(object)),
            Event::Init | Event::InitApply(_) | Event::InitDone => None,
        };
        let write = |writer: &mut Writer<K>| match event {
            Event::Apply(object) | Event::Delete(object) => {
                let after = matches!(event, Event::Apply(_)).then_some(object);
                let changed = || K::as_changed(before.as_deref(), object, after, self.mapper.caches());
                log.add(changed, || writer.apply_watcher_event(event));
            }
            Event::InitDone => log.replace(|| writer.apply_watcher_event(event)),
            // The pages of a list are not in the cache yet.
            Event::Init | Event::InitApply(_) => writer.apply_watcher_event(event),
        };
        let Some(comparison) = self.comparison.as_deref() else {
            write(writer);
            return before;
        };
        watch_events::compare_event(comparison, event, before.as_ref());
        // The first list is the state at the start of the comparison; only later lists contain changes.
        let is_relist = matches!(event, Event::InitDone) && self.mapper.caches().are_filled();
        let previous = is_relist.then(|| store.state());
        write(writer);
        if let Some(previous) = previous {
            watch_events::compare_lists(comparison, &previous, &store.state());
        }
        before
    }
}

/// The objects of one kind, to be read as a whole and in part.
type Apis<K> = (Api<K>, Api<Tolerant<K>>);

fn apis<K>(client: &Client, scope: &Scope) -> Apis<K>
where
    K: Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>,
{
    let namespaced = |namespace: &String| {
        (Api::namespaced(client.clone(), namespace), Api::namespaced(client.clone(), namespace))
    };
    scope.namespace.as_ref().map_or_else(|| apis_of_all(client), namespaced)
}

fn apis_of_all<K: Resource<DynamicType = ()>>(client: &Client) -> Apis<K> {
    (Api::all(client.clone()), Api::all(client.clone()))
}

/// The delay before a failed watch starts again (client-go `reflector.go`). Its longest delay of 30 s is shorter here: the
/// caches should be right soon after an API server is back.
#[derive(Debug, Default)]
pub(crate) struct WatchBackoff {
    failures: u32,
    /// Lists and lines of watches that could not be decoded, since the last line that could.
    undecodable: u32,
    /// Whether the last attempt found no server.
    is_outage: bool,
}

/// How long a watch maps changes before the other tasks have their turn. Many changes may wait, and each may concern many DaemonSets;
/// on the other hand, one plan for all of them costs less than one for each.
const LONGEST_TURN: Duration = Duration::from_millis(10);
const FIRST_DELAY: Duration = Duration::from_millis(800);
const LONGEST_DELAY: Duration = Duration::from_secs(10);
/// The delay after a 403 of an API server that has just started, which would otherwise lengthen the back-off.
pub(crate) const RETRY_WHILE_STARTING: Duration = Duration::from_millis(500);

impl WatchBackoff {
    /// An event has come. The start of a list is no success yet.
    pub(crate) fn succeeded<K>(&mut self, event: &Event<K>) {
        if matches!(event, Event::Init) {
            return;
        }
        self.failures = 0;
        if matches!(event, Event::Apply(_) | Event::Delete(_)) {
            self.undecodable = 0;
        }
    }

    pub(crate) fn next_delay(&mut self) -> Duration {
        next(&mut self.failures)
    }

    /// The list that follows succeeds, and must not reset this delay: the watch after it may fail in the same way.
    fn next_delay_of_undecodable(&mut self) -> Duration {
        next(&mut self.undecodable)
    }
}

fn next(failures: &mut u32) -> Duration {
    let delay = FIRST_DELAY.saturating_mul(1 << (*failures).min(10)).min(LONGEST_DELAY);
    *failures += 1;
    delay
}

/// An event of the objects themselves.
fn plain<K>(event: Event<Tolerant<K>>) -> Event<K> {
    match event {
        Event::Apply(Tolerant(object)) => Event::Apply(object),
        Event::Delete(Tolerant(object)) => Event::Delete(object),
        Event::InitApply(Tolerant(object)) => Event::InitApply(object),
        Event::Init => Event::Init,
        Event::InitDone => Event::InitDone,
    }
}

/// Whether a list or a line of a watch could not be decoded: the change in it is lost. The client reads a line that is an object,
/// but not of this kind, as a `Status` without any member.
fn is_undecodable(error: &WatchError) -> bool {
    match error {
        WatchError::InitialListFailed(error) | WatchError::WatchFailed(error) => match error {
            kube::Error::SerdeError(_) => true,
            kube::Error::Api(status) => status.code == 0,
            _ => false,
        },
        WatchError::WatchStartFailed(_) | WatchError::WatchError(_) | WatchError::NoResourceVersion => false,
    }
}

/// Whether the API server rejected a list or a watch for lack of rights.
pub(crate) fn is_forbidden(error: &WatchError) -> bool {
    match error {
        WatchError::InitialListFailed(error)
        | WatchError::WatchStartFailed(error)
        | WatchError::WatchFailed(error) => {
            matches!(error, kube::Error::Api(status) if status.is_forbidden())
        }
        WatchError::WatchError(status) => status.is_forbidden(),
        WatchError::NoResourceVersion => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caches::{Caches, Key};
    use crate::clock::Clock;
    use crate::comparison::Reverted;
    use crate::other_controller::{OtherController, Reaction};
    use crate::queue::Queue;
    use crate::rollout::policy::{Policies, ProcessRole};
    use daemonset::model::{ControllerRevision, DaemonSet, Pod};
    use daemonset::{Plan, Policy};
    use std::sync::Mutex;

    fn mapper(caches: &Caches, queue: &Arc<Queue<Key>>) -> EventMapper {
        let policies = Policies::new(Policy::default(), ProcessRole::Controller);
        let other_controller = OtherController::new(Reaction::StopActing);
        EventMapper::new(caches.clone(), queue.clone(), policies, other_controller)
    }

    /// No other event need come, and its state would stay for ever.
    #[test]
    fn a_daemon_set_that_a_list_lacks_is_looked_at_once_more() {
        let (caches, mut writers) = Caches::empty();
        writers.daemon_sets.apply_watcher_event(&Event::Apply(DaemonSet::default()));
        let queue = Arc::new(Queue::new(Duration::ZERO));
        let connection = Connection::new("https://server/", Clock::default());
        let watches = Watches::new(mapper(&caches, &queue), None, connection);
        for event in [Event::Init, Event::InitDone] {
            watches.take_event(&mut writers.daemon_sets, &event);
        }
        assert_eq!(queue.len(), 1);
    }

    /// The names of the pods before and after each change.
    #[derive(Default)]
    struct Changes(Mutex<Vec<(Option<String>, Option<String>)>>);

    impl Comparison for Changes {
        fn daemon_set_changed(&self, _: Option<&DaemonSet>, _: Option<&DaemonSet>) {}

        fn pod_changed(&self, before: Option<&Arc<Pod>>, after: Option<&Pod>) {
            let name = |pod: &Pod| pod.metadata.name.clone();
            self.0.lock().unwrap().push((before.map(|pod| name(pod)), after.map(name)));
        }

        fn revision_changed(&self, _: Option<&Arc<ControllerRevision>>, _: Option<&ControllerRevision>) {}

        fn reconcile(&self, _: &DaemonSet, _: &mut dyn FnMut(&Reverted) -> Option<Plan>) {}

        fn take_back_off_reset(&self, _: &DaemonSet) -> bool {
            false
        }
    }

    /// The first list is the state at its start. A later one has what happened while there was no watch.
    #[tokio::test]
    async fn a_comparison_sees_each_change_but_not_the_first_list() {
        let (caches, mut writers) = Caches::empty();
        let changes = Arc::new(Changes::default());
        let queue = Arc::new(Queue::new(Duration::ZERO));
        let connection = Connection::new("https://server/", Clock::default());
        let watches = Watches::new(mapper(&caches, &queue), Some(changes.clone()), connection);
        let pod = |name: &str| {
            let mut pod = Pod::default();
            (pod.metadata.name, pod.metadata.uid) = (name.to_owned(), name.into());
            pod
        };
        let list = |names: &[&str]| {
            let pods = names.iter().map(|name| Event::InitApply(pod(name)));
            [Event::Init].into_iter().chain(pods).chain([Event::InitDone]).collect::<Vec<_>>()
        };
        let mut seen = |events: Vec<Event<Pod>>| {
            for event in events {
                watches.take_event(&mut writers.pods, &event);
            }
            let mut seen = take(&mut *changes.0.lock().unwrap());
            // A store has no order.
            seen.sort();
            seen
        };
        let named = |name: &str| Some(name.to_owned());
        assert_eq!(seen(list(&["a", "b"])), []);
        watches.take_event(&mut writers.daemon_sets, &Event::InitDone);
        watches.take_event(&mut writers.nodes, &Event::InitDone);
        watches.take_event(&mut writers.revisions, &Event::InitDone);
        caches.wait_until_filled().await.unwrap();
        assert_eq!(seen(vec![Event::Apply(pod("c"))]), [(None, named("c"))]);
        assert_eq!(seen(vec![Event::Delete(pod("c"))]), [(named("c"), None)]);
        assert_eq!(
            seen(list(&["b", "d"])),
            [(None, named("d")), (named("a"), None), (named("b"), named("b"))]
        );
    }
}
