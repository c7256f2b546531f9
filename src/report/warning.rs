//! The warnings of a plan, and their words.

use crate::input::manifests::InvalidManifest;
use crate::rollout::report::NotUndoneReason;
use daemonset_objects::model::NodeName;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// A fact about a plan for a person, which changes no action.
///
/// ```
/// use daemonset::{Recording, plan};
/// use daemonset::report::Warning;
///
/// let mut recording = Recording::from_json(&std::fs::read("examples/recording.json")?)?;
/// recording.daemon_set.spec.update_strategy.kind.clear();
/// let warnings = plan(&recording.snapshot()?).warnings;
/// assert_eq!(warnings, [Warning::StrategyMissing]);
/// assert_eq!(warnings[0].to_string(), "the update strategy has no type: OnDelete is taken");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum Warning {
    /// This crate has met a bug of its own: the plan has no action, and its reasons may be wrong. Drivers give an
    /// [error](crate::PlanError::Bug) in its place. Please report the recording.
    Bug,
    /// One of the caller's [`Manifests`](crate::manifests::Manifests) must not be created: the plan has no action. Drivers give an
    /// [error](crate::PlanError::Manifest) in its place.
    InvalidManifest(InvalidManifest),
    /// The status counts nodes with a pod, and by the lists none has one: its pods may have been deleted together since, or the
    /// lists are others than those that the status was made from, such as the pods of another namespace. Pods that the
    /// [`Memory`](crate::Memory) knows to go or to come are no reason.
    #[non_exhaustive]
    PodsMissing {
        /// How many nodes have a pod by the status: more than 1, since a single pod may well be gone for a moment.
        scheduled: u32,
    },
    /// The list has no revision of the DaemonSet, though its status says that it has been reconciled: these nodes have a pod that
    /// counts as outdated. A list of another namespace looks like this, and a history that was deleted.
    #[non_exhaustive]
    RevisionsMissing {
        /// How many nodes.
        nodes: u32,
    },
    /// Two pods of one node can't both have this host port: under surge the new one may stay Pending, keep its place in
    /// maxSurge and so hold up the other nodes.
    #[non_exhaustive]
    HostPortWithSurge {
        /// The port.
        port: u32,
    },
    /// These nodes went down with the updated pod on them, and count against the limit: the new version may have taken them
    /// down (kubernetes#117204). Repair or remove them, or undo the update.
    #[serde(rename = "NodesLost")]
    #[non_exhaustive]
    NodesDownAfterUpdate {
        /// How many nodes.
        nodes: u32,
    },
    /// The update deleted the pods of these nodes, they have had no Ready pod since, and they are no Ready target nodes any
    /// more: perhaps a taint or a label appears because the daemon is away. They count against the limit until they are back
    /// or gone.
    #[serde(rename = "NodesTaken")]
    #[non_exhaustive]
    NodesDeletedByUpdate {
        /// Their names.
        nodes: Vec<NodeName>,
    },
    /// These nodes went down before the update reached them, and are enough to use up the limit: with
    /// [`DownNodesPolicy::Count`](crate::policy::DownNodesPolicy::Count) no other node is updated before some are back or gone.
    #[non_exhaustive]
    BudgetSpentBeforeStart {
        /// How many nodes.
        nodes: u32,
        /// maxUnavailable, or under surge maxSurge, as a number of nodes.
        limit: u32,
    },
    /// The rollout has not reached these nodes, but no old revision is left for them: a missing pod there is created from the current
    /// template.
    #[serde(rename = "NoBase")]
    #[non_exhaustive]
    NoStableRevision {
        /// How many nodes.
        nodes: u32,
    },
    /// These waves have no node: they show no failure before the next wave opens.
    #[non_exhaustive]
    EmptyWaves {
        /// Their indices.
        waves: Vec<u32>,
    },
    /// The new version has failed, and no old revision is left to go back to.
    NothingToRollBackTo,
    /// The new version has failed, and its template stays: the rollout is stopped, and a person must act.
    #[non_exhaustive]
    NotUndone {
        /// Why.
        because: NotUndoneReason,
    },
    /// The rollout has not reached these nodes, but their pods are gone: the other controller, which creates the pods while the
    /// update is driven, gives them the new version.
    #[serde(rename = "LostUnderDrive")]
    #[non_exhaustive]
    PodsLostUnderExternalController {
        /// Their names.
        nodes: Vec<NodeName>,
    },
    /// The generation of these pods says updated while their hash label names another known revision.
    #[non_exhaustive]
    GenerationHashConflict {
        /// How many pods.
        pods: u32,
    },
    /// These pods have no target node: they are left alone.
    #[non_exhaustive]
    PodsWithoutTarget {
        /// Their names.
        pods: Vec<String>,
    },
    /// These pods are bound to nodes that are not in the snapshot: they are the pod garbage collector's.
    #[non_exhaustive]
    PodsOnUnknownNodes {
        /// Their names.
        pods: Vec<String>,
    },
    /// A percentage below 100 rounds up to all target nodes.
    #[non_exhaustive]
    PercentRoundsToAll {
        /// The percentage.
        percent: u32,
        /// Target nodes.
        desired: u32,
    },
    /// Both limits are set: only maxSurge counts.
    BothLimitsSet,
    /// Both limits are 0: maxUnavailable counts as 1.
    BothLimitsZero,
    /// The strategy's type is absent: OnDelete is in force.
    StrategyMissing,
    /// No node should run the pod.
    NoTargetNodes,
    /// Gates of these nodes have been closed for longer than the policy allows.
    #[non_exhaustive]
    TurnOverdue {
        /// Each node with its closed gates.
        nodes: BTreeMap<NodeName, Vec<String>>,
    },
    /// These nodes get no pod, since another one, which is not the DaemonSet's, has its name.
    #[non_exhaustive]
    NameTaken {
        /// Each node with the name.
        nodes: BTreeMap<NodeName, String>,
    },
    /// The containers of these pods have not changed for ten minutes after the pods were changed in their place.
    #[non_exhaustive]
    InPlaceStuck {
        /// Each node with the names of its pods.
        nodes: BTreeMap<NodeName, Vec<String>>,
    },
}

