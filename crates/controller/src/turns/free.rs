//! The resources of each node that no pod requests, for policies with `fit: Hold`.
//!
//! They need a watch of all pods of the cluster, of whose containers only the requests are kept, and one of the nodes' `allocatable`. Both
//! begin when the first policy asks.

use super::side_watch::{Reading, SideWatch, Sink, resource_of};
use crate::caches::{Caches, Key};
use crate::queue::Queue;
use crate::tasks::Tasks;
use daemonset::internal::null_is_default;
use daemonset::kubernetes::free_resources;
use daemonset::model::{NodeName, Pod, PodMeta, PodSpec, PodStatus, ResourceList, Uid};
use k8s_openapi::api::core::v1::Node as WholeNode;
use kube::Client;
use kube::core::ObjectMeta;
use kube::runtime::watcher::Event;
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A node: the resources that its pods may request.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Capacity {
    #[serde(default)]
    metadata: ObjectMeta,
    #[serde(default)]
    status: NodeStatusForm,
}
resource_of!(Capacity, WholeNode);

#[derive(Debug, Clone, Default, Deserialize)]
struct NodeStatusForm {
    #[serde(default, deserialize_with = "null_is_default")]
    allocatable: ResourceList,
}

/// The free resources of the nodes, by name.
pub(crate) type Free = HashMap<NodeName, Arc<ResourceList>>;

/// The free resources of all nodes.
#[derive(Clone)]
pub(crate) struct FreeResources {
    pods: SideWatch<Pod>,
    nodes: SideWatch<Capacity>,
    known: Arc<KnownNodes>,
}

/// What both watches have shown.
struct KnownNodes {
    nodes: Mutex<Nodes>,
    caches: Caches,
    queue: Arc<Queue<Key>>,
}

#[derive(Default)]
struct Nodes {
    by_name: HashMap<NodeName, Room>,
    /// The node of each pod.
    node_of: HashMap<Uid, NodeName>,
    /// Pods and nodes of lists that are not complete.
    listed_pods: Vec<Pod>,
    listed_nodes: Vec<Capacity>,
}

/// The pods of a node, and what it has for them.
#[derive(Default)]
struct Room {
    allocatable: Option<ResourceList>,
    pods: HashMap<Uid, Pod>,
    /// Until one of them changes.
    free: Option<Arc<ResourceList>>,
}

impl FreeResources {
    /// All DaemonSets are put into this queue once the lists are complete.
    pub(crate) fn new(caches: Caches, queue: Arc<Queue<Key>>) -> Self {
        let known = Arc::new(KnownNodes { nodes: Mutex::default(), caches, queue });
        FreeResources {
            pods: SideWatch::new("the requests of all pods", known.clone()),
            nodes: SideWatch::new("the resources of all nodes", known.clone()),
            known,
        }
    }

    pub(crate) fn connect(&self, client: &Client, tasks: &Tasks) {
        self.pods.connect(client, tasks);
        self.nodes.connect(client, tasks);
    }

    /// The free resources of all nodes now.
    pub(crate) fn read(&self) -> Reading<Free> {
        // Both are asked, so that both begin.
        let (pods, nodes) = (self.pods.ask(), self.nodes.ask());
        match (pods, nodes) {
            (Reading::Read(()), Reading::Read(())) => Reading::Read(self.known.nodes().free()),
            (Reading::Unreadable(reason), _) | (_, Reading::Unreadable(reason)) => {
                Reading::Unreadable(reason)
            }
            (Reading::NotYet, _) | (_, Reading::NotYet) => Reading::NotYet,
        }
    }
}

impl KnownNodes {
    fn nodes(&self) -> MutexGuard<'_, Nodes> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enqueue_all(&self) {
        for ds in self.caches.daemon_sets.state() {
            self.queue.add(Key::from(&*ds));
        }
    }
}

impl Nodes {
    fn free(&mut self) -> Free {
        let nodes = self.by_name.iter_mut();
        nodes.filter_map(|(name, room)| Some((name.clone(), room.free()?))).collect()
    }

    fn add_pod(&mut self, pod: Pod) {
        let uid = pod.metadata.uid.clone();
        self.remove_pod(&uid);
        if !pod.spec.node_name.as_str().is_empty() {
            let node = pod.spec.node_name.clone();
            let room = self.by_name.entry(node.clone()).or_default();
            room.free = None;
            room.pods.insert(uid.clone(), pod);
            self.node_of.insert(uid, node);
        }
    }

    fn remove_pod(&mut self, uid: &Uid) {
        let Some(node) = self.node_of.remove(uid) else { return };
        if let Some(room) = self.by_name.get_mut(&node) {
            room.free = None;
            room.pods.remove(uid);
            if room.pods.is_empty() && room.allocatable.is_none() {
                self.by_name.remove(&node);
            }
        }
    }

    fn set_allocatable(&mut self, node: &Capacity, allocatable: Option<ResourceList>) {
        let name: NodeName = node.metadata.name.as_deref().unwrap_or_default().into();
        let room = self.by_name.entry(name.clone()).or_default();
        // A node writes its status every few minutes.
        if room.allocatable != allocatable {
            (room.allocatable, room.free) = (allocatable, None);
        }
        if room.pods.is_empty() && room.allocatable.is_none() {
            self.by_name.remove(&name);
        }
    }
}

impl Room {
    fn free(&mut self) -> Option<Arc<ResourceList>> {
        let (allocatable, pods) = (self.allocatable.as_ref()?, &self.pods);
        let free = self.free.get_or_insert_with(|| Arc::new(free_resources(allocatable, pods.values())));
        Some(Arc::clone(free))
    }
}

