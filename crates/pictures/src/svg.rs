//! One run as a picture: nodes over time, and under them how many are down.

use crate::canvas::{Canvas, Px, Tag};
use crate::figures::Figures;
use crate::layers::{COLUMNS, Layers};
use crate::layout::{Body, Layout};
use crate::panel::Panel;
use crate::run::Run;
use crate::scale::CountScale;
use crate::timeline::Timeline;
use crate::{head, lanes, palette, ribbon, scale};
use daemonset_view::numbers::count;

/// The picture, as a file of its own.
pub fn timeline(run: &Run<'_>) -> String {
    let timeline = Timeline::of(run);
    let figures = Figures::of(run, &timeline);
    let layout = Layout::of(run, &timeline, &figures);
    picture(run, &timeline, &figures, &layout)
}

/// The picture, laid out already.
pub fn picture(run: &Run<'_>, timeline: &Timeline, figures: &Figures, layout: &Layout) -> String {
    let mut canvas = Canvas::default();
    canvas.open(root(layout.width, layout.height));
    let title = format!("{}: {}", run.label, figures.outcome(timeline.length));
    describe(&mut canvas, &title, &description(figures), &[timeline]);
    head::draw(&mut canvas, run, timeline, figures);
    canvas.words("muted", layout.time.left, layout.caption, &caption(timeline, layout));
    scale::grid(&mut canvas, &layout.time, (layout.top, layout.bottom), layout.panel_bottom);
    match layout.body {
        Body::Rows { pitch } => {
            lanes::draw(&mut canvas, timeline, layout, pitch);
            ribbon::brackets(&mut canvas, timeline, layout, pitch);
        }
        Body::Layers { most } => {
            let count = CountScale { top: layout.top, bottom: layout.bottom, most };
            scale::counts(&mut canvas, &layout.time, &count, 6);
            Layers::of(timeline, timeline.length, COLUMNS).draw(&mut canvas, &layout.time, &count);
        }
    }
    ribbon::draw(&mut canvas, &timeline.steered.phases, &layout.time, layout.ribbon, layout.bottom);
    for label in &layout.labels {
        label.draw(&mut canvas, layout.ribbon, layout.panel_bottom);
    }
    scale::times(&mut canvas, &layout.time, layout.bottom + 18.0);
    canvas.words("halo strong", layout.time.left, layout.panel_top - 10.0, panel_title(figures));
    let span = CountScale { top: layout.panel_top, bottom: layout.panel_bottom, most: layout.panel_most };
    scale::counts(&mut canvas, &layout.time, &span, 4);
    let panel = Panel { curves: &timeline.curves, time: layout.time, count: span };
    panel.draw(&mut canvas);
    panel.annotate(&mut canvas);
    scale::times(&mut canvas, &layout.time, layout.panel_bottom + 18.0);
    canvas.close("svg");
    canvas.finish()
}

/// The outermost element.
pub fn root(width: f64, height: f64) -> Tag {
    Tag::new("svg")
        .set("xmlns", "http://www.w3.org/2000/svg")
        .set("viewBox", format!("0 0 {} {}", Px(width), Px(height)))
        .set("width", Px(width))
        .set("height", Px(height))
        .set("role", "img")
}

/// The text for screen readers, the colours, and the page.
pub fn describe(canvas: &mut Canvas, title: &str, description: &str, timelines: &[&Timeline]) {
    canvas.element(Tag::new("title"), title);
    canvas.element(Tag::new("desc"), description);
    canvas.style(&palette::css(timelines));
    canvas
        .leaf(Tag::new("rect").set("class", "page").set("width", "100%").set("height", "100%").set("rx", 6));
}

fn description(figures: &Figures) -> String {
    format!(
        "A timeline of {}: the state of each over time, and under it how many are without an available pod: {}.",
        count(figures.nodes, "node"),
        figures.price()
    )
}

fn caption(timeline: &Timeline, layout: &Layout) -> String {
    let nodes = count(timeline.rows.len(), "node");
    match layout.body {
        Body::Rows { .. } if !timeline.steered.waves.is_empty() => {
            format!("{nodes}, by wave, and in the order in which they changed")
        }
        Body::Rows { .. } => format!("{nodes}, in the order in which they changed"),
        Body::Layers { .. } => format!("{nodes}, by state"),
    }
}

fn panel_title(figures: &Figures) -> &'static str {
    if figures.surges {
        "Nodes without an available pod, and with two"
    } else {
        "Nodes without an available pod"
    }
}
