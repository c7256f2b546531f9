//! The states of every node: one row of spans each, made by replaying the events.

use crate::curves::{Curves, curves};
use crate::marks::{Mark, MarkKind, marks};
use crate::phases::{End, SteeredPhases};
use crate::replay;
use crate::row::{Row, Span, State};
use crate::run::Revisions;
use crate::run::Run;
use crate::turn_lanes::{self, Lanes};
use daemonset_view::numbers;

/// Everything that is drawn; times are milliseconds since the start of the run.
pub struct Timeline {
    pub length: i64,
    /// In the order in which the nodes changed first, which makes a rollout a staircase.
    pub rows: Vec<Row>,
    pub revisions: Vec<String>,
    /// Which of the revisions is current at the end.
    pub current: Option<usize>,
    pub curves: Curves,
    pub marks: Vec<Mark>,
    /// The rollout of the current revision, where a policy steers it.
    pub steered: SteeredPhases,
    /// Under the rows.
    pub lanes: Lanes,
    /// Since when every node runs the old version again, after a failure.
    pub back: Option<i64>,
}

impl Timeline {
    pub fn of(run: &Run<'_>) -> Self {
        let revisions = Revisions::of(run.events);
        let mut rows = replay::rows(run, &revisions);
        let current = revisions.current.and_then(|current| revisions.hashes.get(current)).copied();
        let mut steered = SteeredPhases::of(run, current);
        let wave = |row: &Row| steered.waves.get(row.node.as_str()).copied().unwrap_or(usize::MAX);
        rows.sort_by_cached_key(|row| (wave(row), first_change(row, run.length()), natural(&row.node)));
        let back = (steered.end == End::RolledBack).then(|| back(&rows, run.length())).flatten();
        steered.end_way_back(back);
        let mut marks = marks(run);
        marks.extend(steered.failure.as_ref().map(|failure| {
            let words = numbers::failure(&failure.reason, &failure.failing);
            Mark { t: failure.t, kind: MarkKind::Failed(format!("failed: {words}")) }
        }));
        Timeline {
            length: run.length(),
            lanes: turn_lanes::lanes(run, rows.len()),
            curves: curves(run, &rows),
            rows,
            current: revisions.current,
            revisions: revisions.hashes.iter().map(|hash| (*hash).to_owned()).collect(),
            marks,
            steered,
            back,
        }
    }

    /// The first wave that the node of a row belongs to.
    pub fn wave_of(&self, row: &Row) -> Option<usize> {
        self.steered.waves.get(row.node.as_str()).copied()
    }

    /// The states that occur, in the order of [`State`].
    pub fn states(&self) -> Vec<State> {
        let mut states: Vec<State> = self.spans().map(|span| span.state).collect();
        states.sort_unstable();
        states.dedup();
        states
    }

    pub fn spans(&self) -> impl Iterator<Item = &Span> {
        self.rows.iter().flat_map(|row| &row.spans)
    }
}

/// When the last node became available for good; `None` while some are not.
fn back(rows: &[Row], length: i64) -> Option<i64> {
    let last = rows.iter().filter_map(|row| row.spans.last()).filter(|span| span.to == length && span.target);
    let settled = last.map(|span| matches!(span.state, State::Available(_)).then_some(span.from));
    settled.collect::<Option<Vec<i64>>>()?.into_iter().max()
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
