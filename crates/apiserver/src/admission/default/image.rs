//! The pull policy of an image, by the tag of its reference.

use daemonset_objects::kubernetes::ImageReference;

/// `Always` for the tag `latest`, which is also the tag of a reference without tag and digest; `IfNotPresent` for all
/// others, including a reference that is invalid (v1.36 core/v1 defaults.go SetDefaults_Container, pkg/util/parsers
/// ParseImageName).
pub(super) fn pull_policy(image: &str) -> &'static str {
    if is_latest(image) { "Always" } else { "IfNotPresent" }
}

fn is_latest(image: &str) -> bool {
    let reference = ImageReference::split(image);
    let is_valid = is_name(reference.name) && reference.digest.is_none_or(is_digest);
    reference.is_latest() && is_valid && !is_identifier(image)
}

/// 64 hexadecimal digits are the id of an image, not a name.
fn is_identifier(image: &str) -> bool {
    image.len() == 64 && image.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Whether domain and path are valid, once Docker Hub's short names are expanded (distribution/reference normalize.go
/// splitDockerDomain, regexp.go namePat).
fn is_name(name: &str) -> bool {
    let hub = |path: &str| is_path_of(path, if path.contains('/') { 0 } else { "library/".len() });
    match name.split_once('/') {
        None => hub(name),
        Some(("docker.io" | "index.docker.io", path)) => hub(path),
        Some((first, path)) if is_meant_as_domain(first) && is_domain(first) => is_path_of(path, 0),
        // If the first part is no valid domain, it may still be a valid part of the path.
        Some((first, _)) if is_meant_as_domain(first) => is_path_of(name, 0),
        Some(_) => hub(name),
    }
}

fn is_meant_as_domain(first: &str) -> bool {
    first == "localhost" || first.contains(['.', ':']) || first.contains(|c: char| c.is_uppercase())
}

/// Host names, addresses in brackets, each perhaps with a port (regexp.go domainAndPort).
fn is_domain(text: &str) -> bool {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        Some(_) | None => (text, None),
    };
    if port.is_some_and(|port| port.is_empty() || !port.bytes().all(|byte| byte.is_ascii_digit())) {
        return false;
    }
    match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(address) => {
            !address.is_empty() && address.bytes().all(|byte| byte == b':' || byte.is_ascii_hexdigit())
        }
        None => host.split('.').all(is_domain_component),
    }
}

fn is_domain_component(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with('-')
        && !text.ends_with('-')
        && text.bytes().all(|byte| byte == b'-' || byte.is_ascii_alphanumeric())
}

/// At most 255 bytes, including the prefix that the expansion adds (reference.go RepositoryNameTotalLengthMax).
fn is_path_of(path: &str, put_before: usize) -> bool {
    path.len().saturating_add(put_before) <= 255 && path.split('/').all(is_path_component)
}

/// Runs of lower-case letters and digits, separated by one `.`, one or two `_`, or any number of `-` (regexp.go
/// pathComponent).
fn is_path_component(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_separator = |run: &str| matches!(run, "." | "_" | "__") || run.bytes().all(|byte| byte == b'-');
    text.starts_with(is_plain)
        && text.ends_with(is_plain)
        && text.split(is_plain).filter(|run| !run.is_empty()).all(is_separator)
}

/// Only the registered algorithms are valid (opencontainers/go-digest algorithm.go).
fn is_digest(text: &str) -> bool {
    let Some((algorithm, hex)) = text.split_once(':') else { return false };
    let length = match algorithm {
        "sha256" => 64,
        "sha384" => 96,
        "sha512" => 128,
        _ => return false,
    };
    hex.len() == length && hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
