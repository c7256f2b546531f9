//! The policy of each DaemonSet, and the report of its rollout.

use super::{Mode, Worker};
use crate::caches::Key;
use crate::executor::Executor;
use crate::per_daemon_set::PerDaemonSet;
use crate::rollout::policy::PolicyReading;
use daemonset::model::DaemonSet;
use daemonset::{EventType, Plan, Policy, Reconciler};

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
        put_in_force(&mut state.in_flight.reconciler, policy);
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

/// Sets a policy that differs: to set one drops the objects that the reconciler has kept.
fn put_in_force(reconciler: &mut Reconciler, policy: Policy) {
    if *reconciler.policy() != policy {
        reconciler.set_policy(policy);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use daemonset::Observed;
    use daemonset::model::{ControllerRevision, Node, Pod};
    use jiff::Timestamp;
    use serde_json::{from_value, json};

    #[test]
    fn the_reconciler_keeps_its_objects_while_the_policy_stays() {
        let daemon_set: DaemonSet = from_value(json!({
            "metadata": {"name": "agent", "namespace": "ns", "uid": "u"},
            "spec": {"selector": {"matchLabels": {"app": "a"}}, "template": {"metadata": {"labels": {"app": "a"}}}},
        }))
        .unwrap();
        let (nodes, pods, revisions): ([Node; 0], [Pod; 0], [ControllerRevision; 0]) = ([], [], []);
        let list = || Observed { daemon_set: &daemon_set, nodes: &nodes, pods: &pods, revisions: &revisions };
        let mut reconciler = Reconciler::new("u", Policy::default());
        let _ = reconciler.plan_changes(list, Timestamp::UNIX_EPOCH).unwrap();
        put_in_force(&mut reconciler, Policy::default());
        assert!(reconciler.explain(Timestamp::UNIX_EPOCH).is_some());
        put_in_force(&mut reconciler, Policy::default().burst(7));
        assert!(reconciler.explain(Timestamp::UNIX_EPOCH).is_none());
        assert_eq!(reconciler.policy().burst, 7);
    }
}
