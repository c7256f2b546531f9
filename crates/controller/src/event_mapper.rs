//! From a changed object to the DaemonSets that must be reconciled for it.

use crate::caches::{Caches, Key};
use crate::change_log::ChangedObject;
use crate::other_controller::OtherController;
use crate::queue::Queue;
use crate::rollout::policy::Policies;
use crate::wants::Wants;
use daemonset::kubernetes::well_known::{GATE_INFIX, TURN_PREFIX};
use daemonset::model::{ControllerRevision, DaemonSet, Node, OwnerReference, Pod, PodMeta, Uid};
use daemonset::turns;
use daemonset_placement::{CompiledPlacement, NodeChange};
use kube::runtime::watcher::Event;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

/// Puts the DaemonSets that a change concerns into the queue.
#[derive(Clone)]
pub struct EventMapper {
    caches: Caches,
    queue: Arc<Queue<Key>>,
    policies: Policies,
    placements: Placements,
    other_controller: OtherController,
}

/// The placement of each DaemonSet, by its uid and generation. A template may have thousands of terms, and nodes change all
/// the time.
type Placements = Arc<Mutex<HashMap<(Uid, i64), CompiledPlacement>>>;

/// A watched kind of object.
pub(crate) trait WatchedObject: Sized {
    /// Enqueues the DaemonSets whose plan a change may change: the object was added (no `before`), removed (no `after`),
    /// or changed.
    fn enqueue_change(before: Option<&Self>, after: Option<&Self>, mapper: &EventMapper);

    /// The entry of a changed object in the change log; `None` where no reconciler reads the change.
    fn as_changed(
        before: Option<&Self>,
        object: &Self,
        after: Option<&Self>,
        caches: &Caches,
    ) -> Option<ChangedObject>;

    /// Enqueues objects that the cache had before a list: some of them may be gone.
    fn enqueue_listed_before(before: &[Arc<Self>], mapper: &EventMapper) {
        let _ = (before, mapper);
    }

    /// Notes what the caches know beside the objects of this event, which they have applied: the version that they have reached, say.
    fn note(event: &Event<Self>, caches: &Caches) {
        let _ = (event, caches);
    }

    /// Drops the fields that no policy reads, before the cache keeps the object.
    fn make_lean(&mut self, wants: &Wants) {
        let _ = wants;
    }
}

impl EventMapper {
    /// A mapper that looks owners up in these caches, and shows each change of a status to `other_controller`.
    pub fn new(
        caches: Caches,
        queue: Arc<Queue<Key>>,
        policies: Policies,
        other_controller: OtherController,
    ) -> Self {
        EventMapper { caches, queue, policies, placements: Placements::default(), other_controller }
    }

    /// The caches that owners are looked up in.
    pub(crate) fn caches(&self) -> &Caches {
        &self.caches
    }

    /// Maps an object that was added, or changed from `before`.
    pub(crate) fn applied<K: WatchedObject>(&self, before: Option<&K>, object: &K) {
        K::enqueue_change(before, Some(object), self);
    }

    /// Maps an object that was removed. `before` is the one in the cache, `object` its last state.
    pub(crate) fn deleted<K: WatchedObject>(&self, before: Option<&K>, object: &K) {
        // Its last change may have come with the removal.
        K::enqueue_change(before, Some(object), self);
        K::enqueue_change(Some(object), None, self);
    }

    /// Enqueues every DaemonSet.
    pub(crate) fn enqueue_all(&self) {
        for ds in self.caches.daemon_sets.state() {
            self.queue.add(Key::from(&*ds));
        }
    }

    /// Enqueues the DaemonSets that a change of a node concerns.
    fn enqueue_affected(&self, change: &NodeChange<'_>) {
        let mut placements = self.placements.lock().unwrap_or_else(PoisonError::into_inner);
        // Those of earlier generations and of DaemonSets that are gone stay behind.
        let mut earlier = std::mem::take(&mut *placements);
        for ds in self.caches.daemon_sets.state() {
            let version = (ds.metadata.uid.clone(), ds.metadata.generation);
            let placement = earlier.remove(&version).unwrap_or_else(|| CompiledPlacement::new(&ds));
            // The revision that a held node keeps may place pods where the template of the DaemonSet does not.
            if change.affects(&placement) || self.policies.may_steer(&ds) {
                self.queue.add(Key::from(&*ds));
            }
            placements.insert(version, placement);
        }
    }

