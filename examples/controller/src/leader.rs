//! One acts, the others wait: a Lease.

use crate::args::Args;
use anyhow::Context;
use kube::Client;
use kube_lease_manager::{LeaseManager, LeaseManagerBuilder};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// A lease that is held, and renewed in the background.
pub struct Leadership {
    state: watch::Receiver<bool>,
    task: JoinHandle<kube_lease_manager::Result<LeaseManager>>,
}

impl Leadership {
    /// Waits until this process holds the lease.
    ///
    /// # Errors
    /// When the lease can be neither read nor made.
    pub async fn acquire(client: Client, args: &Args) -> anyhow::Result<Self> {
        let manager = LeaseManagerBuilder::new(client, &args.lease_name)
            .with_namespace(&args.lease_namespace)
            .with_duration(args.lease_seconds)
            .with_grace((args.lease_seconds / 3).max(1))
            .build()
            .await
            .with_context(|| format!("lease {}/{}", args.lease_namespace, args.lease_name))?;
        tracing::info!(lease = args.lease_name, "waiting for the lease");
        let (state, task) = manager.watch().await;
        let mut leadership = Leadership { state, task };
        leadership.changed_to(true).await;
        tracing::info!(lease = args.lease_name, "this process acts now");
        Ok(leadership)
    }

    /// Waits until the lease is lost.
    pub async fn lost(&mut self) {
        self.changed_to(false).await;
    }

    /// Gives the lease back, so that the next one needs not wait for its end.
    pub async fn release(self) {
        let Leadership { state, task } = self;
        drop(state);
        match task.await {
            Ok(Ok(_)) => tracing::info!("the lease was given back"),
            Ok(Err(error)) => tracing::warn!(%error, "the lease was not given back"),
            Err(error) => tracing::warn!(%error, "the lease was not given back"),
        }
    }

    async fn changed_to(&mut self, held: bool) {
        // The sender is gone when its task has ended: the lease is no longer renewed.
        if self.state.wait_for(|now| *now == held).await.is_err() && held {
            std::future::pending::<()>().await;
        }
    }
}
