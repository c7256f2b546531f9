//! The policy of each DaemonSet, and the report of its rollout.

use super::{Mode, Worker};
use crate::caches::Key;
use crate::executor::Executor;
use crate::per_daemon_set::PerDaemonSet;
use crate::rollout::policy::PolicyReading;
use daemonset::model::DaemonSet;
use daemonset::{EventType, Plan};

/// Whether a DaemonSet is planned.
pub(super) enum Follow {
    Plan,
    /// Its policy asks nothing of this process.
    LeaveAlone,
}

impl Worker {
    /// Puts the policy of the DaemonSet's annotations in force.
    pub(super) fn set_policy(&self, key: &Key, ds: &DaemonSet, state: &mut PerDaemonSet) -> Follow {
        let PolicyReading { policy, problem } = self.policies.read(ds);
        if let Some(problem) = state.rollout.new_problem(problem) {
            match &self.mode {
                Mode::Execute(executor) => {
                    executor.report(ds, EventType::Warning, problem.reason, &problem.message);
                }
                Mode::DryRun(_) | Mode::Compare(_) => {
                    tracing::warn!(daemonset = %key, reason = problem.reason, "{}", problem.message);
                }
            }
        }
        let Some(policy) = policy else {
            self.metrics.rollouts.forget(key);
            return Follow::LeaveAlone;
        };
        state.in_flight.tracker.set_policy(policy);
        Follow::Plan
    }

    /// Reports how the rollout goes on, in metrics and in the events that follow no write of this plan.
    pub(super) fn report_rollout(
        &self,
        executor: &Executor,
        key: &Key,
        ds: &DaemonSet,
        plan: &Plan,
        state: &mut PerDaemonSet,
    ) {
        self.metrics.rollouts.show(key, plan);
        for event in state.rollout.story.observe(ds, plan) {
            executor.report(ds, event.event_type, event.reason, &event.message);
        }
    }
}
