//! What was sent for one DaemonSet: what is believed of it, and when storage is asked what became of what was lost.

use crate::execute::{Executor, Stop};
use crate::turns::Turns;
use crate::world::World;
use daemonset::model::{ControllerRevision, DaemonSet, Pod};
use daemonset::{Action, ActionOutcome, Memory, Observed, Snapshot};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kube::api::ListParams;
use kube::core::Selector;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// What was sent for one DaemonSet.
#[derive(Debug, Clone, Default)]
pub struct Sent {
    /// What is believed of it.
    pub memory: Memory,
    /// Creates and deletes of pods that may have been done, and from when on that does not change any more.
    lost: Vec<(Action, Instant)>,
    /// What was refused comes last.
    pub turns: Turns,
}

impl Sent {
    /// Keeps what came of an action.
    pub fn record(&mut self, action: &Action, outcome: &ActionOutcome, at: Timestamp) {
        self.memory.record(action, outcome, at);
        if *outcome != ActionOutcome::Rejected {
            self.turns.accepted(action);
        }
        // Whatever became of the one before it: this is what is believed now.
        self.lost.retain(|(before, _)| !is_same(before, action));
    }

    /// Nobody knows what became of this action, which is settled after a time.
    pub fn lose(&mut self, action: &Action, settles: Duration) {
        if self.memory.is_in_flight(action) {
            tracing::warn!(
                seconds = settles.as_secs(),
                "nobody knows whether it was done: storage is asked then"
            );
            self.lost.push((action.clone(), Instant::now() + settles));
        }
    }

    /// When storage is to be asked next.
    pub fn looks_again(&self) -> Option<Instant> {
        self.lost.iter().map(|(_, settled)| *settled).min()
    }

    /// Asks storage what became of what is settled by now and what no watch has shown, and takes back what was not done. So
    /// a node is not without its pod until [`Memory`] expires.
    ///
    /// # Errors
    /// When it can't be asked; it is asked again then.
    pub async fn settle(
        &mut self,
        executor: &Executor,
        ds: &DaemonSet,
        world: &World,
        now: Timestamp,
    ) -> Result<(), Stop> {
        self.lost.retain(|(action, _)| self.memory.is_in_flight(action));
        let begun = Instant::now();
        if self.looks_again().is_none_or(|at| at > begun) {
            return Ok(());
        }
        let pods: Vec<Arc<Pod>> = executor.stored(&ds.metadata.namespace, &own(ds)).await?;
        let nodes = world.nodes.state();
        // Of no use where the next plan would not be made either.
        let observed = Observed {
            daemon_set: ds,
            nodes: &nodes,
            pods: &pods,
            revisions: [] as [&ControllerRevision; 0],
        };
        if let Ok(stored) = Snapshot::new(observed, now).check() {
            for (action, _) in self.lost.iter().filter(|(_, settled)| *settled <= begun) {
                self.memory.settle(action, &stored);
            }
        }
        self.lost.retain(|(_, settled)| *settled > begun);
        Ok(())
    }
}

/// What its selector chooses: a namespace may have far more.
fn own(ds: &DaemonSet) -> ListParams {
    let selector = serde_json::to_value(&ds.spec.selector).and_then(serde_json::from_value::<LabelSelector>);
    match selector.ok().and_then(|selector| Selector::try_from(selector).ok()) {
        Some(selector) => ListParams::default().labels_from(&selector),
        None => ListParams::default(),
    }
}

/// Whether a call for the one takes the place of a call for the other.
fn is_same(one: &Action, other: &Action) -> bool {
    match (one, other) {
        (Action::CreatePod { node: one, .. }, Action::CreatePod { node: other, .. }) => one == other,
        (Action::DeletePod { pod: one, .. }, Action::DeletePod { pod: other, .. }) => one.uid == other.uid,
        _ => false,
    }
}
