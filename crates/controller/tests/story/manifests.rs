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

/// The components add their rules to the roles of a kustomization that a user writes.
#[test]
fn each_component_fits_the_controller_and_the_driver() {
    for (base, rules) in [("controller", 4), ("driver", 5)] {
        let folder = std::env::temp_dir().join(format!("daemonset-components-{base}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        // A kustomization names folders by relative paths.
        let up = "../".repeat(folder.components().count() - 1);
        let path = |part: &str| format!("{}{}", up, deploy(part).to_str().unwrap().trim_start_matches('/'));
        let components = ["turns", "drain", "powers", "driver-pods", "undo"].map(path);
        let text = format!(
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [{}]\ncomponents: [{}]\n",
            path(base),
            components.join(", ")
        );
        std::fs::write(folder.join("kustomization.yaml"), text).unwrap();
        let Some(output) = kubectl(&["kustomize", folder.to_str().unwrap()]) else { return };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let built = String::from_utf8(output.stdout).unwrap();
        let objects: Vec<serde_json::Value> = serde_saphyr::from_multiple(&built).unwrap();
        let role = objects.iter().find(|object| object["kind"] == "ClusterRole").unwrap();
        let before = std::fs::read_to_string(deploy(base).join("rbac.yaml")).unwrap();
        let before: Vec<serde_json::Value> = serde_saphyr::from_multiple(&before).unwrap();
        let count = |role: &serde_json::Value| role["rules"].as_array().unwrap().len();
        assert_eq!(count(role) - count(&before[0]), rules, "{base}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
