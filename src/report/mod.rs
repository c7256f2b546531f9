//! A plan with its reasons: verdicts on nodes, the budget's figures, warnings.
//!
//! Reasons are data; the caller makes text of them. The JSON form follows that of actions: camelCase fields,
//! PascalCase words.

pub(crate) mod at_rest;
pub(crate) mod details;
pub(crate) mod explain;
pub(crate) mod explain_rollout;
pub(crate) mod movement;
#[doc(hidden)]
pub mod outlook;
pub(crate) mod warnings;

pub use self::details::{FitDetail, InPlaceDetail, NodeDetail, PullDetail, TurnDetail};
pub use crate::choose::limits::{Budget, BudgetUse};
pub use crate::node::unavailable::{UnavailableCause, UnavailableNodes};
pub use crate::pods::classify::Evidence;
pub use crate::rollout::report::{
    FailingNode, FailureEvidence, HoldReason, NotUndoneReason, RolloutReport, RolloutStage, WaveProgress,
    WaveReport,
};

use crate::action::{Action, CreateReason, DeleteReason, RequeueReason};
use crate::input::memory::Rejections;
use crate::plan::conditions::conditions;
use crate::plan::progress::Progress;
use crate::pod_manifest::PodManifest;
use crate::report::movement::Obstacles;
use daemonset_objects::Lifecycle;
use daemonset_objects::internal::is_default;
use daemonset_objects::model::{DaemonSetStatus, NodeName, ObjectRef, Taint};
use indexmap::IndexMap;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// The actions of a decision, with the reasons.
///
/// ```
/// use daemonset::{Recording, plan};
///
/// let mut recording = Recording::from_json(&std::fs::read("examples/recording.json")?)?;
/// recording.pods.clear(); // four nodes lack a pod
/// let plan = plan(&recording.snapshot()?);
/// let batches: Vec<(&str, usize)> = plan.batches().map(|batch| (batch[0].kind(), batch.len())).collect();
/// assert_eq!(batches, [("CreatePod", 1), ("CreatePod", 2), ("CreatePod", 1), ("UpdateStatus", 1)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A plan is read from its JSON form, too: a person may approve it, or another process execute it. Its actions are those of the plan
/// that was written. The form lacks only the figures of [`conditions`](Self::conditions).
///
/// ```
/// use daemonset::Plan;
/// # use daemonset::{Recording, plan};
/// # let mut recording = Recording::from_json(&std::fs::read("examples/recording.json")?)?;
/// # recording.pods.clear();
/// # let plan = plan(&recording.snapshot()?);
///
/// let to_approve = serde_json::to_string(&plan)?;
/// let approved: Plan = serde_json::from_str(&to_approve)?;
/// assert_eq!(approved.actions, plan.actions);
/// assert_eq!(serde_json::to_string(&approved)?, to_approve);
///
/// // An action of a newer version is an error: an executor must handle every kind.
/// let newer = to_approve.replace("CreatePod", "PullImage");
/// let error = serde_json::from_str::<Plan>(&newer).unwrap_err();
/// assert!(error.to_string().starts_with("unknown variant `PullImage`, expected one of `AdoptPod`"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", from = "PlanForm")]
#[must_use = "a plan does nothing by itself: execute its actions"]
#[non_exhaustive]
pub struct Plan {
    /// The same actions as [`reconcile`](crate::reconcile) gives.
    pub actions: Vec<Action>,
    /// The status after the plan; `None` if the decision leaves the status alone.
    pub status: Option<DaemonSetStatus>,
    /// The reasons.
    pub report: Report,
    /// Facts that a person should know.
    pub warnings: Vec<Warning>,
}

/// The JSON form of a [`Plan`].
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", rename = "Plan")]
struct PlanForm {
    actions: Vec<Action>,
    status: Option<DaemonSetStatus>,
    report: Report,
    warnings: Vec<Warning>,
}

