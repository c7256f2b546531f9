//! The state of a stored pod, read from its JSON independently of the library.

use crate::store::text;
use serde_json::Value;

pub fn controller_uid(object: &Value) -> &str {
    let owners = object["metadata"]["ownerReferences"].as_array().map_or(&[][..], Vec::as_slice);
    owners.iter().find(|owner| owner["controller"] == true).map_or("", |owner| text(&owner["uid"]))
}

pub fn is_deleting(object: &Value) -> bool {
    !object["metadata"]["deletionTimestamp"].is_null()
}

pub fn is_finished(pod: &Value) -> bool {
    matches!(text(&pod["status"]["phase"]), "Failed" | "Succeeded")
}

pub fn is_live(pod: &Value) -> bool {
    !is_deleting(pod) && !is_finished(pod)
}

pub fn is_available(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array().map_or(&[][..], Vec::as_slice);
    is_live(pod) && conditions.iter().any(|c| c["type"] == "Ready" && c["status"] == "True")
}

/// The node of a pod: where it is bound, or which its affinity names.
pub fn node_of(pod: &Value) -> &str {
    match text(&pod["spec"]["nodeName"]) {
        "" => {
            let terms = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms";
            let field = pod.pointer(&format!("{terms}/0/matchFields/0/values/0"));
            field.and_then(Value::as_str).unwrap_or_default()
        }
        bound => bound,
    }
}

pub fn version_of(pod: &Value) -> &str {
    text(&pod["metadata"]["labels"]["controller-revision-hash"])
}

pub fn image_of(pod: &Value) -> &str {
    text(&pod["spec"]["containers"][0]["image"])
}

pub fn is_pull_pod(pod: &Value) -> bool {
    !pod["metadata"]["labels"]["pull.daemonset/owner"].is_null()
}
