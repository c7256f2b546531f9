//! `kubectl daemonset rollout`: kubectl's answers about a rollout, whether it is stuck, and the steps of one that a policy
//! steers.
//!
//! kubectl's own refusals are its texts, with exit code 1. Nothing is sent to a cluster.

pub(crate) mod args;
mod batch;
mod failure;
mod kubectl_command;
mod preview;
mod status;
mod steer;
mod verbs;
mod wait;

use crate::cluster::{Input, Source, name, namespace};
use crate::manifest;
use crate::rollout::args::{Args, RolloutJob};
use crate::rollout::status::StatusQuestion;
use crate::shell::called::plugin;
use crate::shell::console::{Stop, system_clock};
use crate::shell::lines;
use crate::shell::response::Response;
use crate::stuck;
use comfy_table::{Table, presets};
use daemonset::Plan;
use daemonset_view::cause;
use daemonset_view::steered::Steered;
use serde_json::Value;

/// Runs the subcommand.
pub(crate) fn run(args: &Args) -> Result<u8, Stop> {
    match (&args.job, &args.batch) {
        (Some(job), _) => answer(job)?.print(),
        (None, Some(file)) => lines::run(&Source::named(file.clone()), batch::answer),
        (None, None) => Err(Stop::Input("nothing is asked; see --help".to_owned())),
    }
}

fn answer(job: &RolloutJob) -> Result<Response, Stop> {
    match job {
        RolloutJob::Status { from, revision, now, watch, waiting } => {
            let question = StatusQuestion { output: from.output, revision: *revision, now: *now };
            if *watch { wait::wait(from, &question, waiting) } else { status::status(from, &question) }
        }
        RolloutJob::Plan(args) => preview::preview(args),
        RolloutJob::Pause { from } => steer::pause(from),
        RolloutJob::Resume { from } => steer::resume(from),
        RolloutJob::Approve { from, wave, now } => steer::approve(from, *wave, *now),
        RolloutJob::History(args) => verbs::history(args),
        RolloutJob::Undo { from, to_revision, dry_run } => verbs::undo(from, *to_revision, dry_run.dry_run()),
        RolloutJob::Restart { from, now } => verbs::restart(from, now.unwrap_or_else(system_clock)),
        RolloutJob::Diff { older, newer, from } => verbs::diff(from, older.as_deref(), newer.as_deref()),
        RolloutJob::Stuck(args) => stuck::run(args),
        RolloutJob::Lint(args) => manifest::lint(args),
        RolloutJob::Create(args) => manifest::create(args),
        RolloutJob::Update(args) => manifest::update(args),
        RolloutJob::WouldRestart(args) => manifest::would_restart(args),
    }
}

/// Rows under a header, without styles, as wide as they are.
fn plain_table<const N: usize>(header: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header).add_rows(rows);
    for (position, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, if position + 1 == N { 0 } else { 2 }));
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

/// The rest of a kubectl command about a DaemonSet, after its verb.
fn on_daemon_set(from: &args::From, daemon_set: &Value) -> String {
    cause::on_daemon_set(&from.target.cluster.connection(), namespace(daemon_set), name(daemon_set))
}

/// The rollout of an input, if a policy steers it. Its commands find the cluster by these flags.
fn steered<'a>(input: &'a Input, plan: &'a Plan, connection: &'a str) -> Option<Steered<'a>> {
    Some(Steered::of_input(input, plan, plugin())?.connected(connection))
}

/// For standard error: the command stands alone on its line, to be pasted into a shell.
fn not_sent(command: &str) -> String {
    format!("nothing is sent; this does it:\n{command}\n")
}
