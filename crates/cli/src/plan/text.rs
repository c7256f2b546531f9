//! A plan for a person: the head, the nodes, the actions, warnings, and when to look again.

use crate::cluster::{Input, Source};
use crate::plan::table;
use crate::shell::called::plugin;
use anstyle::{AnsiColor, Style};
use daemonset::Plan;
use daemonset_view::plan::phrase::PhraseContext;
use daemonset_view::plan::{actions, head, next, rows};
use daemonset_view::turning::Details;

const LABEL: Style = Style::new().bold();
const WARNING: Style = AnsiColor::Yellow.on_default();

/// The whole text, with its styles.
pub(crate) fn text(source: &Source, input: &Input, plan: &Plan, details: &Details) -> String {
    let mut text = String::new();
    let context = PhraseContext::new(input, plan, plugin());
    for (label, content) in head::lines(source, input, plan, details, plugin()) {
        text.push_str(&line(LABEL, label, &content));
    }
    if !plan.report.nodes.is_empty() {
        text.push_str(&format!("\n{}\n", nodes(plan, context)));
    }
    let before = &input.recording.daemon_set.status;
    let actions = actions::lines(&plan.actions, before, context.steered.as_ref());
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

fn nodes(plan: &Plan, context: PhraseContext<'_>) -> String {
    let rows = rows::rows(&plan.report.nodes, context);
    let table = table::table(&rows.shown);
    match rows.left_out {
        0 => table,
        more => format!("{table}\n{more} more nodes, none of them more urgent: -o json tells of each"),
    }
}
