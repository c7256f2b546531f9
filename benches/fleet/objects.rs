//! The objects of a fleet, in the form of an API server.

use super::Scenario;
use super::order::{scatter, suffix};
use daemonset::model::{ContainerImage, ControllerRevision, Node, Pod};
use jiff::{SignedDuration, Timestamp};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// 2026-01-01T12:00:00Z.
pub(super) const NOW: Timestamp = Timestamp::constant(1_767_268_800, 0);
const UID: &str = "5b0e1f0e-3c55-4d8e-9b8e-6f1f6f0d8a11";

/// The kind of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Plain,
    ControlPlane,
    Gpu,
    /// With a NoSchedule taint that the template does not tolerate.
    Batch,
    /// Does not match the node selector.
    Windows,
    Cordoned,
    Unreachable,
}

impl Kind {
    pub(super) fn of(number: usize) -> Self {
        match scatter(number as u64 ^ 0xa5a5) % 1000 {
            0..2 => Kind::ControlPlane,
            2..22 => Kind::Gpu,
            22..32 => Kind::Batch,
            32..42 => Kind::Windows,
            42..47 => Kind::Cordoned,
            47..50 => Kind::Unreachable,
            _ => Kind::Plain,
        }
    }
}

/// The template from which a pod was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Made {
    Now,
    Before,
    LongAgo,
}

impl Made {
    fn hash(self) -> &'static str {
        match self {
            Made::Now => "6d4b9f7c58",
            Made::Before => "57c8d5f9bb",
            Made::LongAgo => "7f9c4d86d4",
        }
    }

    fn generation(self) -> u32 {
        match self {
            Made::Now => 7,
            Made::Before => 6,
            Made::LongAgo => 5,
        }
    }
}

/// The state of a pod; minReadySeconds is 10.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    Available,
    Young,
    NotReady,
    Pending,
    Terminating,
}

/// Parses like a client that lists in pages, so that the memory of each object is contiguous as it is there.
pub(super) fn parse<T: DeserializeOwned>(objects: impl Iterator<Item = Value>) -> Vec<T> {
    const PAGE: usize = 500;
    let mut objects = objects.peekable();
    let mut parsed = Vec::new();
    while objects.peek().is_some() {
        let page: Value = objects.by_ref().take(PAGE).collect();
        let page = page.to_string();
        parsed.extend(serde_json::from_str::<Vec<T>>(&page).unwrap());
    }
    parsed
}

fn before_now(seconds: u64) -> String {
    (NOW - SignedDuration::from_secs(seconds as i64)).to_string()
}

fn node_name(number: usize) -> String {
    format!(
        "ip-10-{}-{}-{}.eu-central-1.compute.internal",
        32 + number / 65_536,
        number / 256 % 256,
        number % 256
    )
}

/// A generated uuid.
fn uid(number: u64) -> String {
    let (high, low) = (scatter(number), scatter(!number));
    format!(
        "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xfff,
        low >> 52,
        low & 0xffff_ffff_ffff
    )
}

/// An exporter of node metrics, in the state that the scenario needs.
pub(super) fn daemon_set(scenario: Scenario) -> Value {
    let rolling_update = match scenario {
        Scenario::Surge => json!({"maxUnavailable": 0, "maxSurge": "10%"}),
        Scenario::Steady
        | Scenario::MidRollout
        | Scenario::Waves
        | Scenario::Turns
        | Scenario::Broken
        | Scenario::Bootstrap => {
            json!({"maxUnavailable": "10%", "maxSurge": 0})
        }
    };
    json!({
        "metadata": {
            "name": "node-exporter", "namespace": "monitoring", "uid": UID, "resourceVersion": "88120934",
            "generation": 9, "creationTimestamp": before_now(40_000_000),
            "annotations": {"deprecated.daemonset.template.generation": Made::Now.generation().to_string()},
            "labels": {"app.kubernetes.io/name": "node-exporter", "app.kubernetes.io/managed-by": "Helm"},
        },
        "spec": {
            "selector": {"matchLabels": {
                "app.kubernetes.io/instance": "monitoring", "app.kubernetes.io/name": "node-exporter",
            }},
            "template": template(Made::Now),
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": rolling_update},
            "minReadySeconds": 10,
            "revisionHistoryLimit": 10,
        },
    })
}

