//! What the API server refuses, in the order in which it says so.

mod affinity;
mod annotations;
mod claims;
mod containers;
mod daemon_set;
mod dns;
mod host;
mod kept;
mod labels;
mod metadata;
mod node_terms;
mod os;
mod owners;
mod pod;
mod pod_resources;
mod pod_spec;
mod security;
mod spread;
mod status;
mod strategy;
mod sysctls;
mod template;
mod tolerations;
mod volumes;
mod words;

use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::admission::rules::Rules;
use kept::Kept;
use serde_json::Value;

const METADATA: FieldPath<'static> = FieldPath::new("metadata");
const SPEC: FieldPath<'static> = FieldPath::new("spec");
const STATUS: FieldPath<'static> = FieldPath::new("status");

/// What is wrong with a decoded, defaulted and prepared DaemonSet that is to be created, with Kubernetes' messages in
/// Kubernetes' order (v1.36 apps/validation `ValidateDaemonSet`).
#[must_use]
pub fn validate(new: &Value, rules: &Rules) -> ErrorList {
    let mut errors = ErrorList::default();
    metadata::validate(part(new, "metadata"), &METADATA, &mut errors);
    daemon_set::validate(new, Kept::default(), rules, &SPEC, &mut errors);
    errors
}

/// What is wrong with an update of a DaemonSet: `new` as it would be stored, decoded, defaulted and prepared (v1.36
/// apps/validation `ValidateDaemonSetUpdate`). What the stored one has against the rules that are younger than it may
/// stay.
#[must_use]
pub fn validate_update(old: &Value, new: &Value, rules: &Rules) -> ErrorList {
    let mut errors = ErrorList::default();
    metadata::validate_update(part(old, "metadata"), part(new, "metadata"), &METADATA, &mut errors);
    daemon_set::validate_update(old, new, &SPEC, &mut errors);
    daemon_set::validate(new, Kept::of(old), rules, &SPEC, &mut errors);
    errors
}

/// What is wrong with an update of a DaemonSet's status (v1.36 apps/validation `ValidateDaemonSetStatusUpdate`).
#[must_use]
pub fn validate_status_update(old: &Value, new: &Value) -> ErrorList {
    let mut errors = ErrorList::default();
    metadata::validate_update(part(old, "metadata"), part(new, "metadata"), &METADATA, &mut errors);
    status::validate_update(part(old, "status"), part(new, "status"), &STATUS, &mut errors);
    errors
}

fn part<'a>(object: &'a Value, name: &str) -> &'a Value {
    object.get(name).unwrap_or(&Value::Null)
}
