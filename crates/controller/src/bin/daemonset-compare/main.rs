//! Runs beside another DaemonSet controller, compares its actions with the plans of this project, and changes nothing.
//!
//! [`observed`] derives the other controller's actions from changed objects. [`daemon_set`] undoes those of one DaemonSet in a copy of
//! the cluster, plans the copy, and matches the two. [`comparison`] has all DaemonSets, and [`verdict`] the results.

mod action_id;
mod args;
mod comparison;
mod counters;
mod daemon_set;
mod describe;
mod known_differences;
mod metrics;
mod observed;
mod planned;
#[cfg(test)]
mod tests;
mod unmatched;
mod verdict;

use anyhow::bail;
use args::Args;
use clap::Parser;
use comparison::ActionComparison;
use daemonset::Policy;
use daemonset_controller::caches::Caches;
use daemonset_controller::clock::Clock;
use daemonset_controller::metrics::Metrics;
use daemonset_controller::other_controller::Reaction;
use daemonset_controller::output::Output;
use daemonset_controller::program::run_program;
use daemonset_controller::rollout::policy::ProcessRole;
use daemonset_controller::run::Process;
use daemonset_controller::worker::{Mode, Verification};
use metrics::FindingMetrics;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

// One thread is enough: the process spends its time waiting for the API server.
#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let args = Args::parse();
    let (format, checked) = (args.common.log_format, args.check());
    run_program(format, checked, async |policy| run(args, policy).await).await
}

/// Compares until a signal ends it.
///
/// # Errors
/// When it can't start, or at the end, if it is to fail on differences and there were some.
async fn run(args: Args, policy: Policy) -> anyhow::Result<()> {
    let (caches, writers) = Caches::empty();
    let (counts, output) = (FindingMetrics::default(), Output::default());
    let metrics = Metrics::with(Clock::default(), |registry| counts.register(registry));
    let comparison = ActionComparison::new(args.timeouts(), caches.clone(), counts, output.clone());
    let process = Process {
        args: args.common,
        policy,
        role: ProcessRole::Comparison,
        // It acts on nothing.
        reaction: Reaction::ActAnyway,
        lease: None,
        status_interval: Duration::ZERO,
        // Each of its plans is one of all objects.
        verification: Verification::one_in(0),
        caches: (caches, writers),
        metrics,
        output,
    };
    process
        .run(|_, tasks| {
            tasks.spawn("comparison", comparison.clone().run());
            Mode::Compare(Arc::new(comparison.clone()))
        })
        .await?;
    match comparison.finish() {
        differences @ 1.. if args.fail_on_difference => bail!("{differences} differences"),
        _ => Ok(()),
    }
}
