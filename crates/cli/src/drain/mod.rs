//! `kubectl daemonset drain`: the pods that a drain of a node evicts, those that it waits for, and those that block it.

mod answer;
mod args;
mod batch;
mod text;

use crate::drain::answer::DrainAnswer;
pub(crate) use crate::drain::args::Args;
pub(crate) use crate::drain::batch::{LineAnswer, answer_line, is_drain};
use crate::shell::console::{Format, LOOK, Stop, print, print_json};

/// Runs the subcommand. Exit code 1 where a pod blocks the drain.
pub(crate) fn run(args: &Args) -> Result<u8, Stop> {
    let question = args.question()?;
    let answer = DrainAnswer::new(&question);
    question.source.announce(args.output)?;
    match args.output {
        Format::Json => print_json(&answer)?,
        Format::Text => print(&text::text(&question, &answer))?,
    }
    Ok(if answer.drain.state.blocked_by().is_empty() { 0 } else { LOOK })
}
