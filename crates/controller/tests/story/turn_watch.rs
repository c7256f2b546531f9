//! A watch of all nodes and of the pods of a namespace. It keeps every event, and judges them in the order in which they were stored.

use crate::budget_watch::{is_ready, runs, uid};
use crate::cluster::Cluster;
use futures::TryStreamExt;
use kube::Api;
use kube::api::{DynamicObject, WatchEvent, WatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinHandle;

const TURN: &str = "turn.daemonset/";

/// An object as an event has shown it, by the version of its change.
struct Event {
    object: Value,
    is_gone: bool,
}

/// The events so far, by their versions, which all kinds share.
type Events = Arc<Mutex<BTreeMap<u64, Event>>>;

/// The watch.
pub struct TurnWatch {
    /// The objects before it.
    listed: Vec<Value>,
    events: Events,
    tasks: Vec<JoinHandle<()>>,
}

/// The rules of the turns of a DaemonSet.
pub struct Rules<'r> {
    /// The label `app` of its pods.
    pub name: &'r str,
    /// The key of its turns.
    pub key: String,
    pub gates: &'r [&'r str],
    pub max_unavailable: usize,
}

/// The figures of the watch.
#[derive(Debug, Default)]
pub struct Seen {
    pub events: usize,
    /// Most nodes in turn, and without an available pod.
    pub in_turn: usize,
    pub unavailable: usize,
    /// Pods that were taken.
    pub taken: usize,
    /// Pull pods, and the most of them that were under way.
    pub pulled: usize,
    pub pulling: usize,
    /// Nodes that were made schedulable again.
    pub uncordoned: usize,
    /// The first violation.
    pub breach: Option<String>,
}

/// The state of the cluster after an event.
#[derive(Default)]
struct Now {
    nodes: BTreeMap<String, Value>,
    pods: BTreeMap<String, Value>,
}

