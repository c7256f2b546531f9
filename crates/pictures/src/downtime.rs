//! Several runs beside each other: for how long each node has no Ready pod.

use crate::canvas::{Canvas, MARGIN, Px, Tag, WIDTH, width};
use crate::compare::{Table, fitting};
use crate::figures::Figures;
use crate::palette;
use crate::run::Run;
use crate::scale::{CountScale, TimeScale, times};
use crate::svg::root;
use crate::timeline::Timeline;
use daemonset_sim::{Spread, downtime};
use daemonset_view::numbers::{count, duration, number};
use jiff::SignedDuration;

pub const TITLE: &str = "How long each node has no Ready pod";

/// "The downtime of a daemon on a node should be under five seconds", as the proposal has it.
const GOAL: i64 = 5_000;

const LEFT: f64 = 320.0;
const BAR: f64 = 9.0;
const HEIGHT: f64 = 76.0;
const GAP: f64 = 26.0;

/// One of the runs.
struct RunDowntime<'a> {
    run: &'a Run<'a>,
    figures: Figures,
    /// For how long each node has no Ready pod, in milliseconds.
    nodes: Vec<i64>,
    spread: Spread,
}

impl<'a> RunDowntime<'a> {
    fn of(run: &'a Run<'a>) -> Self {
        let nodes: Vec<SignedDuration> = downtime(run.events, run.start, run.end).into_values().collect();
        let spread = Spread::of(nodes.iter().copied());
        let nodes = nodes.into_iter().map(millis).collect();
        RunDowntime { run, figures: Figures::of(run, &Timeline::of(run)), nodes, spread }
    }

    fn longest(&self) -> i64 {
        self.nodes.iter().copied().max().unwrap_or_default()
    }
}

