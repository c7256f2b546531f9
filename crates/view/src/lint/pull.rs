//! Images that are pulled before the update: how many nodes pull at a time, and images that are pulled again and again.

use super::context::LintContext;
use super::finding::{Finding, Rule, Severity};
use super::format::count;
use super::manifest::ManifestItem;
use super::rollout;
use daemonset::internal::{Strategy, images};
use daemonset::policy::PullPolicy;

/// All rules about pulls that have an effect.
pub(super) fn findings(context: &LintContext<'_>) -> Vec<Finding> {
    let replaces = matches!(context.manifest.strategy, Strategy::Replace(_));
    let Some(pull) = context.preflight.policy.pull.as_ref().filter(|_| replaces) else { return Vec::new() };
    let mut findings = pulled_again(context);
    findings.extend(all_at_once(context, pull));
    findings.extend(below_limit(context, pull));
    findings
}

/// A single target node is no finding.
fn all_at_once(context: &LintContext<'_>, pull: &PullPolicy) -> Option<Finding> {
    let (desired, parallel) = (context.desired(), pull.parallel.scaled(context.desired()));
    let path = rollout::field(context.manifest.daemon_set, "pull.parallel");
    let finding = Finding::new(Rule::PullsAllAtOnce, Severity::Advice, path)
        .why(format_args!(
            "It is {} and lets all {desired} target nodes pull at a time: the registry, and the network before it, serve all of them at once",
            pull.parallel
        ))
        .remedy("Allow fewer, but no fewer than maxUnavailable, so that the update need not wait for pulls");
    (desired > 1 && parallel >= desired).then_some(finding)
}

/// The update goes no faster than images arrive.
fn below_limit(context: &LintContext<'_>, pull: &PullPolicy) -> Option<Finding> {
    let (desired, limit) = (context.desired(), context.budget.max_unavailable);
    let parallel = pull.parallel.scaled(desired);
    let path = rollout::field(context.manifest.daemon_set, "pull.parallel");
    let finding = Finding::new(Rule::PullsBelowLimit, Severity::Advice, path)
        .why(format_args!(
            "It is {} and lets {} pull at a time, while maxUnavailable lets {} be updated: the update waits for its images",
            pull.parallel,
            count(parallel, "node"),
            count(limit.min(desired), "node")
        ))
        .remedy("Let as many nodes pull as are updated at a time, or more");
    (parallel < limit.min(desired)).then_some(finding)
}

/// The status of a node tells of no image that each start of its container asks the registry for.
fn pulled_again(context: &LintContext<'_>) -> Vec<Finding> {
    let manifest = &context.manifest;
    let images = images(&manifest.daemon_set.spec.template);
    let containers = manifest.containers();
    let first = |reference: &str| containers.iter().find(|(item, _)| item.text("image") == reference);
    let again = images.iter().filter(|image| image.is_pulled_again());
    again.filter_map(|image| first(&image.reference)).map(|(item, _)| always(item)).collect()
}

fn always(container: &ManifestItem<'_>) -> Finding {
    let image = container.text("image");
    let (field, why) = match container.text("imagePullPolicy") {
        "" => ("image", "its tag lets each start pull it"),
        _ => ("imagePullPolicy", "its policy lets each start pull it"),
    };
    Finding::new(Rule::PulledAtEachStart, Severity::Advice, format!("{}.{field}", container.path))
        .why(format_args!(
            "No node counts as having {image}, since {why}: each node gets a pull pod for it, and its daemon asks the registry once more"
        ))
        .remedy("Name the version by a tag or digest, with the policy IfNotPresent")
}
