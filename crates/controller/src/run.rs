//! The life of the process, from the command line to its end.

use crate::args::{Args, CommonArgs};
use crate::caches::{CacheWriters, Caches};
use crate::clients::Clients;
use crate::clock::{BootClock, Clock};
use crate::controller::Controller;
use crate::event_recorder::{DRIVER, EventRecorder};
use crate::executor::ActionExecutor;
use crate::health::Health;
use crate::http_server;
use crate::leader_election::{election, release};
use crate::metrics::Metrics;
use crate::other_controller::{OtherController, Reaction};
use crate::output::Output;
use crate::queue::Queue;
use crate::recorder::Recorder;
use crate::response::ActingClient;
use crate::rollout::policy::{Policies, ProcessRole};
use crate::shutdown::{Shutdown, ShutdownReason, ShutdownSignals};
use crate::tasks::Tasks;
use crate::turns::Turns;
use crate::watches::Scope;
use crate::worker::{Mode, Verification, Worker};
use anyhow::{anyhow, bail};
use daemonset::Policy;
use daemonset_executor::lease::{Election, LeaseConfig, RenewDeadline, Standby};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

/// Runs the controller until a signal ends it.
///
/// # Errors
/// When it can't start, or when it loses its lease. A restart begins with fresh caches.
pub async fn run(args: Args, policy: Policy) -> anyhow::Result<()> {
    let seconds = u32::try_from(args.lease_seconds).unwrap_or(u32::MAX);
    let lease = LeaseConfig::new(&args.lease_namespace, &args.lease_name).seconds(seconds);
    let process = Process {
        role: args.role(),
        reaction: args.reaction(),
        lease: (args.leader_elect && !args.dry_run).then_some(lease),
        status_interval: Duration::from_millis(args.status_interval),
        verification: Verification::one_in(args.verify_one_in),
        caches: Caches::empty(),
        metrics: Metrics::default(),
        output: Output::default(),
        args: args.common,
        policy,
    };
    let (metrics, output) = (process.metrics.clone(), process.output.clone());
    let mode = |writes: &ActingClient, tasks: &Tasks| {
        if args.dry_run {
            return Mode::DryRun(output);
        }
        let mut events = EventRecorder::new(writes.clone(), Clock::default(), tasks);
        if args.drive {
            events = events.from_component(DRIVER);
        }
        Mode::Execute(ActionExecutor::new(writes.clone(), events, metrics))
    };
    process.run(mode).await
}

/// A process that watches and plans, whatever becomes of its plans.
pub struct Process {
    /// The flags that each program has.
    pub args: CommonArgs,
    /// The policy that they choose.
    pub policy: Policy,
    /// How it reads the policies of DaemonSets.
    pub role: ProcessRole,
    /// What it does beside another controller.
    pub reaction: Reaction,
    /// The lease that it must hold; `None` where it needs none.
    pub lease: Option<LeaseConfig>,
    /// The least time between two status updates of a DaemonSet.
    pub status_interval: Duration,
    /// Which plans from changes are compared with the plan of all objects.
    pub verification: Verification,
    /// The caches that it fills, and their writers.
    pub caches: (Caches, CacheWriters),
    /// Its metrics.
    pub metrics: Metrics,
    /// Where it writes, until no one reads that any more.
    pub output: Output,
}

impl Process {
    /// Runs until a signal ends it. `mode` says what becomes of the plans, once the process holds its lease.
    ///
    /// # Errors
    /// When it can't start, or when it loses its lease. A restart begins with fresh caches.
    pub async fn run(self, mode: impl FnOnce(&ActingClient, &Tasks) -> Mode) -> anyhow::Result<()> {
        let Process { args, policy, role, lease, caches: (caches, cache_writers), metrics, output, .. } =
            self;
        tracing::info!(policy = %serde_json::to_string(&policy)?, ?role, "starting");
        // Before the lease is: a process that can't begin must not keep others from acting.
        let recorder = args.record.as_deref().map(Recorder::new).transpose()?;
        let deadline = match &lease {
            Some(_) => RenewDeadline::new(BootClock::default()),
            None => RenewDeadline::without_lease(),
        };
        let (clients, connection) = Clients::connect(&deadline).await?;
        let queue = Arc::new(Queue::new(Duration::from_millis(args.rest)));
        let election = lease.map(|lease| election(lease, deadline.clone(), connection.clone()));
        let standby = election.as_ref().map_or_else(Standby::default, Election::standby);
        let tasks = Tasks::default();
        let mut ended = tasks.ended();
        let health = Health { tasks: ended.clone(), deadline, caches: caches.clone(), queue: queue.clone() };
        http_server::serve(args.listen, metrics.clone(), health, standby, &tasks).await?;

        let mut signals = ShutdownSignals::install()?;
        let leadership = match election {
            Some(election) => tokio::select! {
                leadership = election.acquire_on_thread(|| clients.lease.connect()) => Some(leadership?),
                () = signals.received() => return Ok(()),
                reason = ended.wait() => bail!(reason),
            },
            None => None,
        };
        let mode = mode(&clients.writes, &tasks);
        metrics.leader.set(i64::from(matches!(mode, Mode::Execute(_))));
        let watches = connection.watches.clone();
        let mut shutdown = Shutdown { signals, leadership, watches, tasks: ended, output };
        let worker = Worker {
            turns: Turns::new(&caches, &queue),
            caches,
            queue,
            mode,
            policies: Policies::new(policy, role),
            status_interval: self.status_interval,
            verification: self.verification,
            recorder,
            metrics: metrics.clone(),
            connection,
            clock: Clock::default(),
            other_controller: OtherController::new(self.reaction),
            per_daemon_set: Arc::default(),
        };
        let scope = Scope { namespace: args.namespace, selector: args.selector };
        let (controller, reason) = tokio::select! {
            started = Controller::start(worker, cache_writers, &clients.reads, &scope, args.workers, &tasks) => {
                (Some(started?), shutdown.requested().await)
            }
            reason = shutdown.requested() => (None, reason),
        };
        metrics.leader.set(0);
        finish(controller, shutdown, reason).await
    }
}

/// Waits for the calls under way and gives the lease back. After the loss of the lease another process acts: calls under way
/// can't be taken back, and nothing may follow them.
async fn finish(
    controller: Option<Controller>,
    mut shutdown: Shutdown,
    reason: ShutdownReason,
) -> anyhow::Result<()> {
    let failure = match reason {
        ShutdownReason::LeaseLost(reason) => bail!("the lease was lost: {reason}"),
        ShutdownReason::Signal => {
            tracing::info!("shutting down: waiting for calls under way");
            None
        }
        ShutdownReason::OutputClosed => None,
        ShutdownReason::CantWork(reason) => {
            tracing::error!(reason, "this process can't work: it ends, so that another one may try");
            Some(reason)
        }
    };
    if let Some(controller) = controller {
        tokio::select! {
            () = controller.finish() => {}
            reason = shutdown.lease_lost() => bail!("the lease was lost: {reason}"),
        }
    }
    if let Some(leadership) = shutdown.leadership {
        let retry_period = leadership.durations().retry_period();
        release(leadership).await;
        if failure.is_some() {
            // A restart of this process comes after the next attempt of each waiting one.
            sleep(2 * retry_period).await;
        }
    }
    failure.map_or(Ok(()), |reason| Err(anyhow!(reason)))
}
