//! A node in sentences: whether it should run a pod, which pods it has, which rule holds it, and what comes next.

use crate::cluster::Models;
use crate::plan::Planned;
use crate::words::{self, count};
use daemonset::Plan;
use daemonset::report::{Budget, NodeOutcome, NodeVerdict, PodVerdict, Situation, StrategyInForce, Warning};
use jiff::Timestamp;

/// A DaemonSet, its plan, and the objects that the plan was made from.
#[derive(Clone, Copy)]
pub(crate) struct Case<'a> {
    pub(crate) planned: &'a Planned,
    pub(crate) plan: &'a Plan,
    pub(crate) models: &'a Models,
    pub(crate) now: Timestamp,
}

impl Case<'_> {
    /// Everything that matters to a node, the present first.
    pub(crate) fn sentences(&self, node: &NodeVerdict) -> Vec<String> {
        let mut sentences = vec![self.placement(node)];
        sentences.extend(self.pods(node));
        sentences.push(self.rule(node));
        sentences.extend(self.turn(node));
        sentences.extend(self.reached_by_rollout(node));
        sentences.extend(self.unreadable_policy());
        sentences.extend(self.budget(node));
        sentences.extend(self.warnings(node));
        sentences.push(self.next());
        sentences
    }

    /// The same for one of its pods.
    pub(crate) fn sentences_of_pod(&self, node: &NodeVerdict, pod: &PodVerdict) -> Vec<String> {
        let mut sentences = vec![format!("It is on node {}. {}", node.node, self.pod(pod))];
        sentences.extend(self.conflict(pod));
        sentences.push(self.placement(node));
        let others = node.pods.iter().filter(|other| other.pod.uid != pod.pod.uid);
        sentences.extend(others.map(|other| format!("Beside it: {}", self.pod(other))));
        sentences.push(self.rule(node));
        sentences.extend(self.turn(node));
        sentences.extend(self.reached_by_rollout(node));
        sentences.extend(self.unreadable_policy());
        sentences.extend(self.budget(node));
        sentences.extend(self.warnings(node));
        sentences.push(self.next());
        sentences
    }

    fn next(&self) -> String {
        match self.plan.requeue() {
            Some((at, reason)) if at <= self.now => {
                format!("The next plan follows at once: {}.", words::waking(reason))
            }
            Some((at, reason)) => {
                format!("The next plan follows {}: {}.", self.at(at), words::waking(reason))
            }
            None => "The next plan follows when an object changes; time alone changes nothing.".to_owned(),
        }
    }

    /// Why there are no verdicts.
    pub(crate) fn situation(&self) -> String {
        match self.plan.report.situation {
            Situation::Synced => "The node joined after this plan was made.",
            Situation::SelectingAll => {
                "Nothing is done for any node: the selector is empty, and would choose every pod."
            }
            Situation::BeingDeleted => "Nothing is done for any node: the DaemonSet is being deleted.",
            Situation::NameCollision => {
                "The name of the new revision is taken: this plan only raises the collision count, and the next one goes \
                 on with the nodes."
            }
            _ => "Nothing is known of the nodes.",
        }
        .to_owned()
    }

    /// The figures, in words, for a target node with something to wait for.
    fn budget(&self, node: &NodeVerdict) -> Option<String> {
        let (strategy, budget) = (self.plan.report.strategy?, self.plan.report.budget?);
        let settled = matches!(node.outcome, NodeOutcome::UpToDate | NodeOutcome::NotTarget);
        if settled && !node.counts.lost {
            return None;
        }
        let Budget { desired, max_unavailable, max_surge, unavailable, not_ready, .. } = budget;
        let limit = match strategy {
            StrategyInForce::OnDelete => "no limit holds under OnDelete".to_owned(),
            StrategyInForce::Replace(limit) => {
                format!("maxUnavailable {limit} lets {max_unavailable} be without an available pod")
            }
            StrategyInForce::Surge(limit) => format!("maxSurge {limit} lets {max_surge} have two pods"),
            other => format!("{other:?}"),
        };
        let is = if unavailable == 1 { "is" } else { "are" };
        Some(format!(
            "The figures: {} should run a pod (desired); {limit}; {unavailable} {is} without an available one \
             (unavailable), {not_ready} without a Ready one (not Ready).",
            count(desired as usize, "node")
        ))
    }

    fn warnings(&self, node: &NodeVerdict) -> Vec<String> {
        let is_held = matches!(node.outcome, NodeOutcome::HeldByRollout { .. });
        let concerns = |warning: &&Warning| match warning {
            Warning::HostPortWithSurge { .. } => node.counts.doubled || node.pods.len() > 1,
            Warning::NodesLost { .. } => node.counts.lost && !node.counts.taken,
            Warning::NodesTaken { .. } => node.counts.taken,
            Warning::BudgetSpentBeforeStart { .. } => node.counts.down_before,
            Warning::NoBase { .. } | Warning::NothingToRollBackTo | Warning::NotUndone { .. } => is_held,
            Warning::LostUnderDrive { nodes, .. } => nodes.contains(&node.node),
            Warning::InPlaceStuck { nodes, .. } => nodes.contains_key(&node.node),
            Warning::NoTargetNodes | Warning::PodsMissing { .. } => true,
            Warning::RevisionsMissing { .. } => node.pods.iter().any(|pod| !pod.updated),
            // The rule tells of closed gates and taken names already. Pods without a node of theirs; and the settings, which are no
            // single node's.
            Warning::TurnOverdue { .. }
            | Warning::NameTaken { .. }
            | Warning::GenerationHashConflict { .. }
            | Warning::PodsWithoutTarget { .. }
            | Warning::PodsOnUnknownNodes { .. }
            | Warning::PercentRoundsToAll { .. }
            | Warning::EmptyWaves { .. }
            | Warning::BothLimitsSet
            | Warning::BothLimitsZero
            | Warning::StrategyMissing
            | _ => false,
        };
        let warnings = self.plan.warnings.iter().filter(concerns);
        warnings.map(|warning| format!("Warning: {warning}.")).collect()
    }

    /// An instant to come: `at 2026-01-01T00:00:05Z, in 5s`.
    pub(super) fn at(&self, at: Timestamp) -> String {
        format!("at {at}, {}", words::relative(at.max(self.now), self.now).replacen("for 0s", "now", 1))
    }

    /// An instant of the past: `2026-01-01T00:00:05Z (for 5s)`.
    pub(super) fn since(&self, at: Timestamp) -> String {
        format!("{at} ({})", words::relative(at.min(self.now), self.now))
    }

    pub(super) fn maybe_since(&self, at: Option<Timestamp>) -> String {
        at.map(|at| format!(" since {}", self.since(at))).unwrap_or_default()
    }
}
