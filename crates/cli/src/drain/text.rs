//! The answer as a table with its summary.

use crate::drain::answer::{DrainAnswer, DrainRow};
use crate::drain::args::DrainQuestion;
use anstyle::Style;
use comfy_table::{Attribute, Cell, Color, Table, presets};
use daemonset_drain::{Drain, DrainState, PodVerdict};
use daemonset_view::words::{count, relative};
use jiff::Timestamp;

const HEADER: [&str; 3] = ["POD", "DRAIN", "WHY"];
const LABEL: Style = Style::new().bold();

/// With its styles.
pub(crate) fn text(question: &DrainQuestion, answer: &DrainAnswer) -> String {
    let node = question.node.metadata.name.as_str();
    let mut text =
        line("Node", &format!("{node}, of {}: {}", question.source, count(answer.pods.len(), "pod")));
    text += &line("Drain", &summary(answer));
    if !answer.pods.is_empty() {
        text += &format!("\n{}\n\n", table(answer, question.now));
    }
    if answer.drain.state != DrainState::Drained {
        text += &line("Next", &next(&answer.drain));
    }
    text + &line("Command", &answer.command)
}

fn line(label: &str, content: &str) -> String {
    format!("{LABEL}{label}{LABEL:#}{}{content}\n", " ".repeat(11_usize.saturating_sub(label.len())))
}

fn summary(answer: &DrainAnswer) -> String {
    let Drain { state, evict, .. } = &answer.drain;
    let terminating = state.left().saturating_sub(evict.len());
    match state {
        DrainState::Blocked { pods, .. } => format!(
            "blocked by {}: none is evicted without {}",
            count(pods.len(), "pod"),
            answer.missing_flags.join(" and ")
        ),
        DrainState::Drained => "done: there is no pod to evict, and none to wait for".to_owned(),
        _ => match (evict.len(), terminating) {
            (evicted, 0) => format!("evicts {}", count(evicted, "pod")),
            (0, waiting) => format!("waits for {}", terminating_pods(waiting)),
            (evicted, waiting) => {
                format!("evicts {}, waits for {}", count(evicted, "pod"), terminating_pods(waiting))
            }
        },
    }
}

fn terminating_pods(number: usize) -> String {
    count(number, "terminating pod")
}

fn next(drain: &Drain) -> String {
    match drain.look_again {
        Some(at) => format!("look again at {at}, or when a pod changes"),
        None => "time alone changes nothing: look again when a pod changes".to_owned(),
    }
}

fn table(answer: &DrainAnswer, now: Timestamp) -> Table {
    let is_blocked = !answer.drain.state.blocked_by().is_empty();
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .enforce_styling()
        .set_header(HEADER.map(|title| Cell::new(title).add_attribute(Attribute::Bold)))
        .add_rows(answer.pods.iter().map(|row| cells(row, is_blocked, now)));
    for (position, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, if position + 1 == HEADER.len() { 0 } else { 2 }));
    }
    table
}

fn cells(row: &DrainRow, is_blocked: bool, now: Timestamp) -> [Cell; 3] {
    let (does, why) = match row.verdict {
        PodVerdict::LeftAlone { why, .. } => (Cell::new("left alone"), why.to_string()),
        PodVerdict::Waits { until: None, .. } => {
            (Cell::new("waited for"), "it is terminating: until it is gone".to_owned())
        }
        PodVerdict::Waits { until: Some(until), .. } => {
            let why = format!("it is terminating: until {until} ({})", relative(until, now));
            (Cell::new("waited for"), why)
        }
        PodVerdict::Evict if is_blocked => (Cell::new("stays"), "another pod blocks the drain".to_owned()),
        PodVerdict::Evict => (Cell::new("evicted"), "-".to_owned()),
        PodVerdict::Blocks { reason, .. } => (Cell::new("blocks").fg(Color::Red), reason.to_string()),
        other => (Cell::new("?"), other.to_string()),
    };
    [Cell::new(format!("{}/{}", row.pod.namespace, row.pod.name)), does, Cell::new(why)]
}