/// The template's labels, without the labels that a controller adds.
fn labels() -> Value {
    json!({
        "app.kubernetes.io/component": "metrics",
        "app.kubernetes.io/instance": "monitoring",
        "app.kubernetes.io/managed-by": "Helm",
        "app.kubernetes.io/name": "node-exporter",
        "app.kubernetes.io/part-of": "observability",
        "jobLabel": "node-exporter",
    })
}

fn tolerations() -> Value {
    json!([
        {"key": "node-role.kubernetes.io/control-plane", "operator": "Exists", "effect": "NoSchedule"},
        {"key": "nvidia.com/gpu", "operator": "Equal", "value": "present", "effect": "NoSchedule"},
        {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"},
        {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute"},
        {"key": "node.kubernetes.io/disk-pressure", "operator": "Exists", "effect": "NoSchedule"},
        {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"},
    ])
}

fn template(made: Made) -> Value {
    let image = image(made);
    let virtual_nodes = json!({"key": "type", "operator": "NotIn", "values": ["virtual-kubelet"]});
    let architectures = json!({"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64", "arm64"]});
    json!({
        "metadata": {"creationTimestamp": null, "labels": labels()},
        "spec": {
            "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [virtual_nodes, architectures]}],
            }}},
            "containers": [{
                "name": "node-exporter",
                "image": image,
                "args": ["--path.procfs=/host/proc", "--path.sysfs=/host/sys", "--path.rootfs=/host/root",
                    "--web.listen-address=[$(HOST_IP)]:9100"],
                "env": [{"name": "HOST_IP", "value": "0.0.0.0"}],
                "ports": [{"name": "metrics", "containerPort": 9100, "protocol": "TCP"}],
                "livenessProbe": {"httpGet": {"path": "/", "port": "metrics", "scheme": "HTTP"}},
                "readinessProbe": {"httpGet": {"path": "/", "port": "metrics", "scheme": "HTTP"}},
                "resources": {"limits": {"memory": "180Mi"}, "requests": {"cpu": "102m", "memory": "180Mi"}},
                "volumeMounts": [
                    {"mountPath": "/host/proc", "name": "proc", "readOnly": true},
                    {"mountPath": "/host/sys", "name": "sys", "readOnly": true},
                    {"mountPath": "/host/root", "name": "root", "readOnly": true},
                ],
            }],
            "dnsPolicy": "ClusterFirst",
            "nodeSelector": {"kubernetes.io/os": "linux"},
            "priorityClassName": "system-node-critical",
            "restartPolicy": "Always",
            "serviceAccountName": "node-exporter",
            "terminationGracePeriodSeconds": 30,
            "tolerations": tolerations(),
            "volumes": [
                {"hostPath": {"path": "/proc", "type": ""}, "name": "proc"},
                {"hostPath": {"path": "/sys", "type": ""}, "name": "sys"},
                {"hostPath": {"path": "/", "type": ""}, "name": "root"},
            ],
        },
    })
}

/// The current revision and its two predecessors.
pub(super) fn revisions() -> impl Iterator<Item = Value> {
    [Made::Before, Made::Now, Made::LongAgo].into_iter().map(revision)
}

fn revision(made: Made) -> Value {
    let mut template = template(made);
    template["$patch"] = json!("replace");
    let mut labels = labels();
    labels["controller-revision-hash"] = json!(made.hash());
    json!({
        "metadata": {
            "name": format!("node-exporter-{}", made.hash()), "namespace": "monitoring",
            "uid": uid(u64::from(made.generation()) << 56), "resourceVersion": "88120001",
            "creationTimestamp": before_now(1_000_000 / u64::from(made.generation())),
            "labels": labels, "ownerReferences": [owner_reference()],
        },
        "data": {"spec": {"template": template}},
        "revision": made.generation(),
    })
}

