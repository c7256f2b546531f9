//! The rows as a table: plain ASCII, wrapped to the terminal.

use comfy_table::{Attribute, Cell, Color, ColumnConstraint, ContentArrangement, Table, Width, presets};
use daemonset_view::plan::phrase::Attention;
use daemonset_view::plan::rows::{self, Row};

/// Where there is no terminal to ask.
const WIDTH: u16 = 120;
const NARROWEST: u16 = 80;
/// Between two columns.
const GAP: u16 = 2;

const HEADER: [&str; 6] = ["NODE", "PLACEMENT", "POD", "REVISION", "STATE", "NOW"];

/// Lines with their styles.
pub(crate) fn table(rows: &[Row]) -> String {
    let mut table = Table::new();
    let width = table.width().filter(|width| *width > 0).unwrap_or(WIDTH).max(NARROWEST);
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(width)
        .enforce_styling()
        .set_header(HEADER.map(|title| Cell::new(title).add_attribute(Attribute::Bold)))
        .add_rows(rows.iter().map(cells));
    let gaps = [GAP, GAP, GAP, GAP, GAP, 0];
    for ((column, words), gap) in table.column_iter_mut().zip(longest_words(rows)).zip(gaps) {
        column.set_padding((0, gap));
        column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(words + gap)));
    }
    table.to_string()
}

fn cells(row: &Row) -> [Cell; 6] {
    let Row { node, placement, pod, revision, state, now } = row;
    [Cell::new(node), Cell::new(placement), Cell::new(pod), Cell::new(revision), styled(state), styled(now)]
}

/// No column gets narrower: a name in pieces can't be copied.
fn longest_words(rows: &[Row]) -> [u16; 6] {
    let mut longest = HEADER.map(longest_word);
    for Row { node, placement, pod, revision, state, now } in rows {
        let texts = [node, placement, pod, revision, &state.text, &now.text];
        for (longest, text) in longest.iter_mut().zip(texts) {
            *longest = longest_word(text).max(*longest);
        }
    }
    longest
}

fn longest_word(text: &str) -> u16 {
    let longest = text.split(' ').map(|word| word.chars().count()).max().unwrap_or_default();
    u16::try_from(longest).unwrap_or(u16::MAX)
}

fn styled(rows::Cell { text, urgency }: &rows::Cell) -> Cell {
    let cell = Cell::new(text);
    match urgency {
        Attention::Acts => cell.fg(Color::Cyan).add_attribute(Attribute::Bold),
        Attention::Stuck => cell.fg(Color::Red),
        Attention::Waits => cell.fg(Color::Yellow),
        Attention::Held => cell.fg(Color::Yellow),
        Attention::Calm => cell,
    }
}
