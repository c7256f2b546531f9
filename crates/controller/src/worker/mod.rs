//! The workers: they take DaemonSets from the queue, reconcile them, and put them back after a failure.

mod beside;
mod plan;
mod steer;
mod sync;
mod turns;
mod verify;

pub use verify::Verification;

use crate::caches::{Caches, Key};
use crate::clock::Clock;
use crate::comparison::Comparison;
use crate::connection::Connection;
use crate::executor::{ActionExecutor, ExecuteError};
use crate::metrics::Metrics;
use crate::other_controller::OtherController;
use crate::output::Output;
use crate::per_daemon_set::PerDaemonSet;
use crate::queue::Queue;
use crate::recorder::Recorder;
use crate::rollout::policy::Policies;
use crate::turns::Turns;
use crate::watches::RETRY_WHILE_STARTING;
use daemonset_executor::UnknownOutcome;
use daemonset_executor::internal::LONGEST_IN_OUTAGE;
use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use steer::IsPlanned;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

/// How long the state of a DaemonSet that left the cache is kept: longer than the library's memory honours calls in flight.
const ABSENT_STATE_TTL: Duration = Duration::from_secs(600);

/// A reconcile that takes longer waits for the API server: it needs a connection, but no worker.
const SLOW_AFTER: Duration = Duration::from_secs(1);
/// The most slow reconciles beside the workers, since each may have sixteen connections. Further ones keep their worker.
const MAX_SLOW: usize = 16;

/// The use of a plan.
#[derive(Clone)]
#[expect(clippy::large_enum_variant, reason = "a process has one")]
pub enum Mode {
    /// Execute it.
    Execute(ActionExecutor),
    /// Print it, and change nothing.
    DryRun(Output),
    /// Compare it with the actions of another controller, and change nothing.
    Compare(Arc<dyn Comparison>),
}

/// Reconciles DaemonSets; clones share their state.
#[derive(Clone)]
pub struct Worker {
    /// The caches.
    pub caches: Caches,
    /// The DaemonSets that wait for a reconcile.
    pub queue: Arc<Queue<Key>>,
    /// The use of each plan.
    pub mode: Mode,
    /// The choices that the library leaves to its caller, for each DaemonSet.
    pub policies: Policies,
    /// The least time between two status updates of a DaemonSet, so that a large rollout does not write one for each pod.
    pub status_interval: Duration,
    /// Which plans from changes are compared with the plan of all objects.
    pub verification: Verification,
    /// Writes recordings, if asked to.
    pub recorder: Option<Recorder>,
    /// Metrics.
    pub metrics: Metrics,
    /// The connection to the API server.
    pub connection: Connection,
    /// The wall clock.
    pub clock: Clock,
    /// The signs of another DaemonSet controller.
    pub other_controller: OtherController,
    /// Permissions, drains and the like.
    pub turns: Turns,
    /// The state between two reconciles, by DaemonSet.
    pub per_daemon_set: Arc<Mutex<HashMap<Key, PerDaemonSet>>>,
}

impl Worker {
    /// Works until the queue is closed; reconciles so many DaemonSets at the same time, beside those that are slow.
    pub async fn run(self, workers: u16) {
        let worker = Arc::new(self);
        let workers = Arc::new(Semaphore::new(usize::from(workers)));
        let slow = Arc::new(Semaphore::new(MAX_SLOW));
        let mut under_way = JoinSet::new();
        let panic = loop {
            let next = async {
                let free = Arc::clone(&workers).acquire_owned().await.ok()?;
                Some((worker.queue.next().await?, free))
            };
            tokio::select! {
                Some(ended) = under_way.join_next() => match ended {
                    Ok(()) => {}
                    Err(error) => break error.try_into_panic().ok(),
                },
                next = next => {
                    let Some((key, free)) = next else { break None };
                    under_way.spawn(Arc::clone(&worker).work_on(key, free, Arc::clone(&slow)));
                }
            }
        };
        // The calls under way have outcomes, also after the panic of another reconcile.
        if let Mode::Execute(executor) = &worker.mode {
            executor.close();
        }
        while under_way.join_next().await.is_some() {}
        if let Some(panic) = panic {
            std::panic::resume_unwind(panic);
        }
    }

    /// Reconciles a DaemonSet. One that is slow, as when each of its creates waits for a webhook, gives its worker to the next.
    async fn work_on(self: Arc<Self>, key: Key, worker: OwnedSemaphorePermit, slow: Arc<Semaphore>) {
        let start = Instant::now();
        {
            let mut reconcile = pin!(self.reconcile(&key));
            let is_slow = async {
                sleep(SLOW_AFTER).await;
                slow.acquire().await
            };
            tokio::select! {
                () = &mut reconcile => {}
                _slow = is_slow => {
                    drop(worker);
                    reconcile.await;
                }
            }
        }
        self.metrics.reconcile_seconds.observe(start.elapsed().as_secs_f64());
        self.queue.done(&key);
    }

