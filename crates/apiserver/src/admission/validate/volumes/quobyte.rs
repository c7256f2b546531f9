//! Volumes of Quobyte.

use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::admission::validate::words;
use crate::fields::text;
use serde_json::Value;

const PAIRS: &str = "must be a host:port pair or multiple pairs separated by commas";

/// v1.36 core/validation `validateQuobyteVolumeSource`.
pub(super) fn validate(source: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let (registry, at) = (text(source, "registry"), path.child("registry"));
    if registry.is_empty() {
        errors.required(&at, PAIRS);
    } else if text(source, "tenant").len() > 64 {
        let detail = "must be a UUID and may not exceed a length of 64 characters";
        errors.required(&path.child("tenant"), detail);
    } else {
        for _ in registry.split(',').filter(|pair| !is_host_and_port(pair)) {
            errors.invalid(&at, registry, PAIRS);
        }
    }
    words::required(text(source, "volume"), &path.child("volume"), errors);
}

/// Go's `net.SplitHostPort`: an address of IPv6 is in brackets.
fn is_host_and_port(pair: &str) -> bool {
    let Some((host, port)) = pair.rsplit_once(':') else { return false };
    let bare = match host.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']'),
        None => Some(host).filter(|host| !host.contains(':')),
    };
    let brackets = |text: &str| text.contains(['[', ']']);
    bare.is_some_and(|host| !brackets(host)) && !brackets(port)
}
