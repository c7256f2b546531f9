//! `stuck` as a person on call calls it: rollouts that do not move, each as a small dump.

mod again;
mod causes;
mod controller;
mod events;
mod failed;
mod kept;
mod page;
mod ports;
mod said;
mod simulated;
mod time;

use crate::plan::file;
use crate::program::{Ran, run};
use serde_json::{Value, json};

const NOW: &str = "2026-01-01T10:00:00Z";

fn ago(seconds: i64) -> String {
    let now: jiff::Timestamp = NOW.parse().unwrap();
    now.checked_sub(jiff::SignedDuration::from_secs(seconds)).unwrap().to_string()
}

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;

/// DaemonSet logging/agent in the middle of a rollout with maxUnavailable 1, on nodes that are all Ready.
#[derive(Clone)]
pub(crate) struct Cluster {
    daemon_set: Value,
    nodes: Vec<Value>,
    pods: Vec<Value>,
    revisions: Vec<Value>,
    events: Vec<Value>,
    namespaces: Vec<Value>,
}

fn template(image: &str) -> Value {
    let tolerations = json!([{"operator": "Exists"}]);
    let container = json!({"name": "agent", "image": image});
    json!({"metadata": {"labels": {"app": "agent"}}, "spec": {"containers": [container], "tolerations": tolerations}})
}

fn owner() -> Value {
    json!([{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "uid-of-agent", "controller": true}])
}

fn revision(name: &str, number: i64, age: i64) -> Value {
    let mut template = template(&format!("agent:{number}"));
    template["$patch"] = json!("replace");
    json!({
        "apiVersion": "apps/v1", "kind": "ControllerRevision",
        "metadata": {
            "name": name, "namespace": "logging", "uid": name, "creationTimestamp": ago(age),
            "labels": {"app": "agent", "controller-revision-hash": name}, "ownerReferences": owner(),
        },
        "data": {"spec": {"template": template}}, "revision": number,
    })
}

fn node(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "creationTimestamp": ago(240 * HOUR)},
        "status": {"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": ago(240 * HOUR)}]},
    })
}

/// Ready since so many seconds.
fn pod(node: &str, revision: &str, ready_for: i64) -> Value {
    let (image, suffix) = if revision == "old" { ("agent:1", "h7k2x") } else { ("agent:2", "q9d4m") };
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": format!("agent-{}-{suffix}", node.trim_start_matches("node-")), "namespace": "logging",
            "uid": format!("{revision}-{node}"), "creationTimestamp": ago(ready_for + 10),
            "labels": {"app": "agent", "controller-revision-hash": revision}, "ownerReferences": owner(),
        },
        "spec": {"nodeName": node, "containers": [{"name": "agent", "image": image}]},
        "status": {
            "phase": "Running", "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": ago(ready_for)}],
            "containerStatuses": [{"name": "agent", "image": image, "ready": true, "restartCount": 0, "state": {"running": {}}}],
        },
    })
}

impl Cluster {
    /// The first nodes have the new version, each for so many seconds; the others the old one.
    pub(crate) fn updated(nodes: usize, ready_for: i64) -> Self {
        let names = ["node-1", "node-2", "node-3", "node-4", "node-5"];
        let counts = json!({
            "observedGeneration": 2, "desiredNumberScheduled": 5, "currentNumberScheduled": 5, "numberReady": 5,
            "numberAvailable": 5, "updatedNumberScheduled": nodes,
        });
        let daemon_set = json!({
            "apiVersion": "apps/v1", "kind": "DaemonSet",
            "metadata": {
                "name": "agent", "namespace": "logging", "uid": "uid-of-agent", "generation": 2,
                "creationTimestamp": ago(240 * HOUR), "annotations": {"deprecated.daemonset.template.generation": "2"},
            },
            "spec": {
                "selector": {"matchLabels": {"app": "agent"}}, "template": template("agent:2"),
                "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}},
            },
            "status": counts,
        });
        let pods = names.iter().enumerate().map(|(number, name)| match number < nodes {
            true => pod(name, "new", ready_for),
            false => pod(name, "old", 200 * HOUR),
        });
        Cluster {
            daemon_set,
            nodes: names.map(node).into(),
            pods: pods.collect(),
            revisions: vec![revision("old", 1, 240 * HOUR), revision("new", 2, ready_for + MINUTE)],
            events: Vec::new(),
            namespaces: Vec::new(),
        }
    }

    /// A member of the DaemonSet, by its JSON pointer.
    pub(crate) fn set(mut self, pointer: &str, value: Value) -> Self {
        let (parent, member) = pointer.rsplit_once('/').unwrap();
        self.daemon_set.pointer_mut(parent).unwrap()[member] = value;
        self
    }

    pub(crate) fn annotated(mut self, name: &str, value: &str) -> Self {
        self.daemon_set["metadata"]["annotations"][format!("rollout.daemonset/{name}")] = json!(value);
        self
    }

    /// The node has no pod.
    pub(crate) fn without_pod(mut self, node: &str) -> Self {
        self.pods.retain(|pod| pod["spec"]["nodeName"] != node);
        self
    }

