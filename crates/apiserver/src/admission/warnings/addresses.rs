//! IP addresses in unusual spellings.

use crate::admission::path::FieldPath;
use crate::json::{at, list, text, texts};
use serde_json::Value;
use std::net::IpAddr;

/// Name servers and host aliases.
pub(super) fn addresses(pod: &Value, path: &FieldPath<'_>, found: &mut Vec<String>) {
    let (config, aliases) = (path.child("dnsConfig"), path.child("hostAliases"));
    let servers = config.child("nameservers");
    for (position, server) in texts(at(pod, &["dnsConfig"]), "nameservers").enumerate() {
        found.extend(unusual(server, &servers.index(position)));
    }
    for (position, alias) in list(pod, "hostAliases").iter().enumerate() {
        found.extend(unusual(text(alias, "ip"), &aliases.index(position).child("ip")));
    }
}

/// v1.36 apimachinery util/validation ip.go `GetWarningsForIP`. The spellings that it calls invalid don't pass validation.
fn unusual(text: &str, path: &FieldPath<'_>) -> Option<String> {
    match text.parse().ok()? {
        IpAddr::V6(address) if address.to_string() != text => Some(format!(
            "{path}: IPv6 address \"{text}\" should be in RFC 5952 canonical format (\"{address}\")"
        )),
        IpAddr::V6(_) | IpAddr::V4(_) => None,
    }
}
