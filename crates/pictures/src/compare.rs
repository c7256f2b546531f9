//! Several runs beside each other: how long each takes against how many nodes it takes down.

use crate::canvas::{Canvas, MARGIN, WIDTH, width};
use crate::figures::Figures;
use crate::layers::{COLUMNS, Layers};
use crate::panel::{self, Panel};
use crate::phases::End;
use crate::run::Run;
use crate::scale::{CountScale, TimeScale};
use crate::svg::{describe, root};
use crate::timeline::Timeline;
use crate::{head, scale};
use daemonset_view::numbers::{count, duration, number};

pub const TITLE: &str = "How long it takes, against how many nodes are down";

const LEFT: f64 = 296.0;
const STRIP: f64 = 42.0;
const CURVE: f64 = 84.0;
const GAP: f64 = 40.0;
const BLOCK: f64 = STRIP + 8.0 + CURVE + GAP;

/// The figures of runs beside each other: a row for each of them, whose name is first.
#[derive(Debug)]
pub struct Table {
    pub titles: Vec<&'static str>,
    pub rows: Vec<Vec<String>>,
}

/// One of the runs.
struct ComparedRun<'a> {
    run: &'a Run<'a>,
    timeline: Timeline,
    figures: Figures,
}

impl<'a> ComparedRun<'a> {
    fn of(run: &'a Run<'a>) -> Self {
        let timeline = Timeline::of(run);
        ComparedRun { run, figures: Figures::of(run, &timeline), timeline }
    }
}

/// A column: its title, and what a run has there.
type Column = (&'static str, fn(&ComparedRun<'_>) -> String);

const COLUMNS_OF_ALL: [Column; 8] = [
    ("SETTING", |entry| entry.run.label.clone()),
    ("DONE IN", |entry| entry.figures.done_in()),
    ("WORST DOWN", |entry| number(entry.figures.worst.unavailable)),
    ("BUDGET", |entry| match (entry.figures.surges, entry.figures.worst.max_unavailable) {
        (true, _) | (_, 0) => "-".to_owned(),
        (false, budget) => number(budget),
    }),
    ("MOST DOUBLED", |entry| number(entry.figures.most_surging.surging)),
    ("DOWNTIME", |entry| duration(entry.figures.lost)),
    ("PODS CREATED", |entry| number(entry.figures.created)),
    ("CRASHES", |entry| number(entry.figures.crashes)),
];
/// Behind the second column, where a policy steers one of the runs.
const REACHED: Column =
    ("EVER NEW", |entry| format!("{} of {}", number(entry.figures.reached), number(entry.figures.nodes)));

