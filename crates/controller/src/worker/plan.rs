//! One decision: the plan, its audit, and its recording.

use super::{Mode, Worker};
use crate::caches::{Caches, Key};
use crate::change_log::{Shown, node_view};
use crate::executor::ExecuteError;
use crate::per_daemon_set::PerDaemonSet;
use crate::rollout::marks::WrittenRevisions;
use crate::rollout::policy::TurnsOf;
use crate::turns::Free;
use crate::turns::whole_pods::WholePods;
use daemonset::model::{ControllerRevision, DaemonSet, Node, Pod};
use daemonset::report::{RolloutReport, RolloutStage, Warning};
use daemonset::{EventType, InvalidInput, Objects, Observed, ObservedAt, Plan, PlanError, Snapshot, plan};
use daemonset_audit::{Violation, audit};
use daemonset_executor::internal::is_of_turns;
use daemonset_incremental::{Auditor, Tracker, VerifyError};
use std::cell::OnceCell;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The objects that the state of a DaemonSet keeps beside the caches.
type KeptObjects<'s> = (&'s mut WrittenRevisions, &'s WholePods, &'s Free);

/// All objects that a plan may depend on.
pub(super) struct PlanInput {
    /// All nodes.
    nodes: Vec<Arc<Node>>,
    /// The version of the list of nodes, if known.
    nodes_version: Option<u64>,
    /// The free resources of the nodes, if the policy asks for them.
    pub(super) free: Free,
    /// All pods of the DaemonSet's namespace, with and without an owner.
    pub(super) pods: Vec<Arc<Pod>>,
    /// The version of the list of pods, if known.
    pub(super) pods_version: Option<u64>,
    /// All revisions of the DaemonSet's namespace, with and without an owner.
    pub(super) revisions: Vec<Arc<ControllerRevision>>,
    /// Whether `--record` keeps this decision even if its plan is empty.
    pub(super) is_always_recorded: bool,
}

impl PlanInput {
    /// The content of the caches now.
    pub(super) fn from_caches(caches: &Caches, key: &Key) -> Self {
        let namespace = key.namespace.as_str();
        // Before the pods, which may be newer than their version but never older.
        let (pods_version, nodes_version) = (caches.pods_version(), caches.nodes_version());
        PlanInput {
            nodes: caches.nodes.state(),
            nodes_version,
            free: Free::default(),
            pods_version,
            pods: caches.pods.state_filter(|pod| pod.metadata.namespace == namespace),
            revisions: caches.revisions.state_filter(|revision| revision.metadata.namespace == namespace),
            is_always_recorded: false,
        }
    }

    /// Completed by the objects that the DaemonSet's own state has.
    fn completed(mut self, (written, whole, free): KeptObjects<'_>) -> Self {
        self.revisions = written.newest(self.revisions);
        whole.replace(&mut self.pods);
        self.free = free.clone();
        self
    }

    fn objects<'i>(&'i self, daemon_set: &'i DaemonSet) -> Objects<'i> {
        let nodes = self.nodes.iter().map(|node| node_view(node, &self.free));
        Observed { daemon_set, nodes, pods: &self.pods, revisions: &self.revisions }.into()
    }
}

/// A plan that may be executed.
pub(super) struct Audited {
    /// Without the status update, if that one must wait.
    pub(super) plan: Plan,
    /// The time after which the status update may be sent that the plan lacks.
    pub(super) status_delay: Option<Duration>,
}

/// The safety rules that a plan breaks. `list` gives the objects of the plan, of which the auditor needs none but in a rollout towards a
/// stable revision that the last plan did not know.
///
/// # Errors
/// Every problem of the listed objects.
fn violations<'i>(
    (tracker, auditor): (&mut Tracker, &mut Auditor),
    plan: &Plan,
    list: impl FnOnce() -> Objects<'i>,
    at: ObservedAt,
) -> Result<Vec<Violation>, InvalidInput> {
    if !plan.acts() {
        return Ok(Vec::new());
    }
    if let Ok(violations) = auditor.audit(tracker, &plan.actions, at) {
        return Ok(violations);
    }
    let snapshot = Snapshot::builder(list(), at).memory(tracker.memory()).policy(tracker.policy());
    Ok(audit(&snapshot.check()?, &plan.actions))
}

