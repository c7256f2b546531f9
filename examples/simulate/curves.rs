//! How many nodes are down over time, and how many may be.

use crate::run::Run;
use crate::timeline::{Row, Span};
use daemonset::sim::Change;
use std::collections::BTreeMap;

/// Step functions of time.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Curves {
    pub(crate) points: Vec<Point>,
    /// Whether the strategy surges at some time: then maxUnavailable plays no part.
    pub(crate) surges: bool,
}

/// What is true from an instant until the next point.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Point {
    pub(crate) t: i64,
    /// Nodes that count.
    pub(crate) nodes: u32,
    /// Those without an available pod.
    pub(crate) unavailable: u32,
    /// Those with two pods.
    pub(crate) doubled: u32,
    /// M, as the controller last saw it.
    pub(crate) max_unavailable: u32,
    /// S, as the controller last saw it.
    pub(crate) max_surge: u32,
}

/// What an edge changes.
#[derive(Default)]
struct Delta {
    nodes: i64,
    unavailable: i64,
    doubled: i64,
    budget: Option<Limits>,
}

#[derive(Clone, Copy)]
struct Limits {
    max_unavailable: u32,
    max_surge: u32,
}

pub(crate) fn curves(run: &Run<'_>, rows: &[Row]) -> Curves {
    let mut edges: BTreeMap<i64, Delta> = BTreeMap::new();
    edges.entry(0).or_default();
    for span in rows.iter().flat_map(|row| &row.spans).filter(|span| span.state.counts()) {
        edges.entry(span.from).or_default().add(span, 1);
        edges.entry(span.to).or_default().add(span, -1);
    }
    for (number, (t, limits)) in limits(run).enumerate() {
        // Before the controller first tells, the budget is what it tells first.
        let t = if number == 0 { 0 } else { t.max(0) };
        edges.entry(t).or_default().budget = Some(limits);
    }
    let mut sums = Delta::default();
    let mut points: Vec<Point> = Vec::new();
    for (t, delta) in edges.range(..run.length()) {
        let point = sums.apply(*t, delta);
        if points.last().is_none_or(|last| Point { t: *t, ..*last } != point) {
            points.push(point);
        }
    }
    Curves { surges: points.iter().any(|point| point.max_surge > 0), points }
}

fn limits(run: &Run<'_>) -> impl Iterator<Item = (i64, Limits)> {
    run.events.iter().filter_map(|event| match &event.change {
        Change::Reconciled(it) => {
            let (max_unavailable, max_surge) = (it.budget.max_unavailable, it.budget.max_surge);
            Some((run.offset(event.t), Limits { max_unavailable, max_surge }))
        }
        _ => None,
    })
}

impl Delta {
    fn add(&mut self, span: &Span, sign: i64) {
        self.nodes += sign;
        self.unavailable += if span.available { 0 } else { sign };
        self.doubled += if span.doubled { sign } else { 0 };
    }

    fn apply(&mut self, t: i64, delta: &Delta) -> Point {
        self.nodes += delta.nodes;
        self.unavailable += delta.unavailable;
        self.doubled += delta.doubled;
        self.budget = delta.budget.or(self.budget);
        let number = |sum: i64| u32::try_from(sum).unwrap_or_default();
        Point {
            t,
            nodes: number(self.nodes),
            unavailable: number(self.unavailable),
            doubled: number(self.doubled),
            max_unavailable: self.budget.map_or(0, |it| it.max_unavailable),
            max_surge: self.budget.map_or(0, |it| it.max_surge),
        }
    }
}

impl Curves {
    /// The first point where most of it is reached.
    pub(crate) fn peak(&self, of: impl Fn(&Point) -> u32) -> Point {
        let mut peak = self.points.first().copied().unwrap_or_default();
        for point in &self.points {
            if of(point) > of(&peak) {
                peak = *point;
            }
        }
        peak
    }

    /// The points before an instant.
    pub(crate) fn until(&self, t: i64) -> &[Point] {
        self.points.get(..self.points.partition_point(|point| point.t < t)).unwrap_or_default()
    }

    /// The budget in force: maxSurge where the strategy surges, or else maxUnavailable.
    pub(crate) fn limit(&self, point: &Point) -> u32 {
        if self.surges { point.max_surge } else { point.max_unavailable }
    }

    /// Milliseconds without an available pod, over all nodes.
    pub(crate) fn lost(&self, length: i64) -> i64 {
        let ends = self.points.iter().skip(1).map(|point| point.t).chain([length]);
        self.points.iter().zip(ends).map(|(point, end)| i64::from(point.unavailable) * (end - point.t)).sum()
    }
}