/// A line for each run.
pub fn table(runs: &[Run<'_>]) -> Table {
    let entries: Vec<ComparedRun<'_>> = runs.iter().map(ComparedRun::of).collect();
    let mut columns = COLUMNS_OF_ALL.to_vec();
    if any_steered(&entries) {
        columns.insert(2, REACHED);
    }
    let titles = columns.iter().map(|(title, _)| *title).collect();
    let row = |entry: &ComparedRun<'_>| columns.iter().map(|(_, cell)| cell(entry)).collect();
    Table { titles, rows: entries.iter().map(row).collect() }
}

/// All of them on one axis of time, and in one scale.
pub fn svg(runs: &[Run<'_>]) -> String {
    let entries: Vec<ComparedRun<'_>> = runs.iter().map(ComparedRun::of).collect();
    let time = TimeScale { left: LEFT, right: WIDTH - MARGIN, length: window(&entries) };
    let most = entries.iter().map(|entry| panel::most(&entry.timeline.curves)).max().unwrap_or(1);
    let timelines: Vec<&Timeline> = entries.iter().map(|entry| &entry.timeline).collect();
    let legend = head::common_legend(&timelines);
    let top = 84.0 + head::lines(&legend) + 24.0;
    let bottom = top + BLOCK * entries.len() as f64 - GAP;
    let mut canvas = Canvas::default();
    canvas.open(root(WIDTH, bottom + 40.0));
    let sentences: Vec<String> = entries.iter().map(sentence).collect();
    describe(&mut canvas, TITLE, &sentences.join(" "), &timelines);
    canvas.words("title", MARGIN, 40.0, TITLE);
    let subtitle = "Bars: all nodes by state, until the rollout is done. Curves: nodes without an available pod, in one scale; dashed: the budget.";
    canvas.words("big muted", MARGIN, 64.0, subtitle);
    head::draw_legend(&mut canvas, &legend, 84.0);
    scale::grid(&mut canvas, &time, (top - 8.0, bottom), bottom);
    let shows_reach = any_steered(&entries);
    for (position, entry) in entries.iter().enumerate() {
        block(&mut canvas, entry, &time, most, shows_reach, top + BLOCK * position as f64);
    }
    scale::times(&mut canvas, &time, bottom + 20.0);
    canvas.close("svg");
    canvas.finish()
}

/// Whether a policy steers one of them: then it matters how many nodes each has reached.
fn any_steered(entries: &[ComparedRun<'_>]) -> bool {
    entries.iter().any(|entry| entry.figures.end != End::Unsteered)
}

/// Until the last of them is done, and room for a word after it.
fn window(entries: &[ComparedRun<'_>]) -> i64 {
    let end = |entry: &ComparedRun<'_>| {
        entry.figures.end_of_rollout().map_or(entry.timeline.length, |(end, _)| end)
    };
    let last = entries.iter().map(end).max().unwrap_or_default();
    (last + last / 9).max(1)
}

/// A bar as long as the run takes, and below it the curve.
fn block(
    canvas: &mut Canvas,
    entry: &ComparedRun<'_>,
    time: &TimeScale,
    most: u32,
    shows_reach: bool,
    top: f64,
) {
    let ComparedRun { run, timeline, figures } = entry;
    let length = figures.end_of_rollout().map_or(timeline.length, |(end, _)| end).clamp(1, time.length);
    let own = TimeScale { left: time.left, right: time.x(length), length };
    let layers = Layers::of(timeline, length, COLUMNS);
    let strip = CountScale { top, bottom: top + STRIP, most: layers.most };
    let curve = CountScale { top: top + STRIP + 8.0, bottom: top + STRIP + 8.0 + CURVE, most };
    scale::counts(canvas, time, &curve, 2);
    layers.draw(canvas, &own, &strip);
    Panel { curves: &timeline.curves, time: own, count: curve }.draw(canvas);
    end(canvas, figures, &own, time.right, (top, curve.bottom));
    canvas.words("outcome", MARGIN, top + 14.0, &fitting(&run.label, LEFT));
    for (line, text) in (0_u8..).zip(lines(figures, timeline.length, shows_reach)) {
        canvas.words(
            if line == 0 { "big" } else { "muted" },
            MARGIN,
            top + 38.0 + 20.0 * f64::from(line),
            &text,
        );
    }
}

/// The line where it is done, and what there is to say at it.
fn end(canvas: &mut Canvas, figures: &Figures, own: &TimeScale, right: f64, (top, bottom): (f64, f64)) {
    let text = match (figures.took(), figures.back) {
        (Some(took), _) => duration(took),
        (None, Some(back)) => format!("rolled back: {}", duration(back - figures.asked)),
        (None, None) => "not done".to_owned(),
    };
    if let Some(failed) = figures.failed {
        canvas.line("failure", (own.x(failed), top), (own.x(failed), bottom));
    }
    if figures.end_of_rollout().is_some() {
        canvas.line("done", (own.right, top), (own.right, bottom));
    }
    match own.right + width(&text, 15.0) * 1.2 + 8.0 < right {
        true => canvas.words("halo outcome", own.right + 8.0, top + STRIP / 2.0 + 5.0, &text),
        false => canvas.words("halo outcome end", own.right - 8.0, top + STRIP / 2.0 + 5.0, &text),
    }
}

/// The figures at the left.
fn lines(figures: &Figures, length: i64, shows_reach: bool) -> Vec<String> {
    let mut lines = vec![match (figures.took(), figures.back) {
        (Some(took), _) => format!("done in {}", duration(took)),
        (None, Some(back)) => format!("rolled back in {}", duration(back - figures.asked)),
        (None, None) => format!("not done after {}", duration(length - figures.asked)),
    }];
    if shows_reach {
        lines.push(format!("{} ever had the new version", count(figures.reached, "node")));
    } else if figures.took().is_none() {
        lines.push(format!("{} of {} updated", number(figures.updated), number(figures.nodes)));
    }
    lines.push(match (figures.worst.unavailable, figures.worst.max_unavailable) {
        (0, _) => "never a node unavailable".to_owned(),
        (worst, budget) if budget > 0 && !figures.surges => {
            format!("at worst {} unavailable (budget {})", number(worst), number(budget))
        }
        (worst, _) => format!("at worst {} unavailable", number(worst)),
    });
    if figures.surges {
        lines.push(format!("at most {} with two pods", count(figures.most_surging.surging as usize, "node")));
    }
    if figures.lost > 0 {
        lines.push(format!("{} of downtime in all", duration(figures.lost)));
    }
    lines
}

/// Cut where it would run into the picture.
pub fn fitting(label: &str, left: f64) -> String {
    let room = left - MARGIN - 50.0;
    let mut text = String::new();
    for c in label.chars() {
        if width(&text, 15.0) * 1.15 > room {
            text.push('…');
            break;
        }
        text.push(c);
    }
    text
}

fn sentence(entry: &ComparedRun<'_>) -> String {
    format!(
        "{}: {}, {}.",
        entry.run.label,
        entry.figures.outcome(entry.timeline.length),
        entry.figures.price()
    )
}
