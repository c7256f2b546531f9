//! How many nodes are down over time, and how many may be.

use crate::row::Row;
use crate::run::Run;
use daemonset::report::Budget;
use daemonset_sim::{Change, availability};
use std::collections::BTreeMap;

/// Step functions of time.
#[derive(Debug, Default, PartialEq)]
pub struct Curves {
    pub points: Vec<Point>,
    /// Whether the strategy surges at some time: then maxUnavailable plays no part.
    pub surges: bool,
}

/// The counts from an instant until the next point.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Point {
    pub t: i64,
    /// Target nodes.
    pub nodes: u32,
    /// Those without an available pod.
    pub unavailable: u32,
    /// Those of them that the controller took down.
    pub taken_down: u32,
    /// Those with two pods.
    pub surging: u32,
    /// M, as the controller last saw it.
    pub max_unavailable: u32,
    /// S, as the controller last saw it.
    pub max_surge: u32,
}

/// A change at an instant; at the same one, nodes begin to surge first.
enum Edge {
    Surging(i64),
    Budget { max_unavailable: u32, max_surge: u32 },
    Availability { nodes: u32, unavailable: u32, taken_down: u32 },
}

/// The library counts target nodes and available ones; the rows show the nodes with two pods.
pub fn curves(run: &Run<'_>, rows: &[Row]) -> Curves {
    let mut edges = surging(rows);
    edges.extend(budgets(run));
    for it in availability(run.events) {
        let (nodes, unavailable, taken_down) = (it.desired, it.unavailable, it.taken_down);
        let edge = Edge::Availability { nodes, unavailable, taken_down };
        edges.push((run.offset(it.t).max(0), edge));
    }
    edges.sort_by_key(|(t, _)| *t);
    let mut surging = 0;
    let mut points = vec![Point::default()];
    for (t, edge) in edges.into_iter().take_while(|(t, _)| *t < run.length()) {
        let mut next = Point { t, ..points.last().copied().unwrap_or_default() };
        match edge {
            Edge::Surging(change) => {
                surging += change;
                next.surging = u32::try_from(surging).unwrap_or_default();
            }
            Edge::Budget { max_unavailable, max_surge } => {
                (next.max_unavailable, next.max_surge) = (max_unavailable, max_surge)
            }
            Edge::Availability { nodes, unavailable, taken_down } => {
                next = Point { nodes, unavailable, taken_down, ..next };
            }
        }
        add(&mut points, next);
    }
    Curves { surges: points.iter().any(|point| point.max_surge > 0), points }
}

/// Keeps the worst value of an instant and its last one.
fn add(points: &mut Vec<Point>, next: Point) {
    match points.last_mut() {
        Some(last) if Point { t: next.t, ..*last } == next => {}
        // Points before the start are left out, and so are those that another one at the same instant replaces.
        Some(last) if last.t == next.t && (next.t == 0 || next.unavailable >= last.unavailable) => {
            *last = next
        }
        Some(_) | None => points.push(next),
    }
}

/// Nodes that get a second pod, or lose one.
fn surging(rows: &[Row]) -> Vec<(i64, Edge)> {
    let mut changes: BTreeMap<i64, i64> = BTreeMap::new();
    for span in rows.iter().flat_map(|row| &row.spans).filter(|span| span.surging && span.target) {
        *changes.entry(span.from).or_default() += 1;
        *changes.entry(span.to).or_default() -= 1;
    }
    changes.into_iter().map(|(t, change)| (t, Edge::Surging(change))).collect()
}

/// The limits that the controller reckoned with; before its first reconcile, those of the first.
fn budgets(run: &Run<'_>) -> impl Iterator<Item = (i64, Edge)> {
    let reconciles = run.events.iter().filter_map(|event| match &event.change {
        Change::Reconciled(it) => Some((run.offset(event.t).max(0), it.budget)),
        _ => None,
    });
    reconciles.enumerate().map(|(number, (t, budget))| {
        let Budget { max_unavailable, max_surge, .. } = budget;
        (if number == 0 { 0 } else { t }, Edge::Budget { max_unavailable, max_surge })
    })
}

impl Curves {
    /// The first point where most of it is reached.
    pub fn peak(&self, of: impl Fn(&Point) -> u32) -> Point {
        let mut peak = self.points.first().copied().unwrap_or_default();
        for point in &self.points {
            if of(point) > of(&peak) {
                peak = *point;
            }
        }
        peak
    }

    /// The points before an instant.
    pub fn until(&self, t: i64) -> &[Point] {
        self.points.get(..self.points.partition_point(|point| point.t < t)).unwrap_or_default()
    }

    /// The budget in force: maxSurge where the strategy surges, or else maxUnavailable.
    pub fn limit(&self, point: &Point) -> u32 {
        if self.surges { point.max_surge } else { point.max_unavailable }
    }

    /// Milliseconds without an available pod, over all nodes.
    pub fn lost(&self, length: i64) -> i64 {
        let ends = self.points.iter().skip(1).map(|point| point.t).chain([length]);
        self.points.iter().zip(ends).map(|(point, end)| i64::from(point.unavailable) * (end - point.t)).sum()
    }
}
