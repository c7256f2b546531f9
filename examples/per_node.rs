//! Plans pods that differ by node: each node with the label `gpu` gets another image. The images are inputs of the
//! revision, so that another image is a new revision and a rollout.
//!
//! ```console
//! $ cargo run --example per_node
//! ```
#![allow(clippy::restriction)]

use daemonset::manifests::{Manifests, NewPod};
use daemonset::model::{ControllerRevision, DaemonSet, Node, Pod};
use daemonset::{Action, Observed, Policy, Reconciler};
use serde_json::{Value, from_value, json};
use std::sync::Arc;

/// The image for each kind of GPU.
#[derive(Debug)]
struct ByGpu {
    images: Value,
}

impl Manifests for ByGpu {
    fn inputs(&self) -> Value {
        self.images.clone()
    }

    /// Pure: it depends on the node, the template's pod and the inputs only.
    fn manifest(&self, new: &NewPod<'_>) -> Value {
        // Labels, owner and node of the template's pod are right for the object: only the image changes.
        let mut pod = new.pod.to_value();
        if let Some(image) = new.node.label("gpu").and_then(|gpu| new.inputs.get(gpu)) {
            pod["spec"]["containers"][0]["image"] = image.clone();
        }
        pod
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let daemon_set: DaemonSet = from_value(json!({
        "metadata": {"name": "driver", "namespace": "kube-system", "uid": "u1", "generation": 1},
        "spec": {
            "selector": {"matchLabels": {"app": "driver"}},
            "template": {
                "metadata": {"labels": {"app": "driver"}},
                "spec": {"containers": [{"name": "driver", "image": "driver:generic"}]},
            },
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}},
        },
    }))?;
    let nodes: Vec<Node> = from_value(json!([
        {"metadata": {"name": "a", "labels": {"gpu": "h100"}}},
        {"metadata": {"name": "b"}},
    ]))?;
    let (pods, revisions): (Vec<Pod>, Vec<ControllerRevision>) = (Vec::new(), Vec::new());
    let observed = Observed { daemon_set: &daemon_set, nodes: &nodes, pods: &pods, revisions: &revisions };
    let now: jiff::Timestamp = "2026-01-01T12:00:00Z".parse()?;

    let mut revisions = Vec::new();
    for version in [1, 2] {
        let manifests = ByGpu { images: json!({"h100": format!("driver:h100-{version}")}) };
        let mut reconciler = Reconciler::new("u1", Policy::default()).with_manifests(Arc::new(manifests));
        let plan = reconciler.plan(observed, now)?;
        for action in &plan.actions {
            println!("{action}");
            match action {
                Action::CreatePod { node, pod, .. } => {
                    println!("  {node} runs {}", pod.to_value()["spec"]["containers"][0]["image"]);
                }
                Action::CreateRevision { revision, .. } => {
                    revisions.push(revision["metadata"]["name"].clone())
                }
                _ => {}
            }
        }
    }
    assert_ne!(revisions[0], revisions[1], "another image is another revision");
    Ok(())
}

#[test]
fn the_example_runs() {
    main().unwrap();
}
