//! The action on one node or, without one, the reason.

use crate::action::{CreateReason, DeleteReason};
use crate::input::memory::Rejections;
use crate::node::turn::GatedTurn;
use crate::rollout::report::HoldReason;
use daemonset_objects::Lifecycle;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The action on a node or, without one, the reason.
///
/// See the example of [`Report`](crate::report::Report).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum NodeOutcome {
    /// Its pod is updated and available.
    UpToDate,
    /// It is no target node and has no pod to delete.
    NotTarget,
    /// A pod is created.
    #[non_exhaustive]
    Create {
        /// Why.
        reason: CreateReason,
        /// The batch of the create.
        batch: u32,
        /// How often the API server has rejected creates and deletes of this node in a row.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rejected: Option<Rejections>,
    },
    /// Pods are deleted.
    #[non_exhaustive]
    Delete {
        /// The reason for the first of them.
        reason: DeleteReason,
        /// How often the API server has rejected creates and deletes of this node in a row.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rejected: Option<Rejections>,
    },
    /// An action is due, but this plan is full.
    WaitsForNextPlan,
    /// Its outdated pod waits until enough others are available.
    #[non_exhaustive]
    HeldByMaxUnavailable {
        /// Target nodes that count against the limit, those of this plan included.
        used: u32,
        /// maxUnavailable, as a number of nodes.
        limit: u32,
    },
    /// Its outdated pod waits until fewer nodes have two pods.
    #[non_exhaustive]
    HeldByMaxSurge {
        /// Target nodes with two pods, those of this plan included.
        used: u32,
        /// maxSurge, as a number of nodes.
        limit: u32,
    },
    /// The rollout has not reached it.
    #[non_exhaustive]
    HeldByRollout {
        /// Why.
        because: HoldReason,
    },
    /// Its outdated pod waits for a person to delete it.
    WaitsForDelete,
    /// Its updated pod is not Ready yet.
    WaitsForReady,
    /// Its pod is Ready, and must stay so for minReadySeconds.
    #[non_exhaustive]
    WaitsForMinReady {
        /// Until when; `None` when its Ready condition has no transition time.
        until: Option<Timestamp>,
    },
    /// A terminating pod must be gone first.
    #[non_exhaustive]
    WaitsForTermination {
        /// When it is overdue; `None` for a delete that the snapshot does not show yet.
        overdue_at: Option<Timestamp>,
    },
    /// Its failed pod waits for the back-off.
    #[non_exhaustive]
    WaitsForBackOff {
        /// Until when.
        until: Timestamp,
        /// How often it has failed.
        failures: u32,
    },
    /// A pod was created that the snapshot does not show yet.
    #[non_exhaustive]
    WaitsForCreatedPod {
        /// When the create expires.
        until: Timestamp,
    },
    /// The update deleted its pod, it has had no Ready updated pod since, and it is no target node any more: it counts
    /// against the limit while no pod there is Ready, until it is back or gone.
    #[non_exhaustive]
    WaitsForReturn {
        /// When the API server accepted the delete.
        since: Timestamp,
    },
    /// Under surge: its available pod goes, since the template has withdrawn a toleration, but not before as many target nodes have an
    /// available pod.
    #[non_exhaustive]
    WaitsForTargets {
        /// Target nodes without an available pod. As many of the leaving nodes stay, the last ones by name.
        unavailable: u32,
        /// Nodes that leave in this way, those of this plan included.
        leaving: u32,
    },
    /// It is in a state in which [`LifecyclePolicy::Respect`](crate::policy::LifecyclePolicy::Respect) leaves it alone: it gets no
    /// pod, and keeps its Ready one.
    #[non_exhaustive]
    LeftAlone {
        /// The state.
        lifecycle: Lifecycle,
    },
    /// Its outdated pod is changed in its place.
    #[non_exhaustive]
    UpdateInPlace {
        /// Why.
        reason: DeleteReason,
        /// How often the API server has rejected creates and deletes of this node in a row.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rejected: Option<Rejections>,
    },
    /// Its turn begins: its outdated pod goes in a later plan.
    TurnBegins,
    /// The policy of turns can't be read: nothing begins, ends or is taken.
    TurnsKept,
    /// A patch of the node was accepted that the snapshot does not show yet.
    #[non_exhaustive]
    InFlight {
        /// When it expires.
        until: Timestamp,
    },
    /// Its kubelet does not report: no turn begins.
    NodeUnreachable,
    /// It is in turn, and gates are not open.
    #[non_exhaustive]
    WaitsForGates {
        /// These gates, in the order of the policy.
        gates: Vec<String>,
        /// Its turn; `None` in a report of an older version.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<GatedTurn>,
    },
    /// The images of the new version are not on it yet.
    WaitsForPull,
    /// The new pod requests more than the node would have left.
    #[non_exhaustive]
    DoesNotFit {
        /// The first such resource, by name.
        resource: String,
    },
    /// It is in turn, and too many other nodes are down for its pod to go.
    WaitsForRoom,
    /// The update is driven, and the other controller, which creates the pods, has not created the revision of the new version, not adopted
    /// it, or not made it the newest: perhaps it does not know the new version yet.
    WaitsForRevision,
    /// It has no pod that runs. The update is driven, and the other controller, which creates the pods, gives it one.
    WaitsForCreate,
    /// It gets no pod: each pod of this node has one name, and another pod has it.
    #[non_exhaustive]
    NameTaken {
        /// The name.
        pod: String,
    },
}

