//! Waits in words: limits, time, other nodes, and obstacles whose cause is in no pod.

use crate::cause::why_node;
use crate::stuck::change::last_change;
use crate::stuck::finding::Finder;
use crate::why::StrategyLimit;
use crate::words;
use daemonset::model::{OwnerReference, Pod};
use daemonset::outlook::ObstacleKind;
use daemonset::report::{GatedTurn, NodeOutcome, NodeVerdict, Wait};
use serde_json::Value;

/// Names at most so many nodes that use a limit.
const MOST_NAMES: usize = 5;
/// Tells of at most so many pods why they are still there.
const MOST_KEPT: usize = 3;
/// The finalizer of a deletion that waits for the pods (v1.36 `metav1.FinalizerDeleteDependents`).
const FOREGROUND: &str = "foregroundDeletion";

impl Finder<'_> {
    /// How a wait for gates ends that nobody opens.
    pub(crate) fn in_the_end(&self, turn: &GatedTurn) -> String {
        match turn.overdue_at.filter(|_| turn.proceeds) {
            Some(at) => format!("; its pod goes all the same {}", self.case.at(at)),
            None => self.gates_stuck_at(turn).map(|at| self.stuck_at(at)).unwrap_or_default(),
        }
    }

    /// ` by node-2`: the other nodes that use the limit.
    pub(crate) fn by_users(&self, node: &NodeVerdict) -> String {
        let limit = StrategyLimit::that_holds(&node.outcome);
        let users = self.users.iter().filter(|(of, _)| Some(*of) == limit).flat_map(|(_, users)| users);
        let mut others = users.filter(|user| user.node != node.node).map(|user| &user.node).peekable();
        match others.peek() {
            None => String::new(),
            Some(_) => format!(" by {}", words::names(others, MOST_NAMES)),
        }
    }

    /// An obstacle whose cause is in no pod.
    pub(super) fn obstacle(&self, node: &NodeVerdict, kind: ObstacleKind) -> (String, Vec<String>) {
        let case = self.case;
        let (name, connection) = (&case.planned.name, case.connection);
        match kind {
            ObstacleKind::NotDone => self.not_done(node),
            ObstacleKind::RolloutPaused => {
                match case.steered().and_then(|steered| Some((steered.while_invalid(), steered.invalid()?))) {
                    Some((meaning, problems)) => {
                        (format!("the rollout {meaning}: {problems}"), vec![case.edit_policy()])
                    }
                    None => {
                        let resume = case.steered().map(|steered| steered.resume());
                        (kind.to_string(), resume.unwrap_or_default())
                    }
                }
            }
            ObstacleKind::WaitsForApproval => {
                let other = case.approval_of_another().unwrap_or_default();
                let approve = format!("{} rollout approve {name}{connection}", case.plugin);
                (format!("{kind}{other}"), vec![approve])
            }
            ObstacleKind::RolloutFailed => {
                let retry = case.steered().and_then(|steered| steered.retry());
                let status = format!("{} rollout status {name}{connection}", case.plugin);
                let retry = retry.map(|command| command + "    # gives the failed version another chance");
                (kind.to_string(), [status].into_iter().chain(case.undo()).chain(retry).collect())
            }
            ObstacleKind::WaitsForDelete => self.waits_for_delete(kind),
            ObstacleKind::DeletedByUpdate | ObstacleKind::DownAfterUpdate | ObstacleKind::NodeUnreachable => {
                let text = words::without_undo(&kind, case.has_older_version());
                (text, vec![case.describe_node(node.node.as_str())])
            }
            ObstacleKind::ClosedGates | ObstacleKind::DoesNotFit | ObstacleKind::NameTaken => {
                (case.rule(node), vec![why_node(&case.view(), name, node.node.as_str())])
            }
            _ => (kind.to_string(), vec![case.describe_daemon_set()]),
        }
    }

    /// `kubectl describe` does not tell of finalizers.
    pub(super) fn being_deleted(&self) -> (String, Vec<String>) {
        let case = self.case;
        let meta = &case.planned.daemon_set.metadata;
        let finalizers = meta.other.get("finalizers").and_then(Value::as_array).into_iter().flatten();
        let (foreground, others): (Vec<&str>, Vec<&str>) =
            finalizers.filter_map(Value::as_str).partition(|name| *name == FOREGROUND);
        let mut text = ObstacleKind::BeingDeleted.to_string();
        let mut commands = vec![case.describe_daemon_set()];
        let is_its = |pod: &&Pod| {
            let owner = OwnerReference::controller_of(&pod.metadata.owner_references);
            pod.metadata.namespace == meta.namespace && owner == Some(meta.uid.as_str())
        };
        let pods: Vec<&Pod> = case.models.pods.iter().filter(is_its).collect();
        if !others.is_empty() {
            let (noun, keeps) =
                if others.len() == 1 { ("finalizer", "keeps") } else { ("finalizers", "keep") };
            text.push_str(&format!("; the {noun} {} {keeps} it", others.join(", ")));
            commands.push(case.drop_finalizers(&others.join(", ")));
        }
        if !foreground.is_empty() && !pods.is_empty() {
            let names = words::names(pods.iter().map(|pod| &pod.metadata.name), MOST_NAMES);
            text.push_str(&format!(
                "; {} of it must be gone first: {names}",
                words::count(pods.len(), "pod")
            ));
            commands.extend(pods.first().map(|pod| case.describe_pod(&pod.metadata.name)));
            let mut kept: Vec<(String, Vec<String>)> = Vec::new();
            for (why, remedy) in pods.iter().filter_map(|pod| case.kept(pod)) {
                // Many pods may have one reason: the first few are told.
                if kept.len() < MOST_KEPT && !kept.iter().any(|(known, _)| *known == why) {
                    kept.push((why, remedy));
                }
            }
            for (why, remedy) in kept {
                text.push_str(&format!("; {why}"));
                commands.extend(remedy);
            }
        }
        (text, commands)
    }

    /// Under OnDelete a person does as the controller would: a pod that is down goes at once, and one that is available once no
    /// other node lacks its pod.
    fn waits_for_delete(&self, kind: ObstacleKind) -> (String, Vec<String>) {
        let case = self.case;
        let waits = |node: &&NodeVerdict| node.outcome == NodeOutcome::Waits(Wait::ManualDelete);
        let (waiting, others): (Vec<_>, Vec<_>) = case.plan.report.nodes.iter().partition(waits);
        let lacking: Vec<_> =
            others.iter().filter(|node| node.counts.unavailable).map(|node| &node.node).collect();
        let outdated = waiting.iter().filter_map(|node| {
            let goal = case.goal(node);
            Some((node.counts.unavailable, node.pods.iter().find(|pod| !goal.is_of(pod))?))
        });
        let first = outdated.min_by_key(|(is_down, _)| !is_down);
        let delete = first.filter(|(is_down, _)| *is_down || lacking.is_empty());
        let delete = delete.map(|(_, pod)| case.delete_pod(&pod.pod.name));
        let before = match lacking.as_slice() {
            [] => String::new(),
            lacking => format!("; without an available pod now: {}", words::names(lacking, MOST_NAMES)),
        };
        let text = format!("{kind}, each once the new pod of the node before is Ready{before}");
        (text, delete.into_iter().chain(case.roll_by_itself()).collect())
    }

    /// The plan acts, and nobody carries it out.
    pub(super) fn not_done(&self, node: &NodeVerdict) -> (String, Vec<String>) {
        let case = self.case;
        match case.hindrance(node) {
            Some(ends) if case.namespace_ends() => return ends,
            Some((refused, commands)) => {
                return (format!("this is due: {}; {refused}", case.plan.summary()), commands);
            }
            None => {}
        }
        let since = last_change(case).map(|at| format!(" since {}", case.since(at))).unwrap_or_default();
        let meta = &case.planned.daemon_set.metadata;
        let observed = case.planned.daemon_set.status.observed_generation;
        let summary = case.plan.summary();
        let counted = self.counts_the_missing_pods();
        let runs = observed >= meta.generation && counted.is_some();
        let text = if observed < meta.generation {
            format!(
                "nothing has happened{since}, though this is due: {summary}. The controller has not seen the DaemonSet as it is \
                 (generation {}, observed {observed}): unless that was changed a moment ago, no controller runs",
                meta.generation
            )
        } else if let Some(counted) = counted {
            format!(
                "no pod has come{since}, though this is due and waits for no limit: {summary}. The controller knows that ({counted}): \
                 most likely the API server refuses its creates, for a quota, a webhook, pod security, or rights that are missing; its \
                 events name the reason"
            )
        } else {
            format!(
                "nothing has happened{since}, though this is due and waits for no limit: {summary}. Either no controller runs, or the \
                 API server refuses its calls: a webhook, a quota, or rights that are missing"
            )
        };
        (text, case.look_for_the_controller(runs))
    }

    /// Whether the controller's status has the very pods of the plan, fewer than it should: so it has run since the last one went.
    fn counts_the_missing_pods(&self) -> Option<String> {
        let status = &self.case.planned.daemon_set.status;
        let (current, desired) = (status.current_number_scheduled, status.desired_number_scheduled);
        let now = self.case.plan.status.as_ref()?;
        let is_now = (now.current_number_scheduled, now.desired_number_scheduled) == (current, desired);
        (is_now && current < desired)
            .then(|| format!("its status counts {current} of {desired} nodes with a pod"))
    }
}
