//! Warnings: objects that the API server stores, and comments on.
//!
//! They follow v1.36 `pkg/api/pod` warnings.go `warningsForPodSpecAndMeta`, in its order. Entries of a map, which Go
//! visits in random order, come in the order of their keys here.

mod addresses;
mod annotations;
mod bytes;
mod containers;
mod headers;
mod lists;
mod node_labels;
mod paths;
mod ports;
mod volumes;

use super::path::FieldPath;
use super::template_generation;
use crate::json::{at, list, member, number};
use serde_json::Value;

pub(super) use headers::as_headers;

const SPEC: FieldPath<'static> = FieldPath::new("spec");

/// The API server's warnings about a DaemonSet that it has just created, as it stores it (v1.36
/// `registry/apps/daemonset` strategy.go `WarningsOnCreate`).
///
/// They concern the pod template: deprecated fields, values without effect, definitions that hide each other. kubectl
/// prints each as a line `Warning: …`.
///
/// ```
/// use daemonset_apiserver::admission::{Refusal, Rules, create, warnings_on_create};
/// use serde_json::json;
///
/// let manifest = json!({
///     "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "web"},
///     "spec": {
///         "selector": {"matchLabels": {"app": "web"}},
///         "template": {
///             "metadata": {"labels": {"app": "web"}},
///             "spec": {"containers": [{"name": "web", "image": "web:v1", "resources": {"limits": {"memory": "100m"}}}]}
///         }
///     }
/// });
/// assert_eq!(warnings_on_create(&create(&manifest, &Rules::new())?), [
///     "spec.template.spec.containers[0].resources.limits[memory]: fractional byte value \"100m\" is invalid, must be an integer"
/// ]);
/// # Ok::<(), Refusal>(())
/// ```
#[must_use]
pub fn warnings_on_create(new: &Value) -> Vec<String> {
    template_warnings(at(new, &["spec", "template"]), &SPEC.child("template"))
}

/// The API server's warnings about a DaemonSet that it has just updated, both as it stores them: those of the new
/// template, if the template has changed (v1.36 `registry/apps/daemonset` strategy.go `WarningsOnUpdate`).
#[must_use]
pub fn warnings_on_update(old: &Value, new: &Value) -> Vec<String> {
    let generation = |object| template_generation::get(object).unwrap_or_default();
    if generation(old) == generation(new) { Vec::new() } else { warnings_on_create(new) }
}

/// v1.36 `pkg/api/pod` warnings.go `warningsForPodSpecAndMeta`.
fn template_warnings(template: &Value, path: &FieldPath<'_>) -> Vec<String> {
    let (metadata, pod) = (at(template, &["metadata"]), at(template, &["spec"]));
    let (metadata_path, path) = (path.child("metadata"), path.child("spec"));
    let annotated = annotations::Annotated::new(metadata, pod, &metadata_path);
    let mut found = Vec::new();
    node_labels::selectors(pod, &path, &mut found);
    node_labels::spread(pod, &path, &mut found);
    annotated.deprecated(&mut found);
    volumes::volumes(pod, &path, &mut found);
    paths::overlapping(pod, &mut found);
    lists::duplicates(pod, &path, &mut found);
    bytes::overhead(pod, &path, &mut found);
    annotated.pod_profile(&mut found);
    containers::containers(pod, &annotated, &path, &mut found);
    ports::overlapping(pod, &path, &mut found);
    ports::same_name(pod, &path, &mut found);
    negative_grace_period(pod, &path, &mut found);
    node_labels::pod_affinity(pod, &path, &mut found);
    addresses::addresses(pod, &path, &mut found);
    found
}

fn negative_grace_period(pod: &Value, path: &FieldPath<'_>, found: &mut Vec<String>) {
    let field = "terminationGracePeriodSeconds";
    if number(pod, field) < 0 {
        let path = path.child(field);
        found.push(format!("{path}: must be >= 0; negative values are invalid and will be treated as 1"));
    }
}

/// Every container with its path (v1.36 core/pods `VisitContainersWithPath`).
fn each_container<'a>(
    pod: &'a Value,
    path: &FieldPath<'_>,
    mut visit: impl FnMut(&'a Value, &FieldPath<'_>),
) {
    for field in ["initContainers", "containers", "ephemeralContainers"] {
        let path = path.child(field);
        for (position, container) in list(pod, field).iter().enumerate() {
            visit(container, &path.index(position));
        }
    }
}

/// A profile that the security context of a pod or container has.
fn profile<'a>(of: &'a Value, field: &str) -> Option<&'a Value> {
    member(at(of, &["securityContext"]), field)
}
