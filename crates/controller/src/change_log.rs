//! The objects that have changed lately and that some DaemonSet may read, in the order of the changes, for the reconcilers to catch up with.
//!
//! The log has only the names of the objects. A tracker reads the objects from the caches, which may be newer than an
//! entry, so that an object never goes back to an older state.

use crate::caches::{Caches, Key};
use crate::turns::Free;
use crate::turns::whole_pods::WholePods;
use daemonset::model::Node;
use daemonset::{Action, NodeView, Plan, PodView, RevisionView};
use daemonset_incremental::{Change, NeedsLists, Tracker};
use kube::runtime::reflector::ObjectRef;
use std::collections::VecDeque;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

/// A tracker that is further behind lists all objects instead, which costs little more than so many changes.
const CAPACITY: usize = 16_384;

/// An object that was added, changed or removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangedObject {
    /// The node with this name.
    Node(Box<str>),
    /// The pod with this namespace and name.
    Pod(Box<str>, Box<str>),
    /// The revision with this namespace and name.
    Revision(Box<str>, Box<str>),
    /// A DaemonSet that has left the cache. It may come back, and lacks changes then: the pods of a namespace without a
    /// DaemonSet are not in the log.
    DaemonSetGone(Key),
}

/// How far a tracker has read the log. A default position lies before every log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LogPosition(u64);

/// The log; clones share their content.
#[derive(Debug, Clone)]
pub struct ChangeLog(Arc<RwLock<Entries>>);

/// The last changes.
#[derive(Debug)]
pub struct Entries {
    changes: VecDeque<ChangedObject>,
    /// The position of the first of them.
    first: u64,
}

impl Default for ChangeLog {
    fn default() -> Self {
        // The default position of a tracker, 0, lies before the first entry.
        ChangeLog(Arc::new(RwLock::new(Entries { changes: VecDeque::new(), first: 1 })))
    }
}

impl ChangeLog {
    /// Changes a cache with `write`, and adds the changed object, if a reader needs it. No reader sees the one without the
    /// other, and none begins between the question and the write.
    pub fn add<R>(&self, object: impl FnOnce() -> Option<ChangedObject>, write: impl FnOnce() -> R) -> R {
        let mut entries = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let object = object();
        let result = write();
        if let Some(object) = object {
            if entries.changes.len() == CAPACITY {
                entries.changes.pop_front();
                entries.first += 1;
            }
            entries.changes.push_back(object);
        }
        result
    }

    /// Replaces the content of a cache with `write`, as a list does: every tracker must list the objects anew.
    pub fn replace<R>(&self, write: impl FnOnce() -> R) -> R {
        let mut entries = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let result = write();
        entries.first = entries.end() + 1;
        entries.changes.clear();
        result
    }

    /// The log for reading. No cache changes before it is dropped.
    pub fn read(&self) -> RwLockReadGuard<'_, Entries> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    fn end(&self) -> u64 {
        self.first + self.changes.len() as u64
    }

    /// Applies the changes since `position`, as far as they can concern this DaemonSet. Where some of these are no longer here, the next plan lists all objects.
    pub(crate) fn catch_up(
        &self,
        position: &mut LogPosition,
        tracker: &mut Tracker,
        shown: Shown<'_>,
        of: &Key,
    ) {
        let read = position.0.checked_sub(self.first).and_then(|read| usize::try_from(read).ok());
        position.0 = self.end();
        let Some(read) = read else { return tracker.forget_objects() };
        for object in self.changes.range(read.min(self.changes.len())..) {
            apply(object, tracker, shown, of);
        }
    }
}

/// The objects of the caches, completed by what the state of a DaemonSet keeps beside them.
#[derive(Clone, Copy)]
pub(crate) struct Shown<'s> {
    pub(crate) caches: &'s Caches,
    pub(crate) whole_pods: &'s WholePods,
    pub(crate) free: &'s Free,
}

