//! A cluster whose only DaemonSet makes the nodes Ready, and whose controller runs on these nodes. The taints are those that a cloud
//! and Kubernetes set; the test plays the kubelets, the network's pods, and the cloud.

use crate::cluster::Cluster;
use crate::manifests::{apply, deploy, kubectl};
use crate::process::{Account, Controller, kubeconfig};
use http::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;

const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const CONTROL_PLANE: &str = "node-role.kubernetes.io/control-plane";
const UNINITIALIZED: &str = "node.cloudprovider.kubernetes.io/uninitialized";
/// Two nodes of the control plane and a worker.
const NODES: [&str; 3] = ["cold-a", "cold-b", "cold-worker"];
const COLD: &str = "/api/v1/nodes?labelSelector=cold%3Dtrue";
const REPLICAS: &str = "/api/v1/namespaces/kube-system/pods?labelSelector=app%3Ddaemonset-controller";

fn is_control_plane(node: &str) -> bool {
    node != "cold-worker"
}

/// As a kubelet registers it in a cloud.
fn node(name: &str) -> Value {
    let mut labels = json!({"cold": "true", "kubernetes.io/hostname": name, "kubernetes.io/os": "linux"});
    let mut taints = vec![json!({"key": UNINITIALIZED, "value": "true", "effect": "NoSchedule"})];
    if is_control_plane(name) {
        labels[CONTROL_PLANE] = json!("");
        taints.push(json!({"key": CONTROL_PLANE, "effect": "NoSchedule"}));
    }
    let room = json!({"cpu": "2", "memory": "4Gi", "pods": "110"});
    json!({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels},
        "spec": {"taints": taints},
        "status": {
            "capacity": room, "allocatable": room,
            "addresses": [{"type": "InternalIP", "address": "192.0.2.1"}],
            "conditions": conditions(false),
        },
    })
}

/// The heartbeat of a kubelet, without which Kubernetes calls a node unreachable.
fn conditions(has_network: bool) -> Value {
    let word = |is_true: bool| if is_true { "True" } else { "False" };
    let now = jiff::Timestamp::now();
    let condition = |kind: &str, is_true: bool| {
        json!({"type": kind, "status": word(is_true), "reason": "Played", "message": "",
               "lastHeartbeatTime": now, "lastTransitionTime": now})
    };
    json!([condition("Ready", has_network), condition("NetworkUnavailable", !has_network)])
}

/// The network's DaemonSet, as one of a CNI.
fn cni() -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "cni"},
        "spec": {
            "selector": {"matchLabels": {"app": "cni"}},
            "template": {
                "metadata": {"labels": {"app": "cni"}},
                "spec": {
                    "hostNetwork": true, "tolerations": [{"operator": "Exists"}], "nodeSelector": {"cold": "true"},
                    "containers": [{"name": "cni", "image": "registry.example/cni:v1"}],
                },
            },
        },
    })
}

fn text<'a>(object: &'a Value, path: &str) -> &'a str {
    object.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

fn taints(node: &Value) -> Vec<&str> {
    node["spec"]["taints"].as_array().into_iter().flatten().map(|taint| text(taint, "/key")).collect()
}

