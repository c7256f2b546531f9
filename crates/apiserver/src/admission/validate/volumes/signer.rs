//! What signers of certificates are called.

use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::go::quoted;
use crate::syntax;

/// `example.com/signer-name` (v1.36 core/validation names.go `ValidateSignerName`).
pub(super) fn name(name: &str, path: &FieldPath<'_>, errors: &mut ErrorList) {
    if name.is_empty() {
        return errors.required(path, "");
    }
    let parts = name.split_once('/').filter(|(_, rest)| !rest.contains('/'));
    let Some((domain, rest)) = parts else {
        let detail = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
        return errors.invalid(path, name, detail);
    };
    if domain.len() > 253 {
        errors.too_long(path, 253);
    }
    first_bad_part(domain, syntax::dns_label_faults, path, errors);
    if !domain.contains('.') {
        errors.invalid(path, domain, "should be a domain with at least two segments separated by dots");
    }
    first_bad_part(rest, syntax::dns_subdomain_faults, path, errors);
    if name.len() > 571 {
        errors.too_long(path, 571);
    }
}

/// v1.36 core/validation names.go `IsKubernetesSignerName`.
pub(super) fn is_of_kubernetes(name: &str) -> bool {
    let host = name.split_once('/').map_or(name, |(host, _)| host);
    host == "kubernetes.io" || host.ends_with(".kubernetes.io")
}

fn first_bad_part(
    whole: &str,
    faults: fn(&str) -> Vec<String>,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    let bad = whole.split('.').map(|part| (part, faults(part))).find(|(_, faults)| !faults.is_empty());
    if let Some((part, faults)) = bad {
        for fault in faults {
            errors.invalid(path, whole, format!("validating label {}: {fault}", quoted(part)));
        }
    }
}
