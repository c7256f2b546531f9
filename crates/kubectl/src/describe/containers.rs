//! Containers and init containers.

use super::{commands, environment, mounts, probes, resources};
use crate::text::Page;
use daemonset_apiserver::fields::{list, member, number, text};
use serde_json::Value;

/// v1.36 kubectl `describe.go describeContainers`, without a pod's status.
pub(super) fn containers(page: &mut Page, label: &str, containers: &[Value]) {
    let none = if containers.is_empty() { " <none>" } else { "" };
    page.write(0, &format!("  {label}:{none}\n"));
    for container in containers {
        basics(page, container);
        commands::commands(page, container);
        resources::resources(page, member(container, "resources").unwrap_or(&Value::Null));
        probes::probes(page, container);
        environment::environment(page, container);
        mounts::mounts(page, container);
    }
}

/// Name, image, ports, seccomp profile (`describeContainerBasicInfo`).
fn basics(page: &mut Page, container: &Value) {
    page.write(1, &format!(" {}:\n", text(container, "name")));
    page.write(2, &format!("Image:\t{}\n", text(container, "image")));
    ports(page, "Port", &port_list(container, "containerPort"));
    ports(page, "Host Port", &port_list(container, "hostPort"));
    let seccomp = member(container, "securityContext").and_then(|context| member(context, "seccompProfile"));
    if let Some(profile) = seccomp {
        page.write(2, &format!("SeccompProfile:\t{}\n", text(profile, "type")));
        if text(profile, "type") == "Localhost" {
            page.write(3, &format!("LocalhostProfile:\t{}\n", text(profile, "localhostProfile")));
        }
    }
}

fn ports(page: &mut Page, label: &str, ports: &str) {
    let line = match ports {
        "" => format!("{label}:\t<none>\n"),
        several if several.contains(',') => format!("{label}s:\t{several}\n"),
        one => format!("{label}:\t{one}\n"),
    };
    page.write(2, &line);
}

fn port_list(container: &Value, which: &str) -> String {
    let port = |port: &Value| {
        let name = match text(port, "name") {
            "" => String::new(),
            name => format!(" ({name})"),
        };
        format!("{}/{}{name}", number(port, which), text(port, "protocol"))
    };
    list(container, "ports").iter().map(port).collect::<Vec<_>>().join(", ")
}
