//! The requirements of the pods of one version: parsed from the template once.

use daemonset::internal::null_is_default;
use daemonset::model::{Labels, Toleration};
use jiff::SignedDuration;
use serde::Deserialize;
use serde_json::Value;

/// A pod's requirements on its node, and the fields that decide how its deletion ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PodRequirements {
    pub(super) resources: Resources,
    pub(super) host_ports: Vec<u32>,
    pub(super) tolerations: Vec<Toleration>,
    pub(super) node_selector: Labels,
    pub(super) grace: SignedDuration,
    pub(super) deadline: Option<SignedDuration>,
    pub(super) finalizers: Vec<String>,
    /// It has an emptyDir volume.
    pub(super) local_storage: bool,
}

/// An amount of CPU and memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Resources {
    /// In thousandths of a CPU.
    pub cpu_millis: u64,
    /// In bytes.
    pub memory_bytes: u64,
}

daemonset::internal::setters! {
    Resources {
        cpu_millis: u64,
        memory_bytes: u64,
    }
}

impl Resources {
    /// More than any pod can request.
    pub const UNLIMITED: Resources = Resources { cpu_millis: u64::MAX, memory_bytes: u64::MAX };

    pub(super) fn plus(self, other: Resources) -> Resources {
        Resources {
            cpu_millis: self.cpu_millis.saturating_add(other.cpu_millis),
            memory_bytes: self.memory_bytes.saturating_add(other.memory_bytes),
        }
    }

    pub(super) fn fits_in(self, capacity: Resources) -> bool {
        self.cpu_millis <= capacity.cpu_millis && self.memory_bytes <= capacity.memory_bytes
    }
}

/// The core/v1 default of `terminationGracePeriodSeconds`.
const DEFAULT_GRACE_SECONDS: i64 = 30;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Template {
    #[serde(deserialize_with = "null_is_default")]
    metadata: TemplateMeta,
    #[serde(deserialize_with = "null_is_default")]
    spec: Spec,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct TemplateMeta {
    #[serde(deserialize_with = "null_is_default")]
    finalizers: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Spec {
    #[serde(deserialize_with = "null_is_default")]
    containers: Vec<Container>,
    #[serde(deserialize_with = "null_is_default")]
    tolerations: Vec<Toleration>,
    #[serde(deserialize_with = "null_is_default")]
    node_selector: Labels,
    #[serde(deserialize_with = "null_is_default")]
    host_network: bool,
    termination_grace_period_seconds: Option<i64>,
    active_deadline_seconds: Option<i64>,
    #[serde(deserialize_with = "null_is_default")]
    volumes: Vec<Volume>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Volume {
    empty_dir: Option<Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Container {
    #[serde(deserialize_with = "null_is_default")]
    ports: Vec<Port>,
    #[serde(deserialize_with = "null_is_default")]
    resources: ContainerResources,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Port {
    #[serde(deserialize_with = "null_is_default")]
    host_port: u32,
    #[serde(deserialize_with = "null_is_default")]
    container_port: u32,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ContainerResources {
    #[serde(deserialize_with = "null_is_default")]
    requests: Requests,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Requests {
    cpu: Value,
    memory: Value,
}

impl PodRequirements {
    /// Parses a pod template or a pod. Values that can't be parsed count as absent.
    pub(super) fn from_template(template: &Value) -> Self {
        let Template { metadata, spec } = Template::deserialize(template).unwrap_or_default();
        let mut requirements = PodRequirements {
            resources: Resources::default(),
            host_ports: Vec::new(),
            tolerations: spec.tolerations,
            node_selector: spec.node_selector,
            grace: SignedDuration::from_secs(
                spec.termination_grace_period_seconds.unwrap_or(DEFAULT_GRACE_SECONDS).clamp(0, 86_400),
            ),
            deadline: spec.active_deadline_seconds.map(SignedDuration::from_secs),
            finalizers: metadata.finalizers,
            local_storage: spec.volumes.iter().any(|volume| volume.empty_dir.is_some()),
        };
        for container in &spec.containers {
            let Requests { cpu, memory } = &container.resources.requests;
            requirements.resources = requirements.resources.plus(Resources {
                cpu_millis: thousandths(cpu).unwrap_or(0),
                memory_bytes: thousandths(memory).map_or(0, |thousandths| thousandths / 1000),
            });
            for port in &container.ports {
                let number = if port.host_port == 0 && spec.host_network {
                    port.container_port
                } else {
                    port.host_port
                };
                requirements.host_ports.extend(Some(number).filter(|port| *port != 0));
            }
        }
        requirements
    }
}

/// Parses a Kubernetes quantity (`250m`, `1`, `0.5`, `64Mi`, `1G`) as thousandths; further digits are cut off.
fn thousandths(quantity: &Value) -> Option<u64> {
    let text = match quantity {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, suffix) = text.split_at_checked(end)?;
    let unit: u64 = match suffix {
        "m" => 1,
        "" => 1000,
        "k" => 1_000_000,
        "M" => 1_000_000_000,
        "G" => 1_000_000_000_000,
        "T" => 1_000_000_000_000_000,
        "Ki" => 1000 << 10,
        "Mi" => 1000 << 20,
        "Gi" => 1000 << 30,
        "Ti" => 1000 << 40,
        _ => return None,
    };
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    let whole: u64 = whole.parse().ok()?;
    let decimals: String = decimals.chars().chain("000".chars()).take(3).collect();
    let decimals: u64 = decimals.parse().ok()?;
    Some(whole.saturating_mul(unit).saturating_add(decimals.saturating_mul(unit) / 1000))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn quantities_are_parsed_as_thousandths() {
        for (quantity, expected) in [
            (json!("250m"), Some(250)),
            (json!("1"), Some(1000)),
            (json!("0.5"), Some(500)),
            (json!(2), Some(2000)),
            (json!("64Mi"), Some(64 * 1024 * 1024 * 1000)),
            (json!("1.5G"), Some(1_500_000_000_000)),
            (json!("1x"), None),
            (json!(""), None),
            (json!(null), None),
        ] {
            assert_eq!(thousandths(&quantity), expected, "{quantity}");
        }
    }

    #[test]
    fn requirements_are_sums_over_the_containers() {
        let container = |cpu: &str| {
            json!({"resources": {"requests": {"cpu": cpu, "memory": "1Ki"}},
                   "ports": [{"containerPort": 80}, {"containerPort": 81, "hostPort": 8081}]})
        };
        let template = |host_network: bool| json!({"spec": {"hostNetwork": host_network, "containers": [container("1"), container("200m")]}});
        let requirements = PodRequirements::from_template(&template(false));
        assert_eq!(requirements.resources, Resources { cpu_millis: 1200, memory_bytes: 2048 });
        assert_eq!(requirements.host_ports, [8081, 8081]);
        assert_eq!(PodRequirements::from_template(&template(true)).host_ports, [80, 8081, 80, 8081]);
    }
}
