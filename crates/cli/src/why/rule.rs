//! The rule that holds a node, and what would have to happen.

use crate::plan::{Context, outcome, state};
use crate::steered::{has_available, is_live};
use crate::why::node::Case;
use crate::words::{self, count};
use daemonset::report::{NodeOutcome, NodeVerdict, PodState, PodVerdict};
use daemonset::{CreateReason, DeleteReason, Rejections};
use jiff::{SignedDuration, Timestamp};

/// Names at most so many nodes.
const MOST_NAMES: usize = 5;

impl Case<'_> {
    /// The rule that holds the node, and what would have to happen.
    pub(super) fn rule(&self, node: &NodeVerdict) -> String {
        match &node.outcome {
            NodeOutcome::UpToDate | NodeOutcome::NotTarget => nothing_to_do(node),
            NodeOutcome::Create { reason, batch, rejected, .. } => {
                creates(*reason, *batch) + &rejected_before(*rejected)
            }
            NodeOutcome::Delete { reason, rejected, .. } => {
                self.after_delete(*reason) + &rejected_before(*rejected)
            }
            NodeOutcome::UpdateInPlace { reason, rejected, .. } => {
                self.changes_in_place(*reason) + &rejected_before(*rejected)
            }
            NodeOutcome::WaitsForNextPlan
            | NodeOutcome::HeldByMaxUnavailable { .. }
            | NodeOutcome::HeldByMaxSurge { .. }
            | NodeOutcome::WaitsForTargets { .. }
            | NodeOutcome::WaitsForDelete => self.held(node),
            _ => self.waits(node),
        }
    }

    /// A limit or a person decides when the node goes on.
    fn held(&self, node: &NodeVerdict) -> String {
        match &node.outcome {
            NodeOutcome::HeldByMaxUnavailable { used, limit, .. } => {
                self.held_by_max_unavailable(node, *used, *limit)
            }
            NodeOutcome::HeldByMaxSurge { used, limit, .. } => self.held_by_max_surge(node, *used, *limit),
            NodeOutcome::WaitsForDelete => self.held_by_on_delete(node),
            NodeOutcome::WaitsForTargets { unavailable, leaving, .. } => format!(
                "The template no longer tolerates a taint of this node, so that its pod goes. Nodes that leave in this way: \
                 {leaving}; target nodes without an available pod: {unavailable}. Under surge as many of the leaving nodes as \
                 that keep their pods, the last ones by name, until the target nodes are served."
            ),
            NodeOutcome::WaitsForNextPlan => self.name_taken(node).unwrap_or_else(|| self.next_plan()),
            other => format!("It {other}."),
        }
    }

    fn next_plan(&self) -> String {
        format!(
            "Something is due here, but this plan is full: it creates and deletes at most {} each.",
            count(self.planned.policy.burst as usize, "pod")
        )
    }

    fn held_by_on_delete(&self, node: &NodeVerdict) -> String {
        let pod = outdated(node).map_or("POD", |pod| pod.pod.name.as_str());
        let namespace = &self.planned.daemon_set.metadata.namespace;
        format!(
            "The strategy is OnDelete: its outdated pod stays until somebody deletes it, as by kubectl delete \
             pod -n {namespace} {pod}."
        )
    }

    /// Time, a kubelet or a cache decides when the node goes on.
    fn waits(&self, node: &NodeVerdict) -> String {
        match &node.outcome {
            NodeOutcome::WaitsForReady => self.waits_for_ready(node),
            NodeOutcome::WaitsForMinReady { until: Some(_), .. } => format!(
                "It waits for minReadySeconds ({}s): until they have passed, the node counts as unavailable.",
                self.planned.daemon_set.spec.min_ready_seconds
            ),
            NodeOutcome::WaitsForMinReady { until: None, .. } => {
                "It waits for minReadySeconds, which never pass: the pod's Ready condition tells no time."
                    .to_owned()
            }
            NodeOutcome::WaitsForTermination { overdue_at, .. } => {
                self.waits_for_termination(node, *overdue_at)
            }
            NodeOutcome::WaitsForBackOff { until, failures, .. } => {
                format!("Its pod has failed {}; the next attempt is {}.", times(*failures), self.at(*until))
            }
            NodeOutcome::WaitsForCreatedPod { until, .. } => format!(
                "A pod was created for {} that is not seen yet; if it is not seen until {until} ({}), it is created again.",
                node.node,
                words::relative(*until, self.now)
            ),
            NodeOutcome::WaitsForReturn { since, .. } => format!(
                "The update deleted its pod at {since} ({}), no updated pod has been Ready here since, and the node should not \
                 run one now: perhaps a taint or a label appears while the daemon is away. It counts against the limit until a \
                 Ready updated pod is here or the node is gone: remove the taint or label, let the template tolerate it, or \
                 remove the node.",
                words::relative(*since, self.now)
            ),
            NodeOutcome::HeldByRollout { because, .. } => self.held_by_rollout(node, because),
            NodeOutcome::LeftAlone { lifecycle, .. } => format!(
                "The policy leaves it alone, because {}: it gets no pod, and a Ready pod stays. It takes part again once that \
                 is over.",
                lifecycle
            ),
            _ => self.waits_in_turn(node),
        }
    }

    fn after_delete(&self, reason: DeleteReason) -> String {
        let then = match reason {
            DeleteReason::NodeExcluded | DeleteReason::NodeGone => "No other pod follows",
            DeleteReason::ExcessPod
            | DeleteReason::SuccessorAvailable
            | DeleteReason::NotReadyBesideSuccessor => "The other pod of the node stays",
            DeleteReason::SucceededPod
            | DeleteReason::FailedPod
            | DeleteReason::TolerationWithdrawn
            | DeleteReason::OutdatedPending
            | DeleteReason::OutdatedNotReady
            | DeleteReason::OutdatedNotYetAvailable
            | DeleteReason::OutdatedAvailable => "An updated pod follows when it is gone",
            _ => "A later plan goes on",
        };
        format!("{then}.")
    }

    fn held_by_max_unavailable(&self, node: &NodeVerdict, used: u32, limit: u32) -> String {
        let others = self.users(node, |it| {
            let goes = matches!(it.outcome, NodeOutcome::Delete { reason, .. } if within_budget(reason));
            it.counts.unavailable || it.counts.lost || goes
        });
        format!(
            "Its outdated pod waits, because maxUnavailable is spent: {} may be without an available pod, and {used} {} \
             so.{} It goes once {} an available pod again.",
            count(limit as usize, "node"),
            if used == 1 { "is" } else { "are" },
            self.spent_by(&others),
            have(used.saturating_sub(limit) + 1, &others)
        )
    }

    fn held_by_max_surge(&self, node: &NodeVerdict, used: u32, limit: u32) -> String {
        let others = self.users(node, |it| {
            let surges = matches!(it.outcome, NodeOutcome::Create { reason: CreateReason::Surge, .. });
            it.counts.doubled || it.counts.lost || surges
        });
        format!(
            "Its outdated pod waits, because maxSurge is spent: {} may have two pods, and {used} {}.{} The updated pod \
             comes beside it once {} a single pod again.",
            count(limit as usize, "node"),
            if used == 1 { "has" } else { "have" },
            self.spent_by(&others),
            have(used.saturating_sub(limit) + 1, &others)
        )
    }

    /// The other nodes that use the limit.
    fn users(&self, node: &NodeVerdict, uses: impl Fn(&NodeVerdict) -> bool) -> Vec<&NodeVerdict> {
        self.plan.report.nodes.iter().filter(|it| it.node != node.node && uses(it)).collect()
    }

    /// ` It is spent by node-2 (waits until Ready).`
    fn spent_by(&self, nodes: &[&NodeVerdict]) -> String {
        let named = nodes.iter().map(|node| format!("{} ({})", node.node, self.in_short(node)));
        match nodes {
            [] => String::new(),
            _ => format!(" It is spent by {}.", words::names(named, MOST_NAMES)),
        }
    }

    /// `web-1 Pending for 40s`, or the outcome of the node.
    fn in_short(&self, node: &NodeVerdict) -> String {
        let is_late = |pod: &&PodVerdict| {
            pod.updated && matches!(pod.state, PodState::NotReady { .. } | PodState::Pending { .. })
        };
        match (&node.outcome, node.pods.iter().find(is_late)) {
            (NodeOutcome::WaitsForReady, Some(pod)) => {
                let context = Context {
                    now: self.now,
                    min_ready: SignedDuration::from_secs(
                        self.planned.daemon_set.spec.min_ready_seconds.into(),
                    ),
                    current: None,
                };
                format!("{} {}", pod.pod.name, state(pod.state, context).text(self.now))
            }
            _ => outcome(node).text(self.now).replace(" (", ", ").replace(')', ""),
        }
    }

    fn waits_for_ready(&self, node: &NodeVerdict) -> String {
        let pod = node.pods.iter().find(|pod| {
            pod.updated && matches!(pod.state, PodState::NotReady { .. } | PodState::Pending { .. })
        });
        let namespace = &self.planned.daemon_set.metadata.namespace;
        let has_outdated = node.pods.iter().any(|pod| !pod.updated && is_live(pod.state));
        let then =
            if has_outdated { " Its outdated pod goes once the updated one is available." } else { "" };
        let waits = match pod {
            Some(pod) => {
                let name = &pod.pod.name;
                match self.models.troubles.get(&pod.pod.uid) {
                    Some(trouble) => {
                        format!("It waits until {name} is Ready. {}.", trouble.trim_end_matches('.'))
                    }
                    None => format!(
                        "It waits until {name} is Ready; kubectl describe pod -n {namespace} {name} shows what keeps it."
                    ),
                }
            }
            None => "It waits until its updated pod is Ready.".to_owned(),
        };
        waits + then
    }

    fn waits_for_termination(&self, node: &NodeVerdict, overdue_at: Option<Timestamp>) -> String {
        let terminating = node.pods.iter().filter(|pod| matches!(pod.state, PodState::Terminating { .. }));
        let names: Vec<&str> = terminating.map(|pod| pod.pod.name.as_str()).collect();
        let names = if names.is_empty() { "its pod".to_owned() } else { names.join(" and ") };
        match overdue_at {
            Some(at) if at <= self.now => format!(
                "It waits until {names} is gone, which is overdue: its kubelet does not answer, or a finalizer holds it."
            ),
            Some(_) | None => format!("It waits until {names} is gone: an updated pod follows then."),
        }
    }
}

