//! Watch caches: the controller's view of the API server, which lags; changes of one kind keep their order.

use crate::probability::Distribution;
use daemonset::internal::Hasher;
use daemonset::model::{ControllerRevision, DaemonSet, Node, NodeName, Pod, Uid};
use daemonset_incremental::Change;
use fastrand::Rng;
use indexmap::IndexMap;
use jiff::Timestamp;
use std::collections::VecDeque;
use std::sync::Arc;

/// A kind of objects. Each kind has its own watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names of the API's own kinds")]
#[non_exhaustive]
pub enum Kind {
    DaemonSets,
    Nodes,
    Pods,
    Revisions,
}

/// One event of a watch.
#[derive(Debug, Clone)]
pub(crate) enum WatchEvent {
    DaemonSet(Arc<DaemonSet>),
    Node(Arc<Node>),
    NodeGone(NodeName),
    Pod(Arc<Pod>),
    PodGone(Uid),
    Revision(Arc<ControllerRevision>),
    RevisionGone(Uid),
}

impl WatchEvent {
    fn kind(&self) -> Kind {
        match self {
            WatchEvent::DaemonSet(_) => Kind::DaemonSets,
            WatchEvent::Node(_) | WatchEvent::NodeGone(_) => Kind::Nodes,
            WatchEvent::Pod(_) | WatchEvent::PodGone(_) => Kind::Pods,
            WatchEvent::Revision(_) | WatchEvent::RevisionGone(_) => Kind::Revisions,
        }
    }
}

/// The objects of a cluster by name or uid. The environment and the caches share unchanged objects.
#[derive(Debug, Clone, Default)]
pub(crate) struct Objects {
    pub(crate) daemon_set: Option<Arc<DaemonSet>>,
    pub(crate) nodes: IndexMap<NodeName, Arc<Node>, Hasher>,
    pub(crate) pods: IndexMap<Uid, Arc<Pod>, Hasher>,
    pub(crate) revisions: IndexMap<Uid, Arc<ControllerRevision>, Hasher>,
}

impl Objects {
    pub(crate) fn apply(&mut self, event: WatchEvent) {
        match event {
            WatchEvent::DaemonSet(daemon_set) => self.daemon_set = Some(daemon_set),
            WatchEvent::Node(node) => {
                self.nodes.insert(node.metadata.name.clone(), node);
            }
            WatchEvent::NodeGone(name) => {
                self.nodes.swap_remove(&name);
            }
            WatchEvent::Pod(pod) => {
                self.pods.insert(pod.metadata.uid.clone(), pod);
            }
            WatchEvent::PodGone(uid) => {
                self.pods.swap_remove(&uid);
            }
            WatchEvent::Revision(revision) => {
                self.revisions.insert(revision.metadata.uid.clone(), revision);
            }
            WatchEvent::RevisionGone(uid) => {
                self.revisions.swap_remove(&uid);
            }
        }
    }
}

impl Objects {
    /// The change that an event brings; `None` for an object that is not there.
    fn change<'e>(&'e self, event: &'e WatchEvent) -> Option<Change<'e>> {
        Some(match event {
            WatchEvent::DaemonSet(daemon_set) => Change::DaemonSet(daemon_set),
            WatchEvent::Node(node) => Change::Node(node.into()),
            WatchEvent::NodeGone(name) => Change::NodeGone(name.as_str()),
            WatchEvent::Pod(pod) => Change::Pod(pod.into()),
            WatchEvent::PodGone(uid) => {
                let metadata = &self.pods.get(uid)?.metadata;
                Change::PodGone { namespace: &metadata.namespace, name: &metadata.name }
            }
            WatchEvent::Revision(revision) => Change::Revision(revision.into()),
            WatchEvent::RevisionGone(uid) => {
                let metadata = &self.revisions.get(uid)?.metadata;
                Change::RevisionGone { namespace: &metadata.namespace, name: &metadata.name }
            }
        })
    }
}

/// The last serial number of recorded objects that a simulation goes on after. Beyond it there may be no room.
pub(crate) const LAST_GIVEN: u64 = u64::MAX / 2;

/// A resource version that can be compared with those of the simulation; others are opaque, as a server before v1.35 has
/// them.
pub(crate) fn comparable(version: &str) -> Option<u64> {
    version.parse().ok().filter(|version| *version <= LAST_GIVEN)
}

fn version(pod: &Pod) -> Option<u64> {
    comparable(&pod.metadata.resource_version)
}

fn node_version(node: &Node) -> Option<u64> {
    comparable(&node.metadata.resource_version)
}

/// A watch event that the cache has not seen yet.
#[derive(Debug)]
struct Delivery {
    /// When the cache sees it.
    due: Timestamp,
    /// When the object changed.
    since: Timestamp,
    event: WatchEvent,
}

/// The watch of one kind, with the events that the cache has not seen yet.
#[derive(Debug)]
struct KindWatch {
    lag: Distribution,
    /// Whether all events are held back.
    frozen: bool,
    pending: VecDeque<Delivery>,
    last_due: Option<Timestamp>,
}

impl KindWatch {
    fn new(lag: Distribution) -> Self {
        KindWatch { lag, frozen: false, pending: VecDeque::new(), last_due: None }
    }

    fn send(&mut self, now: Timestamp, event: WatchEvent, rng: &mut Rng) {
        let due = now.saturating_add(self.lag.sample(rng)).unwrap_or(now);
        // Events of one watch keep their order.
        let due = self.last_due.map_or(due, |last| due.max(last));
        self.last_due = Some(due);
        self.pending.push_back(Delivery { due, since: now, event });
    }