/// A canary, two of three zones, and the rest.
pub(super) fn three_waves() -> Value {
    let zones = json!(["eu-central-1a", "eu-central-1b"]);
    let in_zones = json!([{"key": "topology.kubernetes.io/zone", "operator": "In", "values": zones}]);
    let on_failure =
        json!({"maxFailures": "20%", "availableWithinSeconds": 600, "progressDeadlineSeconds": 3600});
    json!({"rollout": {
        "waves": [{"upTo": "1%", "bakeSeconds": 60}, {"nodes": {"matchExpressions": in_zones}}, {"bakeSeconds": 60}],
        "onFailure": on_failure,
    }})
}

/// The image of a pod's container.
fn image(made: Made) -> String {
    format!("quay.io/prometheus/node-exporter:v1.{}.0", made.generation())
}

/// Turns with a cordon and a gate, and images that are pulled first.
pub(super) fn turns_and_pulls() -> Value {
    json!({"turn": {"cordon": true, "gates": ["drained"]}, "pull": {"parallel": "10%"}})
}

pub(super) fn has_image(node: &mut Node, made: Made) {
    let mut on_node = ContainerImage::default();
    on_node.names.push(image(made));
    node.status.images.push(on_node);
}

/// Carries out a patch that begins a turn, and opens its gate.
pub(super) fn begin_turn(
    node: &mut Node,
    unschedulable: bool,
    annotations: &BTreeMap<String, Option<String>>,
    opens: bool,
) {
    node.spec.unschedulable |= unschedulable;
    for (key, value) in annotations {
        let Some(value) = value else { continue };
        node.metadata.annotations.extend([(key, value)]);
        let gate = key.replace("turn.daemonset/", "drained.gate.daemonset/");
        let request = value.trim_end_matches(" cordoned");
        node.metadata.annotations.extend(opens.then_some((gate, request)));
    }
}

/// A pull pod, soon after its creation.
pub(super) fn pulling(mut manifest: Value, number: usize) -> Pod {
    manifest["metadata"]["uid"] = json!(format!("pull-{number}"));
    manifest["metadata"]["creationTimestamp"] = json!(before_now(20));
    manifest["status"] = json!({"phase": "Pending"});
    serde_json::from_value(manifest).unwrap()
}

/// Marks the rollout of the newest revision as begun, in its second wave; others as completed.
pub(super) fn mark(revision: &mut ControllerRevision) {
    let number = revision.revision;
    let mark = |what: &str, rest: &str| {
        (format!("rollout.daemonset/{what}"), format!("{number} {}{rest}", before_now(100)))
    };
    let marks = if number == i64::from(Made::Now.generation()) {
        vec![mark("started", ""), mark("wave", " 1")]
    } else {
        vec![mark("completed", "")]
    };
    revision.metadata.annotations.extend(marks);
}

fn owner_reference() -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet", "name": "node-exporter", "uid": UID,
        "controller": true, "blockOwnerDeletion": true,
    })
}

/// A node of a cloud provider.
pub(super) fn node(number: usize, kind: Kind) -> Value {
    let zone = ["eu-central-1a", "eu-central-1b", "eu-central-1c"][number % 3];
    let arch = ["arm64", "amd64", "amd64", "amd64"][number % 4];
    let os = if kind == Kind::Windows { "windows" } else { "linux" };
    let instance = if kind == Kind::Gpu { "g5.4xlarge" } else { "m6i.4xlarge" };
    json!({
        "metadata": {"name": node_name(number), "labels": {
            "beta.kubernetes.io/arch": arch,
            "beta.kubernetes.io/instance-type": instance,
            "beta.kubernetes.io/os": os,
            "eks.amazonaws.com/capacityType": "ON_DEMAND",
            "eks.amazonaws.com/nodegroup": format!("workers-{}", number % 7),
            "failure-domain.beta.kubernetes.io/region": "eu-central-1",
            "failure-domain.beta.kubernetes.io/zone": zone,
            "kubernetes.io/arch": arch,
            "kubernetes.io/hostname": node_name(number),
            "kubernetes.io/os": os,
            "node.kubernetes.io/instance-type": instance,
            "topology.ebs.csi.aws.com/zone": zone,
            "topology.kubernetes.io/region": "eu-central-1",
            "topology.kubernetes.io/zone": zone,
        }},
        "spec": {"taints": taints(kind), "unschedulable": kind == Kind::Cordoned},
        "status": {"conditions": [
            {"type": "MemoryPressure", "status": "False"},
            {"type": "DiskPressure", "status": "False"},
            {"type": "PIDPressure", "status": "False"},
            {"type": "Ready", "status": if kind == Kind::Unreachable { "Unknown" } else { "True" }},
        ]},
    })
}