fn nothing_to_do(node: &NodeVerdict) -> String {
    match &node.outcome {
        NodeOutcome::NotTarget if node.pods.is_empty() => "Nothing is to be done here.".to_owned(),
        NodeOutcome::NotTarget => "Nothing is done to its pod.".to_owned(),
        _ if has_available(node) => {
            "Nothing is to be done here: its pod is updated and available.".to_owned()
        }
        _ => "Nothing is to be done here: its pod is of the base revision, and available.".to_owned(),
    }
}

/// Where a limit decides, [`Memory`](daemonset::Memory) lets other nodes go first.
fn rejected_before(rejected: Option<Rejections>) -> String {
    let Some(Rejections { since, count: times, .. }) = rejected else { return String::new() };
    let times = count(times as usize, "time");
    format!(
        " The API server has rejected that {times} in a row, for the first time at {since}: look at webhooks, quotas and rights."
    )
}

fn creates(reason: CreateReason, batch: u32) -> String {
    let after = match batch {
        0 => "at once".to_owned(),
        batch => format!("in batch {batch}, once the batches before have gone well"),
    };
    match reason {
        CreateReason::MissingPod => format!("This plan creates its pod {after}, because it has none."),
        CreateReason::Surge => format!(
            "This plan creates its updated pod {after}, beside the outdated one, which goes when the new one is \
             available."
        ),
        other => format!("This plan creates a pod {after}: {other:?}."),
    }
}

fn outdated(node: &NodeVerdict) -> Option<&PodVerdict> {
    node.pods.iter().find(|pod| !pod.updated)
}

fn within_budget(reason: DeleteReason) -> bool {
    matches!(reason, DeleteReason::OutdatedAvailable | DeleteReason::OutdatedNotYetAvailable)
}

/// `2 of these nodes have`.
fn have(number: u32, nodes: &[&NodeVerdict]) -> String {
    match (number, nodes) {
        (_, []) => "a node has".to_owned(),
        (1, [only]) => format!("{} has", only.node),
        (1, _) => "one of these nodes has".to_owned(),
        (more, _) => format!("{more} of these nodes have"),
    }
}

fn times(number: u32) -> String {
    match number {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{more} times"),
    }
}
