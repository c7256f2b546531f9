//! The rows: a node each, and a stroke for every span.

use crate::canvas::{Canvas, Px, Tag};
use crate::layout::{Layout, MOST_NAMES, shorten};
use crate::palette;
use crate::row::{Row, State};
use crate::timeline::Timeline;
use crate::turn_lanes::{self, LANE};

/// Anything shorter would not be seen.
const NARROWEST: f64 = 0.8;
/// A failure must be, among the colours of a node that starts.
const NARROWEST_FAILURE: f64 = 2.0;

pub fn draw(canvas: &mut Canvas, timeline: &Timeline, layout: &Layout, pitch: f64) {
    let gap = if pitch >= 12.0 {
        2.0
    } else if pitch >= 7.0 {
        1.0
    } else {
        0.0
    };
    let lane = if timeline.lanes.is_empty() { 0.0 } else { LANE };
    let y = |number: usize| layout.top + pitch * number as f64 + (pitch - lane) / 2.0;
    canvas.open(Tag::new("g").set("stroke-width", Px(pitch - lane - gap)));
    // Available states first, so that they do not cover a short time down.
    for state in timeline.states().into_iter().filter(|state| state.shows()) {
        let mut data = String::new();
        for (number, row) in timeline.rows.iter().enumerate() {
            data.push_str(&strokes(row, state, layout, y(number)));
        }
        canvas.path(&format!("row {}", palette::class(state, timeline.revisions.len())), &data);
    }
    canvas.close("g");
    if lane > 0.0 {
        let top = |number: usize| layout.top + pitch * (number + 1) as f64 - lane;
        let rows = timeline.rows.iter().enumerate().map(|(number, row)| (row.node.as_str(), top(number)));
        turn_lanes::draw(canvas, &timeline.lanes, rows, layout);
    }
    match timeline.rows.len() {
        0..=MOST_NAMES => names(canvas, timeline, layout, y),
        rows => numbers(canvas, rows, layout, y),
    }
}

fn strokes(row: &Row, state: State, layout: &Layout, y: f64) -> String {
    let mut data = String::new();
    let narrowest = if state == State::Failed { NARROWEST_FAILURE } else { NARROWEST };
    let mut drawn: Option<(f64, f64)> = None;
    let mut flush = |piece: Option<(f64, f64)>| {
        if let Some((from, to)) = piece {
            data.push_str(&format!("M{},{}h{}", Px(from), Px(y), Px(to - from)));
        }
    };
    for span in row.spans.iter().filter(|span| span.state == state) {
        let from = layout.time.x(span.from);
        let to = layout.time.x(span.to).max(from + narrowest);
        drawn = match drawn {
            // Neighbours of the same colour, and those that overlap, are one.
            Some((start, end)) if from <= end + 0.05 => Some((start, to.max(end))),
            before => {
                flush(before);
                Some((from, to))
            }
        };
    }
    flush(drawn);
    data
}

fn names(canvas: &mut Canvas, timeline: &Timeline, layout: &Layout, y: impl Fn(usize) -> f64) {
    for (number, row) in timeline.rows.iter().enumerate() {
        canvas.words("name end", layout.time.left - 8.0, y(number) + 4.2, &shorten(&row.node));
    }
}

/// Every so many rows their number, where names would not fit.
fn numbers(canvas: &mut Canvas, rows: usize, layout: &Layout, y: impl Fn(usize) -> f64) {
    let step = if rows > 100 { 25 } else { 10 };
    for number in (step..=rows).step_by(step) {
        canvas.words("muted end", layout.time.left - 8.0, y(number - 1) + 4.5, &number.to_string());
    }
}
