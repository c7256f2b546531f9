//! The policy of each DaemonSet, and the report of its rollout.

use super::{Mode, Worker};
use crate::caches::Key;
use crate::executor::ActionExecutor;
use crate::per_daemon_set::PerDaemonSet;
use crate::rollout::policy::{Granted, PolicyEvent, PolicyReading};
use crate::turns::{Free, Reading};
use daemonset::model::DaemonSet;
use daemonset::policy::{FitPolicy, Permissions};
use daemonset::{EventType, Plan};

/// Whether a DaemonSet is planned.
pub(super) enum IsPlanned {
    Plan,
    /// Its policy asks nothing of this process.
    LeaveAlone,
}

impl Worker {
    /// Puts the policy of the DaemonSet's annotations in force.
    pub(super) fn set_policy(&self, key: &Key, ds: &DaemonSet, state: &mut PerDaemonSet) -> IsPlanned {
        let Some(granted) = self.granted(ds) else { return IsPlanned::LeaveAlone };
        let mut reading = self.policies.read(ds, &granted);
        let asks_for_turns = reading.policy.as_ref().map(|policy| policy.turn.is_some());
        if asks_for_turns == Some(true) {
            self.turns.are_own(ds);
        } else if asks_for_turns == Some(false)
            && ds.spec.update_strategy.kind == "OnDelete"
            && self.turns.are_anothers(ds, &self.caches)
        {
            reading = reading.leaving_turns(PolicyEvent::turns_of_another(ds));
        }
        let PolicyReading { policy, mut problem, turns_of } = reading;
        state.turns_of = turns_of;
        if policy.as_ref().is_some_and(|policy| policy.fit == FitPolicy::Hold) {
            match self.turns.free() {
                Reading::NotYet => return IsPlanned::LeaveAlone,
                Reading::Read(free) => state.set_free(free),
                // Nothing is known of any node: each pod fits.
                Reading::Unreadable(reason) => {
                    state.set_free(Free::default());
                    problem = problem.or_else(|| Some(PolicyEvent::fit_unknown(ds, &reason)));
                }
            }
        }
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
            self.stop_driving(key, state);
            return IsPlanned::LeaveAlone;
        };
        state.in_flight.driver.set_policy(policy);
        IsPlanned::Plan
    }

    /// The powers of the DaemonSet's annotations; `None` while they are not known yet.
    fn granted(&self, ds: &DaemonSet) -> Option<Granted> {
        if !self.policies.needs_powers(ds) {
            return Some(Granted::default());
        }
        match self.turns.powers_of(&ds.metadata.namespace) {
            Reading::NotYet => None,
            Reading::Read(powers) => Some(Granted { powers, unreadable: None }),
            Reading::Unreadable(reason) => {
                Some(Granted { powers: Permissions::default(), unreadable: Some(reason) })
            }
        }
    }

    /// Its policy asks nothing of this process any more. A policy that can't be read keeps the turns; any other one ends them.
    fn stop_driving(&self, key: &Key, state: &mut PerDaemonSet) {
        self.metrics.forget(key);
        self.turns.stop(key);
        if state.in_flight.driver.policy().external_controller.is_some() {
            state.in_flight.driver.set_policy(self.policies.of_file().clone().external_controller(None));
            self.turns.look_for_leftovers();
        }
    }

    /// Reports how the rollout goes on, in metrics and in the events that follow no write of this plan.
    pub(super) fn report_rollout(
        &self,
        executor: &ActionExecutor,
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
