//! One row for each default of `apps/v1`, and a second one where a field can be left out in two ways.

use serde_json::{Value, json};

/// The object, the path, and the value that it has afterwards.
pub(super) struct Case {
    pub(super) rule: String,
    pub(super) before: Value,
    pub(super) at: String,
    pub(super) after: Value,
}

/// A case of a DaemonSet around its template: its `spec.updateStrategy`.
fn of_strategy(rule: &str, strategy: Value, at: &str, after: Value) -> Case {
    let before = json!({"spec": {"template": {"spec": {}}, "updateStrategy": strategy}});
    Case { rule: format!("spec.{rule}"), before, at: format!("/spec/{at}"), after }
}

/// A case of the pod spec.
fn of_pod(rule: &str, spec: Value, at: &str, after: Value) -> Case {
    let before = json!({"spec": {"template": {"spec": spec}}});
    Case {
        rule: format!("spec.template.spec.{rule}"),
        before,
        at: format!("/spec/template/spec/{at}"),
        after,
    }
}

fn of_volume(rule: &str, volume: Value, at: &str, after: Value) -> Case {
    of_pod(&format!("volumes[*].{rule}"), json!({"volumes": [volume]}), &format!("volumes/0/{at}"), after)
}

/// The same case in each list of containers.
fn of_containers(rule: &str, container: &Value, at: &str, after: &Value) -> Vec<Case> {
    let rule = format!("{{initContainers,containers,ephemeralContainers}}[*].{rule}");
    ["initContainers", "containers", "ephemeralContainers"]
        .map(|list| of_pod(&rule, json!({list: [container]}), &format!("{list}/0/{at}"), after.clone()))
        .into()
}

/// The same case for each kind of probe.
fn of_probes(rule: &str, probe: &Value, at: &str, after: &Value) -> Vec<Case> {
    let rule = format!("{{livenessProbe,readinessProbe,startupProbe}}.{rule}");
    let kinds = ["livenessProbe", "readinessProbe", "startupProbe"];
    kinds
        .iter()
        .flat_map(|kind| of_containers(&rule, &json!({*kind: probe}), &format!("{kind}/{at}"), after))
        .collect()
}

/// The same case for each lifecycle hook.
fn of_hooks(rule: &str, hook: &Value, at: &str, after: &Value) -> Vec<Case> {
    let rule = format!("lifecycle.{{postStart,preStop}}.{rule}");
    let hooks = ["postStart", "preStop"];
    let cases = hooks.iter().flat_map(|name| {
        of_containers(&rule, &json!({"lifecycle": {*name: hook}}), &format!("lifecycle/{name}/{at}"), after)
    });
    cases.collect()
}

fn workload_cases() -> Vec<Case> {
    let whole =
        |rule: &str, before, at: &str, after| Case { rule: rule.into(), before, at: at.into(), after };
    let rolling = |limits: Value| json!({"type": "RollingUpdate", "rollingUpdate": limits});
    let on_delete = json!({"type": "OnDelete", "rollingUpdate": {}});
    vec![
        whole("spec", json!({}), "/spec/revisionHistoryLimit", json!(10)),
        whole("spec.template", json!({}), "/spec/template/spec/restartPolicy", json!("Always")),
        whole("spec.updateStrategy", json!({}), "/spec/updateStrategy/type", json!("RollingUpdate")),
        whole("spec.revisionHistoryLimit", json!({"spec": {}}), "/spec/revisionHistoryLimit", json!(10)),
        of_strategy("updateStrategy.type", json!({}), "updateStrategy/type", json!("RollingUpdate")),
        of_strategy(
            "updateStrategy.type",
            json!({"type": ""}),
            "updateStrategy/type",
            json!("RollingUpdate"),
        ),
        of_strategy(
            "updateStrategy[type=RollingUpdate].rollingUpdate",
            json!({}),
            "updateStrategy/rollingUpdate",
            json!({"maxUnavailable": 1, "maxSurge": 0}),
        ),
        of_strategy(
            "updateStrategy[type=RollingUpdate].rollingUpdate.maxUnavailable",
            rolling(json!({"maxSurge": "10%"})),
            "updateStrategy/rollingUpdate",
            json!({"maxUnavailable": 1, "maxSurge": "10%"}),
        ),
        of_strategy(
            "updateStrategy[type=RollingUpdate].rollingUpdate.maxSurge",
            rolling(json!({"maxUnavailable": 0})),
            "updateStrategy/rollingUpdate",
            json!({"maxUnavailable": 0, "maxSurge": 0}),
        ),
        of_strategy(
            "updateStrategy.rollingUpdate.maxUnavailable",
            on_delete.clone(),
            "updateStrategy/rollingUpdate/maxUnavailable",
            json!(0),
        ),
        of_strategy(
            "updateStrategy.rollingUpdate.maxSurge",
            on_delete,
            "updateStrategy/rollingUpdate/maxSurge",
            json!(0),
        ),
    ]
}

