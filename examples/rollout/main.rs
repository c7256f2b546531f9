//! What kubectl and the API server answer about a DaemonSet, from files: status, history, undo, restart, diff, lint,
//! create, update, and whether applying a manifest would restart the fleet.
//!
//! `cargo run --example rollout -- --help` tells the ways to call it. Bad input is one line on stderr, and exit code 2;
//! what kubectl refuses is its own text, and exit code 1.
#![deny(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::todo,
    clippy::unimplemented,
    clippy::unreachable,
    clippy::unwrap_used
)]

mod answers;
mod args;
mod changes;
mod cluster;
mod command;
#[allow(dead_code, reason = "what is printed here is text, JSON too")]
#[path = "../shell/console.rs"]
mod console;
mod documents;
mod flags;
mod line;
#[path = "../shell/lines.rs"]
mod lines;
mod lints;
mod operations;
mod requests;
mod rollouts;
#[path = "../shell/source.rs"]
mod source;
mod target;
mod told;

use crate::args::{Args, Asked, Job};
use crate::console::{Stop, finish, print};
use crate::told::Told;
use std::process::ExitCode;

fn main() -> ExitCode {
    let done = Args::read().and_then(|asked| match asked {
        Asked::Help(text) => Ok(print(&text).map(|()| ExitCode::SUCCESS)?),
        Asked::Batch(source) => lines::run(&source, line::answer).map(|()| ExitCode::SUCCESS),
        Asked::One(job) => run(&job).and_then(Told::print),
    });
    done.unwrap_or_else(|stop| finish("rollout", "stdout", Err(stop)))
}

fn run(job: &Job) -> Result<Told, Stop> {
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
