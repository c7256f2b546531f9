//! Fields of features that are off by default. They are dropped unless the stored object has them already (v1.36
//! `pkg/api/pod/util.go` DropDisabledTemplateFields, `pkg/features/kube_features.go`).

use crate::json::{field, list, list_mut};
use serde_json::Value;

/// A field that is kept only if its feature gate is on, or if the stored object uses it.
struct Gate {
    in_use: fn(&Value) -> bool,
    drop: fn(&mut Value),
}

const GATES: [Gate; 4] = [
    // ClusterTrustBundleProjection: beta, off.
    Gate {
        in_use: |spec| is_projected(spec, "clusterTrustBundle"),
        drop: |spec| drop_projected(spec, "clusterTrustBundle"),
    },
    // PodCertificateRequest: beta, off.
    Gate {
        in_use: |spec| is_projected(spec, "podCertificate"),
        drop: |spec| drop_projected(spec, "podCertificate"),
    },
    // GenericWorkload: alpha.
    Gate {
        in_use: |spec| !field(spec, "schedulingGroup").is_null(),
        drop: |spec| {
            remove(spec, "schedulingGroup");
        },
    },
    // ContainerStopSignals: alpha.
    Gate { in_use: has_stop_signal, drop: drop_stop_signals },
];

/// Drops the fields of disabled features from the pod spec of a new template; `old` is the stored pod spec, null for
/// a create.
pub(super) fn drop_disabled(new: &mut Value, old: &Value) {
    for gate in GATES {
        if !(gate.in_use)(old) {
            (gate.drop)(new);
        }
    }
}

fn is_projected(spec: &Value, source: &str) -> bool {
    list(spec, "volumes")
        .iter()
        .flat_map(|volume| list(field(volume, "projected"), "sources"))
        .any(|projected| !field(projected, source).is_null())
}

fn drop_projected(spec: &mut Value, source: &str) {
    for volume in list_mut(spec, "volumes") {
        let sources = volume.get_mut("projected").map(|projected| list_mut(projected, "sources"));
        for projected in sources.into_iter().flatten() {
            remove(projected, source);
        }
    }
}

fn has_stop_signal(spec: &Value) -> bool {
    containers(spec).any(|container| !field(field(container, "lifecycle"), "stopSignal").is_null())
}

/// Removes a lifecycle that contained only the stop signal.
fn drop_stop_signals(spec: &mut Value) {
    for container in containers_mut(spec) {
        let Some(Value::Object(lifecycle)) = container.get_mut("lifecycle") else { continue };
        if lifecycle.remove("stopSignal").is_some() && lifecycle.is_empty() {
            remove(container, "lifecycle");
        }
    }
}

fn remove(object: &mut Value, field: &str) {
    if let Value::Object(fields) = object {
        fields.remove(field);
    }
}

const CONTAINERS: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];

/// All containers of a pod spec, in any of its lists.
fn containers(spec: &Value) -> impl Iterator<Item = &Value> {
    CONTAINERS.into_iter().flat_map(move |name| list(spec, name))
}

/// All containers of a pod spec, in any of its lists.
fn containers_mut(spec: &mut Value) -> impl Iterator<Item = &mut Value> {
    let fields = spec.as_object_mut().into_iter().flatten();
    fields
        .filter(|(name, _)| CONTAINERS.contains(&name.as_str()))
        .filter_map(|(_, list)| list.as_array_mut())
        .flatten()
}
