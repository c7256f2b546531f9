//! Handlers of probes and lifecycle hooks: exactly one action.

use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::admission::validate::pod::Pod;
use crate::admission::validate::values;
use crate::go::GoValue;
use crate::json::{list, member, number, text, text_if_set};
use crate::syntax;
use serde_json::Value;

/// The occasion of a handler; it decides which kinds are allowed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Occasion {
    /// v1.36 core/validation `handlerFromProbe`.
    Probe,
    /// v1.36 core/validation `handlerFromLifecycle`.
    Lifecycle,
}

impl Occasion {
    /// The kinds, in the API server's order.
    fn kinds(self) -> [&'static str; 4] {
        match self {
            Occasion::Probe => ["exec", "httpGet", "tcpSocket", "grpc"],
            Occasion::Lifecycle => ["exec", "httpGet", "tcpSocket", "sleep"],
        }
    }
}

/// The first kind counts, every other one is an error (v1.36 core/validation `validateHandler`).
pub(super) fn handler(
    handler: &Value,
    occasion: Occasion,
    pod: &Pod<'_>,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    let set = occasion.kinds().into_iter().filter_map(|kind| Some((kind, member(handler, kind)?)));
    let mut handlers = 0;
    for (kind, handler) in set {
        let path = path.child(kind);
        handlers += 1;
        if handlers > 1 {
            errors.forbidden(&path, "may not specify more than 1 handler type");
            continue;
        }
        match kind {
            "exec" => exec(handler, &path, errors),
            "httpGet" => http_get(handler, &path, errors),
            "sleep" => sleep(handler, pod, &path, errors),
            "grpc" => grpc(handler, &path, errors),
            // Of tcpSocket only the port is validated.
            _ => port(handler, &path, errors),
        }
    }
    if handlers == 0 {
        errors.required(path, "must specify a handler type");
    }
}

/// v1.36 core/validation `validateExecAction`.
fn exec(exec: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    if list(exec, "command").is_empty() {
        errors.required(&path.child("command"), "");
    }
}

/// v1.37 core/validation `validateHTTPGetAction`.
fn http_get(get: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    values::required(text(get, "path"), &path.child("path"), errors);
    port(get, path, errors);
    let (scheme, supported) = (text(get, "scheme"), ["HTTP", "HTTPS"]);
    if !supported.contains(&scheme) {
        errors.not_supported(&path.child("scheme"), GoValue::named(scheme), &supported);
    }
    for header in list(get, "httpHeaders") {
        let name = text(header, "name");
        values::each(syntax::http_header_name_error(name), name, &path.child("httpHeaders"), errors);
    }
    let (host, at) = (text(get, "host"), path.child("protocol"));
    match text_if_set(get, "protocol") {
        Some("HTTP2") if scheme != "HTTP" => {
            errors.invalid(&at, GoValue::named("HTTP2"), "is only supported with HTTP (H2C)");
        }
        Some("HTTP2") if !host.is_empty() => {
            errors.invalid(&path.child("host"), host, "must be empty when `protocol` is \"HTTP2\"");
        }
        protocol => values::supported_if_set(protocol, &["HTTP1", "HTTP2"], &at, errors),
    }
}

/// v1.37 core/validation `validateGRPCAction`.
fn grpc(grpc: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    port(grpc, path, errors);
    let mode = text_if_set(grpc, "mode");
    values::supported_if_set(mode, &["Plaintext", "TLS"], &path.child("mode"), errors);
}

/// v1.36 core/validation `ValidatePortNumOrName`; an absent port is 0.
fn port(handler: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let path = path.child("port");
    if let Some(name) = handler.get("port").and_then(Value::as_str) {
        return values::each(syntax::port_name_errors(name), name, &path, errors);
    }
    let port = number(handler, "port");
    if let Some(message) = syntax::port_number_error(port) {
        errors.invalid(&path, port, message);
    }
}

/// A pod without a grace period has an error of its own (v1.36 core/validation `validateSleepAction`).
fn sleep(sleep: &Value, pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let seconds = number(sleep, "seconds");
    match pod.grace_period() {
        Some(grace) if seconds < 0 || seconds > grace => {
            let detail =
                format!("must be non-negative and less than terminationGracePeriodSeconds ({grace})");
            errors.invalid(path, seconds, detail);
        }
        _ => {}
    }
}
