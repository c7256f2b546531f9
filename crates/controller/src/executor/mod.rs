//! Executes plans by the crate `daemonset_executor`, with the events, the metrics and the log of this controller.

mod events;
pub(crate) mod turns;

pub use daemonset_executor::{ExecuteError, Executed, Refusal};

use crate::event_recorder::EventRecorder;
use crate::metrics::Metrics;
use crate::per_daemon_set::PerDaemonSet;
use crate::response::{ActingClient, MayNotAct};
use daemonset::model::{ControllerRevision, DaemonSet, Node, Pod, Uid};
use daemonset::{Action, EventType};
use daemonset_executor::internal::shortened;
use daemonset_executor::{Call, InFlight};
use daemonset_incremental::Tracker;
use std::sync::Arc;

/// Sends the calls of plans.
#[derive(Clone)]
pub struct ActionExecutor {
    calls: daemonset_executor::Executor<ActingClient>,
    events: EventRecorder,
    metrics: Metrics,
}

impl ActionExecutor {
    /// An executor that sends with this client.
    pub fn new(client: ActingClient, events: EventRecorder, metrics: Metrics) -> Self {
        let clock = events.clone();
        let calls = daemonset_executor::Executor::new(client, events.component());
        ActionExecutor { calls: calls.without_events().with_clock(move || clock.now()), events, metrics }
    }

    /// Executes the actions of one plan for this DaemonSet.
    ///
    /// # Errors
    /// The first failure. Calls under way are awaited, and no further one is sent except for the status.
    pub async fn execute(
        &self,
        ds: &DaemonSet,
        actions: &[Action],
        state: &mut PerDaemonSet,
    ) -> Result<Executed, ExecuteError> {
        let (in_flight, mut after) = state.after_calls();
        self.calls
            .execute(ds, actions, in_flight, |call| {
                self.observe(ds, call);
                if let Some(event) = after.call(call) {
                    self.report(ds, event.event_type, event.reason, &event.message);
                }
            })
            .await
    }

    /// Reads back the calls whose response was lost, if it is time.
    ///
    /// # Errors
    /// When the pods can't be read.
    pub async fn settle(
        &self,
        ds: &DaemonSet,
        nodes: &[Arc<Node>],
        in_flight: &mut InFlight<Tracker>,
    ) -> Result<(), ExecuteError> {
        self.calls.settle(ds, nodes, in_flight).await
    }

    /// The pods that the DaemonSet's selector matches, as they are stored now.
    ///
    /// # Errors
    /// When they can't be read.
    pub async fn list_pods(&self, ds: &DaemonSet) -> Result<Vec<Arc<Pod>>, ExecuteError> {
        self.calls.list_pods(ds).await
    }

    /// The revisions that the DaemonSet's selector matches, as they are stored now.
    ///
    /// # Errors
    /// When they can't be read.
    pub async fn list_revisions(&self, ds: &DaemonSet) -> Result<Vec<Arc<ControllerRevision>>, ExecuteError> {
        self.calls.list_revisions(ds).await
    }

    /// Refuses to act where the client does.
    ///
    /// # Errors
    /// When the renew deadline is over, or once it is closed.
    pub fn check(&self) -> Result<(), MayNotAct> {
        self.calls.sender().check()
    }

    /// Sends nothing more, neither calls nor events; calls under way go on.
    pub fn close(&self) {
        self.calls.sender().close();
    }

    /// Records an event about a DaemonSet that can't be reconciled because of these problems.
    pub fn report_invalid(&self, ds: &DaemonSet, problems: &str) {
        self.events.record(ds, EventType::Warning, "InvalidDaemonSet", problems);
    }

    /// Records an event about a DaemonSet, and logs it.
    pub fn report(&self, ds: &DaemonSet, event_type: EventType, reason: &str, message: &str) {
        log_event(ds, reason, message);
        self.events.record(ds, event_type, reason, message);
    }

    /// Drops the state of a DaemonSet that is gone.
    pub fn forget(&self, uid: &Uid) {
        self.events.forget(uid);
    }

    fn observe(&self, ds: &DaemonSet, call: &Call<'_>) {
        if let Action::RecordEvent { event_type, reason, message, .. } = call.action {
            self.report(ds, *event_type, reason.as_str(), message);
        }
        if let Some(response) = call.response {
            self.metrics.count_call(call.action, response);
            self.record_event(ds, call);
        }
        self.record_refusal(ds, call);
        self.metrics.count_action(call.action, call.outcome, call.error);
    }
}

fn log_event(ds: &DaemonSet, reason: &str, message: &str) {
    let name = format!("{}/{}", ds.metadata.namespace, ds.metadata.name);
    tracing::info!(daemonset = %name, reason, "{}", shortened(message));
}