impl TurnWatch {
    pub async fn start(cluster: &Cluster) -> Self {
        let mut watch = TurnWatch { listed: Vec::new(), events: Events::default(), tasks: Vec::new() };
        for (kind, path) in [("Node", "/api/v1/nodes".to_owned()), ("Pod", cluster.core("pods"))] {
            let list = cluster.try_get(&path).await.unwrap();
            watch.listed.extend(list["items"].as_array().unwrap().iter().cloned());
            let version = list["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
            let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", kind));
            let api: Api<DynamicObject> = match kind {
                "Node" => Api::all_with(cluster.client.clone(), &resource),
                _ => Api::namespaced_with(cluster.client.clone(), &cluster.namespace, &resource),
            };
            watch.tasks.push(tokio::spawn(follow(api, version, Arc::clone(&watch.events))));
        }
        watch
    }

    /// Ends the watch, and judges its events for each of these DaemonSets.
    pub async fn finish(self, rules: &[Rules<'_>], nodes: usize) -> Vec<Seen> {
        // The events of the last writes may be on their way.
        tokio::time::sleep(Duration::from_secs(1)).await;
        for task in self.tasks {
            assert!(!task.is_finished(), "a watch has ended");
            task.abort();
        }
        let events = self.events.lock().unwrap();
        rules.iter().map(|rules| replay(&self.listed, &events, rules, nodes)).collect()
    }
}

async fn follow(api: Api<DynamicObject>, mut version: String, events: Events) {
    // The API server ends a watch after some minutes.
    loop {
        let watched = api.watch(&WatchParams::default().timeout(290), &version).await.unwrap();
        let mut watched = pin!(watched);
        while let Some(event) = watched.try_next().await.unwrap() {
            let (object, is_gone) = match event {
                WatchEvent::Added(object) | WatchEvent::Modified(object) => (object, false),
                WatchEvent::Deleted(object) => (object, true),
                WatchEvent::Bookmark(bookmark) => {
                    version = bookmark.metadata.resource_version;
                    continue;
                }
                WatchEvent::Error(error) => panic!("{error:?}"),
            };
            version = object.metadata.resource_version.clone().unwrap();
            let object = serde_json::to_value(&object).unwrap();
            events.lock().unwrap().insert(version.parse().unwrap(), Event { object, is_gone });
        }
    }
}

fn replay(listed: &[Value], events: &BTreeMap<u64, Event>, rules: &Rules<'_>, nodes: usize) -> Seen {
    let mut now = Now::default();
    for object in listed {
        now.put(object);
    }
    let mut seen = Seen { events: events.len(), ..Seen::default() };
    let mut pulled = BTreeSet::new();
    for (version, event) in events {
        let before = now.clone_of(&event.object);
        let is_gone = event.is_gone;
        if is_gone {
            now.remove(&event.object)
        } else {
            now.put(&event.object)
        }
        let breach = now.judge(before.as_ref(), event, rules, nodes, &mut seen);
        seen.breach = seen.breach.take().or_else(|| Some(format!("at version {version}: {}", breach?)));
        let pulls = now.pods.values().filter(|pod| is_pull_pod(pod));
        pulled.extend(pulls.clone().map(uid));
        seen.pulling = seen.pulling.max(pulls.filter(|pod| runs(pod)).count());
    }
    seen.pulled = pulled.len();
    seen
}

impl Now {
    fn of(&mut self, object: &Value) -> &mut BTreeMap<String, Value> {
        if is_node(object) { &mut self.nodes } else { &mut self.pods }
    }

    fn clone_of(&mut self, object: &Value) -> Option<Value> {
        self.of(object).get(name(object)).cloned()
    }

    fn put(&mut self, object: &Value) {
        self.of(object).insert(name(object).to_owned(), object.clone());
    }

    fn remove(&mut self, object: &Value) {
        self.of(object).remove(name(object));
    }

    /// Judges an event, after which this is the state.
    fn judge(
        &self,
        before: Option<&Value>,
        event: &Event,
        rules: &Rules<'_>,
        nodes: usize,
        seen: &mut Seen,
    ) -> Option<String> {
        let object = &event.object;
        let in_turn = self.nodes.values().filter(|node| request(node, &rules.key).is_some()).count();
        seen.in_turn = seen.in_turn.max(in_turn);
        let own = || self.pods.values().filter(|pod| pod["metadata"]["labels"]["app"] == rules.name);
        let available: BTreeSet<&str> = own().filter(|pod| runs(pod) && is_ready(pod)).map(node_of).collect();
        seen.unavailable = seen.unavailable.max(nodes - available.len());
        if in_turn.max(nodes - available.len()) > rules.max_unavailable {
            return Some(format!("{in_turn} nodes in turn, {} nodes are available", available.len()));
        }
        if is_node(object) {
            let was_cordoned = before.is_some_and(is_cordoned);
            if was_cordoned && !is_cordoned(object) {
                seen.uncordoned += 1;
                let annotations = object["metadata"]["annotations"].as_object();
                if annotations.is_some_and(|all| all.keys().any(|key| key.starts_with(TURN))) {
                    return Some(format!("{} is schedulable in a turn", name(object)));
                }
            }
            return None;
        }
        let is_terminating = |pod: &Value| pod["metadata"].get("deletionTimestamp").is_some();
        let is_own = object["metadata"]["labels"]["app"] == rules.name;
        if is_own && is_terminating(object) && before.is_some_and(|before| !is_terminating(before)) {
            seen.taken += 1;
            return self.closed_gate(object, rules);
        }
        None
    }

    /// A gate that is closed though the pod is taken.
    fn closed_gate(&self, pod: &Value, rules: &Rules<'_>) -> Option<String> {
        let node = self.nodes.get(node_of(pod))?;
        let request = request(node, &rules.key);
        let is_open = |gate: &&&str| {
            request.is_some() && annotation(node, &format!("{gate}.gate.daemonset/{}", rules.key)) == request
        };
        let closed = rules.gates.iter().find(|gate| !is_open(gate));
        let closed = closed.copied().or_else(|| request.is_none().then_some("turn"))?;
        Some(format!("{} is taken, and {closed} is closed: {}", name(pod), node["metadata"]["annotations"]))
    }
}

fn is_node(object: &Value) -> bool {
    object["metadata"].get("namespace").is_none()
}

fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or_default()
}

fn node_of(pod: &Value) -> &str {
    pod["spec"]["nodeName"].as_str().unwrap_or_default()
}

fn annotation<'o>(object: &'o Value, key: &str) -> Option<&'o str> {
    object["metadata"]["annotations"][key].as_str()
}

/// The request of the node's turn with this key.
pub fn request<'n>(node: &'n Value, key: &str) -> Option<&'n str> {
    annotation(node, &format!("{TURN}{key}")).map(|turn| turn.trim_end_matches(" cordoned"))
}

pub fn is_cordoned(node: &Value) -> bool {
    node["spec"]["unschedulable"] == true
}

pub fn is_pull_pod(pod: &Value) -> bool {
    pod["metadata"]["labels"].get("pull.daemonset/owner").is_some()
}