    /// Enqueues the DaemonSets about whose turns a node has changed: a turn or the answer of a gate has come or gone, or a person has
    /// cordoned or uncordoned the node.
    fn enqueue_in_turn(&self, before: Option<&Node>, after: Option<&Node>) {
        let is_unschedulable = |node: Option<&Node>| node.map(|node| node.spec.unschedulable);
        let is_cordoned = is_unschedulable(before) != is_unschedulable(after);
        let has_same = |key: &str, value: &str| {
            let has =
                |node: Option<&Node>| node.and_then(|node| node.metadata.annotations.get(key)) == Some(value);
            has(before) && has(after)
        };
        let annotations = before.iter().chain(&after).flat_map(|node| node.metadata.annotations.iter());
        let changed = annotations.filter(|(key, value)| is_cordoned || !has_same(key, value));
        let keys: HashSet<&str> = changed.filter_map(|(key, _)| turn_key(key)).collect();
        if keys.is_empty() {
            return;
        }
        for ds in self.caches.daemon_sets.state() {
            if keys.contains(turns::key(&ds).as_str()) {
                self.queue.add(Key::from(&*ds));
            }
        }
    }

    /// Enqueues the controller of an object; for an orphan every DaemonSet of its namespace, each of which may adopt it.
    fn enqueue_owner(&self, namespace: &str, owners: &[OwnerReference]) {
        match owners.iter().find(|owner| owner.controller == Some(true)) {
            Some(owner) if owner.kind == "DaemonSet" => {
                let key = Key { namespace: namespace.to_owned(), name: owner.name.clone() };
                if self.caches.daemon_set(&key).is_some_and(|ds| ds.metadata.uid == owner.uid) {
                    self.queue.add(key);
                }
            }
            Some(_) => {}
            None => {
                let all = self.caches.daemon_sets.state();
                for ds in all.iter().filter(|ds| ds.metadata.namespace == namespace) {
                    self.queue.add(Key::from(&**ds));
                }
            }
        }
    }
}

impl WatchedObject for DaemonSet {
    /// Each plan reads the DaemonSet anew. While there is none in its namespace, nobody notes the changes of its pods.
    fn as_changed(_: Option<&Self>, ds: &Self, after: Option<&Self>, _: &Caches) -> Option<ChangedObject> {
        after.is_none().then(|| ChangedObject::DaemonSetGone(Key::from(ds)))
    }

    fn note(event: &Event<Self>, caches: &Caches) {
        caches.wants.note(event, || caches.daemon_sets.state());
    }

    fn enqueue_listed_before(before: &[Arc<Self>], mapper: &EventMapper) {
        before.iter().for_each(|ds| mapper.queue.add(Key::from(&**ds)));
    }

    fn enqueue_change(before: Option<&Self>, after: Option<&Self>, mapper: &EventMapper) {
        if let (Some(before), Some(after)) = (before, after) {
            mapper.other_controller.observe(before, after);
        }
        if let Some(ds) = after.or(before) {
            mapper.queue.add(Key::from(ds));
        }
    }
}

impl WatchedObject for Pod {
    fn make_lean(&mut self, wants: &Wants) {
        wants.make_pod_lean(self);
    }

    fn as_changed(_: Option<&Self>, pod: &Self, _: Option<&Self>, caches: &Caches) -> Option<ChangedObject> {
        let (namespace, name) = (pod.metadata.namespace.as_str(), pod.metadata.name.as_str());
        caches.has_daemon_set_in(namespace).then(|| ChangedObject::Pod(namespace.into(), name.into()))
    }

    fn note(event: &Event<Self>, caches: &Caches) {
        match event {
            Event::Apply(pod) | Event::Delete(pod) => {
                caches.pods_are_at([pod.metadata.resource_version.as_str()], false);
            }
            Event::InitDone => {
                let pods = caches.pods.state();
                caches.pods_are_at(pods.iter().map(|pod| pod.metadata.resource_version.as_str()), true);
            }
            Event::Init | Event::InitApply(_) => {}
        }
    }

    fn enqueue_change(before: Option<&Self>, after: Option<&Self>, mapper: &EventMapper) {
        if let (Some(before), Some(after)) = (before, after)
            && !pod_affects_plans(before, after)
        {
            return;
        }
        // The change may have taken the pod from its owner.
        let is_taken = |before: &&Self| {
            after.is_none_or(|after| after.metadata.owner_references != before.metadata.owner_references)
        };
        for pod in [before.filter(is_taken), after].into_iter().flatten() {
            mapper.enqueue_owner(&pod.metadata.namespace, &pod.metadata.owner_references);
        }
    }
}

