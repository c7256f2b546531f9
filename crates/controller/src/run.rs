//! From the command line to the end of the process.

use crate::args::Args;
use crate::clock::Clock;
use crate::compare::Comparison;
use crate::compare::ledger::Patience;
use crate::control::Controller;
use crate::events::Events;
use crate::execute::Executor;
use crate::leader::{Leadership, Standby};
use crate::lease::Lock;
use crate::metrics::Metrics;
use crate::queue::Queue;
use crate::record::Recorder;
use crate::web;
use crate::worker::{Doing, Worker};
use crate::world::{Key, Scope, World};
use anyhow::{Context, bail};
use daemonset::Policy;
use kube::{Client, Config};
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// A watch is silent for 290 s at most, and given up after 295.
const LONGEST_SILENCE: Duration = Duration::from_secs(300);

/// Runs the controller until it is asked to end.
///
/// # Errors
/// When it can't start, or loses its lease: whoever starts it again begins with fresh caches.
pub async fn run(args: Args) -> anyhow::Result<()> {
    let (reads, writes) = clients().await?;
    let metrics = Metrics::default();
    let comparison = args.compare.then(|| Comparison::new(patience(&args), metrics.clone()));
    let (mut world, writers) = World::empty();
    if let Some(comparison) = &comparison {
        world.compared_by(comparison.clone());
    }
    let queue = Arc::new(Queue::new(Duration::from_millis(args.rest)));
    let standby = Standby::default();
    web::serve(args.listen, metrics.clone(), (world.clone(), standby.clone()), queue.clone()).await?;
    let acts = !args.dry_run && !args.compare;
    let mut asked = signals()?;
    let lock = Lock::new(writes.clone(), Clock::default(), &args);
    let mut leadership = match args.leader_elect && acts {
        true => tokio::select! {
            leadership = Leadership::acquire(lock, &standby) => Some(leadership),
            () = asked.wait() => return Ok(()),
        },
        false => None,
    };
    metrics.leader.set(i64::from(acts));

    let scope = Scope { namespace: args.namespace.clone(), selector: args.selector.clone() };
    let worker = worker(&args, (&world, queue), comparison.as_ref(), &writes, &metrics)?;
    let begun = tokio::select! {
        begun = Controller::start(worker, writers, &reads, &scope, args.workers) => Ok(begun?),
        end = end(&mut asked, leadership.as_mut()) => Err(end),
    };
    let (controller, end) = match begun {
        Ok(controller) => {
            if let Some(comparison) = &comparison {
                tokio::spawn(comparison.clone().run(world.clone()));
            }
            (Some(controller), end(&mut asked, leadership.as_mut()).await)
        }
        Err(end) => (None, end),
    };
    metrics.leader.set(0);
    match end {
        // Another one acts now: what is under way can't be taken back, nothing must be added.
        End::LeaseLost(why) => bail!("the lease was lost: {why}"),
        End::Asked => tracing::info!("ending: what is under way is waited for"),
    }
    if let Some(controller) = controller {
        tokio::select! {
            () = controller.finish() => {}
            why = lost(leadership.as_mut()) => bail!("the lease was lost: {why}"),
        }
    }
    if let Some(leadership) = leadership {
        leadership.release().await;
    }
    match comparison.map(|comparison| comparison.end(&world)) {
        Some(differences @ 1..) if args.fail_on_difference => bail!("{differences} differences"),
        Some(_) | None => Ok(()),
    }
}

/// One that reads and watches, and one that writes.
async fn clients() -> anyhow::Result<(Client, Client)> {
    let mut config = Config::infer().await.context("find the API server")?;
    // A list whose answer never comes would be waited for until the end of the process; watches end by themselves before.
    config.read_timeout = Some(LONGEST_SILENCE);
    config.reset_reader_on_write = true;
    let reads = Client::try_from(config.clone())?;
    // A client that repeats a create on its own, as on 504, makes a second pod where the first one was stored.
    config.default_retry = false;
    Ok((reads, Client::try_from(config)?))
}

fn worker(
    args: &Args,
    (world, queue): (&World, Arc<Queue<Key>>),
    comparison: Option<&Comparison>,
    writes: &Client,
    metrics: &Metrics,
) -> anyhow::Result<Worker> {
    let clock = Clock::default();
    let doing = match comparison {
        Some(comparison) => Doing::Compare(comparison.clone()),
        None if args.dry_run => Doing::Print,
        None => {
            let events = Events::new(writes.clone(), clock.clone());
            Doing::Execute(Executor::new(writes.clone(), events, metrics.clone()))
        }
    };
    Ok(Worker {
        world: world.clone(),
        queue,
        doing,
        policy: Policy::default(),
        status_interval: Duration::from_millis(args.status_interval),
        recorder: args.record.as_deref().map(Recorder::new).transpose()?,
        metrics: metrics.clone(),
        clock,
        desks: Arc::default(),
    })
}

/// Why it ends.
enum End {
    Asked,
    LeaseLost(String),
}

async fn end(asked: &mut Asked, leadership: Option<&mut Leadership>) -> End {
    tokio::select! {
        () = asked.wait() => End::Asked,
        why = lost(leadership) => End::LeaseLost(why),
    }
}

fn patience(args: &Args) -> Patience {
    Patience {
        window: Duration::from_secs(args.window),
        grace: Duration::from_secs(args.grace),
        quiet: Duration::from_secs(args.quiet),
    }
}

async fn lost(leadership: Option<&mut Leadership>) -> String {
    match leadership {
        Some(leadership) => leadership.lost().await,
        None => std::future::pending().await,
    }
}

struct Asked {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

fn signals() -> anyhow::Result<Asked> {
    Ok(Asked { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
}

impl Asked {
    async fn wait(&mut self) {
        tokio::select! { _ = self.terminate.recv() => {}, _ = self.interrupt.recv() => {} }
    }
}