    async fn reconcile(&self, key: &Key) {
        let Some(ds) = self.caches.daemon_set(key) else { return self.left_cache(key) };
        // The queue gives a key to one worker at a time: no other worker needs the state meanwhile.
        let before = self.states().remove(key);
        if let Some(gone) = before.as_ref().filter(|state| *state.uid() != ds.metadata.uid) {
            self.forget_events(gone);
        }
        let mut state = before
            .filter(|state| *state.uid() == ds.metadata.uid)
            .unwrap_or_else(|| PerDaemonSet::new(ds.metadata.uid.clone(), self.policies.of_file().clone()));
        state.absent_since = None;
        let (result, settles_at) = match self.set_policy(key, &ds, &mut state) {
            IsPlanned::Plan => match self.stops_beside_another(key, &ds) {
                None => (self.sync(key, &ds, &mut state).await, state.in_flight.next_settle()),
                until => {
                    self.turns.stop(key);
                    (Ok(()), until)
                }
            },
            // Outcomes that are still unknown are read when it is planned again.
            IsPlanned::LeaveAlone => (Ok(()), None),
        };
        if let Some(at) = settles_at {
            self.queue.add_at(key.clone(), at);
        }
        match result {
            Ok(()) => self.queue.succeeded(key),
            Err(error) => self.requeue_after(key, &mut state, error),
        }
        self.states().insert(key.clone(), state);
    }

    fn requeue_after(&self, key: &Key, state: &mut PerDaemonSet, error: ExecuteError) {
        self.metrics.failures.inc();
        match error {
            ExecuteError::RetryAfter(delay) => {
                tracing::info!(daemonset = %key, seconds = delay.as_secs(), "the API server asks to retry later");
                self.queue.hold(key.clone(), delay);
            }
            ExecuteError::Outdated(message) => {
                tracing::debug!(daemonset = %key, message, "the snapshot was outdated");
                self.queue.retry(key.clone());
            }
            // The process ends soon, unless a renewal under way succeeds.
            ExecuteError::MayNotAct => self.queue.retry(key.clone()),
            // No retry: nothing can be created in the namespace any more.
            ExecuteError::NamespaceTerminating => {
                tracing::debug!(daemonset = %key, "the namespace is being deleted");
            }
            // The outage is in the log already, once for all DaemonSets.
            ExecuteError::Unreachable(error) => {
                tracing::debug!(daemonset = %key, error, "the plan failed: the API server is unreachable");
                self.queue.retry_within(key.clone(), LONGEST_IN_OUTAGE);
            }
            ExecuteError::Forbidden(refusal) if self.connection.may_be_starting() => {
                tracing::debug!(daemonset = %key, error = %refusal, "the plan failed while the API server starts");
                self.queue.retry_after(key.clone(), RETRY_WHILE_STARTING);
            }
            ExecuteError::Refused(refusal) | ExecuteError::Forbidden(refusal) => {
                if state.is_new_refusal(&refusal.text) {
                    tracing::warn!(daemonset = %key, error = %refusal, "the API server refuses a call, which is tried again with back-off");
                } else {
                    tracing::debug!(daemonset = %key, error = %refusal, "the API server refuses a call again");
                }
                self.queue.retry(key.clone());
            }
            ExecuteError::Failed(error) => {
                tracing::warn!(daemonset = %key, error, "the plan failed");
                self.queue.retry(key.clone());
            }
            ExecuteError::Unknown(UnknownOutcome { error, settles_after }) => {
                let seconds = settles_after.as_secs();
                tracing::warn!(daemonset = %key, error, seconds, "a call has no known outcome: storage is read later");
                self.queue.retry(key.clone());
            }
        }
    }

    /// A DaemonSet may leave the cache for a moment only, as when its label is mistyped: its calls in flight are kept for as
    /// long as they may matter.
    fn left_cache(&self, key: &Key) {
        self.queue.forget(key);
        self.other_controller.forget(key);
        if let Some(until) = self.pause() {
            // Nothing else may tell of its end.
            self.queue.add_at(key.clone(), until);
        }
        self.metrics.forget(key);
        self.turns.stop(key);
        self.turns.look_for_leftovers();
        let mut states = self.states();
        if let Some(state) = states.get_mut(key) {
            state.absent_since.get_or_insert_with(Instant::now);
            state.in_flight.driver.forget_objects();
        }
        let is_expired =
            |state: &PerDaemonSet| state.absent_since.is_some_and(|since| since.elapsed() > ABSENT_STATE_TTL);
        for (_, state) in states.extract_if(|_, state| is_expired(state)) {
            self.forget_events(&state);
        }
    }

    /// Drops the events of a DaemonSet that does not come back.
    fn forget_events(&self, state: &PerDaemonSet) {
        if let Mode::Execute(executor) = &self.mode {
            executor.forget(state.uid());
        }
    }

    fn states(&self) -> MutexGuard<'_, HashMap<Key, PerDaemonSet>> {
        self.per_daemon_set.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event_recorder::EventRecorder;
    use crate::other_controller::Reaction;
    use crate::response::ActingClient;
    use crate::rollout::policy::ProcessRole;
    use crate::tasks::Tasks;
    use daemonset::Policy;
    use daemonset::model::{DaemonSet, Uid};
    use daemonset_executor::lease::RenewDeadline;
    use kube::client::Body;
    use kube::runtime::watcher::Event;
    use tokio::time::advance;

