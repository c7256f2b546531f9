//! What the API server has: reflectors of DaemonSets, pods, nodes and revisions, shared by all DaemonSets, and which of these
//! an event concerns.

use crate::answer::told;
use crate::compare::Comparison;
use crate::compare::watched::{self, Compared};
use crate::concerns::Concerns;
use crate::queue::Queue;
use daemonset::model::{ControllerRevision, DaemonSet, Node, Pod};
use futures::future::ready;
use futures::{StreamExt, TryStreamExt};
use kube::runtime::reflector::store::Writer;
use kube::runtime::reflector::{ObjectRef, Store};
use kube::runtime::utils::Backoff;
use kube::runtime::watcher::{Config, Event};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, Resource};
use std::fmt::Debug;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Names a DaemonSet.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

impl From<&DaemonSet> for Key {
    fn from(ds: &DaemonSet) -> Self {
        Key { namespace: ds.metadata.namespace.clone(), name: ds.metadata.name.clone() }
    }
}

/// Which objects are watched.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// One namespace, or all.
    pub namespace: Option<String>,
    /// A label selector for DaemonSets.
    pub selector: Option<String>,
}

/// How long a watch that broke off waits before it begins anew (client-go `reflector.go`, but for its longest wait of 30 s:
/// caches are to be right soon after an API server is back).
#[derive(Debug, Default)]
struct LaterEachTime {
    failures: u32,
}

const FIRST_WAIT: Duration = Duration::from_millis(800);
const LONGEST_WAIT: Duration = Duration::from_secs(10);

impl Iterator for LaterEachTime {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        let wait = FIRST_WAIT.saturating_mul(1 << self.failures.min(10)).min(LONGEST_WAIT);
        self.failures += 1;
        Some(wait)
    }
}

impl Backoff for LaterEachTime {
    fn reset(&mut self) {
        self.failures = 0;
    }
}

/// The caches.
#[derive(Clone)]
pub struct World {
    /// DaemonSets.
    pub daemon_sets: Store<DaemonSet>,
    /// All pods of the namespaces.
    pub pods: Store<Pod>,
    /// Nodes.
    pub nodes: Store<Node>,
    /// Revisions.
    pub revisions: Store<ControllerRevision>,
    ready: Arc<AtomicBool>,
    comparison: Option<Comparison>,
}

/// The other ends of the caches.
pub struct Writers {
    daemon_sets: Writer<DaemonSet>,
    pods: Writer<Pod>,
    nodes: Writer<Node>,
    revisions: Writer<ControllerRevision>,
}

impl World {
    /// Empty caches.
    pub fn empty() -> (Self, Writers) {
        let writers = Writers {
            daemon_sets: Writer::new(()),
            pods: Writer::new(()),
            nodes: Writer::new(()),
            revisions: Writer::new(()),
        };
        let world = World {
            daemon_sets: writers.daemon_sets.as_reader(),
            pods: writers.pods.as_reader(),
            nodes: writers.nodes.as_reader(),
            revisions: writers.revisions.as_reader(),
            ready: Arc::default(),
            comparison: None,
        };
        (world, writers)
    }

    /// Tells this comparison of every change; it must be said before watching.
    pub fn compared_by(&mut self, comparison: Comparison) {
        self.comparison = Some(comparison);
    }

    /// Lists and watches from now on, and puts whom it concerns into the queue.
    ///
    /// The lists are read from storage, not from a cache that may lag: what this process, or the one before it, did is in
    /// them.
    pub fn watch(&self, writers: Writers, client: &Client, scope: &Scope, queue: &Arc<Queue<Key>>) {
        let of_daemon_sets = Config { label_selector: scope.selector.clone(), ..Config::default() };
        let told = Told { world: self.clone(), queue: queue.clone() };
        tokio::spawn(told.clone().follow(api(client, scope), of_daemon_sets, writers.daemon_sets));
        tokio::spawn(told.clone().follow(api(client, scope), Config::default(), writers.pods));
        tokio::spawn(told.clone().follow(Api::all(client.clone()), Config::default(), writers.nodes));
        tokio::spawn(told.follow(api(client, scope), Config::default(), writers.revisions));
    }

