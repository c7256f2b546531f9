//! The powers of namespaces, which admins delegate by an annotation.

use super::side_watch::{Reading, SideWatch, Sink, resource_of};
use crate::caches::{Caches, Key};
use crate::queue::Queue;
use crate::rollout;
use crate::tasks::Tasks;
use daemonset::model::Labels;
use daemonset::policy::Permissions;
use k8s_openapi::api::core::v1::Namespace as WholeNamespace;
use kube::Client;
use kube::core::ObjectMeta;
use kube::runtime::watcher::Event;
use serde::Deserialize;
use std::collections::HashMap;
use std::mem::take;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A namespace: its name and its annotations.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Namespace {
    #[serde(default)]
    metadata: ObjectMeta,
}
resource_of!(Namespace, WholeNamespace);

/// The powers of all namespaces. They are watched once the first policy needs one.
#[derive(Clone)]
pub(crate) struct WatchedPowers {
    watch: SideWatch<Namespace>,
    known: Arc<KnownPowers>,
}

/// The powers that the watch has shown.
struct KnownPowers {
    powers: Mutex<ByName>,
    caches: Caches,
    queue: Arc<Queue<Key>>,
}

#[derive(Default)]
struct ByName {
    /// The namespaces with a power.
    powers: HashMap<String, Permissions>,
    /// Those of a list that is not complete.
    listed: HashMap<String, Permissions>,
}

impl WatchedPowers {
    /// The DaemonSets whose policy needs a power are put into this queue when the powers of their namespace change.
    pub(crate) fn new(caches: Caches, queue: Arc<Queue<Key>>) -> Self {
        let known = Arc::new(KnownPowers { powers: Mutex::default(), caches, queue });
        WatchedPowers { watch: SideWatch::new("namespaces", known.clone()), known }
    }

    pub(crate) fn connect(&self, client: &Client, tasks: &Tasks) {
        self.watch.connect(client, tasks);
    }

    /// The powers of a namespace.
    pub(crate) fn of(&self, namespace: &str) -> Reading<Permissions> {
        self.watch.ask().map(|()| self.known.powers().powers.get(namespace).copied().unwrap_or_default())
    }
}

impl KnownPowers {
    fn powers(&self) -> MutexGuard<'_, ByName> {
        self.powers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enqueues the DaemonSets of these namespaces whose policy needs a power.
    fn enqueue(&self, is_concerned: impl Fn(&str) -> bool) {
        for ds in self.caches.daemon_sets.state() {
            if is_concerned(&ds.metadata.namespace) && rollout::policy::may_need_powers(&ds) {
                self.queue.add(Key::from(&*ds));
            }
        }
    }

    fn set(&self, namespace: &Namespace, powers: Permissions) {
        let name = namespace.metadata.name.clone().unwrap_or_default();
        let mut by_name = self.powers();
        let before = match powers == Permissions::default() {
            true => by_name.powers.remove(&name),
            false => by_name.powers.insert(name.clone(), powers),
        };
        drop(by_name);
        if before.unwrap_or_default() != powers {
            tracing::info!(namespace = name, "the namespace has other powers: {powers:?}");
            self.enqueue(|namespace| namespace == name);
        }
    }
}

impl Sink<Namespace> for KnownPowers {
    fn take(&self, event: Event<Namespace>) {
        match event {
            Event::Init => self.powers().listed.clear(),
            Event::InitApply(namespace) => {
                let powers = powers(&namespace);
                if powers != Permissions::default() {
                    self.powers().listed.insert(namespace.metadata.name.unwrap_or_default(), powers);
                }
            }
            Event::InitDone => {
                let mut by_name = self.powers();
                by_name.powers = take(&mut by_name.listed);
            }
            Event::Apply(namespace) => self.set(&namespace, powers(&namespace)),
            Event::Delete(namespace) => self.set(&namespace, Permissions::default()),
        }
    }

    fn reading_changed(&self) {
        self.enqueue(|_| true);
    }
}

fn powers(namespace: &Namespace) -> Permissions {
    let annotations = namespace.metadata.annotations.iter().flatten();
    let annotations: Labels = annotations.map(|(key, value)| (key.as_str(), value.as_str())).collect();
    Permissions::of_namespace(&annotations)
}
