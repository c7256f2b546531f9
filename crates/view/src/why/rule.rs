//! The rule that holds a node, and what would have to happen.

use crate::case::Case;
use crate::goal::GoalPhrase;
use crate::plan::phrase::outcome;
use crate::steered::{has_available, is_live};
use crate::words::{self, count};
use daemonset::report::{NodeOutcome, NodeVerdict, PodState, Rejections, Wait};
use daemonset::{CreateReason, DeleteReason};

/// Names at most so many nodes.
const MOST_NAMES: usize = 5;

/// A limit of the update strategy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StrategyLimit {
    MaxUnavailable,
    MaxSurge,
}

impl StrategyLimit {
    pub fn that_holds(outcome: &NodeOutcome) -> Option<Self> {
        match outcome {
            NodeOutcome::Waits(Wait::MaxSurge { .. }) => Some(StrategyLimit::MaxSurge),
            NodeOutcome::Waits(Wait::MaxUnavailable { .. }) => Some(StrategyLimit::MaxUnavailable),
            _ => None,
        }
    }

    fn is_used_by(self, node: &NodeVerdict) -> bool {
        let NodeVerdict { counts, outcome, .. } = node;
        match self {
            StrategyLimit::MaxSurge => {
                let surges = matches!(outcome, NodeOutcome::Create { reason: CreateReason::Surge, .. });
                counts.surging || counts.down_after_update || surges
            }
            StrategyLimit::MaxUnavailable => {
                let goes = matches!(outcome, NodeOutcome::Delete { reason, .. } if within_budget(*reason));
                counts.unavailable || counts.down_after_update || goes
            }
        }
    }
}

impl<'a> Case<'a> {
    /// The nodes that use a limit.
    pub fn users_of(&self, limit: StrategyLimit) -> Vec<&'a NodeVerdict> {
        self.plan.report.nodes.iter().filter(|node| limit.is_used_by(node)).collect()
    }
}

