//! Topology spread constraints, and the label keys that they and affinity terms take from the pod's own labels.

use super::labels::{self, SelectorValues};
use super::pod::Pod;
use super::values;
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::json::{entries, list, member, number, number_if_set, text, text_if_set, texts};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// v1.36 core/validation `validateTopologySpreadConstraints`.
pub(super) fn topology_spread_constraints(pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let constraints = list(pod.spec, "topologySpreadConstraints");
    for (position, constraint) in constraints.iter().enumerate() {
        let path = path.index(position);
        positive(number(constraint, "maxSkew"), &path.child("maxSkew"), errors);
        if text(constraint, "topologyKey").is_empty() {
            errors.required(&path.child("topologyKey"), "can not be empty");
        }
        let action = text(constraint, "whenUnsatisfiable");
        let supported = ["DoNotSchedule", "ScheduleAnyway"];
        values::supported_if_set(Some(action), &supported, &path.child("whenUnsatisfiable"), errors);
        not_repeated(constraint, constraints.get(position + 1..).unwrap_or_default(), &path, errors);
        min_domains(constraint, &path.child("minDomains"), errors);
        policies(constraint, &path, errors);
        if pod.options.allow_invalid_spread_label_keys {
            label_keys_as_before(constraint, &path.child("matchLabelKeys"), errors);
        } else {
            label_keys(constraint, &path, errors);
        }
        if !pod.options.allow_invalid_spread_selector {
            let selector = member(constraint, "labelSelector");
            labels::selector(selector, SelectorValues::OfLabels, &path.child("labelSelector"), errors);
        }
    }
}

/// v1.36 core/validation `ValidatePositiveField`.
fn positive(number: i64, path: &FieldPath<'_>, errors: &mut ErrorList) {
    if number <= 0 {
        errors.invalid(path, number, "must be greater than zero");
    }
}

/// v1.36 core/validation `ValidateWhenUnsatisfiable`, `validateNodeInclusionPolicy`.
fn policies(constraint: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    for field in ["nodeAffinityPolicy", "nodeTaintsPolicy"] {
        let policy = text_if_set(constraint, field);
        values::supported_if_set(policy, &["Honor", "Ignore"], &path.child(field), errors);
    }
}

/// v1.36 core/validation `ValidateSpreadConstraintNotRepeat`.
fn not_repeated(constraint: &Value, rest: &[Value], path: &FieldPath<'_>, errors: &mut ErrorList) {
    let pair = |constraint| (text(constraint, "topologyKey"), text(constraint, "whenUnsatisfiable"));
    if rest.iter().any(|other| pair(other) == pair(constraint)) {
        let (key, action) = pair(constraint);
        let printed = format!("{{{key}, {action}}}");
        errors.duplicate(&path.child("{topologyKey, whenUnsatisfiable}"), printed.as_str());
    }
}

/// v1.36 core/validation `validateMinDomains`.
fn min_domains(constraint: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let Some(domains) = number_if_set(constraint, "minDomains") else { return };
    positive(domains, path, errors);
    let action = text(constraint, "whenUnsatisfiable");
    if action != "DoNotSchedule" {
        let detail = format!("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}");
        errors.invalid(path, domains, detail);
    }
}

/// `matchLabelKeys` and `mismatchLabelKeys` of a constraint or an affinity's term (v1.36 core/validation
/// `ValidateMatchLabelKeysAndMismatchLabelKeys`).
pub(super) fn label_keys(holder: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let selector = member(holder, "labelSelector");
    for field in ["matchLabelKeys", "mismatchLabelKeys"] {
        if selector.is_none() && !list(holder, field).is_empty() {
            needs_selector(&path.child(field), errors);
        } else {
            key_names(holder, field, &path.child(field), errors);
        }
    }
    if let Some(selector) = selector {
        keys_not_twice_selected(holder, selector, path, errors);
    }
    let mismatched: BTreeSet<&str> = texts(holder, "mismatchLabelKeys").collect();
    for (position, key) in texts(holder, "matchLabelKeys").enumerate() {
        if mismatched.contains(key) {
            let detail = "exists in both matchLabelKeys and mismatchLabelKeys";
            errors.invalid(&path.child("matchLabelKeys").index(position), key, detail);
        }
    }
}

fn needs_selector(path: &FieldPath<'_>, errors: &mut ErrorList) {
    errors.forbidden(path, "must not be specified when labelSelector is not set");
}

fn key_names(holder: &Value, field: &str, path: &FieldPath<'_>, errors: &mut ErrorList) {
    for (position, key) in texts(holder, field).enumerate() {
        labels::label_name(key, &path.index(position), errors);
    }
}

const SELECTED_TOO: &str = "exists in both matchLabelKeys and labelSelector";

/// When a pod is created, its selector gets an expression for each key, so a second expression for one key is an
/// error.
fn keys_not_twice_selected(holder: &Value, selector: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let keys: BTreeMap<&str, usize> =
        texts(holder, "matchLabelKeys").enumerate().map(|(position, key)| (key, position)).collect();
    let mut selected: BTreeSet<&str> = entries(selector, "matchLabels").map(|(key, _)| key).collect();
    for expression in list(selector, "matchExpressions") {
        let key = text(expression, "key");
        if !selected.insert(key) {
            if let Some(position) = keys.get(key) {
                errors.invalid(&path.index(*position), key, SELECTED_TOO);
            }
        }
    }
}

/// The rules before v1.34. They apply where the stored template breaks the rules of [`label_keys`] (v1.36
/// core/validation `ValidateMatchLabelKeysInTopologySpread`).
fn label_keys_as_before(constraint: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let selector = member(constraint, "labelSelector");
    if selector.is_none() && !list(constraint, "matchLabelKeys").is_empty() {
        needs_selector(path, errors);
    }
    let selected = |key| {
        selector.is_some_and(|selector| {
            entries(selector, "matchLabels").any(|(label, _)| label == key)
                || list(selector, "matchExpressions").iter().any(|other| text(other, "key") == key)
        })
    };
    for (position, key) in texts(constraint, "matchLabelKeys").enumerate() {
        let path = path.index(position);
        labels::label_name(key, &path, errors);
        if selected(key) {
            errors.invalid(&path, key, SELECTED_TOO);
        }
    }
}
