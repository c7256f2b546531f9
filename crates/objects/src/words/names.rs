//! The forms of names and label keys that the API server accepts.

/// A part of a name between dots: RFC 1123 (v1.36 `validation.IsDNS1123Label`, without its length).
pub fn is_dns_label(label: &str) -> bool {
    let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    !label.is_empty() && label.bytes().all(inner) && !label.starts_with('-') && !label.ends_with('-')
}

/// A name, perhaps after a DNS subdomain and a slash (v1.36 `validation.IsQualifiedName`).
///
/// ```
/// use daemonset::kubernetes::names::is_label_key;
///
/// assert!(is_label_key("controller-revision-hash"));
/// assert!(is_label_key("example.com/Hash_1"));
/// assert!(!is_label_key("Example.com/hash")); // a prefix is in lower case
/// assert!(!is_label_key(&"a".repeat(64)));
/// ```
pub fn is_label_key(key: &str) -> bool {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    let is_prefix = |prefix: &str| prefix.len() <= 253 && is_dns_subdomain(prefix);
    name.len() <= 63 && is_name_part(name) && prefix.is_none_or(is_prefix)
}

/// Whether the API server takes this value of a label: empty, or at most 63 letters, digits, `-`, `_` and `.`, at both ends a letter or a
/// digit (`IsValidLabelValue`).
///
/// ```
/// use daemonset_objects::kubernetes::names::is_label_value;
///
/// assert!(is_label_value("") && is_label_value("us-east_1.b"));
/// assert!(!is_label_value("us east") && !is_label_value("-b") && !is_label_value(&"a".repeat(64)));
/// ```
pub fn is_label_value(value: &str) -> bool {
    value.is_empty() || (value.len() <= 63 && is_name_part(value))
}

/// The first characters of a name, without dashes and dots at the end: a part that more follows.
pub fn cut_name(name: &str, most: usize) -> &str {
    let end = name.char_indices().nth(most).map_or(name.len(), |(end, _)| end);
    name.get(..end).unwrap_or_default().trim_end_matches(['-', '.'])
}

/// Labels with dots between them (v1.36 `validation.IsDNS1123Subdomain`, without its length).
pub fn is_dns_subdomain(name: &str) -> bool {
    name.split('.').all(is_dns_label)
}

/// The part of a label key after the slash (v1.36 `content.IsLabelKey`, without its length).
pub fn is_name_part(name: &str) -> bool {
    let inner = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    let outer = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphanumeric);
    let ends = outer(name.as_bytes().first()) && outer(name.as_bytes().last());
    ends && name.bytes().all(inner)
}