impl Shown<'_> {
    /// Shows a tracker the present state of a node.
    pub(crate) fn apply_node(self, name: &str, tracker: &mut Tracker) -> Result<(), NeedsLists> {
        match self.caches.nodes.get(&ObjectRef::new(name)) {
            Some(node) => tracker.apply(Change::Node(node_view(&node, self.free))),
            None => tracker.apply(Change::NodeGone(name)),
        }
    }

    /// Whether the caches have another version of a node that a plan patches.
    pub(crate) fn patches_old_versions(self, plan: &Plan) -> bool {
        patched_nodes(plan).any(|(name, version)| {
            let node = self.caches.nodes.get(&ObjectRef::new(name));
            node.is_some_and(|node| node.metadata.resource_version != version)
        })
    }

    /// Shows a tracker the present state of the nodes that a plan patches.
    pub(crate) fn apply_patched_nodes(self, plan: &Plan, tracker: &mut Tracker) {
        for (name, _) in patched_nodes(plan) {
            // Where a change does not suffice, the next plan asks for lists, too.
            let _: Result<(), NeedsLists> = self.apply_node(name, tracker);
        }
    }
}

/// The names of the nodes that a plan patches, each with the version that it patches.
fn patched_nodes(plan: &Plan) -> impl Iterator<Item = (&str, &str)> {
    plan.actions.iter().filter_map(|action| match action {
        Action::PatchNode { node, .. } => Some((node.name.as_str(), node.resource_version.as_str())),
        _ => None,
    })
}

/// A node with its free resources, where they are known.
pub(crate) fn node_view<'n>(node: &'n Node, free: &'n Free) -> NodeView<'n> {
    let view = NodeView::from(node);
    free.get(&node.metadata.name).map_or(view, |free| view.free(free))
}

