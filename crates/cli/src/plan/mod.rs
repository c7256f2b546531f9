//! `kubectl daemonset plan`: the pods of each node, the actions that come next, and their reasons.

mod actions;
pub(crate) mod args;
mod batch;
mod budget;
mod head;
mod output;
mod phrase;
mod rows;
mod table;
mod text;
mod timing;
mod words;

use crate::input::{Choice, Form, Input};
use crate::plan::args::{Args, Format, Job};
use crate::shell::console::{Stop, print};
use crate::shell::source::Source;
use daemonset::plan;

/// Runs the subcommand.
pub(crate) fn run(args: Args) -> Result<(), Stop> {
    match args.job().map_err(Stop::Input)? {
        Job::Batch(source) => batch::run(&source),
        Job::Time { source, choice, times } => timing::run(&source, &choice, times),
        Job::Plan { source, choice, format } => print_plan(&source, &choice, format),
    }
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
