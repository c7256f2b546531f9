//! Probes of a container.

use super::handlers::{self, Occasion};
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::admission::validate::pod::Pod;
use crate::json::{member, number, number_if_set};
use serde_json::Value;

/// v1.36 core/validation `validateLivenessProbe`.
pub(super) fn liveness(container: &Value, pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    succeeds_at_once(container, "livenessProbe", pod, path, errors);
}

/// v1.36 core/validation `validateStartupProbe`.
pub(super) fn startup(container: &Value, pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    succeeds_at_once(container, "startupProbe", pod, path, errors);
}

/// v1.36 core/validation `validateReadinessProbe`: a readiness probe restarts nothing, so it has no grace period.
pub(super) fn readiness(container: &Value, pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let Some(readiness) = member(container, "readinessProbe") else { return };
    let path = path.child("readinessProbe");
    probe(readiness, pod, &path, errors);
    if let Some(seconds) = number_if_set(readiness, "terminationGracePeriodSeconds") {
        let path = path.child("terminationGracePeriodSeconds");
        errors.invalid(&path, seconds, "must not be set for readinessProbes");
    }
}

/// Probes that decide about a restart need exactly one success.
fn succeeds_at_once(
    container: &Value,
    field: &str,
    pod: &Pod<'_>,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    let Some(of) = member(container, field) else { return };
    let path = path.child(field);
    probe(of, pod, &path, errors);
    let successes = number(of, "successThreshold");
    if successes != 1 {
        errors.invalid(&path.child("successThreshold"), successes, "must be 1");
    }
}

/// v1.36 core/validation `validateProbe`.
fn probe(probe: &Value, pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    handlers::handler(probe, Occasion::Probe, pod, path, errors);
    let numbers =
        ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"];
    for field in numbers {
        if let Some(value) = number_if_set(probe, field).filter(|value| *value < 0) {
            errors.invalid(&path.child(field), value, "must be greater than or equal to 0");
        }
    }
    if let Some(seconds) =
        number_if_set(probe, "terminationGracePeriodSeconds").filter(|seconds| *seconds <= 0)
    {
        let path = path.child("terminationGracePeriodSeconds");
        errors.invalid(&path, seconds, "must be greater than 0");
    }
}
