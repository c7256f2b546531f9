//! Actions that only one side has so far: [theirs](UnmatchedTheirs), until a plan of ours explains them, and
//! [ours](UnmatchedOurs), until they do them.

use crate::action_id::ActionId;
use crate::observed::ObservedAction;
use crate::verdict::{ComparisonFinding, Verdict};
use crate::{describe, known_differences};
use daemonset::model::NodeName;
use daemonset::report::{NodeOutcome, NodeVerdict, Situation, Wait};
use daemonset::{Action, DeleteReason, Plan};
use std::time::Duration;

/// An action of theirs that no plan of ours has contained so far.
#[derive(Debug)]
pub(crate) struct UnmatchedTheirs {
    pub(crate) action: ObservedAction,
    pub(crate) since: Duration,
    our_view: Option<OurView>,
}

/// The decision of our plan for the same node.
#[derive(Debug)]
struct OurView {
    description: String,
    deliberate: Option<&'static str>,
    held_back: Option<HeldBack>,
}

/// Our plan has a reason for the action, too, but holds it back.
#[derive(Debug)]
struct HeldBack {
    since: Duration,
    by: HeldBy,
}

#[derive(Debug, PartialEq, Eq)]
enum HeldBy {
    Limit,
    BackOff,
}

impl UnmatchedTheirs {
    pub(crate) fn new(action: ObservedAction, since: Duration) -> Self {
        UnmatchedTheirs { action, since, our_view: None }
    }

    /// Keeps the view of the first plan. A later plan replaces it only if it now has a reason for the action and holds it
    /// back: that explains the difference better. Other later plans show a cluster that has moved on since the action.
    pub(crate) fn note_plan(&mut self, plan: &Plan, now: Duration) {
        let verdict = node_verdict(plan, self.action.node.as_ref());
        let held_back = verdict.and_then(|verdict| HeldBack::new(&verdict.outcome, now));
        let was_held_back = self.our_view.as_ref().is_some_and(|view| view.held_back.is_some());
        if self.our_view.is_some() && (was_held_back || held_back.is_none()) {
            return;
        }
        let description = match (verdict, &self.action.node) {
            (Some(verdict), _) => describe::node(verdict),
            (None, Some(_)) => format!("{}, and no such node", describe::situation(plan.report.situation)),
            (None, None) => "not in the plan".to_owned(),
        };
        let deliberate =
            verdict.and_then(|verdict| known_differences::explaining_theirs(&self.action.id, verdict, plan));
        self.our_view = Some(OurView { description, deliberate, held_back });
    }

    /// Whether our plan has held the action back for at least this time.
    pub(crate) fn is_held_back_for(&self, time: Duration, now: Duration) -> bool {
        self.held_back().is_some_and(|held| now.saturating_sub(held.since) >= time)
    }

    /// Whether they did not wait for our back-off.
    pub(crate) fn ignores_back_off(&self) -> bool {
        self.held_back().is_some_and(|held| held.by == HeldBy::BackOff)
    }

    fn held_back(&self) -> Option<&HeldBack> {
        self.our_view.as_ref()?.held_back.as_ref()
    }

    /// The finding once no plan within the window has contained the action.
    pub(crate) fn into_finding(self, daemon_set: &str) -> ComparisonFinding {
        let (verdict, explanation) = match self.our_view {
            Some(OurView { description, deliberate: Some(name), .. }) => {
                (Verdict::Deliberate, format!("[{name}] we: {description}"))
            }
            Some(OurView { description, deliberate: None, .. }) => {
                (Verdict::TheyOnly, format!("we: {description}"))
            }
            None => (Verdict::TheyOnly, "no plan could be made then".to_owned()),
        };
        ComparisonFinding {
            verdict,
            daemon_set: daemon_set.to_owned(),
            subject: self.action.description,
            explanation,
        }
    }
}

impl HeldBack {
    fn new(outcome: &NodeOutcome, since: Duration) -> Option<Self> {
        let by = match outcome {
            NodeOutcome::Waits(Wait::MaxUnavailable { .. }) | NodeOutcome::Waits(Wait::MaxSurge { .. }) => {
                HeldBy::Limit
            }
            NodeOutcome::Waits(Wait::BackOff { .. }) => HeldBy::BackOff,
            _ => return None,
        };
        Some(HeldBack { since, by })
    }
}

/// An action of ours that they were not seen to do so far.
#[derive(Debug)]
pub(crate) struct UnmatchedOurs {
    pub(crate) action: Action,
    pub(crate) since: Duration,
    pub(crate) is_reported: bool,
}

impl UnmatchedOurs {
    /// The finding once our plans have contained the action for the whole grace time.
    pub(crate) fn finding(&self, daemon_set: &str, plan: &Plan, grace: Duration) -> ComparisonFinding {
        let node = match &self.action {
            Action::CreatePod { node, .. } | Action::DeletePod { node, .. } => Some(node),
            _ => None,
        };
        let node = node_verdict(plan, node);
        let node_text = node.map(|node| format!(", {}", describe::node(node))).unwrap_or_default();
        let reason = describe::reason(&self.action);
        let back_off = match &self.action {
            Action::DeletePod { reason: DeleteReason::FailedPod, .. } => {
                "; they may back off for failures from before this process began"
            }
            _ => "",
        };
        let explanation = format!("we for {} s: {reason}{node_text}{back_off}", grace.as_secs());
        let deliberate = node.and_then(|node| known_differences::explaining_ours(&self.action, node, plan));
        let (verdict, explanation) = match deliberate {
            Some(name) => (Verdict::Deliberate, format!("[{name}] {explanation}")),
            None => (Verdict::WeOnly, explanation),
        };
        let subject = describe::action(&self.action);
        ComparisonFinding { verdict, daemon_set: daemon_set.to_owned(), subject, explanation }
    }
}

/// The other component that did this action, where the plan reveals that it was not the DaemonSet controller.
pub(crate) fn done_by_garbage_collector(action: &ObservedAction, plan: &Plan) -> Option<&'static str> {
    match (&plan.report.situation, &action.id, &action.node) {
        (Situation::BeingDeleted, _, _) => Some("the DaemonSet is being deleted: the garbage collector"),
        (Situation::Synced, ActionId::DeletePod(_), Some(node))
            if node_verdict(plan, Some(node)).is_none() =>
        {
            Some("the node is gone: the pod garbage collector")
        }
        _ => None,
    }
}

/// The plan's verdict on a node.
pub(crate) fn node_verdict<'p>(plan: &'p Plan, node: Option<&NodeName>) -> Option<&'p NodeVerdict> {
    plan.report.node(node?.as_str())
}
