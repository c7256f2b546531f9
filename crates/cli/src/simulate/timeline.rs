//! The states of every node: one row of spans each, made by replaying the events.

use crate::simulate::curves::{Curves, curves};
use crate::simulate::marks::{Mark, marks};
use crate::simulate::replay;
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

/// A node's run.
#[derive(Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) node: String,
    /// In order, without overlap; a gap is a time when there was no such node.
    pub(crate) spans: Vec<Span>,
}

/// For a while, nothing changes on the node.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Span {
    pub(crate) from: i64,
    pub(crate) to: i64,
    pub(crate) state: State,
    /// The node should have a pod.
    pub(crate) target: bool,
    /// Some pod is available.
    pub(crate) available: bool,
    /// Two unfinished pods or more.
    pub(crate) doubled: bool,
    /// The pods, for the details under the pointer.
    pub(crate) pods: Vec<String>,
    /// The revision of the pod that decides the state.
    pub(crate) revision: Option<usize>,
    /// The state of each pod, in words.
    pub(crate) words: String,
}

/// The state of a node in the rollout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum State {
    /// Its pod is available, and of that revision.
    Available(usize),
    /// Two pods, one of them available.
    Doubled,
    /// Ready for less than minReadySeconds.
    Settling,
    /// Created, pending or not Ready.
    Starting,
    /// It should have a pod, and does not.
    NoPod,
    /// All it has is a pod that must go.
    Terminating,
    /// Its container or its pod failed.
    Failed,
    /// The node itself is not Ready.
    NodeUnready,
    /// It has no pod, and needs no pod.
    Idle,
}

impl State {
    /// Whether there is something to draw.
    pub(crate) fn shows(self) -> bool {
        self != State::Idle
    }
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
