//! The cause for which a node has no available pod, as far as its objects tell.

mod commands;
mod find;
mod words;

pub(crate) use commands::{edit_of, stable_to_name, undo_of, why_node};
pub use commands::{on_daemon_set, quoted};

use crate::cluster::{Happened, Said};
use daemonset::model::Node;
use jiff::Timestamp;
use serde::Serialize;

/// A pod in trouble, and since when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Trouble {
    pub pod: String,
    /// It is of the current revision: an undo would replace it.
    pub updated: bool,
    pub since: Option<Timestamp>,
    /// The conditions of its node that are bad: `DiskPressure`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pressure: Vec<String>,
    /// What the last warning among its events says, where the cause leaves that open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<Happened>,
}

/// The first of these that is known; a cause in the node explains those in its pod.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub enum Cause {
    /// The kubelet does not report: no pod of the node ends, and none becomes Ready.
    NodeSilent {
        since: Option<Timestamp>,
        #[serde(flatten)]
        said: Said,
        pod: Option<String>,
        /// The pod should end, and else become Ready.
        ends: bool,
    },
    /// The kubelet reports that the node is not Ready.
    NodeNotReady {
        since: Option<Timestamp>,
        #[serde(flatten)]
        said: Said,
        pod: Option<String>,
    },
    /// The kubelet reports and does not, again and again.
    NodeFlaps {
        since: Option<Timestamp>,
        #[serde(flatten)]
        how: Happened,
        pod: Option<String>,
        /// Of the containers of the pod.
        restarts: u32,
    },
    /// The kubelet has rejected or evicted it, or it has failed otherwise.
    PodFailed {
        #[serde(flatten)]
        trouble: Trouble,
        #[serde(flatten)]
        said: Said,
        /// How often pods have failed on the node.
        times: u64,
        /// A container of it has run.
        ran: bool,
    },
    ImageNotPulled {
        #[serde(flatten)]
        trouble: Trouble,
        container: String,
        image: String,
        #[serde(flatten)]
        said: Said,
    },
    CrashLoop {
        #[serde(flatten)]
        trouble: Trouble,
        container: String,
        restarts: u32,
        /// Why it waits now, or how it has ended.
        #[serde(flatten)]
        said: Said,
        /// How it has ended the last time.
        ended: Option<String>,
        exit_code: Option<i64>,
    },
    ContainerNotStarted {
        #[serde(flatten)]
        trouble: Trouble,
        container: String,
        #[serde(flatten)]
        said: Said,
    },
    /// An init container, or a sidecar, that keeps the others from being started.
    InitNotDone {
        #[serde(flatten)]
        trouble: Trouble,
        container: String,
        sidecar: bool,
    },
    NotScheduled {
        #[serde(flatten)]
        trouble: Trouble,
        #[serde(flatten)]
        said: Said,
    },
    /// An old pod of the DaemonSet holds the host port on the node: beside it the new one never starts.
    PortTaken {
        #[serde(flatten)]
        trouble: Trouble,
        /// Those of the template.
        ports: Vec<u32>,
        by: String,
    },
    /// Somebody else's pod holds the host port on the node.
    PortHeld {
        #[serde(flatten)]
        trouble: Trouble,
        port: u32,
        namespace: String,
        by: String,
        /// `DaemonSet exporter`.
        owner: Option<String>,
        /// When it should have been gone.
        overdue: Option<Timestamp>,
    },
    /// It should be gone by `since`.
    NotGone {
        #[serde(flatten)]
        trouble: Trouble,
        finalizers: Vec<String>,
    },
    /// Nothing tells more: it may be on its way.
    NotReady {
        #[serde(flatten)]
        trouble: Trouble,
        /// It is Pending, with the reason of the first container that waits.
        pending: bool,
        #[serde(flatten)]
        said: Said,
        /// Containers that run and are not ready.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        containers: Vec<String>,
        /// Readiness gates whose condition is not True, where all containers are ready.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        gates: Vec<String>,
    },
}

/// The condition Ready of a node that is down.
#[derive(Debug, Clone, Copy)]
pub struct Outage {
    pub since: Option<Timestamp>,
    /// It is Unknown, and not False: the kubelet does not report.
    pub silent: bool,
}

impl Outage {
    /// `None` for a node that is Ready, or has no such condition.
    pub fn of(node: &Node) -> Option<Self> {
        let ready = node.status.conditions.iter().find(|condition| condition.kind == "Ready")?;
        (ready.status != "True")
            .then(|| Outage { since: ready.last_transition_time, silent: ready.status == "Unknown" })
    }
}

impl Cause {
    /// Whether time alone will hardly help.
    pub fn is_failure(&self) -> bool {
        !matches!(self, Cause::NotReady { .. } | Cause::InitNotDone { .. })
    }

    /// Whether it tells more than that a pod is not Ready.
    pub fn tells_more(&self) -> bool {
        match self {
            Cause::NotReady { said, containers, gates, .. } => {
                *said != Said::default() || !containers.is_empty() || !gates.is_empty()
            }
            _ => true,
        }
    }

    pub fn since(&self) -> Option<Timestamp> {
        match self {
            Cause::NodeSilent { since, .. }
            | Cause::NodeNotReady { since, .. }
            | Cause::NodeFlaps { since, .. } => *since,
            _ => self.trouble().and_then(|trouble| trouble.since),
        }
    }

    pub fn pod(&self) -> Option<&str> {
        match self {
            Cause::NodeSilent { pod, .. }
            | Cause::NodeNotReady { pod, .. }
            | Cause::NodeFlaps { pod, .. } => pod.as_deref(),
            _ => self.trouble().map(|trouble| trouble.pod.as_str()),
        }
    }

    /// Whether an event of the pod may tell more.
    pub fn is_open(&self) -> bool {
        match self {
            Cause::CrashLoop { .. } | Cause::InitNotDone { .. } | Cause::NotGone { .. } => true,
            Cause::NotReady { gates, .. } => gates.is_empty(),
            Cause::NodeSilent { .. }
            | Cause::NodeNotReady { .. }
            | Cause::NodeFlaps { .. }
            | Cause::PodFailed { .. }
            | Cause::ImageNotPulled { .. }
            | Cause::ContainerNotStarted { .. }
            | Cause::NotScheduled { .. }
            | Cause::PortTaken { .. }
            | Cause::PortHeld { .. } => false,
        }
    }

    /// `None` for a cause in the node.
    fn trouble(&self) -> Option<&Trouble> {
        match self {
            Cause::NodeSilent { .. } | Cause::NodeNotReady { .. } | Cause::NodeFlaps { .. } => None,
            Cause::PodFailed { trouble, .. }
            | Cause::ImageNotPulled { trouble, .. }
            | Cause::CrashLoop { trouble, .. }
            | Cause::ContainerNotStarted { trouble, .. }
            | Cause::InitNotDone { trouble, .. }
            | Cause::NotScheduled { trouble, .. }
            | Cause::PortTaken { trouble, .. }
            | Cause::PortHeld { trouble, .. }
            | Cause::NotGone { trouble, .. }
            | Cause::NotReady { trouble, .. } => Some(trouble),
        }
    }
}
