//! Many recordings, one a line: one line of JSON for each.

use crate::cluster::Source;
use crate::shell::console::Stop;
use crate::shell::lines::{self, Refused, at_column, name};
use daemonset::model::DaemonSetStatus;
use daemonset::{Action, Recording, plan};
use serde::Serialize;

#[derive(Serialize)]
struct Answer {
    name: String,
    actions: Vec<Action>,
    /// After this plan; null where it is left alone.
    status: Option<DaemonSetStatus>,
}

/// Plans each line.
pub(crate) fn run(source: &Source) -> Result<u8, Stop> {
    lines::run(source, answer)
}

fn answer(line: &str) -> Result<Answer, Refused> {
    let refused = |error: String| Refused { name: name(line), error };
    let recording = Recording::from_json(line.as_bytes()).map_err(|error| refused(at_column(&error)))?;
    let snapshot = recording.snapshot().map_err(|error| refused(error.to_string()))?;
    let plan = plan(&snapshot);
    Ok(Answer { name: recording.name.clone(), actions: plan.actions, status: plan.status })
}
