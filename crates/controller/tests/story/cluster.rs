//! A real cluster, and the calls of a user with all rights in it.

use daemonset::kubernetes::rollout_status;
use daemonset::model::DaemonSet;
use http::{Method, Request};
use kube::{Client, Config};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{Instant, sleep};

pub const IMAGE: &str = "registry.example/web";

/// The cluster that `KUBECONFIG` points to, and a namespace in it for one test.
#[derive(Clone)]
pub struct Cluster {
    pub client: Client,
    pub config: Config,
    pub namespace: String,
    /// Nodes that are Ready and without taints.
    pub nodes: usize,
}

impl Cluster {
    /// `None`, with a printed reason, where `KUBECONFIG` is not set.
    pub async fn find(name: &str) -> Option<Self> {
        if std::env::var_os("KUBECONFIG").is_none() {
            println!("skipped: KUBECONFIG points to no cluster");
            return None;
        }
        let config = Config::infer().await.expect("KUBECONFIG can be read");
        let client = Client::try_from(config.clone()).unwrap();
        let namespace = format!("{name}-{:x}", fastrand::u32(..));
        let mut cluster = Cluster { client, config, namespace, nodes: 0 };
        let body = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": cluster.namespace}});
        cluster.post("/api/v1/namespaces", body).await;
        cluster.nodes = cluster.ready_nodes().await;
        cluster
            .until("the namespace has its service account", async |cluster| {
                cluster.try_get(&cluster.core("serviceaccounts/default")).await.is_some()
            })
            .await;
        Some(cluster)
    }

    /// Whether another DaemonSet controller runs here.
    pub async fn has_another_controller(&self) -> bool {
        let acted = self.another_controller_acts().await;
        if acted {
            println!("skipped: another DaemonSet controller runs in this cluster");
        }
        acted
    }

    /// Whether a new DaemonSet gets pods.
    pub async fn another_controller_acts(&self) -> bool {
        self.create("probe", json!({"maxUnavailable": 1})).await;
        sleep(Duration::from_secs(3)).await;
        let acted = !self.pods("probe").await.is_empty();
        self.request(Method::DELETE, &self.apps("daemonsets/probe"), Value::Null, "").await.unwrap();
        acted
    }

    pub async fn create(&self, name: &str, limits: Value) {
        self.create_with(name, json!({"type": "RollingUpdate", "rollingUpdate": limits})).await;
    }

