//! The states of every node: one row of spans each, made by replaying the events.

use crate::simulate::curves::{Curves, curves};
use crate::simulate::marks::{Mark, marks};
use crate::simulate::replay;
use crate::simulate::row::{Row, Span, State};
use crate::simulate::run::Revisions;
use crate::simulate::run::Run;

/// Everything that is drawn; times are milliseconds since the start of the run.
pub(crate) struct Timeline {
    pub(crate) length: i64,
    /// In the order in which the nodes changed first, which makes a rollout a staircase.
    pub(crate) rows: Vec<Row>,
    pub(crate) revisions: Vec<String>,
    /// Which of the revisions is current at the end.
    pub(crate) current: Option<usize>,
    pub(crate) curves: Curves,
    pub(crate) marks: Vec<Mark>,
}

impl Timeline {
    pub(crate) fn of(run: &Run<'_>) -> Self {
        let revisions = Revisions::of(run.events);
        let mut rows = replay::rows(run, &revisions);
        rows.sort_by_cached_key(|row| (first_change(row, run.length()), natural(&row.node)));
        Timeline {
            length: run.length(),
            curves: curves(run, &rows),
            rows,
            current: revisions.current,
            revisions: revisions.hashes.iter().map(|hash| (*hash).to_owned()).collect(),
            marks: marks(run),
        }
    }

    /// The states that occur, in the order of [`State`].
    pub(crate) fn states(&self) -> Vec<State> {
        let mut states: Vec<State> = self.spans().map(|span| span.state).collect();
        states.sort_unstable();
        states.dedup();
        states
    }

    pub(crate) fn spans(&self) -> impl Iterator<Item = &Span> {
        self.rows.iter().flat_map(|row| &row.spans)
    }
}

/// When the state of the node first differs from its state at the start.
fn first_change(row: &Row, length: i64) -> i64 {
    match row.spans.first() {
        Some(first) if first.from > 0 => first.from,
        Some(first) if first.to < length => first.to,
        Some(_) | None => i64::MAX,
    }
}

/// Makes `node-10` come after `node-9`.
fn natural(name: &str) -> String {
    let mut key = String::new();
    let mut digits = String::new();
    for c in name.chars().chain(['\0']) {
        if c.is_ascii_digit() {
            digits.push(c);
            continue;
        }
        if !digits.is_empty() {
            key.push_str(&format!("{digits:0>20}"));
            digits.clear();
        }
        key.push(c);
    }
    key
}
