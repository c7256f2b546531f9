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
#[path = "../shell/console.rs"]
mod console;
mod head;
mod input;
#[path = "../shell/lines.rs"]
mod lines;
mod list;
mod output;
mod phrase;
mod places;
#[path = "../shell/reasons.rs"]
mod reasons;
mod rows;
#[path = "../shell/source.rs"]
mod source;
mod table;
mod text;
mod timing;
mod words;

use crate::args::{Args, Format, Job};
use crate::console::{Stop, finish, print};
use crate::input::{Choice, Form, Input};
use crate::source::Source;
use daemonset::plan;
use std::process::ExitCode;

fn main() -> ExitCode {
    let done = Args::read().and_then(|args| match args {
        Job::Help(text) => Ok(print(&text)?),
        Job::Batch(source) => batch::run(&source),
        Job::Time { source, choice, times } => timing::run(&source, &choice, times),
        Job::Plan { source, choice, format } => print_plan(&source, &choice, format),
    });
    finish("plan", "stdout", done)
}

fn print_plan(source: &Source, choice: &Choice, format: Format) -> Result<(), Stop> {
    let told = |message: String| Stop::Input(format!("{source}: {message}"));
    let bytes = source.bytes().map_err(told)?;
    let input = Form::of(&bytes).and_then(|form| Input::parse(&bytes, form, choice)).map_err(told)?;
    let snapshot = input.snapshot().map_err(told)?;
    let plan = plan(&snapshot);
    match format {
        Format::Text => print(&text::text(source, &input, &plan))?,
        Format::Json => output::print_json(&input, &plan)?,
    }
    Ok(())
}
