//! `kubectl daemonset`: plans, explains, simulates and lints the rollout of a DaemonSet.
//!
//! Bad input is one line on stderr, and exit code 2.

mod cluster;
mod describe;
mod drain;
mod help;
mod manifest;
mod manual;
mod on;
mod page;
mod plan;
mod rollout;
mod shell;
mod simulate;
mod stuck;
mod why;

use crate::shell::called;
use crate::shell::console::{Stop, finish, in_one_line, print};
use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::process::ExitCode;

/// Plans, explains, simulates and lints the rollout of a DaemonSet.
///
/// It reads the cluster through kubectl, a file, or an example that is built in; it changes nothing.
// The examples of the help can be copied only if nothing wraps their lines: clap does where another package of a build
// turns on its feature for that.
#[derive(Parser)]
#[command(name = "kubectl-daemonset", bin_name = "kubectl daemonset", version, after_help = help::ALL)]
#[command(term_width = 0)]
struct Cli {
    #[command(subcommand)]
    command: PluginCommand,
}

#[derive(Subcommand)]
enum PluginCommand {
    /// The pods of each node, the actions that come next, and their reasons
    #[command(after_help = help::PLAN)]
    Plan(plan::args::Args),
    /// Why a node, a pod or a rollout is as it is: which rule holds it, since when, and what comes next
    #[command(after_help = help::WHY)]
    Why(why::Args),
    /// Whether rollouts move, which nodes hold them and why, and the commands to run next
    #[command(after_help = help::STUCK)]
    Stuck(stuck::Args),
    /// Which DaemonSets run on a node, one that is there or one that does not exist yet, and the sums of their pods
    #[command(after_help = help::ON)]
    On(Box<on::Args>),
    /// The pods that a drain of a node evicts, those that it waits for, and those that block it; nothing is sent
    #[command(after_help = help::DRAIN)]
    Drain(Box<drain::Args>),
    /// Simulates a rollout before it happens: its duration, the nodes that are down at once, and those left over
    #[command(after_help = help::SIMULATE)]
    Simulate(Box<simulate::args::Args>),
    /// Surprises that a manifest or a stored DaemonSet holds for its cluster
    #[command(after_help = help::LINT)]
    Lint(manifest::LintArgs),
    /// Whether applying a manifest restarts the fleet, and by which fields
    #[command(after_help = help::WOULD_RESTART)]
    WouldRestart(manifest::ChangeArgs),
    /// kubectl's answers about a rollout, whether it is stuck, and the steps of one that people steer; nothing is sent
    #[command(after_help = help::ROLLOUT)]
    Rollout(Box<rollout::args::Args>),
    /// A page that tells in a browser why each node waits, as a file: empty, or filled with the cluster
    #[command(after_help = help::PAGE)]
    Page(Box<page::Args>),
    /// The DaemonSet, its plan in short, and its pod template or that of a revision
    #[command(after_help = help::DESCRIBE)]
    Describe(describe::Args),
    /// The API server's answer to a new DaemonSet: kubectl create --dry-run=server
    #[command(after_help = help::CREATE)]
    Create(manifest::CreateArgs),
    /// The API server's answer to a manifest that replaces a DaemonSet, or a patch: kubectl replace, kubectl patch
    #[command(after_help = help::UPDATE)]
    Update(manifest::UpdateArgs),
    /// Prints the JSON Schema of the annotation rollout.daemonset/policy
    #[command(after_help = help::SCHEMA)]
    Schema,
    /// Prints a completion script
    #[command(after_help = help::COMPLETION)]
    Completion(manual::CompletionArgs),
    /// Writes man pages
    #[command(after_help = help::MAN)]
    Man(manual::ManArgs),
    #[command(name = "__complete", hide = true)]
    Complete(manual::CompleteArgs),
}

fn main() -> ExitCode {
    let matches = called::named(Cli::command()).try_get_matches();
    match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => run(cli.command),
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            let printed = print(&error.render().ansi().to_string());
            finish("stdout", printed.map(|()| 0).map_err(Stop::Output))
        }
        Err(error) => finish("stdout", Err(Stop::Input(in_one_line(&error)))),
    }
}

fn run(command: PluginCommand) -> ExitCode {
    let response = match command {
        PluginCommand::Plan(args) => return finish("stdout", plan::run(args)),
        PluginCommand::Simulate(args) => return finish("output", simulate::run(*args)),
        PluginCommand::Rollout(args) => return finish("stdout", rollout::run(&args)),
        PluginCommand::Schema => return finish("stdout", manual::schema()),
        PluginCommand::Completion(args) => return finish("stdout", manual::completion(&args)),
        PluginCommand::Man(args) => return finish("output", manual::man(&args)),
        PluginCommand::Complete(args) => return finish("stdout", manual::complete(&args)),
        PluginCommand::Why(args) => return finish("stdout", why::run(&args)),
        PluginCommand::On(args) => return finish("stdout", on::run(&args)),
        PluginCommand::Drain(args) => return finish("stdout", drain::run(&args)),
        PluginCommand::Page(args) => return finish("output", page::run(&args)),
        PluginCommand::Describe(args) => describe::describe(&args),
        PluginCommand::Stuck(args) => stuck::run(&args),
        PluginCommand::Lint(args) => manifest::lint(&args),
        PluginCommand::WouldRestart(args) => manifest::would_restart(&args),
        PluginCommand::Create(args) => manifest::create(&args),
        PluginCommand::Update(args) => manifest::update(&args),
    };
    finish("stdout", response.and_then(crate::shell::response::Response::print))
}