    fn next_due(&self) -> Option<Timestamp> {
        self.pending.front().filter(|_| !self.frozen).map(|pending| pending.due)
    }
}

/// The objects as the controller sees them.
#[derive(Debug)]
pub(crate) struct Cache {
    pub(crate) objects: Objects,
    watches: [(Kind, KindWatch); 4],
    rng: Rng,
    /// The version of the last pod that the cache has seen.
    pods_version: Option<u64>,
    /// The same of nodes.
    nodes_version: Option<u64>,
    is_relisted: bool,
    /// Kept only for lists from an API server that is behind.
    log: Option<Log>,
}

/// The objects at an instant, and all events since.
#[derive(Debug)]
struct Log {
    before: Objects,
    events: Vec<(Timestamp, WatchEvent)>,
}

impl Cache {
    pub(crate) fn new(lag: Distribution, rng: Rng) -> Self {
        let kinds = [Kind::DaemonSets, Kind::Nodes, Kind::Pods, Kind::Revisions];
        let watches = kinds.map(|kind| (kind, KindWatch::new(lag)));
        Cache {
            objects: Objects::default(),
            watches,
            rng,
            pods_version: None,
            nodes_version: None,
            is_relisted: false,
            log: None,
        }
    }

    /// Logs the events from now on, beside the objects of now.
    pub(crate) fn keep_log(&mut self, objects: &Objects) {
        self.log.get_or_insert_with(|| Log { before: objects.clone(), events: Vec::new() });
    }

    pub(crate) fn send(&mut self, now: Timestamp, event: WatchEvent) {
        if let Some(log) = &mut self.log {
            log.events.push((now, event.clone()));
        }
        let kind = event.kind();
        if let Some((_, watch)) = self.watches.iter_mut().find(|(k, _)| *k == kind) {
            watch.send(now, event, &mut self.rng);
        }
    }

    /// The version of the list of pods: a lower bound, since the event of a pod that is gone has no version here.
    pub(crate) fn pods_version(&self) -> Option<u64> {
        self.pods_version
    }

    /// The version of the list of nodes, a lower bound, too.
    pub(crate) fn nodes_version(&self) -> Option<u64> {
        self.nodes_version
    }

    /// After a list the version is the newest one in it.
    fn relisted(&mut self) {
        self.pods_version = self.objects.pods.values().filter_map(|pod| version(pod)).max();
        self.nodes_version = self.objects.nodes.values().filter_map(|node| node_version(node)).max();
        self.is_relisted = true;
    }

    /// The instant at which a change becomes visible next.
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        self.watches.iter().filter_map(|(_, watch)| watch.next_due()).min()
    }

    /// The instant of the oldest change that the cache does not show yet.
    pub(crate) fn behind_since(&self, kind: Kind) -> Option<Timestamp> {
        let (_, watch) = self.watches.iter().find(|(k, _)| *k == kind)?;
        watch.pending.front().map(|pending| pending.since)
    }

    /// Applies all events that are due, and calls `each` with each of them.
    pub(crate) fn deliver_due(&mut self, now: Timestamp, mut each: impl FnMut(Change<'_>)) {
        for (_, watch) in &mut self.watches {
            while watch.next_due().is_some_and(|due| due <= now) {
                if let Some(Delivery { event, .. }) = watch.pending.pop_front() {
                    match &event {
                        WatchEvent::Pod(pod) => self.pods_version = self.pods_version.max(version(pod)),
                        WatchEvent::Node(node) => {
                            self.nodes_version = self.nodes_version.max(node_version(node));
                        }
                        _ => {}
                    }
                    self.objects.change(&event).into_iter().for_each(&mut each);
                    self.objects.apply(event);
                }
            }
        }
    }

    /// The lists of pods and nodes are at these versions at least.
    pub(crate) fn lists_at(&mut self, pods: Option<u64>, nodes: Option<u64>) {
        self.pods_version = self.pods_version.max(pods);
        self.nodes_version = self.nodes_version.max(nodes);
    }

    /// Whether the objects were listed since the last call.
    pub(crate) fn take_relisted(&mut self) -> bool {
        std::mem::take(&mut self.is_relisted)
    }

    /// Lists all objects from the API server, as a starting process does.
    pub(crate) fn relist(&mut self, objects: &Objects) {
        self.objects = objects.clone();
        for (_, watch) in &mut self.watches {
            watch.pending.clear();
        }
        self.relisted();
    }

    /// Lists the objects as they were at `shown_until`, or at the beginning of the log, and continues the watches from
    /// there.
    pub(crate) fn relist_from_the_past(&mut self, now: Timestamp, shown_until: Timestamp) {
        let Some(log) = self.log.take() else { return };
        self.objects = log.before.clone();
        for (_, watch) in &mut self.watches {
            watch.pending.clear();
            watch.last_due = None;
        }
        for (at, event) in &log.events {
            if *at <= shown_until {
                self.objects.apply(event.clone());
            } else {
                self.send(now, event.clone());
            }
        }
        self.relisted();
        self.log = Some(log);
    }

    pub(crate) fn set_lag(&mut self, kind: Kind, lag: Distribution) {
        if let Some((_, watch)) = self.watches.iter_mut().find(|(k, _)| *k == kind) {
            watch.lag = lag;
        }
    }

    pub(crate) fn freeze(&mut self, kind: Kind, frozen: bool) {
        if let Some((_, watch)) = self.watches.iter_mut().find(|(k, _)| *k == kind) {
            watch.frozen = frozen;
        }
    }
}
