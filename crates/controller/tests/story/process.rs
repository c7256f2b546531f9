//! The controller as a process of its own, with the rights of its manifests.

use crate::cluster::Cluster;
use http::Method;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

/// A manifest with the rights of a service account, the suffix that its kustomization adds to each name, and the components that add
/// further rights.
#[derive(Clone, Copy)]
pub struct Account {
    rights: &'static str,
    suffix: &'static str,
    parts: &'static [&'static str],
}

impl Account {
    pub const CONTROLLER: Account = Account {
        rights: include_str!("../../deploy/controller/rbac.yaml"),
        suffix: "-controller",
        parts: &[],
    };
    pub const DRIVER: Account =
        Account { rights: include_str!("../../deploy/driver/rbac.yaml"), suffix: "-driver", parts: &[] };

    /// With the components of these folders of deploy/.
    pub const fn with(self, parts: &'static [&'static str]) -> Self {
        Account { parts, ..self }
    }

    fn name(self) -> String {
        format!("daemonset{}", self.suffix)
    }

    /// The service account and its rights.
    fn objects(self) -> Vec<Value> {
        let account = include_str!("../../deploy/base/service-account.yaml");
        let mut objects: Vec<Value> =
            [account, self.rights].map(|text| serde_saphyr::from_multiple(text).unwrap()).concat();
        for object in objects.iter_mut().filter(|object| object["kind"] == "ClusterRole") {
            let rules = object["rules"].as_array_mut().unwrap();
            rules.extend(self.parts.iter().flat_map(|part| added_rules(part)));
        }
        objects.into_iter().map(|object| self.with_suffix(object)).collect()
    }

    fn with_suffix(self, mut object: Value) -> Value {
        for path in ["/metadata/name", "/roleRef/name", "/subjects/0/name"] {
            if let Some(name) = object.pointer_mut(path) {
                *name = json!(self.name());
            }
        }
        object
    }
}

/// The rules that a component adds to a ClusterRole.
fn added_rules(part: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(crate::manifests::deploy(part).join("kustomization.yaml")).unwrap();
    let component: Value = serde_saphyr::from_str(&text).unwrap();
    let patch = component["patches"][0]["patch"].as_str().unwrap().to_owned();
    let operations: Vec<Value> = serde_saphyr::from_str(&patch).unwrap();
    operations.into_iter().map(|operation| operation["value"].clone()).collect()
}

/// A running controller; killed when dropped.
pub struct Controller {
    child: Child,
}

/// Applies the manifests, and returns a kubeconfig for the service account.
pub async fn kubeconfig(cluster: &Cluster, account: Account) -> PathBuf {
    for object in account.objects() {
        apply(cluster, &object).await;
    }
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    let token = cluster
        .post(&format!("/api/v1/namespaces/kube-system/serviceaccounts/{}/token", account.name()), request)
        .await;
    let authorities = cluster.config.root_cert.clone().unwrap_or_default();
    // One file with all certificates as PEM.
    let pem: String = authorities.iter().map(|der| pem(der)).collect();
    let directory = std::env::temp_dir().join(&cluster.namespace);
    std::fs::create_dir_all(&directory).unwrap();
    let authority = directory.join("ca.crt");
    std::fs::write(&authority, pem).unwrap();
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "test",
        "clusters": [{"name": "test", "cluster": {
            "server": cluster.config.cluster_url.to_string(), "certificate-authority": authority,
        }}],
        "users": [{"name": "test", "user": {"token": token["status"]["token"]}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
    });
    let path = directory.join("kubeconfig");
    std::fs::write(&path, config.to_string()).unwrap();
    path
}

/// As `kubectl apply --server-side`.
pub async fn apply(cluster: &Cluster, document: &Value) {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (version, kind) = (word(&document["apiVersion"]), word(&document["kind"]));
    let root = if version == "v1" { "/api/v1".to_owned() } else { format!("/apis/{version}") };
    let namespace = document["metadata"]["namespace"].as_str().map(|name| format!("/namespaces/{name}"));
    let kind = kind.to_lowercase();
    let plural = match (kind.strip_suffix('y'), kind.ends_with('s')) {
        (Some(stem), _) => format!("{stem}ies"),
        (None, true) => format!("{kind}es"),
        (None, false) => format!("{kind}s"),
    };
    let path = format!(
        "{root}{}/{plural}/{}?fieldManager=story&force=true",
        namespace.unwrap_or_default(),
        word(&document["metadata"]["name"])
    );
    cluster.request(Method::PATCH, &path, document.clone(), "application/apply-patch+yaml").await.unwrap();
}

fn pem(der: &[u8]) -> String {
    use base64::Engine;
    let text = base64::engine::general_purpose::STANDARD.encode(der);
    format!("-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n")
}

impl Controller {
    /// Starts it for one namespace.
    pub fn start(cluster: &Cluster, kubeconfig: &Path, arguments: &[&str]) -> Self {
        let here = ["--namespace", &cluster.namespace, "--listen", "127.0.0.1:0"];
        Self::start_with(kubeconfig, &[&here, arguments].concat())
    }

    /// Starts it with these arguments alone.
    pub fn start_with(kubeconfig: &Path, arguments: &[&str]) -> Self {
        let log = std::fs::File::options()
            .create(true)
            .append(true)
            .open(kubeconfig.with_file_name("controller.log"))
            .unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_daemonset-controller"))
            .args(arguments)
            .env("KUBECONFIG", kubeconfig)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        Controller { child }
    }

    /// Kills it with SIGKILL, so that it can't save anything.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Ends it with SIGTERM; returns its exit status.
    pub async fn terminate(mut self) -> ExitStatus {
        Command::new("kill").arg(self.child.id().to_string()).status().unwrap();
        for _ in 0..100 {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("the controller does not end within ten seconds");
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
