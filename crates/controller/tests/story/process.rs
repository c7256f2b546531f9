//! The controller as a process of its own, with the rights of its manifest.

use crate::cluster::Cluster;
use http::Method;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

/// A manifest with the rights of a service account.
#[derive(Clone, Copy)]
pub struct Account {
    manifest: &'static str,
    name: &'static str,
}

impl Account {
    pub const CONTROLLER: Account =
        Account { manifest: include_str!("../../deploy/rbac.yaml"), name: "daemonset-controller" };
    pub const DRIVER: Account =
        Account { manifest: include_str!("../../deploy/driver-rbac.yaml"), name: "daemonset-driver" };
}

/// A running controller; killed when dropped.
pub struct Controller {
    child: Child,
}

/// Applies the manifest, and returns a kubeconfig for its service account.
pub async fn kubeconfig(cluster: &Cluster, account: Account) -> PathBuf {
    let documents: Vec<Value> = serde_saphyr::from_multiple(account.manifest).unwrap();
    for document in documents {
        apply(cluster, &document).await;
    }
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    let token = cluster
        .post(&format!("/api/v1/namespaces/kube-system/serviceaccounts/{}/token", account.name), request)
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

async fn apply(cluster: &Cluster, document: &Value) {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (version, kind) = (word(&document["apiVersion"]), word(&document["kind"]));
    let root = if version == "v1" { "/api/v1".to_owned() } else { format!("/apis/{version}") };
    let namespace = document["metadata"]["namespace"].as_str().map(|name| format!("/namespaces/{name}"));
    let path = format!(
        "{root}{}/{}s/{}?fieldManager=story&force=true",
        namespace.unwrap_or_default(),
        kind.to_lowercase(),
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
    pub fn start(cluster: &Cluster, kubeconfig: &PathBuf, arguments: &[&str]) -> Self {
        let log = std::fs::File::options()
            .create(true)
            .append(true)
            .open(kubeconfig.with_file_name("controller.log"))
            .unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_daemonset-controller"))
            .args(["--namespace", &cluster.namespace, "--listen", "127.0.0.1:0"])
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
