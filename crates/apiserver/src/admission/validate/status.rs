//! What a DaemonSet's status must be.

use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::fields::{number, number_if_set};
use serde_json::Value;

/// The counters in the order in which they are told.
const COUNTERS: [&str; 8] = [
    "currentNumberScheduled",
    "numberMisscheduled",
    "desiredNumberScheduled",
    "numberReady",
    "observedGeneration",
    "updatedNumberScheduled",
    "numberAvailable",
    "numberUnavailable",
];

/// Nothing is counted below 0, and collisions only go up: the next name depends on their number (v1.36
/// apps/validation `validateDaemonSetStatus`, `ValidateDaemonSetStatusUpdate`).
pub(super) fn validate_update(old: &Value, new: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    for counter in COUNTERS {
        errors.negative(&path.child(counter), number(new, counter));
    }
    let (before, after) = (number_if_set(old, "collisionCount"), number_if_set(new, "collisionCount"));
    let path = path.child("collisionCount");
    if let Some(after) = after {
        errors.negative(&path, after);
    }
    // None is less than any number.
    if before.is_some() && after < before {
        errors.invalid(&path, after.unwrap_or(0), "cannot be decremented");
    }
}