impl From<PlanForm> for Plan {
    fn from(form: PlanForm) -> Self {
        let PlanForm { mut actions, status, report, warnings } = form;
        let current = report.current_revision.as_ref().map(|revision| revision.hash.as_str());
        let base = report.rollout.as_ref().and_then(|rollout| rollout.base_hash.as_deref());
        let hashes: Vec<&str> = current.into_iter().chain(base).collect();
        let mut last: Option<PodManifest> = None;
        for action in &mut actions {
            if let Action::CreatePod { pod, .. } = action {
                // The label that holds the hash may have any key, which the manifest alone does not tell.
                pod.recognize(&hashes);
                // As in the plan that was written, so that a large one does not hold each body many times.
                last.iter().for_each(|last| pod.share(last));
                last = Some(pod.clone());
            }
        }
        Plan { actions, status, report, warnings }
    }
}

impl Plan {
    /// The actions in batches: those of one batch may be executed at the same time, and none is begun before all of the
    /// batch before it have succeeded. Consecutive deletes of pods are one batch, consecutive creates of pods are as
    /// many as one step of the slow start holds ([`Action::CreatePod`]), each other action is one by itself.
    pub fn batches(&self) -> impl Iterator<Item = &[Action]> {
        Action::batches(&self.actions)
    }

    /// The instant at which to plan again, even if no change is seen before; `None` where time alone changes nothing.
    ///
    /// ```
    /// use daemonset::{Policy, Recording, plan};
    ///
    /// let mut recording = Recording::from_json(&std::fs::read("examples/recording.json")?)?;
    /// recording.pods.clear();
    /// recording.policy = Policy::default().burst(1);
    /// let plan = plan(&recording.snapshot()?);
    /// assert!(plan.acts());
    /// assert_eq!(plan.summary(), "create 1 pod, write the status");
    /// // The other pods are for the next plans.
    /// assert_eq!(plan.requeue_at(), Some(recording.now));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn requeue_at(&self) -> Option<Timestamp> {
        self.requeue().map(|(at, _)| at)
    }

    /// The same instant with the change that it brings.
    pub fn requeue(&self) -> Option<(Timestamp, RequeueReason)> {
        self.actions.iter().find_map(|action| {
            if let Action::Requeue { at, reason } = action { Some((*at, *reason)) } else { None }
        })
    }

    /// Whether any of its actions [acts](Action::acts): a plan that does not leaves the cluster as it is.
    pub fn acts(&self) -> bool {
        self.actions.iter().any(Action::acts)
    }

    /// Its actions by verb and object, in their order: `delete 1 pod, create 5 pods, write the status`. It is empty for a plan that
    /// does not [act](Self::acts).
    pub fn summary(&self) -> String {
        let mut counts: IndexMap<(&str, &str), usize> = IndexMap::new();
        for action in self.actions.iter().filter(|action| action.acts()) {
            *counts.entry((action.verb(), action.noun())).or_default() += 1;
        }
        let parts = counts.into_iter().map(|((verb, noun), number)| match (noun, number) {
            ("status", _) => format!("{verb} the {noun}"),
            (_, 1) => format!("{verb} 1 {noun}"),
            (_, several) => format!("{verb} {several} {noun}s"),
        });
        parts.collect::<Vec<_>>().join(", ")
    }

    /// Whether a bug of this crate was met: [`Warning::Bug`].
    #[doc(hidden)]
    pub fn has_bug(&self) -> bool {
        self.warnings.contains(&Warning::Bug)
    }

    /// The plan after a bug: nothing is done.
    #[doc(hidden)]
    pub fn after_bug(self) -> Self {
        Plan { actions: Vec::new(), status: None, warnings: vec![Warning::Bug], ..self }
    }

    /// The actions that are due all the same when this one has ended the plan: the update of the status, events, and the instant at
    /// which to plan again. They follow it and rest on no other action. Without them a delete that a webhook refuses for ever would
    /// keep the status wrong for ever (v1.36 `syncDaemonSet`, which writes the status after a failed sync, too).
    pub fn after_break(&self, ended_by: &Action) -> impl Iterator<Item = &Action> {
        let position = self.actions.iter().position(|action| action == ended_by);
        let later = position.and_then(|position| self.actions.get(position + 1..));
        later.into_iter().flatten().filter(|action| action.stands_alone())
    }

    /// The conditions of the status after this plan, as [`Policy::conditions`](crate::Policy::conditions) makes them,
    /// whether that is on or off: those of `previous`, with `Available` and `Progressing` brought up to date. Where the
    /// plan leaves the DaemonSet alone, or its revision's name is taken, they stay as they are.
    ///
    /// - `Available` is True (`EnoughAvailable`) if at most M target nodes have no available pod, excused ones not counted;
    ///   under surge none, under OnDelete one. Else it is False (`TooManyUnavailable`).
    /// - `Progressing` is True: `Updating` until every target node has an available updated pod and no live outdated one,
    ///   then `Complete` until the template changes or a target node has a live outdated pod. A node that joins, reboots or
    ///   loses its pod does not change it.
    ///
    /// A plan that was read from its JSON form gives `previous`, since it lacks the figures: its `status` has the conditions if the
    /// policy's `conditions` is on.
    ///
    /// Without target nodes they are True and `Complete`. `lastTransitionTime` is `now`, in whole seconds, where the status
    /// changes. Messages depend on the state alone.
    ///
    /// ```
    /// use daemonset::{Recording, plan};
    /// use serde_json::json;
    ///
    /// let mut recording = Recording::from_json(&std::fs::read("examples/recording.json")?)?;
    /// recording.pods.truncate(2);
    /// let conditions = plan(&recording.snapshot()?).conditions(&[], recording.now);
    /// assert_eq!(conditions[0], json!({
    ///     "type": "Available", "status": "False", "reason": "TooManyUnavailable",
    ///     "lastTransitionTime": "2026-01-01T12:00:00Z",
    ///     "message": "3 of 4 nodes lack an available pod, and at most 1 may: 1 starting, 2 without a pod",
    /// }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn conditions(&self, previous: &[Value], now: Timestamp) -> Vec<Value> {
        match &self.report.progress {
            Some(progress) => conditions(progress, previous, now),
            None => previous.to_vec(),
        }
    }
}

