//! The rules, each with where it comes from, and the figures that show it broken.

use crate::action::Failure;
use crate::model::NodeName;
use jiff::Timestamp;
use serde::Serialize;
use std::fmt;
use thiserror::Error;

/// What a budget counts: target nodes of these kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub enum BudgetFigure {
    /// U: without an available pod.
    Unavailable,
    /// NR: without a Ready pod `[young-pods-need-budget]` (kubernetes#123232).
    NotReady,
    /// Without an available pod, and without a live outdated one: `UnreadyPolicy::WithinBudget` only.
    BeingReplaced,
}

impl fmt::Display for BudgetFigure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BudgetFigure::Unavailable => "without an available pod",
            BudgetFigure::NotReady => "without a Ready pod",
            BudgetFigure::BeingReplaced => "being replaced",
        })
    }
}

/// Which rule is broken. Each variant says what must hold, and where the rule comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Error)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum ViolationKind {
    /// An action names its object by namespace, name and uid, and that object is in the snapshot.
    #[error("no object of the snapshot has this namespace, name and uid")]
    UnknownObject,
    /// Only objects of the DaemonSet, or adopted in this list, are deleted or changed; never mirror pods, and never
    /// those of other namespaces or controllers (v1.36 `controller_ref_manager.go ClaimObject`). But a released revision
    /// of the template may get its labels back `[released-revision-comes-back]`.
    #[error("it is not the DaemonSet's, nor adopted in this list")]
    ForeignObject,
    /// Only an object without controller that matches the selector and is not being deleted is adopted (`ClaimObject`).
    #[error("only a matching object without controller that is not being deleted may be adopted")]
    WrongAdoption,
    /// Only an object of the DaemonSet that no longer matches the selector is released (`ClaimObject`).
    #[error("only an object of the DaemonSet that no longer matches the selector may be released")]
    WrongRelease,
    /// No object is deleted twice in one list.
    #[error("it is deleted twice")]
    DeletedTwice,
    /// A pod that terminates, or whose deletion `Memory` knows to be in flight, is not deleted again.
    #[error("its deletion is on its way already")]
    AlreadyTerminating,
    /// A delete names the node that its pod is for: back-off is kept by it (v1.36 `util.GetTargetNodeName`).
    #[error("the delete names node {found:?}, but the pod is for {expected:?}")]
    WrongNode {
        /// The node that the action names.
        found: NodeName,
        /// The pod's target node; empty where it has none.
        expected: NodeName,
    },
    /// A pod without target node is left alone, and so is one that was bound to a node which is gone: that one is the
    /// pod garbage collector's.
    #[error("a pod without node, or bound to a node that is gone, is not the controller's to delete")]
    StrayDeleted,
    /// A live pod goes only when a pod at least as good stays on its node, or when it is outdated and can be created
    /// again there `[keep-the-available-one]` `[only-target-nodes]` (kubernetes#118823).
    #[error("it may stay, and no pod as good stays on its node")]
    NeededPodDeleted,
    /// Under surge an outdated Ready pod goes only beside an available updated one (proposal: SurgingRollingUpdate).
    #[error("surge: it is Ready, and no updated pod on its node is available")]
    NoSuccessor,
    /// Under OnDelete a person deletes; the controller only where a pod at least as good stays (proposal: OnDelete).
    #[error("OnDelete: a live pod is deleted that no other one on its node makes superfluous")]
    DeletedUnderOnDelete,
    /// While a node's failed pod is held back, it stays, its node gets no new pod, and no Ready pod is taken from that
    /// node (v1.36 `failedPodsBackoff`: 1 s doubling to 15 min).
    #[error("the node's failed pod is held back until {until}")]
    HeldBack {
        /// The end of the back-off.
        until: Timestamp,
    },
    /// A delete carries the node's failures so far exactly where it deletes an updated failed pod that may be there, so
    /// that the back-off grows `[failed-pods-together]`.
    #[error("the failure to remember must be {expected:?}, not {found:?}")]
    WrongFailure {
        /// What the action must carry.
        expected: Option<Failure>,
        /// What it carries.
        found: Option<Failure>,
    },
    /// maxUnavailable: no more target nodes go down than it allows, even if nothing comes up; 1 where both limits are 0
    /// (v1.36 `update.go rollingUpdate`). A node that went down with the updated pod on it counts, too, though it is no
    /// target node any more `[lost-nodes-count]`.
    #[error("maxUnavailable: {after} target nodes would be {figure}; {before} are, {limit} may{}", less(*.lost))]
    BudgetExceeded {
        /// Which count.
        figure: BudgetFigure,
        /// Target nodes that count before the list.
        before: u32,
        /// Target nodes that would count with this action.
        after: u32,
        /// M: maxUnavailable of the target nodes, percentages rounded up.
        limit: u32,
        /// Nodes lost to the update: so much less is left of the limit.
        lost: u32,
    },
    /// maxSurge: no more target nodes get two pods than it allows `[surge-counts-doubled-nodes]`, less one for each node
    /// that went down with the updated pod on it `[lost-nodes-count]`.
    #[error("maxSurge: {after} target nodes would have two pods; {limit} may{}", less(*.lost))]
    SurgeExceeded {
        /// Target nodes that would have two pods with this action.
        after: u32,
        /// S: maxSurge of the target nodes, percentages rounded up.
        limit: u32,
        /// Nodes lost to the update: so much less is left of the limit.
        lost: u32,
    },
    /// At most `Policy::burst` creates and as many deletes of pods in one list `[one-burst]` (v1.36 `BurstReplicas`).
    #[error("a plan may hold {limit} of them")]
    BurstExceeded {
        /// `Policy::burst`.
        limit: u32,
    },
    /// Pods are created only on target nodes (v1.36 `NodeShouldRunDaemonPod`).
    #[error("it should not run a pod of the DaemonSet")]
    NotTargetNode,
    /// At most one pod is created on a node.
    #[error("a second pod is created on it")]
    SecondCreate,
    /// No pod is created where `Memory` knows of one that is not seen yet.
    #[error("a pod that was created there is not seen yet")]
    CreateInFlight,
    /// No pod is created where one is: with surge an outdated Ready one may be there, alone, or a terminating one
    /// (v1.36 `podsShouldBeOnNode`).
    #[error("{pods} pods are in the way")]
    NodeOccupied {
        /// Pods of the DaemonSet on the node that are not gone.
        pods: u32,
    },
    /// A manifest is the node's, of the current revision, the DaemonSet's own, and matches its selector
    /// (v1.36 `util.CreatePodTemplate`, `ReplaceDaemonSetPodNodeNameNodeAffinity`).
    #[error("the manifest's {field} is wrong")]
    WrongManifest {
        /// The first such field.
        field: &'static str,
    },
    /// Creates go out in batches of 1, 2, 4 … (v1.36 `slowStartBatch`).
    #[error("the create must be in batch {expected}, not {found}")]
    WrongBatch {
        /// The batch of this create.
        expected: u32,
        /// The batch that it names.
        found: u32,
    },
    /// Labels: a pod gets the current hash, and only where its hash is missing and its generation is the DaemonSet's, or
    /// where its hash is a duplicate's `[relabel-only-duplicates]`; a revision without hash gets its own name,
    /// a released one of the template the labels of a new one.
    #[error("it must not get these labels")]
    WrongLabel,
    /// A revision is created only where the DaemonSet has none of the template (v1.36 `constructHistory`), and none of it
    /// that was released is there under its name.
    #[error("the DaemonSet has a revision of the template already")]
    RevisionExists,
    /// A new revision holds the template, is the DaemonSet's own, and its name is free (v1.36 `update.go snapshot`).
    #[error("the new revision's {field} is wrong")]
    WrongRevision {
        /// The first such field.
        field: &'static str,
    },
    /// Only the current revision is renumbered, and its number is above all others.
    #[error("number {number} must be the current revision's, and above {largest}")]
    WrongRevisionNumber {
        /// The number that it would get.
        number: i64,
        /// The largest number of another one; at least 0.
        largest: i64,
    },
    /// The revision of the template is never deleted; of several the one with the largest number stays
    /// (v1.36 `dedupCurHistories`).
    #[error("it is the current revision")]
    CurrentRevisionDeleted,
    /// A revision whose hash a pod of the DaemonSet carries is never deleted; a duplicate only when these pods are
    /// relabelled (v1.36 `cleanupHistory`).
    #[error("pods carry its hash {hash:?}")]
    LiveRevisionDeleted {
        /// The hash.
        hash: String,
    },
    /// `spec.revisionHistoryLimit` old revisions stay; 10 when absent (v1.36 `cleanupHistory`).
    #[error("of {old} old revisions {limit} must stay")]
    HistoryCutShort {
        /// Old revisions in the snapshot.
        old: usize,
        /// How many must stay.
        limit: usize,
    },
    /// A DaemonSet that is being deleted is left to the garbage collector (v1.36 `syncDaemonSet`).
    #[error("the DaemonSet is being deleted")]
    BeingDeleted,
    /// An empty selector would choose every pod: nothing is done, the status neither (v1.36 `syncDaemonSet`).
    #[error("the selector is empty")]
    SelectingAll,
    /// The status is of the DaemonSet's generation, its counters are possible, and what it is not about stays
    /// (v1.36 `storeDaemonSetStatus`).
    #[error("the status's {field} is wrong")]
    WrongStatus {
        /// The first such field.
        field: &'static str,
    },
    /// The collision count changes by one, upwards, and only for a name that is taken (v1.36 `update.go snapshot`).
    #[error("the collision count must not go from {from} to {to}")]
    WrongCollisionCount {
        /// As it is.
        from: i32,
        /// As it would be.
        to: i32,
    },
    /// A name collision is all that a plan is about: the next one goes on (v1.36 `update.go snapshot`).
    #[error("a name collision leaves room for nothing else")]
    CollisionNotAlone,
    /// Claim, history (create, label, renumber, label pods), pod deletes, pod creates, revision deletes, status, events,
    /// requeue: what comes later counts on what came before.
    #[error("it comes too late in the list")]
    OutOfOrder,
    /// A wake-up is never before the snapshot's now.
    #[error("the wake-up at {at} is in the past")]
    RequeueInThePast {
        /// When it would be.
        at: Timestamp,
    },
    /// A plan asks for one wake-up.
    #[error("a second wake-up is asked for")]
    SecondRequeue,
}

/// How a limit is told that lost nodes have spent a part of.
fn less(lost: u32) -> String {
    if lost == 0 { String::new() } else { format!(", less {lost} lost to the update") }
}