impl Worker {
    /// The audited plan for the content of the caches, which costs as much as their changes since the last plan;
    /// `None` where the input is invalid, which is reported.
    ///
    /// # Errors
    /// When the plan breaks a safety rule, or when this process may no longer act.
    pub(super) fn plan_changes(
        &self,
        key: &Key,
        ds: &Arc<DaemonSet>,
        state: &mut PerDaemonSet,
    ) -> Result<Option<Audited>, ExecuteError> {
        if self.recorder.is_some() {
            // A recording has all objects.
            return self.plan_listed(key, ds, state, PlanInput::from_caches(&self.caches, key));
        }
        self.check_may_act()?;
        let start = Instant::now();
        let log = self.caches.change_log.read();
        let mut at = ObservedAt::new(self.clock.now());
        // Before the changes, which may be newer.
        at.pods_version = self.caches.pods_version();
        at.nodes_version = self.caches.nodes_version();
        state.catch_up(&log, &self.caches, ds);
        let is_steered = state.in_flight.driver.policy().rollout.is_some();
        let is_due = self.verification.is_due();
        // A comparison with the plan of all objects needs these as they are in the changes; so does the audit of a steered
        // rollout, where it knows another stable revision.
        let log = (is_due || is_steered).then_some(log);
        let input = OnceCell::new();
        let list = || {
            input
                .get_or_init(|| self.input(key, (&mut state.rollout.written, &state.whole_pods, &state.free)))
                .objects(ds)
        };
        let shown = Shown { caches: &self.caches, whole_pods: &state.whole_pods, free: &state.free };
        let plan = match self.plan_from_changes(key, &mut state.in_flight.driver, shown, list, (at, is_due)) {
            Ok(plan) => plan,
            Err(PlanError::Snapshot(invalid)) => {
                self.report_invalid(key, ds, state, &invalid);
                return Ok(None);
            }
            Err(error) => {
                self.report_bug(key, ds, state, &error.to_string());
                return Ok(None);
            }
        };
        let audited = self.defer_status(state, Self::with_all_verdicts(state, plan, at));
        let list = || {
            input
                .get_or_init(|| self.input(key, (&mut state.rollout.written, &state.whole_pods, &state.free)))
                .objects(ds)
        };
        let judged = violations((&mut state.in_flight.driver, &mut state.auditor), &audited.plan, list, at);
        drop(log);
        match judged {
            Ok(violations) => self.judge(key, state, audited, &violations, start),
            Err(invalid) => {
                self.report_invalid(key, ds, state, &invalid);
                Ok(None)
            }
        }
    }

