//! Validation: the invalid fields of a DaemonSet, with Kubernetes' messages, in Kubernetes' order.
//!
//! A function here is named after the upstream function that it follows, without the `validate` in front:
//! `affinity::affinity` is `validateAffinity`.

mod affinity;
mod annotations;
mod claims;
mod containers;
mod daemon_set;
mod dns;
mod eviction;
mod host;
mod labels;
mod metadata;
mod node_terms;
mod options;
mod os;
mod owners;
mod pod;
mod pod_resources;
mod pod_spec;
mod ratcheting;
mod security;
mod spread;
mod strategy;
mod sysctls;
mod tolerations;
mod values;
mod volumes;

use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::admission::rules::Rules;
use crate::json::at;
use options::ValidationOptions;
use serde_json::Value;

const METADATA: FieldPath<'static> = FieldPath::new("metadata");
const SPEC: FieldPath<'static> = FieldPath::new("spec");
const STATUS: FieldPath<'static> = FieldPath::new("status");

/// The invalid fields of a decoded, defaulted and prepared DaemonSet that is to be created (v1.36 apps/validation
/// `ValidateDaemonSet`).
#[must_use]
pub fn validate(new: &Value, rules: &Rules) -> ErrorList {
    let mut errors = ErrorList::default();
    metadata::object_meta(part(new, "metadata"), &METADATA, &mut errors);
    daemon_set::daemon_set_spec(new, ValidationOptions::default(), rules, &SPEC, &mut errors);
    eviction::responders(&Value::Null, pod_spec(new), &SPEC.child("template").child("spec"), &mut errors);
    errors
}

/// The invalid fields of an update: `new` is the DaemonSet as it would be stored, decoded, defaulted and prepared
/// (v1.36 apps/validation `ValidateDaemonSetUpdate`). Some rules do not apply if the stored template breaks them
/// already.
#[must_use]
pub fn validate_update(old: &Value, new: &Value, rules: &Rules) -> ErrorList {
    let mut errors = ErrorList::default();
    metadata::object_meta_update(part(old, "metadata"), part(new, "metadata"), &METADATA, &mut errors);
    daemon_set::daemon_set_spec_update(old, new, &SPEC, &mut errors);
    daemon_set::daemon_set_spec(new, ratcheting::options_of_stored(old), rules, &SPEC, &mut errors);
    eviction::responders(pod_spec(old), pod_spec(new), &SPEC.child("template").child("spec"), &mut errors);
    errors
}

/// The invalid fields of an update of the status (v1.36 apps/validation `ValidateDaemonSetStatusUpdate`).
#[must_use]
pub fn validate_status_update(old: &Value, new: &Value) -> ErrorList {
    let mut errors = ErrorList::default();
    metadata::object_meta_update(part(old, "metadata"), part(new, "metadata"), &METADATA, &mut errors);
    daemon_set::status_update(part(old, "status"), part(new, "status"), &STATUS, &mut errors);
    errors
}

fn pod_spec(object: &Value) -> &Value {
    at(object, &["spec", "template", "spec"])
}

fn part<'a>(object: &'a Value, name: &str) -> &'a Value {
    object.get(name).unwrap_or(&Value::Null)
}
