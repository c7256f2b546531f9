//! Guards against a bad version: readiness probes and minReadySeconds.

use super::context::LintContext;
use super::finding::{Finding, Rule, Severity};
use super::manifest::{Lifetime, Manifest, ManifestItem, POD};
use daemonset::internal::Strategy;

/// A pod without a readiness probe, a startup probe or a readiness gate is Ready as soon as its containers run.
/// OnDelete is exempt, because a user decides there when the update goes on.
pub(super) fn no_probe(manifest: &Manifest<'_>) -> Option<Finding> {
    let is_probed = |item: &ManifestItem<'_>| item.has("readinessProbe") || item.has("startupProbe");
    let lasting: Vec<_> =
        manifest.containers().into_iter().filter(|(_, lifetime)| *lifetime == Lifetime::Pod).collect();
    let probed =
        lasting.iter().any(|(item, _)| is_probed(item)) || !manifest.list("readinessGates").is_empty();
    if probed || lasting.is_empty() || manifest.strategy == Strategy::OnDelete {
        return None;
    }
    let (severity, meanwhile) = match manifest.daemon_set.spec.min_ready_seconds {
        ..=0 => (Severity::Warning, "at once"),
        1.. => (Severity::Advice, "after minReadySeconds"),
    };
    let finding = Finding::new(Rule::NoReadinessProbe, severity, format!("{POD}.containers"))
        .why(format_args!(
            "No container has a readiness probe: a pod is Ready as soon as it runs, and an update goes on {meanwhile}, whether it works or not"
        ))
        .remedy("Give the container that does the work a readiness probe");
    Some(finding)
}

/// A single target node is no finding: no other node follows.
pub(super) fn min_ready_zero(context: &LintContext<'_>) -> Option<Finding> {
    let desired = context.desired();
    let rolls = context.manifest.strategy != Strategy::OnDelete && desired > 1;
    if !rolls || context.manifest.daemon_set.spec.min_ready_seconds != 0 {
        return None;
    }
    let finding = Finding::new(Rule::MinReadyZero, Severity::Advice, "spec.minReadySeconds")
        .why(format_args!(
            "It is 0: a pod that is Ready for a moment and crashes then has already let the update go on, through all {desired} target nodes"
        ))
        .remedy("Set it to the seconds in which a bad version shows itself, such as 10");
    Some(finding)
}
