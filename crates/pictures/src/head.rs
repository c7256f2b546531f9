//! The title, the settings, the outcome and the legend.

use crate::canvas::{Canvas, MARGIN, Px, Tag, WIDTH, width};
use crate::figures::Figures;
use crate::marks::{MarkKind, settings};
use crate::palette;
use crate::row::State;
use crate::run::Run;
use crate::timeline::Timeline;
use crate::turn_lanes;
use daemonset_view::words;

const LINE: f64 = 22.0;
/// Up to as many versions have an entry each.
const VERSIONS: usize = 6;

/// Down to the last line of the legend.
pub fn height(run: &Run<'_>, timeline: &Timeline) -> f64 {
    legend_top(run) + lines(&legend(timeline))
}

fn legend_top(run: &Run<'_>) -> f64 {
    128.0 + LINE * run.summary.len() as f64
}

pub fn draw(canvas: &mut Canvas, run: &Run<'_>, timeline: &Timeline, figures: &Figures) {
    canvas.words("title", MARGIN, 40.0, &run.label);
    canvas.words("big muted", MARGIN, 64.0, &setting(run));
    canvas.words("outcome", MARGIN, 88.0, &figures.outcome(timeline.length));
    canvas.words("big", MARGIN, 110.0, &words::capitalized(&figures.price()));
    for (number, line) in (1_u8..).zip(&run.summary) {
        canvas.words("muted", MARGIN, 110.0 + LINE * f64::from(number), line);
    }
    draw_legend(canvas, &legend(timeline), legend_top(run));
}

/// The settings that the run starts with, in words.
pub fn setting(run: &Run<'_>) -> String {
    run.first_spec().map(|spec| settings(spec).join(", ")).unwrap_or_default()
}

/// A colour and its meaning.
pub struct LegendEntry {
    class: String,
    label: String,
    x: f64,
    line: usize,
}

pub fn draw_legend(canvas: &mut Canvas, legend: &[LegendEntry], top: f64) {
    for LegendEntry { class, label, x, line } in legend {
        let y = top + LINE * *line as f64;
        if class == "crashed" {
            canvas.path(class, &format!("M{},{}l-6,-11h12z", Px(x + 7.0), Px(y + 12.0)));
        } else {
            let chip =
                Tag::new("rect").set("class", format!("chip {class}")).set("x", Px(*x)).set("y", Px(y));
            canvas.leaf(chip.set("width", 14).set("height", 14).set("rx", 3));
        }
        canvas.words("", x + 20.0, y + 11.5, label);
    }
}

/// How high a legend is.
pub fn lines(legend: &[LegendEntry]) -> f64 {
    LINE * legend.last().map_or(0, |entry| entry.line + 1) as f64
}

/// The states of all of them; revisions by their numbers, as their hashes may differ.
pub fn common_legend(timelines: &[&Timeline]) -> Vec<LegendEntry> {
    let most = timelines.iter().map(|timeline| timeline.revisions.len()).max().unwrap_or_default();
    let mut states: Vec<State> = timelines.iter().flat_map(|timeline| timeline.states()).collect();
    states.sort_unstable();
    states.dedup();
    let nameless = vec![String::new(); most];
    place(entries(&states, &nameless))
}

/// The states of a timeline, from left to right, and on as many lines as it takes.
fn legend(timeline: &Timeline) -> Vec<LegendEntry> {
    let mut entries = entries(&timeline.states(), &timeline.revisions);
    if timeline.marks.iter().any(|mark| mark.kind == MarkKind::Crashed) {
        entries.push(("crashed".to_owned(), "controller crashed".to_owned()));
    }
    for kind in turn_lanes::kinds(&timeline.lanes) {
        entries.push((kind.class().to_owned(), kind.meaning().to_owned()));
    }
    for phase in &timeline.steered.phases {
        let entry = (phase.kind.class().to_owned(), phase.kind.meaning().to_owned());
        if !entries.contains(&entry) {
            entries.push(entry);
        }
    }
    place(entries)
}

fn entries(states: &[State], revisions: &[String]) -> Vec<(String, String)> {
    let versions = revisions.len();
    let between = |state: &State| match state {
        State::Available(number) => versions > VERSIONS && *number > 0 && number + 1 < versions,
        _ => false,
    };
    let shown = states.iter().filter(|state| state.shows() && !between(state));
    shown.map(|state| (palette::class(*state, versions), palette::label(*state, revisions))).collect()
}

fn place(entries: Vec<(String, String)>) -> Vec<LegendEntry> {
    let (mut x, mut line) = (MARGIN, 0);
    let place = |(class, label): (String, String)| {
        let wide = 20.0 + width(&label, 13.0) + 22.0;
        if x + wide > WIDTH - MARGIN + 22.0 && x > MARGIN {
            (x, line) = (MARGIN, line + 1);
        }
        let entry = LegendEntry { class, label, x, line };
        x += wide;
        entry
    };
    entries.into_iter().map(place).collect()
}
