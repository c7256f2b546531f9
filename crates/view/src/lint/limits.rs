//! maxUnavailable, maxSurge, and the duration of a rollout.

use super::context::LintContext;
use super::finding::{Finding, Rule, Severity};
use super::format::{count, duration};
use super::from_warnings::both_limits_set;
use super::manifest::Manifest;
use daemonset::internal::Strategy;
use daemonset::model::IntOrString;

/// An absent maxUnavailable becomes 1 (v1.36 `apps/v1 defaults.go SetDefaults_DaemonSet`), which is refused beside
/// maxSurge.
pub(super) fn unavailable_beside_surge(manifest: &Manifest<'_>) -> Option<Finding> {
    let strategy = &manifest.daemon_set.spec.update_strategy;
    let limits = strategy.rolling_update.as_ref()?;
    let surges = strategy.kind == "RollingUpdate" && manifest.surges();
    let finding = both_limits_set(manifest)
        .why("maxUnavailable is absent, which apps/v1 reads as 1 and then refuses beside maxSurge")
        .remedy("Set maxUnavailable to 0");
    (surges && limits.max_unavailable.is_none()).then_some(finding)
}

/// A percentage below 100 that rounds up to all nodes has its own rule. A single target node is no finding, because
/// every limit takes it.
pub(super) fn takes_all(context: &LintContext<'_>) -> Option<Finding> {
    let desired = context.desired();
    let Strategy::Replace(limit) = context.manifest.strategy else { return None };
    let by_rounding = matches!(limit, IntOrString::Percent(..100));
    if by_rounding || desired < 2 || limit.scaled(desired) < desired {
        return None;
    }
    let path = context.manifest.max_unavailable();
    let finding = Finding::new(Rule::MaxUnavailableTakesAll, Severity::Warning, path)
        .why(format_args!("{limit} allows all {desired} target nodes to be without a pod at a time"))
        .remedy("Use a smaller number, so that a bad version does not reach every node at once");
    Some(finding)
}

/// Half a day, in seconds: nobody watches a rollout for longer.
const SLOW: u64 = 12 * 60 * 60;

/// The minimum duration: a round updates as many nodes as the limit allows, and waits for minReadySeconds.
pub(super) fn slow(context: &LintContext<'_>) -> Option<Finding> {
    let (desired, budget) = (context.desired(), &context.budget);
    let limit = match context.manifest.strategy {
        Strategy::OnDelete => return None,
        Strategy::Replace(_) => budget.max_unavailable,
        Strategy::Surge { .. } => budget.max_surge,
    };
    let seconds = u64::try_from(context.manifest.daemon_set.spec.min_ready_seconds).unwrap_or(0);
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
