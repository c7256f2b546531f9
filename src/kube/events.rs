//! Events about a DaemonSet, as Kubernetes' own controller records them.

use super::Caller;
use crate::action::EventType;
use serde_json::{Value, json};

/// A `core/v1` Event; its name is left to the API server.
pub(super) fn event(caller: &Caller<'_>, kind: EventType, reason: &str, message: &str) -> Value {
    let metadata = &caller.daemon_set.metadata;
    let kind = match kind {
        EventType::Normal => "Normal",
        EventType::Warning => "Warning",
    };
    // Events have second precision; RFC 3339 with more is refused for these two fields.
    let now = caller.now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    json!({
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"generateName": format!("{}.", metadata.name), "namespace": metadata.namespace},
        "involvedObject": {
            "apiVersion": "apps/v1",
            "kind": "DaemonSet",
            "namespace": metadata.namespace,
            "name": metadata.name,
            "uid": metadata.uid,
            "resourceVersion": metadata.resource_version,
        },
        "type": kind,
        "reason": reason,
        "message": message,
        "source": {"component": caller.component},
        "reportingComponent": caller.component,
        "reportingInstance": "",
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
    })
}
