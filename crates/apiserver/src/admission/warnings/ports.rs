//! Ports that contradict each other.

use super::each_container;
use crate::admission::path::FieldPath;
use crate::go::quoted;
use crate::json::{list, number, text};
use serde_json::Value;
use std::collections::BTreeMap;

/// A container port and the place of its definition.
struct ManifestPort<'a> {
    place: String,
    host_ip: &'a str,
    host_port: i64,
}

/// Ports of one number and protocol, in all containers.
pub(super) fn overlapping(pod: &Value, path: &FieldPath<'_>, found: &mut Vec<String>) {
    let mut known: BTreeMap<(i64, &str), Vec<ManifestPort<'_>>> = BTreeMap::new();
    each_port(pod, path, |value, place| {
        let port =
            ManifestPort { place, host_ip: text(value, "hostIP"), host_port: number(value, "hostPort") };
        let (number, protocol) = (number(value, "containerPort"), text(value, "protocol"));
        if !port.host_ip.is_empty() && port.host_port == 0 {
            let (place, name, host_ip) = (&port.place, text(value, "name"), port.host_ip);
            found.push(format!(
                "{place}: hostIP set without hostPort: {{Name:{name} HostPort:0 ContainerPort:{number} Protocol:{protocol} HostIP:{host_ip}}}"
            ));
        }
        let others = known.entry((number, protocol)).or_default();
        found.extend(others.iter().filter_map(|other| conflict(&port, other)));
        others.push(port);
    });
}

fn conflict(port: &ManifestPort<'_>, other: &ManifestPort<'_>) -> Option<String> {
    let same_host_port = port.host_port == other.host_port;
    let how = if same_host_port && port.host_ip == other.host_ip {
        "duplicate"
    } else if port.host_port == 0 || other.host_port == 0 {
        "overlapping"
    } else if same_host_port && port.host_ip.is_empty() != other.host_ip.is_empty() {
        "dangerously ambiguous"
    } else {
        return None;
    };
    Some(format!("{}: {how} port definition with {}", port.place, other.place))
}

/// A name that two ports have; within one container validation refuses it.
pub(super) fn same_name(pod: &Value, path: &FieldPath<'_>, found: &mut Vec<String>) {
    let mut known: BTreeMap<&str, String> = BTreeMap::new();
    each_port(pod, path, |port, place| {
        let name = text(port, "name");
        if name.is_empty() {
            return;
        }
        match known.get(name) {
            Some(other) => found.push(format!(
                "{place}: duplicate port name {} with {other}, services and probes that select ports by name will use {other}",
                quoted(name)
            )),
            None => _ = known.insert(name, place),
        }
    });
}

fn each_port<'a>(pod: &'a Value, path: &FieldPath<'_>, mut visit: impl FnMut(&'a Value, String)) {
    each_container(pod, path, |container, path| {
        let path = path.child("ports");
        for (position, port) in list(container, "ports").iter().enumerate() {
            visit(port, path.index(position).to_string());
        }
    });
}
