//! A node in sentences: whether it should run a pod, which pods it has, which rule holds it, and what comes next.

use crate::case::Case;
use crate::cause::Cause;
use crate::cluster::Said;
use crate::words;
use daemonset::report::{NodeOutcome, NodeVerdict, PodVerdict, Situation, Wait, WaitKind, Warning};

impl Case<'_> {
    /// Everything that matters to a node, the present first.
    pub fn sentences(&self, node: &NodeVerdict) -> Vec<String> {
        let mut sentences = vec![self.placement(node)];
        sentences.extend(self.pods(node));
        sentences.push(self.rule(node));
        sentences.extend(self.failure(node));
        sentences.extend(self.turn(node));
        sentences.extend(self.reached_by_rollout(node));
        sentences.extend(self.unreadable_policy());
        sentences.extend(self.warnings(node));
        sentences
    }

    /// The same for one of its pods.
    pub fn sentences_of_pod(&self, node: &NodeVerdict, pod: &PodVerdict) -> Vec<String> {
        let mut sentences = vec![format!("It is on node {}. {}", node.node, self.pod(node, pod))];
        sentences.extend(self.conflict(pod));
        sentences.push(self.placement(node));
        let others = node.pods.iter().filter(|other| other.pod.uid != pod.pod.uid);
        sentences.extend(others.map(|other| format!("Beside it: {}", self.pod(node, other))));
        sentences.push(self.rule(node));
        sentences.extend(self.failure(node));
        sentences.extend(self.turn(node));
        sentences.extend(self.reached_by_rollout(node));
        sentences.extend(self.unreadable_policy());
        sentences.extend(self.warnings(node));
        sentences
    }

    /// Why its pod has failed or is down, where the rule tells only what comes next.
    fn failure(&self, node: &NodeVerdict) -> Option<String> {
        let is_told = matches!(node.outcome.wait_kind(), Some(WaitKind::Ready | WaitKind::Termination));
        let is_manual = node.outcome.wait_kind() == Some(WaitKind::ManualDelete);
        let cause = self.cause(node).filter(|cause| match cause {
            Cause::PodFailed { said, times, .. } => !is_told && (*said != Said::default() || *times > 1),
            // Its pod is Ready for the moment.
            Cause::CrashLoop { .. } | Cause::NodeFlaps { .. } => !is_told,
            cause => is_manual && cause.is_failure(),
        })?;
        Some(format!("{}.", words::capitalized(&cause.text(self.now)).trim_end_matches('.')))
    }

    /// Why there are no verdicts.
    pub fn situation(&self) -> String {
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

    /// The commands that tell more of its cause, or of those of the nodes that hold it.
    pub fn look(&self, node: &NodeVerdict) -> Vec<String> {
        let of = |node: &NodeVerdict| {
            let of_cause = self.cause(node).map(|cause| self.commands(node, &cause));
            of_cause.or_else(|| self.hindrance(node).map(|(_, commands)| commands))
        };
        of(node).unwrap_or_else(|| {
            let of_users = self.users(node).into_iter().filter_map(of).next();
            of_users.unwrap_or_default()
        })
    }

    fn warnings(&self, node: &NodeVerdict) -> Vec<String> {
        let is_held = matches!(node.outcome, NodeOutcome::Waits(Wait::Rollout { .. }));
        let concerns = |warning: &&Warning| match warning {
            Warning::HostPortWithSurge { .. } => node.counts.surging || node.pods.len() > 1,
            Warning::NodesDownAfterUpdate { .. } => {
                node.counts.down_after_update && !node.counts.deleted_by_update
            }
            Warning::NodesDeletedByUpdate { .. } => node.counts.deleted_by_update,
            Warning::BudgetSpentBeforeStart { .. } => node.counts.down_before,
            Warning::NoStableRevision { .. } | Warning::NothingToRollBackTo | Warning::NotUndone { .. } => {
                is_held
            }
            Warning::PodsLostUnderExternalController { nodes, .. } => nodes.contains(&node.node),
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
        let has_older = self.has_older_version();
        warnings.map(|warning| format!("Warning: {}.", words::without_undo(warning, has_older))).collect()
    }
}
