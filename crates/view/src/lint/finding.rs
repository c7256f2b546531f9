//! Findings: the rule, the severity, the field, the reason, and a remedy.

use daemonset::model::NodeName;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One effect that an author should know before the DaemonSet is applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Finding {
    /// The severity.
    pub severity: Severity,
    /// The path of the field, in Kubernetes' notation.
    pub path: String,
    /// The rule.
    pub rule: Rule,
    /// One sentence that describes the effect, with figures.
    pub why: String,
    /// One sentence that advises the author.
    pub remedy: String,
    /// The affected nodes, by name; empty if the finding is not about particular nodes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeName>,
}

/// How severe a finding is, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Severity {
    /// The DaemonSet is refused, does not work, or takes pods down at once.
    Error,
    /// The setting does harm in the long run, or together with another failure.
    Warning,
    /// The setting works, and may be intended.
    Advice,
}

/// The rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Rule {
    /// The input is no valid [`Snapshot`](daemonset::Snapshot), so that there is no decision; or an API server refuses it.
    Invalid,
    /// The selector is empty, and the controller does nothing.
    SelectsEverything,
    /// The template of a stored revision could never equal this one.
    NeverEqualsItsRevision,
    /// The strategy has no type.
    StrategyMissing,
    /// maxUnavailable and maxSurge are both 0.
    BothLimitsZero,
    /// maxUnavailable and maxSurge are both set.
    BothLimitsSet,
    /// maxUnavailable allows all target nodes to be down at a time.
    MaxUnavailableTakesAll,
    /// A percentage below 100 rounds up to all target nodes.
    PercentRoundsToAll,
    /// minReadySeconds alone makes the update take at least 12 hours.
    SlowRollout,
    /// minReadySeconds is 0: the update continues as soon as a pod has been Ready for a moment.
    MinReadyZero,
    /// No container has a readiness or startup probe.
    NoReadinessProbe,
    /// revisionHistoryLimit is 0: no old revision is left for a rollback.
    HistoryLimitZero,
    /// Surge with a host port, which only one pod of a node can have.
    SurgeWithHostPort,
    /// Surge on the node's network without any declared port.
    SurgeWithHostNetwork,
    /// Surge with a writable host path, which may contain a lock file.
    SurgeWithHostPath,
    /// Surge with devices, of which a node needs twice as many.
    SurgeWithDevices,
    /// Surge with an anti-affinity that keeps the second pod away from the first.
    SurgeWithAntiAffinity,
    /// An anti-affinity that keeps the DaemonSet's pods away from each other on different nodes.
    AntiAffinityToItself,
    /// No node should run the pod.
    NoTargetNodes,
    /// Only the control-plane taint keeps the pod off control-plane nodes.
    ControlPlaneLeftOut,
    /// The new template no longer selects nodes that run the pod.
    SelectionNarrowed,
    /// The new template no longer tolerates taints of nodes that run the pod.
    TolerationsWithdrawn,
    /// Nodes went down with the updated pod, and hold the budget.
    NodesLost,
    /// Nodes that went down before the update use up its limit.
    BudgetSpentBeforeStart,
    /// The template does not tolerate a taint that nodes have while their agent is not ready: an update that deletes the
    /// agent may take node after node out of the fleet.
    TaintedByOwnAbsence,
    /// This selector matches the pods of another DaemonSet, or the other way round.
    SelectorOverlaps,
    /// The DaemonSet adopts pods without a controller.
    AdoptsPods,
    /// Pods count as updated by their template generation, although their hash belongs to another template.
    StaleGeneration,
    /// Pods are outdated because the revision of their hash is gone.
    RevisionsLost,
    /// The template names a priority class that does not exist.
    PriorityClassMissing,
    /// The template names no priority class.
    NoPriorityClass,
    /// An image has the tag `latest`, or no tag.
    LatestTag,
    /// terminationGracePeriodSeconds is 0: deleted pods are killed at once.
    GracePeriodZero,
    /// terminationGracePeriodSeconds is above 10 minutes: nodes may be without a pod for as long.
    GracePeriodLong,
    /// An annotation that steers a rollout can't be read, or its policy is refused.
    InvalidRolloutPolicy,
    /// A wave has no node.
    WaveWithoutNodes,
    /// All nodes of a wave belong to waves before it.
    WaveAddsNoNode,
    /// Nodes belong to no wave, and keep the old version for good.
    NodesInNoWave,
    /// A wave bakes for minReadySeconds, which is more than its bakeSeconds.
    BakeBelowMinReady,
    /// A version that crashes again and again, or never becomes Ready, does not fail.
    FailureUnnoticed,
    /// Reasons to wait count for nothing without waitingSeconds.
    WaitingReasonsUnused,
    /// A version may fail on all nodes of the first wave without having failed.
    CanaryMayFail,
    /// A version that works fails by a deadline.
    DeadlineTooShort,
    /// The rollout should roll back, and there is no revision to go back to.
    NoBase,
    /// The other controller deletes the version that was undone, and with it the marks that say so.
    UndoneRevisionGoes,
    /// A gate of the turns that nobody is known to open.
    GateWithoutOpener,
    /// The gate `drained` on nodes that stay schedulable.
    DrainWithoutCordon,
    /// The policy of turns is `Keep`: no pod is updated.
    TurnsKept,
    /// One name for all pods of a node, and a grace period of 0, after which the name is free too early.
    NameWithoutGrace,
    /// A pod of another owner has the one name that the pod of a node can have.
    NameTaken,
    /// A choice about turns, pulls, changes in place or fit that has no effect.
    WithoutEffect,
    /// All target nodes may pull the images at a time.
    PullsAllAtOnce,
    /// Fewer nodes may pull at a time than may be updated.
    PullsBelowLimit,
    /// An image that each start of its container pulls never counts as being on a node.
    PulledAtEachStart,
    /// A change that can't be made in place: its pods are deleted.
    NotInPlace,
    /// A change in place to the same image under another name.
    SameImage,
    /// Nodes whose allocatable resources are less than the pod requests.
    NodeTooSmall,
}

impl Finding {
    /// A field that an API server refuses, for callers that know its rules, as `daemonset-apiserver` does. `why` is its message about the
    /// field, such as `Invalid value: 0: must be greater than 0`.
    #[must_use]
    pub fn refused(path: impl Into<String>, why: impl fmt::Display) -> Self {
        Finding::new(Rule::Invalid, Severity::Error, path)
            .why(format_args!("It is refused: {why}"))
            .remedy("Put it right, and look again: what needs a decision could not be looked at")
    }

    pub(super) fn new(rule: Rule, severity: Severity, path: impl Into<String>) -> Self {
        let (why, remedy) = (String::new(), String::new());
        Finding { severity, path: path.into(), rule, why, remedy, nodes: Vec::new() }
    }

    /// One sentence, without its full stop.
    pub(super) fn why(mut self, why: impl fmt::Display) -> Self {
        self.why = format!("{why}.");
        self
    }

    /// One sentence, without its full stop.
    pub(super) fn remedy(mut self, remedy: impl fmt::Display) -> Self {
        self.remedy = format!("{remedy}.");
        self
    }

    /// The affected nodes, in any order.
    pub(super) fn nodes(mut self, mut nodes: Vec<NodeName>) -> Self {
        nodes.sort_unstable();
        self.nodes = nodes;
        self
    }
}

/// `Warning spec.x: why. remedy. (Rule)`
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { severity, path, rule, why, remedy, nodes: _ } = self;
        write!(f, "{severity} {path}: {why} {remedy} ({rule})")
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
