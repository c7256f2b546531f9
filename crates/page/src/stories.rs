//! The built-in stories: clusters to look at, made by the simulation.

use daemonset::model::{DaemonSet, Labels};
use daemonset::policy::Permissions;
use daemonset_apiserver::admission::{Rules, create};
use daemonset_sim::{Behaviour, Cluster, Distribution, Probability, Settings};
use daemonset_view::cluster::policy::POLICY;
use daemonset_view::policy;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// 2026-01-01T09:00:00Z.
const MORNING: i64 = 1_767_258_000;

const CANARY: &str = "\
# A tenth of the nodes first; too many crashes take all nodes back.
waves:
- upTo: 10%
  bakeSeconds: 300
- {}
onFailure:
  action: RollBack
  maxFailures: 1
  maxRestarts: 3
";

const DRIVEN: &str = "\
# Beside Kubernetes' own controller, which leaves the pods of OnDelete alone.
externalController:
  type: RollingUpdate
  rollingUpdate:
    maxUnavailable: 3
waves:
- upTo: 5
  bakeSeconds: 120
- upTo: 50%
  bakeSeconds: 300
- {}
";

/// A cluster with something to see in it.
#[derive(Clone, Copy, Serialize)]
pub struct Story {
    /// Its name in a link.
    pub name: &'static str,
    /// In a few words.
    pub title: &'static str,
    /// One sentence.
    pub about: &'static str,
    #[serde(skip)]
    tell: fn() -> Cluster,
    /// The policy of its DaemonSet.
    #[serde(skip)]
    policy: Option<&'static str>,
}

/// All of them.
pub fn stories() -> [Story; 6] {
    let story = |name, title, about, tell| Story { name, title, about, tell, policy: None };
    [
        story("healthy", "Healthy", "60 nodes, each with its pod: there is nothing to do.", healthy),
        story(
            "stuck",
            "Stuck on a node",
            "The new version crashes on one node, and maxUnavailable 1 lets no other node go on.",
            stuck,
        ),
        story(
            "dead-nodes",
            "Dead nodes eat the budget",
            "Three nodes are down, and three nodes may be down: no pod of the new version starts.",
            dead_nodes,
        ),
        story(
            "canary",
            "A canary fails and goes back",
            "The first wave crashes; the policy takes its nodes back to the version before.",
            canary,
        )
        .with_policy(CANARY),
        story(
            "surge",
            "Surge with ports that clash",
            "Each new pod wants the host port that the old one holds: none of them ever starts.",
            surge,
        ),
        story(
            "driven",
            "Driven beside Kubernetes",
            "OnDelete, and a policy that drives the update in waves beside Kubernetes' own controller.",
            driven,
        )
        .with_policy(DRIVEN),
    ]
}

impl Story {
    fn with_policy(self, policy: &'static str) -> Self {
        Story { policy: Some(policy), ..self }
    }

    /// As kubectl prints it: a List.
    pub fn dump(&self) -> String {
        let cluster = (self.tell)();
        let now = cluster.now();
        let kind = |kind: &str, version: &str, object: Value| {
            let mut named = json!({"apiVersion": version, "kind": kind});
            if let (Some(named), Value::Object(members)) = (named.as_object_mut(), object) {
                named.extend(members);
            }
            named
        };
        let daemon_set = |mut daemon_set: Value| {
            // The simulated controller reads JSON; a person writes YAML.
            let annotations = daemon_set.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut);
            if let (Some(policy), Some(annotations)) = (self.policy, annotations) {
                annotations.insert(POLICY.to_owned(), policy.into());
            }
            kind("DaemonSet", "apps/v1", daemon_set)
        };
        let daemon_sets = cluster.daemon_set().map(|it| daemon_set(json!(it)));
        let revisions = cluster.revisions().map(|it| kind("ControllerRevision", "apps/v1", json!(it)));
        let nodes = cluster.nodes().map(|it| kind("Node", "v1", reporting(json!(it), now)));
        let pods = cluster.pods().map(|it| kind("Pod", "v1", told(json!(it))));
        let items: Vec<Value> = daemon_sets.into_iter().chain(revisions).chain(nodes).chain(pods).collect();
        json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string()
    }
}

/// The kubelet of a node that is up has just reported; the simulation keeps no such times.
fn reporting(mut node: Value, now: Timestamp) -> Value {
    let is_ready = |condition: &Value| {
        condition.get("type").is_some_and(|kind| kind == "Ready")
            && condition.get("status").is_some_and(|it| it == "True")
    };
    let conditions = node.pointer("/status/conditions").and_then(Value::as_array);
    let is_up = conditions.is_none_or(|conditions| conditions.is_empty() || conditions.iter().any(is_ready));
    if let (true, Some(members)) = (is_up, node.as_object_mut()) {
        let ready = json!({"type": "Ready", "status": "True", "lastHeartbeatTime": now, "lastTransitionTime": at(MORNING)});
        members.insert("status".to_owned(), json!({"conditions": [ready]}));
    }
    node
}

/// Kubelet and scheduler tell of a pod that is not Ready; the simulation leaves out their words.
fn told(mut pod: Value) -> Value {
    let text =
        |pod: &Value, path: &str| pod.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
    let since = text(&pod, "/metadata/creationTimestamp");
    let condition = match (text(&pod, "/spec/nodeName"), pod.pointer("/status/conditions")) {
        (_, Some(_)) => return pod,
        (node, None) if node.is_empty() => json!({
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": "0/30 nodes are available: 1 node(s) didn't have free ports for the requested pod ports, 29 node(s) didn't \
                        satisfy plugin(s) [NodeAffinity].",
            "lastTransitionTime": since,
        }),
        (_, None) => {
            json!({"type": "Ready", "status": "False", "reason": "ContainersNotReady", "lastTransitionTime": since})
        }
    };
    if let Some(status) = pod.pointer_mut("/status").and_then(Value::as_object_mut) {
        status.insert("conditions".to_owned(), json!([condition]));
    }
    pod
}

