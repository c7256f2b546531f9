//! Events of an instant, written over its line.

use crate::canvas::{Canvas, Px, width};
use crate::marks::{Mark, MarkKind};
use crate::scale::TimeScale;

/// More labels on top of each other are left out; their lines stay.
const MOST_LANES: usize = 4;
pub const LANE: f64 = 18.0;

/// An upright line, with a label if it has one.
pub struct Label {
    x: f64,
    kind: LabelKind,
    text: String,
    /// From the bottom; nothing where there is no room for the text.
    lane: Option<usize>,
    /// The text is at the right of its line, or else at its left.
    right: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum LabelKind {
    Spec,
    Crash,
    Failed,
    Done,
}

/// Puts every label on the lowest lane where it is alone. From right to left: so no line crosses a label, as those at its
/// right end below it.
pub fn place(marks: &[Mark], done: Option<(i64, &str)>, time: &TimeScale) -> Vec<Label> {
    let mut labels: Vec<Label> = marks.iter().map(|mark| Label::of(mark, time)).collect();
    if let Some((done, words)) = done.filter(|(done, _)| *done > 0) {
        labels.push(Label::new(time.x(done), LabelKind::Done, words));
    }
    labels.sort_by(|one, other| one.x.total_cmp(&other.x));
    // Where the leftmost label of each lane starts.
    let mut lanes = [f64::INFINITY; MOST_LANES];
    for label in labels.iter_mut().rev().filter(|label| label.kind != LabelKind::Crash) {
        let wide = width(&label.text, 13.0) * 1.2 + 10.0;
        label.right = label.x + wide <= time.right + 24.0;
        let (from, to) = if label.right { (label.x, label.x + wide) } else { (label.x - wide, label.x) };
        label.lane = lanes.iter().position(|start| to <= *start);
        if let Some(start) = label.lane.and_then(|lane| lanes.get_mut(lane)) {
            *start = from;
        }
    }
    labels
}

/// How many lanes there are.
pub fn lanes(labels: &[Label]) -> usize {
    labels.iter().filter_map(|label| label.lane).max().map_or(0, |lane| lane + 1)
}

impl Label {
    fn new(x: f64, kind: LabelKind, text: &str) -> Self {
        Label { x, kind, text: text.to_owned(), lane: None, right: true }
    }

    fn of(mark: &Mark, time: &TimeScale) -> Self {
        match &mark.kind {
            MarkKind::SpecChanged(text) => Label::new(time.x(mark.t), LabelKind::Spec, text),
            MarkKind::Steered(text) => Label::new(time.x(mark.t), LabelKind::Spec, text),
            MarkKind::Failed(text) => Label::new(time.x(mark.t), LabelKind::Failed, text),
            MarkKind::Crashed => Label::new(time.x(mark.t), LabelKind::Crash, ""),
        }
    }

    /// From its lane down through the rows and the curve.
    pub fn draw(&self, canvas: &mut Canvas, top: f64, bottom: f64) {
        let Label { x, kind, text, lane, right } = self;
        let base = top - 8.0 - LANE * lane.unwrap_or_default() as f64;
        let (class, start) = match (kind, lane) {
            (LabelKind::Crash, _) => ("crash", top),
            (LabelKind::Spec, Some(_)) => ("mark", base - 11.0),
            (LabelKind::Spec, None) => ("mark", top),
            (LabelKind::Failed, Some(_)) => ("failure", base - 11.0),
            (LabelKind::Failed, None) => ("failure", top),
            (LabelKind::Done, Some(_)) => ("done", base - 11.0),
            (LabelKind::Done, None) => ("done", top),
        };
        canvas.line(class, (*x, start), (*x, bottom));
        if *kind == LabelKind::Crash {
            canvas.path("crashed", &format!("M{},{}l-5,-9h10z", Px(*x), Px(top)));
        }
        let colour = if *kind == LabelKind::Failed { " magenta" } else { "" };
        match (lane, right) {
            (Some(_), true) => canvas.words(&format!("halo strong{colour}"), x + 5.0, base, text),
            (Some(_), false) => canvas.words(&format!("halo strong end{colour}"), x - 5.0, base, text),
            (None, _) => {}
        }
    }
}
