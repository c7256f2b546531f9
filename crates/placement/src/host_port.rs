//! The ports of the node that a pod takes, and two pods that want the same one.

use serde::Serialize;
use serde_json::Value;
use std::fmt;

/// A port of the node that a pod takes.
///
/// `Display` prints `9100/TCP`, with an address before it where it has one of its own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct HostPort {
    /// The port.
    pub port: u32,
    /// `TCP`, `UDP` or `SCTP`.
    pub protocol: String,
    /// The address that it is bound to; `0.0.0.0`, which is the default, is all of them.
    #[serde(rename = "hostIP")]
    pub host_ip: String,
}

/// Every address, as an absent `hostIP` (v1.36 scheduler `framework/types.go DefaultBindAllHostIP`).
const ALL_ADDRESSES: &str = "0.0.0.0";

impl HostPort {
    /// The host ports of a pod or of a template's pods, sorted and each once: of containers, and of init containers that keep running
    /// (v1.36 scheduler `util.GetHostPorts`). With hostNetwork a container port is one, too (v1.36 `core/v1 defaults.go
    /// defaultHostNetworkPorts`).
    ///
    /// ```
    /// use daemonset_placement::HostPort;
    /// use serde_json::json;
    ///
    /// let pod = json!({"spec": {"containers": [{"name": "exporter", "ports": [{"hostPort": 9100}, {"containerPort": 80}]}]}});
    /// assert_eq!(HostPort::all_of(&pod).iter().map(HostPort::to_string).collect::<Vec<_>>(), ["9100/TCP"]);
    /// ```
    pub fn all_of(pod: &Value) -> Vec<Self> {
        let Some(spec) = pod.get("spec") else { return Vec::new() };
        let host_network = spec.get("hostNetwork").and_then(Value::as_bool).unwrap_or(false);
        let sidecars = list(spec, "initContainers")
            .filter(|container| container.get("restartPolicy").and_then(Value::as_str) == Some("Always"));
        let containers = list(spec, "containers").chain(sidecars);
        let ports = containers.flat_map(|container| list(container, "ports"));
        let mut ports: Vec<HostPort> = ports.filter_map(|port| host_port(port, host_network)).collect();
        ports.sort_unstable();
        ports.dedup();
        ports
    }

    /// Whether two pods with these ports can't be on one node: port and protocol are equal, and the addresses are equal
    /// or one of them is `0.0.0.0` (v1.36 scheduler `framework/types.go HostPortInfo.CheckConflict`).
    pub fn conflicts_with(&self, other: &HostPort) -> bool {
        let all = |ip: &str| ip == ALL_ADDRESSES;
        self.port == other.port
            && self.protocol == other.protocol
            && (self.host_ip == other.host_ip || all(&self.host_ip) || all(&other.host_ip))
    }
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host_ip != ALL_ADDRESSES {
            write!(f, "{}:", self.host_ip)?;
        }
        write!(f, "{}/{}", self.port, self.protocol)
    }
}

fn list<'v>(value: &'v Value, member: &str) -> impl Iterator<Item = &'v Value> + use<'v> {
    value.get(member).and_then(Value::as_array).into_iter().flatten()
}

/// Numbers and texts of the wrong type are problems of the template, which is read before.
fn host_port(port: &Value, host_network: bool) -> Option<HostPort> {
    let number = |member: &str| {
        let number = port.get(member).and_then(Value::as_u64).and_then(|number| u32::try_from(number).ok());
        number.filter(|number| *number > 0)
    };
    let text = |member: &str| port.get(member).and_then(Value::as_str).filter(|text| !text.is_empty());
    let number = number("hostPort").or_else(|| number("containerPort").filter(|_| host_network))?;
    Some(HostPort {
        port: number,
        protocol: text("protocol").unwrap_or("TCP").to_owned(),
        host_ip: text("hostIP").unwrap_or(ALL_ADDRESSES).to_owned(),
    })
}
