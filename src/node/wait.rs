//! Why a node waits: the one list of reasons. Table, `stuck`, `why`, metrics and the incremental plan ask it; none of them has a list of
//! its own.

use crate::node::obstacle::ObstacleKind;
use crate::rollout::report::{HoldReason, WaveProgress};
use crate::rules::turn::GatedTurn;
use daemonset_objects::Lifecycle;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Why a plan does nothing on a node that is not yet as it should be.
///
/// The match on it is exhaustive: a new reason is a new major version, and the compiler names each place that must learn it.
///
/// ```
/// use daemonset::report::{Wait, WaitKind, WaitsOn};
/// use serde_json::{from_value, json};
///
/// let wait: Wait = from_value(json!({"type": "WaitsForBackOff", "until": "2026-01-01T12:00:40Z", "failures": 1}))?;
/// assert_eq!((wait.kind(), wait.on(), wait.obstacle()), (WaitKind::BackOff, WaitsOn::Time, None));
/// assert_eq!(wait.kind().as_str(), "WaitsForBackOff");
/// assert_eq!(wait.until().unwrap().to_string(), "2026-01-01T12:00:40Z");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
#[allow(clippy::exhaustive_enums, reason = "who shows a reason must learn of a new one")]
pub enum Wait {
    /// An action is due, but this plan is full.
    #[serde(rename = "WaitsForNextPlan")]
    NextPlan,
    /// Its outdated pod waits until enough others are available.
    #[serde(rename = "HeldByMaxUnavailable")]
    #[non_exhaustive]
    MaxUnavailable {
        /// Target nodes that count against the limit, those of this plan included.
        used: u32,
        /// maxUnavailable, as a number of nodes.
        limit: u32,
    },
    /// Its outdated pod waits until fewer nodes have two pods.
    #[serde(rename = "HeldByMaxSurge")]
    #[non_exhaustive]
    MaxSurge {
        /// Target nodes with two pods, those of this plan included.
        used: u32,
        /// maxSurge, as a number of nodes.
        limit: u32,
    },
    /// The rollout has not reached it.
    #[serde(rename = "HeldByRollout")]
    #[non_exhaustive]
    Rollout {
        /// Why.
        because: HoldReason,
    },
    /// Under OnDelete its outdated pod stays until a person deletes it.
    #[serde(rename = "WaitsForDelete")]
    ManualDelete,
    /// Its updated pod is not Ready yet.
    #[serde(rename = "WaitsForReady")]
    Ready,
    /// Its pod is Ready, and must stay so for minReadySeconds.
    #[serde(rename = "WaitsForMinReady")]
    #[non_exhaustive]
    MinReadySeconds {
        /// Until when; `None` when its Ready condition has no transition time.
        until: Option<Timestamp>,
    },
    /// A terminating pod must be gone first.
    #[serde(rename = "WaitsForTermination")]
    #[non_exhaustive]
    Termination {
        /// When it is overdue; `None` for a delete that the snapshot does not show yet.
        overdue_at: Option<Timestamp>,
    },
    /// Its failed pod waits for the back-off.
    #[serde(rename = "WaitsForBackOff")]
    #[non_exhaustive]
    BackOff {
        /// Until when.
        until: Timestamp,
        /// How often it has failed.
        failures: u32,
    },
    /// A pod was created that the snapshot does not show yet.
    #[serde(rename = "WaitsForCreatedPod")]
    #[non_exhaustive]
    CreatedPod {
        /// When the create expires.
        until: Timestamp,
    },
    /// The update deleted its pod, it has had no Ready updated pod since, and the node no longer qualifies. It counts against the
    /// limit until a pod there is Ready or the node is gone.
    #[serde(rename = "WaitsForReturn")]
    #[non_exhaustive]
    Return {
        /// When the API server accepted the delete.
        since: Timestamp,
    },
    /// Under surge: its available pod goes, since the template has withdrawn a toleration, but not before as many target nodes have an
    /// available pod.
    #[serde(rename = "WaitsForTargets")]
    #[non_exhaustive]
    TargetNodes {
        /// Target nodes without an available pod. As many of the leaving nodes stay, the last ones by name.
        unavailable: u32,
        /// Nodes that leave in this way, those of this plan included.
        leaving: u32,
    },
    /// It is in a state in which [`LifecyclePolicy::Respect`](crate::policy::LifecyclePolicy::Respect) leaves it alone: it gets no
    /// pod, and keeps its Ready one.
    #[serde(rename = "LeftAlone")]
    #[non_exhaustive]
    NodeLeaves {
        /// The state.
        lifecycle: Lifecycle,
    },
    /// The policy of turns can't be read: no turn begins or ends, and no outdated pod goes.
    #[serde(rename = "TurnsKept")]
    TurnsFrozen,
    /// A patch of the node was accepted that the snapshot does not show yet.
    #[serde(rename = "InFlight")]
    #[non_exhaustive]
    NodePatch {
        /// When it expires.
        until: Timestamp,
    },
    /// Its kubelet does not report: no turn begins.
    NodeUnreachable,
    /// It is in turn, and gates are not open.
    #[serde(rename = "WaitsForGates")]
    #[non_exhaustive]
    Gates {
        /// These gates, in the order of the policy.
        gates: Vec<String>,
        /// Its turn; `None` in a report of an older version.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<GatedTurn>,
    },
    /// The images of the new version are not on it yet.
    #[serde(rename = "WaitsForPull")]
    Pull,
    /// The new pod requests more than the node would have left.
    #[serde(rename = "DoesNotFit")]
    #[non_exhaustive]
    Fit {
        /// The first such resource, by name.
        resource: String,
    },
    /// It is in turn, and too many other nodes are down for its pod to go.
    #[serde(rename = "WaitsForRoom")]
    Room,
    /// Another controller creates the pods, and has not made the revision of the new version the newest: it may not know that version yet.
    #[serde(rename = "WaitsForRevision")]
    Revision,
    /// It has no pod that runs, and another controller, which creates the pods, gives it one.
    #[serde(rename = "WaitsForCreate")]
    OtherControllerCreates,
    /// It gets no pod: each pod of this node has one name, and another pod has it.
    #[non_exhaustive]
    NameTaken {
        /// The name.
        pod: String,
    },
}

