//! What holds a bad version back: probes, and the time for which a pod must be Ready.

use super::cluster::Cluster;
use super::finding::{Finding, Rule, Severity};
use super::manifest::{Item, Life, Manifest, POD};
use crate::snapshot::strategy::Strategy;

/// A pod without a readiness probe, a startup probe or a readiness gate is Ready as soon as its containers run. With
/// OnDelete a person looks.
pub(super) fn no_probe(manifest: &Manifest<'_>) -> Option<Finding> {
    let is_probed = |item: &Item<'_>| item.has("readinessProbe") || item.has("startupProbe");
    let lasting: Vec<_> = manifest.containers().into_iter().filter(|(_, life)| *life == Life::Pod).collect();
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

/// One node is no rollout.
pub(super) fn min_ready_zero(cluster: &Cluster<'_>) -> Option<Finding> {
    let desired = cluster.desired();
    let rolls = cluster.snapshot.strategy != Strategy::OnDelete && desired > 1;
    if !rolls || cluster.manifest.daemon_set.spec.min_ready_seconds != 0 {
        return None;
    }
    let finding = Finding::new(Rule::MinReadyZero, Severity::Advice, "spec.minReadySeconds")
        .why(format_args!(
            "It is 0: a pod that is Ready for a moment and crashes then has already let the update go on, through all {desired} target nodes"
        ))
        .remedy("Set it to the seconds in which a bad version shows itself, such as 10");
    Some(finding)
}