/// The policy as the simulated controller reads it.
fn steered(policy: &str) -> Value {
    let policy = policy::read(policy.as_bytes()).unwrap_or_default();
    json!({POLICY: policy.to_string()})
}

/// A DaemonSet that has come up on so many nodes.
struct Start {
    nodes: u32,
    strategy: Value,
    annotations: Value,
    host_port: Option<u16>,
    min_ready_seconds: u32,
}

impl Default for Start {
    fn default() -> Self {
        Start {
            nodes: 60,
            strategy: json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}}),
            annotations: json!({}),
            host_port: None,
            min_ready_seconds: 10,
        }
    }
}

impl Start {
    fn cluster(self) -> Cluster {
        let Start { nodes, strategy, annotations, host_port, min_ready_seconds } = self;
        let mut settings = Settings::default().container_statuses(true);
        settings.behaviour.ready =
            Distribution::long_tail(SignedDuration::from_secs(5), SignedDuration::from_secs(15));
        settings.controller.reads_annotations = true;
        settings.controller.powers = Permissions::all();
        let mut cluster = Cluster::with_settings(settings, 11, at(MORNING));
        for number in 1..=nodes {
            cluster.add_node(&format!("node-{number:02}"), Labels::default());
        }
        let ports: Vec<Value> =
            host_port.map(|port| json!({"containerPort": port, "hostPort": port})).into_iter().collect();
        let daemon_set = json!({
            "apiVersion": "apps/v1",
            "kind": "DaemonSet",
            "metadata": {"name": "agent", "namespace": "monitoring", "annotations": annotations},
            "spec": {
                "selector": {"matchLabels": {"app": "agent"}},
                "template": {
                    "metadata": {"labels": {"app": "agent"}},
                    "spec": {"containers": [{"name": "agent", "image": "registry.example/agent:1", "ports": ports}],
                        // As most agents: a node that is down is a target node all the same.
                        "tolerations": [{"operator": "Exists"}],
                    },
                },
                "updateStrategy": strategy,
                "minReadySeconds": min_ready_seconds,
            },
        });
        // With the defaults that an API server writes out.
        let daemon_set = create(&daemon_set, &Rules::new()).unwrap_or(daemon_set);
        if let Ok(daemon_set) = DaemonSet::deserialize(&daemon_set) {
            cluster.create_daemon_set(daemon_set);
        }
        cluster.run_for(SignedDuration::from_mins(30));
        cluster
    }
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap_or_default()
}

fn release(cluster: &mut Cluster, behaviour: Behaviour) {
    cluster.release(behaviour, |template| {
        if let Some(image) = template.pointer_mut("/spec/containers/0/image") {
            *image = json!("registry.example/agent:2");
        }
    });
}

fn healthy() -> Cluster {
    Start::default().cluster()
}

fn stuck() -> Cluster {
    let mut cluster = Start { nodes: 40, ..Start::default() }.cluster();
    release(&mut cluster, Behaviour::default().crash_loops(Probability::percent(3)));
    cluster.run_for(SignedDuration::from_mins(40));
    cluster
}

fn dead_nodes() -> Cluster {
    let strategy = json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "10%"}});
    let mut cluster = Start { nodes: 30, strategy, ..Start::default() }.cluster();
    for node in ["node-07", "node-19", "node-23"] {
        cluster.take_down(node);
    }
    cluster.run_for(SignedDuration::from_mins(3));
    release(&mut cluster, Behaviour::default());
    cluster.run_for(SignedDuration::from_mins(12));
    cluster
}

fn canary() -> Cluster {
    let strategy = json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2}});
    let annotations = steered(CANARY);
    let mut cluster = Start { nodes: 50, strategy, annotations, ..Start::default() }.cluster();
    release(&mut cluster, Behaviour::default().crash_loops(Probability::ALWAYS));
    let goes_back = |cluster: &Cluster| {
        let plan = cluster.plan().and_then(Result::ok);
        let stage = plan.and_then(|plan| plan.report.rollout.map(|rollout| rollout.stage));
        matches!(stage, Some(daemonset::report::RolloutStage::RolledBack { .. }))
    };
    for _ in 0..600 {
        cluster.run_for(SignedDuration::from_secs(1));
        if goes_back(&cluster) {
            break;
        }
    }
    // The old version starts again on the first of them.
    cluster.run_for(SignedDuration::from_secs(4));
    cluster
}

fn surge() -> Cluster {
    let strategy =
        json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": "10%"}});
    let start = Start { nodes: 30, strategy, host_port: Some(9100), ..Start::default() };
    let mut cluster = start.cluster();
    release(&mut cluster, Behaviour::default());
    cluster.run_for(SignedDuration::from_mins(20));
    cluster
}

fn driven() -> Cluster {
    let annotations = steered(DRIVEN);
    let start = Start { nodes: 40, strategy: json!({"type": "OnDelete"}), annotations, ..Start::default() };
    let mut cluster = start.cluster();
    release(&mut cluster, Behaviour::default());
    cluster.run_for(SignedDuration::from_secs(330));
    cluster
}