    /// Waits until every cache has been filled once.
    ///
    /// # Errors
    /// When a watch has ended, which it never does by itself.
    pub async fn filled(&self) -> anyhow::Result<()> {
        self.daemon_sets.wait_until_ready().await?;
        self.pods.wait_until_ready().await?;
        self.nodes.wait_until_ready().await?;
        self.revisions.wait_until_ready().await?;
        self.ready.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Whether every cache has been filled once.
    pub fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Relaxed)
    }

    /// The DaemonSet of this name, as the cache has it.
    pub fn daemon_set(&self, key: &Key) -> Option<Arc<DaemonSet>> {
        self.daemon_sets.get(&ObjectRef::new(&key.name).within(&key.namespace))
    }
}

fn api<K: Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>>(
    client: &Client,
    scope: &Scope,
) -> Api<K> {
    match &scope.namespace {
        Some(namespace) => Api::namespaced(client.clone(), namespace),
        None => Api::all(client.clone()),
    }
}

/// Puts DaemonSets into the queue.
#[derive(Clone)]
pub(crate) struct Told {
    pub(crate) world: World,
    pub(crate) queue: Arc<Queue<Key>>,
}

impl Told {
    /// Fills a cache, and tells of each change. The watch begins anew after every error, later each time.
    async fn follow<K>(self, api: Api<K>, config: Config, mut writer: Writer<K>)
    where
        K: Concerns + Resource<DynamicType = ()> + Clone + Debug + Send + Sync + 'static,
        K: serde::de::DeserializeOwned,
    {
        let kind = K::kind(&()).into_owned();
        // That a list begins is no success, which would end the waiting.
        let events = watcher(api, config).try_filter(|event| ready(!matches!(event, Event::Init)));
        let mut events = pin!(events.backoff(LaterEachTime::default()));
        while let Some(event) = events.next().await {
            let event = match event {
                Ok(event) => event,
                Err(error) => {
                    tracing::warn!(error = told(&error), kind, "the watch broke off and begins anew");
                    // Of a list that broke off, nothing is in the next one.
                    writer.apply_watcher_event(&Event::Init);
                    continue;
                }
            };
            let before = self.apply(&mut writer, &event);
            match &event {
                Event::Apply(object) => self.changed(before.as_deref(), object),
                Event::Delete(object) => object.tell(&self),
                // What happened while nobody watched is in the list.
                Event::InitDone => self.all(),
                Event::Init | Event::InitApply(_) => {}
            }
        }
    }

    /// Puts an event into the cache, and tells the comparison; gives the object as it was.
    fn apply<K>(&self, writer: &mut Writer<K>, event: &Event<K>) -> Option<Arc<K>>
    where
        K: Compared + Resource<DynamicType = ()> + Clone + 'static,
    {
        let store = writer.as_reader();
        let before = match event {
            Event::Apply(object) | Event::Delete(object) => store.get(&ObjectRef::from_obj(object)),
            Event::Init | Event::InitApply(_) | Event::InitDone => None,
        };
        let Some(comparison) = &self.world.comparison else {
            writer.apply_watcher_event(event);
            return before;
        };
        watched::event(comparison, event, before.as_ref());
        // The first list is how it was when the comparison began.
        let is_list_again = matches!(event, Event::InitDone) && self.world.is_ready();
        let listed = is_list_again.then(|| store.state());
        writer.apply_watcher_event(event);
        if let Some(listed) = listed {
            watched::lists(comparison, &listed, &store.state());
        }
        before
    }

    fn changed<K: Concerns>(&self, before: Option<&K>, object: &K) {
        match before {
            Some(before) if !object.differs(before) => {}
            Some(before) => {
                // Whoever it belonged to may have lost it.
                before.tell(self);
                object.tell(self);
            }
            None => object.tell(self),
        }
    }

    pub(crate) fn all(&self) {
        for ds in self.world.daemon_sets.state() {
            self.queue.add(Key::from(&*ds));
        }
    }
}