/// The key of the DaemonSet that an annotation of a node is about.
fn turn_key(annotation: &str) -> Option<&str> {
    annotation.strip_prefix(TURN_PREFIX).or_else(|| annotation.split_once(GATE_INFIX).map(|(_, key)| key))
}

/// The model holds only the fields that a plan reads, and the resource version, which changes with every write.
fn pod_affects_plans(before: &Pod, after: &Pod) -> bool {
    fn read(pod: &Pod) -> impl PartialEq {
        // Without `..`: a new field is read here, or named as one that never changes alone.
        let Pod { metadata, spec, status } = pod;
        let PodMeta {
            name: _,
            namespace: _,
            uid,
            resource_version: _,
            labels,
            annotations,
            owner_references,
            creation_timestamp: _,
            deletion_timestamp,
            deletion_grace_period_seconds: _,
            kube: _,
        } = metadata;
        (uid, labels, annotations, owner_references, deletion_timestamp, spec, status)
    }
    read(before) != read(after)
}

/// A policy may pull images.
fn node_affects_plans(before: &Node, after: &Node) -> bool {
    before.status.images != after.status.images || before.inputs(|_| true) != after.inputs(|_| true)
}

impl WatchedObject for ControllerRevision {
    fn as_changed(
        _: Option<&Self>,
        revision: &Self,
        _: Option<&Self>,
        caches: &Caches,
    ) -> Option<ChangedObject> {
        let (namespace, name) = (revision.metadata.namespace.as_str(), revision.metadata.name.as_str());
        caches.has_daemon_set_in(namespace).then(|| ChangedObject::Revision(namespace.into(), name.into()))
    }

    fn enqueue_change(before: Option<&Self>, after: Option<&Self>, mapper: &EventMapper) {
        for revision in [before, after].into_iter().flatten() {
            mapper.enqueue_owner(&revision.metadata.namespace, &revision.metadata.owner_references);
        }
    }
}

impl WatchedObject for Node {
    fn make_lean(&mut self, wants: &Wants) {
        wants.make_node_lean(self);
    }

    fn note(event: &Event<Self>, caches: &Caches) {
        match event {
            Event::Apply(node) | Event::Delete(node) => {
                caches.nodes_are_at([node.metadata.resource_version.as_str()], false);
            }
            Event::InitDone => {
                let nodes = caches.nodes.state();
                caches.nodes_are_at(nodes.iter().map(|node| node.metadata.resource_version.as_str()), true);
            }
            Event::Init | Event::InitApply(_) => {}
        }
    }

    fn as_changed(
        before: Option<&Self>,
        node: &Self,
        after: Option<&Self>,
        _: &Caches,
    ) -> Option<ChangedObject> {
        let is_heartbeat =
            before.zip(after).is_some_and(|(before, after)| !node_affects_plans(before, after));
        (!is_heartbeat).then(|| ChangedObject::Node(node.metadata.name.as_str().into()))
    }

