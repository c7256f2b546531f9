//! Where everything is.

use crate::canvas::{MARGIN, WIDTH, width};
use crate::figures::Figures;
use crate::head;
use crate::labels::{self, Label};
use crate::layers::{COLUMNS, Layers};
use crate::panel;
use crate::ribbon::RIBBON;
use crate::run::Run;
use crate::scale::TimeScale;
use crate::timeline::Timeline;
use crate::turn_lanes::LANE;

/// More nodes than that share layers.
const MOST_ROWS: usize = 200;
/// Up to as many nodes, every row has its name.
pub const MOST_NAMES: usize = 60;
/// Longer names are cut.
pub const LONGEST_NAME: usize = 26;
const LAYERS: f64 = 420.0;
const PANEL: f64 = 150.0;

pub struct Layout {
    pub width: f64,
    pub height: f64,
    pub time: TimeScale,
    pub body: Body,
    pub caption: f64,
    /// Over the rows or layers.
    pub labels: Vec<Label>,
    /// Of the phases of a steered rollout, which are over the rows or layers.
    pub ribbon: f64,
    /// Of the rows or layers.
    pub top: f64,
    pub bottom: f64,
    pub panel_top: f64,
    pub panel_bottom: f64,
    pub panel_most: u32,
}

/// How the nodes are drawn.
#[derive(Clone, Copy)]
pub enum Body {
    /// A row each.
    Rows { pitch: f64 },
    /// By state, stacked.
    Layers { most: u32 },
}

impl Layout {
    pub fn of(run: &Run<'_>, timeline: &Timeline, figures: &Figures) -> Self {
        let (body, height) = body(timeline);
        let left = MARGIN + names(timeline);
        let time = TimeScale { left, right: WIDTH - MARGIN, length: timeline.length };
        // Over the rows: the caption, and a lane for the labels of marks.
        let caption = head::height(run, timeline) + 26.0;
        let labels = labels::place(&timeline.marks, figures.end_of_rollout(), &time);
        let ribbon = caption + 12.0 + labels::LANE * labels::lanes(&labels) as f64;
        let top = if timeline.steered.phases.is_empty() { ribbon } else { ribbon + RIBBON };
        let bottom = top + height;
        let panel_top = bottom + 62.0;
        Layout {
            width: WIDTH,
            height: panel_top + PANEL + 34.0,
            time,
            body,
            caption,
            labels,
            ribbon,
            top,
            bottom,
            panel_top,
            panel_bottom: panel_top + PANEL,
            panel_most: panel::most(&timeline.curves),
        }
    }
}

/// How the nodes are drawn, and how high that is.
fn body(timeline: &Timeline) -> (Body, f64) {
    let rows = timeline.rows.len();
    match rows {
        0..=MOST_ROWS => {
            let lane = if timeline.lanes.is_empty() { 0.0 } else { LANE };
            let pitch = pitch(rows) + lane;
            (Body::Rows { pitch }, pitch * rows as f64)
        }
        _ => {
            let most = Layers::of(timeline, timeline.length, COLUMNS).most;
            (Body::Layers { most }, LAYERS)
        }
    }
}

/// The height of a row: whole pixels, so that edges are sharp.
fn pitch(rows: usize) -> f64 {
    match rows {
        0..=12 => 26.0,
        13..=24 => 20.0,
        25..=40 => 16.0,
        41..=MOST_NAMES => 14.0,
        61..=100 => 7.0,
        101..=140 => 5.0,
        _ => 4.0,
    }
}

/// How much room the names take, or the numbers instead of them.
fn names(timeline: &Timeline) -> f64 {
    let longest = timeline.rows.iter().map(|row| width(&shorten(&row.node), 12.0) * 1.1);
    match timeline.rows.len() {
        0..=MOST_NAMES => longest.fold(30.0, f64::max) + 12.0,
        _ => 46.0,
    }
}

/// Cuts the middle out of a long name: its end distinguishes it.
pub fn shorten(name: &str) -> String {
    let length = name.chars().count();
    if length <= LONGEST_NAME {
        return name.to_owned();
    }
    let (head, tail) = (LONGEST_NAME / 2 - 1, LONGEST_NAME / 2);
    name.chars().take(head).chain(['…']).chain(name.chars().skip(length - tail)).collect()
}
