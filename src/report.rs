//! A plan with its reasons: one verdict on every node, the budget's figures, warnings.
//!
//! Reasons are data; whoever shows them makes the prose. The JSON form follows that of actions: camelCase fields,
//! PascalCase words.

use crate::action::{Action, CreateReason, DeleteReason};
use crate::model::{DaemonSetStatus, NodeName, ObjectRef, Taint};
use crate::reconcile::budget::{Budget, BudgetUse};
use crate::reconcile::classify::Evidence;
use jiff::Timestamp;
use serde::Serialize;
use std::fmt;

/// What to do, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[must_use = "a plan does nothing by itself: execute its actions"]
pub struct Plan {
    /// The same as [`reconcile`](crate::reconcile) gives.
    pub actions: Vec<Action>,
    /// The status once the plan's UpdateStatus, if it has one, is done; none where the status is left alone.
    pub status: Option<DaemonSetStatus>,
    /// Why.
    pub report: Report,
    /// What a person should know.
    pub warnings: Vec<Warning>,
}

impl Plan {
    /// The actions in batches: those of one batch may be executed at the same time, and none is begun before all of the
    /// batch before it have succeeded. Consecutive deletes of pods are one batch, consecutive creates of pods are as
    /// many as one step of the slow start holds ([`Action::CreatePod`]), each other action is one by itself.
    pub fn batches(&self) -> impl Iterator<Item = &[Action]> {
        Action::batches(&self.actions)
    }
}

/// Why a plan is what it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Whether the DaemonSet was looked at at all.
    pub situation: Situation,
    /// The revision of the template; none where the situation stops before it.
    pub current_revision: Option<CurrentRevision>,
    /// Which limit counts; none where the situation stops before it.
    pub strategy: Option<StrategyInForce>,
    /// The budget's figures; none where the situation stops before it.
    pub budget: Option<Budget>,
    /// One verdict per node, by name.
    pub nodes: Vec<NodeVerdict>,
}

/// Whether the DaemonSet was looked at at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub enum Situation {
    /// All steps were gone through.
    Synced,
    /// The selector is empty: nothing is done.
    SelectingAll,
    /// The DaemonSet has a deletionTimestamp: nothing is done.
    BeingDeleted,
    /// The new revision's name is taken: only the collision count changes, and the next plan goes on.
    NameCollision,
}

/// The revision of the template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CurrentRevision {
    /// Object name.
    pub name: String,
    /// The hash that its pods carry.
    pub hash: String,
    /// Its number, after this plan.
    pub number: i64,
    /// How it came to be current.
    pub origin: RevisionOrigin,
}

/// How a revision came to be current.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub enum RevisionOrigin {
    /// It was and is.
    Kept,
    /// This plan creates it.
    Created,
    /// It is an older one whose template is back: this plan renumbers it.
    CurrentAgain,
}

/// The strategy, with the limit that counts as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "type", content = "limit")]
#[non_exhaustive]
pub enum StrategyInForce {
    /// A person deletes outdated pods.
    OnDelete,
    /// Delete, then create, within maxUnavailable.
    Replace(crate::model::IntOrString),
    /// Create, then delete, within maxSurge.
    Surge(crate::model::IntOrString),
}

/// What is to be said of one node.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeVerdict {
    /// The node.
    pub node: NodeName,
    /// Condition Ready of the node, where there is one.
    pub node_ready: Option<bool>,
    /// Cordoned; no decision asks for it.
    pub unschedulable: bool,
    /// Should it run the pod?
    pub placement: NodePlacement,
    /// What it counts for in the budget.
    pub counts: BudgetUse,
    /// The pods of the DaemonSet on it, by name.
    pub pods: Vec<PodVerdict>,
    /// What happens to it now, and if nothing: why.
    pub outcome: NodeOutcome,
}

/// Should a node run the pod, and if not, why?
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum NodePlacement {
    /// A target node.
    Run,
    /// A pod may stay but none is created: the template does not tolerate this NoSchedule taint.
    ContinueOnly {
        /// The first such taint.
        taint: Taint,
    },
    /// The template names another node.
    OtherNodeName,
    /// The template's node selector does not match.
    NodeSelectorMismatch,
    /// The template's required node affinity does not match.
    NodeAffinityMismatch,
    /// The template does not tolerate this NoExecute taint.
    UntoleratedNoExecute {
        /// The first such taint.
        taint: Taint,
    },
}

/// What is to be said of one pod.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PodVerdict {
    /// The pod.
    pub pod: ObjectRef,
    /// Whether it runs the current template.
    pub updated: bool,
    /// Which rule says so.
    pub evidence: Evidence,
    /// The hash in its label.
    pub hash: Option<String>,
    /// The number of the revision that this hash names.
    pub revision: Option<i64>,
    /// How it is.
    pub state: PodState,
    /// Why this plan deletes it, if it does.
    pub deleted: Option<DeleteReason>,
}

