//! A whole plan as JSON, with what it is about.

use crate::input::Input;
use crate::shell::console;
use daemonset::Plan;
use jiff::Timestamp;
use serde::Serialize;
use std::io;

/// A plan, and what it is about.
#[derive(Serialize)]
struct Named<'a> {
    name: &'a str,
    now: Timestamp,
    #[serde(flatten)]
    plan: &'a Plan,
}

/// Writes the whole plan to stdout.
pub(crate) fn print_json(input: &Input, plan: &Plan) -> io::Result<()> {
    console::print_json(&Named { name: &input.recording.name, now: input.recording.now, plan })
}
