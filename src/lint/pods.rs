//! What the pods are made of, and how they end.

use super::cluster::Cluster;
use super::finding::{Finding, Rule, Severity};
use super::manifest::{Item, Manifest, POD};
use super::words::{count, duration};
use crate::kubernetes::ImageReference;
use crate::snapshot::strategy::Strategy;
use serde_json::Value;

/// Images whose tag may mean another version tomorrow, without a change of the template.
pub(super) fn latest_tags(manifest: &Manifest<'_>) -> Vec<Finding> {
    let finding = |container: &Item<'_>| {
        let image = container.text("image");
        Finding::new(Rule::LatestTag, Severity::Warning, format!("{}.image", container.path))
            .why(format_args!("{image} may be another version on each node and after each restart, and an undo brings none of them back"))
            .remedy("Name the version by its tag or digest")
    };
    let containers = manifest.containers();
    let latest = containers.iter().filter(|(container, _)| is_latest(container.text("image")));
    latest.map(|(container, _)| finding(container)).collect()
}

/// With a digest it is the same image for ever, whatever the tag.
fn is_latest(image: &str) -> bool {
    let reference = ImageReference::split(image);
    !image.is_empty() && reference.digest.is_none() && reference.is_latest()
}

fn grace(manifest: &Manifest<'_>) -> Option<u64> {
    manifest.pod("/terminationGracePeriodSeconds").and_then(Value::as_u64)
}

/// The API server removes such a pod at once, whatever still runs (v1.36 `registry/core/pod/strategy.go
/// CheckGracefulDelete`).
pub(super) fn grace_zero(manifest: &Manifest<'_>) -> Option<Finding> {
    let finding = Finding::new(Rule::GracePeriodZero, Severity::Warning, format!("{POD}.terminationGracePeriodSeconds"))
        .why("It is 0: a deleted pod is gone for the API server while its containers still run, and its successor starts beside them")
        .remedy("Give the containers the seconds that they need to end; the default is 30");
    (grace(manifest) == Some(0)).then_some(finding)
}

/// Longer than anybody waits for a node.
const LONG: u64 = 10 * 60;

pub(super) fn grace_long(cluster: &Cluster<'_>) -> Option<Finding> {
    let seconds = grace(&cluster.manifest).filter(|seconds| *seconds > LONG)?;
    let (budget, desired) = (&cluster.sync.budget, cluster.desired());
    let (meanwhile, limit) = match cluster.snapshot.strategy {
        Strategy::Surge { .. } => ("have two pods and hold a place in maxSurge", budget.max_surge),
        Strategy::Replace(_) => ("be without a pod", budget.max_unavailable),
        Strategy::OnDelete => ("be without a pod", 1),
    };
    let total = u64::from(desired.div_ceil(limit.max(1))).saturating_mul(seconds);
    let finding = Finding::new(
        Rule::GracePeriodLong,
        Severity::Warning,
        format!("{POD}.terminationGracePeriodSeconds"),
    )
    .why(format_args!(
        "A node may {meanwhile} for {}, and an update of {} may take {}",
        duration(seconds),
        count(desired, "target node"),
        duration(total)
    ))
    .remedy("Give no more than the containers really need, or allow more nodes at a time");
    (desired > 0).then_some(finding)
}
