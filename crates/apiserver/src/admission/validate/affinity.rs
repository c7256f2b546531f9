//! Which nodes and which other pods a pod wants near, or not near.

use super::kept::finds_fault;
use super::labels::{self, SelectorValues};
use super::pod::Pod;
use super::{node_terms, spread, words};
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::fields::{list, member, number, text, texts};
use serde_json::Value;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// v1.36 core/validation `validateAffinity`.
pub(super) fn validate(pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let Some(affinity) = member(pod.spec, "affinity") else { return };
    if let Some(nodes) = member(affinity, "nodeAffinity") {
        let values = SelectorValues::unless(pod.kept.values_in_node_affinity);
        node_affinity(nodes, values, &path.child("nodeAffinity"), errors);
    }
    for field in ["podAffinity", "podAntiAffinity"] {
        if let Some(pods) = member(affinity, field) {
            let values = SelectorValues::unless(pod.kept.values_in_selectors);
            pod_affinity(pods, values, &path.child(field), errors);
        }
    }
}

/// v1.36 core/validation `validateNodeAffinity`. What is only preferred may have any values.
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
        // The field is told without its plural, as upstream tells it.
        words::dns_label(namespace, &path.child("namespace"), errors);
    }
    spread::label_keys(term, path, errors);
    let topology = text(term, "topologyKey");
    if topology.is_empty() {
        errors.required(&path.child("topologyKey"), "can not be empty");
    }
    labels::label_name(topology, &path.child("topologyKey"), errors);
}

/// v1.36 core/validation `ValidatePodAffinityTermSelector`.
fn selectors(term: &Value, values: SelectorValues, path: &FieldPath<'_>, errors: &mut ErrorList) {
    for field in ["labelSelector", "namespaceSelector"] {
        labels::selector(member(term, field), values, &path.child(field), errors);
    }
}

/// Whether a selector of pods or namespaces would be refused (v1.36 api/pod/util.go
/// `hasInvalidLabelValueInAffinitySelector`).
pub(super) fn has_bad_selector(spec: &Value) -> bool {
    let affinity = spec.get("affinity").unwrap_or(&Value::Null);
    finds_fault(|path, errors| {
        for affinity in ["podAffinity", "podAntiAffinity"].iter().filter_map(|field| affinity.get(field)) {
            let preferred = list(affinity, PREFERRED).iter().filter_map(|term| term.get("podAffinityTerm"));
            for term in list(affinity, REQUIRED).iter().chain(preferred) {
                selectors(term, SelectorValues::OfLabels, path, errors);
            }
        }
    })
}

/// v1.36 api/pod/util.go `hasInvalidLabelValueInRequiredNodeAffinity`.
pub(super) fn has_value_of_no_label(spec: &Value) -> bool {
    let nodes = spec.get("affinity").and_then(|affinity| affinity.get("nodeAffinity"));
    let terms =
        nodes.and_then(|nodes| nodes.get(REQUIRED)).map(|required| list(required, "nodeSelectorTerms"));
    terms.unwrap_or_default().iter().any(labels::has_value_of_no_label)
}
