//! `kubectl daemonset`: plans, explains, simulates and lints the rollout of a DaemonSet.
//!
//! Bad input is one line on stderr, and exit code 2.
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

mod input;
mod plan;
mod rollout;
mod shell;
mod simulate;

use crate::shell::console::{Stop, finish, in_one_line, print};
use clap::error::ErrorKind;
use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Plans, explains, simulates and lints the rollout of a DaemonSet.
#[derive(Parser)]
#[command(name = "kubectl-daemonset", bin_name = "kubectl daemonset")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Plans a DaemonSet: who runs what on which node, what happens now, and why
    Plan(plan::args::Args),
    /// Answers what kubectl and the API server answer about a DaemonSet, from files alone
    Rollout(rollout::args::Args),
    /// Simulates a rollout before it happens: its duration, the nodes that are down at once, and those left over
    Simulate(Box<simulate::args::Args>),
}

fn main() -> ExitCode {
    match Cli::try_parse() {
        Ok(Cli { command: Command::Plan(args) }) => finish("stdout", plan::run(args)),
        Ok(Cli { command: Command::Simulate(args) }) => finish("output", simulate::run(*args)),
        Ok(Cli { command: Command::Rollout(args) }) => {
            rollout::run(&args).unwrap_or_else(|stop| finish("stdout", Err(stop)))
        }
        Err(error) if error.kind() == ErrorKind::DisplayHelp => {
            finish("stdout", print(&error.render().ansi().to_string()).map_err(Stop::Output))
        }
        Err(error) => finish("stdout", Err(Stop::Input(in_one_line(&error)))),
    }
}
