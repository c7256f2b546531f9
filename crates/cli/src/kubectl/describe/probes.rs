//! Probes of a container, each in one line.

use crate::kubectl::fields::texts;
use crate::kubectl::text::{Page, bracketed, int_or_string, probe_url};
use daemonset_apiserver::json::{member, number, text};
use serde_json::Value;

/// v1.36 kubectl `describe.go describeContainerProbe`.
pub(super) fn probes(page: &mut Page, container: &Value) {
    for (key, label) in
        [("livenessProbe", "Liveness"), ("readinessProbe", "Readiness"), ("startupProbe", "Startup")]
    {
        if let Some(found) = member(container, key) {
            page.write(2, &format!("{label}:\t{}\n", probe(found)));
        }
    }
}

/// `DescribeProbe`.
fn probe(probe: &Value) -> String {
    let attributes = format!(
        "delay={}s timeout={}s period={}s #success={} #failure={}",
        number(probe, "initialDelaySeconds"),
        number(probe, "timeoutSeconds"),
        number(probe, "periodSeconds"),
        number(probe, "successThreshold"),
        number(probe, "failureThreshold"),
    );
    format!("{} {attributes}", handler(probe))
}

fn handler(probe: &Value) -> String {
    if let Some(exec) = member(probe, "exec") {
        format!("exec {}", bracketed(&texts(exec, "command")))
    } else if let Some(get) = member(probe, "httpGet") {
        format!("http-get {}", probe_url(get))
    } else if let Some(socket) = member(probe, "tcpSocket") {
        format!("tcp-socket {}:{}", text(socket, "host"), int_or_string(member(socket, "port")))
    } else if let Some(grpc) = member(probe, "grpc") {
        format!("grpc <pod>:{} {}", number(grpc, "port"), text(grpc, "service"))
    } else {
        "unknown".to_owned()
    }
}
