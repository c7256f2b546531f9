//! The caches: DaemonSets, pods, nodes and revisions as the watches have shown them, shared by all reconciles.

use crate::change_log::ChangeLog;
use crate::wants::Wants;
use daemonset::model::{ControllerRevision, DaemonSet, Node, Pod};
use kube::runtime::reflector::store::Writer;
use kube::runtime::reflector::{ObjectRef, Store};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Namespace and name of a DaemonSet: the key of the work queue.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

impl From<&DaemonSet> for Key {
    fn from(ds: &DaemonSet) -> Self {
        Key { namespace: ds.metadata.namespace.clone(), name: ds.metadata.name.clone() }
    }
}

/// The caches; clones share their content.
#[derive(Clone)]
pub struct Caches {
    /// The DaemonSets of the scope.
    pub daemon_sets: Store<DaemonSet>,
    /// All pods of the watched namespaces.
    pub pods: Store<Pod>,
    /// All nodes.
    pub nodes: Store<Node>,
    /// All ControllerRevisions of the watched namespaces.
    pub revisions: Store<ControllerRevision>,
    /// The changes of the nodes, pods and revisions here.
    pub change_log: ChangeLog,
    /// Which objects are kept whole.
    pub wants: Wants,
    filled: Arc<AtomicBool>,
    /// The version that the cache of pods has reached; 0 before the first list.
    pods_version: Arc<AtomicU64>,
    /// The same of the nodes.
    nodes_version: Arc<AtomicU64>,
}

/// The writing ends of the caches.
pub struct CacheWriters {
    pub(crate) daemon_sets: Writer<DaemonSet>,
    pub(crate) pods: Writer<Pod>,
    pub(crate) nodes: Writer<Node>,
    pub(crate) revisions: Writer<ControllerRevision>,
}

impl Caches {
    /// Empty caches and their writers.
    pub fn empty() -> (Self, CacheWriters) {
        let writers = CacheWriters {
            daemon_sets: Writer::new(()),
            pods: Writer::new(()),
            nodes: Writer::new(()),
            revisions: Writer::new(()),
        };
        let caches = Caches {
            daemon_sets: writers.daemon_sets.as_reader(),
            pods: writers.pods.as_reader(),
            nodes: writers.nodes.as_reader(),
            revisions: writers.revisions.as_reader(),
            change_log: ChangeLog::default(),
            wants: Wants::default(),
            filled: Arc::default(),
            pods_version: Arc::default(),
            nodes_version: Arc::default(),
        };
        (caches, writers)
    }

    /// Waits until the first list of each kind is complete. Only one task may do so, since a store wakes no more than one; the others
    /// ask [`are_filled`](Self::are_filled).
    ///
    /// # Errors
    /// When a watch has ended, which it never does by itself.
    pub async fn wait_until_filled(&self) -> anyhow::Result<()> {
        self.daemon_sets.wait_until_ready().await?;
        self.pods.wait_until_ready().await?;
        self.nodes.wait_until_ready().await?;
        self.revisions.wait_until_ready().await?;
        self.filled.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Whether the first list of each kind is complete.
    pub fn are_filled(&self) -> bool {
        self.filled.load(Ordering::Relaxed)
    }

    /// Whether a DaemonSet of this namespace is in the cache.
    pub(crate) fn has_daemon_set_in(&self, namespace: &str) -> bool {
        self.daemon_sets.find(|ds| ds.metadata.namespace == namespace).is_some()
    }

    /// The same revision, as the watch has shown it last.
    pub fn revision(&self, of: &ControllerRevision) -> Option<Arc<ControllerRevision>> {
        self.revision_named(&of.metadata.namespace, &of.metadata.name)
    }

    /// The revision of this name, as the watch has shown it last.
    pub(crate) fn revision_named(&self, namespace: &str, name: &str) -> Option<Arc<ControllerRevision>> {
        self.revisions.get(&ObjectRef::new(name).within(namespace))
    }

    /// The version that the cache of pods has reached, if known. Read it before the pods: they may be newer then, not older.
    pub fn pods_version(&self) -> Option<u64> {
        read_version(&self.pods_version)
    }

    /// The same of the nodes.
    pub fn nodes_version(&self) -> Option<u64> {
        read_version(&self.nodes_version)
    }

    /// Notes the version of a change of a pod that the cache has applied. A list begins anew, since storage may have been
    /// restored from the past.
    pub(crate) fn pods_are_at<'v>(&self, versions: impl IntoIterator<Item = &'v str>, is_list: bool) {
        note_version(&self.pods_version, versions, is_list);
    }

    /// The same of the nodes.
    pub(crate) fn nodes_are_at<'v>(&self, versions: impl IntoIterator<Item = &'v str>, is_list: bool) {
        note_version(&self.nodes_version, versions, is_list);
    }

    /// The DaemonSet of this name, if the cache has it.
    pub fn daemon_set(&self, key: &Key) -> Option<Arc<DaemonSet>> {
        self.daemon_sets.get(&ObjectRef::new(&key.name).within(&key.namespace))
    }
}

fn read_version(version: &AtomicU64) -> Option<u64> {
    Some(version.load(Ordering::Acquire)).filter(|version| *version > 0)
}

fn note_version<'v>(version: &AtomicU64, versions: impl IntoIterator<Item = &'v str>, is_list: bool) {
    let newest = versions.into_iter().filter_map(|version| version.parse().ok()).max().unwrap_or(0);
    if is_list {
        version.store(newest, Ordering::Release);
    } else {
        version.fetch_max(newest, Ordering::Release);
    }
}