/// How a pod is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum PodState {
    /// Ready for minReadySeconds.
    Available {
        /// Since when it is Ready.
        ready_since: Option<Timestamp>,
    },
    /// Ready, but not for minReadySeconds yet.
    Ready {
        /// When it becomes available; none when its Ready condition tells no time.
        available_at: Option<Timestamp>,
    },
    /// It runs, but is not Ready.
    NotReady {
        /// Since when.
        since: Option<Timestamp>,
    },
    /// Pending, or its phase is unknown.
    Pending {
        /// Since it was created.
        since: Option<Timestamp>,
    },
    /// It is being deleted.
    Terminating {
        /// When it is overdue; none for a delete that the snapshot does not show yet.
        overdue_at: Option<Timestamp>,
    },
    /// It has failed.
    Failed,
    /// It has succeeded, which a daemon should not.
    Succeeded,
}

/// What happens to a node now, and if nothing: why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum NodeOutcome {
    /// Its pod is updated and available.
    UpToDate,
    /// It is no target node and has no pod to delete.
    NotTarget,
    /// A pod is created.
    Create {
        /// Why.
        reason: CreateReason,
        /// In which batch.
        batch: u32,
    },
    /// Pods are deleted.
    Delete {
        /// Why the first of them is.
        reason: DeleteReason,
    },
    /// Something is due, but this plan is full.
    WaitsForNextPlan,
    /// Its outdated pod waits until enough others are available.
    HeldByMaxUnavailable {
        /// Target nodes that count against the limit, those of this plan included.
        used: u32,
        /// maxUnavailable, as a number of nodes.
        limit: u32,
    },
    /// Its outdated pod waits until fewer nodes have two pods.
    HeldByMaxSurge {
        /// Target nodes with two pods, those of this plan included.
        used: u32,
        /// maxSurge, as a number of nodes.
        limit: u32,
    },
    /// Its outdated pod waits for a person to delete it.
    WaitsForDelete,
    /// Its updated pod is not Ready yet.
    WaitsForReady,
    /// Its pod is Ready, and must be so for minReadySeconds.
    WaitsForMinReady {
        /// Until when; none when its Ready condition tells no time.
        until: Option<Timestamp>,
    },
    /// A terminating pod must be gone first.
    WaitsForTermination {
        /// When it is overdue; none for a delete that the snapshot does not show yet.
        overdue_at: Option<Timestamp>,
    },
    /// Its failed pod is held back.
    WaitsForBackOff {
        /// Until when.
        until: Timestamp,
        /// How often it has failed.
        failures: u32,
    },
    /// A pod was created that the snapshot does not show yet.
    WaitsForCreatedPod {
        /// Until when this is believed.
        until: Timestamp,
    },
}

/// What a person should know, though it changes no action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum Warning {
    /// Two pods of one node can't both have this host port: under surge the new one may stay Pending, hold its place in
    /// maxSurge and so stop the others.
    HostPortWithSurge {
        /// The port.
        port: u32,
    },
    /// These nodes went down with the updated pod on them, and count against the limit: the new version may be what took
    /// them down (kubernetes#117204). Repair or remove them, or undo the update.
    NodesLost {
        /// How many nodes.
        nodes: u32,
    },
    /// The generation of these pods says updated while their hash label names another known revision.
    GenerationHashConflict {
        /// How many pods.
        pods: u32,
    },
    /// These pods have neither a node nor one to go to: they are left alone.
    PodsWithoutTarget {
        /// Their names.
        pods: Vec<String>,
    },
    /// These pods are bound to nodes that are not in the snapshot: they are the pod garbage collector's.
    PodsOnUnknownNodes {
        /// Their names.
        pods: Vec<String>,
    },
    /// A percentage below 100 rounds up to all target nodes.
    PercentRoundsToAll {
        /// The percentage.
        percent: u32,
        /// Target nodes.
        desired: u32,
    },
    /// Both limits are set: maxSurge counts, maxUnavailable does not.
    BothLimitsSet,
    /// Both limits are 0: maxUnavailable is taken as 1.
    BothLimitsZero,
    /// The strategy's type is absent: OnDelete is taken.
    StrategyMissing,
    /// No node should run the pod.
    NoTargetNodes,
}

/// One sentence without a full stop. Long lists of pods are cut after five names.
impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::HostPortWithSurge { port } => write!(
                f,
                "host port {port} with maxSurge: only one pod of a node can have it, so the new one may stay Pending, keep \
                 its place and stop the update"
            ),
            Warning::NodesLost { nodes: 1 } => f.write_str(
                "1 node went down with the updated pod, and counts against the limit: repair or remove, or undo the update",
            ),
            Warning::NodesLost { nodes } => write!(
                f,
                "{nodes} nodes went down with the updated pod, and count against the limit: repair or remove, or undo the \
                 update"
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
        }
    }
}

fn first_names(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown: Vec<&str> = names.iter().take(SHOWN).map(String::as_str).collect();
    match names.len().checked_sub(SHOWN) {
        None | Some(0) => shown.join(", "),
        Some(more) => format!("{} and {more} more", shown.join(", ")),
    }
}
