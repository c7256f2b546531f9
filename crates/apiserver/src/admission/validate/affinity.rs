//! Affinity of a pod: to nodes, and to other pods or away from them.

use super::labels::{self, SelectorValues};
use super::pod::Pod;
use super::{node_terms, spread, values};
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::json::{list, member, number, text, texts};
use serde_json::Value;

pub(super) const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
pub(super) const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// v1.36 core/validation `validateAffinity`.
pub(super) fn affinity(pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let Some(affinity) = member(pod.spec, "affinity") else { return };
    if let Some(nodes) = member(affinity, "nodeAffinity") {
        let values = SelectorValues::unless(pod.options.allow_invalid_node_affinity_values);
        node_affinity(nodes, values, &path.child("nodeAffinity"), errors);
    }
    for field in ["podAffinity", "podAntiAffinity"] {
        if let Some(pods) = member(affinity, field) {
            let values = SelectorValues::unless(pod.options.allow_invalid_selector_values);
            pod_affinity(pods, values, &path.child(field), errors);
        }
    }
}

/// v1.36 core/validation `validateNodeAffinity`. Preferred terms may have any values.
fn node_affinity(affinity: &Value, values: SelectorValues, path: &FieldPath<'_>, errors: &mut ErrorList) {
    if let Some(selector) = member(affinity, REQUIRED) {
        node_terms::selector(selector, values, &path.child(REQUIRED), errors);
    }
    let path = path.child(PREFERRED);
    for (position, term) in list(affinity, PREFERRED).iter().enumerate() {
        let path = path.index(position);
        weight(term, &path, errors);
        let preference = term.get("preference").unwrap_or(&Value::Null);
        node_terms::term(preference, SelectorValues::AsStored, &path.child("preference"), errors);
    }
}

/// v1.36 core/validation `validatePodAffinity`, `validatePodAntiAffinity`.
fn pod_affinity(affinity: &Value, values: SelectorValues, path: &FieldPath<'_>, errors: &mut ErrorList) {
    for (position, term) in list(affinity, REQUIRED).iter().enumerate() {
        pod_term(term, values, &path.child(REQUIRED).index(position), errors);
    }
    let path = path.child(PREFERRED);
    for (position, weighted) in list(affinity, PREFERRED).iter().enumerate() {
        let path = path.index(position);
        weight(weighted, &path, errors);
        let term = weighted.get("podAffinityTerm").unwrap_or(&Value::Null);
        pod_term(term, values, &path.child("podAffinityTerm"), errors);
    }
}

fn weight(term: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let weight = number(term, "weight");
    if !(1..=100).contains(&weight) {
        errors.invalid(&path.child("weight"), weight, "must be in the range 1-100");
    }
}

/// v1.36 core/validation `validatePodAffinityTerm`.
fn pod_term(term: &Value, values: SelectorValues, path: &FieldPath<'_>, errors: &mut ErrorList) {
    selectors(term, values, path, errors);
    for namespace in texts(term, "namespaces") {
        // Upstream reports the field in the singular.
        values::dns_label(namespace, &path.child("namespace"), errors);
    }
    spread::label_keys(term, path, errors);
    let topology = text(term, "topologyKey");
    if topology.is_empty() {
        errors.required(&path.child("topologyKey"), "can not be empty");
    }
    labels::label_name(topology, &path.child("topologyKey"), errors);
}

/// v1.36 core/validation `ValidatePodAffinityTermSelector`.
pub(super) fn selectors(term: &Value, values: SelectorValues, path: &FieldPath<'_>, errors: &mut ErrorList) {
    for field in ["labelSelector", "namespaceSelector"] {
        labels::selector(member(term, field), values, &path.child(field), errors);
    }
}
