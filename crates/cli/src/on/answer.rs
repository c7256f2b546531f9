//! The answer: each DaemonSet with the requests of its pod, their sums, and ports that two of them want.

use crate::on::args::Question;
use crate::on::words;
use daemonset_apiserver::requests::{Bounds, Requests, bounds, pod_requests};
use daemonset_placement::{DaemonOn, HostPort, NodeShape, PortConflict, Runs, daemons_on};
use serde::Serialize;

/// The answer as JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answer<'q> {
    node: &'q NodeShape,
    pub(crate) daemon_sets: Vec<Row>,
    /// The sums of those that surely run there, and of those that may.
    pub(crate) requests: Bounds,
    /// Of those that may run there, each once.
    pub(crate) host_ports: Vec<HostPort>,
    pub(crate) port_conflicts: Vec<Conflict>,
}

#[derive(Serialize)]
pub(crate) struct Row {
    #[serde(flatten)]
    pub(crate) daemon: DaemonOn,
    /// Of one pod.
    pub(crate) requests: Requests,
    /// The answer in words; empty for a plain yes.
    pub(crate) why: String,
}

/// Two DaemonSets by name.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Conflict {
    pub(crate) first: String,
    pub(crate) second: String,
    pub(crate) port: HostPort,
}

impl<'q> Answer<'q> {
    pub(crate) fn new(question: &'q Question) -> Result<Self, String> {
        let daemons = daemons_on(&question.daemon_sets, &question.shape);
        let requests = bounds(&question.daemon_sets, &daemons).map_err(|error| error.to_string())?;
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
        let row = |(ds, daemon): (&daemonset::model::DaemonSet, DaemonOn)| Row {
            // The template of a DaemonSet that does not run there may hold anything.
            requests: pod_requests(&ds.spec.template).unwrap_or_default(),
            why: words::why(&daemon),
            daemon,
        };
        let daemon_sets = question.daemon_sets.iter().zip(daemons.daemons).map(row).collect();
        Ok(Answer { node: &question.shape, daemon_sets, requests, host_ports, port_conflicts })
    }

    /// Whether there is nothing to look at.
    pub(crate) fn is_fine(&self) -> bool {
        let is_invalid = |row: &Row| matches!(row.daemon.runs, Runs::Invalid { .. });
        self.port_conflicts.is_empty() && !self.daemon_sets.iter().any(is_invalid)
    }
}

/// `NAMESPACE/NAME`.
pub(crate) fn name(daemon: &DaemonOn) -> String {
    format!("{}/{}", daemon.namespace, daemon.name)
}
