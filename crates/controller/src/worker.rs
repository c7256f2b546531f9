//! One DaemonSet, once: snapshot, decision, execution.

use crate::answer::Lost;
use crate::clock::Clock;
use crate::compare::Comparison;
use crate::compare::undone::Undone;
use crate::desk::Desk;
use crate::execute::{Executor, Stop};
use crate::input::{Input, Recorded};
use crate::metrics::Metrics;
use crate::queue::Queue;
use crate::record::Recorder;
use crate::sent::Sent;
use crate::world::{Key, World};
use daemonset::model::DaemonSet;
use daemonset::{Action, ActionOutcome, Observed, Plan, Policy, Snapshot, audit, plan};
use jiff::{SignedDuration, Timestamp};
use kube::api::ListParams;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How long the desk of a DaemonSet that left is kept: longer than what is in flight is believed in.
const KEPT: Duration = Duration::from_secs(600);

/// What is done with a plan.
#[derive(Clone)]
pub enum Doing {
    /// Execute it.
    Execute(Executor),
    /// Print it, and change nothing.
    Print,
    /// Put it beside what another controller does, and change nothing.
    Compare(Comparison),
}

/// Reconciles DaemonSets.
#[derive(Clone)]
pub struct Worker {
    /// The caches.
    pub world: World,
    /// Whom to reconcile.
    pub queue: Arc<Queue<Key>>,
    /// What to do.
    pub doing: Doing,
    /// The choices that the library leaves to its caller.
    pub policy: Policy,
    /// At most one status in this time, so that a rollout of many nodes does not write one for each pod.
    pub status_interval: Duration,
    /// Writes recordings.
    pub recorder: Option<Recorder>,
    /// Counts.
    pub metrics: Metrics,
    /// What time it is.
    pub clock: Clock,
    /// Kept between two reconciles, by DaemonSet.
    pub desks: Arc<Mutex<HashMap<Key, Desk>>>,
}

impl Worker {
    /// Works until the queue is closed.
    pub async fn run(self) {
        while let Some(key) = self.queue.next().await {
            let begun = Instant::now();
            self.reconcile(&key).await;
            self.metrics.reconcile_seconds.observe(begun.elapsed().as_secs_f64());
            self.queue.done(&key);
        }
    }

