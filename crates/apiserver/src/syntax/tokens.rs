//! Syntax of port names, keys, paths, numbers and other short texts.

use super::names::{not_of_form, too_long};

/// The name of a port, as IANA has it for services (v1.36 `validation.IsValidPortName`).
pub(crate) fn port_name_errors(name: &str) -> Vec<String> {
    let mut messages = too_long(name, 15);
    let known = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    let mut unless = |good: bool, message: &str| {
        if !good {
            messages.push(message.to_owned());
        }
    };
    unless(
        !name.is_empty() && name.bytes().all(known),
        "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
    );
    unless(name.bytes().any(|b| b.is_ascii_lowercase()), "must contain at least one letter (a-z)");
    unless(!name.contains("--"), "must not contain consecutive hyphens");
    unless(!name.starts_with('-') && !name.ends_with('-'), "must not begin or end with a hyphen");
    messages
}

/// The number of a port (v1.36 `validation.IsValidPortNum`).
pub(crate) fn port_number_error(port: i64) -> Option<String> {
    out_of_range_error(port, 1, 65535)
}

/// A number outside its bounds (v1.36 `validation.InclusiveRangeError`).
pub(crate) fn out_of_range_error(value: i64, low: i64, high: i64) -> Option<String> {
    (value < low || value > high).then(|| format!("must be between {low} and {high}, inclusive"))
}

/// The name of an HTTP header (v1.36 `validation.IsHTTPHeaderName`).
pub(crate) fn http_header_name_error(name: &str) -> Option<String> {
    let good = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let message = "a valid HTTP header must consist of alphanumeric characters or '-'";
    (!good).then(|| not_of_form(message, "[-A-Za-z0-9]+", &["X-Header-Name"]))
}

/// The name of an environment variable (v1.36 `validation.IsRelaxedEnvVarName`).
pub(crate) fn env_var_name_error(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        return Some("environment variable name must be non-empty");
    }
    let good = name.bytes().all(|b| (b == b' ' || b.is_ascii_graphic()) && b != b'=');
    (!good).then_some(
        "a valid environment variable name must consist only of printable ASCII characters other than '='",
    )
}

/// A key of a ConfigMap or a Secret (v1.36 `validation.IsConfigMapKey`).
pub(crate) fn config_map_key_errors(key: &str) -> Vec<String> {
    let mut messages = too_long(key, 253);
    let known = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_');
    if key.is_empty() || !key.bytes().all(known) {
        let message = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
        messages.push(not_of_form(message, "[-._a-zA-Z0-9]+", &["key.name", "KEY_NAME", "key-name"]));
    }
    match key {
        "." => messages.push("must not be '.'".into()),
        ".." => messages.push("must not be '..'".into()),
        _ if key.starts_with("..") => messages.push("must not start with '..'".into()),
        _ => {}
    }
    messages
}

/// A percentage (v1.36 `validation.IsValidPercent`).
pub(crate) fn percent_error(value: &str) -> Option<String> {
    let digits = value.strip_suffix('%').unwrap_or_default();
    let good = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let message = "a valid percent string must be a numeric string followed by an ending '%'";
    (!good).then(|| not_of_form(message, "[0-9]+%", &["1%", "93%"]))
}

/// A path without `..` (v1.36 `validatePathNoBacksteps`).
pub(crate) fn backstep_error(path: &str) -> Option<&'static str> {
    path.split('/').any(|part| part == "..").then_some("must not contain '..'")
}

/// A relative path without `..` (v1.36 `validateLocalDescendingPath`).
pub(crate) fn descending_path_errors(path: &str) -> Vec<&'static str> {
    let absolute = path.starts_with('/').then_some("must be a relative path");
    absolute.into_iter().chain(backstep_error(path)).collect()
}

/// The path of a file that the kubelet writes into a volume; names that begin with two dots are the kubelet's own
/// (v1.36 `ValidateLocalNonReservedPath`).
pub(crate) fn unreserved_path_errors(path: &str) -> Vec<&'static str> {
    let mut messages = descending_path_errors(path);
    if path.starts_with("..") && !path.starts_with("../") {
        messages.push("must not start with '..'");
    }
    messages
}