/// What kubelets, the network's pods and the cloud do, once.
async fn play(cluster: &Cluster) {
    let pods = cluster.pods("cni").await;
    for node in cluster.list(COLD).await {
        let name = text(&node, "/metadata/name").to_owned();
        let pod = pods.iter().find(|pod| text(pod, "/spec/nodeName") == name);
        if let Some(pod) = pod.filter(|pod| text(pod, "/status/phase") != "Running") {
            let running = json!({"status": {
                "phase": "Running", "startTime": jiff::Timestamp::now(),
                "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": jiff::Timestamp::now()}],
            }});
            let path = cluster.core(&format!("pods/{}/status", text(pod, "/metadata/name")));
            cluster.request(Method::PATCH, &path, running, STRATEGIC).await.unwrap();
        }
        let path = format!("/api/v1/nodes/{name}");
        let heartbeat = json!({"status": {"conditions": conditions(pod.is_some())}});
        cluster.request(Method::PATCH, &format!("{path}/status"), heartbeat, STRATEGIC).await.unwrap();
        if pod.is_some() && taints(&node).contains(&UNINITIALIZED) {
            let others =
                node["spec"]["taints"].as_array().unwrap().iter().filter(|t| t["key"] != UNINITIALIZED);
            let version = &node["metadata"]["resourceVersion"];
            let body = json!({"metadata": {"resourceVersion": version}, "spec": {"taints": others.collect::<Vec<_>>()}});
            // Kubernetes changes taints, too: after a conflict the next round tries again.
            let _ = cluster.request(Method::PATCH, &path, body, MERGE).await;
        }
    }
}

async fn clear(cluster: &Cluster) {
    let folder = deploy("controller");
    kubectl(&["delete", "--ignore-not-found", "--wait=false", "-k", folder.to_str().unwrap()]);
    let now = json!({"gracePeriodSeconds": 0});
    for path in [COLD, REPLICAS, &cluster.core("pods?")] {
        cluster.request(Method::DELETE, path, now.clone(), "application/json").await.unwrap();
    }
}

#[tokio::test]
async fn a_cluster_without_a_network_starts() {
    let Some(cluster) = Cluster::find("cold").await else { return };
    if cluster.has_another_controller().await || kubectl(&["version", "--client"]).is_none() {
        return;
    }
    clear(&cluster).await;
    for name in NODES {
        cluster.post("/api/v1/nodes", node(name)).await;
    }
    cluster
        .until("the nodes have the taint of a node that is not ready", async |cluster| {
            play(cluster).await;
            let nodes = cluster.list(COLD).await;
            nodes.len() == 3
                && nodes.iter().all(|node| taints(node).contains(&"node.kubernetes.io/not-ready"))
        })
        .await;
    cluster.post(&cluster.apps("daemonsets"), cni()).await;
    apply("controller", &[]).unwrap();

    cluster
        .until("each node of the control plane has a replica", async |cluster| {
            play(cluster).await;
            let pods = cluster.list(REPLICAS).await;
            let nodes: BTreeSet<&str> = pods.iter().map(|pod| text(pod, "/spec/nodeName")).collect();
            nodes == BTreeSet::from(["cold-a", "cold-b"])
        })
        .await;
    assert!(cluster.pods("cni").await.is_empty(), "no controller runs yet");
    let pods = cluster.list(REPLICAS).await;
    let container = &pods[0]["spec"]["containers"][0];
    let args: Vec<&str> =
        container["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap()).collect();
    let account = kubeconfig(&cluster, Account::CONTROLLER).await;
    let controller = Controller::start_with(&account, &args);

    cluster
        .until("the nodes are Ready and have no taint but the control plane's", async |cluster| {
            play(cluster).await;
            let ready = cluster.daemon_set("cni").await["status"]["numberReady"] == 3;
            ready
                && cluster
                    .list(COLD)
                    .await
                    .iter()
                    .all(|node| taints(node).iter().all(|key| *key == CONTROL_PLANE))
        })
        .await;
    let probe = &container["readinessProbe"]["httpGet"];
    let port = &container["ports"][0]["containerPort"];
    let address = format!("{}:{port}", text(probe, "/host"));
    assert!(answer(&address, text(probe, "/path")).starts_with("HTTP/1.1 200"), "{address}");
    assert!(controller.terminate().await.success());
    clear(&cluster).await;
    cluster.delete(&format!("/api/v1/namespaces/{}", cluster.namespace)).await;
}

/// The probe of a kubelet.
fn answer(address: &str, path: &str) -> String {
    let mut connection = TcpStream::connect(address).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    connection.write_all(request.as_bytes()).unwrap();
    let mut text = String::new();
    connection.read_to_string(&mut text).unwrap();
    text
}
