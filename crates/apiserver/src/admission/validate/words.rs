//! Texts that must follow a syntax: each fault of one is an error.

use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::syntax;

/// One error for each fault of a text.
pub(super) fn each<Fault: Into<String>>(
    faults: impl IntoIterator<Item = Fault>,
    text: &str,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    for fault in faults {
        errors.invalid(path, text, fault);
    }
}

/// v1.36 core/validation `ValidateDNS1123Label`.
pub(super) fn dns_label(text: &str, path: &FieldPath<'_>, errors: &mut ErrorList) {
    each(syntax::dns_label_faults(text), text, path, errors);
}

/// v1.36 core/validation `ValidateDNS1123Subdomain`.
pub(super) fn dns_subdomain(text: &str, path: &FieldPath<'_>, errors: &mut ErrorList) {
    each(syntax::dns_subdomain_faults(text), text, path, errors);
}

/// v1.36 core/validation `ValidateQualifiedName`.
pub(super) fn qualified_name(text: &str, path: &FieldPath<'_>, errors: &mut ErrorList) {
    each(syntax::label_key_faults(text), text, path, errors);
}

/// A text that must be there.
pub(super) fn required(text: &str, path: &FieldPath<'_>, errors: &mut ErrorList) {
    if text.is_empty() {
        errors.required(path, "");
    }
}