fn millis(time: SignedDuration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

fn words(time: SignedDuration) -> String {
    duration(millis(time))
}

/// A line for each run.
pub fn table(runs: &[Run<'_>]) -> Table {
    let line = |run: &Run<'_>| {
        let RunDowntime { figures, spread, .. } = RunDowntime::of(run);
        let Spread { median, p90, most, .. } = spread;
        let worst = number(figures.worst.unavailable);
        vec![run.label.clone(), figures.done_in(), worst, words(median), words(p90), words(most)]
    };
    let titles = vec!["SETTING", "DONE IN", "WORST DOWN", "DOWN A NODE", "90 % WITHIN", "LONGEST"];
    Table { titles, rows: runs.iter().map(line).collect() }
}

/// All of them on one axis of time, and in one scale.
pub fn svg(runs: &[Run<'_>]) -> String {
    let entries: Vec<RunDowntime<'_>> = runs.iter().map(RunDowntime::of).collect();
    let longest = entries.iter().map(RunDowntime::longest).max().unwrap_or_default().max(2 * GOAL);
    let time = TimeScale { left: LEFT, right: WIDTH - MARGIN, length: longest + longest / 20 };
    let top = 116.0;
    let bottom = top + (HEIGHT + GAP) * entries.len() as f64 - GAP;
    let mut canvas = Canvas::default();
    canvas.open(root(WIDTH, bottom + 62.0));
    canvas.element(Tag::new("title"), TITLE);
    let sentences: Vec<String> = entries.iter().map(sentence).collect();
    canvas.element(Tag::new("desc"), &sentences.join(" "));
    canvas.style(&palette::css_of_downtime());
    canvas
        .leaf(Tag::new("rect").set("class", "page").set("width", "100%").set("height", "100%").set("rx", 6));
    canvas.words("title", MARGIN, 40.0, TITLE);
    let nodes = entries.iter().map(|entry| entry.nodes.len()).max().unwrap_or_default();
    let subtitle = format!(
        "{}: the height of a bar is the number of nodes that are down for so long, in one scale; the thick line is the median.",
        count(nodes, "node")
    );
    canvas.words("big muted", MARGIN, 64.0, &subtitle);
    for (t, _) in time.ticks() {
        canvas.line("grid", (time.x(t), top - 6.0), (time.x(t), bottom));
    }
    let bins: Vec<Vec<u32>> = entries.iter().map(|entry| bins(entry, &time)).collect();
    let most = bins.iter().flatten().copied().max().unwrap_or(1);
    for (position, (entry, bins)) in entries.iter().zip(&bins).enumerate() {
        let top = top + (HEIGHT + GAP) * position as f64;
        let scale = CountScale { top, bottom: top + HEIGHT, most };
        block(&mut canvas, entry, bins, &time, &scale);
    }
    let goal = time.x(GOAL);
    canvas.line("target", (goal, top - 14.0), (goal, bottom));
    canvas.words(
        "halo strong",
        goal + 6.0,
        top - 12.0,
        &format!("the proposal's goal: under {}", duration(GOAL)),
    );
    times(&mut canvas, &time, bottom + 20.0);
    canvas.words("muted", LEFT, bottom + 44.0, "seconds without a Ready pod, per node");
    canvas.close("svg");
    canvas.finish()
}

/// The number of nodes for each bar; those that are never down have none.
fn bins(entry: &RunDowntime<'_>, time: &TimeScale) -> Vec<u32> {
    let mut bins = vec![0; (time.width() / BAR).ceil() as usize];
    for down in entry.nodes.iter().filter(|down| **down > 0) {
        let bin = ((time.x(*down) - time.left) / BAR) as usize;
        if let Some(nodes) = bins.get_mut(bin) {
            *nodes += 1;
        }
    }
    bins
}

/// The bars of one run, and its figures at the left.
fn block(canvas: &mut Canvas, entry: &RunDowntime<'_>, bins: &[u32], time: &TimeScale, scale: &CountScale) {
    let mut data = String::new();
    for (bin, nodes) in bins.iter().enumerate().filter(|(_, nodes)| **nodes > 0) {
        let (x, y) = (time.left + BAR * bin as f64, scale.y(*nodes));
        data.push_str(&format!(
            "M{},{}V{}h{}V{}z",
            Px(x + 0.5),
            Px(scale.bottom),
            Px(y),
            Px(BAR - 1.0),
            Px(scale.bottom)
        ));
    }
    canvas.path("served", &data);
    canvas.line("axis", (time.left, scale.bottom), (time.right, scale.bottom));
    canvas.words("outcome", MARGIN, scale.top + 16.0, &fitting(&entry.run.label, LEFT));
    let Spread { median, p90, most, .. } = entry.spread;
    if most.is_zero() {
        canvas.words("big", MARGIN, scale.top + 38.0, "no node is down");
    } else {
        canvas.words("big", MARGIN, scale.top + 38.0, &format!("median {}", words(median)));
        let rest = format!("90 % within {}, longest {}", words(p90), words(most));
        canvas.words("muted", MARGIN, scale.top + 57.0, &rest);
        let x = time.x(millis(median));
        canvas.line("median", (x, scale.top + 6.0), (x, scale.bottom));
        let label = words(median);
        let right = x + 6.0 + width(&label, 15.0) < time.right;
        let (class, at) = if right { ("halo outcome", x + 6.0) } else { ("halo outcome end", x - 6.0) };
        canvas.words(class, at, scale.top + 16.0, &label);
    }
    canvas.words("muted", MARGIN, scale.top + 75.0, &format!("done in {}", entry.figures.done_in()));
}

fn sentence(entry: &RunDowntime<'_>) -> String {
    let Spread { median, p90, most, .. } = entry.spread;
    let label = &entry.run.label;
    match most.is_zero() {
        true => format!("{label}: no node is ever without a Ready pod."),
        false => {
            format!("{label}: median {}, 90 % within {}, longest {}.", words(median), words(p90), words(most))
        }
    }
}
