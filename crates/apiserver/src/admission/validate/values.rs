//! Values that must follow a syntax, be present, or be one of a few.

use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::go::GoValue;
use crate::syntax;

/// One error for each message.
pub(super) fn each<Message: Into<String>>(
    messages: impl IntoIterator<Item = Message>,
    text: &str,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    for message in messages {
        errors.invalid(path, text, message);
    }
}

/// v1.36 core/validation `ValidateDNS1123Label`.
pub(super) fn dns_label(text: &str, path: &FieldPath<'_>, errors: &mut ErrorList) {
    each(syntax::dns_label_errors(text), text, path, errors);
}

/// v1.36 core/validation `ValidateDNS1123Subdomain`.
pub(super) fn dns_subdomain(text: &str, path: &FieldPath<'_>, errors: &mut ErrorList) {
    each(syntax::dns_subdomain_errors(text), text, path, errors);
}

/// v1.36 core/validation `ValidateQualifiedName`.
pub(super) fn qualified_name(text: &str, path: &FieldPath<'_>, errors: &mut ErrorList) {
    each(syntax::label_key_errors(text), text, path, errors);
}

/// A required string.
pub(super) fn required(text: &str, path: &FieldPath<'_>, errors: &mut ErrorList) {
    if text.is_empty() {
        errors.required(path, "");
    }
}

/// A required value that must be one of the supported ones.
pub(super) fn one_of(value: &str, supported: &[&str], path: &FieldPath<'_>, errors: &mut ErrorList) {
    if value.is_empty() {
        errors.required(path, "");
    } else {
        supported_if_set(Some(value), supported, path, errors);
    }
}

/// An optional value that must be one of the supported ones.
pub(super) fn supported_if_set(
    value: Option<&str>,
    supported: &[&str],
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    if let Some(value) = value.filter(|value| !supported.contains(value)) {
        errors.not_supported(path, GoValue::named(value), supported);
    }
}

/// v1.36 core/validation `validatePullPolicy`.
pub(super) fn pull_policy(policy: &str, path: &FieldPath<'_>, errors: &mut ErrorList) {
    one_of(policy, &["Always", "IfNotPresent", "Never"], path, errors);
}