/// Who or what ends a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(clippy::exhaustive_enums, reason = "as Wait")]
pub enum WaitsOn {
    /// Time alone, or the next plan.
    Time,
    /// The node's kubelet: it starts or ends a pod, or pulls an image.
    Kubelet,
    /// Other nodes: they use up a limit, or come first.
    OtherNodes,
    /// A person: they decide, or repair something.
    Person,
    /// Another controller, such as Kubernetes' own or one that opens gates.
    OtherController,
}

/// From when on a wait is an obstacle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlocksFrom {
    Now,
    /// Never, where there is none.
    Instant(Option<Timestamp>),
    /// Since the last of the node's updated pods is not Ready.
    UnreadyPod,
}

/// Lists each kind of wait once, with its word in JSON, metrics and `plan --batch`.
macro_rules! kinds {
    ($($kind:ident $word:literal,)*) => {
        /// The kind of a [`Wait`], without its values: for counts and labels.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(clippy::exhaustive_enums, reason = "as Wait")]
        pub enum WaitKind {$(
            #[doc = concat!("[`Wait::", stringify!($kind), "`], `", $word, "` in JSON.")]
            $kind,
        )*}

        impl WaitKind {
            /// All kinds, in the order of [`Wait`].
            pub const ALL: &'static [WaitKind] = &[$(WaitKind::$kind),*];

            /// The `type` of the wait in JSON.
            pub fn as_str(self) -> &'static str {
                match self {$(WaitKind::$kind => $word,)*}
            }
        }

        impl Wait {
            /// Its kind.
            pub fn kind(&self) -> WaitKind {
                match self {$(Wait::$kind { .. } => WaitKind::$kind,)*}
            }
        }
    };
}

kinds! {
    NextPlan "WaitsForNextPlan",
    MaxUnavailable "HeldByMaxUnavailable",
    MaxSurge "HeldByMaxSurge",
    Rollout "HeldByRollout",
    ManualDelete "WaitsForDelete",
    Ready "WaitsForReady",
    MinReadySeconds "WaitsForMinReady",
    Termination "WaitsForTermination",
    BackOff "WaitsForBackOff",
    CreatedPod "WaitsForCreatedPod",
    Return "WaitsForReturn",
    TargetNodes "WaitsForTargets",
    NodeLeaves "LeftAlone",
    TurnsFrozen "TurnsKept",
    NodePatch "InFlight",
    NodeUnreachable "NodeUnreachable",
    Gates "WaitsForGates",
    Pull "WaitsForPull",
    Fit "DoesNotFit",
    Room "WaitsForRoom",
    Revision "WaitsForRevision",
    OtherControllerCreates "WaitsForCreate",
    NameTaken "NameTaken",
}

