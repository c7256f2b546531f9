//! DNS configuration of a pod: name servers, search paths, host aliases.

use super::pod::Pod;
use super::values;
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::go::GoValue;
use crate::json::{list, member, text, texts};
use crate::syntax::dns_subdomain_with_underscore_errors;
use serde_json::Value;
use std::net::IpAddr;

const MAX_NAMESERVERS: usize = 3;
const MAX_SEARCHES: usize = 32;
const MAX_SEARCH_CHARACTERS: usize = 2048;

/// v1.36 core/validation `validatePodDNSConfig`.
pub(super) fn dns_config(pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let config = member(pod.spec, "dnsConfig");
    let none = text(pod.spec, "dnsPolicy") == "None";
    match config {
        None if none => errors.required(path, "must provide `dnsConfig` when `dnsPolicy` is None"),
        Some(config) if none && list(config, "nameservers").is_empty() => {
            let detail = "must provide at least one DNS nameserver when `dnsPolicy` is None";
            errors.required(&path.child("nameservers"), detail);
        }
        Some(config) => {
            servers(config, &path.child("nameservers"), errors);
            searches(config, &path.child("searches"), errors);
            options(config, &path.child("options"), errors);
        }
        None => {}
    }
}

fn servers(config: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    if list(config, "nameservers").len() > MAX_NAMESERVERS {
        let detail = format!("must not have more than {MAX_NAMESERVERS} nameservers");
        errors.invalid(path, go_list(config, "nameservers"), detail);
    }
    for (position, server) in texts(config, "nameservers").enumerate() {
        address(server, &path.index(position), errors);
    }
}

fn searches(config: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let count = list(config, "searches").len();
    if count > MAX_SEARCHES {
        let detail = format!("must not have more than {MAX_SEARCHES} search paths");
        errors.invalid(path, go_list(config, "searches"), detail);
    }
    let spaces = count.saturating_sub(1);
    if texts(config, "searches").map(str::len).sum::<usize>() + spaces > MAX_SEARCH_CHARACTERS {
        let detail = format!(
            "must not have more than {MAX_SEARCH_CHARACTERS} characters (including spaces) in the search list"
        );
        errors.invalid(path, go_list(config, "searches"), detail);
    }
    for (position, search) in texts(config, "searches").enumerate() {
        // The root domain alone is a valid search path.
        if search != "." {
            let search = search.strip_suffix('.').unwrap_or(search);
            let messages = dns_subdomain_with_underscore_errors(search);
            values::each(messages, search, &path.index(position), errors);
        }
    }
}

fn options(config: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    for (position, option) in list(config, "options").iter().enumerate() {
        if text(option, "name").is_empty() {
            errors.required(&path.index(position), "must not be empty");
        }
    }
}

fn go_list(config: &Value, name: &str) -> GoValue {
    member(config, name).map_or_else(GoValue::null, GoValue::json)
}

/// v1.36 core/validation `ValidateHostAliases`.
pub(super) fn host_aliases(pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    for (position, alias) in list(pod.spec, "hostAliases").iter().enumerate() {
        let path = path.index(position);
        address(text(alias, "ip"), &path.child("ip"), errors);
        for (position, name) in texts(alias, "hostnames").enumerate() {
            values::dns_subdomain(name, &path.child("hostnames").index(position), errors);
        }
    }
}

/// An address that every parser reads as the same one (v1.36 util/validation ip.go `IsValidIPForLegacyField`; strict,
/// since the feature gate StrictIPCIDRValidation is on).
fn address(text: &str, path: &FieldPath<'_>, errors: &mut ErrorList) {
    match (text.parse::<IpAddr>(), without_leading_zeros(text).parse::<IpAddr>()) {
        (Ok(IpAddr::V6(address)), _) if address.to_ipv4_mapped().is_some() => {
            errors.invalid(path, text, "must not be an IPv4-mapped IPv6 address");
        }
        (Ok(_), _) => {}
        (Err(_), Ok(_)) => errors.invalid(path, text, "must not have leading 0s"),
        (Err(_), Err(_)) => {
            let detail = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
            errors.invalid(path, text, detail);
        }
    }
}

/// The address as a parser reads it that ignores leading zeros.
fn without_leading_zeros(address: &str) -> String {
    let parts = address.split_inclusive(['.', ':']);
    let parts = parts.map(|part| {
        let short = part.trim_start_matches('0');
        let keeps_a_digit = short.starts_with(|c: char| c.is_ascii_hexdigit()) || short.len() == part.len();
        if keeps_a_digit { short.to_owned() } else { format!("0{short}") }
    });
    parts.collect()
}
