//! Fields of features that are off by default. They are dropped unless the stored object has them already (v1.37
//! `pkg/api/pod/util.go` dropDisabledFields, `pkg/features/kube_features.go`).

use crate::json::{field, list, list_mut, member};
use serde_json::Value;

/// Fields that are kept only if their feature gate is on, or if the stored object uses any of them.
struct Gate {
    in_use: fn(&Value) -> bool,
    drop: fn(&mut Value),
}

const GATES: [Gate; 8] = [
    // AtomicWriteVolumeUserFields: alpha.
    Gate {
        in_use: |spec| list(spec, "volumes").iter().any(has_user),
        drop: |spec| list_mut(spec, "volumes").iter_mut().for_each(drop_users),
    },
    // GenericWorkload: beta, off.
    Gate {
        in_use: |spec| member(spec, "schedulingGroup").is_some(),
        drop: |spec| remove(spec, "schedulingGroup"),
    },
    // GRPCContainerProbeTLS: alpha.
    Gate {
        in_use: |spec| containers(spec).any(|container| probes_have(container, "grpc", "mode")),
        drop: |spec| containers_mut(spec).for_each(|container| drop_of_probes(container, "grpc", "mode")),
    },
    // EvictionRequestAPI: alpha.
    Gate {
        in_use: |spec| !list(spec, "evictionResponders").is_empty(),
        drop: |spec| remove(spec, "evictionResponders"),
    },
    // EmptyDirVolumeMode: alpha.
    Gate {
        in_use: |spec| list(spec, "volumes").iter().any(|volume| has(field(volume, "emptyDir"), "mode")),
        drop: |spec| {
            list_mut(spec, "volumes").iter_mut().for_each(|volume| remove_in(volume, "emptyDir", "mode"));
        },
    },
    // VolumeBindMountOptions: alpha.
    Gate {
        in_use: |spec| {
            let mut mounts = containers(spec).flat_map(|container| list(container, "volumeMounts"));
            mounts.any(|mount| !list(mount, "bindMountOptions").is_empty())
        },
        drop: |spec| {
            let mounts = containers_mut(spec).flat_map(|container| list_mut(container, "volumeMounts"));
            mounts.for_each(|mount| remove(mount, "bindMountOptions"));
        },
    },
    // ContainerStopSignals: alpha.
    Gate { in_use: has_stop_signal, drop: drop_stop_signals },
    // H2CContainerProbe: alpha.
    Gate {
        in_use: |spec| containers(spec).any(|container| probes_have(container, "httpGet", "protocol")),
        drop: |spec| {
            containers_mut(spec).for_each(|container| drop_of_probes(container, "httpGet", "protocol"));
        },
    },
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

/// Volumes with files, and the sources of a projected one. The first one that is set counts.
const FILES: [&str; 4] = ["secret", "configMap", "downwardAPI", "projected"];
const PROJECTED: [&str; 6] =
    ["secret", "downwardAPI", "configMap", "serviceAccountToken", "clusterTrustBundle", "podCertificate"];

/// v1.37 `atomicWriteVolumeUserFieldsInUse`, of one volume.
fn has_user(volume: &Value) -> bool {
    let items_have = |source: &Value| list(source, "items").iter().any(|item| has(item, "user"));
    let Some(source) = FILES.iter().find_map(|name| member(volume, name)) else { return false };
    let projected = list(source, "sources")
        .iter()
        .filter_map(|projection| PROJECTED.iter().find_map(|name| member(projection, name)));
    has(source, "defaultUser")
        || items_have(source)
        || projected.into_iter().any(|source| has(source, "user") || items_have(source))
}

/// v1.37 `dropDisabledAtomicWriteVolumeUserFields`, of one volume.
fn drop_users(volume: &mut Value) {
    let Some(source) = first_of(volume, &FILES) else { return };
    remove(source, "defaultUser");
    drop_users_of_items(source);
    for projection in list_mut(source, "sources") {
        if let Some(source) = first_of(projection, &PROJECTED) {
            remove(source, "user");
            drop_users_of_items(source);
        }
    }
}

fn drop_users_of_items(source: &mut Value) {
    list_mut(source, "items").iter_mut().for_each(|item| remove(item, "user"));
}

fn first_of<'a>(object: &'a mut Value, names: &[&str]) -> Option<&'a mut Value> {
    let name = names.iter().find(|name| member(object, name).is_some())?;
    object.get_mut(*name)
}

const PROBES: [&str; 3] = ["livenessProbe", "readinessProbe", "startupProbe"];
const HOOKS: [&str; 2] = ["postStart", "preStop"];

/// Whether the action of a probe or hook has this field.
fn probes_have(container: &Value, action: &str, name: &str) -> bool {
    let probes = PROBES.iter().map(|probe| field(container, probe));
    let hooks = HOOKS.iter().map(|hook| field(field(container, "lifecycle"), hook));
    probes.chain(hooks).any(|handler| has(field(handler, action), name))
}

fn drop_of_probes(container: &mut Value, action: &str, name: &str) {
    for probe in PROBES {
        if let Some(probe) = container.get_mut(probe) {
            remove_in(probe, action, name);
        }
    }
    for hook in HOOKS {
        if let Some(hook) = container.get_mut("lifecycle").and_then(|lifecycle| lifecycle.get_mut(hook)) {
            remove_in(hook, action, name);
        }
    }
}

fn has_stop_signal(spec: &Value) -> bool {
    containers(spec).any(|container| has(field(container, "lifecycle"), "stopSignal"))
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

fn has(object: &Value, name: &str) -> bool {
    member(object, name).is_some()
}

fn remove(object: &mut Value, name: &str) {
    if let Value::Object(fields) = object {
        fields.remove(name);
    }
}

fn remove_in(object: &mut Value, outer: &str, name: &str) {
    if let Some(inner) = object.get_mut(outer) {
        remove(inner, name);
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
