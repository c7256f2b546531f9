//! Defaults of a pod template's spec itself, of pods alone, and the rounding of amounts in resource lists.

use super::container::ALL;
use super::path::{
    self,
    DefaultStep::{self, Each, EachOfAny, In, With},
};
use super::row::{DefaultRow, Fill, absent, always, is_zero, zero};
use crate::quantity::Quantity;
use serde_json::{Map, Value};

const SET_DEFAULTS: &str = "v1.36 core/v1 defaults.go SetDefaults_PodSpec";
const ALIAS_IN: &str = "v1.36 core/v1 conversion.go Convert_v1_PodSpec_To_core_PodSpec";
const ALIAS_OUT: &str = "v1.36 core/v1 conversion.go Convert_core_PodSpec_To_v1_PodSpec";

const SPEC: &[DefaultStep] = &[In("spec")];

/// Defaults of the spec itself.
pub(super) const ROWS: &[DefaultRow] = &[
    zero(SPEC, "dnsPolicy", Fill::Text("ClusterFirst"), SET_DEFAULTS),
    zero(SPEC, "restartPolicy", Fill::Text("Always"), SET_DEFAULTS),
    absent(SPEC, "securityContext", Fill::Object, SET_DEFAULTS),
    absent(SPEC, "terminationGracePeriodSeconds", Fill::Number(30), SET_DEFAULTS),
    zero(SPEC, "schedulerName", Fill::Text("default-scheduler"), SET_DEFAULTS),
    zero(SPEC, "serviceAccountName", Fill::From("serviceAccount", service_account), ALIAS_IN),
    always(SPEC, "serviceAccount", Fill::From("serviceAccountName", service_account_name), ALIAS_OUT),
];

fn service_account(spec: &Map<String, Value>) -> Option<Value> {
    set(spec, "serviceAccount")
}

fn service_account_name(spec: &Map<String, Value>) -> Option<Value> {
    set(spec, "serviceAccountName")
}

fn set(object: &Map<String, Value>, field: &str) -> Option<Value> {
    object.get(field).filter(|value| !is_zero(value)).cloned()
}

/// Init containers were annotations once, and old kubelets still read those annotations (v1.36 core/v1 conversion.go
/// dropInitContainerAnnotations).
pub(super) fn drop_init_container_annotations(template: &mut Value) {
    const DROPPED: [&str; 4] = [
        "pod.beta.kubernetes.io/init-containers",
        "pod.alpha.kubernetes.io/init-containers",
        "pod.beta.kubernetes.io/init-container-statuses",
        "pod.alpha.kubernetes.io/init-container-statuses",
    ];
    path::visit(template, &[In("metadata")], &mut |metadata| {
        let Some(Value::Object(annotations)) = metadata.get_mut("annotations") else { return };
        let before = annotations.len();
        annotations.retain(|key, _| !DROPPED.contains(&key.as_str()));
        if annotations.is_empty() && before > 0 {
            metadata.remove("annotations");
        }
    });
}

const POD: &str = "v1.36 core/v1 defaults.go SetDefaults_Pod";
const HOST_PORTS: &str = "v1.36 core/v1 defaults.go defaultHostNetworkPorts";

/// Ephemeral containers have neither resources nor ports.
const WITH_RESOURCES: DefaultStep = EachOfAny(&["containers", "initContainers"]);
const RESOURCES: &[DefaultStep] = &[In("spec"), WITH_RESOURCES, In("resources")];
const PORTS: &[DefaultStep] = &[In("spec"), With("hostNetwork"), WITH_RESOURCES, Each("ports")];

/// Defaults that a pod gets and a template does not: in a template they would change every stored one.
pub(super) const ONLY_ROWS: &[DefaultRow] = &[
    always(RESOURCES, "requests", Fill::From("limits without a request", requests), POD),
    absent(SPEC, "enableServiceLinks", Fill::Bool(true), POD),
    zero(PORTS, "hostPort", Fill::From("containerPort", container_port), HOST_PORTS),
];

fn requests(resources: &Map<String, Value>) -> Option<Value> {
    let limits = resources.get("limits")?.as_object()?.clone();
    match resources.get("requests") {
        None | Some(Value::Null) => Some(limits),
        Some(Value::Object(requests)) => Some(limits.into_iter().chain(requests.clone()).collect()),
        Some(_) => None,
    }
    .filter(|requests: &Map<String, Value>| !requests.is_empty())
    .map(Value::Object)
}

fn container_port(port: &Map<String, Value>) -> Option<Value> {
    port.get("containerPort").filter(|port| !is_zero(port)).cloned()
}

/// The objects whose fields are amounts (v1.36 apps/v1 zz_generated.defaults.go SetObjectDefaults_DaemonSet).
const LISTS: &[&[DefaultStep]] = &[
    &[In("spec"), ALL, In("resources"), In("limits")],
    &[In("spec"), ALL, In("resources"), In("requests")],
    &[In("spec"), In("overhead")],
    &[In("spec"), In("resources"), In("limits")],
    &[In("spec"), In("resources"), In("requests")],
    &[In("spec"), EACH_VOLUME, EPHEMERAL, CLAIM, In("spec"), In("resources"), In("limits")],
    &[In("spec"), EACH_VOLUME, EPHEMERAL, CLAIM, In("spec"), In("resources"), In("requests")],
];
const EACH_VOLUME: DefaultStep = Each("volumes");
const EPHEMERAL: DefaultStep = In("ephemeral");
const CLAIM: DefaultStep = In("volumeClaimTemplate");

/// Rounds amounts finer than a thousandth away from zero (v1.36 core/v1 defaults.go SetDefaults_ResourceList). An
/// invalid amount stays.
pub(super) fn round_up(template: &mut Value) {
    for list in LISTS {
        path::visit(template, list, &mut round_list);
    }
}

fn round_list(list: &mut Map<String, Value>) {
    for amount in list.values_mut() {
        if let Ok(quantity) = Quantity::from_json(amount) {
            *amount = Value::from(quantity.rounded_up_to_thousandths().to_string());
        }
    }
}
