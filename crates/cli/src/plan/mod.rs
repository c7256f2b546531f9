//! `kubectl daemonset plan`: the pods of each node, the actions that come next, and their reasons.

use crate::plan::args::{Args, Job};
use crate::plan::view::View;
use crate::shell::console::{Format, Stop, print};
use crate::shell::lines::{self, Refused, at_column, name};
use daemonset::model::DaemonSetStatus;
use daemonset::{Action, Recording, plan};
mod actions;
pub(crate) mod args;
mod budget;
mod events;
mod head;
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
pub(crate) use phrase::{Context, outcome, state};
pub(crate) use planned::{Planned, planned};
use serde::Serialize;
pub(crate) use text::next;

/// Runs the subcommand.
pub(crate) fn run(args: Args) -> Result<u8, Stop> {
    match args.job()? {
        Job::Batch(source) => lines::run(&source, plan_line),
        Job::Time { source, choice, times } => timing::run(&source, &choice, times),
        Job::TimeEvents { source, choice, times } => events::run(&source, &choice, times),
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

/// One line of a batch.
#[derive(Serialize)]
struct Answer {
    name: String,
    actions: Vec<Action>,
    /// After this plan; null where it is left alone.
    status: Option<DaemonSetStatus>,
}

fn plan_line(line: &str) -> Result<Answer, Refused> {
    let refused = |error: String| Refused { name: name(line), error };
    let recording = Recording::from_json(line.as_bytes()).map_err(|error| refused(at_column(&error)))?;
    let snapshot = recording.snapshot().map_err(|error| refused(error.to_string()))?;
    let plan = plan(&snapshot);
    Ok(Answer { name: recording.name.clone(), actions: plan.actions, status: plan.status })
}
