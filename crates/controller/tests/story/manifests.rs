//! The kustomizations of deploy/ on a real API server.

use crate::cluster::Cluster;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub fn deploy(kustomization: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy").join(kustomization)
}

/// Runs kubectl, or what `KUBECTL` names; `None`, with a printed reason, where there is none.
pub fn kubectl(arguments: &[&str]) -> Option<Output> {
    let program = std::env::var_os("KUBECTL").unwrap_or("kubectl".into());
    match Command::new(program).args(arguments).output() {
        Ok(output) => Some(output),
        Err(error) => {
            println!("skipped: there is no kubectl: {error}");
            None
        }
    }
}

/// Applies a kustomization.
pub fn apply(kustomization: &str, further: &[&str]) -> Option<()> {
    let folder = deploy(kustomization);
    let output = kubectl(&[&["apply", "-k", folder.to_str().unwrap()], further].concat())?;
    assert!(output.status.success(), "{kustomization}: {}", String::from_utf8_lossy(&output.stderr));
    Some(())
}

/// The API server checks each field and each value; nothing is stored.
#[tokio::test]
async fn each_kustomization_is_accepted() {
    let Some(cluster) = Cluster::find("manifests").await else { return };
    for kustomization in ["controller", "any-node", "driver", "compare", "approval"] {
        if apply(kustomization, &["--dry-run=server", "--validate=strict"]).is_none() {
            return;
        }
    }
    cluster.delete(&format!("/api/v1/namespaces/{}", cluster.namespace)).await;
}
