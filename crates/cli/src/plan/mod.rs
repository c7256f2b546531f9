//! `kubectl daemonset plan`: the pods of each node, the actions that come next, and their reasons.

mod actions;
pub(crate) mod args;
mod batch;
mod budget;
mod head;
mod output;
mod overview;
mod phrase;
mod planned;
mod rows;
mod table;
mod text;
mod timing;
mod view;
mod watch;

pub(crate) use head::lines as head_lines;
pub(crate) use phrase::outcome;
pub(crate) use planned::{Planned, planned};
pub(crate) use text::next;

use crate::plan::args::{Args, Job};
use crate::plan::view::View;
use crate::shell::console::{Format, Stop, print};

/// Runs the subcommand.
pub(crate) fn run(args: Args) -> Result<u8, Stop> {
    match args.job()? {
        Job::Batch(source) => batch::run(&source),
        Job::Time { source, choice, times } => timing::run(&source, &choice, times),
        Job::Watch { asked, interval } => watch::run(asked, interval),
        Job::Plan { asked, format } => {
            let view = View::read(&asked)?;
            asked.source.announce(format)?;
            match format {
                Format::Text => print(&view.text(&asked.source))?,
                Format::Json => view.print_json()?,
            }
            Ok(0)
        }
    }
}
