//! `kubectl daemonset rollout` and its like: the answers of kubectl and the API server about a DaemonSet, from files.
//!
//! kubectl's own refusals are its texts, with exit code 1.

mod answers;
pub(crate) mod args;
mod changes;
mod cluster;
mod command;
mod documents;
mod flags;
mod line;
mod lints;
mod operations;
mod requests;
mod rollouts;
mod target;
mod told;

use crate::rollout::args::{Args, Job};
use crate::rollout::told::Told;
use crate::shell::console::Stop;
use crate::shell::lines;
use crate::shell::source::Source;
use std::process::ExitCode;

/// Runs the subcommand.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Stop> {
    match (&args.job, &args.batch) {
        (Some(job), _) => answer(job).and_then(Told::print),
        (None, Some(file)) => {
            lines::run(&Source::named(file.clone()), line::answer).map(|()| ExitCode::SUCCESS)
        }
        (None, None) => Err(Stop::Input("nothing is asked; see --help".to_owned())),
    }
}

fn answer(job: &Job) -> Result<Told, Stop> {
    match job {
        Job::Status { from, revision } => rollouts::status(from, *revision),
        Job::History { from, revision } => rollouts::history(from, *revision),
        Job::Undo { from, to_revision, dry_run } => rollouts::undo(from, *to_revision, dry_run.dry_run()),
        Job::Restart { from, now } => rollouts::restart(from, now.unwrap_or_else(line::system_clock)),
        Job::Diff { older, newer, from } => rollouts::diff(from, *older, *newer),
        Job::Lint { from, manifest } => lints::findings(from, manifest.as_ref()),
        Job::Create { manifest, output } => changes::create(manifest.as_ref(), *output),
        Job::Update { change, patch: Some(patch), r#type, subresource } => {
            changes::patch(change, patch, *r#type, *subresource)
        }
        Job::Update { change, patch: None, .. } => changes::replace(change),
        Job::WouldRestart { change } => changes::would_restart(change),
    }
}