    /// The node has the new version, and its pod has been created so many seconds ago and is not Ready.
    pub(crate) fn not_ready(self, node: &str, seconds: i64) -> Self {
        let mut cluster = self.without_pod(node);
        let mut late = pod(node, "new", seconds - 10);
        late["status"]["conditions"][0]["status"] = json!("False");
        late["status"]["containerStatuses"][0]["ready"] = json!(false);
        cluster.pods.push(late);
        cluster
    }

    /// The node has a new pod beside the old one, which was created so many seconds ago.
    fn beside(mut self, node: &str, seconds: i64, change: impl Fn(&mut Value)) -> Self {
        let mut beside = pod(node, "new", seconds - 10);
        change(&mut beside);
        self.pods.push(beside);
        self
    }

    /// The container of the node's pod is in this state.
    pub(crate) fn container(self, node: &str, state: Value) -> Self {
        self.pod(node, |pod| {
            let container = &mut pod["status"]["containerStatuses"][0];
            state.as_object().unwrap().iter().for_each(|(member, value)| container[member] = value.clone());
        })
    }

    pub(crate) fn pod(mut self, node: &str, change: impl Fn(&mut Value)) -> Self {
        self.pods.iter_mut().filter(|pod| pod["spec"]["nodeName"] == node).for_each(change);
        self
    }

    /// The pod of the node should have been gone so many seconds ago.
    pub(crate) fn overdue(self, node: &str, seconds: i64) -> Self {
        self.pod(node, |pod| {
            pod["metadata"]["deletionTimestamp"] = json!(ago(seconds));
            pod["metadata"]["deletionGracePeriodSeconds"] = json!(30);
        })
    }

    /// The condition Ready of a node, and the pods on it as the node controller marks them.
    pub(crate) fn down(mut self, name: &str, status: &str, seconds: i64) -> Self {
        let (reason, message) = match status {
            "Unknown" => ("NodeStatusUnknown", "Kubelet stopped posting node status."),
            _ => ("KubeletNotReady", "container runtime network not ready"),
        };
        let node = self.nodes.iter_mut().find(|node| node["metadata"]["name"] == name).unwrap();
        node["status"]["conditions"] = json!([{
            "type": "Ready", "status": status, "reason": reason, "message": message, "lastTransitionTime": ago(seconds),
        }]);
        self.pod(name, |pod| {
            let ready = &mut pod["status"]["conditions"][0];
            (ready["status"], ready["lastTransitionTime"]) = (json!("False"), json!(ago(seconds)));
        })
    }

    /// The kubelets of the nodes that are Ready have reported at [`NOW`].
    pub(crate) fn reported(mut self) -> Self {
        for condition in self.nodes.iter_mut().map(|node| &mut node["status"]["conditions"][0]) {
            if condition["status"] == "True" {
                condition["lastHeartbeatTime"] = json!(NOW);
            }
        }
        self
    }

    /// The event of a refused call as Kubernetes' controller writes it, so many seconds ago for the last time.
    fn refused(mut self, message: &str, seconds: i64) -> Self {
        self.events.push(json!({
            "apiVersion": "v1", "kind": "Event", "type": "Warning", "reason": "FailedCreate", "message": message, "count": 21,
            "metadata": {"name": format!("agent.{seconds}"), "namespace": "logging", "creationTimestamp": ago(seconds)},
            "involvedObject": {"apiVersion": "apps/v1", "kind": "DaemonSet", "namespace": "logging", "name": "agent", "uid": "uid-of-agent"},
            "eventTime": null, "firstTimestamp": ago(HOUR), "lastTimestamp": ago(seconds),
            "source": {"component": "daemonset-controller"}, "reportingComponent": "daemonset-controller",
        }));
        self
    }

    /// Its namespace is being deleted since so many seconds.
    fn in_ending_namespace(mut self, seconds: i64) -> Self {
        let metadata = json!({"name": "logging", "creationTimestamp": ago(240 * HOUR), "deletionTimestamp": ago(seconds)});
        self.namespaces.push(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}));
        self
    }

    pub(crate) fn json(&self) -> String {
        let all =
            [vec![self.daemon_set.clone()], self.nodes.clone(), self.pods.clone(), self.revisions.clone()];
        crate::plan::list([all.concat(), self.events.clone(), self.namespaces.clone()].concat())
    }

    /// Asks a question about it, at [`NOW`].
    pub(crate) fn ask(&self, words: &str) -> Ran {
        let unique = words.replace(['/', ' '], "-");
        let path = file(&format!("stuck-{:x}-{unique}.json", self.hash()), self.json());
        let words: Vec<&str> = words.split(' ').collect();
        let (first, rest) = words.split_first().unwrap();
        run(first, &[rest, &["-f", &path, "--now", NOW]].concat(), b"")
    }

    fn hash(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        self.json().hash(&mut hasher);
        hasher.finish()
    }

    /// The answer about a rollout that does not move.
    pub(crate) fn stuck(&self) -> String {
        let ran = self.ask("stuck");
        assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""), "{}", ran.out);
        ran.out
    }

    /// The answer about one that does.
    pub(crate) fn moves(&self) -> String {
        let ran = self.ask("stuck");
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
        ran.out
    }

    pub(crate) fn why(&self, subject: &str) -> String {
        let ran = self.ask(&format!("why {subject}"));
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
        ran.out
    }

    pub(crate) fn findings(&self) -> Value {
        let ran = self.ask("stuck -o json");
        serde_json::from_str::<Value>(&ran.out).unwrap()["findings"].take()
    }
}
