//! The spec and the status of a DaemonSet, and the fields of both that an update may change.

use super::labels::{self, SelectorValues};
use super::options::ValidationOptions;
use super::{pod_spec, strategy};
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::admission::rules::{Rules, SurgeWithHostPort};
use crate::go::GoValue;
use crate::json::{entries, flag, list, member, number, number_if_set, text};
use crate::schema::{DAEMON_SET, Kind, field_equal};
use daemonset_objects::kubernetes::well_known::TEMPLATE_GENERATION_ANNOTATION;
use serde_json::Value;

/// v1.36 apps/validation `ValidateDaemonSetSpec`.
pub(super) fn daemon_set_spec(
    object: &Value,
    options: ValidationOptions,
    rules: &Rules,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    let spec = object.get("spec").unwrap_or(&Value::Null);
    let template = spec.get("template").unwrap_or(&Value::Null);
    selector(spec, template, options, path, errors);
    pod_spec::pod_template_spec(template, options, &path.child("template"), errors);
    always_restarts(template, path, errors);
    no_deadline(template, path, errors);
    errors.negative(&path.child("minReadySeconds"), number(spec, "minReadySeconds"));
    errors.negative(&path.child("templateGeneration"), template_generation(object));
    strategy::update_strategy(spec, rules.form, &path.child("updateStrategy"), errors);
    if let Some(limit) = number_if_set(spec, "revisionHistoryLimit") {
        errors.negative(&path.child("revisionHistoryLimit"), limit);
    }
    if rules.surge_with_host_port == SurgeWithHostPort::Refused {
        surge_without_host_ports(spec, template, rules, path, errors);
    }
}

/// The selector must match the template's labels, and must not be empty.
fn selector(
    spec: &Value,
    template: &Value,
    options: ValidationOptions,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    let selector = member(spec, "selector");
    let values = SelectorValues::unless(options.allow_invalid_selector_values);
    labels::selector(selector, values, &path.child("selector"), errors);
    let pods = template.get("metadata").and_then(|meta| meta.get("labels")).unwrap_or(&Value::Null);
    if labels::does_not_match(selector, pods) {
        let detail = "`selector` does not match template `labels`";
        let path = path.child("template");
        errors.invalid(&path.child("metadata").child("labels"), GoValue::json(pods), detail);
    }
    let is_empty = |selector: &Value| {
        list(selector, "matchExpressions").is_empty() && entries(selector, "matchLabels").next().is_none()
    };
    if selector.is_some_and(is_empty) {
        let empty = GoValue::json(&serde_json::json!({}));
        errors.invalid(&path.child("selector"), empty, "empty selector is invalid for daemonset");
    }
}

/// The pods of a DaemonSet always restart.
fn always_restarts(template: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let policy = template.get("spec").map_or("", |spec| text(spec, "restartPolicy"));
    if policy != "Always" {
        let (template, policy) = (path.child("template"), GoValue::named(policy));
        errors.not_supported(&template.child("spec").child("restartPolicy"), policy, &["Always"]);
    }
}

fn no_deadline(template: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    if template.get("spec").is_some_and(|spec| member(spec, "activeDeadlineSeconds").is_some()) {
        let template = path.child("template");
        let detail = "activeDeadlineSeconds in DaemonSet is not Supported";
        errors.forbidden(&template.child("spec").child("activeDeadlineSeconds"), detail);
    }
}

/// The template generation. Internally it is `spec.templateGeneration`; in `apps/v1` it is an annotation (v1.36
/// apps/v1 conversion.go `Convert_v1_DaemonSet_To_apps_DaemonSet`).
fn template_generation(object: &Value) -> i64 {
    let annotations = object.get("metadata").and_then(|meta| meta.get("annotations"));
    let annotation = annotations.and_then(|map| map.get(TEMPLATE_GENERATION_ANNOTATION));
    annotation.and_then(Value::as_str).and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// v1.36 apps/validation `ValidateDaemonSetSpecUpdate`.
pub(super) fn daemon_set_spec_update(old: &Value, new: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let at = path.child("templateGeneration");
    let (before, after) = (template_generation(old), template_generation(new));
    if after < before {
        errors.invalid(&at, after, "must not be decremented");
    }
    let same = means_the_same(old, new, "template");
    if after == before && !same {
        errors.invalid(&at, after, "must be incremented upon template update");
    } else if after > before && same {
        errors.invalid(&at, after, "must not be incremented without template update");
    }
    if !means_the_same(old, new, "selector") {
        let selector = new.get("spec").and_then(|spec| member(spec, "selector"));
        let printed = selector.map_or_else(GoValue::null, labels::printed);
        errors.invalid(&path.child("selector"), printed, "field is immutable");
    }
}

/// v1.36 api/equality `Semantic.DeepEqual` of a field of the spec.
fn means_the_same(old: &Value, new: &Value, field: &str) -> bool {
    let Some(Kind::Struct(spec)) = DAEMON_SET.field("spec").map(|spec| spec.kind) else { return false };
    let (old, new) = (old.get("spec").unwrap_or(&Value::Null), new.get("spec").unwrap_or(&Value::Null));
    spec.field(field).is_some_and(|field| field_equal(field, old, new))
}

/// While a node surges, its old and its new pod run at the same time, but only one of them can bind a port of the
/// node.
fn surge_without_host_ports(
    spec: &Value,
    template: &Value,
    rules: &Rules,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    if !strategy::surges(spec, rules.form) {
        return;
    }
    let pod = template.get("spec").unwrap_or(&Value::Null);
    let (template, host_network) = (path.child("template"), flag(pod, "hostNetwork"));
    let spec = template.child("spec");
    for containers in ["initContainers", "containers"] {
        for (position, container) in list(pod, containers).iter().enumerate() {
            let containers = spec.child(containers);
            let container_path = containers.index(position);
            for (port, entry) in list(container, "ports").iter().enumerate() {
                if let Some(taken) = port_of_host(entry, host_network) {
                    let path = container_path.child("ports");
                    let detail = "may not be set when pods are surged";
                    errors.invalid(&path.index(port).child("hostPort"), taken, detail);
                }
            }
        }
    }
}

/// On the host's network each container port is a host port (v1.36 core/v1 defaults.go `SetHostNetworkPorts`).
fn port_of_host(port: &Value, host_network: bool) -> Option<i64> {
    let taken = number_if_set(port, "hostPort").filter(|port| *port != 0);
    taken.or_else(|| number_if_set(port, "containerPort").filter(|_| host_network))
}

/// The counters, in the API server's order.
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

/// Counters are not negative, and the collision count never falls: the names of revisions depend on it (v1.36
/// apps/validation `validateDaemonSetStatus`, `ValidateDaemonSetStatusUpdate`).
pub(super) fn status_update(old: &Value, new: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    for counter in COUNTERS {
        errors.negative(&path.child(counter), number(new, counter));
    }
    let (before, after) = (number_if_set(old, "collisionCount"), number_if_set(new, "collisionCount"));
    let path = path.child("collisionCount");
    if let Some(after) = after {
        errors.negative(&path, after);
    }
    // Removing the count is a decrement, too: `None < Some(_)`.
    if before.is_some() && after < before {
        errors.invalid(&path, after.unwrap_or(0), "cannot be decremented");
    }
}