    async fn reconcile(&self, key: &Key) {
        let Some(ds) = self.world.daemon_set(key) else { return self.forget(key) };
        let mut desk =
            self.desks.lock().unwrap_or_else(PoisonError::into_inner).remove(key).unwrap_or_default();
        if desk.uid != ds.metadata.uid {
            desk = Desk::of(ds.metadata.uid.clone());
        }
        desk.left = None;
        let ended = self.attempt(key, &ds, &mut desk).await;
        if let Some(at) = desk.sent.looks_again() {
            self.queue.add_at(key.clone(), at);
        }
        self.desks.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone(), desk);
        let Err(stop) = ended else { return self.queue.succeeded(key) };
        self.metrics.failures.inc();
        match stop {
            Stop::Later(wait) => {
                tracing::info!(daemonset = %key, seconds = wait.as_secs(), "the API server asks to wait");
                self.queue.hold(key.clone(), wait);
            }
            Stop::Outdated(message) => {
                tracing::debug!(daemonset = %key, message, "the snapshot was outdated");
                self.queue.retry(key.clone());
            }
            Stop::NamespaceTerminating => tracing::debug!(daemonset = %key, "the namespace is being deleted"),
            Stop::Failed(error) | Stop::Lost(Lost { error, .. }) => {
                tracing::warn!(daemonset = %key, error, "the plan failed");
                self.queue.retry(key.clone());
            }
        }
    }

    async fn attempt(&self, key: &Key, ds: &DaemonSet, desk: &mut Desk) -> Result<(), Stop> {
        if let Doing::Compare(comparison) = &self.doing {
            comparison.look(ds, |undone| self.compare(key, ds, desk, undone));
            if comparison.take_forgotten(ds) {
                desk.sent = Sent::default();
            }
            return Ok(());
        }
        if let Doing::Execute(executor) = &self.doing {
            desk.sent.settle(executor, ds, &self.world, self.clock.now()).await?;
        }
        let Some(plan) = self.decide(key, ds, desk, Input::seen(&self.world, key))? else { return Ok(()) };
        let plan = match &self.doing {
            Doing::Execute(executor) if plan.actions.iter().any(is_new_revision) => {
                // A number is given once. The watch of revisions may be behind the one that has shown the template.
                let stored = Input {
                    revisions: executor.stored(&key.namespace, &ListParams::default()).await?,
                    ..Input::seen(&self.world, key)
                };
                let Some(plan) = self.decide(key, ds, desk, stored)? else { return Ok(()) };
                plan
            }
            _ => plan,
        };
        let again = look_again(&plan);
        match &self.doing {
            Doing::Print => desk.print(key, &plan),
            Doing::Compare(_) => {}
            Doing::Execute(executor) => {
                let ended = self.execute(executor, key, ds, plan.actions, desk).await;
                if ended.is_err() {
                    // A plan that failed is made anew, later each time: not at once, as if it could go on. Other nodes do
                    // not wait for that.
                    self.wake(key, again.filter(|at| *at > self.clock.now()));
                    return ended;
                }
            }
        }
        self.wake(key, again);
        Ok(())
    }

    async fn execute(
        &self,
        executor: &Executor,
        key: &Key,
        ds: &DaemonSet,
        actions: Vec<Action>,
        desk: &mut Desk,
    ) -> Result<(), Stop> {
        let actions = desk.sent.turns.order(actions);
        let (actions, held) = desk.paced(actions, self.status_interval);
        let ended = executor.execute(ds, &actions, &mut desk.sent).await;
        // Also where the plan failed: how the other pods are does not wait until it is tried again.
        if let Some(rest) = held {
            self.queue.add_after(key.clone(), rest);
        }
        if let Some(wait) = desk.sent.turns.take_next() {
            self.queue.add_after(key.clone(), wait);
        }
        let was_sent =
            matches!(ended, Ok(()) | Err(Stop::NamespaceTerminating | Stop::Failed(_) | Stop::Lost(_)));
        if was_sent {
            desk.has_written(&actions);
        }
        ended
    }

    /// The plan for the cluster with this undone. The failures that they act on are remembered as if they were acted on
    /// here, so that both back off alike.
    fn compare(&self, key: &Key, ds: &DaemonSet, desk: &mut Desk, undone: &Undone) -> Option<Plan> {
        let Input { pods, revisions, .. } = Input::seen(&self.world, key);
        let recorded = if undone.is_empty() { Recorded::WhereItActs } else { Recorded::Always };
        let input = Input { pods: undone.pods(pods), revisions: undone.revisions(revisions), recorded };
        let plan = self.decide(key, ds, desk, input).ok()??;
        if undone.is_empty() {
            self.wake(key, look_again(&plan));
        } else {
            for action in plan.actions.iter().filter(|action| undone.has_failure(action)) {
                desk.sent.record(action, &ActionOutcome::Done, self.clock.now());
            }
        }
        Some(plan)
    }

    /// Comes back when time alone changes the answer.
    fn wake(&self, key: &Key, at: Option<Timestamp>) {
        if let Some(at) = at {
            self.queue.add_after(key.clone(), self.until(at));
        }
    }

    /// The plan for this input; none where the input is not usable, which is told.
    fn decide(&self, key: &Key, ds: &DaemonSet, desk: &mut Desk, input: Input) -> Result<Option<Plan>, Stop> {
        let begun = Instant::now();
        let nodes = self.world.nodes.state();
        let observed =
            Observed { daemon_set: ds, nodes: &nodes, pods: &input.pods, revisions: &input.revisions };
        let snapshot =
            Snapshot::new(observed, self.clock.now()).memory(&desk.sent.memory).policy(&self.policy).check();
        let snapshot = match snapshot {
            Ok(snapshot) => snapshot,
            Err(invalid) => {
                // Nobody but its author can mend it; it comes back when it is changed.
                for problem in desk.news(vec![invalid.to_string()]) {
                    tracing::error!(daemonset = %key, problem, "the input is not usable");
                    self.metrics.failures.inc();
                    if let Doing::Execute(executor) = &self.doing {
                        executor.refuse(ds, &problem);
                    }
                }
                return Ok(None);
            }
        };
        desk.sent.memory.observe(&snapshot);
        let plan = plan(&snapshot);
        for warning in desk.news(plan.warnings.iter().map(|warning| format!("{warning:?}")).collect()) {
            tracing::warn!(daemonset = %key, warning);
        }
        let violations = audit(&snapshot, &plan.actions);
        self.metrics.decide_seconds.observe(begun.elapsed().as_secs_f64());
        let is_recorded = input.recorded == Recorded::Always || !plan.actions.is_empty();
        if let Some(recorder) = self.recorder.as_ref().filter(|_| is_recorded) {
            recorder.write(key, &snapshot);
        }
        if violations.is_empty() {
            return Ok(Some(plan));
        }
        // It shares no rule with the planner: one of the two is wrong, and doing nothing does the least harm.
        tracing::error!(daemonset = %key, ?violations, "the plan breaks a rule and is not executed");
        Err(Stop::Failed("the plan breaks a rule".to_owned()))
    }

    /// From now to an instant; nothing when it has passed.
    fn until(&self, at: Timestamp) -> Duration {
        let left = at.duration_since(self.clock.now());
        // Timers round down to a millisecond: an instant before its time, nothing would have changed yet.
        Duration::try_from(left.saturating_add(SignedDuration::from_millis(2))).unwrap_or_default()
    }

    /// A DaemonSet may be away for a moment only, as when its label is mistyped: what is in flight for it is kept as long as
    /// it may matter.
    fn forget(&self, key: &Key) {
        self.queue.forget(key);
        let mut desks = self.desks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(desk) = desks.get_mut(key) {
            desk.left.get_or_insert_with(Instant::now);
        }
        let is_over = |desk: &Desk| desk.left.is_some_and(|left| left.elapsed() > KEPT);
        for (_, desk) in desks.extract_if(|_, desk| is_over(desk)) {
            if let Doing::Execute(executor) = &self.doing {
                executor.forget(&desk.uid);
            }
        }
    }
}

fn is_new_revision(action: &Action) -> bool {
    matches!(action, Action::CreateRevision { .. })
}

/// When time alone may have changed the answer.
fn look_again(plan: &Plan) -> Option<Timestamp> {
    plan.actions.iter().find_map(|action| match action {
        Action::Requeue { at, .. } => Some(*at),
        _ => None,
    })
}
