//! Ports of a container, and conflicts between the host ports of several containers.

use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::admission::validate::values;
use crate::json::{list, number, text};
use crate::syntax;
use serde_json::Value;
use std::collections::BTreeSet;

/// v1.36 core/validation `validateContainerPorts`.
pub(super) fn container_ports(container: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let (path, mut names) = (path.child("ports"), BTreeSet::new());
    for (position, port) in list(container, "ports").iter().enumerate() {
        let path = path.index(position);
        name(text(port, "name"), &mut names, &path.child("name"), errors);
        if host_or_container(port, "containerPort") == 0 {
            errors.required(&path.child("containerPort"), "");
        } else {
            number_in_range(port, "containerPort", &path, errors);
        }
        if host_or_container(port, "hostPort") != 0 {
            number_in_range(port, "hostPort", &path, errors);
        }
        values::one_of(text(port, "protocol"), &["SCTP", "TCP", "UDP"], &path.child("protocol"), errors);
    }
}

/// The name of a port is optional, and unique within its container.
fn name<'a>(name: &'a str, names: &mut BTreeSet<&'a str>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let messages = syntax::port_name_errors(name);
    if name.is_empty() {
    } else if !messages.is_empty() {
        values::each(messages, name, path, errors);
    } else if !names.insert(name) {
        errors.duplicate(path, name);
    }
}

fn number_in_range(port: &Value, field: &str, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let number = host_or_container(port, field);
    if let Some(message) = syntax::port_number_error(number) {
        errors.invalid(&path.child(field), number, message);
    }
}

fn host_or_container(port: &Value, field: &str) -> i64 {
    number(port, field)
}

/// Conflicts between the host ports of these containers: protocol, address and port together must be unique (v1.36
/// core/validation `checkHostPortConflicts`).
pub(super) fn host_port_conflicts<'a>(
    containers: impl IntoIterator<Item = (usize, &'a Value)>,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    let mut taken = BTreeSet::new();
    for (position, container) in containers {
        let (container_path, ports) = (path.index(position), list(container, "ports"));
        for (position, port) in ports.iter().enumerate() {
            let host_port = host_or_container(port, "hostPort");
            let place = format!("{}/{}/{host_port}", text(port, "protocol"), text(port, "hostIP"));
            if host_port != 0 && !taken.insert(place.clone()) {
                let path = container_path.child("ports");
                errors.duplicate(&path.index(position).child("hostPort"), place.as_str());
            }
        }
    }
}
