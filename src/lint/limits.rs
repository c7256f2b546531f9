//! maxUnavailable, maxSurge, and how long they make a rollout.

use super::cluster::Cluster;
use super::finding::{Finding, Rule, Severity};
use super::manifest::Manifest;
use super::told::{MAX_UNAVAILABLE, both_limits_set};
use super::words::{count, duration};
use crate::model::IntOrString;
use crate::snapshot::strategy::Strategy;

/// An absent maxUnavailable becomes 1 (v1.36 `apps/v1 defaults.go SetDefaults_DaemonSet`), which is refused beside
/// maxSurge.
pub(super) fn unavailable_beside_surge(manifest: &Manifest<'_>) -> Option<Finding> {
    let strategy = &manifest.daemon_set.spec.update_strategy;
    let limits = strategy.rolling_update.as_ref()?;
    let surges = strategy.kind == "RollingUpdate" && manifest.surges();
    let finding = both_limits_set()
        .why("maxUnavailable is absent, which apps/v1 reads as 1 and then refuses beside maxSurge")
        .remedy("Set maxUnavailable to 0");
    (surges && limits.max_unavailable.is_none()).then_some(finding)
}

/// A percentage below 100 that rounds up to all is told by its own rule; of one node there is no part.
pub(super) fn takes_all(cluster: &Cluster<'_>) -> Option<Finding> {
    let desired = cluster.desired();
    let Strategy::Replace(limit) = cluster.snapshot.strategy else { return None };
    let by_rounding = matches!(limit, IntOrString::Percent(..100));
    if by_rounding || desired < 2 || limit.scaled(desired) < desired {
        return None;
    }
    let finding = Finding::new(Rule::MaxUnavailableTakesAll, Severity::Warning, MAX_UNAVAILABLE)
        .why(format_args!("{limit} allows all {desired} target nodes to be without a pod at a time"))
        .remedy("Use a smaller number, so that a bad version does not reach every node at once");
    Some(finding)
}

/// Half a day: longer than anybody watches a rollout.
const SLOW: u64 = 12 * 60 * 60;

/// At least so long: each round waits for minReadySeconds, and a round is as many nodes as the limit allows.
pub(super) fn slow(cluster: &Cluster<'_>) -> Option<Finding> {
    let (desired, budget) = (cluster.desired(), &cluster.sync.budget);
    let limit = match cluster.snapshot.strategy {
        Strategy::OnDelete => return None,
        Strategy::Replace(_) => budget.max_unavailable,
        Strategy::Surge { .. } => budget.max_surge,
    };
    let seconds = u64::try_from(cluster.manifest.daemon_set.spec.min_ready_seconds).unwrap_or(0);
    let rounds = u64::from(desired.div_ceil(limit.max(1)));
    let total = rounds.saturating_mul(seconds);
    let finding = Finding::new(Rule::SlowRollout, Severity::Advice, "spec.minReadySeconds")
        .why(format_args!(
            "An update of {} takes {} at least: {} of {} each",
            count(desired, "target node"),
            duration(total),
            count(rounds, "round"),
            duration(seconds)
        ))
        .remedy("Allow more nodes at a time, or ask for fewer seconds");
    (total >= SLOW).then_some(finding)
}
