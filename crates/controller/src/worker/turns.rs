//! What a plan's turns need beside its actions: drains, events, and metrics.

use super::Worker;
use crate::caches::Key;
use crate::executor::{ActionExecutor, ExecuteError};
use crate::per_daemon_set::PerDaemonSet;
use crate::wants::reads_whole_pods;
use daemonset::model::DaemonSet;
use daemonset::policy::FitPolicy;
use daemonset::report::Wait;
use daemonset::{Plan, turns};
use std::sync::Arc;
use std::time::Duration;

/// When to look again at nodes on which the new pod does not fit: no event tells that a pod of another namespace has gone.
const FIT_AGAIN: Duration = Duration::from_secs(15);

impl Worker {
    /// Lists the pods of a DaemonSet that the cache keeps leaner than its policy reads them.
    ///
    /// # Errors
    /// When they can't be read.
    pub(super) async fn read_whole_pods(
        &self,
        executor: &ActionExecutor,
        ds: &DaemonSet,
        state: &mut PerDaemonSet,
    ) -> Result<(), ExecuteError> {
        if !reads_whole_pods(state.in_flight.driver.policy()) {
            state.whole_pods.clear();
        } else if state.whole_pods.lack_some(&self.caches, ds) {
            state.whole_pods.keep(executor.list_pods(ds).await?);
            // No watch shows these.
            state.in_flight.driver.forget_objects();
        }
        Ok(())
    }

    /// Lets the drains follow a plan, and tells of its turns.
    pub(super) fn follow_turns(
        &self,
        executor: &ActionExecutor,
        key: &Key,
        ds: &Arc<DaemonSet>,
        plan: &Plan,
        state: &mut PerDaemonSet,
    ) {
        let driver = &state.in_flight.driver;
        let (policy, waits) = (driver.policy(), Vec::from_iter(driver.waits(plan)));
        if policy.turn.is_none() {
            self.turns.stop(key);
        } else {
            self.turns.drain(key, ds, &waits, policy.drain.as_ref());
        }
        if policy.fit == FitPolicy::Hold && waits.iter().any(|(_, wait)| matches!(wait, Wait::Fit { .. })) {
            self.queue.add_after(key.clone(), FIT_AGAIN);
        }
        let is_in_turn = policy.turn.is_some();
        self.metrics.turns.show(key, &waits, if is_in_turn { self.nodes_in_turn(ds) } else { 0 });
        for event in state.turn_story.observe(&waits, &plan.warnings) {
            executor.report(ds, event.event_type, event.reason, &event.message);
        }
    }

    fn nodes_in_turn(&self, ds: &DaemonSet) -> usize {
        let key = turns::key(ds);
        self.caches.nodes.state_filter(|node| turns::request(node, &key).is_some()).len()
    }
}
