//! `kubectl daemonset on`: which DaemonSets run on a node, one that is there or one that does not exist yet, and the sums
//! of their pods.

mod args;
mod text;

pub(crate) use crate::on::args::Args;
use crate::shell::console::{Format, LOOK, Stop, print, print_json};
use daemonset_view::on::NodeAnswer;

/// Runs the subcommand. Exit code 1 where two pods want one port, or a DaemonSet is invalid.
pub(crate) fn run(args: &Args) -> Result<u8, Stop> {
    let question = args.question()?;
    let answer = NodeAnswer::new(&question.daemon_sets, &question.shape)
        .map_err(|message| question.source.stop(message))?;
    question.source.announce(args.output)?;
    match args.output {
        Format::Json => print_json(&answer)?,
        Format::Text => print(&text::text(&question, &answer))?,
    }
    Ok(if answer.is_fine() { 0 } else { LOOK })
}