fn pod_cases() -> Vec<Case> {
    let template = |rule: &str, before, at: &str, after| Case {
        rule: format!("spec.template.{rule}"),
        before: json!({"spec": {"template": before}}),
        at: format!("/spec/template/{at}"),
        after,
    };
    vec![
        template("metadata", json!({}), "metadata", json!({})),
        template("spec", json!({}), "spec/restartPolicy", json!("Always")),
        of_pod("dnsPolicy", json!({}), "dnsPolicy", json!("ClusterFirst")),
        of_pod("restartPolicy", json!({}), "restartPolicy", json!("Always")),
        of_pod("securityContext", json!({}), "securityContext", json!({})),
        of_pod("terminationGracePeriodSeconds", json!({}), "terminationGracePeriodSeconds", json!(30)),
        of_pod("schedulerName", json!({}), "schedulerName", json!("default-scheduler")),
        of_pod("serviceAccountName", json!({"serviceAccount": "a"}), "serviceAccountName", json!("a")),
        of_pod("serviceAccount", json!({"serviceAccountName": "a"}), "serviceAccount", json!("a")),
        of_pod(
            "serviceAccount",
            json!({"serviceAccountName": "a", "serviceAccount": "b"}),
            "serviceAccount",
            json!("a"),
        ),
        of_pod(
            "securityContext.sysctls[*].value",
            json!({"securityContext": {"sysctls": [{"name": "a"}]}}),
            "securityContext/sysctls/0/value",
            json!(""),
        ),
        of_pod(
            "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[*].preference",
            json!({"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1}]}}}),
            "affinity/nodeAffinity/preferredDuringSchedulingIgnoredDuringExecution/0/preference",
            json!({}),
        ),
    ]
}

fn container_cases() -> Vec<Case> {
    let from = |source: Value| json!({"env": [{"name": "E", "valueFrom": source}]});
    let resource = from(json!({"resourceFieldRef": {"resource": "limits.cpu"}}));
    let mut cases = vec![];
    for (rule, container, at, after) in [
        ("imagePullPolicy", json!({"image": "a"}), "imagePullPolicy", json!("Always")),
        ("imagePullPolicy", json!({"image": "a:v1"}), "imagePullPolicy", json!("IfNotPresent")),
        ("imagePullPolicy", json!({"image": "a", "imagePullPolicy": ""}), "imagePullPolicy", json!("Always")),
        ("imagePullPolicy", json!({}), "imagePullPolicy", json!("IfNotPresent")),
        ("terminationMessagePath", json!({}), "terminationMessagePath", json!("/dev/termination-log")),
        ("terminationMessagePolicy", json!({}), "terminationMessagePolicy", json!("File")),
        ("resources", json!({}), "resources", json!({})),
        ("ports[*].protocol", json!({"ports": [{"containerPort": 1}]}), "ports/0/protocol", json!("TCP")),
        (
            "env[*].valueFrom.fieldRef.apiVersion",
            from(json!({"fieldRef": {"fieldPath": "metadata.name"}})),
            "env/0/valueFrom/fieldRef/apiVersion",
            json!("v1"),
        ),
        (
            "env[*].valueFrom.fileKeyRef.optional",
            from(json!({"fileKeyRef": {"key": "k"}})),
            "env/0/valueFrom/fileKeyRef/optional",
            json!(false),
        ),
        (
            "env[*].valueFrom.resourceFieldRef.divisor",
            resource,
            "env/0/valueFrom/resourceFieldRef/divisor",
            json!("0"),
        ),
    ] {
        cases.extend(of_containers(rule, &container, at, &after));
    }
    cases
}

fn handler_cases() -> Vec<Case> {
    let get = json!({"httpGet": {"port": 80, "httpHeaders": [{"name": "h"}]}});
    let mut cases = vec![];
    for (rule, probe, at, after) in [
        ("timeoutSeconds", json!({}), "timeoutSeconds", json!(1)),
        ("timeoutSeconds", json!({"timeoutSeconds": 0}), "timeoutSeconds", json!(1)),
        ("periodSeconds", json!({}), "periodSeconds", json!(10)),
        ("successThreshold", json!({}), "successThreshold", json!(1)),
        ("failureThreshold", json!({}), "failureThreshold", json!(3)),
        ("httpGet.path", get.clone(), "httpGet/path", json!("/")),
        ("httpGet.scheme", get.clone(), "httpGet/scheme", json!("HTTP")),
        ("httpGet.httpHeaders[*].value", get.clone(), "httpGet/httpHeaders/0/value", json!("")),
        ("grpc.service", json!({"grpc": {"port": 1}}), "grpc/service", json!("")),
    ] {
        cases.extend(of_probes(rule, &probe, at, &after));
    }
    for (rule, hook, at, after) in [
        ("httpGet.path", get.clone(), "httpGet/path", json!("/")),
        ("httpGet.scheme", get.clone(), "httpGet/scheme", json!("HTTP")),
        ("httpGet.httpHeaders[*].value", get, "httpGet/httpHeaders/0/value", json!("")),
        ("sleep.seconds", json!({"sleep": {}}), "sleep/seconds", json!(0)),
    ] {
        cases.extend(of_hooks(rule, &hook, at, &after));
    }
    cases
}

fn volume_cases() -> Vec<Case> {
    let of = |source: &str, field: &str, after: Value| {
        of_volume(&format!("{source}.{field}"), json!({source: {}}), &format!("{source}/{field}"), after)
    };
    vec![
        of_volume("emptyDir", json!({"name": "v"}), "emptyDir", json!({})),
        of_volume(
            "image.pullPolicy",
            json!({"image": {"reference": "a"}}),
            "image/pullPolicy",
            json!("Always"),
        ),
        of_volume(
            "image.pullPolicy",
            json!({"image": {"reference": "a:1"}}),
            "image/pullPolicy",
            json!("IfNotPresent"),
        ),
        of("hostPath", "type", json!("")),
        of("secret", "defaultMode", json!(420)),
        of("configMap", "defaultMode", json!(420)),
        of("downwardAPI", "defaultMode", json!(420)),
        of("projected", "defaultMode", json!(420)),
        of("projected", "sources", Value::Null),
        of_volume(
            "projected.sources",
            json!({"projected": {"sources": []}}),
            "projected/sources",
            Value::Null,
        ),
        of("iscsi", "iscsiInterface", json!("default")),
        of("iscsi", "lun", json!(0)),
        of("rbd", "pool", json!("rbd")),
        of("rbd", "user", json!("admin")),
        of("rbd", "keyring", json!("/etc/ceph/keyring")),
        of("azureDisk", "cachingMode", json!("ReadWrite")),
        of("azureDisk", "fsType", json!("ext4")),
        of("azureDisk", "readOnly", json!(false)),
        of("azureDisk", "kind", json!("Shared")),
        of("scaleIO", "storageMode", json!("ThinProvisioned")),
        of("scaleIO", "fsType", json!("xfs")),
    ]
}

fn nested_volume_cases() -> Vec<Case> {
    let field = json!([{"path": "p", "fieldRef": {"fieldPath": "metadata.name"}}]);
    let resource = json!([{"path": "p", "resourceFieldRef": {"resource": "limits.cpu"}}]);
    let projected = |items: &Value| json!({"projected": {"sources": [{"downwardAPI": {"items": items}}]}});
    let claim = |claim: Value| json!({"ephemeral": {"volumeClaimTemplate": claim}});
    let mut cases = vec![];
    for (rule, volume, after) in [
        ("downwardAPI.items[*].fieldRef.apiVersion", json!({"downwardAPI": {"items": field}}), json!("v1")),
        (
            "downwardAPI.items[*].resourceFieldRef.divisor",
            json!({"downwardAPI": {"items": resource}}),
            json!("0"),
        ),
        ("projected.sources[*].downwardAPI.items[*].fieldRef.apiVersion", projected(&field), json!("v1")),
        (
            "projected.sources[*].downwardAPI.items[*].resourceFieldRef.divisor",
            projected(&resource),
            json!("0"),
        ),
        (
            "projected.sources[*].serviceAccountToken.expirationSeconds",
            json!({"projected": {"sources": [{"serviceAccountToken": {"path": "p"}}]}}),
            json!(3600),
        ),
        ("ephemeral.volumeClaimTemplate.metadata", claim(json!({})), json!({})),
        (
            "ephemeral.volumeClaimTemplate.spec",
            claim(json!({})),
            json!({"volumeMode": "Filesystem", "resources": {}}),
        ),
        ("ephemeral.volumeClaimTemplate.spec.volumeMode", claim(json!({"spec": {}})), json!("Filesystem")),
        ("ephemeral.volumeClaimTemplate.spec.resources", claim(json!({"spec": {}})), json!({})),
    ] {
        cases.push(of_volume(rule, volume, &rule.replace("[*]", "/0").replace('.', "/"), after));
    }
    for source in ["dataSource", "dataSourceRef"] {
        let rule = "ephemeral.volumeClaimTemplate.spec.{dataSource,dataSourceRef}.apiGroup";
        let at = format!("ephemeral/volumeClaimTemplate/spec/{source}/apiGroup");
        cases.push(of_volume(rule, claim(json!({"spec": {source: {"kind": "K"}}})), &at, Value::Null));
    }
    cases
}

pub(super) fn cases() -> Vec<Case> {
    let groups = [
        workload_cases(),
        pod_cases(),
        container_cases(),
        handler_cases(),
        volume_cases(),
        nested_volume_cases(),
    ];
    groups.into_iter().flatten().collect()
}
