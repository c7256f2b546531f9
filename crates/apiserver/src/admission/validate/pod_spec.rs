//! What a pod template's spec must be: every rule in the order of the API server.

use super::containers::resources::{self, Names};
use super::pod::Pod;
use super::{
    affinity, claims, containers, dns, host, labels, os, pod_resources, security, spread, tolerations,
    volumes, words,
};
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::fields::{entries, list, member, number_if_set, text, text_if_set};
use crate::go::GoValue;
use crate::syntax::{dns_subdomain_faults, outside};

/// v1.36 core/validation `ValidatePodSpec`.
pub(super) fn validate(pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    if pod.grace_period().is_none() {
        errors.required(&path.child("terminationGracePeriodSeconds"), "");
    }
    let known = volumes::validate(pod, &path.child("volumes"), errors);
    claims::validate(pod, &path.child("resourceClaims"), errors);
    containers::validate(pod, &known, path, errors);
    pod_resources::validate(pod, path, errors);
    host::ports_of_host_network(pod, path, errors);
    policy(pod, "restartPolicy", &["Always", "OnFailure", "Never"], path, errors);
    policy(pod, "dnsPolicy", &["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"], path, errors);
    labels::labels(pod.spec, "nodeSelector", &path.child("nodeSelector"), errors);
    security::validate(pod, &path.child("securityContext"), errors);
    affinity::validate(pod, &path.child("affinity"), errors);
    dns::validate(pod, &path.child("dnsConfig"), errors);
    readiness_gates(pod, &path.child("readinessGates"), errors);
    scheduling_gates(pod, &path.child("schedulingGates"), errors);
    spread::validate(pod, &path.child("topologySpreadConstraints"), errors);
    os::host_process(pod, path, errors);
    host::users(pod, path, errors);
    host::name_override(pod, &path.child("hostnameOverride"), errors);
    names(pod, path, errors);
    tolerations::validate(list(pod.spec, "tolerations"), pod.kept, &path.child("tolerations"), errors);
    dns::host_aliases(pod, &path.child("hostAliases"), errors);
    classes(pod, path, errors);
    overhead(pod, &path.child("overhead"), errors);
    os::validate(pod, path, errors);
    scheduling_group(pod, &path.child("schedulingGroup"), errors);
    containers::environment_files(pod, path, errors);
}

/// One of these, and not nothing (v1.36 core/validation `validateRestartPolicy`, `validateDNSPolicy`).
fn policy(pod: &Pod<'_>, field: &str, known: &[&str], path: &FieldPath<'_>, errors: &mut ErrorList) {
    match text(pod.spec, field) {
        "" => errors.required(&path.child(field), ""),
        policy if known.contains(&policy) => {}
        policy => errors.not_supported(&path.child(field), GoValue::named(policy), known),
    }
}

/// v1.36 core/validation `validateReadinessGates`.
fn readiness_gates(pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    for (position, gate) in list(pod.spec, "readinessGates").iter().enumerate() {
        let path = path.index(position);
        words::qualified_name(text(gate, "conditionType"), &path.child("conditionType"), errors);
    }
}

/// v1.36 core/validation `validateSchedulingGates`.
fn scheduling_gates(pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let gates = list(pod.spec, "schedulingGates");
    for (position, gate) in gates.iter().enumerate() {
        let (name, path) = (text(gate, "name"), path.index(position));
        words::qualified_name(name, &path, errors);
        if gates.iter().take(position).any(|before| text(before, "name") == name) {
            errors.duplicate(&path, name);
        }
    }
}

/// What the pod and what it refers to is called, and how long it may run.
fn names(pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    for field in ["serviceAccountName", "nodeName"] {
        subdomain(pod, field, path, errors);
    }
    if let Some(seconds) = number_if_set(pod.spec, "activeDeadlineSeconds") {
        if let Some(fault) = outside(seconds, 1, i64::from(i32::MAX)) {
            errors.invalid(&path.child("activeDeadlineSeconds"), seconds, fault);
        }
    }
    for field in ["hostname", "subdomain"] {
        let name = text(pod.spec, field);
        if !name.is_empty() {
            words::dns_label(name, &path.child(field), errors);
        }
    }
}

/// A name of an object, if it is there at all.
fn subdomain(pod: &Pod<'_>, field: &str, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let name = text(pod.spec, field);
    if !name.is_empty() {
        words::dns_subdomain(name, &path.child(field), errors);
    }
}

/// Priority class, runtime class and preemption (v1.36 core/validation `ValidatePriorityClassName`,
/// `ValidateRuntimeClassName`, `ValidatePreemptionPolicy`).
fn classes(pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    subdomain(pod, "priorityClassName", path, errors);
    if let Some(name) = text_if_set(pod.spec, "runtimeClassName") {
        words::dns_subdomain(name, &path.child("runtimeClassName"), errors);
    }
    if text_if_set(pod.spec, "preemptionPolicy").is_some() {
        policy(pod, "preemptionPolicy", &["PreemptLowerPriority", "Never"], path, errors);
    }
}

/// What a runtime takes for itself is limited as a container is (v1.36 core/validation `validateOverhead`).
fn overhead(pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    if entries(pod.spec, "overhead").next().is_some() {
        let overhead = member(pod.spec, "overhead").cloned();
        let limits = serde_json::json!({ "limits": overhead });
        resources::validate(&limits, Names::Container, pod, path, errors);
    }
}

/// v1.36 core/validation `validateSchedulingGroup`.
fn scheduling_group(pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let Some(group) = member(pod.spec, "schedulingGroup") else { return };
    let path = path.child("podGroupName");
    match text_if_set(group, "podGroupName") {
        Some(name) => words::each(dns_subdomain_faults(name), name, &path, errors),
        None => errors.invalid(&path, GoValue::null(), "must specify one of: `podGroupName`"),
    }
}
