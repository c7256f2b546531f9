//! References from a container to a field of its pod, or to a resource of a container.

use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::admission::validate::values;
use crate::json::text;
use crate::quantity::Quantity;
use serde_json::Value;

/// The holder of the field reference; it decides which fields are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::admission::validate) enum Holder {
    /// An environment variable. Without a container name the reference is to the variable's own container.
    Variable,
    /// A file of a volume, which belongs to no container.
    File,
}

impl Holder {
    /// v1.36 core/validation `validEnvDownwardAPIFieldPathExpressions`, `validVolumeDownwardAPIFieldPathExpressions`.
    fn fields(self) -> &'static [&'static str] {
        match self {
            Holder::Variable => &[
                "metadata.name",
                "metadata.namespace",
                "metadata.uid",
                "spec.nodeName",
                "spec.serviceAccountName",
                "status.hostIP",
                "status.hostIPs",
                "status.podIP",
                "status.podIPs",
            ],
            Holder::File => &[
                "metadata.annotations",
                "metadata.labels",
                "metadata.name",
                "metadata.namespace",
                "metadata.uid",
            ],
        }
    }
}

/// The names of pod fields that can be converted (v1.36 core/pods `ConvertDownwardAPIFieldLabel`).
const CONVERTED: [&str; 14] = [
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.serviceAccountName",
    "spec.schedulerName",
    "status.phase",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

/// v1.36 core/validation `validContainerResourceFieldPathExpressions`.
const RESOURCES: [&str; 6] = [
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];

/// v1.36 core/validation `validContainerResourceDivisorForMemory` and its like.
const BYTES: [&str; 13] = ["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];

/// v1.36 core/validation `validateObjectFieldSelector`.
pub(in crate::admission::validate) fn field(
    of: &Value,
    holder: Holder,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    let (version, field, at) = (text(of, "apiVersion"), text(of, "fieldPath"), path.child("fieldPath"));
    if version.is_empty() {
        return errors.required(&path.child("apiVersion"), "");
    }
    if field.is_empty() {
        return errors.required(&at, "");
    }
    let converted = match converted(version, field) {
        Ok(converted) => converted,
        Err(message) => return errors.invalid(&at, field, format!("error converting fieldPath: {message}")),
    };
    match subscript(converted) {
        Some(("metadata.annotations", key)) => values::qualified_name(&key.to_lowercase(), path, errors),
        Some((_, key)) => values::qualified_name(key, path, errors),
        None if holder.fields().contains(&converted) => {}
        None => errors.not_supported(&at, converted, holder.fields()),
    }
}

/// The current name of the field (v1.36 core/pods `ConvertDownwardAPIFieldLabel`).
fn converted<'a>(version: &str, field: &'a str) -> Result<&'a str, String> {
    if version != "v1" {
        return Err(format!("unsupported pod version: {version}"));
    }
    match subscript(field) {
        Some(("metadata.annotations" | "metadata.labels", _)) => Ok(field),
        Some(_) => Err(format!("field label does not support subscript: {field}")),
        None if CONVERTED.contains(&field) => Ok(field),
        None if field == "spec.host" => Ok("spec.nodeName"),
        None => Err(format!("field label not supported: {field}")),
    }
}

/// Splits `metadata.labels['key']` into map and key (v1.36 fieldpath.go `SplitMaybeSubscriptedPath`).
fn subscript(field: &str) -> Option<(&str, &str)> {
    let (map, key) = field.strip_suffix("']")?.split_once("['")?;
    (!map.is_empty()).then_some((map, key))
}

/// v1.36 core/validation `validateContainerResourceFieldSelector`.
pub(in crate::admission::validate) fn resource(
    of: &Value,
    holder: Holder,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    let (resource, at) = (text(of, "resource"), path.child("resource"));
    if holder == Holder::File && text(of, "containerName").is_empty() {
        errors.required(&path.child("containerName"), "");
    } else if resource.is_empty() {
        errors.required(&at, "");
    } else if !RESOURCES.contains(&resource) && !is_huge_pages(resource) {
        errors.not_supported(&at, resource, &RESOURCES);
    }
    divisor(of, resource, &path.child("divisor"), errors);
}

fn is_huge_pages(resource: &str) -> bool {
    ["requests.hugepages-", "limits.hugepages-"].iter().any(|prefix| resource.starts_with(prefix))
}

/// v1.36 core/validation `validateContainerResourceDivisor`.
fn divisor(of: &Value, resource: &str, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let divisor = of.get("divisor").and_then(|divisor| Quantity::from_json(divisor).ok());
    let Some(divisor) = divisor.filter(|divisor| !divisor.is_zero()) else { return };
    let (supported, what): (&[&str], _) = match resource {
        "limits.cpu" | "requests.cpu" => (&["1m", "1"], "cpu resource"),
        "limits.memory" | "requests.memory" => (&BYTES, "memory resource"),
        "limits.ephemeral-storage" | "requests.ephemeral-storage" => {
            (&BYTES, "local ephemeral storage resource")
        }
        _ if is_huge_pages(resource) => (&BYTES, "hugepages resource"),
        _ => return,
    };
    if !supported.contains(&divisor.to_string().as_str()) {
        let values = if supported.len() == 2 { supported.join(" and ") } else { supported.join(", ") };
        errors.invalid(
            path,
            resource,
            format!("only divisor's values {values} are supported with the {what}"),
        );
    }
}
