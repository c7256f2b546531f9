//! Defaults that a pod gets and a template does not: they would make another template of every stored one.

use super::place::Step::{self, Each, EachOfAny, In, With};
use super::row::{Fill, Row, absent, always, is_zero, zero};
use serde_json::{Map, Value};

const POD: &str = "v1.36 core/v1 defaults.go SetDefaults_Pod";
const HOST_PORTS: &str = "v1.36 core/v1 defaults.go defaultHostNetworkPorts";

/// Ephemeral containers have neither resources nor ports.
const CONTAINERS: Step = EachOfAny(&["containers", "initContainers"]);
const SPEC: &[Step] = &[In("spec")];
const RESOURCES: &[Step] = &[In("spec"), CONTAINERS, In("resources")];
const PORTS: &[Step] = &[In("spec"), With("hostNetwork"), CONTAINERS, Each("ports")];

/// Requests, service links, host ports.
pub(super) const ROWS: &[Row] = &[
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
