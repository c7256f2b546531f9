//! `kubectl daemonset rollout`: kubectl's answers about a rollout, whether it is stuck, and the steps of one that a policy
//! steers.
//!
//! kubectl's own refusals are its texts, with exit code 1. Nothing is sent to a cluster.

pub(crate) mod args;
mod batch;
mod kubectl_command;
mod preview;
mod status;
mod steer;
mod stuck;
mod verbs;

use crate::cluster::Source;
use crate::manifest;
use crate::rollout::args::{Args, Job};
use crate::shell::console::{Stop, system_clock};
use crate::shell::lines;
use crate::shell::response::Response;

/// Runs the subcommand.
pub(crate) fn run(args: &Args) -> Result<u8, Stop> {
    match (&args.job, &args.batch) {
        (Some(job), _) => answer(job)?.print(),
        (None, Some(file)) => lines::run(&Source::named(file.clone()), batch::answer),
        (None, None) => Err(Stop::Input("nothing is asked; see --help".to_owned())),
    }
}

fn answer(job: &Job) -> Result<Response, Stop> {
    match job {
        Job::Status { from, revision, now } => status::status(from, *revision, *now),
        Job::Plan(args) => preview::preview(args),
        Job::Pause { from } => steer::pause(from),
        Job::Resume { from } => steer::resume(from),
        Job::Approve { from, wave, now } => steer::approve(from, *wave, *now),
        Job::History(args) => verbs::history(args),
        Job::Undo { from, to_revision, dry_run } => verbs::undo(from, *to_revision, dry_run.dry_run()),
        Job::Restart { from, now } => verbs::restart(from, now.unwrap_or_else(system_clock)),
        Job::Diff { older, newer, from } => verbs::diff(from, *older, newer.as_deref()),
        Job::Stuck { from, patience, now } => stuck::stuck(from, *patience, *now),
        Job::Lint(args) => manifest::lint(args),
        Job::Create(args) => manifest::create(args),
        Job::Update(args) => manifest::update(args),
        Job::WouldRestart(args) => manifest::would_restart(args),
    }
}
