//! A plan with its reasons: verdicts on nodes, the budget's figures, warnings.
//!
//! Reasons are data; the caller makes text of them. The JSON form follows that of actions: camelCase fields,
//! PascalCase words.

pub(crate) mod at_rest;
pub(crate) mod details;
pub(crate) mod explain;
pub(crate) mod explain_rollout;
pub(crate) mod movement;
mod outcome;
#[doc(hidden)]
pub mod outlook;
mod plan;
mod verdict;
mod warning;
pub(crate) mod warnings;

pub use self::details::{FitDetail, InPlaceDetail, NodeDetail, PullDetail, TurnDetail};
pub use self::outcome::NodeOutcome;
pub use self::plan::Plan;
pub use self::verdict::{NodePlacement, NodeVerdict, PodState, PodVerdict};
pub use self::warning::Warning;
pub use crate::choose::limits::Budget;
pub use crate::input::memory::Rejections;
pub use crate::node::budget::BudgetUse;
pub use crate::node::unavailable::{UnavailableCause, UnavailableNodes};
pub use crate::node::wait::{Wait, WaitKind, WaitsOn};
pub use crate::pods::classify::Evidence;
pub use crate::rollout::report::{
    FailingNode, FailureEvidence, HoldReason, NotUndoneReason, RolloutReport, RolloutStage, WaveProgress,
    WaveReport,
};
pub use crate::rules::turn::GatedTurn;

use crate::plan::progress::Progress;
use crate::report::movement::Obstacles;
use daemonset_objects::internal::is_default;
use serde::{Deserialize, Serialize};

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
    /// It is an older one whose template is current again: this plan renumbers it, or an external controller will.
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
