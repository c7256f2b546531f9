//! What the API server refuses, in the order in which it says so.

mod containers;
mod kept;
mod pod;
mod read;
mod volumes;
mod words;

use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::admission::rules::Rules;
use kept::Kept;
use pod::Pod;
use serde_json::Value;

/// What is wrong with a decoded and defaulted DaemonSet that is to be created (v1.36 apps/validation
/// `ValidateDaemonSet`).
#[must_use]
pub fn validate(new: &Value, _rules: &Rules) -> ErrorList {
    let mut errors = ErrorList::default();
    let pod = Pod::new(new, Kept::default());
    let path = FieldPath::new("spec");
    let volumes = volumes::validate(&pod, &path.child("volumes"), &mut errors);
    containers::validate(&pod, &volumes, &path, &mut errors);
    containers::environment_files(&pod, &path, &mut errors);
    containers::resources::validate(new, containers::resources::Names::Pod, &pod, &path, &mut errors);
    errors
}

/// What is wrong with an update of a DaemonSet (v1.36 apps/validation `ValidateDaemonSetUpdate`).
#[must_use]
pub fn validate_update(_old: &Value, new: &Value, rules: &Rules) -> ErrorList {
    validate(new, rules)
}

/// What is wrong with an update of a DaemonSet's status (v1.36 apps/validation `ValidateDaemonSetStatusUpdate`).
#[must_use]
pub fn validate_status_update(_old: &Value, _new: &Value) -> ErrorList {
    ErrorList::default()
}
