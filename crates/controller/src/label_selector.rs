//! The syntax of label selectors and names, checked before the start: a server would refuse them again and again, or silently
//! find no object.
//!
//! As v1.36 `apimachinery/pkg/labels/selector.go` `Parse` and `apimachinery/pkg/util/validation`.

/// The longest name of a label, value of a label, and DNS label.
const LONGEST_LABEL: usize = 63;
/// The longest DNS subdomain.
const LONGEST_SUBDOMAIN: usize = 253;

/// The first problem of a label selector, such as `app=web,tier in (a, b),!old`.
///
/// # Errors
/// The problem, with the requirement that has it.
pub(crate) fn check_selector(selector: &str) -> Result<(), String> {
    if selector.trim().is_empty() {
        return Ok(());
    }
    for requirement in requirements(selector)? {
        check_requirement(requirement.trim())
            .map_err(|problem| format!("{:?}: {problem}", requirement.trim()))?;
    }
    Ok(())
}

/// The parts between commas outside of parentheses.
fn requirements(selector: &str) -> Result<Vec<&str>, String> {
    let mut is_inside = false;
    let mut is_nested = false;
    let parts: Vec<&str> = selector
        .split(|character| {
            match character {
                '(' => {
                    is_nested |= is_inside;
                    is_inside = true;
                }
                ')' => is_inside = false,
                _ => {}
            }
            character == ',' && !is_inside
        })
        .collect();
    match (is_inside, is_nested) {
        (true, _) => Err("a closing parenthesis is missing".to_owned()),
        (_, true) => Err("parentheses are nested".to_owned()),
        _ => Ok(parts),
    }
}

fn check_requirement(text: &str) -> Result<(), String> {
    if text.is_empty() {
        return Err("a requirement is missing beside a comma".to_owned());
    }
    if let Some((head, values)) = text.split_once('(') {
        let values = values.strip_suffix(')').ok_or("text follows the closing parenthesis")?;
        let mut words = head.split_whitespace();
        let (key, operator) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        if !matches!(operator, "in" | "notin") || words.next().is_some() {
            return Err("before parentheses must be a key, and \"in\" or \"notin\"".to_owned());
        }
        check_key(key)?;
        return values.split(',').try_for_each(|value| check_value(value.trim()));
    }
    if let Some(key) = text.strip_prefix('!') {
        return check_key(key.trim());
    }
    for operator in ["!=", "==", "="] {
        if let Some((key, value)) = text.split_once(operator) {
            check_key(key.trim())?;
            return check_value(value.trim());
        }
    }
    if let Some((key, number)) = text.split_once(['>', '<']) {
        check_key(key.trim())?;
        return match number.trim().parse::<i64>() {
            Ok(_) => Ok(()),
            Err(_) => Err(format!("{:?} must be an integer", number.trim())),
        };
    }
    check_key(text)
}

/// A qualified name: a name, or a DNS subdomain, a slash and a name.
fn check_key(key: &str) -> Result<(), String> {
    let name = match key.split_once('/') {
        Some((prefix, name)) => {
            check_subdomain(prefix)?;
            name
        }
        None => key,
    };
    match is_label(name) {
        true => Ok(()),
        false => Err(format!("{key:?} must be a label key")),
    }
}

fn check_value(value: &str) -> Result<(), String> {
    match value.is_empty() || is_label(value) {
        true => Ok(()),
        false => Err(format!("{value:?} must be a label value")),
    }
}

fn is_label(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    is_name(text, LONGEST_LABEL, inner, |byte| byte.is_ascii_alphanumeric())
}

/// The problem of the name of a namespace.
///
/// # Errors
/// When it is not a DNS label.
pub(crate) fn check_dns_label(name: &str) -> Result<(), String> {
    match is_name(name, LONGEST_LABEL, |byte| is_lower(byte) || byte == b'-', is_lower) {
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
pub(crate) fn check_subdomain(name: &str) -> Result<(), String> {
    let is_part =
        |part: &str| is_name(part, LONGEST_SUBDOMAIN, |byte| is_lower(byte) || byte == b'-', is_lower);
    match name.len() <= LONGEST_SUBDOMAIN && name.split('.').all(is_part) {
        true => Ok(()),
        false => Err(format!(
            "{name:?} must be at most 253 of a-z, 0-9, \"-\" and \".\", and begin and end with a letter or digit"
        )),
    }
}

fn is_lower(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

/// Whether a text is not too long, has these bytes, and these at its ends.
fn is_name(text: &str, longest: usize, inner: impl Fn(u8) -> bool, end: impl Fn(u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    let ends = bytes.first().is_some_and(|byte| end(*byte)) && bytes.last().is_some_and(|byte| end(*byte));
    ends && text.len() <= longest && text.bytes().all(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_that_the_api_server_accepts() {
        for selector in [
            "",
            "app=web",
            "app == web, tier!=a",
            "a.example/app in (web, db),!old",
            "tier notin (a,b) , x",
            "tier in ()",
            "size>3,size<10",
            "empty=",
        ] {
            assert_eq!(check_selector(selector), Ok(()), "{selector}");
        }
    }

    #[test]
    fn selectors_that_the_api_server_refuses() {
        for selector in [
            "a in (",
            "a in (b))",
            "a in ((b))",
            "a in (b) c",
            "a within (b)",
            "in (b)",
            "a,,b",
            "a b",
            "!",
            "=b",
            "a=b=c",
            "a=b c",
            "-a",
            "a/b/c",
            "A.b/c",
            "size>big",
        ] {
            assert!(check_selector(selector).is_err(), "{selector}");
        }
        assert!(check_selector(&"a".repeat(64)).is_err() && check_selector(&"a".repeat(63)).is_ok());
    }

    #[test]
    fn a_problem_of_parentheses_is_named() {
        let missing = Err("a closing parenthesis is missing".to_owned());
        assert_eq!([check_selector("a in ("), check_selector("a in (b,c")], [missing.clone(), missing]);
        for nested in ["a in ((b)", "a in ((b))", "a in (b),c in (d,(e))"] {
            assert_eq!(check_selector(nested), Err("parentheses are nested".to_owned()), "{nested}");
        }
    }

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
