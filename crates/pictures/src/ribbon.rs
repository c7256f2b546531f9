//! The phases of a steered rollout over the rows, and the waves beside them.

use crate::canvas::{Canvas, Px, Tag, WIDTH, width};
use crate::layout::Layout;
use crate::phases::RolloutPhase;
use crate::scale::TimeScale;
use crate::timeline::Timeline;
use daemonset_view::numbers::duration;

/// The height, with the gap below.
pub const RIBBON: f64 = 26.0;
const HEIGHT: f64 = 20.0;

/// A rectangle for each phase, and its edges down through the rows.
pub fn draw(canvas: &mut Canvas, phases: &[RolloutPhase], time: &TimeScale, top: f64, bottom: f64) {
    for phase in phases {
        let (from, to) = (time.x(phase.from), time.x(phase.to).max(time.x(phase.from) + 1.0));
        let class = phase.kind.class();
        canvas.open(Tag::new("g"));
        canvas.element(Tag::new("title"), &title(phase));
        let rect =
            Tag::new("rect").set("class", format!("phase {class}")).set("x", Px(from)).set("y", Px(top));
        canvas.leaf(rect.set("width", Px(to - from)).set("height", Px(HEIGHT)));
        canvas.line(&format!("edge {class}"), (from, top + HEIGHT), (from, bottom));
        let words = phase.kind.words();
        if width(&words, 12.0) + 8.0 < to - from {
            canvas.words("phase-name", from + 5.0, top + 14.5, &words);
        }
        canvas.close("g");
    }
}

fn title(phase: &RolloutPhase) -> String {
    format!("{}: {} to {}", phase.kind.words(), duration(phase.from), duration(phase.to))
}

/// A bracket at the right of the rows of each wave.
pub fn brackets(canvas: &mut Canvas, timeline: &Timeline, layout: &Layout, pitch: f64) {
    let waves: Vec<Option<usize>> = timeline.rows.iter().map(|row| timeline.wave_of(row)).collect();
    let mut first = 0;
    for rows in waves.chunk_by(|one, other| one == other) {
        let (top, bottom) =
            (layout.top + pitch * first as f64, layout.top + pitch * (first + rows.len()) as f64);
        if first > 0 {
            canvas.line("border", (layout.time.left, top), (layout.time.right, top));
        }
        first += rows.len();
        if let Some(Some(wave)) = rows.first() {
            bracket(canvas, &format!("wave {wave}"), (top + 1.5, bottom - 1.5));
        }
    }
}

fn bracket(canvas: &mut Canvas, words: &str, (top, bottom): (f64, f64)) {
    let x = WIDTH - 20.0;
    canvas.path("leader", &format!("M{},{}h4V{}h-4", Px(x), Px(top), Px(bottom)));
    let middle = (top + bottom) / 2.0;
    let turned = Tag::new("text").set("class", "small middle").set("x", Px(x + 8.0)).set("y", Px(middle));
    // Upright where there is room for the word.
    if bottom - top > width(words, 11.0) * 0.9 {
        let turn = format!("rotate(90 {} {})", Px(x + 8.0), Px(middle));
        canvas.element(turned.set("transform", turn), words);
    }
}
