//! Lines and numbers of the axes.

use crate::simulate::canvas::{Canvas, width};
use crate::simulate::scale::{CountScale, TimeScale};
use crate::simulate::words::number;

/// An upright line at every tick, through both panels.
pub(crate) fn grid(canvas: &mut Canvas, time: &TimeScale, (top, bottom): (f64, f64), panel_bottom: f64) {
    for (t, _) in time.ticks() {
        canvas.line("grid", (time.x(t), top), (time.x(t), panel_bottom));
    }
    canvas.line("axis", (time.left, bottom + 3.0), (time.right, bottom + 3.0));
}

/// The labels of the ticks.
pub(crate) fn times(canvas: &mut Canvas, time: &TimeScale, y: f64) {
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
pub(crate) fn counts(canvas: &mut Canvas, time: &TimeScale, count: &CountScale, about: u32) {
    for tick in count.ticks(about) {
        let class = if tick == 0 { "axis" } else { "grid" };
        canvas.line(class, (time.left, count.y(tick)), (time.right, count.y(tick)));
        canvas.words("muted end", time.left - 8.0, count.y(tick) + 4.5, &number(tick));
    }
}