fn taints(kind: Kind) -> Value {
    match kind {
        Kind::Plain | Kind::Windows => json!([]),
        Kind::ControlPlane => {
            json!([{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}])
        }
        Kind::Gpu => json!([{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]),
        Kind::Batch => json!([{"key": "dedicated", "value": "batch", "effect": "NoSchedule"}]),
        Kind::Cordoned => json!([{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]),
        Kind::Unreachable => json!([
            {"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"},
            {"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"},
        ]),
    }
}

/// A pod of the DaemonSet.
pub(super) fn pod(number: usize, made: Made, health: Health) -> Value {
    let key = (number as u64) << 8 | u64::from(made.generation());
    let age = 3_000 + scatter(key) % 100_000;
    let (phase, ready, since) = match health {
        Health::Available => ("Running", "True", age - 20),
        Health::Young => ("Running", "True", 1 + key % 9),
        Health::NotReady => ("Running", "False", 40 + key % 60),
        Health::Pending => ("Pending", "False", 3 + key % 9),
        Health::Terminating => ("Running", "True", age - 20),
    };
    let mut labels = labels();
    labels["controller-revision-hash"] = json!(made.hash());
    labels["pod-template-generation"] = json!(made.generation().to_string());
    let mut pod = json!({
        "metadata": {
            "name": format!("node-exporter-{}-{}", suffix(key), suffix(!key)), "namespace": "monitoring",
            "uid": uid(key), "resourceVersion": (88_000_000 + key % 100_000).to_string(),
            "generateName": "node-exporter-", "creationTimestamp": before_now(age),
            "annotations": {"prometheus.io/scrape": "true"},
            "labels": labels, "ownerReferences": [owner_reference()],
        },
        "spec": {
            "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchFields": [
                    {"key": "metadata.name", "operator": "In", "values": [node_name(number)]},
                ]}],
            }}},
            "nodeName": node_name(number), "tolerations": tolerations(),
        },
        "status": {"phase": phase, "conditions": [
            {"type": "Initialized", "status": "True", "lastTransitionTime": before_now(age)},
            {"type": "Ready", "status": ready, "lastTransitionTime": before_now(since)},
            {"type": "ContainersReady", "status": ready, "lastTransitionTime": before_now(since)},
            {"type": "PodScheduled", "status": "True", "lastTransitionTime": before_now(age)},
        ]},
    });
    if health == Health::Terminating {
        pod["metadata"]["deletionTimestamp"] = json!((NOW + SignedDuration::from_secs(20)).to_string());
    }
    pod
}

/// A pod of the namespace with another owner.
pub(super) fn stranger(number: usize) -> Value {
    let key = !(number as u64);
    json!({
        "metadata": {
            "name": format!("prometheus-agent-7d9c5b8f6d-{}{}", suffix(key), number), "namespace": "monitoring",
            "uid": uid(key), "resourceVersion": "87000000", "creationTimestamp": before_now(90_000),
            "labels": {"app.kubernetes.io/name": "prometheus-agent", "pod-template-hash": "7d9c5b8f6d"},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "controller": true,
                "name": "prometheus-agent-7d9c5b8f6d", "uid": uid(7)}],
        },
        "spec": {"nodeName": node_name(number)},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    })
}
