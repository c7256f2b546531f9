//! What the API server takes as names and label keys, as far as a decision makes some of its own.

/// A part of a name between dots: RFC 1123 (v1.36 `validation.IsDNS1123Label`, without its length).
pub(crate) fn is_dns_label(label: &str) -> bool {
    let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    !label.is_empty() && label.bytes().all(inner) && !label.starts_with('-') && !label.ends_with('-')
}

/// A name, perhaps after a DNS subdomain and a slash (v1.36 `validation.IsQualifiedName`).
pub(crate) fn is_label_key(key: &str) -> bool {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    let inner = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    let outer = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphanumeric);
    let ends = outer(name.as_bytes().first()) && outer(name.as_bytes().last());
    let is_subdomain = |prefix: &str| prefix.len() <= 253 && prefix.split('.').all(is_dns_label);
    name.len() <= 63 && ends && name.bytes().all(inner) && prefix.is_none_or(is_subdomain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_keys_are_what_the_api_server_takes() {
        let long = |count| "a".repeat(count);
        for good in ["a", "9", "controller-revision-hash", "A_b.C", "example.com/hash", "a-1/b", &long(63)] {
            assert!(is_label_key(good), "{good:?}");
        }
        assert!(is_label_key(&format!("{}/a", long(253))));
        for bad in
            ["", "/", "a/", "/a", "a/b/c", "-a", "a-", ".a", "a b", "\u{e9}", "A.com/a", "a..b/c", "a_b/c"]
        {
            assert!(!is_label_key(bad), "{bad:?}");
        }
        for bad in [long(64), format!("{}/a", long(254)), format!("a/{}", long(64))] {
            assert!(!is_label_key(&bad), "{bad:?}");
        }
    }
}
