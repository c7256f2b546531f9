//! The rules, each with its source and the figures that show a violation.

use daemonset::model::NodeName;
use daemonset::{Failure, Lifecycle, TurnReason};
use jiff::Timestamp;
use serde::Serialize;
use std::fmt;
use thiserror::Error;

/// A figure of the budget: a number of target nodes.
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

/// The broken rule. Each variant documents the rule and its source.
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
    /// A delete names the target node of its pod: the back-off is kept by that node (v1.36 `util.GetTargetNodeName`).
    #[error("the delete names node {found:?}, but the pod is for {expected:?}")]
    WrongNode {
        /// The node that the action names.
        found: NodeName,
        /// The pod's target node; empty where it has none.
        expected: NodeName,
    },
    /// A pod without target node is left alone. So is a pod that was bound to a node which is gone: it is the pod garbage
    /// collector's.
    #[error("a pod without node, or bound to a node that is gone, is not the controller's to delete")]
    StrayDeleted,
    /// A live pod goes only when a pod at least as good stays on its node, or when it is outdated and a new one can be
    /// created there `[keep-the-available-one]` `[only-target-nodes]` (kubernetes#118823).
    #[error("it may stay, and no pod as good stays on its node")]
    NeededPodDeleted,
    /// Under surge an outdated Ready pod goes only beside an available updated one (proposal: SurgingRollingUpdate).
    #[error("surge: it is Ready, and no updated pod on its node is available")]
    NoSuccessor,
    /// Under OnDelete a person deletes live pods. The controller deletes one only where a pod at least as good stays
    /// (proposal: OnDelete).
    #[error("OnDelete: a live pod is deleted that no other one on its node makes superfluous")]
    DeletedUnderOnDelete,
    /// While a node's failed pod is held back, it stays, its node gets no new pod, and no Ready pod is taken from that
    /// node (v1.36 `failedPodsBackoff`: 1 s doubling to 15 min).
    #[error("the node's failed pod is held back until {until}")]
    HeldBack {
        /// The end of the back-off.
        until: Timestamp,
    },
    /// Under [`LifecyclePolicy::Respect`](daemonset::policy::LifecyclePolicy::Respect) a node that leaves gets no pod, and keeps its
    /// Ready one: a kubelet that shuts down rejects each new pod (kubernetes#122912).
    #[error("the node leaves ({lifecycle:?}) and is left alone")]
    NodeLeaves {
        /// The node's state.
        lifecycle: Lifecycle,
    },
    /// A delete holds the number of the node's failures if and only if it deletes an updated failed pod from a node where
    /// pods may be, so that the back-off grows `[failed-pods-together]`.
    #[error("the failure to remember must be {expected:?}, not {found:?}")]
    WrongFailure {
        /// The right failure.
        expected: Option<Failure>,
        /// The failure in the action.
        found: Option<Failure>,
    },
    /// maxUnavailable: no more target nodes go down than it allows, even if no new pod becomes available; 1 where both
    /// limits are 0 (v1.36 `update.go rollingUpdate`). A node that went down with the updated pod on it counts, too, though
    /// it is no longer a target node `[lost-nodes-count]`.
    #[error("maxUnavailable: {after} target nodes would be {figure}; {before} are, {limit} may{}", less(*.lost))]
    BudgetExceeded {
        /// The exceeded figure.
        figure: BudgetFigure,
        /// Target nodes that count before the list.
        before: u32,
        /// Target nodes that would count with this action.
        after: u32,
        /// M: maxUnavailable of the target nodes, percentages rounded up.
        limit: u32,
        /// Nodes lost to the update, which use up a part of the limit.
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
        /// Nodes lost to the update, which use up a part of the limit.
        lost: u32,
    },
    /// Under surge, of the nodes whose available pod goes since the template has withdrawn a toleration, as many stay as target nodes
    /// have no available pod `[surge-leaves-last]`.
    #[error(
        "surge: of {leaving} nodes that leave, {unavailable} must stay, as many as target nodes have no available pod"
    )]
    LeavesTooEarly {
        /// Nodes that would lose an available pod in this way.
        leaving: u32,
        /// U: target nodes without an available pod.
        unavailable: u32,
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
    /// No pod is created on a node for which `Memory` knows of a create that the snapshot does not show.
    #[error("a pod that was created there is not seen yet")]
    CreateInFlight,
    /// No pod is created beside another one. With surge, a pod may be created beside a single outdated Ready pod, or beside
    /// terminating ones (v1.36 `podsShouldBeOnNode`).
    #[error("{pods} pods are in the way")]
    NodeOccupied {
        /// Pods of the DaemonSet on the node that are not gone.
        pods: u32,
    },
    /// A manifest is for its node, of the revision that the node should run, owned by the DaemonSet, and matches its selector. It is tied
    /// to its node by the policy's binding, and has the tolerations that placement counts on, and no others. It has the name of
    /// [`PodNames`](daemonset::policy::PodNames), which no other pod has. An object of the
    /// caller's [`Manifests`](daemonset::manifests::Manifests) may be tied in either way, and have more tolerations and another name
    /// (v1.36 `util.CreatePodTemplate`, `ReplaceDaemonSetPodNodeNameNodeAffinity`). A pull pod has the images of that revision and, of its
    /// template, the parts that a pull needs ([`PullPolicy`](daemonset::policy::PullPolicy)).
    #[error("the manifest's {field} is wrong")]
    WrongManifest {
        /// The first wrong field.
        field: &'static str,
    },
    /// A node that the rollout has not reached keeps its pod, and gets no second one. Where there is a stable revision, a pod that is neither
    /// the stable revision's nor Ready may go, unless another controller would create the new version in its place
    /// ([`Policy::rollout`](field@daemonset::Policy::rollout)).
    #[error("the rollout has not reached its node")]
    NotReleased,
    /// A wave opens once all waves before it are done and, where the policy asks for it, it is approved.
    #[error("wave {wave} is not due")]
    WaveNotDue {
        /// Its index.
        wave: u32,
    },
    /// A rollout is marked only on the current revision, under the revision's number, and only as it is.
    #[error("the mark {mark} is not the case")]
    WrongMark {
        /// The annotation.
        mark: String,
    },
    /// Beside another controller no pod is taken, no turn begins, and nothing is marked before that one has created the current revision,
    /// adopted it, and made it the newest: it may not know the template, or the template may be replaced already
    /// ([`Policy::external_controller`](field@daemonset::Policy::external_controller)).
    #[error("the other controller has not made the revision of the template the newest")]
    RevisionAwaited,
    /// The template of the stable revision is restored once the marks of the undo are there, for an hour, and while the DaemonSet has the generation
    /// that was undone; never that of a revision that has failed ([`FailureAction::Undo`](daemonset::policy::FailureAction::Undo)).
    #[error("the restored template is not due: its {field} is wrong")]
    WrongRestore {
        /// The first wrong field.
        field: &'static str,
    },
    /// While the DaemonSet does not show the template that was restored, nothing is renumbered or marked: the revision that it shows is
    /// the failed one.
    #[error("the DaemonSet is about to show another template")]
    TemplateAwaited,
    /// No pod is created from an old revision that has failed.
    #[error("the revision with hash {hash:?} has failed")]
    FailedRevisionCreated {
        /// The hash.
        hash: String,
    },
    /// The stable revision of a rollout is never deleted.
    #[error("it is the stable revision of the rollout")]
    #[serde(rename = "BaseDeleted")]
    StableRevisionDeleted,
    /// A revision that was undone within the last hour must stay: without its mark it would be undone again.
    #[error("the revision was undone within the last hour")]
    UndoneDeleted,
    /// The turn of a node begins where the update would take its pod, and ends once nothing is left to do there
    /// ([`Policy::turn`](field@daemonset::Policy::turn)).
    #[error("{reason:?} is not due")]
    TurnNotDue {
        /// The reason of the patch.
        reason: TurnReason,
    },
    /// The patch of a node changes its own turn, its gates and its own cordon, and nothing else.
    #[error("the patch's {field} is wrong")]
    WrongPatch {
        /// The first wrong field.
        field: &'static str,
    },
    /// With turns no pod is taken from a node that is not in turn.
    #[error("the node is not in turn")]
    NotInTurn,
    /// While the policy of turns can't be read, no pod is taken.
    #[error("the policy of turns can't be read")]
    TurnsKept,
    /// The pod of a node in turn goes once all gates are open, or overdue where the policy says so.
    #[error("gates are closed: {}", gates.join(", "))]
    GateClosed {
        /// These gates.
        gates: Vec<String>,
    },
    /// No more nodes are in turn than may be unavailable.
    #[error("{after} nodes would be in turn; {limit} may")]
    TurnLimitExceeded {
        /// Nodes in turn with this one, without those that do not count.
        after: u32,
        /// M.
        limit: u32,
    },
    /// With [`Policy::pull`](field@daemonset::Policy::pull) a Ready pod goes, and its node's turn begins, once the images of its successor are on the node, or
    /// nobody waits for them any more.
    #[error("the images of its successor are not on the node")]
    NotPulled,
    /// Under [`FitPolicy::Hold`](daemonset::policy::FitPolicy::Hold) a Ready pod goes, or its node's turn begins, only where the new pod
    /// fits on the node. A change in place fits, and a turn with the gate `drained` empties the node first.
    #[error("its successor requests more {resource} than the node has")]
    DoesNotFit {
        /// The first such resource, by name.
        resource: String,
    },
    /// No more nodes pull at a time than [`PullPolicy::parallel`](field@daemonset::policy::PullPolicy::parallel) says.
    #[error("{pulling} nodes would pull; {limit} may")]
    TooManyPulls {
        /// Pull pods that have not pulled all images, with this one.
        pulling: u32,
        /// The limit.
        limit: u32,
    },
    /// A pod is changed in its place where [`Policy::in_place`](field@daemonset::Policy::in_place) asks for it and the update replaces pods:
    /// the one live pod of its node, bound and Running, that does not settle and whose change was not refused within the last half hour.
    /// The templates of its old revision and of its node's goal differ in nothing but images of containers, labels and annotations, and
    /// each container with a new image has run.
    #[error("it can't be changed in its place")]
    NotInPlace,
    /// The patch of such a pod makes it one of its node's goal: with the labels, the annotations and the images of that template, with the
    /// hash and the generation of a created pod, and with a note of the containers that it had
    /// ([`InPlacePolicy`](daemonset::policy::InPlacePolicy)).
    #[error("the change's {field} is wrong")]
    WrongChange {
        /// The first wrong field.
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
    /// A revision is created only if the DaemonSet has none with the template (v1.36 `constructHistory`), and no released
    /// one has both the template and the name for it.
    #[error("the DaemonSet has a revision of the template already")]
    RevisionExists,
    /// A new revision holds the template, is owned by the DaemonSet, and its name is free (v1.36 `update.go snapshot`).
    #[error("the new revision's {field} is wrong")]
    WrongRevision {
        /// The first wrong field.
        field: &'static str,
    },
    /// Only the current revision is renumbered, to a number above all others.
    #[error("number {number} must be the current revision's, and above {largest}")]
    WrongRevisionNumber {
        /// The number that it would get.
        number: i64,
        /// The largest number of the other revisions; at least 0.
        largest: i64,
    },
    /// The revision of the template is never deleted; of several the one with the largest number stays
    /// (v1.36 `dedupCurHistories`).
    #[error("it is the current revision")]
    CurrentRevisionDeleted,
    /// A revision is never deleted while a pod of the DaemonSet has its hash; a duplicate only when these pods are relabelled
    /// (v1.36 `cleanupHistory`).
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
    /// An empty selector would select every pod: nothing is done, and the status is not written (v1.36 `syncDaemonSet`).
    #[error("the selector is empty")]
    SelectingAll,
    /// The status has the DaemonSet's generation and possible counters, and keeps the other fields
    /// (v1.36 `storeDaemonSetStatus`). With [`Policy::conditions`](daemonset::Policy::conditions) it has one condition `Available`
    /// and one `Progressing`, and keeps the others.
    #[error("the status's {field} is wrong")]
    WrongStatus {
        /// The first wrong field.
        field: &'static str,
    },
    /// The collision count grows by one, and only because a name is taken (v1.36 `update.go snapshot`).
    #[error("the collision count must not go from {from} to {to}")]
    WrongCollisionCount {
        /// The present count.
        from: i32,
        /// The written count.
        to: i32,
    },
    /// A plan for a name collision does nothing else: the next plan goes on (v1.36 `update.go snapshot`).
    #[error("a name collision leaves room for nothing else")]
    CollisionNotAlone,
    /// Claim, history (create, label, renumber, mark, label pods), pod deletes and changes in place, pod creates, revision deletes,
    /// status, restored template, pull pods' deletes and creates, patches of nodes, events, requeue: later actions rely on earlier ones.
    #[error("it comes too late in the list")]
    OutOfOrder,
    /// A wake-up is never before the snapshot's now.
    #[error("the wake-up at {at} is in the past")]
    RequeueInThePast {
        /// The requested instant.
        at: Timestamp,
    },
    /// A plan asks for one wake-up.
    #[error("a second wake-up is asked for")]
    SecondRequeue,
}

/// The part of a limit that lost nodes have used up.
fn less(lost: u32) -> String {
    if lost == 0 { String::new() } else { format!(", less {lost} lost to the update") }
}