/// The reasons of a plan.
///
/// ```
/// use daemonset::{DeleteReason, Recording, plan};
/// use daemonset::report::NodeOutcome;
///
/// // Nodes b, c and d have an outdated pod, that of b is not Ready, and maxUnavailable is 1.
/// let recording = Recording::from_json(&std::fs::read("examples/recording.json")?)?;
/// let report = plan(&recording.snapshot()?).report;
/// let NodeOutcome::Delete { reason, .. } = report.nodes[1].outcome else { panic!("it need not be Ready to go") };
/// assert_eq!(reason, DeleteReason::OutdatedNotReady);
/// let verdict = report.node("c").unwrap();
/// assert_eq!(verdict.outcome.to_string(), "waits: maxUnavailable spent (1 of 1)");
/// assert_eq!(report.node("e"), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Report {
    /// Whether the decision went through all steps.
    pub situation: Situation,
    /// The revision of the template; `None` if the situation stops before it.
    pub current_revision: Option<CurrentRevision>,
    /// The strategy with its limit; `None` if the situation stops before it.
    pub strategy: Option<StrategyInForce>,
    /// The budget's figures; `None` if the situation stops before it.
    pub budget: Option<Budget>,
    /// The nodes without an available pod, by cause.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unavailable: UnavailableNodes,
    /// The verdicts, by name: one per node of the [scope](Self::scope).
    pub nodes: Vec<NodeVerdict>,
    /// The nodes that have a verdict.
    #[serde(default, skip_serializing_if = "is_default")]
    pub scope: ReportScope,
    /// The rollout, if the policy steers it and the situation does not stop before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rollout: Option<RolloutReport>,
    /// The obstacles of the nodes that have no verdict here: [`Obstacles`](crate::outlook::Obstacles) adds those of the others.
    #[doc(hidden)]
    #[serde(skip)]
    pub others: Obstacles,
    /// For [`Plan::conditions`]; `None` if the situation stops before it, and in a report that was read from JSON.
    #[serde(skip)]
    pub(crate) progress: Option<Progress>,
}

