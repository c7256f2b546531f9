//! The requirements of the pods of one version: parsed from the template once.

use daemonset::internal::null_is_default;
use daemonset::model::{Labels, Toleration};
use jiff::SignedDuration;
use serde::Deserialize;
use serde_json::Value;

/// A pod's requirements on its node, and the fields that decide how its deletion ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PodRequirements {
    pub(crate) host_ports: Vec<u32>,
    pub(crate) tolerations: Vec<Toleration>,
    pub(crate) node_selector: Labels,
    pub(crate) grace: SignedDuration,
    pub(crate) deadline: Option<SignedDuration>,
    pub(crate) finalizers: Vec<String>,
    /// It has an emptyDir volume.
    pub(crate) local_storage: bool,
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
}

/// The core/v1 default of `terminationGracePeriodSeconds`.
const DEFAULT_GRACE_SECONDS: i64 = 30;

#[derive(Default, Deserialize)]
#[serde(default)]
struct PodTemplateForm {
    #[serde(deserialize_with = "null_is_default")]
    metadata: PodTemplateMeta,
    #[serde(deserialize_with = "null_is_default")]
    spec: PodSpecForm,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PodTemplateMeta {
    #[serde(deserialize_with = "null_is_default")]
    finalizers: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct PodSpecForm {
    #[serde(deserialize_with = "null_is_default")]
    containers: Vec<TemplateContainer>,
    #[serde(deserialize_with = "null_is_default")]
    tolerations: Vec<Toleration>,
    #[serde(deserialize_with = "null_is_default")]
    node_selector: Labels,
    #[serde(deserialize_with = "null_is_default")]
    host_network: bool,
    termination_grace_period_seconds: Option<i64>,
    active_deadline_seconds: Option<i64>,
    #[serde(deserialize_with = "null_is_default")]
    volumes: Vec<TemplateVolume>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct TemplateVolume {
    empty_dir: Option<Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct TemplateContainer {
    #[serde(deserialize_with = "null_is_default")]
    ports: Vec<TemplatePort>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct TemplatePort {
    #[serde(deserialize_with = "null_is_default")]
    host_port: u32,
    #[serde(deserialize_with = "null_is_default")]
    container_port: u32,
}

impl PodRequirements {
    /// Parses a pod template or a pod. Values that can't be parsed count as absent.
    pub(crate) fn from_template(template: &Value) -> Self {
        let PodTemplateForm { metadata, spec } = PodTemplateForm::deserialize(template).unwrap_or_default();
        let mut requirements = PodRequirements {
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn host_ports_are_those_of_all_containers() {
        let container = json!({"ports": [{"containerPort": 80}, {"containerPort": 81, "hostPort": 8081}]});
        let template = |host_network: bool| json!({"spec": {"hostNetwork": host_network, "containers": [container, container]}});
        assert_eq!(PodRequirements::from_template(&template(false)).host_ports, [8081, 8081]);
        assert_eq!(PodRequirements::from_template(&template(true)).host_ports, [80, 8081, 80, 8081]);
    }
}
