//! Defaults of containers, init containers and ephemeral ones.

use super::image;
use super::path::DefaultStep::{self, Each, EachOfAny, In, InAny};
use super::row::{DefaultRow, Fill, absent, zero};
use serde_json::{Map, Value};

const CONTAINER: &str = "v1.36 core/v1 defaults.go SetDefaults_Container";
const PROBE: &str = "v1.36 core/v1 defaults.go SetDefaults_Probe";
const HTTP_GET: &str = "v1.36 core/v1 defaults.go SetDefaults_HTTPGetAction";
const FIELD_REF: &str = "v1.36 core/v1 defaults.go SetDefaults_ObjectFieldSelector";
const MARKED: &str = "v1.36 core/v1 types.go +default, as in zz_generated.defaults.go";

/// Every list of containers.
pub(super) const ALL: DefaultStep = EachOfAny(&["initContainers", "containers", "ephemeralContainers"]);
pub(super) const PROBES: DefaultStep = InAny(&["livenessProbe", "readinessProbe", "startupProbe"]);
pub(super) const HOOKS: DefaultStep = InAny(&["postStart", "preStop"]);

pub(super) const CONTAINERS: &[DefaultStep] = &[In("spec"), ALL];
const PORTS: &[DefaultStep] = &[In("spec"), ALL, Each("ports")];
const FIELD_REFS: &[DefaultStep] = &[In("spec"), ALL, Each("env"), In("valueFrom"), In("fieldRef")];
const FILE_KEY_REFS: &[DefaultStep] = &[In("spec"), ALL, Each("env"), In("valueFrom"), In("fileKeyRef")];
const ALL_PROBES: &[DefaultStep] = &[In("spec"), ALL, PROBES];
const PROBE_GETS: &[DefaultStep] = &[In("spec"), ALL, PROBES, In("httpGet")];
const PROBE_CALLS: &[DefaultStep] = &[In("spec"), ALL, PROBES, In("grpc")];
const HOOK_GETS: &[DefaultStep] = &[In("spec"), ALL, In("lifecycle"), HOOKS, In("httpGet")];

/// Defaults of the container itself, its ports and its environment.
pub(super) const ROWS: &[DefaultRow] = &[
    zero(
        CONTAINERS,
        "imagePullPolicy",
        Fill::From("Always for tag latest or none, else IfNotPresent", pull_policy),
        CONTAINER,
    ),
    zero(CONTAINERS, "terminationMessagePath", Fill::Text("/dev/termination-log"), CONTAINER),
    zero(CONTAINERS, "terminationMessagePolicy", Fill::Text("File"), CONTAINER),
    zero(PORTS, "protocol", Fill::Text("TCP"), MARKED),
    zero(FIELD_REFS, "apiVersion", Fill::Text("v1"), FIELD_REF),
    absent(FILE_KEY_REFS, "optional", Fill::Bool(false), MARKED),
];

/// Defaults of probes and lifecycle hooks.
pub(super) const HANDLERS: &[DefaultRow] = &[
    zero(ALL_PROBES, "timeoutSeconds", Fill::Number(1), PROBE),
    zero(ALL_PROBES, "periodSeconds", Fill::Number(10), PROBE),
    zero(ALL_PROBES, "successThreshold", Fill::Number(1), PROBE),
    zero(ALL_PROBES, "failureThreshold", Fill::Number(3), PROBE),
    zero(PROBE_GETS, "path", Fill::Text("/"), HTTP_GET),
    zero(PROBE_GETS, "scheme", Fill::Text("HTTP"), HTTP_GET),
    absent(PROBE_CALLS, "service", Fill::Text(""), MARKED),
    zero(HOOK_GETS, "path", Fill::Text("/"), HTTP_GET),
    zero(HOOK_GETS, "scheme", Fill::Text("HTTP"), HTTP_GET),
];

fn pull_policy(container: &Map<String, Value>) -> Option<Value> {
    let image = container.get("image").and_then(Value::as_str).unwrap_or_default();
    Some(Value::from(image::pull_policy(image)))
}
