//! Syntax of names, label keys and label values.

use daemonset_objects::kubernetes::names::{is_dns_label, is_dns_subdomain, is_name_part};

const LABEL_FORM: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN_FORM: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const UNDERSCORE_FORM: &str = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*";
const NAME_PART_FORM: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const NAME_PART: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

/// A label of a DNS name (v1.36 `validation.IsDNS1123Label`).
pub(crate) fn dns_label_errors(value: &str) -> Vec<String> {
    let mut messages = too_long(value, 63);
    if !is_dns_label(value) && is_dns_subdomain(value) {
        messages.push("must not contain dots".into());
    } else if !is_dns_label(value) {
        let message = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
        messages.push(not_of_form(message, LABEL_FORM, &["my-name", "123-abc"]));
    }
    messages
}

/// A DNS subdomain: the name of most objects (v1.36 `validation.IsDNS1123Subdomain`, `NameIsDNSSubdomain`).
pub(crate) fn dns_subdomain_errors(value: &str) -> Vec<String> {
    let mut messages = too_long(value, 253);
    messages.extend(not_a_subdomain(value));
    messages
}

/// A prefix of a DNS subdomain, which may end in a dash (v1.36 `NameIsDNSSubdomain` of a prefix).
pub(crate) fn dns_subdomain_prefix_errors(value: &str) -> Vec<String> {
    match value.strip_suffix('-') {
        // Upstream replaces the dash and the byte before it by a letter.
        Some(before) if !before.is_empty() => {
            let mut chars = before.chars();
            match chars.next_back() {
                Some(last) if last.is_ascii() => dns_subdomain_errors(&format!("{}a", chars.as_str())),
                _ => dns_subdomain_errors(value),
            }
        }
        _ => dns_subdomain_errors(value),
    }
}

/// A DNS subdomain whose labels may hold underscores (v1.36 `validation.IsDNS1123SubdomainWithUnderscore`).
pub(crate) fn dns_subdomain_with_underscore_errors(value: &str) -> Vec<String> {
    let mut messages = too_long(value, 253);
    if !value.split('.').all(is_underscore_label) {
        let message = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character";
        messages.push(not_of_form(message, UNDERSCORE_FORM, &["example.com"]));
    }
    messages
}

/// A qualified name, as label keys are (v1.36 `validation.IsQualifiedName`, `content.IsLabelKey`).
pub fn label_key_errors(key: &str) -> Vec<String> {
    let examples = ["MyName", "my.name", "123-abc"];
    let (mut messages, name) = match key.split_once('/') {
        Some((_, rest)) if rest.contains('/') => {
            let rule = not_of_form(NAME_PART, NAME_PART_FORM, &examples);
            return vec![format!(
                "a valid label key {rule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
        Some((prefix, name)) => (prefix_errors(prefix), name),
        None => (Vec::new(), key),
    };
    if name.is_empty() {
        messages.push("name part must be non-empty".into());
    } else if name.len() > 63 {
        messages.push("name part must be no more than 63 bytes".into());
    }
    if !is_name_part(name) {
        messages.push(format!("name part {}", not_of_form(NAME_PART, NAME_PART_FORM, &examples)));
    }
    messages
}

fn prefix_errors(prefix: &str) -> Vec<String> {
    if prefix.is_empty() {
        return vec!["prefix part must be non-empty".into()];
    }
    let mut messages = Vec::new();
    if prefix.len() > 253 {
        messages.push("prefix part must be no more than 253 bytes".into());
    }
    messages.extend(not_a_subdomain(prefix).map(|message| format!("prefix part {message}")));
    messages
}

/// A label's value (v1.36 `validation.IsValidLabelValue`).
pub fn label_value_errors(value: &str) -> Vec<String> {
    let mut messages = Vec::new();
    if value.len() > 63 {
        messages.push("must be no more than 63 bytes".into());
    }
    if !value.is_empty() && !is_name_part(value) {
        let message = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
        let form = format!("({NAME_PART_FORM})?");
        messages.push(not_of_form(message, &form, &["MyValue", "my_value", "12345"]));
    }
    messages
}

/// v1.36 `validation.MaxLenError`.
pub(super) fn too_long(value: &str, limit: usize) -> Vec<String> {
    let message = || format!("must be no more than {limit} characters");
    (value.len() > limit).then(message).into_iter().collect()
}

/// The message for a value that does not match a pattern (v1.36 `validation.RegexError`).
pub(super) fn not_of_form(message: &str, form: &str, examples: &[&str]) -> String {
    let quoted: Vec<String> = examples.iter().map(|example| format!("'{example}', ")).collect();
    format!("{message} (e.g. {}regex used for validation is '{form}')", quoted.join(" or "))
}

fn not_a_subdomain(value: &str) -> Option<String> {
    let message = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
    (!is_dns_subdomain(value)).then(|| not_of_form(message, SUBDOMAIN_FORM, &["example.com"]))
}

fn is_underscore_label(label: &str) -> bool {
    let label = label.strip_prefix('_').unwrap_or(label);
    let outer = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let bytes = label.as_bytes();
    bytes.first().is_some_and(outer)
        && bytes.last().is_some_and(outer)
        && bytes.iter().all(|b| outer(b) || matches!(b, b'-' | b'_'))
}