impl Report {
    /// The verdict on the node of this name; `None` if the report has none. See the example of [`Report`].
    pub fn node(&self, name: &str) -> Option<&NodeVerdict> {
        let position = self.nodes.binary_search_by(|verdict| verdict.node.as_str().cmp(name)).ok()?;
        self.nodes.get(position)
    }

    /// How many target nodes have a live pod of another version than the current one, creates in flight included, before this plan's
    /// deletes. `None` if the situation stops before it, and in a report that was read from JSON.
    ///
    /// ```
    /// use daemonset::{Recording, plan};
    ///
    /// // Node a has an available pod of the current version, nodes b, c and d an outdated one.
    /// let recording = Recording::from_json(&std::fs::read("examples/recording.json")?)?;
    /// let report = plan(&recording.snapshot()?).report;
    /// assert_eq!((report.outdated(), report.done()), (Some(3), Some(1)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn outdated(&self) -> Option<u32> {
        self.progress.as_ref().map(|progress| progress.outdated)
    }

    /// How many target nodes have an available pod of the current version and no live one of another: a rollout is complete when that
    /// is [`desired`](Budget::desired). `None` as for [`outdated`](Self::outdated).
    pub fn done(&self) -> Option<u32> {
        self.progress.as_ref().map(|progress| progress.done)
    }
}

/// The nodes that have a verdict in a report. All other parts of a report are about all nodes in any case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ReportScope {
    /// All nodes.
    #[default]
    AllNodes,
    /// The nodes that have changed since the last plan and those that the plan can touch: the report of
    /// `Tracker::plan` of daemonset-incremental. `Tracker::explain` gives that
    /// of all nodes.
    ChangedNodes,
}

/// Whether the decision went through all steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Situation {
    /// The decision went through all steps.
    Synced,
    /// The selector is empty: nothing is done.
    SelectingAll,
    /// The DaemonSet has a deletionTimestamp: nothing is done.
    BeingDeleted,
    /// The new revision's name is taken: only the collision count changes, and the next plan goes on.
    NameCollision,
}

/// The revision of the template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CurrentRevision {
    /// Object name.
    pub name: String,
    /// The hash in the label of its pods.
    pub hash: String,
    /// Its number, after this plan.
    pub number: i64,
    /// Why it is the current one.
    pub origin: RevisionOrigin,
}

/// Why a revision is the current one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum RevisionOrigin {
    /// It was current before.
    Kept,
    /// This plan creates it.
    Created,
    /// It is an older one whose template is current again: this plan renumbers it, or under `drive` the other controller will.
    CurrentAgain,
}

/// The strategy, with the limit that counts, in its written form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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

/// The verdict on one node.
///
/// See the example of [`Report`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct NodeVerdict {
    /// The node.
    pub node: NodeName,
    /// Condition Ready of the node; `None` if it has no such condition.
    pub node_ready: Option<bool>,
    /// Cordoned; no decision depends on it.
    pub unschedulable: bool,
    /// Whether it should run the pod.
    pub placement: NodePlacement,
    /// The figures of the budget that it counts in.
    pub counts: BudgetUse,
    /// Why it has no available pod; `None` if it has one, or is no target node and not taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<UnavailableCause>,
    /// The pods of the DaemonSet on it, by name.
    pub pods: Vec<PodVerdict>,
    /// The action on it or, without one, the reason.
    pub outcome: NodeOutcome,
}