impl WaitKind {
    /// Whether something else than a limit or a strategy keeps the update from an outdated pod.
    pub fn is_of_candidate(self) -> bool {
        match self {
            WaitKind::TurnsFrozen
            | WaitKind::NodePatch
            | WaitKind::NodeUnreachable
            | WaitKind::Gates
            | WaitKind::Pull
            | WaitKind::Fit
            | WaitKind::Room => true,
            WaitKind::NextPlan
            | WaitKind::MaxUnavailable
            | WaitKind::MaxSurge
            | WaitKind::Rollout
            | WaitKind::ManualDelete
            | WaitKind::Ready
            | WaitKind::MinReadySeconds
            | WaitKind::Termination
            | WaitKind::BackOff
            | WaitKind::CreatedPod
            | WaitKind::Return
            | WaitKind::TargetNodes
            | WaitKind::NodeLeaves
            | WaitKind::Revision
            | WaitKind::OtherControllerCreates
            | WaitKind::NameTaken => false,
        }
    }
}

impl fmt::Display for WaitKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Wait {
    /// Who or what ends it.
    pub fn on(&self) -> WaitsOn {
        match self {
            Wait::NextPlan
            | Wait::MinReadySeconds { until: Some(_) }
            | Wait::BackOff { .. }
            | Wait::CreatedPod { .. }
            | Wait::NodePatch { .. } => WaitsOn::Time,
            Wait::Ready | Wait::Termination { .. } | Wait::NodeUnreachable | Wait::Pull => WaitsOn::Kubelet,
            Wait::MaxUnavailable { .. } | Wait::MaxSurge { .. } | Wait::TargetNodes { .. } | Wait::Room => {
                WaitsOn::OtherNodes
            }
            Wait::Rollout { because } => because.on(),
            Wait::ManualDelete
            | Wait::MinReadySeconds { until: None }
            | Wait::Return { .. }
            | Wait::TurnsFrozen
            | Wait::Fit { .. }
            | Wait::NameTaken { .. } => WaitsOn::Person,
            Wait::NodeLeaves { .. } | Wait::Gates { .. } | Wait::Revision | Wait::OtherControllerCreates => {
                WaitsOn::OtherController
            }
        }
    }

    /// The obstacle that it is to the rollout. [`NotReady`](ObstacleKind::NotReady), [`ClosedGates`](ObstacleKind::ClosedGates) and
    /// [`Overdue`](ObstacleKind::Overdue) are obstacles only from some instant on. `None` where it ends without anybody's help.
    pub fn obstacle(&self) -> Option<ObstacleKind> {
        match self {
            Wait::Rollout { because } => because.obstacle(),
            Wait::ManualDelete => Some(ObstacleKind::WaitsForDelete),
            Wait::Ready => Some(ObstacleKind::NotReady),
            Wait::MinReadySeconds { until } => until.is_none().then_some(ObstacleKind::NoReadyTime),
            Wait::Termination { .. } => Some(ObstacleKind::Overdue),
            Wait::BackOff { failures, .. } => (*failures > 1).then_some(ObstacleKind::Failing),
            Wait::Return { .. } => Some(ObstacleKind::DeletedByUpdate),
            Wait::NodeLeaves { .. } => Some(ObstacleKind::NodeLeaves),
            Wait::TurnsFrozen => Some(ObstacleKind::TurnsFrozen),
            Wait::NodeUnreachable => Some(ObstacleKind::NodeUnreachable),
            Wait::Gates { .. } => Some(ObstacleKind::ClosedGates),
            Wait::Fit { .. } => Some(ObstacleKind::DoesNotFit),
            Wait::NameTaken { .. } => Some(ObstacleKind::NameTaken),
            Wait::NextPlan
            | Wait::MaxUnavailable { .. }
            | Wait::MaxSurge { .. }
            | Wait::CreatedPod { .. }
            | Wait::TargetNodes { .. }
            | Wait::NodePatch { .. }
            | Wait::Pull
            | Wait::Room
            | Wait::Revision
            | Wait::OtherControllerCreates => None,
        }
    }

