//! Findings made from the warnings of a plan.

use super::context::LintContext;
use super::finding::{Finding, Rule, Severity};
use super::format::count;
use super::manifest::Manifest;
use daemonset::internal::{Strategy, template_generation};
use daemonset::kubernetes::well_known::TEMPLATE_GENERATION_ANNOTATION;
use daemonset::policy::ClassificationPolicy;
use daemonset::report::Warning;

const MAX_SURGE: &str = "spec.updateStrategy.rollingUpdate.maxSurge";

/// One finding for each warning of the plan that is about the DaemonSet.
pub(super) fn findings(context: &LintContext<'_>) -> Vec<Finding> {
    context.plan.warnings.iter().filter_map(|warning| finding(context, warning)).collect()
}

fn finding(context: &LintContext<'_>, warning: &Warning) -> Option<Finding> {
    match warning {
        Warning::StrategyMissing => Some(strategy_missing()),
        Warning::BothLimitsZero => Some(both_limits_zero(context)),
        Warning::BothLimitsSet => Some(both_limits_set(&context.manifest)),
        Warning::PercentRoundsToAll { percent, desired, .. } => {
            percent_rounds_to_all(context, *percent, *desired)
        }
        Warning::NoTargetNodes => super::placement::no_target_nodes(context),
        Warning::NodesDownAfterUpdate { nodes, .. } => Some(nodes_lost(context, *nodes)),
        Warning::BudgetSpentBeforeStart { nodes, limit, .. } => {
            Some(spent_before_start(context, *nodes, *limit))
        }
        Warning::GenerationHashConflict { pods, .. } => stale_generation(context, *pods),
        Warning::NameTaken { nodes, .. } => Some(super::turn::names_taken(context, nodes)),
        // The rules about the manifest and about the policy report them with their fields.
        Warning::HostPortWithSurge { .. } | Warning::EmptyWaves { .. } => None,
        // These are about the current state, not about the DaemonSet. A preflight has no memory of deletes.
        Warning::PodsWithoutTarget { .. }
        | Warning::PodsOnUnknownNodes { .. }
        | Warning::PodsMissing { .. }
        | Warning::RevisionsMissing { .. }
        | Warning::NoStableRevision { .. }
        | Warning::NothingToRollBackTo
        | Warning::NotUndone { .. }
        | Warning::PodsLostUnderExternalController { .. }
        | Warning::TurnOverdue { .. }
        | Warning::InPlaceStuck { .. }
        | Warning::NodesDeletedByUpdate { .. } => None,
        // A warning that has no rule yet.
        _ => None,
    }
}

fn strategy_missing() -> Finding {
    Finding::new(Rule::StrategyMissing, Severity::Warning, "spec.updateStrategy.type")
        .why("The type is absent, which the update proposal reads as OnDelete and apps/v1 as RollingUpdate")
        .remedy("Write the type that is meant")
}

fn both_limits_zero(context: &LintContext<'_>) -> Finding {
    Finding::new(Rule::BothLimitsZero, Severity::Error, context.manifest.max_unavailable())
        .why("maxUnavailable and maxSurge are both 0, so that no pod could ever be replaced: apps/v1 refuses it, and here maxUnavailable counts as 1")
        .remedy("Set one of them above 0")
}

pub(super) fn both_limits_set(manifest: &Manifest<'_>) -> Finding {
    Finding::new(Rule::BothLimitsSet, Severity::Error, manifest.max_unavailable())
        .why("maxUnavailable is not 0 beside maxSurge, which apps/v1 refuses; here maxSurge alone counts")
        .remedy("Set maxUnavailable to 0 to create before deleting, or leave maxSurge out")
}

/// A single target node is no finding. Under surge all nodes may have two pods, which costs resources; without surge
/// all may be without a pod, which costs the service.
fn percent_rounds_to_all(context: &LintContext<'_>, percent: u32, desired: u32) -> Option<Finding> {
    let by_proposal = context.manifest.daemon_set.spec.update_strategy.kind == "SurgingRollingUpdate";
    let (severity, path, what) = match context.manifest.strategy {
        Strategy::Surge { .. } if by_proposal => (
            Severity::Advice,
            "spec.updateStrategy.surgingRollingUpdate.maxSurge".to_owned(),
            "have two pods",
        ),
        Strategy::Surge { .. } => (Severity::Advice, MAX_SURGE.to_owned(), "have two pods"),
        Strategy::Replace(_) | Strategy::OnDelete => {
            (Severity::Warning, context.manifest.max_unavailable(), "be without a pod")
        }
    };
    let finding = Finding::new(Rule::PercentRoundsToAll, severity, path)
        .why(format_args!(
            "{percent}% of {desired} target nodes rounds up to {desired}, so that all of them may {what} at a time"
        ))
        .remedy("Use a smaller percentage or an absolute number");
    (desired > 1).then_some(finding)
}

fn nodes_lost(context: &LintContext<'_>, lost: u32) -> Finding {
    let nodes = context.names(|node| node.verdict.counts.down_after_update);
    let why = if lost == 1 {
        "1 node went down with the updated pod on it and holds its place in the budget: this template may be what took it down".to_owned()
    } else {
        format!(
            "{lost} nodes went down with the updated pod on them and hold their places in the budget: this template may be what took them down"
        )
    };
    Finding::new(Rule::NodesLost, Severity::Warning, "spec.template")
        .why(why)
        .remedy("Look at these nodes before going on; repair or remove them, or undo the update")
        .nodes(nodes)
}

fn spent_before_start(context: &LintContext<'_>, down: u32, limit: u32) -> Finding {
    let nodes = context.names(|node| node.verdict.counts.down_before);
    let (path, limit_name) = match context.manifest.strategy {
        Strategy::Surge { .. } => (MAX_SURGE.to_owned(), "maxSurge"),
        Strategy::Replace(_) | Strategy::OnDelete => (context.manifest.max_unavailable(), "maxUnavailable"),
    };
    let finding = Finding::new(Rule::BudgetSpentBeforeStart, Severity::Warning, path).why(format_args!(
        "{} went down before the update, and {limit_name} is {limit}: as long as they count, no update begins",
        count(down, "node")
    ));
    let remedy = "Repair or remove some of them, raise the limit above their number, or excuse them (Policy::down_nodes)";
    finding.remedy(remedy).nodes(nodes)
}

/// `None` if the policy lets the hash decide, because then the generation misleads nobody.
fn stale_generation(context: &LintContext<'_>, pods: u32) -> Option<Finding> {
    let path = format!("metadata.annotations[{TEMPLATE_GENERATION_ANNOTATION}]");
    let generation = template_generation(context.manifest.daemon_set).unwrap_or_default();
    let carry = if pods == 1 { "carries" } else { "carry" };
    let finding = Finding::new(Rule::StaleGeneration, Severity::Error, path)
        .why(format_args!(
            "{} {carry} generation {generation} and the hash of another template: by the generation alone no update ever reaches such a pod",
            count(pods, "pod")
        ))
        .remedy("Create the DaemonSet with a generation above that of all pods which it adopts, or let the hash decide");
    let classification = context.preflight.policy.classification;
    (classification == ClassificationPolicy::TemplateGenerationFirst).then_some(finding)
}
