//! The drains under way, by DaemonSet and node.

use super::drain::{DrainTarget, NodeDrain, Tools};
use crate::caches::Key;
use daemonset::model::{DaemonSet, NodeName};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::task::JoinHandle;

/// The drains of all nodes; clones share them.
#[derive(Clone, Default)]
pub(crate) struct Drains(Arc<Mutex<HashMap<Key, HashMap<NodeName, RunningDrain>>>>);

/// A drain under way. It ends when it is dropped.
struct RunningDrain {
    target: DrainTarget,
    task: JoinHandle<()>,
}

impl Drop for RunningDrain {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Drains {
    /// Goes on with the drains of these nodes, begins those that are missing, and ends all others of the DaemonSet.
    pub(crate) fn follow(&self, key: &Key, ds: &Arc<DaemonSet>, targets: Vec<DrainTarget>, tools: &Tools) {
        if targets.is_empty() {
            return self.stop(key);
        }
        let mut drains = self.drains();
        let before = drains.remove(key).unwrap_or_default();
        let mut before: HashMap<NodeName, RunningDrain> = before;
        let after = targets.into_iter().map(|target| {
            let is_same = |running: &RunningDrain| running.target == target && !running.task.is_finished();
            let running = before.remove(&target.node).filter(is_same);
            (target.node.clone(), running.unwrap_or_else(|| start(target, ds, tools)))
        });
        drains.insert(key.clone(), after.collect());
    }

    /// Ends the drains of a DaemonSet that is not planned, or has nothing to drain.
    pub(crate) fn stop(&self, key: &Key) {
        self.drains().remove(key);
    }

    fn drains(&self) -> MutexGuard<'_, HashMap<Key, HashMap<NodeName, RunningDrain>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn start(target: DrainTarget, ds: &Arc<DaemonSet>, tools: &Tools) -> RunningDrain {
    tracing::info!(daemonset = %Key::from(&**ds), node = %target.node, "the node is drained");
    let drain = NodeDrain::new(target.clone(), Arc::clone(ds), tools.clone());
    RunningDrain { target, task: tokio::spawn(drain.run()) }
}
