//! A plan for a person: the head, the nodes, the actions, warnings, and when to look again.

use crate::input::Input;
use crate::plan::phrase::Context;
use crate::plan::{actions, head, rows, table, words};
use crate::shell::source::Source;
use anstyle::{AnsiColor, Style};
use daemonset::{Action, Plan};
use jiff::SignedDuration;

const LABEL: Style = Style::new().bold();
const WARNING: Style = AnsiColor::Yellow.on_default();

/// The whole text, with its styles.
pub(crate) fn text(source: &Source, input: &Input, plan: &Plan) -> String {
    let mut text = String::new();
    for (label, told) in head::lines(source, input, plan) {
        text.push_str(&line(LABEL, label, &told));
    }
    if !plan.report.nodes.is_empty() {
        text.push_str(&format!("\n{}\n", nodes(input, plan)));
    }
    let actions = actions::lines(&plan.actions, &input.recording.daemon_set.status);
    if !actions.is_empty() {
        text.push_str(&format!("\n{LABEL}Actions, in order{LABEL:#}\n"));
    }
    for (number, action) in (1..).zip(actions) {
        text.push_str(&format!("{number:>3}. {action}\n"));
    }
    text.push('\n');
    for warning in &plan.warnings {
        text.push_str(&line(WARNING, "Warning", &words::warning(warning)));
    }
    text.push_str(&line(LABEL, "Next", &next(input, plan)));
    text
}

fn line(style: Style, label: &str, told: &str) -> String {
    format!("{style}{label:<11}{style:#}{told}\n")
}

fn nodes(input: &Input, plan: &Plan) -> String {
    let min_ready = SignedDuration::from_secs(input.recording.daemon_set.spec.min_ready_seconds.into());
    let current = plan.report.current_revision.as_ref().map(|current| current.number);
    let context = Context { now: input.recording.now, min_ready, current };
    let rows = rows::rows(&plan.report.nodes, context);
    let table = table::table(&rows.shown);
    match rows.left_out {
        0 => table,
        more => format!("{table}\n{more} more nodes, none of them more urgent: -o json tells of each"),
    }
}

/// When to look again.
fn next(input: &Input, plan: &Plan) -> String {
    let requeue = plan.actions.iter().find_map(|action| match action {
        Action::Requeue { at, reason } => Some((*at, *reason)),
        _ => None,
    });
    match requeue {
        Some((at, reason)) if at <= input.recording.now => format!("at once: {}", words::waking(reason)),
        Some((at, reason)) => {
            let wait = words::relative(at, input.recording.now);
            format!("look again at {at} ({wait}): {}", words::waking(reason))
        }
        None => "time alone changes nothing: look again when an object changes".to_owned(),
    }
}
