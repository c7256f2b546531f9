//! An action of theirs that is to be explained: what our plans say instead, and whether it is theirs at all.

use super::act::Act;
use super::deliberate;
use super::seen::Seen;
use super::verdict::{Finding, Verdict};
use super::words;
use daemonset::model::NodeName;
use daemonset::{NodeOutcome, NodeVerdict, Plan, Situation};
use std::time::Duration;

/// An action of theirs that no plan of ours has had so far.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) seen: Seen,
    pub(super) since: Duration,
    puzzle: Option<Puzzle>,
}

/// What a plan says instead.
#[derive(Debug)]
struct Puzzle {
    why: String,
    deliberate: Option<&'static str>,
    held: Option<Held>,
}

/// Ours has the same reason, and waits.
#[derive(Debug)]
struct Held {
    since: Duration,
    by: Holder,
}

#[derive(Debug, PartialEq, Eq)]
enum Holder {
    Limit,
    BackOff,
}

impl Waiting {
    pub(super) fn new(seen: Seen, since: Duration) -> Self {
        Waiting { seen, since, puzzle: None }
    }

    /// Keeps what the first plan says. One that has the reason by now says it better, but one that was made after they went
    /// on says nothing of what was then.
    pub(super) fn puzzle(&mut self, plan: &Plan, now: Duration) {
        let verdict = verdict(plan, self.seen.node.as_ref());
        let held = verdict.and_then(|verdict| Held::by(&verdict.outcome, now));
        let has_reason = self.puzzle.as_ref().is_some_and(|puzzle| puzzle.held.is_some());
        if self.puzzle.is_some() && (has_reason || held.is_none()) {
            return;
        }
        let why = match (verdict, &self.seen.node) {
            (Some(verdict), _) => words::verdict(verdict),
            (None, Some(_)) => format!("{:?}, and no such node", plan.report.situation),
            (None, None) => "not in the plan".to_owned(),
        };
        let deliberate = verdict.and_then(|verdict| deliberate::theirs(&self.seen.act, verdict, plan));
        self.puzzle = Some(Puzzle { why, deliberate, held });
    }

    /// Whether ours waits for so long.
    pub(super) fn is_held(&self, now: Duration, long: Duration) -> bool {
        self.held().is_some_and(|held| now.saturating_sub(held.since) >= long)
    }

    /// It did not wait for our back-off.
    pub(super) fn is_back_off(&self) -> bool {
        self.held().is_some_and(|held| held.by == Holder::BackOff)
    }

    fn held(&self) -> Option<&Held> {
        self.puzzle.as_ref()?.held.as_ref()
    }

    /// No plan within the window had it.
    pub(super) fn puzzling(self, daemon_set: &str) -> Finding {
        let (verdict, why) = match self.puzzle {
            Some(Puzzle { why, deliberate: Some(name), .. }) => {
                (Verdict::Deliberate, format!("[{name}] we: {why}"))
            }
            Some(Puzzle { why, deliberate: None, .. }) => (Verdict::TheyOnly, format!("we: {why}")),
            None => (Verdict::TheyOnly, "no plan could be made then".to_owned()),
        };
        Finding { verdict, daemon_set: daemon_set.to_owned(), what: self.seen.told, why }
    }
}

impl Held {
    fn by(outcome: &NodeOutcome, since: Duration) -> Option<Self> {
        let by = match outcome {
            NodeOutcome::HeldByMaxUnavailable { .. } | NodeOutcome::HeldByMaxSurge { .. } => Holder::Limit,
            NodeOutcome::WaitsForBackOff { .. } => Holder::BackOff,
            _ => return None,
        };
        Some(Held { since, by })
    }
}

/// What others than the DaemonSet controller do to its pods, where it can be told.
pub(super) fn not_theirs(seen: &Seen, plan: &Plan) -> Option<&'static str> {
    match (&plan.report.situation, &seen.act, &seen.node) {
        (Situation::BeingDeleted, _, _) => Some("the DaemonSet is being deleted: the garbage collector"),
        (Situation::Synced, Act::DeletePod(_), Some(node)) if verdict(plan, Some(node)).is_none() => {
            Some("the node is gone: the pod garbage collector")
        }
        _ => None,
    }
}

/// The nodes of a report are by name.
pub(super) fn verdict<'p>(plan: &'p Plan, node: Option<&NodeName>) -> Option<&'p NodeVerdict> {
    let nodes = &plan.report.nodes;
    let node = node?;
    let at = nodes.binary_search_by(|verdict| verdict.node.cmp(node)).ok()?;
    nodes.get(at)
}
