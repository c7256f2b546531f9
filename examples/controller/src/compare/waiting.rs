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
    /// Our verdict when we first looked.
    why: Option<String>,
    deliberate: Option<&'static str>,
    /// Since when a limit of ours holds it back.
    pub(super) held: Option<Duration>,
    back_off: bool,
}

impl Waiting {
    pub(super) fn new(seen: Seen, since: Duration) -> Self {
        Waiting { seen, since, why: None, deliberate: None, held: None, back_off: false }
    }

    /// Keeps what this plan says instead.
    pub(super) fn puzzle(&mut self, plan: &Plan, now: Duration) {
        let verdict = verdict(plan, self.seen.node.as_ref());
        self.why.get_or_insert_with(|| match (verdict, &self.seen.node) {
            (Some(verdict), _) => words::verdict(verdict),
            (None, Some(_)) => format!("{:?}, and no such node", plan.report.situation),
            (None, None) => "not in the plan".to_owned(),
        });
        let outcome = verdict.map(|verdict| &verdict.outcome);
        match outcome {
            Some(NodeOutcome::WaitsForBackOff { .. }) => {
                self.back_off = true;
                self.held.get_or_insert(now);
            }
            Some(NodeOutcome::HeldByMaxUnavailable { .. } | NodeOutcome::HeldByMaxSurge { .. }) => {
                self.held.get_or_insert(now);
            }
            Some(_) | None => {}
        }
        if self.deliberate.is_none() {
            self.deliberate = verdict.and_then(|verdict| deliberate::theirs(&self.seen.act, verdict, plan));
        }
    }

    /// It did not wait for our back-off.
    pub(super) fn is_back_off(&self) -> bool {
        self.back_off
    }

    /// No plan within the window had it.
    pub(super) fn puzzling(self, daemon_set: &str) -> Finding {
        let why = self.why.unwrap_or_else(|| "no plan could be made then".to_owned());
        let (verdict, why) = match self.deliberate {
            Some(name) => (Verdict::Deliberate, format!("[{name}] we: {why}")),
            None => (Verdict::TheyOnly, format!("we: {why}")),
        };
        Finding { verdict, daemon_set: daemon_set.to_owned(), what: self.seen.told, why }
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
