//! Surge runs two pods on a node for a while: resources that only one of them can hold.
//!
//! Proposal: SurgingRollingUpdate, "Considerations".

use super::finding::{Finding, Rule, Severity};
use super::manifest::{Manifest, ManifestItem, POD};
use serde_json::Value;
use std::collections::BTreeMap;

const REPLACE: &str = "Replace instead of surging: maxSurge 0 and maxUnavailable above 0";

/// Host ports, which a node has only once. With hostNetwork each container port is a host port.
pub(super) fn host_ports(manifest: &Manifest<'_>) -> Vec<Finding> {
    if !manifest.surges() {
        return Vec::new();
    }
    let fields = port_fields(manifest);
    let mut ports: Vec<u32> = manifest.template.host_ports().collect();
    ports.sort_unstable();
    ports.dedup();
    let finding = |port: u32| {
        let path = fields.get(&u64::from(port)).cloned().unwrap_or_else(|| POD.to_owned());
        Finding::new(Rule::SurgeWithHostPort, Severity::Error, path)
            .why(format_args!(
                "Two pods of a node can't both have port {port}: under surge the new one stays Pending, and the update stops"
            ))
            .remedy(REPLACE)
    };
    ports.into_iter().map(finding).collect()
}

/// The first field that names each port.
fn port_fields(manifest: &Manifest<'_>) -> BTreeMap<u64, String> {
    let on_host = manifest.template.spec.host_network;
    let fields_of_node: &[&str] = if on_host { &["hostPort", "containerPort"] } else { &["hostPort"] };
    let mut fields = BTreeMap::new();
    for port in manifest.containers().iter().flat_map(|(container, _)| container.list("ports")) {
        for field in fields_of_node {
            if let Some(number) = port.value.get(*field).and_then(Value::as_u64).filter(|number| *number != 0)
            {
                fields.entry(number).or_insert_with(|| format!("{}.{field}", port.path));
                // With both fields set, hostPort counts; they are equal then.
                break;
            }
        }
    }
    fields
}

/// On the node's network each port on which the pod listens is a host port, but this manifest declares none.
pub(super) fn host_network(manifest: &Manifest<'_>) -> Option<Finding> {
    let undeclared = manifest.template.spec.host_network && manifest.template.host_ports().next().is_none();
    let finding = Finding::new(Rule::SurgeWithHostNetwork, Severity::Warning, format!("{POD}.hostNetwork"))
        .why("Two pods of a node share its network during a surge, and no port says what they listen on: the second to bind one fails")
        .remedy("Name the ports, so that the conflict shows, or replace instead of surging unless nothing is listened on");
    (manifest.surges() && undeclared).then_some(finding)
}

/// Host paths that both pods may write to. Whether they contain lock files is unknown. Sockets and devices that must
/// exist belong to other processes, and the kernel's paths /proc, /sys and /dev contain no lock files.
pub(super) fn host_paths(manifest: &Manifest<'_>) -> Vec<Finding> {
    if !manifest.surges() {
        return Vec::new();
    }
    let containers = manifest.containers();
    let mounts: Vec<ManifestItem<'_>> =
        containers.iter().flat_map(|(container, _)| container.list("volumeMounts")).collect();
    let is_written = |name: &str| {
        let read_only =
            |mount: &ManifestItem<'_>| mount.value.get("readOnly").and_then(Value::as_bool) == Some(true);
        mounts.iter().any(|mount| mount.text("name") == name && !read_only(mount))
    };
    let finding = |volume: ManifestItem<'_>| {
        let source = volume.value.get("hostPath")?;
        let field = |name| source.get(name).and_then(Value::as_str).unwrap_or_default();
        let (path, kind) = (field("path"), field("type"));
        // A path that the pod creates most likely belongs to it alone.
        let severity = match kind {
            "DirectoryOrCreate" | "FileOrCreate" => Severity::Warning,
            "Socket" | "CharDevice" => return None,
            _ => Severity::Advice,
        };
        if is_kernels(path) || !is_written(volume.text("name")) {
            return None;
        }
        let finding = Finding::new(Rule::SurgeWithHostPath, severity, format!("{}.hostPath", volume.path))
            .why(format_args!("Two pods of a node may write to {path} at a time during a surge; if one locks it, the other never gets Ready"))
            .remedy("Make sure that two of them can run side by side, mount it readOnly, or replace instead of surging");
        Some(finding)
    };
    manifest.list("volumes").into_iter().filter_map(finding).collect()
}

fn is_kernels(path: &str) -> bool {
    let below =
        |root: &str| path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    ["/proc", "/sys", "/dev"].into_iter().any(below)
}

/// Devices of a device plugin, which pods can't share. One finding for each resource.
pub(super) fn devices(manifest: &Manifest<'_>) -> Vec<Finding> {
    if !manifest.surges() {
        return Vec::new();
    }
    let mut requested = BTreeMap::new();
    for (container, _) in manifest.containers() {
        for list in ["limits", "requests"] {
            let resources = container.value.pointer(&format!("/resources/{list}")).and_then(Value::as_object);
            for (name, quantity) in resources.into_iter().flatten() {
                if is_extended_resource(name) && !is_zero(quantity) {
                    let path = format!("{}.resources.{list}[{name}]", container.path);
                    requested.entry(name).or_insert((path, quantity));
                }
            }
        }
    }
    let finding = |(name, (path, quantity)): (&String, (String, &Value))| {
        let quantity = quantity.as_str().map_or_else(|| quantity.to_string(), str::to_owned);
        Finding::new(Rule::SurgeWithDevices, Severity::Warning, path)
            .why(format_args!("A container holds {quantity} of {name}: where a node has not as many free beside it, the new pod stays Pending during a surge"))
            .remedy("Replace instead of surging, unless every node has these devices twice")
    };
    requested.into_iter().map(finding).collect()
}

/// v1.36 `core/v1/helper IsExtendedResourceName`.
fn is_extended_resource(name: &str) -> bool {
    let is_native = !name.contains('/') || name.contains("kubernetes.io/");
    !is_native && !name.starts_with("requests.")
}

/// Whether an amount is zero in any notation: `0`, `"0"`, `"0.0"`, `"0k"`. Only the digits before an exponent or a
/// suffix count.
fn is_zero(quantity: &Value) -> bool {
    let text = quantity.as_str().map_or_else(|| quantity.to_string(), str::to_owned);
    let is_digit_or_sign = |c: &char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.');
    let digits: Vec<char> = text.chars().take_while(is_digit_or_sign).filter(char::is_ascii_digit).collect();
    !digits.is_empty() && digits.iter().all(|digit| *digit == '0')
}

/// With a claim template each pod gets its own devices (dynamic resource allocation).
pub(super) fn resource_claims(manifest: &Manifest<'_>) -> Vec<Finding> {
    let claims = manifest.list("resourceClaims");
    let own = claims.into_iter().filter(|claim| manifest.surges() && claim.has("resourceClaimTemplateName"));
    let finding = |claim: ManifestItem<'_>| {
        let template = claim.text("resourceClaimTemplateName");
        Finding::new(Rule::SurgeWithDevices, Severity::Warning, format!("{}.resourceClaimTemplateName", claim.path))
            .why(format_args!("Each pod claims devices of its own by {template}: where a node has not as many free, the new pod stays Pending during a surge"))
            .remedy("Replace instead of surging, unless every node has these devices twice")
    };
    own.map(finding).collect()
}
