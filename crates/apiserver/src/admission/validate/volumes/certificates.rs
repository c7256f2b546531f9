//! Projected certificates: bundles of trusted certificates, and a pod's own.

use super::files::{TakenPaths, user};
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::admission::validate::labels::{self, SelectorValues};
use crate::admission::validate::values;
use crate::go::{GoValue, quoted};
use crate::json::{member, number_if_set, text, text_entries, text_if_set};
use crate::syntax;
use serde_json::Value;

/// v1.37 core/validation `validateProjectionSources`.
pub(super) fn trust_bundle<'a>(
    bundle: &'a Value,
    files: &mut TakenPaths<'a>,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    match (text_if_set(bundle, "name"), text_if_set(bundle, "signerName")) {
        (Some(_), Some(_)) => {
            errors.invalid(path, printed(bundle), "only one of name and signerName may be used");
        }
        (Some(name), None) => bundle_by_name(bundle, name, path, errors),
        (None, Some(name)) => bundles_of_signer(bundle, name, path, errors),
        (None, None) => errors.required(path, "either name or signerName must be specified"),
    }
    let (file, at) = (text(bundle, "path"), path.child("path"));
    values::required(file, &at, errors);
    user(bundle, "user", path, errors);
    values::each(syntax::unreserved_path_errors(file), file, &at, errors);
    files.add(file, file, errors);
}

fn bundle_by_name(bundle: &Value, name: &str, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let at = path.child("name");
    if name.is_empty() {
        errors.required(&at, "must be a valid object name");
    }
    for message in bundle_name_errors(name) {
        errors.invalid(&at, name, format!("not a valid clustertrustbundlename: {message}"));
    }
    if let Some(selector) = member(bundle, "labelSelector") {
        let detail = "labelSelector must be unset if name is specified";
        errors.invalid(&path.child("labelSelector"), labels::printed(selector), detail);
    }
}

/// The part before the last colon is the signer, with colons instead of slashes (v1.36 core/validation names.go
/// `ValidateClusterTrustBundleName`).
fn bundle_name_errors(name: &str) -> Vec<String> {
    match name.rsplit_once(':') {
        None => syntax::dns_subdomain_errors(name),
        Some(("", _)) => {
            vec!["ClusterTrustBundle without signer name must not have \":\" in its name".to_owned()]
        }
        Some((signer, _)) if signer.contains('/') => {
            let (signer, prefix) = (signer.replace(':', "/"), signer.replace('/', ":"));
            vec![format!("ClusterTrustBundle for signerName {signer} must be named with prefix {prefix}:")]
        }
        Some((_, object)) => syntax::dns_subdomain_errors(object),
    }
}

fn bundles_of_signer(bundle: &Value, name: &str, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let at = path.child("signerName");
    if name.is_empty() {
        errors.required(&at, "must be a valid signer name");
    }
    signer_name(name, &at, errors);
    let selector = member(bundle, "labelSelector");
    labels::selector(selector, SelectorValues::OfLabels, &path.child("labelSelector"), errors);
}

/// The bundle as Go prints it.
fn printed(bundle: &Value) -> GoValue {
    let plain = |field| member(bundle, field).map_or_else(GoValue::null, GoValue::json);
    GoValue::record([
        ("Name", plain("name")),
        ("SignerName", plain("signerName")),
        ("LabelSelector", member(bundle, "labelSelector").map_or_else(GoValue::null, labels::printed)),
        ("Optional", plain("optional")),
        ("Path", GoValue::named(text(bundle, "path"))),
        ("User", plain("user")),
    ])
}

/// v1.37 core/validation `validateProjectionSources`.
pub(super) fn pod_certificate<'a>(
    certificate: &'a Value,
    files: &mut TakenPaths<'a>,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    let by = text(certificate, "signerName");
    signer_name(by, &path.child("signerName"), errors);
    let annotations = text_entries(certificate, "userAnnotations");
    user_annotations(annotations, &path.child("userAnnotations"), errors);
    user(certificate, "user", path, errors);
    let (kind, kinds) = (
        text(certificate, "keyType"),
        ["RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"],
    );
    if !kinds.contains(&kind) {
        errors.not_supported(&path.child("keyType"), kind, &kinds);
    }
    if let Some(seconds) = number_if_set(certificate, "maxExpirationSeconds") {
        expiration(seconds, by, &path.child("maxExpirationSeconds"), errors);
    }
    let mut paths = 0;
    for field in ["credentialBundlePath", "keyPath", "certificateChainPath"] {
        let file = text(certificate, field);
        if !file.is_empty() {
            paths += 1;
            values::each(syntax::unreserved_path_errors(file), file, &path.child(field), errors);
            files.add(file, file, errors);
        }
    }
    if paths == 0 {
        let detail = "specify at least one of credentialBundlePath, keyPath, and certificateChainPath";
        errors.required(path, detail);
    }
}

/// A day for Kubernetes' own signers, 91 days for others (v1.36 certificates `MaxMaxExpirationSeconds`).
fn expiration(seconds: i64, signer: &str, path: &FieldPath<'_>, errors: &mut ErrorList) {
    const DAY: i64 = 24 * 60 * 60;
    let longest = if is_kubernetes_signer(signer) { DAY } else { 91 * DAY };
    if seconds < 3600 {
        errors.invalid(path, seconds, "if provided, maxExpirationSeconds must be >= 3600");
    }
    if seconds > longest {
        let detail = format!("if provided, maxExpirationSeconds must be <= {longest}");
        errors.invalid(path, seconds, detail);
    }
}

/// v1.36 core/validation `ValidateUserAnnotations`.
fn user_annotations<'a>(
    annotations: impl IntoIterator<Item = (&'a str, &'a str)>,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    let mut size = 0;
    for (key, value) in annotations {
        size += key.len() + value.len();
        let key = key.to_lowercase();
        let messages = syntax::label_key_errors(&key);
        if key.is_empty() {
            errors.required(path, "");
        } else if messages.is_empty() && !key.contains('/') {
            let detail = "must be a domain-prefixed key (such as \"acme.io/foo\")";
            errors.invalid(path, key.as_str(), detail);
        }
        values::each(messages.into_iter().filter(|_| !key.is_empty()), &key, path, errors);
    }
    if size > labels::MAX_ANNOTATION_BYTES {
        errors.too_long(path, labels::MAX_ANNOTATION_BYTES);
    }
}

/// `example.com/signer-name` (v1.36 core/validation names.go `ValidateSignerName`).
fn signer_name(name: &str, path: &FieldPath<'_>, errors: &mut ErrorList) {
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
    first_bad_part(domain, syntax::dns_label_errors, path, errors);
    if !domain.contains('.') {
        errors.invalid(path, domain, "should be a domain with at least two segments separated by dots");
    }
    first_bad_part(rest, syntax::dns_subdomain_errors, path, errors);
    if name.len() > 571 {
        errors.too_long(path, 571);
    }
}

/// v1.36 core/validation names.go `IsKubernetesSignerName`.
fn is_kubernetes_signer(name: &str) -> bool {
    let host = name.split_once('/').map_or(name, |(host, _)| host);
    host == "kubernetes.io" || host.ends_with(".kubernetes.io")
}

fn first_bad_part(
    whole: &str,
    messages: fn(&str) -> Vec<String>,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    let bad = whole.split('.').map(|part| (part, messages(part))).find(|(_, messages)| !messages.is_empty());
    if let Some((part, messages)) = bad {
        for message in messages {
            errors.invalid(path, whole, format!("validating label {}: {message}", quoted(part)));
        }
    }
}
