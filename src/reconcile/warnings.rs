//! Warnings: facts about a plan for a person, which change no action.

use crate::model::{IntOrString, NodeName};
use crate::reconcile::budget::{Budget, BudgetUse};
use crate::reconcile::fleet::Fleet;
use crate::reconcile::outside::Figure;
use crate::reconcile::progress::not_reached;
use crate::reconcile::steps::Steps;
use crate::report::Warning;
use crate::snapshot::Snapshot;
use crate::snapshot::position::NodeIx;
use crate::snapshot::strategy::Strategy;
use std::collections::BTreeSet;

/// All that apply, in a fixed order.
pub(crate) fn warnings(snapshot: &Snapshot<'_>, steps: &Steps<'_>) -> Vec<Warning> {
    let mut warnings = about_strategy(snapshot, steps);
    if steps.budget.desired == 0 {
        warnings.push(Warning::NoTargetNodes);
    }
    let lost = steps.budget.lost - steps.budget.taken;
    if lost > 0 {
        warnings.push(Warning::NodesLost { nodes: lost });
    }
    if steps.budget.taken > 0 {
        warnings.push(Warning::NodesTaken { nodes: taken(steps) });
    }
    warnings.extend(spent_before_start(snapshot, steps));
    warnings.extend(about_rollout(steps));
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

/// By name.
fn taken(steps: &Steps<'_>) -> Vec<NodeName> {
    let fleet = &steps.fleet;
    let is_taken = |node: &NodeIx| BudgetUse::new(fleet, &steps.node_sync, *node).taken;
    let taken = fleet.taken.iter().map(|(node, _)| *node).filter(is_taken);
    let names = taken.map(|node| fleet.node_view(node).name).chain(fleet.outside.taken.iter().copied());
    let mut names: Vec<NodeName> = names.map(NodeName::from).collect();
    names.sort_unstable();
    names
}

/// Nodes that went down before the update reached them use up the limit, while other nodes wait for the update. The
/// policy may excuse them: then it says why the update goes on beyond the limit.
fn spent_before_start(snapshot: &Snapshot<'_>, steps: &Steps<'_>) -> Option<Warning> {
    let Budget { down_before: nodes, .. } = steps.budget;
    let limit = match snapshot.spec.strategy {
        Strategy::OnDelete => return None,
        Strategy::Replace(_) => steps.budget.max_unavailable,
        Strategy::Surge { .. } => steps.budget.max_surge,
    };
    let is_outdated = |node| has_ready_outdated(&steps.fleet, node);
    let waits_outside = steps.fleet.outside.sums.get(Figure::ReadyOutdated) > 0;
    let waits = || waits_outside || steps.fleet.targets().any(is_outdated);
    (nodes > 0 && nodes >= limit && waits()).then_some(Warning::BudgetSpentBeforeStart { nodes, limit })
}

/// Whether a Ready pod of a node waits for the update.
pub(crate) fn has_ready_outdated(fleet: &Fleet<'_>, node: NodeIx) -> bool {
    let is_held = fleet.goal.of(node).is_held();
    !is_held && fleet.pods_of(node).any(|(_, pod)| pod.is_ready() && !pod.of_goal)
}

/// A rollout without a base can hold nodes back only as long as their pods live, and a driven one, too.
fn about_rollout(steps: &Steps<'_>) -> Vec<Warning> {
    let fleet = &steps.fleet;
    let Some(rollout) = fleet.goal.rollout() else { return Vec::new() };
    let mut warnings = Vec::new();
    if rollout.base.is_none() {
        let nodes = not_reached(fleet);
        warnings.extend((nodes > 0).then_some(Warning::NoBase { nodes }));
        let lacks_base = rollout.state.course.lacks_base_to_go_back_to();
        warnings.extend(lacks_base.then_some(Warning::NothingToRollBackTo));
    }
    if fleet.snapshot.drives() {
        let lost = fleet.targets().filter(|node| is_held_without_pod(fleet, *node));
        let names = lost.map(|node| fleet.node_view(node).name);
        let names = names.chain(fleet.outside.held_without_pod.iter().copied());
        let mut nodes: Vec<NodeName> = names.map(NodeName::from).collect();
        nodes.sort_unstable();
        warnings.extend((!nodes.is_empty()).then_some(Warning::LostUnderDrive { nodes }));
    }
    warnings
}

/// Whether a target node has no pod, and is held: under drive the other controller creates the new version there.
pub(crate) fn is_held_without_pod(fleet: &Fleet<'_>, node: NodeIx) -> bool {
    fleet.goal.of(node).is_held() && fleet.pods_of(node).next().is_none()
}

fn about_strategy(snapshot: &Snapshot<'_>, steps: &Steps<'_>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let strategy = &snapshot.spec.daemon_set.spec.update_strategy;
    let max_unavailable = strategy.rolling_update.as_ref().and_then(|limits| limits.max_unavailable);
    match snapshot.spec.strategy {
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
            let ports: BTreeSet<u32> = snapshot.spec.template.parsed.host_ports().collect();
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