impl Sink<Pod> for KnownNodes {
    fn take(&self, event: Event<Pod>) {
        let mut nodes = self.nodes();
        match event {
            Event::Init => nodes.listed_pods.clear(),
            Event::InitApply(pod) => nodes.listed_pods.push(requests(pod)),
            Event::InitDone => {
                let listed = std::mem::take(&mut nodes.listed_pods);
                for room in nodes.by_name.values_mut() {
                    (room.pods, room.free) = Default::default();
                }
                nodes.node_of.clear();
                listed.into_iter().for_each(|pod| nodes.add_pod(pod));
            }
            Event::Apply(pod) => nodes.add_pod(requests(pod)),
            Event::Delete(pod) => nodes.remove_pod(&pod.metadata.uid),
        }
    }

    fn reading_changed(&self) {
        self.enqueue_all();
    }
}

impl Sink<Capacity> for KnownNodes {
    fn take(&self, event: Event<Capacity>) {
        let mut nodes = self.nodes();
        match event {
            Event::Init => nodes.listed_nodes.clear(),
            Event::InitApply(node) => nodes.listed_nodes.push(lean(node)),
            Event::InitDone => {
                let listed = std::mem::take(&mut nodes.listed_nodes);
                for room in nodes.by_name.values_mut() {
                    (room.allocatable, room.free) = Default::default();
                }
                for mut node in listed {
                    let allocatable = std::mem::take(&mut node.status.allocatable);
                    nodes.set_allocatable(&node, Some(allocatable));
                }
            }
            Event::Apply(mut node) => {
                let allocatable = std::mem::take(&mut node.status.allocatable);
                nodes.set_allocatable(&node, Some(allocatable));
            }
            Event::Delete(node) => nodes.set_allocatable(&node, None),
        }
    }

    fn reading_changed(&self) {
        self.enqueue_all();
    }
}

/// Its name is all that is kept beside its resources.
fn lean(node: Capacity) -> Capacity {
    Capacity { metadata: ObjectMeta { name: node.metadata.name, ..ObjectMeta::default() }, ..node }
}

/// The fields of a pod from which its requests are computed.
fn requests(pod: Pod) -> Pod {
    let PodSpec { node_name, mut containers, mut init_containers, resources, overhead, .. } = pod.spec;
    for container in containers.iter_mut().chain(&mut init_containers) {
        (container.name, container.image) = Default::default();
    }
    Pod {
        metadata: PodMeta { uid: pod.metadata.uid, ..PodMeta::default() },
        spec: PodSpec { node_name, containers, init_containers, resources, overhead, ..PodSpec::default() },
        status: PodStatus { phase: pod.status.phase, ..PodStatus::default() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json, to_value};
    use std::time::Duration;

    fn pod(uid: &str, node: &str, cpu: &str) -> Pod {
        from_value(json!({
            "metadata": {"name": uid, "uid": uid, "annotations": {"note": "a"}},
            "spec": {"nodeName": node, "containers": [{"name": "c", "image": "v", "resources": {"requests": {"cpu": cpu}}}]},
        }))
        .unwrap()
    }

    fn node(name: &str, cpu: &str) -> Capacity {
        from_value(json!({"metadata": {"name": name}, "status": {"allocatable": {"cpu": cpu}}})).unwrap()
    }

    fn known() -> KnownNodes {
        let queue = Arc::new(Queue::new(Duration::ZERO));
        KnownNodes { nodes: Mutex::default(), caches: Caches::empty().0, queue }
    }

    /// The free cpu of each node, by name.
    fn free(known: &KnownNodes) -> Vec<(String, String)> {
        let free = known.nodes().free();
        let cpu = |free: &ResourceList| to_value(&free["cpu"]).unwrap().as_str().unwrap().to_owned();
        let mut free: Vec<_> = free.iter().map(|(name, free)| (name.to_string(), cpu(free))).collect();
        free.sort();
        free
    }

    fn is(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, cpu)| ((*name).to_owned(), (*cpu).to_owned())).collect()
    }

    #[test]
    fn the_free_resources_follow_pods_and_nodes() {
        let known = known();
        for event in
            [Event::Init, Event::InitApply(node("a", "4")), Event::InitApply(node("b", "2")), Event::InitDone]
        {
            known.take(event);
        }
        for event in [Event::Init, Event::InitApply(pod("p", "a", "1")), Event::InitDone] {
            known.take(event);
        }
        assert_eq!(free(&known), is(&[("a", "3"), ("b", "2")]));
        known.take(Event::Apply(pod("q", "a", "500m")));
        known.take(Event::Apply(pod("not-scheduled", "", "9")));
        known.take(Event::Apply(pod("early", "c", "1")));
        assert_eq!(free(&known), is(&[("a", "2500m"), ("b", "2")]), "nothing is known of c");
        let mut finished = pod("p", "a", "1");
        finished.status.phase = "Succeeded".into();
        known.take(Event::Apply(finished));
        known.take(Event::Delete(pod("q", "a", "500m")));
        known.take(Event::Apply(node("c", "2")));
        known.take(Event::Delete(node("b", "2")));
        assert_eq!(free(&known), is(&[("a", "4"), ("c", "1")]));
        for event in [Event::Init, Event::InitApply(pod("r", "c", "2")), Event::InitDone] {
            known.take(event);
        }
        assert_eq!(free(&known), is(&[("a", "4"), ("c", "0")]), "a list begins anew");
    }
}