    /// Heartbeats and images change nodes all the time and concern no DaemonSet; a node of another pool concerns only
    /// those that its labels do not exclude (v1.36 `updateNode`).
    fn enqueue_change(before: Option<&Self>, after: Option<&Self>, mapper: &EventMapper) {
        if after.is_none() {
            // A memory may wait for this node since an update deleted its pod, whatever its labels are now: with the node
            // the wait ends.
            return mapper.enqueue_all();
        }
        mapper.enqueue_in_turn(before, after);
        // Only a node that joins makes the pods of a DaemonSet matter that runs nothing there.
        let pods = if before.is_none() { mapper.caches.pods.state() } else { Vec::new() };
        if let Some(change) = NodeChange::new(pods.iter().map(Arc::as_ref), before, after) {
            mapper.enqueue_affected(&change);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::other_controller::Reaction;
    use crate::rollout::policy::ProcessRole;
    use daemonset::Policy;
    use daemonset::policy::RolloutPolicy;
    use serde_json::{Value, from_value, json};
    use std::time::Duration;

    const POOLS: [&str; 4] = ["gpu", "batch", "web", "edge"];

    /// Ten DaemonSets for each pool, and five for every node; no node, no pod.
    fn mapper() -> (EventMapper, crate::caches::CacheWriters) {
        let (caches, mut writers) = Caches::empty();
        let of_pool = POOLS
            .iter()
            .flat_map(|pool| (0..10).map(move |n| (format!("{pool}-{n}"), json!({"pool": pool}))));
        let everywhere = (0..5).map(|n| (format!("all-{n}"), json!({})));
        for (name, selector) in of_pool.chain(everywhere) {
            let ds: DaemonSet = from_value(json!({
                "metadata": {"name": name, "namespace": "ns", "uid": name},
                "spec": {
                    "selector": {"matchLabels": {"app": name}},
                    "template": {"metadata": {"labels": {"app": name}}, "spec": {"nodeSelector": selector}},
                },
            }))
            .unwrap();
            writers.daemon_sets.apply_watcher_event(&Event::Apply(ds));
        }
        let policies = Policies::new(Policy::default(), ProcessRole::Controller);
        let queue = Arc::new(Queue::new(Duration::ZERO));
        (EventMapper::new(caches, queue, policies, OtherController::new(Reaction::StopActing)), writers)
    }

    fn node(pool: &str, taints: Value, version: &str) -> Node {
        from_value(json!({
            "metadata": {"name": "a", "resourceVersion": version, "labels": {"pool": pool}},
            "spec": {"taints": taints},
        }))
        .unwrap()
    }

    /// How many DaemonSets these calls wake.
    fn woken(mapper: &EventMapper, events: impl FnOnce(&EventMapper)) -> usize {
        let fresh = EventMapper { queue: Arc::new(Queue::new(Duration::ZERO)), ..mapper.clone() };
        events(&fresh);
        fresh.queue.len()
    }

    /// The life of an autoscaled node wakes a third of the DaemonSets, 15 of 45, at each of its events but the last.
    #[test]
    fn a_node_wakes_only_the_daemon_sets_that_it_concerns() {
        let (mapper, _writers) = mapper();
        let startup = json!([{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]);
        let joined = node("gpu", startup, "1");
        let ready = node("gpu", json!([]), "2");
        let heartbeat = node("gpu", json!([]), "3");
        assert_eq!(woken(&mapper, |mapper| mapper.applied(None, &joined)), 15);
        assert_eq!(woken(&mapper, |mapper| mapper.applied(Some(&joined), &ready)), 15);
        assert_eq!(woken(&mapper, |mapper| mapper.applied(Some(&ready), &heartbeat)), 0);
        assert_eq!(woken(&mapper, |mapper| mapper.deleted(Some(&ready), &heartbeat)), 45);
        assert_eq!(woken(&mapper, EventMapper::enqueue_all), 45);
        let moved = node("web", json!([]), "4");
        assert_eq!(woken(&mapper, |mapper| mapper.applied(Some(&ready), &moved)), 25);
    }

    #[test]
    fn a_node_that_the_template_excludes_wakes_a_daemon_set_whose_rollout_is_steered() {
        let (mut mapper, mut writers) = mapper();
        let steered: DaemonSet = from_value(json!({
            "metadata": {"name": "s", "namespace": "ns", "annotations": {"rollout.daemonset/policy": "{}"}},
            "spec": {"template": {"spec": {"nodeSelector": {"pool": "tpu"}}}},
        }))
        .unwrap();
        writers.daemon_sets.apply_watcher_event(&Event::Apply(steered));
        let tainted = json!([{"key": "a", "effect": "NoSchedule"}]);
        let (before, after) = (node("gpu", json!([]), "1"), node("gpu", tainted, "2"));
        assert_eq!(woken(&mapper, |mapper| mapper.applied(Some(&before), &after)), 16);
        let heartbeat = node("gpu", json!([]), "3");
        assert_eq!(woken(&mapper, |mapper| mapper.applied(Some(&before), &heartbeat)), 0);
        mapper.policies =
            Policies::new(Policy::default().rollout(RolloutPolicy::default()), ProcessRole::Controller);
        assert_eq!(woken(&mapper, |mapper| mapper.applied(Some(&before), &after)), 46, "the file steers all");
    }

    /// A template may have thousands of terms.
    #[test]
    fn a_placement_is_compiled_once_for_each_generation() {
        let (mapper, mut writers) = mapper();
        let mut release = |generation: i64, pool: &str| {
            let ds = json!({
                "metadata": {"name": "new", "namespace": "ns", "uid": "new", "generation": generation},
                "spec": {
                    "selector": {"matchLabels": {"app": "new"}},
                    "template": {"metadata": {"labels": {"app": "new"}}, "spec": {"nodeSelector": {"pool": pool}}},
                },
            });
            writers.daemon_sets.apply_watcher_event(&Event::Apply(from_value(ds).unwrap()));
        };
        let gpu = node("gpu", json!([]), "1");
        let joins = || woken(&mapper, |mapper| mapper.applied(None, &gpu));
        release(1, "tpu");
        assert_eq!(joins(), 15);
        // No API server has two templates of one generation: here they tell which one was compiled.
        release(1, "gpu");
        assert_eq!(joins(), 15, "not compiled again");
        release(2, "gpu");
        assert_eq!(joins(), 16);
        assert_eq!(mapper.placements.lock().unwrap().len(), 46, "earlier generations are dropped");
    }

    #[test]
    fn a_pod_on_an_excluded_node_wakes_its_daemon_set_when_the_node_joins() {
        let (mapper, mut writers) = mapper();
        let pod: Pod = from_value(json!({
            "metadata": {
                "name": "web-3-x", "namespace": "ns", "uid": "x",
                "ownerReferences": [{"kind": "DaemonSet", "name": "web-3", "uid": "web-3", "controller": true}],
            },
            "spec": {"nodeName": "a"},
        }))
        .unwrap();
        writers.pods.apply_watcher_event(&Event::Apply(pod));
        let gpu = node("gpu", json!([]), "1");
        assert_eq!(woken(&mapper, |mapper| mapper.applied(None, &gpu)), 16);
    }

    /// The log has room for a few thousand changes: those that nobody reads would make every DaemonSet list all objects.
    #[test]
    fn the_log_has_the_changes_that_a_daemon_set_reads() {
        let (mapper, mut writers) = mapper();
        let caches = mapper.caches().clone();
        let joined = node("gpu", json!([]), "1");
        let logged = |before: &Node, after: &Node| {
            Node::as_changed(Some(before), after, Some(after), &caches).is_some()
        };
        assert!(!logged(&joined, &node("gpu", json!([]), "2")), "a heartbeat");
        assert!(logged(&joined, &node("web", json!([]), "2")), "a label");
        assert!(logged(&joined, &node("gpu", json!([{"key": "a", "effect": "NoSchedule"}]), "2")));
        assert!(Node::as_changed(None, &joined, Some(&joined), &caches).is_some(), "it is new");
        assert!(Node::as_changed(Some(&joined), &joined, None, &caches).is_some(), "it is gone");
        let pod = |namespace: &str| -> Pod {
            from_value(json!({"metadata": {"name": "x", "namespace": namespace}})).unwrap()
        };
        let is_logged = |pod: &Pod| Pod::as_changed(None, pod, Some(pod), &caches).is_some();
        assert_eq!([is_logged(&pod("ns")), is_logged(&pod("other"))], [true, false]);
        let is_read = |namespace: &str| {
            let revision: ControllerRevision =
                from_value(json!({"metadata": {"name": "x", "namespace": namespace}})).unwrap();
            ControllerRevision::as_changed(None, &revision, Some(&revision), &caches).is_some()
        };
        assert_eq!([is_read("ns"), is_read("other")], [true, false]);
        let first: DaemonSet =
            from_value(json!({"metadata": {"name": "first", "namespace": "other"}})).unwrap();
        assert_eq!(DaemonSet::as_changed(None, &first, Some(&first), &caches), None);
        writers.daemon_sets.apply_watcher_event(&Event::Apply(first.clone()));
        assert!(is_logged(&pod("other")) && is_read("other"));
        // It may come back with the same uid, and lacks the changes in between.
        let gone = ChangedObject::DaemonSetGone(Key::from(&first));
        assert_eq!(DaemonSet::as_changed(Some(&first), &first, None, &caches), Some(gone));
    }

    #[test]
    fn a_daemon_set_that_changes_wakes_itself() {
        let (mapper, _writers) = mapper();
        let ds: DaemonSet = from_value(json!({"metadata": {"name": "new", "namespace": "ns"}})).unwrap();
        assert_eq!(woken(&mapper, |mapper| mapper.applied(None, &ds)), 1);
        assert_eq!(woken(&mapper, |mapper| mapper.deleted(None, &ds)), 1);
    }

    #[test]
    fn a_revision_wakes_its_owner_and_an_orphan_all_of_its_namespace() {
        let (mapper, _writers) = mapper();
        let revision = |namespace: &str, owners: Value| -> ControllerRevision {
            from_value(
                json!({"metadata": {"name": "r", "namespace": namespace, "uid": "r", "ownerReferences": owners}}),
            )
            .unwrap()
        };
        let owner =
            |kind: &str, uid: &str| json!([{"kind": kind, "name": "web-1", "uid": uid, "controller": true}]);
        let woken = |namespace: &str, owners: Value| {
            woken(&mapper, |mapper| mapper.applied(None, &revision(namespace, owners)))
        };
        assert_eq!(woken("ns", owner("DaemonSet", "web-1")), 1);
        assert_eq!(woken("ns", owner("DaemonSet", "an-earlier-one")), 0);
        assert_eq!(woken("ns", owner("StatefulSet", "web-1")), 0);
        assert_eq!(woken("ns", json!([])), 45);
        assert_eq!(woken("other", json!([])), 0);
    }

    #[test]
    fn each_field_of_a_pod_that_a_plan_reads_wakes_its_owner() {
        let (mapper, _writers) = mapper();
        let pod = |pointer: &str, value: Value| -> Pod {
            let owners = json!([{"kind": "DaemonSet", "name": "web-1", "uid": "web-1", "controller": true}]);
            let metadata = json!({"name": "x", "namespace": "ns", "uid": "x", "ownerReferences": owners});
            let mut pod = json!({"metadata": metadata, "spec": {}, "status": {}});
            let (parent, member) = pointer.rsplit_once('/').unwrap();
            pod.pointer_mut(parent).unwrap()[member] = value;
            from_value(pod).unwrap()
        };
        let woken = |pointer: &str, value: Value| {
            let before = pod("/metadata/resourceVersion", json!("1"));
            woken(&mapper, |mapper| mapper.applied(Some(&before), &pod(pointer, value)))
        };
        assert_eq!(woken("/metadata/resourceVersion", json!("2")), 0);
        assert_eq!(woken("/spec/nodeName", json!("a")), 1);
        assert_eq!(woken("/status/phase", json!("Running")), 1);
        assert_eq!(woken("/metadata/uid", json!("another")), 1);
        assert_eq!(woken("/metadata/labels", json!({"app": "x"})), 1);
        assert_eq!(woken("/metadata/deletionTimestamp", json!("2026-01-01T12:00:00Z")), 1);
    }

    /// An entry in flight ends once the cache is at its version.
    #[test]
    fn events_of_pods_note_the_version_of_the_cache() {
        let (mapper, mut writers) = mapper();
        let at = |version: &str| -> Pod {
            from_value(json!({"metadata": {"name": "x", "namespace": "ns", "resourceVersion": version}}))
                .unwrap()
        };
        let version = || mapper.caches().pods_version();
        assert_eq!(version(), None);
        Pod::note(&Event::Apply(at("7")), mapper.caches());
        assert_eq!(version(), Some(7));
        Pod::note(&Event::Delete(at("9")), mapper.caches());
        Pod::note(&Event::InitApply(at("11")), mapper.caches());
        assert_eq!(version(), Some(9), "a list counts once it is complete");
        writers.pods.apply_watcher_event(&Event::Apply(at("8")));
        Pod::note(&Event::InitDone, mapper.caches());
        assert_eq!(version(), Some(8), "another list begins anew");
    }

    #[test]
    fn a_pod_that_changes_hands_wakes_both_owners() {
        let (mapper, _writers) = mapper();
        let pod = |owner: &str| -> Pod {
            let owners = json!([{"kind": "DaemonSet", "name": owner, "uid": owner, "controller": true}]);
            from_value(json!({"metadata": {"name": "x", "namespace": "ns", "ownerReferences": owners}}))
                .unwrap()
        };
        let mut written = pod("web-1");
        written.metadata.resource_version = "2".to_owned();
        assert_eq!(woken(&mapper, |mapper| mapper.applied(None, &pod("web-1"))), 1);
        assert_eq!(woken(&mapper, |mapper| mapper.applied(Some(&pod("web-1")), &written)), 0);
        assert_eq!(woken(&mapper, |mapper| mapper.applied(Some(&pod("web-1")), &pod("web-2"))), 2);
        assert_eq!(woken(&mapper, |mapper| mapper.deleted(Some(&pod("web-1")), &pod("web-1"))), 1);
    }
}
