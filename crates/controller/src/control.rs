//! A controller at work: caches that are filled, and workers.

use crate::worker::Worker;
use crate::world::{Scope, Writers};
use kube::Client;
use tokio::task::JoinSet;

/// A controller at work, until it is [finished](Controller::finish).
pub struct Controller {
    worker: Worker,
    workers: JoinSet<()>,
}

impl Controller {
    /// Watches, and begins to work once the caches are filled.
    ///
    /// # Errors
    /// When a watch has ended, which it never does by itself.
    pub async fn start(
        worker: Worker,
        writers: Writers,
        reads: &Client,
        scope: &Scope,
        workers: u16,
    ) -> anyhow::Result<Self> {
        let world = &worker.world;
        world.watch(writers, reads, scope, &worker.queue);
        world.filled().await?;
        tracing::info!(
            daemonsets = world.daemon_sets.len(),
            pods = world.pods.len(),
            nodes = world.nodes.len(),
            "the caches are filled"
        );
        let mut begun = JoinSet::new();
        for _ in 0..workers {
            begun.spawn(worker.clone().run());
        }
        Ok(Controller { worker, workers: begun })
    }

    /// Begins nothing more, and waits for what is under way.
    pub async fn finish(mut self) {
        self.worker.queue.close();
        while self.workers.join_next().await.is_some() {}
    }
}
