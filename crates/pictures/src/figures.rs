//! The result of a run, in a few figures.

use crate::curves::Point;
use crate::marks::MarkKind;
use crate::phases::End;
use crate::row::{Row, State};
use crate::run::Run;
use crate::timeline::Timeline;
use daemonset::model::NodeName;
use daemonset_sim::Change;
use daemonset_view::numbers::{count, duration, number};
use std::collections::BTreeSet;

pub struct Figures {
    /// Nodes that count at the end.
    pub nodes: usize,
    /// Those of them that run the current revision, and it is available.
    pub updated: usize,
    /// When a person first changed the spec, or else the start.
    pub asked: i64,
    /// Since when every node runs the current revision; nothing where some do not at the end.
    pub settled: Option<i64>,
    /// When the most nodes were without an available pod.
    pub worst: Point,
    /// The most nodes that the controller itself had taken down at once.
    pub most_taken_down: u32,
    /// When the most nodes had two pods.
    pub most_surging: Point,
    /// Without an available pod at the end.
    pub unavailable: u32,
    /// Node-milliseconds without an available pod.
    pub lost: i64,
    pub created: usize,
    pub crashes: usize,
    /// More than one revision ran, or was to.
    pub updates: bool,
    pub surges: bool,
    /// Nodes that ever got a pod of the current revision.
    pub reached: usize,
    /// Since when all nodes run the old version again, after a failure.
    pub back: Option<i64>,
    /// When the new version failed.
    pub failed: Option<i64>,
    pub end: End,
}

impl Figures {
    pub fn of(run: &Run<'_>, timeline: &Timeline) -> Self {
        let last = |row: &Row| row.spans.last().filter(|span| span.to == timeline.length).cloned();
        let last: Vec<_> = timeline.rows.iter().filter_map(last).filter(|span| span.target).collect();
        let goal = timeline.current.map(State::Available);
        let updated = last.iter().filter(|span| Some(span.state) == goal).count();
        let asked = timeline.marks.iter().find(|mark| matches!(mark.kind, MarkKind::SpecChanged(_)));
        let asked = asked.map_or(0, |mark| mark.t);
        let settled = last.iter().map(|span| span.from).max().unwrap_or_default().max(asked);
        let curves = &timeline.curves;
        let created = |change: &Change| matches!(change, Change::PodCreated(_));
        Figures {
            nodes: last.len(),
            updated,
            asked,
            settled: (updated == last.len()).then_some(settled),
            worst: curves.peak(|point| point.unavailable),
            most_taken_down: curves.peak(|point| point.taken_down).taken_down,
            most_surging: curves.peak(|point| point.surging),
            unavailable: curves.points.last().map_or(0, |point| point.unavailable),
            lost: curves.lost(timeline.length),
            created: run.events.iter().filter(|it| it.t >= run.start && created(&it.change)).count(),
            crashes: timeline.marks.iter().filter(|mark| mark.kind == MarkKind::Crashed).count(),
            updates: timeline.revisions.len() > 1,
            surges: curves.surges,
            reached: reached(run, timeline),
            back: timeline.back,
            failed: timeline.steered.failure.as_ref().map(|failure| failure.t),
            end: timeline.steered.end,
        }
    }

    /// How long the rollout took, where it came to an end.
    pub fn took(&self) -> Option<i64> {
        self.settled.map(|settled| settled - self.asked)
    }

    /// For a table.
    pub fn done_in(&self) -> String {
        let updated = format!("{} of {}", self.updated, self.nodes);
        match (self.took(), self.end, self.back) {
            (Some(took), ..) => duration(took),
            (None, End::RolledBack, Some(back)) => format!("rolled back: {}", duration(back - self.asked)),
            (None, End::Stopped, _) => format!("stopped: {updated}"),
            (None, End::Progressing | End::Paused, _) if self.is_held() => format!("held: {updated}"),
            (None, ..) => format!("never: {updated}"),
        }
    }

    /// When the rollout came to an end, and a word for it.
    pub fn end_of_rollout(&self) -> Option<(i64, &'static str)> {
        let back = self.back.map(|back| (back, "all back"));
        self.settled.map(|settled| (settled, "done")).or(back)
    }

    /// How a rollout ended that the policy stopped or holds.
    fn steered_outcome(&self) -> Option<String> {
        let nodes = format!("{} of {}", number(self.reached), count(self.nodes, "node"));
        let after = |t: Option<i64>| duration(t.unwrap_or_default() - self.asked);
        match self.end {
            End::RolledBack => {
                let back = self.back.map_or_else(
                    || ", and some nodes are not back on the old version".to_owned(),
                    |back| format!(", all on the old version again after {}", after(Some(back))),
                );
                Some(format!("Failed after {}: {nodes} got the new version{back}", after(self.failed)))
            }
            End::Stopped => {
                Some(format!("Failed after {} and stopped: {nodes} got the new version", after(self.failed)))
            }
            End::Progressing | End::Paused if self.is_held() => {
                Some(format!("Held: {nodes} got the new version"))
            }
            End::Unsteered | End::Complete | End::Progressing | End::Paused => None,
        }
    }

    /// Nothing is under way, and some nodes are left.
    fn is_held(&self) -> bool {
        self.settled.is_none() && self.unavailable == 0
    }

    /// How it ended.
    pub fn outcome(&self, length: i64) -> String {
        if let Some(outcome) = self.steered_outcome() {
            return outcome;
        }
        let nodes = self.nodes;
        let adjective = if self.updates { "updated" } else { "available" };
        match self.took() {
            Some(0) => format!("{} available all the time", count(nodes, "node")),
            Some(took) => format!("{} {adjective} in {}", count(nodes, "node"), duration(took)),
            None => {
                let after = duration(length - self.asked);
                let down = count(self.unavailable as usize, "node");
                format!(
                    "Not done after {after}: {} of {} {adjective}, {down} unavailable",
                    number(self.updated),
                    number(nodes)
                )
            }
        }
    }

    /// Its cost.
    pub fn price(&self) -> String {
        let Point { unavailable, max_unavailable, .. } = self.worst;
        if unavailable == 0 {
            return "never a node without an available pod".to_owned();
        }
        let mut text = format!("at worst {} unavailable at once", number(unavailable));
        // The budget binds the controller alone: nodes fail without asking.
        if unavailable > self.most_taken_down {
            text.push_str(&format!(", at most {} by the rollout itself", number(self.most_taken_down)));
        }
        if max_unavailable > 0 && !self.surges {
            text.push_str(&format!(" (budget {})", number(max_unavailable)));
        }
        format!("{text}, {} of downtime over all nodes", duration(self.lost))
    }
}

/// The number of nodes that ever got a pod of the current revision.
fn reached(run: &Run<'_>, timeline: &Timeline) -> usize {
    let current = timeline.current.and_then(|current| timeline.revisions.get(current));
    let events = run.events.iter().filter(|event| event.t >= run.start && event.t <= run.end);
    let reached = events.filter_map(|event| match &event.change {
        Change::PodCreated(pod) | Change::PodChanged { pod, .. } if Some(&pod.revision) == current => {
            Some(&pod.node)
        }
        _ => None,
    });
    reached.collect::<BTreeSet<&NodeName>>().len()
}
