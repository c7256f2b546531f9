//! Surge with resources that only one pod of a node can hold.

use super::{calm, pod_field, says, text};
use crate::support::{Given, rolling, surging};
use insta::assert_snapshot;
use serde_json::{Value, json};

fn surge() -> Given {
    calm().with("/daemonSet/spec/updateStrategy", surging(1))
}

/// Adds members to the first container.
fn container(given: Given, field: &str, value: Value) -> Given {
    pod_field(given, &format!("containers/0/{field}"), value)
}

#[test]
fn a_host_port_is_found_under_surge() {
    let ports = json!([{"containerPort": 80}, {"containerPort": 81, "hostPort": 9100}]);
    assert_snapshot!(text(&container(surge(), "ports", ports.clone())), @"Error SurgeWithHostPort spec.template.spec.containers[0].ports[1].hostPort: Two pods of a node can't both have port 9100: under surge the new one stays Pending, and the update stops.");
    assert_eq!(says(&container(calm(), "ports", ports)), [""; 0], "replaced, not surged");
    assert_eq!(says(&container(surge(), "ports", json!([{"containerPort": 80}]))), [""; 0]);
}

#[test]
fn a_port_on_the_nodes_network_is_found_under_surge() {
    let on_host = pod_field(surge(), "hostNetwork", json!(true));
    let ports = json!([{"containerPort": 80}]);
    assert!(
        says(&container(on_host.clone(), "ports", ports))[0].contains("ports[0].containerPort: Two pods")
    );
    assert_snapshot!(text(&on_host), @"Warning SurgeWithHostNetwork spec.template.spec.hostNetwork: Two pods of a node share its network during a surge, and no port says what they listen on: the second to bind one fails.");
    assert_eq!(says(&pod_field(calm(), "hostNetwork", json!(true))), [""; 0]);
}

#[test]
fn a_writable_host_path_is_found_under_surge() {
    let mounted = |given: Given, source: Value, read_only: bool| {
        let given = pod_field(given, "volumes", json!([{"name": "v", "hostPath": source}]));
        container(given, "volumeMounts", json!([{"name": "v", "mountPath": "/v", "readOnly": read_only}]))
    };
    let own = json!({"path": "/var/lib/agent", "type": "DirectoryOrCreate"});
    assert_snapshot!(text(&mounted(surge(), own.clone(), false)), @"Warning SurgeWithHostPath spec.template.spec.volumes[0].hostPath: Two pods of a node may write to /var/lib/agent at a time during a surge; if one locks it, the other never gets Ready.");
    let logs = json!({"path": "/var/log", "type": ""});
    assert!(says(&mounted(surge(), logs, false))[0].starts_with("Advice SurgeWithHostPath"));
    assert_eq!(says(&mounted(surge(), own.clone(), true)), [""; 0], "no container writes");
    assert_eq!(says(&mounted(calm(), own.clone(), false)), [""; 0], "replaced, not surged");
    assert_eq!(
        says(&pod_field(surge(), "volumes", json!([{"name": "v", "hostPath": own}]))),
        [""; 0],
        "not mounted"
    );
    for (path, kind) in
        [("/proc", ""), ("/sys/fs/bpf", "DirectoryOrCreate"), ("/dev", ""), ("/run/docker.sock", "Socket")]
    {
        assert_eq!(says(&mounted(surge(), json!({"path": path, "type": kind}), false)), [""; 0], "{path}");
    }
    assert_eq!(says(&mounted(surge(), json!({"path": "/process"}), false)).len(), 1);
}

#[test]
fn devices_are_found_under_surge() {
    let resources = |quantity: Value, name: &str| json!({"limits": {name: quantity, "cpu": "1"}, "requests": {"cpu": "1"}});
    assert_snapshot!(text(&container(surge(), "resources", resources(json!("2"), "nvidia.com/gpu"))), @"Warning SurgeWithDevices spec.template.spec.containers[0].resources.limits[nvidia.com/gpu]: A container holds 2 of nvidia.com/gpu: where a node has not as many free beside it, the new pod stays Pending during a surge.");
    let gpu = resources(json!(1), "nvidia.com/gpu");
    assert_eq!(says(&container(surge(), "resources", gpu.clone())).len(), 1);
    assert_eq!(says(&container(calm(), "resources", gpu)), [""; 0], "replaced, not surged");
    for (quantity, name) in
        [("0", "nvidia.com/gpu"), ("2", "memory"), ("2", "hugepages-2Mi"), ("2", "a.kubernetes.io/b")]
    {
        assert_eq!(
            says(&container(surge(), "resources", resources(json!(quantity), name))),
            [""; 0],
            "{quantity} {name}"
        );
    }
}

#[test]
fn claimed_devices_are_found_under_surge() {
    let own = json!([{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}]);
    assert_snapshot!(text(&pod_field(surge(), "resourceClaims", own.clone())), @"Warning SurgeWithDevices spec.template.spec.resourceClaims[0].resourceClaimTemplateName: Each pod claims devices of its own by one-gpu: where a node has not as many free, the new pod stays Pending during a surge.");
    assert_eq!(says(&pod_field(calm(), "resourceClaims", own)), [""; 0]);
    assert_eq!(
        says(&pod_field(surge(), "resourceClaims", json!([{"name": "gpu", "resourceClaimName": "all"}]))),
        [""; 0]
    );
}

#[test]
fn anti_affinity_to_itself_is_found_under_surge() {
    let term = |selector: Value| json!({"topologyKey": "kubernetes.io/hostname", "labelSelector": selector});
    let affinity = |given: Given, term: Value| {
        let required = json!({"requiredDuringSchedulingIgnoredDuringExecution": [term]});
        pod_field(given, "affinity", json!({"podAntiAffinity": required}))
    };
    let own = term(json!({"matchLabels": {"app": "agent"}}));
    assert_snapshot!(text(&affinity(surge(), own.clone())), @"Error SurgeWithAntiAffinity spec.template.spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]: The term keeps a pod away from nodes that have one of the same labels: during a surge the new one stays Pending, and the update stops.");
    assert_eq!(says(&affinity(calm(), own.clone())), [""; 0], "one pod a node");
    let calm = calm().with("/daemonSet/spec/updateStrategy", rolling(2));
    assert_eq!(says(&affinity(calm, own.clone())), [""; 0]);
    assert_eq!(says(&affinity(surge(), term(json!({})))).len(), 1, "every pod");
    assert_eq!(says(&affinity(surge(), term(json!({"matchLabels": {"app": "other"}})))), [""; 0]);
    assert_eq!(says(&affinity(surge(), term(json!(null)))), [""; 0], "no pod");
    let mut by_revision = own;
    by_revision["matchLabelKeys"] = json!(["controller-revision-hash"]);
    assert_eq!(says(&affinity(surge(), by_revision)), [""; 0], "the two pods have different revisions");
}
