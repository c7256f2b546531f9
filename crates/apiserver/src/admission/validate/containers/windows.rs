//! Windows options of a container or a pod.

use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::go::GoValue;
use crate::json::{member, text_if_set};
use crate::syntax;
use daemonset_objects::kubernetes::names::is_dns_label;
use serde_json::Value;

/// `path` is the security context's (v1.36 core/validation `validateWindowsSecurityContextOptions`).
pub(in crate::admission::validate) fn options(context: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let Some(options) = member(context, "windowsOptions") else { return };
    let path = path.child("windowsOptions");
    let mut refuse = |field: &str, messages: Vec<String>| {
        for message in messages {
            let value = text_if_set(options, field).unwrap_or_default();
            errors.invalid(&path.child(field), GoValue::named(value), message);
        }
    };
    let messages = text_if_set(options, "gmsaCredentialSpecName").map(syntax::dns_subdomain_errors);
    refuse("gmsaCredentialSpecName", messages.unwrap_or_default());
    let messages = text_if_set(options, "gmsaCredentialSpec").map(credential_spec_errors);
    refuse("gmsaCredentialSpec", messages.unwrap_or_default());
    let messages = text_if_set(options, "runAsUserName").map(user_name_errors);
    refuse("runAsUserName", messages.unwrap_or_default());
}

/// The options as Go prints them.
pub(super) fn printed(options: &Value) -> GoValue {
    let plain = |field| member(options, field).map_or_else(GoValue::null, GoValue::json);
    GoValue::record([
        ("GMSACredentialSpecName", plain("gmsaCredentialSpecName")),
        ("GMSACredentialSpec", plain("gmsaCredentialSpec")),
        ("RunAsUserName", plain("runAsUserName")),
        ("HostProcess", plain("hostProcess")),
    ])
}

fn credential_spec_errors(spec: &str) -> Vec<String> {
    const KIB: usize = 1024;
    let message = match spec.len() {
        0 => "gmsaCredentialSpec cannot be an empty string",
        length if length > 64 * KIB => "gmsaCredentialSpec size must be under 64 KiB",
        _ => return Vec::new(),
    };
    vec![message.to_owned()]
}

/// `DOMAIN\USER`; the domain is optional.
fn user_name_errors(name: &str) -> Vec<String> {
    let (domain, user) = match name.split_once('\\') {
        Some((domain, user)) => (Some(domain), user),
        None => (None, name),
    };
    let message = if name.is_empty() {
        "runAsUserName cannot be an empty string"
    } else if name.chars().any(|c| c.is_ascii_control()) {
        "runAsUserName cannot contain control characters"
    } else if user.contains('\\') {
        "runAsUserName cannot contain more than one backslash"
    } else {
        let messages = domain.map(domain_errors).unwrap_or_default();
        return messages.into_iter().chain(user_errors(user)).map(str::to_owned).collect();
    };
    vec![message.to_owned()]
}

fn domain_errors(domain: &str) -> Vec<&'static str> {
    let mut messages = Vec::new();
    if domain.len() >= 256 {
        messages.push("runAsUserName's Domain length must be under 256 characters");
    }
    if !is_net_bios_name(domain) && !is_dns_name(domain) {
        messages.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format");
    }
    messages
}

/// v1.36 core/validation `validNetBiosRegex`.
fn is_net_bios_name(domain: &str) -> bool {
    let length = domain.chars().count();
    (1..=15).contains(&length)
        && !domain.starts_with('.')
        && !domain.contains(['\\', '/', ':', '*', '?', '"', '<', '>', '|'])
}

/// v1.36 core/validation `validWindowsUserDomainDNSRegex`.
fn is_dns_name(domain: &str) -> bool {
    domain.split('.').all(|label| label.len() <= 63 && is_dns_label(&label.to_ascii_lowercase()))
}

fn user_errors(user: &str) -> Vec<&'static str> {
    let mut messages = Vec::new();
    match user.len() {
        0 => messages.push("runAsUserName's User cannot be empty"),
        1..=104 => {}
        _ => messages.push("runAsUserName's User length must not be longer than 104 characters"),
    }
    if !user.is_empty() && user.chars().all(|c| matches!(c, '.' | ' ')) {
        messages.push("runAsUserName's User cannot contain only periods or spaces");
    }
    if user.contains(['"', '/', '\\', ':', ';', '|', '=', ',', '+', '*', '?', '<', '>', '@', '[', ']']) {
        messages.push("runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]");
    }
    messages
}
