//! What a preflight finds: the rule, how bad it is, where, why, and what to do.

use crate::model::NodeName;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One thing that a person should know before this DaemonSet is applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// The field that it is about, as Kubernetes writes it.
    pub path: String,
    /// Which rule found it.
    pub rule: Rule,
    /// One sentence: what happens, with its figures.
    pub why: String,
    /// One sentence: what to do.
    pub remedy: String,
    /// The nodes that it happens to, by name; empty where the rule is not about some of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeName>,
}

/// How bad a finding is, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Severity {
    /// It is refused, does not work, or takes pods down at once.
    Error,
    /// It does harm sooner or later, or when something else goes wrong.
    Warning,
    /// It works, and may be what is wanted.
    Advice,
}

/// Which rule found something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Rule {
    /// A [`Snapshot`](crate::Snapshot) refuses it: nothing could be decided.
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
    /// minReadySeconds alone makes the update take long.
    SlowRollout,
    /// minReadySeconds is 0: a pod that is Ready for a moment lets the next one go.
    MinReadyZero,
    /// No probe tells when a pod is Ready.
    NoReadinessProbe,
    /// revisionHistoryLimit is 0: there is nothing to go back to.
    HistoryLimitZero,
    /// Surge with a host port, which two pods of a node can't both have.
    SurgeWithHostPort,
    /// Surge on the node's network without a port that says what is listened on.
    SurgeWithHostNetwork,
    /// Surge with a writable host path, where a lock may lie.
    SurgeWithHostPath,
    /// Surge with devices, which a node must have twice.
    SurgeWithDevices,
    /// Surge with an anti-affinity that keeps the second pod away from the first.
    SurgeWithAntiAffinity,
    /// An anti-affinity that keeps the DaemonSet's pods away from each other on different nodes.
    AntiAffinityToItself,
    /// No node should run the pod.
    NoTargetNodes,
    /// Control-plane nodes do not run the pod, for their taint alone.
    ControlPlaneLeftOut,
    /// The new template no longer selects nodes that run the pod.
    SelectionNarrowed,
    /// The new template no longer tolerates taints of nodes that run the pod.
    TolerationsWithdrawn,
    /// Nodes went down with the updated pod, and hold the budget.
    NodesLost,
    /// The selector of another DaemonSet chooses the same pods.
    SelectorOverlaps,
    /// Pods that nobody controls are adopted.
    AdoptsPods,
    /// Pods count as updated by their generation, though their hash tells another template.
    StaleGeneration,
    /// Pods are outdated because the revision that they carry is gone.
    RevisionsLost,
    /// The template names a priority class that is not there.
    PriorityClassMissing,
    /// The template names no priority class.
    NoPriorityClass,
    /// An image is named by the tag `latest`, or by none.
    LatestTag,
    /// Pods are killed without a chance to end.
    GracePeriodZero,
    /// Pods may take long to end, and their nodes are without one meanwhile.
    GracePeriodLong,
}

impl Finding {
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

    /// The nodes that it happens to, in any order.
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
