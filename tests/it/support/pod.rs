//! A pod in the language of the stories.

use super::{at, owner};
use jiff::Timestamp;
use serde_json::{Value, json};

/// A pod that runs and has been Ready for an hour.
#[derive(Debug, Clone)]
pub struct PodStory {
    json: Value,
    bound: bool,
    nowhere: bool,
    name: Option<String>,
}

/// A pod of the old template.
pub fn old() -> PodStory {
    pod("old")
}

/// A pod of the current template.
pub fn new() -> PodStory {
    pod("new")
}

/// A pod with this hash label.
pub fn pod(hash: &str) -> PodStory {
    let json = json!({
        "metadata": {
            "namespace": "ns",
            "creationTimestamp": at(-7200).to_string(),
            "labels": {"app": "agent", "controller-revision-hash": hash},
            "ownerReferences": [owner()],
        },
        "spec": {},
        "status": {"phase": "Running"},
    });
    PodStory { json, bound: true, nowhere: false, name: None }.ready_for(3600)
}

impl PodStory {
    pub fn named(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    pub fn ready_for(self, seconds: i64) -> Self {
        self.condition("True", Some(at(-seconds)))
    }

    /// Ready, at an unknown time.
    pub fn ready_without_time(self) -> Self {
        self.condition("True", None)
    }

    pub fn not_ready(self) -> Self {
        self.condition("False", Some(at(-30)))
    }

    pub fn pending(self) -> Self {
        self.not_ready().phase("Pending")
    }

    pub fn failed(self) -> Self {
        self.not_ready().phase("Failed")
    }

    pub fn succeeded(self) -> Self {
        self.not_ready().phase("Succeeded")
    }

    pub fn phase(self, phase: &str) -> Self {
        self.with("/status/phase", json!(phase))
    }

    /// Terminating; the deletionTimestamp is this many seconds ahead.
    pub fn terminating(self, seconds: i64) -> Self {
        self.with("/metadata/deletionTimestamp", json!(at(seconds).to_string()))
    }

    /// Unbound: only its affinity names the node.
    pub fn unbound(mut self) -> Self {
        self.bound = false;
        self.pending()
    }

    /// Neither bound to a node nor with an affinity for one.
    pub fn nowhere(mut self) -> Self {
        self.nowhere = true;
        self
    }

    pub fn created_ago(self, seconds: i64) -> Self {
        self.with("/metadata/creationTimestamp", json!(at(-seconds).to_string()))
    }

    /// Its container `c` runs this image, as this container of the runtime, since so many seconds.
    pub fn runs(self, image: &str, container: &str, seconds: i64) -> Self {
        let status = json!([{
            "name": "c", "containerID": container, "imageID": format!("sha256:{image}"), "restartCount": 0,
            "state": {"running": {"startedAt": at(-seconds).to_string()}},
        }]);
        self.with("/spec/containers", json!([{"name": "c", "image": image}]))
            .with("/status/containerStatuses", status)
    }

    /// Changed in its place so many seconds ago, while its container `c` ran this image as this container of the runtime.
    pub fn changed(mut self, seconds: i64, image: &str, container: &str) -> Self {
        let was = json!({"c": {"id": container, "imageID": format!("sha256:{image}")}});
        let since = json!({"at": at(-seconds).to_string(), "containers": was, "restarts": {"c": 0}});
        self.json["metadata"]["annotations"] = json!({"in-place.daemonset/since": since.to_string()});
        self
    }

    pub fn label(mut self, key: &str, value: &str) -> Self {
        self.json["metadata"]["labels"][key] = json!(value);
        self
    }

    pub fn without_hash(mut self) -> Self {
        self.json["metadata"]["labels"].as_object_mut().unwrap().remove("controller-revision-hash");
        self
    }

    pub fn generation(self, generation: &str) -> Self {
        self.label("pod-template-generation", generation)
    }

    pub fn orphan(self) -> Self {
        self.with("/metadata/ownerReferences", json!([]))
    }

    pub fn owned_by(self, uid: &str) -> Self {
        self.with(
            "/metadata/ownerReferences",
            json!([{"kind": "ReplicaSet", "uid": uid, "controller": true}]),
        )
    }

    pub fn mirror(self) -> Self {
        self.with("/metadata/annotations", json!({"kubernetes.io/config.mirror": "0123"}))
    }

    pub fn tolerates(self, key: &str) -> Self {
        self.with("/spec/tolerations", json!([{"key": key, "operator": "Exists"}]))
    }

    pub fn with(mut self, pointer: &str, value: Value) -> Self {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        self.json.pointer_mut(parent).unwrap()[key] = value;
        self
    }

    fn condition(self, status: &str, since: Option<Timestamp>) -> Self {
        let since = since.map(|since| since.to_string());
        let ready = json!([{"type": "Ready", "status": status, "lastTransitionTime": since}]);
        self.with("/status/conditions", ready)
    }

    /// The pod on its node; its name is `<node>-<suffix>` unless it has one.
    pub(super) fn on(mut self, node: &str, suffix: &str) -> Value {
        let name = self.name.take().unwrap_or_else(|| format!("{node}-{suffix}"));
        self.json["metadata"]["uid"] = json!(format!("uid-{name}"));
        self.json["metadata"]["name"] = json!(name);
        if self.nowhere {
            return self.json;
        }
        if self.bound {
            self.json["spec"]["nodeName"] = json!(node);
        } else {
            self.json["spec"]["affinity"] = affinity(node);
        }
        self.json
    }
}

/// The affinity that ties a pod to a node.
pub fn affinity(node: &str) -> Value {
    json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
    ]}}})
}
