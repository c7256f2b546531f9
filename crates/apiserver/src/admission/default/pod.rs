//! Defaults of a pod template's spec itself.

use super::place::{self, Step};
use super::row::{Fill, Row, absent, always, is_zero, zero};
use serde_json::{Map, Value};

const SET_DEFAULTS: &str = "v1.36 core/v1 defaults.go SetDefaults_PodSpec";
const ALIAS_IN: &str = "v1.36 core/v1 conversion.go Convert_v1_PodSpec_To_core_PodSpec";
const ALIAS_OUT: &str = "v1.36 core/v1 conversion.go Convert_core_PodSpec_To_v1_PodSpec";

const SPEC: &[Step] = &[Step::In("spec")];

/// The fields of the spec that are no list.
pub(super) const ROWS: &[Row] = &[
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

/// Init containers were annotations once, and old kubelets may still read them
/// (v1.36 core/v1 conversion.go dropInitContainerAnnotations).
pub(super) fn drop_init_container_annotations(template: &mut Value) {
    const DROPPED: [&str; 4] = [
        "pod.beta.kubernetes.io/init-containers",
        "pod.alpha.kubernetes.io/init-containers",
        "pod.beta.kubernetes.io/init-container-statuses",
        "pod.alpha.kubernetes.io/init-container-statuses",
    ];
    place::visit(template, &[Step::In("metadata")], &mut |metadata| {
        let Some(Value::Object(annotations)) = metadata.get_mut("annotations") else { return };
        let before = annotations.len();
        annotations.retain(|key, _| !DROPPED.contains(&key.as_str()));
        if annotations.is_empty() && before > 0 {
            metadata.remove("annotations");
        }
    });
}