/// One sentence without a full stop. Long lists of pods are cut after five names.
impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::InvalidManifest(invalid) => write!(f, "nothing is done: {invalid}"),
            Warning::Bug => f.write_str("a bug of the planner: nothing is done (please report the recording)"),
            Warning::PodsMissing { scheduled } => write!(
                f,
                "the status counts {scheduled} nodes with a pod, and in the lists none has one (all pods deleted together, or lists of \
                 another namespace or cluster)"
            ),
            Warning::RevisionsMissing { nodes } => write!(
                f,
                "the list has no revision of this DaemonSet, though it has been reconciled before (a deleted history, or the list of \
                 another namespace): the pods of {nodes} {} count as outdated",
                if *nodes == 1 { "node" } else { "nodes" },
            ),
            Warning::HostPortWithSurge { port } => write!(
                f,
                "host port {port} with maxSurge: only one pod of a node can have it, so the new one may stay Pending, keep \
                 its place and stop the update"
            ),
            Warning::NodesDownAfterUpdate { nodes } => write!(
                f,
                "{nodes} {} down with the updated pod, and {} against the limit: repair or remove, or undo the update",
                if *nodes == 1 { "node went" } else { "nodes went" },
                if *nodes == 1 { "counts" } else { "count" },
            ),
            Warning::NodesDeletedByUpdate { nodes } => write!(
                f,
                "counted until they are back or gone, as the update deleted their pods and they are no Ready target nodes any \
                 more (does a taint or a label appear while the daemon is away?): {}",
                first_names(nodes)
            ),
            Warning::BudgetSpentBeforeStart { nodes, limit } => write!(
                f,
                "{nodes} {} down before the update reached {}, and the limit is {limit}: repair or remove some, raise the limit, \
                 or let the policy excuse them (downNodes: ExcuseIfDownBefore)",
                if *nodes == 1 { "node went" } else { "nodes went" },
                if *nodes == 1 { "it" } else { "them" },
            ),
            Warning::NoStableRevision { nodes } => write!(
                f,
                "{nodes} {} for the rollout, but there is no old revision: a missing pod there gets the new version at once",
                if *nodes == 1 { "node waits" } else { "nodes wait" },
            ),
            Warning::EmptyWaves { waves } => {
                let (noun, verb) = if waves.len() == 1 { ("wave", "has") } else { ("waves", "have") };
                let waves = first_names(waves);
                write!(f, "{noun} {waves} {verb} no node, and can show no failure before the next wave opens")
            }
            Warning::NothingToRollBackTo => {
                f.write_str("the new version has failed, but no old revision is left to go back to: the rollout is stopped")
            }
            Warning::NotUndone { because } => {
                write!(f, "the new version has failed and is not undone, since {because}: the rollout is stopped")
            }
            Warning::PodsLostUnderExternalController { nodes } => write!(
                f,
                "not reached by the rollout, but without a pod: the other controller creates the new version on {}",
                first_names(nodes)
            ),
            Warning::GenerationHashConflict { pods } => write!(
                f,
                "{pods} {}: updated by template generation, but the hash label names another revision",
                if *pods == 1 { "pod" } else { "pods" }
            ),
            Warning::PodsWithoutTarget { pods } => {
                write!(f, "left alone, as no node is theirs: {}", first_names(pods))
            }
            Warning::PodsOnUnknownNodes { pods } => write!(
                f,
                "left to the pod garbage collector, as their nodes are not in the input: {}",
                first_names(pods)
            ),
            Warning::PercentRoundsToAll { percent, desired } => {
                write!(f, "{percent}% of {desired} rounds up to all target nodes")
            }
            Warning::BothLimitsSet => f.write_str("maxSurge and maxUnavailable are both set: only maxSurge counts"),
            Warning::BothLimitsZero => {
                f.write_str("maxSurge and maxUnavailable are both 0: maxUnavailable counts as 1")
            }
            Warning::StrategyMissing => f.write_str("the update strategy has no type: OnDelete is taken"),
            Warning::NoTargetNodes => f.write_str("no node should run the pod"),
            Warning::TurnOverdue { nodes } => {
                let nodes: Vec<String> =
                    nodes.iter().map(|(node, gates)| format!("{node} ({})", gates.join(", "))).collect();
                write!(f, "gates are overdue: {}", first_names(&nodes))
            }
            Warning::NameTaken { nodes } => {
                let nodes: Vec<String> = nodes.iter().map(|(node, pod)| format!("{node} ({pod})")).collect();
                write!(f, "no pod is created, since a pod of another owner has its name: {}", first_names(&nodes))
            }
            Warning::InPlaceStuck { nodes } => {
                let pods: Vec<&String> = nodes.values().flatten().collect();
                write!(f, "changed in their place more than ten minutes ago, and still not started anew: {}", first_names(&pods))
            }
        }
    }
}

fn first_names(names: &[impl ToString]) -> String {
    const SHOWN: usize = 5;
    let shown: Vec<String> = names.iter().take(SHOWN).map(ToString::to_string).collect();
    match names.len().checked_sub(SHOWN) {
        None | Some(0) => shown.join(", "),
        Some(more) => format!("{} and {more} more", shown.join(", ")),
    }
}