    pub async fn create_with(&self, name: &str, strategy: Value) {
        let body = json!({
            "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": name},
            "spec": {
                "selector": {"matchLabels": {"app": name}},
                "updateStrategy": strategy,
                "template": {
                    "metadata": {"labels": {"app": name}},
                    "spec": {
                        "terminationGracePeriodSeconds": 1,
                        "containers": [{"name": "web", "image": format!("{IMAGE}:v1")}],
                    },
                },
            },
        });
        self.post(&self.apps("daemonsets"), body).await;
    }

    pub async fn set_image(&self, name: &str, image: &str) {
        let container = json!({"name": "web", "image": image});
        self.patch(name, json!({"spec": {"template": {"spec": {"containers": [container]}}}})).await;
    }

    pub async fn set_limits(&self, name: &str, limits: Value) {
        self.patch(name, json!({"spec": {"updateStrategy": {"rollingUpdate": limits}}})).await;
    }

    /// As `kubectl annotate --overwrite`; `None` removes the annotation.
    pub async fn annotate(&self, name: &str, key: &str, text: Option<&str>) {
        self.patch(name, json!({"metadata": {"annotations": {key: text}}})).await;
    }

    pub async fn patch(&self, name: &str, body: Value) {
        let path = self.apps(&format!("daemonsets/{name}"));
        self.request(Method::PATCH, &path, body, "application/strategic-merge-patch+json").await.unwrap();
    }

    /// As `kubectl rollout undo`.
    pub async fn undo(&self, name: &str, to: i64) {
        let revisions = self.revisions(name).await;
        let revision = revisions.into_iter().find(|revision| revision["revision"] == to);
        self.patch(name, revision.expect("the revision is there")["data"].clone()).await;
    }

    /// As `kubectl rollout restart`.
    pub async fn restart(&self, name: &str) {
        let now = json!({"kubectl.kubernetes.io/restartedAt": jiff::Timestamp::now()});
        self.patch(name, json!({"spec": {"template": {"metadata": {"annotations": now}}}})).await;
    }

    /// Waits as `kubectl rollout status`, and until no pod has another image.
    pub async fn wait_for_rollout(&self, name: &str, image: &str) {
        self.until(&format!("{name} is rolled out to {image}"), async |cluster| {
            cluster.is_rolled_out(name, image).await
        })
        .await;
    }

    /// Waits until each node has a pod that is Ready.
    pub async fn wait_for_pods(&self, name: &str) {
        self.until(&format!("every node has {name}"), async |cluster| {
            let pods = cluster.pods(name).await;
            pods.len() == cluster.nodes && pods.iter().all(crate::budget_watch::is_ready)
        })
        .await;
    }

    pub async fn is_rolled_out(&self, name: &str, image: &str) -> bool {
        let daemon_set: DaemonSet = serde_json::from_value(self.daemon_set(name).await).unwrap();
        if !rollout_status(&daemon_set).unwrap().is_done() {
            return false;
        }
        let pods = self.pods(name).await;
        pods.len() == self.nodes && pods.iter().all(|pod| image_of(pod) == image)
    }

    /// The revision numbers of the history.
    pub async fn history(&self, name: &str) -> Vec<i64> {
        let revisions = self.revisions(name).await;
        revisions.iter().map(|revision| revision["revision"].as_i64().unwrap()).collect()
    }

    /// Its ControllerRevisions, in the order of their numbers.
    async fn revisions(&self, name: &str) -> Vec<Value> {
        let mut revisions = self.list(&self.apps("controllerrevisions")).await;
        revisions.retain(|revision| revision["metadata"]["ownerReferences"][0]["name"] == name);
        revisions.sort_by_key(|revision| revision["revision"].as_i64());
        revisions
    }

    pub async fn daemon_set(&self, name: &str) -> Value {
        self.try_get(&self.apps(&format!("daemonsets/{name}"))).await.expect("the DaemonSet is there")
    }

    pub async fn pods(&self, name: &str) -> Vec<Value> {
        self.list(&self.core(&format!("pods?labelSelector=app%3D{name}"))).await
    }

    pub async fn delete(&self, path: &str) {
        let body = json!({"propagationPolicy": "Background"});
        self.request(Method::DELETE, path, body, "application/json").await.unwrap();
    }

    pub async fn list(&self, path: &str) -> Vec<Value> {
        let list = self.try_get(path).await.expect("a list");
        list["items"].as_array().cloned().unwrap_or_default()
    }

    pub async fn try_get(&self, path: &str) -> Option<Value> {
        self.request(Method::GET, path, Value::Null, "").await.ok()
    }

    pub async fn post(&self, path: &str, body: Value) -> Value {
        self.request(Method::POST, path, body, "application/json").await.unwrap()
    }

    pub async fn request(
        &self,
        method: Method,
        path: &str,
        body: Value,
        content: &str,
    ) -> Result<Value, kube::Error> {
        let request = Request::builder().method(method).uri(path).header("content-type", content);
        self.send(request, body).await
    }

    /// A call of another user.
    pub async fn request_as(
        &self,
        user: &str,
        (method, path): (Method, &str),
        body: Value,
        content: &str,
    ) -> Result<Value, kube::Error> {
        let request = Request::builder().method(method).uri(path).header("content-type", content);
        self.send(request.header("impersonate-user", user), body).await
    }

    async fn send(&self, request: http::request::Builder, body: Value) -> Result<Value, kube::Error> {
        let body = if body.is_null() { Vec::new() } else { serde_json::to_vec(&body).unwrap() };
        self.client.request(request.body(body).unwrap()).await
    }

    pub fn core(&self, rest: &str) -> String {
        format!("/api/v1/namespaces/{}/{rest}", self.namespace)
    }

    pub fn apps(&self, rest: &str) -> String {
        format!("/apis/apps/v1/namespaces/{}/{rest}", self.namespace)
    }

    /// Waits until a condition holds, two minutes at most.
    pub async fn until(&self, condition: &str, holds: impl AsyncFn(&Cluster) -> bool) {
        let start = Instant::now();
        while !holds(self).await {
            assert!(start.elapsed() < Duration::from_secs(120), "waited two minutes until {condition}");
            sleep(Duration::from_millis(200)).await;
        }
        println!("{:>6.1} s  {condition}", start.elapsed().as_secs_f64());
    }

    /// The name of a node that gets pods.
    pub async fn first_node(&self) -> String {
        let nodes = self.list("/api/v1/nodes").await;
        let name =
            nodes.iter().find(|node| is_ready(node)).and_then(|node| node["metadata"]["name"].as_str());
        name.expect("a node").to_owned()
    }

    async fn ready_nodes(&self) -> usize {
        self.list("/api/v1/nodes").await.iter().filter(|node| is_ready(node)).count()
    }
}

/// Whether a node is Ready and has no taint.
fn is_ready(node: &Value) -> bool {
    let conditions = node["status"]["conditions"].as_array();
    let ready = conditions.into_iter().flatten().any(|c| c["type"] == "Ready" && c["status"] == "True");
    ready && node["spec"].get("taints").is_none()
}

pub fn image_of(pod: &Value) -> &str {
    pod["spec"]["containers"][0]["image"].as_str().unwrap_or_default()
}
