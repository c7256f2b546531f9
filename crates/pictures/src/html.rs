//! Pictures on a page of their own, with details under the pointer.

use crate::figures::Figures;
use crate::layers::{COLUMNS, Layers};
use crate::layout::{Body, Layout};
use crate::palette;
use crate::row::Row;
use crate::run::Run;
use crate::svg;
use crate::timeline::Timeline;
use quick_xml::escape::escape;
use serde_json::{Value, json};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("hover.js");

/// One run.
pub fn page(run: &Run<'_>) -> String {
    document(&run.label, &figure(run))
}

/// Several runs: the picture that compares them, and each of them below it.
pub fn comparison(title: &str, picture: &str, runs: &[Run<'_>]) -> String {
    let compared = format!("<figure>\n{picture}</figure>\n");
    let figures: String = runs.iter().map(figure).collect();
    document(title, &(compared + &figures))
}

fn document(title: &str, body: &str) -> String {
    let title = escape(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n<main>\n{body}</main>\n\
         <div id=\"tip\" role=\"status\" hidden></div>\n<script>\n{SCRIPT}</script>\n</html>\n"
    )
}

fn figure(run: &Run<'_>) -> String {
    let timeline = Timeline::of(run);
    let figures = Figures::of(run, &timeline);
    let layout = Layout::of(run, &timeline, &figures);
    // In JSON a `<` can be written otherwise; in HTML it could end the script.
    let data = data(&timeline, &layout).to_string().replace('<', "\\u003c");
    let picture = svg::picture(run, &timeline, &figures, &layout);
    format!(
        "<figure tabindex=\"0\" aria-label=\"Timeline; arrow keys tell its parts\">\n{picture}\
         <script type=\"application/json\">{data}</script>\n</figure>\n"
    )
}

/// A run as it is played: the picture, the data of hover.js with the states of each node whatever the picture has of them, and
/// the class of each state.
pub fn played(run: &Run<'_>) -> Value {
    let timeline = Timeline::of(run);
    let figures = Figures::of(run, &timeline);
    let layout = Layout::of(run, &timeline, &figures);
    let mut data = data(&timeline, &layout);
    if let Some(members) = data.as_object_mut() {
        members.insert("rows".to_owned(), rows(&timeline));
        let classes =
            timeline.states().into_iter().map(|state| palette::class(state, timeline.revisions.len()));
        members.insert("classes".to_owned(), classes.collect());
        members.insert("outcome".to_owned(), figures.outcome(timeline.length).into());
    }
    json!({"svg": svg::picture(run, &timeline, &figures, &layout), "data": data})
}

/// The data of hover.js; places in the picture's own units.
fn data(timeline: &Timeline, layout: &Layout) -> Value {
    let states = timeline.states();
    let labels: Vec<String> =
        states.iter().map(|state| palette::label(*state, &timeline.revisions)).collect();
    let points = timeline.curves.points.iter();
    let curve: Vec<Value> = points
        .map(|it| json!([it.t, it.nodes, it.unavailable, it.max_unavailable, it.surging, it.max_surge]))
        .collect();
    // One of the two is null.
    let (rows, layers) = match layout.body {
        Body::Rows { .. } => (rows(timeline), Value::Null),
        Body::Layers { .. } => (Value::Null, layers(timeline)),
    };
    json!({
        "left": layout.time.left,
        "right": layout.time.right,
        "length": layout.time.length,
        "top": layout.top,
        "bottom": layout.bottom,
        "panelTop": layout.panel_top,
        "panelBottom": layout.panel_bottom,
        "surges": timeline.curves.surges,
        "states": labels,
        "revisions": timeline.revisions,
        "curve": curve,
        "rows": rows,
        "layers": layers,
    })
}

fn layers(timeline: &Timeline) -> Value {
    let layers = Layers::of(timeline, timeline.length, COLUMNS);
    let labels = layers.states.iter().map(|state| palette::label(*state, &timeline.revisions));
    json!({"states": labels.collect::<Vec<_>>(), "columns": layers.columns})
}

fn rows(timeline: &Timeline) -> Value {
    let states = timeline.states();
    let row = |row: &Row| {
        let spans = row.spans.iter().map(|span| {
            let state = states.iter().position(|state| *state == span.state);
            json!([span.from, span.to, state, span.pods.join(", "), span.revision, span.words])
        });
        json!({"node": row.node, "spans": spans.collect::<Vec<_>>()})
    };
    timeline.rows.iter().map(row).collect()
}
