//! What a plan warns of, as findings.

use super::cluster::Cluster;
use super::finding::{Finding, Rule, Severity};
use super::words::count;
use crate::kubernetes::well_known::TEMPLATE_GENERATION_ANNOTATION;
use crate::reconcile::budget::BudgetUse;
use crate::reconcile::warnings::warnings;
use crate::report::Warning;
use crate::snapshot::ClassificationPolicy;
use crate::snapshot::position::NodeIx;
use crate::snapshot::strategy::Strategy;

pub(super) const MAX_UNAVAILABLE: &str = "spec.updateStrategy.rollingUpdate.maxUnavailable";

/// The findings that are warnings of a plan, too.
pub(super) fn by_plan(cluster: &Cluster<'_>) -> Vec<Finding> {
    let warnings = warnings(cluster.snapshot, &cluster.sync);
    warnings.iter().filter_map(|warning| told(cluster, warning)).collect()
}

fn told(cluster: &Cluster<'_>, warning: &Warning) -> Option<Finding> {
    match warning {
        Warning::StrategyMissing => Some(strategy_missing()),
        Warning::BothLimitsZero => Some(both_limits_zero()),
        Warning::BothLimitsSet => Some(both_limits_set()),
        Warning::PercentRoundsToAll { percent, desired } => {
            percent_rounds_to_all(cluster, *percent, *desired)
        }
        Warning::NoTargetNodes => super::placement::no_target_nodes(cluster),
        Warning::NodesLost { nodes } => Some(nodes_lost(cluster, *nodes)),
        Warning::GenerationHashConflict { pods } => stale_generation(cluster, *pods),
        // Told from the manifest alone, with its field.
        Warning::HostPortWithSurge { .. } => None,
        // About the moment, not about the DaemonSet.
        Warning::PodsWithoutTarget { .. } | Warning::PodsOnUnknownNodes { .. } => None,
    }
}

fn strategy_missing() -> Finding {
    Finding::new(Rule::StrategyMissing, Severity::Warning, "spec.updateStrategy.type")
        .why("The type is absent, which the update proposal reads as OnDelete and apps/v1 as RollingUpdate")
        .remedy("Write the type that is meant")
}

fn both_limits_zero() -> Finding {
    Finding::new(Rule::BothLimitsZero, Severity::Error, MAX_UNAVAILABLE)
        .why("maxUnavailable and maxSurge are both 0, so that no pod could ever be replaced: apps/v1 refuses it, and here maxUnavailable counts as 1")
        .remedy("Set one of them above 0")
}

pub(super) fn both_limits_set() -> Finding {
    Finding::new(Rule::BothLimitsSet, Severity::Error, MAX_UNAVAILABLE)
        .why("maxUnavailable is not 0 beside maxSurge, which apps/v1 refuses; here maxSurge alone counts")
        .remedy("Set maxUnavailable to 0 to create before deleting, or leave maxSurge out")
}

/// Of one node there is no part. Two pods everywhere cost room, one pod nowhere costs service.
fn percent_rounds_to_all(cluster: &Cluster<'_>, percent: u32, desired: u32) -> Option<Finding> {
    let by_proposal = cluster.manifest.daemon_set.spec.update_strategy.kind == "SurgingRollingUpdate";
    let (severity, path, what) = match cluster.snapshot.strategy {
        Strategy::Surge { .. } if by_proposal => {
            (Severity::Advice, "spec.updateStrategy.surgingRollingUpdate.maxSurge", "have two pods")
        }
        Strategy::Surge { .. } => {
            (Severity::Advice, "spec.updateStrategy.rollingUpdate.maxSurge", "have two pods")
        }
        Strategy::Replace(_) | Strategy::OnDelete => (Severity::Warning, MAX_UNAVAILABLE, "be without a pod"),
    };
    let finding = Finding::new(Rule::PercentRoundsToAll, severity, path)
        .why(format_args!(
            "{percent}% of {desired} target nodes rounds up to {desired}, so that all of them may {what} at a time"
        ))
        .remedy("Use a smaller percentage or an absolute number");
    (desired > 1).then_some(finding)
}

fn nodes_lost(cluster: &Cluster<'_>, lost: u32) -> Finding {
    let fleet = &cluster.sync.fleet;
    let is_lost = |node: &NodeIx| BudgetUse::new(fleet, &cluster.sync.node_sync, *node).lost;
    let nodes = fleet.nodes.positions().filter(is_lost).map(|node| cluster.node_name(node)).collect();
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

/// A policy by which the hash decides is not misled.
fn stale_generation(cluster: &Cluster<'_>, pods: u32) -> Option<Finding> {
    let path = format!("metadata.annotations[{TEMPLATE_GENERATION_ANNOTATION}]");
    let generation = cluster.snapshot.template_generation.as_deref().unwrap_or_default();
    let carry = if pods == 1 { "carries" } else { "carry" };
    let finding = Finding::new(Rule::StaleGeneration, Severity::Error, path)
        .why(format_args!(
            "{} {carry} generation {generation} and the hash of another template: by the generation alone no update ever reaches such a pod",
            count(pods, "pod")
        ))
        .remedy("Create the DaemonSet with a generation above that of all pods which it adopts, or let the hash decide");
    match cluster.snapshot.policy.classification {
        ClassificationPolicy::TemplateGenerationFirst => Some(finding),
        ClassificationPolicy::HashFirst => None,
    }
}
