//! The answer as a table with its sums.

use crate::on::args::NodeQuestion;
use anstyle::Style;
use comfy_table::{Attribute, Cell, Color, Table, presets};
use daemonset_placement::Runs;
use daemonset_view::on::words;
use daemonset_view::on::{self, DaemonRow, NodeAnswer};
use daemonset_view::words::count;

const HEADER: [&str; 5] = ["DAEMONSET", "RUNS", "REQUESTS", "HOST PORTS", "WHY"];
const LABEL: Style = Style::new().bold();

/// With its styles.
pub(crate) fn text(question: &NodeQuestion, answer: &NodeAnswer<'_>) -> String {
    let mut text = format!(
        "{}{}, of {}: {}\n",
        label("Node"),
        question.title,
        question.source,
        count(answer.daemon_sets.len(), "DaemonSet")
    );
    if !answer.daemon_sets.is_empty() {
        text.push_str(&format!("\n{}\n", table(&answer.daemon_sets)));
    }
    text.push('\n');
    let (certain, possible) = (&answer.requests.certain, &answer.requests.possible);
    if certain == possible {
        text.push_str(&format!("{}{}\n", label("Total"), words::sum(certain)));
    } else {
        text.push_str(&format!("{}{}\n", label("At least"), words::sum(certain)));
        text.push_str(&format!("{}{}\n", label("At most"), words::sum(possible)));
    }
    if !answer.host_ports.is_empty() {
        let ports = answer.host_ports.iter().map(ToString::to_string).collect::<Vec<_>>();
        text.push_str(&format!("{}{}\n", label("Ports"), ports.join(", ")));
    }
    for conflict in &answer.port_conflicts {
        text.push_str(&format!(
            "{}{} is wanted by {} and {}: only one of their pods gets it\n",
            label("Conflict"),
            conflict.port,
            conflict.first,
            conflict.second
        ));
    }
    text
}

fn label(word: &str) -> String {
    format!("{LABEL}{word}{LABEL:#}{}", " ".repeat(11_usize.saturating_sub(word.len())))
}

fn table(rows: &[DaemonRow]) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .enforce_styling()
        .set_header(HEADER.map(|title| Cell::new(title).add_attribute(Attribute::Bold)))
        .add_rows(rows.iter().map(cells));
    for (position, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, if position + 1 == HEADER.len() { 0 } else { 2 }));
    }
    table.to_string()
}

fn cells(row: &DaemonRow) -> [Cell; 5] {
    let ports = row.daemon.host_ports.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let runs = Cell::new(words::runs(&row.daemon.runs));
    let runs = match row.daemon.runs {
        Runs::Maybe { .. } => runs.fg(Color::Yellow),
        Runs::Invalid { .. } => runs.fg(Color::Red),
        _ => runs,
    };
    let or_dash = |text: String| Cell::new(if text.is_empty() { "-".to_owned() } else { text });
    [
        Cell::new(on::name(&row.daemon)),
        runs,
        or_dash(words::amounts(&row.requests)),
        or_dash(ports),
        or_dash(row.why.clone()),
    ]
}
