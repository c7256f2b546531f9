//! The nodes by state, sampled over time: a fleet too large for rows.

use crate::canvas::{Canvas, Px};
use crate::palette;
use crate::row::State;
use crate::scale::{CountScale, TimeScale};
use crate::timeline::Timeline;

/// As many columns are sampled where the nodes are too many for rows.
pub const COLUMNS: usize = 480;

/// How many nodes are in each state, at instants in equal steps.
pub struct Layers {
    /// From the bottom: new pods, pods under way, nodes that are down, old pods.
    pub states: Vec<State>,
    /// One for every column, one number for every state.
    pub columns: Vec<Vec<u32>>,
    pub most: u32,
    revisions: usize,
}

impl Layers {
    /// Up to `length`.
    pub fn of(timeline: &Timeline, length: i64, columns: usize) -> Self {
        let states = stacked(timeline);
        let mut deltas = vec![vec![0_i64; states.len()]; columns + 1];
        // The first column whose middle is not before the instant.
        let column = |t: i64| {
            let doubled = 2 * i128::from(t) * columns as i128 / i128::from(length);
            usize::try_from((doubled + 1) / 2).unwrap_or_default().min(columns)
        };
        for span in timeline.spans() {
            let Some(layer) = states.iter().position(|state| *state == span.state) else { continue };
            for (at, sign) in [(column(span.from), 1), (column(span.to), -1)] {
                if let Some(delta) = deltas.get_mut(at).and_then(|deltas| deltas.get_mut(layer)) {
                    *delta += sign;
                }
            }
        }
        let mut sums = vec![0_i64; states.len()];
        let columns: Vec<Vec<u32>> =
            deltas.iter().take(columns).map(|deltas| add(&mut sums, deltas)).collect();
        let most = columns.iter().map(|counts| counts.iter().sum()).max().unwrap_or_default();
        Layers { states, columns, most, revisions: timeline.revisions.len() }
    }

    /// Draws them on top of each other.
    pub fn draw(&self, canvas: &mut Canvas, time: &TimeScale, count: &CountScale) {
        let step = time.width() / self.columns.len().max(1) as f64;
        let mut floor = vec![0_u32; self.columns.len()];
        for (layer, state) in self.states.iter().enumerate() {
            let height = |counts: &Vec<u32>| counts.get(layer).copied().unwrap_or_default();
            let top: Vec<u32> = floor.iter().zip(&self.columns).map(|(low, it)| low + height(it)).collect();
            let data = area(&floor, &top, |column| time.left + step * column as f64, |it| count.y(it));
            canvas.path(&format!("band {}", palette::class(*state, self.revisions)), &data);
            floor = top;
        }
    }
}

/// New states at the bottom, old ones on top: a rollout fills up.
fn stacked(timeline: &Timeline) -> Vec<State> {
    let mut states = timeline.states();
    states.retain(|state| state.shows());
    states.sort_by_key(|state| match state {
        State::Available(revision) if Some(*revision) == timeline.current => (0, 0),
        State::Available(revision) => (2, usize::MAX - revision),
        _ => (1, 0),
    });
    states
}

fn add(sums: &mut [i64], deltas: &[i64]) -> Vec<u32> {
    let add = |(sum, delta): (&mut i64, &i64)| {
        *sum += delta;
        u32::try_from(*sum).unwrap_or_default()
    };
    sums.iter_mut().zip(deltas).map(add).collect()
}

/// The closed steps between two lines, one piece for every stretch where they are apart.
fn area(low: &[u32], high: &[u32], x: impl Fn(usize) -> f64, y: impl Fn(u32) -> f64) -> String {
    let pairs: Vec<(u32, u32)> = low.iter().copied().zip(high.iter().copied()).collect();
    let mut data = String::new();
    let mut start = 0;
    for piece in pairs.chunk_by(|one, other| (one.0 == one.1) == (other.0 == other.1)) {
        let end = start + piece.len();
        if piece.first().is_some_and(|(low, high)| low != high) {
            let (low, high): (Vec<u32>, Vec<u32>) = piece.iter().copied().unzip();
            let there = steps(&high, |column| x(start + column), &y);
            let back = backwards(&low, |column| x(start + column), &y);
            data.push_str(&format!("M{}{there}{back}Z", Px(x(start))));
        }
        start = end;
    }
    data
}

/// `,y` of the first step, then across and up or down.
fn steps(values: &[u32], x: impl Fn(usize) -> f64, y: impl Fn(u32) -> f64) -> String {
    let mut data = String::new();
    let mut column = 0;
    for run in values.chunk_by(|one, other| one == other) {
        let level = Px(y(run.first().copied().unwrap_or_default()));
        data.push_str(&if column == 0 { format!(",{level}") } else { format!("V{level}") });
        column += run.len();
        data.push_str(&format!("H{}", Px(x(column))));
    }
    data
}

fn backwards(values: &[u32], x: impl Fn(usize) -> f64, y: impl Fn(u32) -> f64) -> String {
    let mut data = String::new();
    let mut column = values.len();
    for run in values.chunk_by(|one, other| one == other).rev() {
        column -= run.len();
        data.push_str(&format!("V{}H{}", Px(y(run.first().copied().unwrap_or_default())), Px(x(column))));
    }
    data
}
