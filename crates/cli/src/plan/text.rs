//! A plan for a person: the head, the nodes, the actions, warnings, and when to look again.

use crate::cluster::{Input, Source};
use crate::plan::phrase::Context;
use crate::plan::{actions, head, rows, table};
use crate::shell::called::plugin;
use crate::turning::Details;
use crate::words;
use anstyle::{AnsiColor, Style};
use daemonset::Plan;
use jiff::Timestamp;

const LABEL: Style = Style::new().bold();
const WARNING: Style = AnsiColor::Yellow.on_default();

/// The whole text, with its styles.
pub(crate) fn text(source: &Source, input: &Input, plan: &Plan, details: &Details) -> String {
    let mut text = String::new();
    for (label, content) in head::lines(source, input, plan, details) {
        text.push_str(&line(LABEL, label, &content));
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
        text.push_str(&line(WARNING, "Warning", &warning.to_string()));
    }
    text.push_str(&line(LABEL, "Next", &next(plan, input.recording.now)));
    if head::any_waits(plan) {
        let meta = &input.recording.daemon_set.metadata;
        let stuck = format!("{} stuck {}/{}{}", plugin(), meta.namespace, meta.name, source.flags());
        text.push_str(&line(LABEL, "Run", &stuck));
    }
    text
}

fn line(style: Style, label: &str, content: &str) -> String {
    format!("{style}{label:<11}{style:#}{content}\n")
}

fn nodes(input: &Input, plan: &Plan) -> String {
    let context = Context::new(input, plan);
    let rows = rows::rows(&plan.report.nodes, context);
    let table = table::table(&rows.shown);
    match rows.left_out {
        0 => table,
        more => format!("{table}\n{more} more nodes, none of them more urgent: -o json tells of each"),
    }
}

/// When to look again, for a cell of a table.
pub(crate) fn next_in_short(plan: &Plan, now: Timestamp) -> String {
    match plan.requeue() {
        Some((at, _)) if at <= now => "at once".to_owned(),
        Some((at, reason)) => format!("{}: {}", words::relative(at, now), words::waking(reason)),
        None => "on a change".to_owned(),
    }
}

/// When to look again.
pub(crate) fn next(plan: &Plan, now: Timestamp) -> String {
    match plan.requeue() {
        Some((at, reason)) if at <= now => format!("at once: {}", words::waking(reason)),
        Some((at, reason)) => {
            let wait = words::relative(at, now);
            format!("look again at {at} ({wait}): {}", words::waking(reason))
        }
        None => "time alone changes nothing: look again when an object changes".to_owned(),
    }
}
