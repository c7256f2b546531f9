//! A plan for a person: the head, the nodes, the actions, warnings, and when to look again.

use crate::cluster::{Input, Source};
use crate::plan::table;
use crate::shell::called::plugin;
use anstyle::{AnsiColor, Style};
use daemonset::Plan;
use daemonset::model::ControllerRevision;
use daemonset_view::plan::phrase::PhraseContext;
use daemonset_view::plan::{actions, head, next, rows};
use daemonset_view::turning::Details;
use daemonset_view::words::without_undo;

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
    let owner = &input.recording.daemon_set.metadata.uid;
    let is_older = |revision: &ControllerRevision| {
        let is_its = revision.metadata.owner_references.iter().any(|it| it.uid == *owner);
        is_its && context.current.is_some_and(|current| revision.revision < current)
    };
    let has_older = input.recording.revisions.iter().any(is_older);
    for warning in &plan.warnings {
        let warning = without_undo(warning, has_older);
        text.push_str(&line(WARNING, "Warning", &warning));
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
