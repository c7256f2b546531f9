//! The running controller: watches that fill the caches, and workers.

use crate::caches::{CacheWriters, Key};
use crate::event_mapper::EventMapper;
use crate::queue::Queue;
use crate::tasks::Tasks;
use crate::watches::{Scope, Watches};
use crate::worker::{Mode, Worker};
use kube::Client;
use std::sync::Arc;
use tokio::sync::oneshot;

/// The running controller, until it is [finished](Controller::finish).
pub struct Controller {
    queue: Arc<Queue<Key>>,
    mode: Mode,
    /// Responds once the workers have ended.
    finished: oneshot::Receiver<()>,
}

impl Controller {
    /// Starts the watches, and the workers once all caches are filled.
    ///
    /// # Errors
    /// When a watch has ended, which it never does by itself.
    pub async fn start(
        worker: Worker,
        writers: CacheWriters,
        reads: &Client,
        scope: &Scope,
        workers: u16,
        tasks: &Tasks,
    ) -> anyhow::Result<Self> {
        let caches = &worker.caches;
        let comparison = match &worker.mode {
            Mode::Compare(comparison) => Some(comparison.clone()),
            Mode::Execute(_) | Mode::DryRun(_) => None,
        };
        caches.wants.set_policy_of_file(worker.policies.of_file());
        worker.turns.connect(reads, tasks);
        let (queue, policies) = (worker.queue.clone(), worker.policies.clone());
        let mapper = EventMapper::new(caches.clone(), queue, policies, worker.other_controller.clone());
        Watches::new(mapper, comparison, worker.connection.clone()).start(writers, reads, scope, tasks);
        caches.wait_until_filled().await?;
        tracing::info!(
            daemonsets = caches.daemon_sets.len(),
            pods = caches.pods.len(),
            nodes = caches.nodes.len(),
            "the caches are filled"
        );
        if let Mode::Execute(executor) = &worker.mode {
            let Worker { turns, policies, clock, other_controller, .. } = &worker;
            turns.act(executor, (caches, policies), (reads, scope), (clock, other_controller), tasks);
        }
        let (queue, mode) = (worker.queue.clone(), worker.mode.clone());
        let (all_ended, finished) = oneshot::channel();
        tasks.spawn("workers", async move {
            worker.run(workers).await;
            let _ = all_ended.send(());
        });
        Ok(Controller { queue, mode, finished })
    }

    /// Starts no further reconcile and sends no further call; waits for the calls under way, and records their outcomes.
    pub async fn finish(self) {
        self.queue.close();
        if let Mode::Execute(executor) = &self.mode {
            executor.close();
        }
        // An error after a panic of the workers: no call is under way any more.
        let _ = self.finished.await;
    }
}
