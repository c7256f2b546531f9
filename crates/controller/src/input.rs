//! What a decision is made from, beside the DaemonSet and the nodes.

use crate::world::{Key, World};
use daemonset::model::{ControllerRevision, Pod};
use std::sync::Arc;

/// Pods and revisions of a DaemonSet's namespace.
pub struct Input {
    /// All of them, whoever owns them.
    pub pods: Vec<Arc<Pod>>,
    /// All of them, whoever owns them.
    pub revisions: Vec<Arc<ControllerRevision>>,
    /// Whether the decision is written down.
    pub recorded: Recorded,
}

/// Which decisions `--record` writes down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded {
    /// Those that do something.
    WhereItActs,
    /// Each.
    Always,
}

impl Input {
    /// What the caches have now.
    pub fn seen(world: &World, key: &Key) -> Self {
        let namespace = key.namespace.as_str();
        Input {
            pods: world.pods.state_filter(|pod| pod.metadata.namespace == namespace),
            revisions: world.revisions.state_filter(|revision| revision.metadata.namespace == namespace),
            recorded: Recorded::WhereItActs,
        }
    }
}
