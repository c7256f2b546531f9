//! Images, grace periods and priority classes of the pods.

use super::context::LintContext;
use super::finding::{Finding, Rule, Severity};
use super::format::{count, duration};
use super::manifest::{Manifest, ManifestItem, POD};
use super::preflight::Preflight;
use super::rollout;
use daemonset::internal::Strategy;
use daemonset::kubernetes::ImageReference;
use serde_json::Value;

/// Images whose tag can move to another version without a change of the template.
pub(super) fn latest_tags(manifest: &Manifest<'_>) -> Vec<Finding> {
    let finding = |container: &ManifestItem<'_>| {
        let image = container.text("image");
        Finding::new(Rule::LatestTag, Severity::Warning, format!("{}.image", container.path))
            .why(format_args!("{image} may be another version on each node and after each restart, and an undo brings none of them back"))
            .remedy("Name the version by its tag or digest")
    };
    let containers = manifest.containers();
    let latest = containers.iter().filter(|(container, _)| is_latest(container.text("image")));
    latest.map(|(container, _)| finding(container)).collect()
}

/// A digest always names the same image, with any tag.
fn is_latest(image: &str) -> bool {
    let reference = ImageReference::split(image);
    !image.is_empty() && reference.digest.is_none() && reference.is_latest()
}

fn grace(manifest: &Manifest<'_>) -> Option<u64> {
    manifest.pod("/terminationGracePeriodSeconds").and_then(Value::as_u64)
}

/// The API server removes such a pod at once, although its containers still run (v1.36 `registry/core/pod/strategy.go
/// CheckGracefulDelete`).
pub(super) fn grace_zero(manifest: &Manifest<'_>) -> Option<Finding> {
    let finding = Finding::new(Rule::GracePeriodZero, Severity::Warning, format!("{POD}.terminationGracePeriodSeconds"))
        .why("It is 0: a deleted pod is gone for the API server while its containers still run, and its successor starts beside them")
        .remedy("Give the containers the seconds that they need to end; the default is 30");
    (grace(manifest) == Some(0)).then_some(finding)
}

/// Ten minutes, in seconds: few operators wait for a node for longer.
const LONG: u64 = 10 * 60;

pub(super) fn grace_long(context: &LintContext<'_>) -> Option<Finding> {
    let seconds = grace(&context.manifest).filter(|seconds| *seconds > LONG)?;
    let (budget, desired) = (&context.budget, context.desired());
    let (meanwhile, limit) = match context.manifest.strategy {
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

/// The classes that every API server has (v1.36 `scheduling/v1 SystemPriorityClasses`).
const BUILT_IN: [&str; 2] = ["system-cluster-critical", "system-node-critical"];

fn priority_class<'a>(manifest: &Manifest<'a>) -> Option<&'a str> {
    manifest.pod("/priorityClassName").and_then(Value::as_str).filter(|name| !name.is_empty())
}

/// The one of the template or, for a template without a priority, of the policy; with the path of its field.
fn named_class<'a>(preflight: &'a Preflight<'_>, manifest: &Manifest<'a>) -> Option<(&'a str, String)> {
    let own = priority_class(manifest).map(|name| (name, format!("{POD}.priorityClassName")));
    let has_priority = manifest.pod("/priority").is_some();
    let of_policy =
        preflight.policy.priority_class_name.as_deref().filter(|name| !name.is_empty() && !has_priority);
    own.or_else(|| Some((of_policy?, rollout::field(manifest.daemon_set, "priorityClassName"))))
}

/// The API server refuses every pod that names a missing class (v1.36 `plugin/pkg/admission/priority`).
pub(super) fn priority_class_missing(preflight: &Preflight<'_>, manifest: &Manifest<'_>) -> Option<Finding> {
    let (known, (name, path)) = (preflight.priority_classes.as_ref()?, named_class(preflight, manifest)?);
    let finding = Finding::new(Rule::PriorityClassMissing, Severity::Error, path)
        .why(format_args!("There is no PriorityClass {name}: the API server refuses every pod that names it"))
        .remedy("Create the class first, or name one that is there");
    (!known.contains(name) && !BUILT_IN.contains(&name)).then_some(finding)
}

pub(super) fn no_priority_class(preflight: &Preflight<'_>, manifest: &Manifest<'_>) -> Option<Finding> {
    let finding = Finding::new(Rule::NoPriorityClass, Severity::Advice, format!("{POD}.priorityClassName"))
        .why("None is named: unless the cluster has a default class, the pod waits on a full node, and is evicted under pressure, like any other")
        .remedy("Name system-node-critical, or a class of your own, if each node needs it");
    named_class(preflight, manifest).is_none().then_some(finding)
}