/// A few words, with the instant until or since when they hold. The alternate form `{:#}` leaves the instant out; it is
/// [`instant`](NodeOutcome::instant).
///
/// ```
/// use daemonset::report::NodeOutcome;
/// use serde_json::{from_value, json};
///
/// let outcome: NodeOutcome =
///     from_value(json!({"type": "WaitsForBackOff", "until": "2026-01-01T12:00:40Z", "failures": 3}))?;
/// assert_eq!(outcome.to_string(), "failed 3 times, waits to try again (until 2026-01-01T12:00:40Z)");
/// assert_eq!(format!("{outcome:#}"), "failed 3 times, waits to try again");
/// # Ok::<(), serde_json::Error>(())
/// ```
impl fmt::Display for NodeOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NodeOutcome::UpToDate => f.write_str("up to date"),
            NodeOutcome::NotTarget => f.write_str("no target node"),
            NodeOutcome::Create { reason, .. } => write!(f, "create: {reason}"),
            NodeOutcome::Delete { reason, .. } => write!(f, "delete: {reason}"),
            NodeOutcome::WaitsForNextPlan => f.write_str("waits for the next plan: this one is full"),
            NodeOutcome::HeldByMaxUnavailable { used, limit } => {
                write!(f, "waits: maxUnavailable spent ({used} of {limit})")
            }
            NodeOutcome::HeldByMaxSurge { used, limit } => {
                write!(f, "waits: maxSurge spent ({used} of {limit})")
            }
            NodeOutcome::HeldByRollout { because } => because.fmt(f),
            NodeOutcome::WaitsForDelete => f.write_str("waits for you: OnDelete, delete its pod"),
            NodeOutcome::WaitsForReady => f.write_str("waits until Ready"),
            NodeOutcome::WaitsForMinReady { .. } => f.write_str("waits until available"),
            NodeOutcome::WaitsForTermination { .. } => f.write_str("waits until the old pod is gone"),
            NodeOutcome::WaitsForBackOff { failures, .. } => {
                write!(f, "failed {failures} times, waits to try again")
            }
            NodeOutcome::WaitsForCreatedPod { .. } => {
                f.write_str("waits to see the pod it created, or give it up")
            }
            NodeOutcome::WaitsForReturn { .. } => {
                f.write_str("counts until it is back: the update took its pod, and it is no target now")
            }
            NodeOutcome::WaitsForTargets { unavailable, .. } => {
                let nodes = if *unavailable == 1 { "node" } else { "nodes" };
                write!(f, "leaves last: {unavailable} target {nodes} without an available pod")
            }
            NodeOutcome::LeftAlone { lifecycle } => write!(f, "left alone: {lifecycle}"),
            NodeOutcome::UpdateInPlace { reason, .. } => write!(f, "change in place: {reason}"),
            NodeOutcome::TurnBegins => f.write_str("its turn begins"),
            NodeOutcome::TurnsKept => f.write_str("waits: the policy of turns can't be read"),
            NodeOutcome::InFlight { .. } => f.write_str("waits to see the change of the node"),
            NodeOutcome::NodeUnreachable => f.write_str("waits: the node does not report"),
            NodeOutcome::WaitsForGates { gates, .. } => {
                write!(f, "in turn, waits for {}", gates.join(", "))
            }
            NodeOutcome::WaitsForPull => f.write_str("waits for its images"),
            NodeOutcome::DoesNotFit { resource } => write!(f, "waits: the new pod does not fit ({resource})"),
            NodeOutcome::WaitsForRoom => f.write_str("in turn, waits until fewer other nodes are down"),
            NodeOutcome::WaitsForRevision => f.write_str(
                "waits: the other controller has not made the revision of the new version the newest",
            ),
            NodeOutcome::WaitsForCreate => f.write_str("waits until the other controller creates its pod"),
            NodeOutcome::NameTaken { pod } => write!(f, "waits: another pod has the name {pod}"),
        }?;
        if let NodeOutcome::Create { rejected: Some(rejected), .. }
        | NodeOutcome::UpdateInPlace { rejected: Some(rejected), .. }
        | NodeOutcome::Delete { rejected: Some(rejected), .. } = self
        {
            write!(f, ", {rejected}")?;
        }
        match self.when().filter(|_| !f.alternate()) {
            Some((preposition, at)) => write!(f, " ({preposition} {at})"),
            None => Ok(()),
        }
    }
}

