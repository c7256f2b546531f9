//! The running controller: watches that fill the caches, and workers.

use crate::caches::CacheWriters;
use crate::event_mapper::EventMapper;
use crate::watches::{Scope, Watches};
use crate::worker::{Mode, Worker};
use kube::Client;
use tokio::task::JoinSet;

/// The running controller, until it is [finished](Controller::finish).
pub struct Controller {
    worker: Worker,
    workers: JoinSet<()>,
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
    ) -> anyhow::Result<Self> {
        let caches = &worker.caches;
        let comparison = match &worker.mode {
            Mode::Compare(comparison) => Some(comparison.clone()),
            Mode::Execute(_) | Mode::DryRun => None,
        };
        let mapper = EventMapper::new(caches.clone(), worker.queue.clone(), worker.policies.clone());
        Watches::new(mapper, comparison, worker.connection.clone()).start(writers, reads, scope);
        caches.wait_until_filled().await?;
        tracing::info!(
            daemonsets = caches.daemon_sets.len(),
            pods = caches.pods.len(),
            nodes = caches.nodes.len(),
            "the caches are filled"
        );
        let mut running = JoinSet::new();
        for _ in 0..workers {
            running.spawn(worker.clone().run());
        }
        Ok(Controller { worker, workers: running })
    }

    /// Starts no further reconcile, and waits for those under way.
    pub async fn finish(mut self) {
        self.worker.queue.close();
        while self.workers.join_next().await.is_some() {}
    }
}