    /// The plan from changes, compared with the plan of all objects if `is_due`. The plan of all objects if the changes do not suffice, or
    /// if the two differ.
    ///
    /// A patch of a node has the node's version, and the log has no heartbeats. Where the cache has another version of a patched node, it is
    /// shown to the tracker, which plans again, once: the same actions with the versions of the cache.
    ///
    /// # Errors
    /// Every problem of the listed objects.
    fn plan_from_changes<'i>(
        &self,
        key: &Key,
        tracker: &mut Tracker,
        shown: Shown<'_>,
        mut list: impl FnMut() -> Objects<'i>,
        (at, is_due): (ObservedAt, bool),
    ) -> Result<Plan, PlanError> {
        let is_compared = |plan: &Plan| {
            let is_compared = !shown.patches_old_versions(plan) && self.verification.takes(plan);
            self.metrics.verified_plans.inc_by(is_compared.into());
            is_compared
        };
        let mut plan = |tracker: &mut Tracker| {
            if is_due {
                tracker.verify(is_compared, &mut list, at)
            } else {
                tracker.plan(at).map_err(VerifyError::from)
            }
        };
        let mut planned = plan(tracker);
        if let Ok(stale) = &planned
            && shown.patches_old_versions(stale)
        {
            shown.apply_patched_nodes(stale, tracker);
            planned = plan(tracker);
        }
        if !is_due {
            planned.iter().for_each(|plan| self.verification.passes(plan));
        }
        match planned {
            Ok(plan) => Ok(plan),
            Err(VerifyError::Plan(error)) => Err(error),
            Err(error) => {
                if !matches!(error, VerifyError::NeedsLists(_)) {
                    tracing::error!(daemonset = %key, %error, "the plan of all objects is executed instead");
                    self.metrics.differing_plans.inc();
                }
                self.metrics.listed_plans.inc();
                tracker.list(list(), at)
            }
        }
    }

    /// The report of the end of a roll-back depends on the verdicts of all nodes.
    fn with_all_verdicts(state: &PerDaemonSet, mut plan: Plan, at: ObservedAt) -> Plan {
        let is_ending = |rollout: &RolloutReport| {
            rollout.updated == 0 && matches!(rollout.stage, RolloutStage::RolledBack { .. })
        };
        if plan.report.rollout.as_ref().is_some_and(is_ending)
            && !state.rollout.story.has_gone_back()
            && let Ok(explained) = state.in_flight.driver.explain(at)
        {
            plan.report.nodes = explained.report.nodes;
        }
        plan
    }

    /// The content of the caches now, completed by the state of the DaemonSet.
    fn input(&self, key: &Key, kept: KeptObjects<'_>) -> PlanInput {
        PlanInput::from_caches(&self.caches, key).completed(kept)
    }

    /// As [`plan_changes`](Self::plan_changes), for other objects than those of the caches.
    pub(super) fn plan_listed(
        &self,
        key: &Key,
        ds: &DaemonSet,
        state: &mut PerDaemonSet,
        mut input: PlanInput,
    ) -> Result<Option<Audited>, ExecuteError> {
        self.check_may_act()?;
        let start = Instant::now();
        self.metrics.listed_plans.inc();
        input = input.completed((&mut state.rollout.written, &state.whole_pods, &state.free));
        let mut at = ObservedAt::new(self.clock.now());
        (at.pods_version, at.nodes_version) = (input.pods_version, input.nodes_version);
        let snapshot = match state.in_flight.driver.snapshot(input.objects(ds), at) {
            Ok(snapshot) => snapshot,
            Err(invalid) => {
                self.report_invalid(key, ds, state, &invalid);
                return Ok(None);
            }
        };
        let plan = plan(&snapshot);
        if plan.has_bug() {
            if let Some(recorder) = &self.recorder {
                recorder.write(key, &snapshot);
            }
            self.report_bug(key, ds, state, &Warning::Bug.to_string());
            return Ok(None);
        }
        let audited = self.defer_status(state, plan);
        let violations = audit(&snapshot, &audited.plan.actions);
        let is_recorded = input.is_always_recorded || !audited.plan.actions.is_empty();
        if let Some(recorder) = self.recorder.as_ref().filter(|_| is_recorded) {
            recorder.write(key, &snapshot);
        }
        self.judge(key, state, audited, &violations, start)
    }

    /// # Errors
    /// When another process may act.
    fn check_may_act(&self) -> Result<(), ExecuteError> {
        match &self.mode {
            Mode::Execute(executor) => executor.check().map_err(|_| ExecuteError::MayNotAct),
            Mode::DryRun(_) | Mode::Compare(_) => Ok(()),
        }
    }

    fn defer_status(&self, state: &PerDaemonSet, mut plan: Plan) -> Audited {
        if state.turns_of == TurnsOf::Driver {
            plan.actions.retain(|action| !is_of_turns(action));
        }
        let status_delay;
        (plan.actions, status_delay) = state.defer_status(plan.actions, self.status_interval);
        Audited { plan, status_delay }
    }

    /// Logs the warnings of a plan, and refuses it if the audit has found a violation.
    fn judge(
        &self,
        key: &Key,
        state: &mut PerDaemonSet,
        audited: Audited,
        violations: &[Violation],
        start: Instant,
    ) -> Result<Option<Audited>, ExecuteError> {
        self.metrics.decide_seconds.observe(start.elapsed().as_secs_f64());
        self.metrics.plans.inc();
        for warning in state.new_messages(audited.plan.warnings.iter().map(ToString::to_string).collect()) {
            tracing::warn!(daemonset = %key, "{warning}");
        }
        if violations.is_empty() {
            return Ok(Some(audited));
        }
        // The audit is written independently of the planner: one of the two is wrong, and to do nothing harms least.
        let violations: Vec<String> = violations.iter().map(Violation::to_string).collect();
        let violations = violations.join("; ");
        tracing::error!(daemonset = %key, violations, "the plan breaks a safety rule and is not executed");
        Err(self.refuse("the plan breaks a safety rule"))
    }

    fn refuse(&self, reason: &str) -> ExecuteError {
        self.metrics.refused_plans.inc();
        ExecuteError::Failed(reason.to_owned())
    }

    /// Reports a DaemonSet for which the planner has met a bug of its own, once. It is left alone until one of its objects changes.
    fn report_bug(&self, key: &Key, ds: &DaemonSet, state: &mut PerDaemonSet, error: &str) {
        self.metrics.plans.inc();
        self.metrics.refused_plans.inc();
        for error in state.new_messages(vec![error.to_owned()]) {
            tracing::error!(daemonset = %key, error, "the DaemonSet is not reconciled");
            if let Mode::Execute(executor) = &self.mode {
                executor.report(ds, EventType::Warning, "InternalError", &error);
            }
        }
    }

    /// Reports a DaemonSet that can't be planned, once: only its author can correct it, and a correction enqueues it again.
    fn report_invalid(&self, key: &Key, ds: &DaemonSet, state: &mut PerDaemonSet, invalid: &InvalidInput) {
        for problem in state.new_messages(vec![invalid.to_string()]) {
            tracing::error!(daemonset = %key, problem, "the DaemonSet is invalid and is not reconciled");
            self.metrics.failures.inc();
            if let Mode::Execute(executor) = &self.mode {
                executor.report_invalid(ds, &problem);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::metrics::Metrics;
    use crate::worker::tests::worker;
    use daemonset::policy::{TurnMode, TurnPolicy};
    use daemonset::{Action, Policy};
    use daemonset_incremental::Change;
    use kube::runtime::watcher::Event;
    use serde_json::{from_value, json};

    fn daemon_set() -> DaemonSet {
        let ds = json!({
            "metadata": {"name": "agent", "namespace": "ns", "uid": "u"},
            "spec": {
                "selector": {"matchLabels": {"app": "agent"}}, "updateStrategy": {"type": "RollingUpdate"},
                "template": {"metadata": {"labels": {"app": "agent"}}},
            },
        });
        from_value(ds).unwrap()
    }

    /// The plan of a tracker that has listed `known`, where the caches show `listed`.
    fn plan(
        worker: &Worker,
        (known, listed): (&PlanInput, &PlanInput),
        policy: &Policy,
        is_due: bool,
    ) -> Plan {
        let (daemon_set, at) = (daemon_set(), ObservedAt::new("2026-01-01T12:00:00Z".parse().unwrap()));
        let mut tracker = Tracker::new("u", policy.clone());
        let _ = tracker.list(known.objects(&daemon_set), at).unwrap();
        tracker.apply(Change::DaemonSet(&daemon_set)).unwrap();
        let shown =
            Shown { caches: &worker.caches, whole_pods: &WholePods::default(), free: &Free::default() };
        let (key, list) = (Key::from(&daemon_set), || listed.objects(&daemon_set));
        worker.plan_from_changes(&key, &mut tracker, shown, list, (at, is_due)).unwrap()
    }

    /// The plans that were listed, compared, and found to differ.
    fn counts(worker: &Worker) -> [u64; 3] {
        let Metrics { listed_plans, verified_plans, differing_plans, .. } = &worker.metrics;
        [listed_plans, verified_plans, differing_plans].map(|count| count.get())
    }

    /// The tracker has missed a change.
    #[test]
    fn a_plan_that_differs_gives_way_to_the_plan_of_all_objects() {
        let node = |name: &str| from_value::<Node>(json!({"metadata": {"name": name}})).unwrap();
        let [known, whole] = [&["a"][..], &["a", "missed"]].map(|names| PlanInput {
            nodes: names.iter().map(|name| Arc::new(node(name))).collect(),
            nodes_version: None,
            free: Free::default(),
            pods: Vec::new(),
            pods_version: None,
            revisions: Vec::new(),
            is_always_recorded: false,
        });
        let worker = worker(Caches::empty().0, Clock::default());
        let created = |is_due: bool| {
            let plan = plan(&worker, (&known, &whole), &Policy::default(), is_due);
            let creates = plan.actions.iter().filter(|action| matches!(action, Action::CreatePod { .. }));
            creates.filter_map(|action| Some(action.node()?.to_string())).collect::<Vec<_>>()
        };
        assert_eq!((created(false), counts(&worker)), (vec!["a".to_owned()], [0; 3]), "it is not compared");
        assert_eq!((created(true), counts(&worker)), (vec!["a".to_owned(), "missed".to_owned()], [1; 3]));
    }

    /// The log has no heartbeats.
    #[test]
    fn a_turn_patches_the_version_of_the_last_heartbeat() {
        let (caches, mut writers) = Caches::empty();
        let mut beat = |version: &str| {
            let node = json!({"metadata": {"name": "a", "uid": "a", "resourceVersion": version}});
            writers.nodes.apply_watcher_event(&Event::Apply(from_value(node).unwrap()));
        };
        let pod = json!({
            "metadata": {"name": "p", "namespace": "ns", "uid": "p", "labels": {"app": "agent", "controller-revision-hash": "old"},
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "u", "controller": true}]},
            "spec": {"nodeName": "a"},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
        });
        writers.pods.apply_watcher_event(&Event::Apply(from_value(pod).unwrap()));
        let policy = Policy::default().turn(TurnMode::Take(TurnPolicy::default()));
        let worker = worker(caches, Clock::default());
        let now = || PlanInput::from_caches(&worker.caches, &Key::from(&daemon_set()));
        beat("1");
        let known = now();
        beat("2");
        for (is_due, verified) in [(false, 0), (true, 1)] {
            let plan = plan(&worker, (&known, &now()), &policy, is_due);
            let version = plan.actions.iter().find_map(|action| match action {
                Action::PatchNode { node, .. } => Some(node.resource_version.as_str()),
                _ => None,
            });
            assert_eq!((version, counts(&worker)), (Some("2"), [0, verified, 0]));
        }
    }
}
