//! One reconcile of one DaemonSet: plan, then execute, print or compare.

use super::plan::{Audited, PlanInput};
use super::{Mode, Worker};
use crate::caches::Key;
use crate::comparison::Reverted;
use crate::executor::{ActionExecutor, ExecuteError, Executed};
use crate::per_daemon_set::PerDaemonSet;
use daemonset::model::{ControllerRevision, DaemonSet, OwnerReference};
use daemonset::{Action, ActionOutcome, Plan};
use daemonset_executor::InFlight;
use daemonset_incremental::Tracker;
use jiff::{SignedDuration, Timestamp};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

impl Worker {
    pub(super) async fn sync(
        &self,
        key: &Key,
        ds: &Arc<DaemonSet>,
        state: &mut PerDaemonSet,
    ) -> Result<(), ExecuteError> {
        match &self.mode {
            Mode::Execute(executor) => self.plan_and_execute(executor, key, ds, state).await,
            Mode::DryRun(output) => {
                let Some(Audited { plan, .. }) = self.plan_changes(key, ds, state)? else {
                    self.metrics.forget(key);
                    return Ok(());
                };
                self.show_figures(key, &plan);
                state.print(key, &plan, output);
                self.requeue_at(key, plan.requeue_at());
                Ok(())
            }
            Mode::Compare(comparison) => {
                comparison.reconcile(ds, &mut |reverted| self.plan_for_comparison(key, ds, state, reverted));
                if comparison.take_back_off_reset(ds) {
                    state.in_flight =
                        InFlight::new(Tracker::new(ds.metadata.uid.clone(), self.policies.of_file().clone()));
                }
                Ok(())
            }
        }
    }

    async fn plan_and_execute(
        &self,
        executor: &ActionExecutor,
        key: &Key,
        ds: &Arc<DaemonSet>,
        state: &mut PerDaemonSet,
    ) -> Result<(), ExecuteError> {
        executor.settle(ds, &self.caches.nodes.state(), &mut state.in_flight).await?;
        self.read_whole_pods(executor, ds, state).await?;
        let Some(mut audited) = self.plan_changes(key, ds, state)? else {
            self.turns.stop(key);
            self.metrics.forget(key);
            return Ok(());
        };
        if audited.plan.actions.iter().any(is_new_revision) {
            // The watch of revisions may lag behind the watch that has shown the template. Stored revisions decide the new
            // number, so that no number is given twice.
            let revisions = executor.list_revisions(ds).await?;
            let mut stored = PlanInput::from_caches(&self.caches, key);
            stored.revisions = with_unselected(revisions, stored.revisions, ds);
            let Some(new) = self.plan_listed(key, ds, state, stored)? else { return Ok(()) };
            audited = new;
        }
        self.show_figures(key, &audited.plan);
        self.report_rollout(executor, key, ds, &audited.plan, state);
        self.follow_turns(executor, key, ds, &audited.plan, state);
        let requeue_at = audited.plan.requeue_at();
        let result = self.execute(executor, key, ds, audited, state).await;
        match result {
            Ok(()) => self.requeue_at(key, requeue_at),
            // The queue repeats a failed plan with back-off, so that a requeue that is due at once is ignored. A later one is
            // kept: the other nodes do not wait for the back-off.
            Err(_) => self.requeue_at(key, requeue_at.filter(|at| *at > self.clock.now())),
        }
        result
    }

    /// Shows the DaemonSet in the metrics as its plan finds it.
    fn show_figures(&self, key: &Key, plan: &Plan) {
        let revision = plan.report.current_revision.as_ref();
        let revision =
            revision.and_then(|revision| self.caches.revision_named(&key.namespace, &revision.name));
        self.metrics.fleet.show(
            key,
            plan,
            revision.and_then(|revision| revision.metadata.creation_timestamp),
        );
    }

    async fn execute(
        &self,
        executor: &ActionExecutor,
        key: &Key,
        ds: &DaemonSet,
        Audited { plan, status_delay }: Audited,
        state: &mut PerDaemonSet,
    ) -> Result<(), ExecuteError> {
        let actions = state.in_flight.retry_order.apply(plan.actions);
        self.other_controller.sent(ds, &actions);
        if state.in_flight.driver.policy().turn.is_none() {
            self.turns.end_without_policy(ds, &actions, &self.caches);
        }
        let result = executor.execute(ds, &actions, state).await;
        // Also after a failure: the status of the other pods does not wait for the retry.
        if let Some(delay) = status_delay {
            self.queue.add_after(key.clone(), delay);
        }
        if let Some(delay) = state.in_flight.retry_order.take_delay() {
            self.queue.add_after(key.clone(), delay);
        }
        match &result {
            Err(error) if !error.allows_status() => {}
            Ok(_) | Err(_) => state.sent(&actions),
        }
        if result? == Executed::InPart {
            tracing::info!(daemonset = %key, "the calls of the plan are slow: the others are planned again");
            self.queue.add(key.clone());
        }
        Ok(())
    }

    /// The plan for the cluster without the reverted actions of the other controller. Failed pods that it deletes are
    /// recorded as if they were deleted here, so that both controllers back off alike.
    fn plan_for_comparison(
        &self,
        key: &Key,
        ds: &DaemonSet,
        state: &mut PerDaemonSet,
        reverted: &Reverted,
    ) -> Option<Plan> {
        let mut input = PlanInput::from_caches(&self.caches, key);
        input.pods_version = None;
        input.pods = reverted.pods(input.pods);
        input.revisions = reverted.revisions(input.revisions);
        input.is_always_recorded = !reverted.is_empty();
        let Audited { plan, .. } = self.plan_listed(key, ds, state, input).ok()??;
        if reverted.is_empty() {
            self.requeue_at(key, plan.requeue_at());
        } else {
            for action in plan.actions.iter().filter(|action| reverted.has_failed_pod_of(action)) {
                state.in_flight.record(action, &ActionOutcome::Done, self.clock.now());
            }
        }
        Some(plan)
    }

    /// Enqueues the DaemonSet at the instant at which time alone changes its plan.
    fn requeue_at(&self, key: &Key, at: Option<Timestamp>) {
        let Some(at) = at else { return };
        let left = at.duration_since(self.clock.now());
        // Timers round down to a millisecond: a timer that fires just before the instant would find the plan unchanged.
        let delay =
            Duration::try_from(left.saturating_add(SignedDuration::from_millis(2))).unwrap_or_default();
        self.queue.add_after(key.clone(), delay);
    }
}

/// The stored revisions that the selector matches, and the DaemonSet's others as they are in the cache.
fn with_unselected(
    mut stored: Vec<Arc<ControllerRevision>>,
    cached: Vec<Arc<ControllerRevision>>,
    ds: &DaemonSet,
) -> Vec<Arc<ControllerRevision>> {
    let names: BTreeSet<String> = stored.iter().map(|revision| revision.metadata.name.clone()).collect();
    let is_other = |revision: &Arc<ControllerRevision>| {
        let owner = OwnerReference::controller_of(&revision.metadata.owner_references);
        owner == Some(ds.metadata.uid.as_str()) && !names.contains(&revision.metadata.name)
    };
    stored.extend(cached.into_iter().filter(is_other));
    stored
}

fn is_new_revision(action: &Action) -> bool {
    matches!(action, Action::CreateRevision { .. })
}
