//! The forms of names, checked before the start: a server would refuse them again and again, or silently find no object
//! (v1.36 `apimachinery/pkg/util/validation`).

use daemonset::kubernetes::names::{is_dns_label, is_dns_subdomain};

/// The problem of the name of a namespace.
///
/// # Errors
/// When it is not a DNS label.
pub(super) fn check_dns_label(name: &str) -> Result<(), String> {
    match name.len() <= 63 && is_dns_label(name) {
        true => Ok(()),
        false => Err(format!(
            "{name:?} must be at most 63 of a-z, 0-9 and \"-\", without \"-\" at its begin or end"
        )),
    }
}

/// The problem of the name of most objects.
///
/// # Errors
/// When it is not a DNS subdomain.
pub(super) fn check_subdomain(name: &str) -> Result<(), String> {
    match name.len() <= 253 && is_dns_subdomain(name) {
        true => Ok(()),
        false => Err(format!(
            "{name:?} must be at most 253 of a-z, 0-9, \"-\" and \".\", and begin and end with a letter or digit"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_namespaces_and_objects() {
        assert!(check_dns_label("kube-system").is_ok() && check_subdomain("a.b-c").is_ok());
        for name in ["", "Bad_NS", "-a", "a-", "a.b", "a/b"] {
            assert!(check_dns_label(name).is_err(), "{name}");
        }
        for name in ["", "Bad_/x", "a..b", ".a", "a_b", "a.-b"] {
            assert!(check_subdomain(name).is_err(), "{name}");
        }
        assert!(check_dns_label(&"a".repeat(64)).is_err() && check_subdomain(&"a".repeat(254)).is_err());
        assert!(check_dns_label(&"a".repeat(63)).is_ok() && check_subdomain(&"a".repeat(253)).is_ok());
        let parts = format!("{}.{}", "a".repeat(126), "a".repeat(126));
        assert!(check_subdomain(&parts).is_ok() && check_subdomain(&format!("{parts}a")).is_err());
    }
}
