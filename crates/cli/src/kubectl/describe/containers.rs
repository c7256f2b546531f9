//! Containers and init containers: image, ports, command, resources, mounts.

use super::{environment, probes};
use crate::kubectl::fields::{entries, texts};
use crate::kubectl::text::Page;
use daemonset_apiserver::go::quoted;
use daemonset_apiserver::json::{flag, list, member, number, text};
use daemonset_apiserver::quantity::Quantity;
use serde_json::Value;

/// v1.36 kubectl `describe.go describeContainers`, without the status of a pod.
pub(super) fn containers(page: &mut Page, label: &str, containers: &[Value]) {
    let none = if containers.is_empty() { " <none>" } else { "" };
    page.write(0, &format!("  {label}:{none}\n"));
    for container in containers {
        basics(page, container);
        commands(page, container);
        resources(page, member(container, "resources").unwrap_or(&Value::Null));
        probes::probes(page, container);
        environment::environment(page, container);
        mounts(page, container);
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

/// Command and arguments, each of their lines on its own line (v1.36 kubectl `describe.go describeContainerCommand`).
fn commands(page: &mut Page, container: &Value) {
    for (key, label) in [("command", "Command:\n"), ("args", "Args:\n")] {
        let words = texts(container, key);
        if !words.is_empty() {
            page.write(2, label);
        }
        for line in words.into_iter().flat_map(|word| word.split('\n')) {
            page.write(3, &format!("{line}\n"));
        }
    }
}

/// By resource name, in Go's canonical form (v1.36 kubectl `describe.go describeResources`).
fn resources(page: &mut Page, resources: &Value) {
    for (key, label) in [("limits", "Limits:\n"), ("requests", "Requests:\n")] {
        let amounts = entries(resources, key);
        if !amounts.is_empty() {
            page.write(2, label);
        }
        for (name, amount) in amounts {
            page.write(3, &format!("{name}:\t{}\n", canonical(amount)));
        }
    }
}

/// A quantity in canonical form; `0` for an invalid one.
fn canonical(amount: &Value) -> String {
    Quantity::from_json(amount).map_or_else(|_| "0".to_owned(), |amount| amount.to_string())
}

/// v1.36 kubectl `describe.go describeContainerVolumes`.
fn mounts(page: &mut Page, container: &Value) {
    let mounts = by_path(container, "volumeMounts", "mountPath");
    let none = if mounts.is_empty() { "\t<none>" } else { "" };
    page.write(2, &format!("Mounts:{none}\n"));
    for mount in mounts {
        let (path, name) = (text(mount, "mountPath"), text(mount, "name"));
        page.write(3, &format!("{path} from {name} ({})\n", flags(mount)));
    }
    let devices = by_path(container, "volumeDevices", "devicePath");
    if !devices.is_empty() {
        // kubectl prints `<none>` here if there are no mounts.
        page.write(2, &format!("Devices:{none}\n"));
    }
    for device in devices {
        page.write(3, &format!("{} from {}\n", text(device, "devicePath"), text(device, "name")));
    }
}

fn by_path<'a>(container: &'a Value, key: &str, path: &str) -> Vec<&'a Value> {
    let mut items: Vec<_> = list(container, key).iter().collect();
    items.sort_by_key(|item| text(item, path));
    items
}

fn flags(mount: &Value) -> String {
    let access = if flag(mount, "readOnly") { "ro" } else { "rw" };
    match text(mount, "subPath") {
        "" => access.to_owned(),
        path => format!("{access},path={}", quoted(path)),
    }
}
