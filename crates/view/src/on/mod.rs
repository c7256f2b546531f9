//! The DaemonSets of a node: each with the requests of its pod, their sums, and ports that two of them want.

pub mod words;

use daemonset::model::DaemonSet;
use daemonset_apiserver::requests::{Bounds, Requests, bounds, pod_requests};
use daemonset_placement::{DaemonOn, HostPort, NodeShape, PortConflict, Runs, daemons_on};
use serde::Serialize;

/// The answer as JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeAnswer<'q> {
    node: &'q NodeShape,
    pub daemon_sets: Vec<DaemonRow>,
    /// The sums of those that surely run there, and of those that may.
    pub requests: Bounds,
    /// Of those that may run there, each once.
    pub host_ports: Vec<HostPort>,
    pub port_conflicts: Vec<Conflict>,
}

#[derive(Serialize)]
pub struct DaemonRow {
    #[serde(flatten)]
    pub daemon: DaemonOn,
    /// Of one pod.
    pub requests: Requests,
    /// The answer in words; empty for a plain yes.
    pub why: String,
}

/// Two DaemonSets by name.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Conflict {
    pub first: String,
    pub second: String,
    pub port: HostPort,
}

impl<'q> NodeAnswer<'q> {
    /// The answer about these DaemonSets.
    ///
    /// # Errors
    /// Requests that can't be read.
    pub fn new(all: &[DaemonSet], shape: &'q NodeShape) -> Result<Self, String> {
        let daemons = daemons_on(all, shape);
        let requests = bounds(all, &daemons).map_err(|error| error.to_string())?;
        let mut host_ports: Vec<HostPort> =
            daemons.possible().flat_map(|(_, daemon)| daemon.host_ports.clone()).collect();
        host_ports.sort_unstable();
        host_ports.dedup();
        let full_name = |position: usize| daemons.daemons.get(position).map(name).unwrap_or_default();
        let conflict = |conflict: PortConflict| Conflict {
            first: full_name(conflict.first),
            second: full_name(conflict.second),
            port: conflict.port,
        };
        let port_conflicts = daemons.port_conflicts().into_iter().map(conflict).collect();
        let row = |(ds, daemon): (&DaemonSet, DaemonOn)| DaemonRow {
            // The template of a DaemonSet that does not run there may hold anything.
            requests: pod_requests(&ds.spec.template).unwrap_or_default(),
            why: words::why(&daemon),
            daemon,
        };
        let daemon_sets = all.iter().zip(daemons.daemons).map(row).collect();
        Ok(NodeAnswer { node: shape, daemon_sets, requests, host_ports, port_conflicts })
    }

    /// Whether there is nothing to look at.
    pub fn is_fine(&self) -> bool {
        let is_invalid = |row: &DaemonRow| matches!(row.daemon.runs, Runs::Invalid { .. });
        self.port_conflicts.is_empty() && !self.daemon_sets.iter().any(is_invalid)
    }
}

/// `NAMESPACE/NAME`.
pub fn name(daemon: &DaemonOn) -> String {
    format!("{}/{}", daemon.namespace, daemon.name)
}