impl NodeOutcome {
    /// The instant that ends the wait, or at which it began.
    pub fn instant(&self) -> Option<Timestamp> {
        self.when().map(|(_, at)| at)
    }

    /// The instant, with the word before it.
    fn when(&self) -> Option<(&'static str, Timestamp)> {
        match self {
            NodeOutcome::WaitsForMinReady { until } => until.map(|until| ("until", until)),
            NodeOutcome::WaitsForTermination { overdue_at } => overdue_at.map(|at| ("overdue at", at)),
            NodeOutcome::WaitsForBackOff { until, .. }
            | NodeOutcome::InFlight { until }
            | NodeOutcome::WaitsForCreatedPod { until } => Some(("until", *until)),
            NodeOutcome::WaitsForReturn { since } => Some(("since", *since)),
            NodeOutcome::UpToDate
            | NodeOutcome::NotTarget
            | NodeOutcome::Create { .. }
            | NodeOutcome::Delete { .. }
            | NodeOutcome::WaitsForNextPlan
            | NodeOutcome::HeldByMaxUnavailable { .. }
            | NodeOutcome::HeldByMaxSurge { .. }
            | NodeOutcome::HeldByRollout { .. }
            | NodeOutcome::WaitsForDelete
            | NodeOutcome::WaitsForReady
            | NodeOutcome::WaitsForTargets { .. }
            | NodeOutcome::LeftAlone { .. }
            | NodeOutcome::UpdateInPlace { .. }
            | NodeOutcome::TurnBegins
            | NodeOutcome::TurnsKept
            | NodeOutcome::NodeUnreachable
            | NodeOutcome::WaitsForGates { .. }
            | NodeOutcome::WaitsForPull
            | NodeOutcome::DoesNotFit { .. }
            | NodeOutcome::WaitsForRoom
            | NodeOutcome::WaitsForRevision
            | NodeOutcome::WaitsForCreate
            | NodeOutcome::NameTaken { .. } => None,
        }
    }
}
