//! The pod template and its spec: every rule, in the API server's order.

use super::containers::resource_names::Names;
use super::containers::resources;
use super::options::ValidationOptions;
use super::pod::Pod;
use super::{
    affinity, annotations, claims, containers, dns, host, labels, os, pod_resources, security, spread,
    tolerations, values, volumes,
};
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::go::GoValue;
use crate::json::{entries, list, member, number_if_set, text, text_if_set};
use crate::syntax::{dns_subdomain_errors, out_of_range_error};
use serde_json::Value;

/// v1.36 core/validation `ValidatePodTemplateSpec`. Upstream reports labels and annotations at the template itself,
/// without `metadata`.
pub(super) fn pod_template_spec(
    template: &Value,
    options: ValidationOptions,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    let meta = template.get("metadata").unwrap_or(&Value::Null);
    let pod = Pod::new(template.get("spec").unwrap_or(&Value::Null), options);
    labels::labels(meta, "labels", &path.child("labels"), errors);
    annotations::pod_annotations(meta, &pod, &path.child("annotations"), errors);
    let spec = path.child("spec");
    pod_spec(&pod, &spec, errors);
    annotations::seccomp_annotations_and_fields(meta, &pod, &spec, errors);
    annotations::app_armor_annotations_and_fields(meta, &pod, &spec, errors);
    if !list(pod.spec, "ephemeralContainers").is_empty() {
        let detail = "ephemeral containers not allowed in pod template";
        errors.forbidden(&spec.child("ephemeralContainers"), detail);
    }
}

/// v1.36 core/validation `ValidatePodSpec`.
pub(super) fn pod_spec(pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    if pod.grace_period().is_none() {
        errors.required(&path.child("terminationGracePeriodSeconds"), "");
    }
    let known = volumes::all_volumes(pod, &path.child("volumes"), errors);
    claims::pod_resource_claims(pod, &path.child("resourceClaims"), errors);
    containers::all_containers(pod, &known, path, errors);
    pod_resources::pod_resources(pod, path, errors);
    host::ports_of_host_network(pod, path, errors);
    policy(pod, "restartPolicy", &["Always", "OnFailure", "Never"], path, errors);
    policy(pod, "dnsPolicy", &["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"], path, errors);
    labels::labels(pod.spec, "nodeSelector", &path.child("nodeSelector"), errors);
    security::pod_security_context(pod, &path.child("securityContext"), errors);
    security::one_process_namespace(pod, &path.child("shareProcessNamespace"), errors);
    affinity::affinity(pod, &path.child("affinity"), errors);
    dns::dns_config(pod, &path.child("dnsConfig"), errors);
    readiness_gates(pod, &path.child("readinessGates"), errors);
    scheduling_gates(pod, &path.child("schedulingGates"), errors);
    spread::topology_spread_constraints(pod, &path.child("topologySpreadConstraints"), errors);
    os::host_process(pod, path, errors);
    host::users(pod, path, errors);
    host::name_override(pod, &path.child("hostnameOverride"), errors);
    names(pod, path, errors);
    tolerations::tolerations(list(pod.spec, "tolerations"), pod.options, &path.child("tolerations"), errors);
    dns::host_aliases(pod, &path.child("hostAliases"), errors);
    classes(pod, path, errors);
    overhead(pod, &path.child("overhead"), errors);
    os::os(pod, path, errors);
    scheduling_group(pod, &path.child("schedulingGroup"), errors);
    containers::file_key_ref_volumes(pod, path, errors);
}

/// v1.36 core/validation `validateRestartPolicy`, `validateDNSPolicy`, `ValidatePreemptionPolicy`.
fn policy(pod: &Pod<'_>, field: &str, supported: &[&str], path: &FieldPath<'_>, errors: &mut ErrorList) {
    values::one_of(text(pod.spec, field), supported, &path.child(field), errors);
}

/// v1.36 core/validation `validateReadinessGates`.
fn readiness_gates(pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    for (position, gate) in list(pod.spec, "readinessGates").iter().enumerate() {
        let path = path.index(position);
        values::qualified_name(text(gate, "conditionType"), &path.child("conditionType"), errors);
    }
}

/// v1.36 core/validation `validateSchedulingGates`.
fn scheduling_gates(pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let gates = list(pod.spec, "schedulingGates");
    for (position, gate) in gates.iter().enumerate() {
        let (name, path) = (text(gate, "name"), path.index(position));
        values::qualified_name(name, &path, errors);
        if gates.iter().take(position).any(|before| text(before, "name") == name) {
            errors.duplicate(&path, name);
        }
    }
}

/// Names of the pod and of objects that it refers to, and how long it may run.
fn names(pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    for field in ["serviceAccountName", "nodeName"] {
        subdomain(pod, field, path, errors);
    }
    if let Some(seconds) = number_if_set(pod.spec, "activeDeadlineSeconds") {
        if let Some(message) = out_of_range_error(seconds, 1, i64::from(i32::MAX)) {
            errors.invalid(&path.child("activeDeadlineSeconds"), seconds, message);
        }
    }
    for field in ["hostname", "subdomain"] {
        let name = text(pod.spec, field);
        if !name.is_empty() {
            values::dns_label(name, &path.child(field), errors);
        }
    }
}

/// An optional name of an object.
fn subdomain(pod: &Pod<'_>, field: &str, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let name = text(pod.spec, field);
    if !name.is_empty() {
        values::dns_subdomain(name, &path.child(field), errors);
    }
}

/// Priority class, runtime class and preemption (v1.36 core/validation `ValidatePriorityClassName`,
/// `ValidateRuntimeClassName`, `ValidatePreemptionPolicy`).
fn classes(pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    subdomain(pod, "priorityClassName", path, errors);
    if let Some(name) = text_if_set(pod.spec, "runtimeClassName") {
        values::dns_subdomain(name, &path.child("runtimeClassName"), errors);
    }
    if text_if_set(pod.spec, "preemptionPolicy").is_some() {
        policy(pod, "preemptionPolicy", &["PreemptLowerPriority", "Never"], path, errors);
    }
}

/// The overhead of a runtime follows the rules of a container's limits (v1.36 core/validation `validateOverhead`).
fn overhead(pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    if entries(pod.spec, "overhead").next().is_some() {
        let overhead = member(pod.spec, "overhead").cloned();
        let limits = serde_json::json!({ "limits": overhead });
        resources::resource_requirements(&limits, Names::Container, pod, path, errors);
    }
}

/// v1.37 core/validation `validateSchedulingGroup`.
fn scheduling_group(pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let Some(group) = member(pod.spec, "schedulingGroup") else { return };
    let at = path.child("podGroupName");
    match text_if_set(group, "podGroupName") {
        Some(name) => values::each(dns_subdomain_errors(name), name, &at, errors),
        None => errors.invalid(&at, GoValue::null(), "must specify one of: `podGroupName`"),
    }
    if !list(pod.spec, "evictionResponders").is_empty() {
        errors.forbidden(path, "may not be set when evictionResponders is set");
    }
}
