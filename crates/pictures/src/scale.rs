//! From time and numbers to places.

use crate::canvas::{Canvas, width};
use daemonset_view::numbers::duration;
use daemonset_view::numbers::number;

/// Milliseconds to x.
#[derive(Clone, Copy)]
pub struct TimeScale {
    pub left: f64,
    pub right: f64,
    pub length: i64,
}

const SECOND: i64 = 1000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const STEPS: [i64; 24] = [
    SECOND / 10,
    SECOND / 2,
    SECOND,
    2 * SECOND,
    5 * SECOND,
    10 * SECOND,
    15 * SECOND,
    30 * SECOND,
    MINUTE,
    2 * MINUTE,
    5 * MINUTE,
    10 * MINUTE,
    15 * MINUTE,
    30 * MINUTE,
    HOUR,
    2 * HOUR,
    3 * HOUR,
    6 * HOUR,
    12 * HOUR,
    24 * HOUR,
    48 * HOUR,
    7 * 24 * HOUR,
    28 * 24 * HOUR,
    364 * 24 * HOUR,
];
/// More labels than that are noise.
const TICKS: i64 = 11;

impl TimeScale {
    pub fn x(&self, t: i64) -> f64 {
        let share = t.clamp(0, self.length) as f64 / self.length as f64;
        self.left + share * (self.right - self.left)
    }

    pub fn width(&self) -> f64 {
        self.right - self.left
    }

    /// The instants worth a label, and the label.
    pub fn ticks(&self) -> Vec<(i64, String)> {
        let step = STEPS.into_iter().find(|step| self.length / step < TICKS).unwrap_or(self.length);
        (0..=self.length / step).map(|number| (number * step, duration(number * step))).collect()
    }
}

/// Numbers of nodes to y: 0 is at the bottom.
#[derive(Clone, Copy)]
pub struct CountScale {
    pub top: f64,
    pub bottom: f64,
    pub most: u32,
}

impl CountScale {
    pub fn y(&self, count: u32) -> f64 {
        let share = f64::from(count.min(self.most)) / f64::from(self.most.max(1));
        self.bottom - share * (self.bottom - self.top)
    }

    /// 0, and round numbers up to the most, about so many.
    pub fn ticks(&self, about: u32) -> Vec<u32> {
        let rough = self.most.div_ceil(about.max(1)).max(1);
        let tens = 10_u32.saturating_pow(rough.ilog10());
        let step = [1, 2, 5, 10].map(|it| tens.saturating_mul(it)).into_iter().find(|step| *step >= rough);
        let step = step.unwrap_or(rough);
        (0..=self.most / step).map(|number| number * step).collect()
    }
}

/// An upright line at every tick, through both panels.
pub fn grid(canvas: &mut Canvas, time: &TimeScale, (top, bottom): (f64, f64), panel_bottom: f64) {
    for (t, _) in time.ticks() {
        canvas.line("grid", (time.x(t), top), (time.x(t), panel_bottom));
    }
    canvas.line("axis", (time.left, bottom + 3.0), (time.right, bottom + 3.0));
}

/// The labels of the ticks.
pub fn times(canvas: &mut Canvas, time: &TimeScale, y: f64) {
    for (t, label) in time.ticks() {
        let x = time.x(t);
        let class = if x + width(&label, 13.0) / 2.0 > time.right + 20.0 {
            "halo muted end"
        } else {
            "halo muted middle"
        };
        canvas.words(class, x, y, &label);
    }
}

/// About so many numbers of nodes at the left.
pub fn counts(canvas: &mut Canvas, time: &TimeScale, count: &CountScale, about: u32) {
    for tick in count.ticks(about) {
        let class = if tick == 0 { "axis" } else { "grid" };
        canvas.line(class, (time.left, count.y(tick)), (time.right, count.y(tick)));
        canvas.words("muted end", time.left - 8.0, count.y(tick) + 4.5, &number(tick));
    }
}