impl Case<'_> {
    /// The rule that holds the node, and what would have to happen.
    pub fn rule(&self, node: &NodeVerdict) -> String {
        match &node.outcome {
            NodeOutcome::UpToDate | NodeOutcome::NotTarget => nothing_to_do(node),
            NodeOutcome::Create { reason, batch, rejected, .. } => {
                creates(self.goal(node), *reason, *batch) + &rejected_before(*rejected) + &self.hindered(node)
            }
            NodeOutcome::Delete { reason, rejected, .. } => {
                after_delete(self.goal(node), *reason) + &rejected_before(*rejected) + &self.hindered(node)
            }
            NodeOutcome::UpdateInPlace { reason, rejected, .. } => {
                self.changes_in_place(node, *reason) + &rejected_before(*rejected)
            }
            NodeOutcome::TurnBegins => self.turn_begins(),
            NodeOutcome::Waits(wait) => self.rule_of_wait(node, wait),
        }
    }

    fn hindered(&self, node: &NodeVerdict) -> String {
        let told = self.hindrance(node);
        told.map(|(told, _)| format!(" {}.", words::capitalized(&told))).unwrap_or_default()
    }

    pub(crate) fn held_by_on_delete(&self, node: &NodeVerdict) -> String {
        let goal = self.goal(node);
        let pod = node.pods.iter().find(|pod| !goal.is_of(pod)).map_or("POD", |pod| pod.pod.name.as_str());
        let (other, delete) = (goal.other(), self.delete_pod(pod));
        format!("The strategy is OnDelete: its {other} stays until somebody deletes it, as by {delete}.")
    }

    pub(crate) fn held_by_max_unavailable(&self, node: &NodeVerdict, used: u32, limit: u32) -> String {
        let others = self.users(node);
        format!(
            "Its {} waits, because maxUnavailable is spent: {} may be without an available pod, and {used} {} so.{} It goes \
             once {} an available pod again.",
            self.goal(node).other(),
            count(limit as usize, "node"),
            if used == 1 { "is" } else { "are" },
            self.spent_by(&others),
            have(used.saturating_sub(limit) + 1, &others)
        )
    }

    pub(crate) fn held_by_max_surge(&self, node: &NodeVerdict, used: u32, limit: u32) -> String {
        let others = self.users(node);
        let goal = self.goal(node);
        format!(
            "Its {} waits, because maxSurge is spent: {} may have two pods, and {used} {}.{} The {} comes beside it once {} \
             a single pod again.",
            goal.other(),
            count(limit as usize, "node"),
            if used == 1 { "has" } else { "have" },
            self.spent_by(&others),
            goal.wanted(),
            have(used.saturating_sub(limit) + 1, &others)
        )
    }

    /// The other nodes that use the limit which holds this one.
    pub fn users(&self, node: &NodeVerdict) -> Vec<&NodeVerdict> {
        let users =
            StrategyLimit::that_holds(&node.outcome).map(|limit| self.users_of(limit)).unwrap_or_default();
        users.into_iter().filter(|it| it.node != node.node).collect()
    }

    /// ` It is spent by node-2 (waits until Ready).`, and why an action on such a node does not happen.
    fn spent_by(&self, nodes: &[&NodeVerdict]) -> String {
        let named = nodes.iter().map(|node| format!("{} ({})", node.node, self.in_short(node)));
        match nodes {
            [] => String::new(),
            _ => {
                let hindered = nodes.iter().map(|node| self.hindered(node)).find(|text| !text.is_empty());
                format!(
                    " It is spent by {}.{}",
                    words::names(named, MOST_NAMES),
                    hindered.unwrap_or_default()
                )
            }
        }
    }

    /// The cause, or the outcome of the node; without parentheses, since it stands in some.
    fn in_short(&self, node: &NodeVerdict) -> String {
        let cause = self.cause(node).map(|cause| cause.text(self.now));
        cause
            .unwrap_or_else(|| outcome(node, self.steered(), &self.models.notes).text(self.now))
            .replace(" (", ", ")
            .replace(')', "")
    }

    pub(crate) fn waits_for_ready(&self, node: &NodeVerdict) -> String {
        let goal = self.goal(node);
        let pod = node.pods.iter().find(|pod| {
            goal.is_of(pod) && matches!(pod.state, PodState::NotReady { .. } | PodState::Pending { .. })
        });
        let then = match goal {
            _ if !node.pods.iter().any(|pod| !goal.is_of(pod) && is_live(pod.state)) => "",
            GoalPhrase::Current => " Its outdated pod goes once the updated one is available.",
            GoalPhrase::Stable { .. } => {
                " Its pod of another revision goes once the one of the stable revision is available."
            }
        };
        let waits = match pod {
            Some(pod) => format!("It waits until {} is Ready{}", pod.pod.name, self.because(node)),
            None => format!("It waits until its {} is Ready.", goal.wanted()),
        };
        waits + then
    }

    /// `. The node does not report.`; a full stop alone where no object tells why.
    fn because(&self, node: &NodeVerdict) -> String {
        match self.cause(node) {
            Some(cause) if cause.is_failure() || cause.tells_more() => {
                let sentence = words::capitalized(&cause.text(self.now));
                format!(". {}.", sentence.trim_end_matches('.'))
            }
            Some(_) | None => ".".to_owned(),
        }
    }

    pub(crate) fn waits_for_termination(&self, node: &NodeVerdict) -> String {
        let terminating = node.pods.iter().filter(|pod| matches!(pod.state, PodState::Terminating { .. }));
        let names: Vec<&str> = terminating.map(|pod| pod.pod.name.as_str()).collect();
        let names = if names.is_empty() { "its pod".to_owned() } else { names.join(" and ") };
        match self.because(node) {
            because if because == "." => {
                let follows = follows(self.goal(node));
                format!("It waits until {names} is gone: {follows} then.")
            }
            because => format!("It waits until {names} is gone{because}"),
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
        _ => "Nothing is to be done here: its pod is of the stable revision, and available.".to_owned(),
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

fn creates(goal: GoalPhrase<'_>, reason: CreateReason, batch: u32) -> String {
    let after = match batch {
        0 => "at once".to_owned(),
        batch => format!("in batch {batch}, once the batches before have gone well"),
    };
    match reason {
        CreateReason::MissingPod => format!("This plan creates its pod {after}, because it has none."),
        CreateReason::Surge => format!(
            "This plan creates its {} {after}, beside the {}, which goes when the new one is available.",
            goal.wanted(),
            match goal {
                GoalPhrase::Current => "outdated one",
                GoalPhrase::Stable { .. } => "one of another revision",
            }
        ),
        other => format!("This plan creates a pod {after}: {other:?}."),
    }
}

fn after_delete(goal: GoalPhrase<'_>, reason: DeleteReason) -> String {
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
        | DeleteReason::OutdatedAvailable => {
            return format!("{}.", words::capitalized(&format!("{} when it is gone", follows(goal))));
        }
        _ => "A later plan goes on",
    };
    format!("{then}.")
}

/// `an updated pod follows`
fn follows(goal: GoalPhrase<'_>) -> String {
    let article = match goal {
        GoalPhrase::Current => "an",
        GoalPhrase::Stable { .. } => "a",
    };
    format!("{article} {} follows", goal.wanted())
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