    pub(super) fn worker(caches: Caches, clock: Clock) -> Worker {
        let queue = Arc::new(Queue::new(Duration::ZERO));
        Worker {
            turns: Turns::new(&caches, &queue),
            caches,
            queue,
            mode: Mode::DryRun(Output::default()),
            policies: Policies::new(Policy::default(), ProcessRole::Controller),
            status_interval: Duration::ZERO,
            verification: Verification::one_in(1),
            recorder: None,
            metrics: Metrics::default(),
            connection: Connection::new("https://server/", Clock::default()),
            clock,
            other_controller: OtherController::new(Reaction::StopActing),
            per_daemon_set: Arc::default(),
        }
    }

    #[tokio::test]
    async fn the_panic_of_a_reconcile_ends_the_workers() {
        let (caches, mut writers) = Caches::empty();
        let mut ds = DaemonSet::default();
        ds.metadata.name = "agent".to_owned();
        writers.daemon_sets.apply_watcher_event(&Event::Apply(ds.clone()));
        let worker = worker(caches, Clock::new(|| panic!("no time")));
        worker.queue.add(Key::from(&ds));
        let tasks = Tasks::default();
        tasks.spawn("workers", worker.run(2));
        assert_eq!(tasks.ended().wait().await, "the task \"workers\" panicked: no time");
    }

    #[tokio::test(start_paused = true)]
    async fn a_daemon_set_that_is_gone_is_forgotten() {
        let worker = worker(Caches::empty().0, Clock::default());
        let before = DaemonSet::default();
        let mut after = before.clone();
        after.status.observed_generation = 1;
        let gone = Key::from(&after);
        let other = Key { name: "other".to_owned(), ..gone.clone() };
        let state = PerDaemonSet::new(Uid::default(), Policy::default());
        worker.states().insert(gone.clone(), state);
        worker.queue.retry(gone.clone());
        advance(Duration::from_secs(600)).await;
        worker.other_controller.observe(&before, &after);

        worker.reconcile(&gone).await;
        assert_eq!(worker.other_controller.take_unreported(&gone), None);
        let pause = Duration::from_secs(60);
        advance(pause).await;
        worker.reconcile(&gone).await;
        assert!(worker.queue.is_empty());
        advance(ABSENT_STATE_TTL - pause).await;
        worker.reconcile(&other).await;
        assert_eq!(worker.states().len(), 1, "its calls in flight may still matter");
        advance(Duration::from_secs(1)).await;
        worker.reconcile(&other).await;
        assert!(worker.states().is_empty());
    }

    /// A worker that executes, and its events.
    fn executing(caches: Caches) -> (Worker, EventRecorder) {
        let (service, _server) = tower_test::mock::pair::<http::Request<Body>, http::Response<Body>>();
        let client = ActingClient::new(kube::Client::new(service, "ns"), RenewDeadline::without_lease());
        let events = EventRecorder::new(client.clone(), Clock::default(), &Tasks::default());
        let executor = ActionExecutor::new(client, events.clone(), Metrics::default());
        (Worker { mode: Mode::Execute(executor), ..worker(caches, Clock::default()) }, events)
    }

    #[tokio::test(start_paused = true)]
    async fn the_events_of_a_daemon_set_are_forgotten_with_it() {
        let (worker, events) = executing(Caches::empty().0);
        let ds = DaemonSet::default();
        let gone = Key::from(&ds);
        worker.states().insert(gone.clone(), PerDaemonSet::new(Uid::default(), Policy::default()));
        events.record(&ds, daemonset::EventType::Normal, "SuccessfulCreate", "Created pod: agent-x");

        worker.reconcile(&gone).await;
        assert!(!events.is_empty(), "it may come back");
        advance(ABSENT_STATE_TTL + Duration::from_secs(1)).await;
        worker.reconcile(&Key { name: "other".to_owned(), ..gone }).await;
        assert!(events.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn the_events_of_a_daemon_set_are_forgotten_when_another_has_its_name() {
        let (caches, mut writers) = Caches::empty();
        let (worker, events) = executing(caches);
        let gone = DaemonSet::default();
        let key = Key::from(&gone);
        worker.states().insert(key.clone(), PerDaemonSet::new(Uid::default(), Policy::default()));
        events.record(&gone, daemonset::EventType::Normal, "SuccessfulCreate", "Created pod: agent-x");
        let mut again = gone;
        again.metadata.uid = "again".into();
        // It asks nothing of a driver.
        let policies = Policies::new(Policy::default(), ProcessRole::Driver);
        let worker = Worker { policies, ..worker };
        writers.daemon_sets.apply_watcher_event(&Event::Apply(again));

        worker.reconcile(&key).await;
        assert_eq!(worker.states()[&key].uid().as_str(), "again");
        assert!(events.is_empty());
    }
}