    /// When time alone ends it; `None` if that is unknown, or time does not.
    pub fn until(&self) -> Option<Timestamp> {
        match self {
            Wait::MinReadySeconds { until } => *until,
            Wait::BackOff { until, .. } | Wait::CreatedPod { until } | Wait::NodePatch { until } => {
                Some(*until)
            }
            Wait::Rollout { because } => because.opens_at(),
            Wait::Gates { turn, .. } => turn.filter(|turn| turn.proceeds).and_then(|turn| turn.overdue_at),
            Wait::NextPlan
            | Wait::MaxUnavailable { .. }
            | Wait::MaxSurge { .. }
            | Wait::ManualDelete
            | Wait::Ready
            | Wait::Termination { .. }
            | Wait::Return { .. }
            | Wait::TargetNodes { .. }
            | Wait::NodeLeaves { .. }
            | Wait::TurnsFrozen
            | Wait::NodeUnreachable
            | Wait::Pull
            | Wait::Fit { .. }
            | Wait::Room
            | Wait::Revision
            | Wait::OtherControllerCreates
            | Wait::NameTaken { .. } => None,
        }
    }

    /// From when on it is an [obstacle](Self::obstacle), if it is one.
    pub(crate) fn blocks_from(&self) -> BlocksFrom {
        match self {
            Wait::Ready => BlocksFrom::UnreadyPod,
            Wait::Termination { overdue_at } => BlocksFrom::Instant(*overdue_at),
            Wait::Gates { turn: Some(turn), .. } => BlocksFrom::Instant(turn.late_from()),
            Wait::NextPlan
            | Wait::MaxUnavailable { .. }
            | Wait::MaxSurge { .. }
            | Wait::Rollout { .. }
            | Wait::ManualDelete
            | Wait::MinReadySeconds { .. }
            | Wait::BackOff { .. }
            | Wait::CreatedPod { .. }
            | Wait::Return { .. }
            | Wait::TargetNodes { .. }
            | Wait::NodeLeaves { .. }
            | Wait::TurnsFrozen
            | Wait::NodePatch { .. }
            | Wait::NodeUnreachable
            | Wait::Gates { turn: None, .. }
            | Wait::Pull
            | Wait::Fit { .. }
            | Wait::Room
            | Wait::Revision
            | Wait::OtherControllerCreates
            | Wait::NameTaken { .. } => BlocksFrom::Now,
        }
    }

    /// Whether something else than a limit or a strategy keeps the update from an outdated pod.
    pub fn is_of_candidate(&self) -> bool {
        self.kind().is_of_candidate()
    }

    /// The instant that a sentence names, with the word before it.
    fn when(&self) -> Option<(&'static str, Timestamp)> {
        match self {
            Wait::Termination { overdue_at } => overdue_at.map(|at| ("overdue at", at)),
            Wait::Return { since } => Some(("since", *since)),
            // Its words have the instant.
            Wait::Rollout { .. } | Wait::Gates { .. } => None,
            Wait::NextPlan
            | Wait::MaxUnavailable { .. }
            | Wait::MaxSurge { .. }
            | Wait::ManualDelete
            | Wait::Ready
            | Wait::MinReadySeconds { .. }
            | Wait::BackOff { .. }
            | Wait::CreatedPod { .. }
            | Wait::TargetNodes { .. }
            | Wait::NodeLeaves { .. }
            | Wait::TurnsFrozen
            | Wait::NodePatch { .. }
            | Wait::NodeUnreachable
            | Wait::Pull
            | Wait::Fit { .. }
            | Wait::Room
            | Wait::Revision
            | Wait::OtherControllerCreates
            | Wait::NameTaken { .. } => self.until().map(|until| ("until", until)),
        }
    }

    /// The instant that ends the wait, or at which it began: the one that its text names.
    pub fn instant(&self) -> Option<Timestamp> {
        self.when().map(|(_, at)| at)
    }
}

impl HoldReason {
    pub(crate) fn on(&self) -> WaitsOn {
        match self {
            HoldReason::NoWave
            | HoldReason::Paused
            | HoldReason::Stopped { .. }
            | HoldReason::Wave { progress: WaveProgress::WaitsForApproval, .. } => WaitsOn::Person,
            HoldReason::Wave { opens_at: Some(_), .. } => WaitsOn::Time,
            HoldReason::Wave { opens_at: None, .. } | HoldReason::Outside => WaitsOn::OtherNodes,
        }
    }

    pub(crate) fn obstacle(&self) -> Option<ObstacleKind> {
        match self {
            HoldReason::Paused => Some(ObstacleKind::RolloutPaused),
            HoldReason::Stopped { .. } => Some(ObstacleKind::RolloutFailed),
            HoldReason::Wave { progress: WaveProgress::WaitsForApproval, .. } => {
                Some(ObstacleKind::WaitsForApproval)
            }
            HoldReason::NoWave | HoldReason::Wave { .. } | HoldReason::Outside => None,
        }
    }

