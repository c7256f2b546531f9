//! The calls that were sent for one DaemonSet: their effects that no watch has shown yet, those with an unknown outcome, and
//! those that were rejected.

use crate::back_off::{BackOff, LONGEST, LONGEST_IN_OUTAGE};
use crate::error::ExecuteError;
use crate::executor::Executed;
use crate::retry_order::RetryOrder;
use daemonset::{Action, ActionOutcome, Memory, Policy, Reconciler, Recorded, Snapshot, UnexpectedAction};
use daemonset_incremental::Tracker;
use jiff::{SignedDuration, Timestamp};
use std::time::Duration;
use tokio::time::Instant;

/// A driver of the library, which remembers the calls for the next plan.
pub trait Driver {
    /// Records the outcome of an action of the last plan.
    fn record(&mut self, action: &Action, outcome: &ActionOutcome, at: Timestamp);
    /// Takes an action back that was not done, as storage shows.
    fn settle(&mut self, action: &Action, stored: &Snapshot<'_>);
    /// The calls that no watch has shown yet.
    fn memory(&self) -> &Memory;
    /// The choices by which it plans.
    fn policy(&self) -> &Policy;
}

macro_rules! driver {
    ($driver:ty) => {
        impl Driver for $driver {
            fn record(&mut self, action: &Action, outcome: &ActionOutcome, at: Timestamp) {
                // The executor ends the plan by the response, which says more than the outcome.
                let recorded = <$driver>::record(self, action, outcome, at);
                // The calls of one batch may be of several batches of the plan: the order of the next attempt is another one.
                debug_assert_ne!(recorded, Recorded::Unexpected(UnexpectedAction::OtherPlan), "{action}");
            }

            fn settle(&mut self, action: &Action, stored: &Snapshot<'_>) {
                <$driver>::settle(self, action, stored);
            }

            fn memory(&self) -> &Memory {
                <$driver>::memory(self)
            }

            fn policy(&self) -> &Policy {
                <$driver>::policy(self)
            }
        }
    };
}

driver!(Reconciler);
driver!(Tracker);

/// The driver of one DaemonSet, and the calls that were sent for it.
#[derive(Debug)]
#[non_exhaustive]
pub struct InFlight<D> {
    /// The library's driver.
    pub driver: D,
    /// Creates and deletes of pods with an unknown outcome, each with the instant from which storage shows the outcome.
    unknown: Vec<(Action, Instant)>,
    /// The order of the next attempt.
    pub retry_order: RetryOrder,
    back_off: BackOff,
}

impl<D: Driver> InFlight<D> {
    /// No call was sent for the DaemonSet of this driver.
    pub fn new(driver: D) -> Self {
        InFlight {
            driver,
            unknown: Vec::new(),
            retry_order: RetryOrder::default(),
            back_off: BackOff::default(),
        }
    }

    /// Records the outcome of an action.
    pub fn record(&mut self, action: &Action, outcome: &ActionOutcome, at: Timestamp) {
        self.driver.record(action, outcome, at);
        if !matches!(outcome, ActionOutcome::Rejected | ActionOutcome::Conflict) {
            self.retry_order.accepted(action);
        }
        // This call replaces an earlier one for the same target, whose outcome no longer matters.
        self.unknown.retain(|(earlier, _)| !is_replaced_by(earlier, action));
    }

    /// Records that the outcome of an action is unknown, and can be read from storage after a time.
    pub fn record_unknown(&mut self, action: &Action, settles_after: Duration) {
        // Pods alone are read from storage. A restored template is shown by the watch, or expires.
        let is_of_pod = !matches!(action, Action::RestoreTemplate { .. });
        if is_of_pod && self.driver.memory().is_in_flight(action) {
            self.unknown.push((action.clone(), Instant::now() + settles_after));
        }
    }

    /// The time until the next plan, unless an object changes before: `None` where time alone changes nothing. Once after each
    /// execution, with the [`requeue_at`](daemonset::Plan::requeue_at) of its plan, which must be taken before the plan's actions
    /// are moved; and once after [`settle`](crate::Executor::settle) or another read has failed, without one.
    ///
    /// It is the earliest of: the plan's instant; the next outcome that [can be read](Self::next_settle); the [delay](RetryOrder::take_delay)
    /// after a target was rejected for the first time; and the time that [`ExecuteError`] asks for, by back-off per object. A plan in part
    /// is to be made again at once.
    pub fn next_plan(
        &mut self,
        requeue_at: Option<Timestamp>,
        executed: &Result<Executed, ExecuteError>,
        now: Timestamp,
    ) -> Option<Duration> {
        let others = self.retry_order.take_delay();
        let retry = match executed {
            Ok(executed) => {
                self.back_off = BackOff::default();
                (*executed == Executed::InPart).then_some(Duration::ZERO)
            }
            // All calls wait.
            Err(ExecuteError::RetryAfter(delay)) => return Some(*delay),
            Err(ExecuteError::NamespaceTerminating) => None,
            Err(ExecuteError::Unreachable(_)) => Some(from_now(self.back_off.failed(LONGEST_IN_OUTAGE))),
            Err(
                ExecuteError::Outdated(_)
                | ExecuteError::Failed(_)
                | ExecuteError::Forbidden(_)
                | ExecuteError::Refused(_)
                | ExecuteError::Unknown(_)
                | ExecuteError::MayNotAct,
            ) => Some(from_now(self.back_off.failed(LONGEST))),
        };
        // After a failure an instant that has come is no reason to skip the back-off. A later one is: the other nodes do not wait.
        let requeue = requeue_at.filter(|at| executed.is_ok() || *at > now).map(|at| {
            // Timers round down to a millisecond: a timer that fires just before the instant would find the plan unchanged.
            let left = at.duration_since(now).saturating_add(SignedDuration::from_millis(2));
            Duration::try_from(left).unwrap_or_default()
        });
        [retry, others, requeue, self.next_settle().map(from_now)].into_iter().flatten().min()
    }

    /// When the next unknown outcome can be read from storage, by tokio's clock, which has no dates: `tokio::time::sleep_until`
    /// waits for it.
    pub fn next_settle(&self) -> Option<Instant> {
        self.unknown.iter().map(|(_, settled)| *settled).min()
    }

    /// Drops the unknown outcomes that a watch has shown meanwhile.
    pub fn drop_observed(&mut self) {
        self.unknown.retain(|(action, _)| self.driver.memory().is_in_flight(action));
    }

    /// Settles all outcomes that were due at `read_at`, when the pods were read from storage: the memory drops the calls that
    /// were not done, so that no node is without its pod until they expire. `stored` is `None` where the stored objects make
    /// no snapshot: the next plan would not be made either.
    pub fn settle(&mut self, stored: Option<&Snapshot<'_>>, read_at: Instant) {
        if let Some(stored) = stored {
            for (action, _) in self.unknown.iter().filter(|(_, settled)| *settled <= read_at) {
                self.driver.settle(action, stored);
            }
        }
        self.unknown.retain(|(_, settled)| *settled > read_at);
    }
}

fn from_now(at: Instant) -> Duration {
    at.saturating_duration_since(Instant::now())
}

/// Whether a later call for the same target replaces the earlier one.
fn is_replaced_by(earlier: &Action, later: &Action) -> bool {
    match (earlier, later) {
        (Action::CreatePod { node: one, .. }, Action::CreatePod { node: other, .. }) => one == other,
        (Action::DeletePod { pod: one, .. }, Action::DeletePod { pod: other, .. }) => one.uid == other.uid,
        _ => false,
    }
}
