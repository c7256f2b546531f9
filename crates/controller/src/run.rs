//! The life of the process, from the command line to its end.

use crate::args::Args;
use crate::caches::{Caches, Key};
use crate::clients::Clients;
use crate::clock::{BootClock, Clock};
use crate::compare::Comparison;
use crate::compare::daemon_set::Timeouts;
use crate::connection::Connection;
use crate::controller::Controller;
use crate::event_recorder::{DRIVER, EventRecorder};
use crate::executor::Executor;
use crate::health::Health;
use crate::http_server;
use crate::leader_election::{election, release};
use crate::metrics::Metrics;
use crate::other_controller::OtherController;
use crate::output::Output;
use crate::queue::Queue;
use crate::recorder::Recorder;
use crate::response::ActingClient;
use crate::rollout::policy::Policies;
use crate::shutdown::{Shutdown, ShutdownReason, ShutdownSignals};
use crate::tasks::Tasks;
use crate::turns::Turns;
use crate::watches::Scope;
use crate::worker::{Mode, Verification, Worker};
use anyhow::{anyhow, bail};
use daemonset::Policy;
use daemonset_executor::lease::RenewDeadline;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

/// Runs the controller until a signal ends it.
///
/// # Errors
/// When it can't start, or when it loses its lease. A restart begins with fresh caches.
pub async fn run(args: Args, policy: Policy) -> anyhow::Result<()> {
    tracing::info!(policy = %serde_json::to_string(&policy)?, role = ?args.role(), "starting");
    // Before the lease is: a process that can't begin must not keep others from acting.
    let recorder = args.record.as_deref().map(Recorder::new).transpose()?;
    let needs_lease = args.leader_elect && args.executes_plans();
    let deadline = match needs_lease {
        true => RenewDeadline::new(BootClock::default()),
        false => RenewDeadline::without_lease(),
    };
    let (clients, connection) = Clients::connect(&deadline).await?;
    let (metrics, output) = (Metrics::default(), Output::default());
    let comparison = args.compare.then(|| Comparison::new(timeouts(&args), metrics.clone(), output.clone()));
    let (caches, cache_writers) = Caches::empty();
    let queue = Arc::new(Queue::new(Duration::from_millis(args.rest)));
    let election = election(&args, deadline.clone(), connection.clone());
    let (standby, tasks) = (election.standby(), Tasks::default());
    let mut ended = tasks.ended();
    let health = Health {
        tasks: ended.clone(),
        deadline: deadline.clone(),
        caches: caches.clone(),
        queue: queue.clone(),
    };
    http_server::serve(args.listen, metrics.clone(), health, standby, &tasks).await?;

    let mut signals = ShutdownSignals::install()?;
    let leadership = match needs_lease {
        true => tokio::select! {
            leadership = election.acquire_on_thread(|| clients.lease.connect()) => Some(leadership?),
            () = signals.received() => return Ok(()),
            reason = ended.wait() => bail!(reason),
        },
        false => None,
    };
    metrics.leader.set(i64::from(args.executes_plans()));
    let mode = mode(&args, comparison.as_ref(), &clients.writes, (&metrics, output.clone()), &tasks);
    let watches = connection.watches.clone();
    let mut shutdown = Shutdown { signals, leadership, watches, tasks: ended, output };
    let worker = worker((&args, policy), (&caches, queue), (mode, recorder), (&metrics, &connection));
    let scope = Scope { namespace: args.namespace.clone(), selector: args.selector.clone() };
    let (controller, reason) = tokio::select! {
        started = Controller::start(worker, cache_writers, &clients.reads, &scope, args.workers, &tasks) => {
            let controller = started?;
            if let Some(comparison) = &comparison {
                tasks.spawn("comparison", comparison.clone().run(caches.clone()));
            }
            (Some(controller), shutdown.requested().await)
        }
        reason = shutdown.requested() => (None, reason),
    };

    metrics.leader.set(0);
    finish(controller, shutdown, reason).await?;
    match comparison.map(|comparison| comparison.finish(&caches)) {
        Some(differences @ 1..) if args.fail_on_difference => bail!("{differences} differences"),
        Some(_) | None => Ok(()),
    }
}

fn timeouts(args: &Args) -> Timeouts {
    Timeouts {
        window: Duration::from_secs(args.window),
        grace: Duration::from_secs(args.grace),
        quiet: Duration::from_secs(args.quiet),
    }
}

fn mode(
    args: &Args,
    comparison: Option<&Comparison>,
    writes: &ActingClient,
    (metrics, output): (&Metrics, Output),
    tasks: &Tasks,
) -> Mode {
    match comparison {
        Some(comparison) => Mode::Compare(comparison.clone()),
        None if args.dry_run => Mode::DryRun(output),
        None => {
            let mut events = EventRecorder::new(writes.clone(), Clock::default(), tasks);
            if args.drive {
                events = events.from_component(DRIVER);
            }
            Mode::Execute(Executor::new(writes.clone(), events, metrics.clone()))
        }
    }
}

fn worker(
    (args, policy): (&Args, Policy),
    (caches, queue): (&Caches, Arc<Queue<Key>>),
    (mode, recorder): (Mode, Option<Recorder>),
    (metrics, connection): (&Metrics, &Connection),
) -> Worker {
    Worker {
        turns: Turns::new(caches, &queue),
        caches: caches.clone(),
        queue,
        mode,
        policies: Policies::new(policy, args.role()),
        status_interval: Duration::from_millis(args.status_interval),
        verification: Verification::one_in(args.verify_one_in),
        recorder,
        metrics: metrics.clone(),
        connection: connection.clone(),
        clock: Clock::default(),
        other_controller: OtherController::new(args.reaction()),
        per_daemon_set: Arc::default(),
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