    fn opens_at(&self) -> Option<Timestamp> {
        match self {
            HoldReason::Wave { opens_at, .. } => *opens_at,
            HoldReason::NoWave | HoldReason::Outside | HoldReason::Paused | HoldReason::Stopped { .. } => {
                None
            }
        }
    }
}

/// A few words, with the instant until or since when they hold. The alternate form `{:#}` leaves out the instant, which is
/// [`instant`](Wait::instant).
impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wait::NextPlan => f.write_str("waits for the next plan: this one is full"),
            Wait::MaxUnavailable { used, limit } => {
                write!(f, "waits: maxUnavailable spent ({used} of {limit})")
            }
            Wait::MaxSurge { used, limit } => write!(f, "waits: maxSurge spent ({used} of {limit})"),
            Wait::Rollout { because } => because.fmt(f),
            Wait::ManualDelete => f.write_str("waits for you: OnDelete, delete its pod"),
            Wait::Ready => f.write_str("waits until Ready"),
            Wait::MinReadySeconds { .. } => f.write_str("waits until available"),
            Wait::Termination { .. } => f.write_str("waits until the old pod is gone"),
            Wait::BackOff { failures, .. } => write!(f, "failed {failures} times, waits to try again"),
            Wait::CreatedPod { .. } => f.write_str("waits to see the pod it created, or give it up"),
            Wait::Return { .. } => {
                f.write_str("counts until it is back: the update took its pod, and it is no target now")
            }
            Wait::TargetNodes { unavailable, .. } => {
                let nodes = if *unavailable == 1 { "node" } else { "nodes" };
                write!(f, "leaves last: {unavailable} target {nodes} without an available pod")
            }
            Wait::NodeLeaves { lifecycle } => write!(f, "left alone: {lifecycle}"),
            Wait::TurnsFrozen => f.write_str("waits: the policy of turns can't be read"),
            Wait::NodePatch { .. } => f.write_str("waits to see the change of the node"),
            Wait::NodeUnreachable => f.write_str("waits: the node does not report"),
            Wait::Gates { gates, .. } => write!(f, "in turn, waits for {}", gates.join(", ")),
            Wait::Pull => f.write_str("waits for its images"),
            Wait::Fit { resource } => write!(f, "waits: the new pod does not fit ({resource})"),
            Wait::Room => f.write_str("in turn, waits until fewer other nodes are down"),
            Wait::Revision => f.write_str(
                "waits: the other controller has not made the revision of the new version the newest",
            ),
            Wait::OtherControllerCreates => f.write_str("waits until the other controller creates its pod"),
            Wait::NameTaken { pod } => write!(f, "waits: another pod has the name {pod}"),
        }?;
        match self.when().filter(|_| !f.alternate()) {
            Some((preposition, at)) => write!(f, " ({preposition} {at})"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, from_value, json, to_value};

    /// Each wait with all of its values.
    fn each() -> Vec<Value> {
        let (at, turn) = ("2026-01-01T12:00:00Z", json!({"since": "2026-01-01T12:00:00Z"}));
        let values = json!({
            "used": 1, "limit": 2, "because": {"type": "Paused"}, "until": at, "overdueAt": at, "failures": 3, "since": at,
            "unavailable": 1, "leaving": 2, "lifecycle": "ToBeDeleted", "gates": ["drained"], "turn": turn, "resource": "cpu", "pod": "x",
        });
        let with_type = |kind: &WaitKind| {
            let mut value = values.clone();
            value["type"] = json!(kind.as_str());
            value
        };
        WaitKind::ALL.iter().map(with_type).collect()
    }

    #[test]
    fn the_word_of_a_kind_is_its_type_in_json() {
        for value in each() {
            let wait: Wait = from_value(value.clone()).unwrap();
            assert_eq!(to_value(&wait).unwrap()["type"], value["type"]);
            assert_eq!(wait.kind().as_str(), value["type"]);
        }
    }

    /// Nobody but a person ends a wait of a person, so that it must be an obstacle; time alone is none.
    #[test]
    fn a_wait_on_a_person_is_an_obstacle() {
        for value in each() {
            let wait: Wait = from_value(value).unwrap();
            match wait.on() {
                WaitsOn::Person => assert!(wait.obstacle().is_some(), "{wait:?}"),
                WaitsOn::OtherNodes => assert_eq!(wait.obstacle(), None, "{wait:?}"),
                WaitsOn::Time => assert!(wait.until().is_some() || wait == Wait::NextPlan, "{wait:?}"),
                WaitsOn::Kubelet | WaitsOn::OtherController => {}
            }
        }
    }
}
