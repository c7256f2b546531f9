//! One decision: snapshot, plan, audit, recording.

use super::{Mode, Worker};
use crate::caches::{Caches, Key};
use crate::executor::ExecuteError;
use crate::per_daemon_set::PerDaemonSet;
use daemonset::model::{ControllerRevision, DaemonSet, Pod};
use daemonset::{InvalidSnapshot, Observed, ObservedAt, Plan, Violation, audit, plan};
use std::sync::Arc;
use tokio::time::Instant;

/// The pods and revisions of a DaemonSet's namespace.
pub(super) struct Input {
    /// All pods, with and without an owner.
    pub(super) pods: Vec<Arc<Pod>>,
    /// The version of the list of pods, if known.
    pub(super) pods_version: Option<u64>,
    /// All revisions, with and without an owner.
    pub(super) revisions: Vec<Arc<ControllerRevision>>,
    /// Whether `--record` keeps this decision even if its plan is empty.
    pub(super) is_always_recorded: bool,
}

impl Input {
    /// The content of the caches now.
    pub(super) fn from_caches(caches: &Caches, key: &Key) -> Self {
        let namespace = key.namespace.as_str();
        // Before the pods, which may be newer than their version but never older.
        let pods_version = caches.pods_version();
        Input {
            pods_version,
            pods: caches.pods.state_filter(|pod| pod.metadata.namespace == namespace),
            revisions: caches.revisions.state_filter(|revision| revision.metadata.namespace == namespace),
            is_always_recorded: false,
        }
    }
}

impl Worker {
    /// The audited plan for this input; `None` where the input is invalid, which is reported.
    ///
    /// # Errors
    /// When the plan breaks a safety rule, or when this process may no longer act.
    pub(super) fn plan(
        &self,
        key: &Key,
        ds: &DaemonSet,
        state: &mut PerDaemonSet,
        input: Input,
    ) -> Result<Option<Plan>, ExecuteError> {
        if let Mode::Execute(executor) = &self.mode {
            executor.check()?;
        }
        let start = Instant::now();
        let revisions = state.rollout.written.newest(input.revisions);
        let nodes = self.caches.nodes.state();
        let observed = Observed { daemon_set: ds, nodes: &nodes, pods: &input.pods, revisions: &revisions };
        let mut at = ObservedAt::new(self.clock.now());
        at.pods_version = input.pods_version;
        let snapshot = match state.in_flight.reconciler.snapshot(observed, at) {
            Ok(snapshot) => snapshot,
            Err(invalid) => {
                self.report_invalid(key, ds, state, &invalid);
                return Ok(None);
            }
        };
        let plan = plan(&snapshot);
        for warning in state.new_messages(plan.warnings.iter().map(ToString::to_string).collect()) {
            tracing::warn!(daemonset = %key, "{warning}");
        }
        let violations = audit(&snapshot, &plan.actions);
        self.metrics.decide_seconds.observe(start.elapsed().as_secs_f64());
        let is_recorded = input.is_always_recorded || !plan.actions.is_empty();
        if let Some(recorder) = self.recorder.as_ref().filter(|_| is_recorded) {
            recorder.write(key, &snapshot);
        }
        if violations.is_empty() {
            return Ok(Some(plan));
        }
        // The audit is written independently of the planner: one of the two is wrong, and to do nothing harms least.
        let violations: Vec<String> = violations.iter().map(Violation::to_string).collect();
        let violations = violations.join("; ");
        tracing::error!(daemonset = %key, violations, "the plan breaks a safety rule and is not executed");
        Err(ExecuteError::Failed("the plan breaks a safety rule".to_owned()))
    }

    /// Reports a DaemonSet that can't be planned, once: only its author can correct it, and a correction enqueues it again.
    fn report_invalid(&self, key: &Key, ds: &DaemonSet, state: &mut PerDaemonSet, invalid: &InvalidSnapshot) {
        for problem in state.new_messages(vec![invalid.to_string()]) {
            tracing::error!(daemonset = %key, problem, "the DaemonSet is invalid and is not reconciled");
            self.metrics.failures.inc();
            if let Mode::Execute(executor) = &self.mode {
                executor.report_invalid(ds, &problem);
            }
        }
    }
}