/// Whether a node should run the pod, with the reason if not.
#[doc(alias = "nodeShouldRunDaemonPod")]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum NodePlacement {
    /// A target node.
    Run,
    /// A pod may stay, but no pod is created: the template does not tolerate this NoSchedule taint.
    #[non_exhaustive]
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
    #[non_exhaustive]
    UntoleratedNoExecute {
        /// The first such taint.
        taint: Taint,
    },
}

/// The verdict on one pod.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PodVerdict {
    /// The pod.
    pub pod: ObjectRef,
    /// Whether it runs the current template.
    pub updated: bool,
    /// The rule that decides so.
    pub evidence: Evidence,
    /// The hash in its label.
    pub hash: Option<String>,
    /// The number of the revision that this hash names.
    pub revision: Option<i64>,
    /// Its state.
    pub state: PodState,
    /// The reason for which this plan deletes it; `None` if it does not.
    pub deleted: Option<DeleteReason>,
}

/// The state of a pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum PodState {
    /// Ready for minReadySeconds.
    #[non_exhaustive]
    Available {
        /// The start of its being Ready.
        ready_since: Option<Timestamp>,
    },
    /// Ready, but not for minReadySeconds yet.
    #[non_exhaustive]
    Ready {
        /// When it becomes available; `None` when its Ready condition has no transition time.
        available_at: Option<Timestamp>,
    },
    /// It runs, but is not Ready.
    #[non_exhaustive]
    NotReady {
        /// The start of this state, if known.
        since: Option<Timestamp>,
    },
    /// Pending, or its phase is unknown.
    #[non_exhaustive]
    Pending {
        /// The time of its creation.
        since: Option<Timestamp>,
    },
    /// It is being deleted.
    #[non_exhaustive]
    Terminating {
        /// When it is overdue; `None` for a delete that the snapshot does not show yet.
        overdue_at: Option<Timestamp>,
    },
    /// It has failed.
    Failed,
    /// It has succeeded, though a daemon should run forever.
    Succeeded,
}

/// A word or two, without the instant.
impl fmt::Display for PodState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PodState::Available { .. } => "available",
            PodState::Ready { .. } => "Ready, not yet available",
            PodState::NotReady { .. } => "not Ready",
            PodState::Pending { .. } => "Pending",
            PodState::Terminating { .. } => "terminating",
            PodState::Failed => "Failed",
            PodState::Succeeded => "Succeeded",
        })
    }
}

/// The action on a node or, without one, the reason.
///
/// See the example of [`Report`].
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
            NodeOutcome::WaitsForGates { gates } => {
                write!(f, "in turn, waits for {}", gates.join(", "))
            }
            NodeOutcome::WaitsForPull => f.write_str("waits for its images"),
            NodeOutcome::DoesNotFit { resource } => write!(f, "waits: the new pod does not fit ({resource})"),
            NodeOutcome::WaitsForRoom => f.write_str("in turn, waits until fewer other nodes are down"),
            NodeOutcome::WaitsForRevision => f.write_str(
                "waits: the other controller has not made the revision of the new version the newest",
            ),
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
            | NodeOutcome::WaitsForRevision => None,
        }
    }
}

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
    #[non_exhaustive]
    NodesLost {
        /// How many nodes.
        nodes: u32,
    },
    /// The update deleted the pods of these nodes, they have had no Ready pod since, and they are no Ready target nodes any
    /// more: perhaps a taint or a label appears because the daemon is away. They count against the limit until they are back
    /// or gone.
    #[non_exhaustive]
    NodesTaken {
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
    #[non_exhaustive]
    NoBase {
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
    #[non_exhaustive]
    LostUnderDrive {
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
            Warning::NodesLost { nodes } => write!(
                f,
                "{nodes} {} down with the updated pod, and {} against the limit: repair or remove, or undo the update",
                if *nodes == 1 { "node went" } else { "nodes went" },
                if *nodes == 1 { "counts" } else { "count" },
            ),
            Warning::NodesTaken { nodes } => write!(
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
            Warning::NoBase { nodes } => write!(
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
            Warning::LostUnderDrive { nodes } => write!(
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
