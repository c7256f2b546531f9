//! Warnings: facts about a plan for a person, which change no action.

use crate::model::IntOrString;
use crate::reconcile::steps::Steps;
use crate::report::Warning;
use crate::snapshot::Snapshot;
use crate::snapshot::strategy::Strategy;
use std::collections::BTreeSet;

/// All that apply, in a fixed order.
pub(crate) fn warnings(snapshot: &Snapshot<'_>, steps: &Steps<'_>) -> Vec<Warning> {
    let mut warnings = about_strategy(snapshot, steps);
    if steps.budget.desired == 0 {
        warnings.push(Warning::NoTargetNodes);
    }
    if steps.budget.lost > 0 {
        warnings.push(Warning::NodesLost { nodes: steps.budget.lost });
    }
    if steps.fleet.conflicts > 0 {
        warnings.push(Warning::GenerationHashConflict { pods: steps.fleet.conflicts });
    }
    let named = |mut names: Vec<String>| {
        names.sort_unstable();
        names
    };
    let views = steps.fleet.without_target.iter().map(|pod| snapshot.pod(*pod));
    let pods = named(views.map(|view| view.name.to_owned()).collect());
    if !pods.is_empty() {
        warnings.push(Warning::PodsWithoutTarget { pods });
    }
    let bound = steps.fleet.strays().map(|(_, pod)| steps.fleet.view(pod)).filter(|view| view.bound);
    let pods = named(bound.map(|view| view.name.to_owned()).collect());
    if !pods.is_empty() {
        warnings.push(Warning::PodsOnUnknownNodes { pods });
    }
    warnings
}

fn about_strategy(snapshot: &Snapshot<'_>, steps: &Steps<'_>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let strategy = &snapshot.daemon_set.spec.update_strategy;
    let max_unavailable = strategy.rolling_update.as_ref().and_then(|limits| limits.max_unavailable);
    match snapshot.strategy {
        Strategy::OnDelete if strategy.kind.is_empty() => warnings.push(Warning::StrategyMissing),
        Strategy::OnDelete => {}
        Strategy::Replace(limit) => {
            if limit.is_zero() {
                warnings.push(Warning::BothLimitsZero);
            }
            warnings.extend(rounds_to_all(limit, steps.budget.max_unavailable, steps.budget.desired));
        }
        Strategy::Surge { limit, .. } => {
            if strategy.kind == "RollingUpdate" && max_unavailable.is_some_and(|m| !m.is_zero()) {
                warnings.push(Warning::BothLimitsSet);
            }
            warnings.extend(rounds_to_all(limit, steps.budget.max_surge, steps.budget.desired));
            let ports: BTreeSet<u32> = snapshot.template.host_ports().collect();
            warnings.extend(ports.into_iter().map(|port| Warning::HostPortWithSurge { port }));
        }
    }
    warnings
}

fn rounds_to_all(limit: IntOrString, nodes: u32, desired: u32) -> Option<Warning> {
    match limit {
        IntOrString::Percent(percent @ 1..100) if desired > 0 && nodes >= desired => {
            Some(Warning::PercentRoundsToAll { percent, desired })
        }
        IntOrString::Percent(_) | IntOrString::Int(_) => None,
    }
}
