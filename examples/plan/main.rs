//! Plans a DaemonSet from a file: who runs what on which node, what happens now, and why.
//!
//! `cargo run --release --example plan -- --help` tells the ways to call it. Bad input is one line on stderr, and exit
//! code 2.
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

mod actions;
mod args;
mod batch;
mod budget;
mod head;
mod input;
mod list;
mod output;
mod phrase;
mod places;
mod rows;
mod table;
mod text;
mod timing;
mod words;

use crate::args::{Args, Format, Job};
use crate::input::{Choice, Form, Input, Source};
use daemonset::plan;
use std::io;
use std::process::ExitCode;

/// Why the program ends early.
pub(crate) enum Stop {
    /// What the user gave can't be used.
    Input(String),
    /// What was made can't be written.
    Output(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Stop::Output(error)
    }
}

fn main() -> ExitCode {
    let done = Args::read().and_then(|args| match args {
        Job::Help(text) => Ok(output::print(&text)?),
        Job::Batch(source) => batch::run(&source),
        Job::Time { source, choice, times } => timing::run(&source, &choice, times),
        Job::Plan { source, choice, format } => print_plan(&source, &choice, format),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads has seen enough.
        Err(Stop::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(Stop::Output(error)) => output::complain(&format!("stdout: {error}"), 1),
        Err(Stop::Input(message)) => output::complain(&message, 2),
    }
}

fn print_plan(source: &Source, choice: &Choice, format: Format) -> Result<(), Stop> {
    let told = |message: String| Stop::Input(format!("{source}: {message}"));
    let bytes = source.bytes().map_err(told)?;
    let input = Form::of(&bytes).and_then(|form| Input::parse(&bytes, form, choice)).map_err(told)?;
    let snapshot = input.snapshot().map_err(told)?;
    let plan = plan(&snapshot);
    match format {
        Format::Text => output::print(&text::text(source, &input, &plan))?,
        Format::Json => output::print_json(&input, &plan)?,
    }
    Ok(())
}