/// Applies the present state of an object.
fn apply(object: &ChangedObject, tracker: &mut Tracker, shown: Shown<'_>, of: &Key) {
    let Shown { caches, whole_pods, .. } = shown;
    let applied = match object {
        ChangedObject::Node(name) => shown.apply_node(name, tracker),
        ChangedObject::Pod(namespace, name) if **namespace == *of.namespace => {
            match caches.pods.get(&ObjectRef::new(name).within(namespace)) {
                Some(pod) => tracker.apply(Change::Pod(PodView::from(whole_pods.of(&pod)))),
                None => tracker.apply(Change::PodGone { namespace, name }),
            }
        }
        ChangedObject::Revision(namespace, name) if **namespace == *of.namespace => {
            match caches.revisions.get(&ObjectRef::new(name).within(namespace)) {
                Some(revision) => tracker.apply(Change::Revision(RevisionView::from(&*revision))),
                None => tracker.apply(Change::RevisionGone { namespace, name }),
            }
        }
        ChangedObject::DaemonSetGone(key) if key == of => return tracker.forget_objects(),
        ChangedObject::Pod(..) | ChangedObject::Revision(..) | ChangedObject::DaemonSetGone(_) => return,
    };
    // The next plan asks for lists, too.
    let _: Result<(), NeedsLists> = applied;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caches::CacheWriters;
    use daemonset::model::{ControllerRevision, DaemonSet, Pod};
    use daemonset::{Observed, Policy};
    use kube::runtime::watcher::Event;
    use serde_json::{from_value, json};
    use std::cell::Cell;

    /// A DaemonSet, its tracker, and the caches that both read.
    struct TrackedFleet {
        ds: DaemonSet,
        tracker: Tracker,
        position: LogPosition,
        caches: Caches,
        writers: CacheWriters,
    }

    impl TrackedFleet {
        fn new() -> Self {
            let (caches, writers) = Caches::empty();
            let ds = json!({
                "metadata": {"name": "agent", "namespace": "ns", "uid": "u"},
                "spec": {
                    "selector": {"matchLabels": {"app": "agent"}},
                    "template": {"metadata": {"labels": {"app": "agent"}}},
                },
            });
            let tracker = Tracker::new("u", Policy::default());
            let position = LogPosition::default();
            TrackedFleet { ds: from_value(ds).unwrap(), tracker, position, caches, writers }
        }

        fn add_node(&mut self, name: &str) {
            let node: Node = from_value(json!({"metadata": {"name": name}})).unwrap();
            let writer = &mut self.writers.nodes;
            let changed = ChangedObject::Node(name.into());
            self.caches.change_log.add(|| Some(changed), || writer.apply_watcher_event(&Event::Apply(node)));
        }

        fn remove_node(&mut self, name: &str) {
            let node: Node = from_value(json!({"metadata": {"name": name}})).unwrap();
            let writer = &mut self.writers.nodes;
            let changed = ChangedObject::Node(name.into());
            self.caches.change_log.add(|| Some(changed), || writer.apply_watcher_event(&Event::Delete(node)));
        }

        /// A plan, and whether it has listed the objects.
        fn plan(&mut self) -> (Plan, bool) {
            let TrackedFleet { ds, tracker, position, caches, .. } = self;
            let (whole_pods, free) = (&WholePods::default(), &Free::default());
            let shown = Shown { caches, whole_pods, free };
            caches.change_log.read().catch_up(position, tracker, shown, &Key::from(&*ds));
            let is_listed = Cell::new(false);
            let nodes = caches.nodes.state();
            let list = || {
                is_listed.set(true);
                let (pods, revisions): ([&Pod; 0], [&ControllerRevision; 0]) = ([], []);
                Observed { daemon_set: ds, nodes: &nodes, pods, revisions }
            };
            let now = "2026-01-01T12:00:00Z".parse::<jiff::Timestamp>().unwrap();
            let plan = tracker.plan(now).or_else(|_| tracker.list(list(), now)).unwrap();
            (plan, is_listed.get())
        }

        fn created_on(&mut self) -> (Vec<String>, bool) {
            let (plan, is_listed) = self.plan();
            let node = |action: &daemonset::Action| match action {
                daemonset::Action::CreatePod { node, .. } => Some(node.to_string()),
                _ => None,
            };
            (plan.actions.iter().filter_map(node).collect(), is_listed)
        }
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_reconciler_lists_once_and_then_reads_the_changes() {
        let mut fleet = TrackedFleet::new();
        fleet.add_node("a");
        assert_eq!(fleet.created_on(), (names(&["a"]), true));
        fleet.add_node("b");
        fleet.add_node("c");
        fleet.remove_node("a");
        assert_eq!(fleet.created_on(), (names(&["b", "c"]), false));
        assert_eq!(fleet.created_on(), (names(&["b", "c"]), false), "no change");
    }

    #[test]
    fn a_reconciler_that_is_too_far_behind_lists_again() {
        let mut fleet = TrackedFleet::new();
        fleet.add_node("a");
        let _ = fleet.plan();
        (0..CAPACITY).for_each(|_| fleet.add_node("b"));
        assert_eq!(fleet.created_on(), (names(&["a", "b"]), false), "the oldest change is still there");
        (0..=CAPACITY).for_each(|_| fleet.add_node("c"));
        assert_eq!(fleet.created_on(), (names(&["a", "b", "c"]), true));
    }

    /// While it is gone nobody notes the changes of its namespace.
    #[test]
    fn a_daemon_set_that_comes_back_lists_again() {
        let mut fleet = TrackedFleet::new();
        fleet.add_node("a");
        let _ = fleet.plan();
        let mut goes = |name: &str| {
            let key = Key { namespace: "ns".to_owned(), name: name.to_owned() };
            fleet.caches.change_log.add(|| Some(ChangedObject::DaemonSetGone(key)), || {});
            fleet.created_on().1
        };
        assert!(!goes("another"));
        assert!(goes("agent"));
    }

    #[test]
    fn a_reconciler_lists_again_after_a_cache_was_replaced() {
        let mut fleet = TrackedFleet::new();
        fleet.add_node("a");
        let _ = fleet.plan();
        let TrackedFleet { caches, writers, .. } = &mut fleet;
        caches.change_log.replace(|| {
            writers.nodes.apply_watcher_event(&Event::Init);
            let node: Node = from_value(json!({"metadata": {"name": "z"}})).unwrap();
            writers.nodes.apply_watcher_event(&Event::InitApply(node));
            writers.nodes.apply_watcher_event(&Event::InitDone);
        });
        assert_eq!(fleet.created_on(), (names(&["z"]), true));
        fleet.add_node("y");
        assert_eq!(fleet.created_on(), (names(&["y", "z"]), false));
    }
}
