//! Warnings: facts about a plan for a person, which change no action.

use crate::choose::limits::Budget;
use crate::input::Snapshot;
use crate::input::authority::Authority;
use crate::input::rollout::policy::FailureAction;
use crate::input::strategy::Strategy;
use crate::node::figures::Figure;
use crate::node::notes::Notes;
use crate::plan::steps::Steps;
use crate::position::NodeIx;
use crate::report::Warning;
use crate::rollout::goals::Rollout;
use crate::rollout::report::RolloutStage;
use crate::rollout::undo::UndoProgress;
use daemonset_objects::model::{DaemonSetStatus, IntOrString, NodeName};
use std::collections::{BTreeMap, BTreeSet};

/// All that apply, in a fixed order.
pub(crate) fn warnings(snapshot: &Snapshot<'_>, steps: &Steps<'_>) -> Vec<Warning> {
    let mut warnings = about_lists(snapshot, steps);
    warnings.extend(about_strategy(snapshot, steps));
    if steps.update.choice.budget.desired == 0 {
        warnings.push(Warning::NoTargetNodes);
    }
    // Each taken node counts as lost, too.
    let lost = steps.update.choice.budget.down_after_update - steps.update.choice.budget.deleted_by_update;
    if lost > 0 {
        warnings.push(Warning::NodesDownAfterUpdate { nodes: lost });
    }
    if steps.update.choice.budget.deleted_by_update > 0 {
        let nodes = named_with(steps, Figure::DeletedByUpdate, &steps.rest.deleted_by_update);
        warnings.push(Warning::NodesDeletedByUpdate { nodes });
    }
    warnings.extend(spent_before_start(snapshot, steps));
    warnings.extend(about_rollout(steps));
    let conflicts = steps.rest.conflicts + steps.fleet.conflicts.len() as u32;
    if conflicts > 0 {
        warnings.push(Warning::GenerationHashConflict { pods: conflicts });
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
    warnings.extend(about_turns(steps));
    warnings
}

/// Gates that are overdue, names that are taken, and pods that do not settle.
fn about_turns(steps: &Steps<'_>) -> Vec<Warning> {
    let Steps { fleet, node_sync, evaluations, rest, .. } = steps;
    // Most plans: no policy asks for any of these.
    if fleet.rare.is_none() && rest.notes.is_empty() {
        return Vec::new();
    }
    let (mut overdue, mut taken, mut stuck) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let mut add = |name: &str, notes: Notes| {
        let name = || NodeName::from(name);
        // Without `..`: each note has its warning.
        let Notes { overdue: gates, name_taken, stuck: pods } = notes;
        overdue.extend((!gates.is_empty()).then(|| (name(), gates)));
        taken.extend(name_taken.map(|pod| (name(), pod)));
        stuck.extend((!pods.is_empty()).then(|| (name(), pods)));
    };
    for (node, evaluation) in evaluations.nodes.enumerated() {
        add(fleet.node_view(node).name, Notes::new(fleet, node_sync, node, evaluation));
    }
    rest.notes.iter().for_each(|(name, notes)| add(name, (*notes).clone()));
    let overdue = (!overdue.is_empty()).then_some(Warning::TurnOverdue { nodes: overdue });
    let taken = (!taken.is_empty()).then_some(Warning::NameTaken { nodes: taken });
    let stuck = (!stuck.is_empty()).then_some(Warning::InPlaceStuck { nodes: stuck });
    [overdue, taken, stuck].into_iter().flatten().collect()
}

/// Lists that contradict the status. Each is a possibility only: a status is older than the lists. They rest on sums and on the
/// revisions alone, which every decision knows, whichever nodes it looks at.
fn about_lists(snapshot: &Snapshot<'_>, steps: &Steps<'_>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let before = &snapshot.spec.daemon_set.status;
    let scheduled = with_a_pod(before);
    // An update of a single node takes its only pod, and without target nodes all pods should go.
    let is_without_pods =
        scheduled > 1 && with_a_pod(&steps.status) == 0 && steps.update.choice.budget.desired > 0;
    if is_without_pods && !are_pods_known_to_go(snapshot, steps) {
        warnings.push(Warning::PodsMissing { scheduled });
    }
    let history = &steps.history;
    let is_new = history.revisions.len() == 1 && history.current().view.is_none();
    // A list that lags does not show the first revision yet: its pods have the hash that it will have, and are not outdated.
    let nodes = steps.evaluations.sums.get(Figure::Outdated);
    if is_new && before.observed_generation > 0 && nodes > 0 {
        warnings.push(Warning::RevisionsMissing { nodes });
    }
    warnings
}

/// Whether the memory explains that no pod is there: an update has deleted them, or the plan waits for pods that are created already.
/// It is asked about the nodes that get a pod now: every decision knows these, and they are the same in each.
fn are_pods_known_to_go(snapshot: &Snapshot<'_>, steps: &Steps<'_>) -> bool {
    let is_taken = |node: NodeIx| {
        let name = snapshot.node(node).name;
        snapshot.memory.as_ref().is_some_and(|memory| memory.deleted_by_update.contains_key(name))
    };
    let creates = &steps.burst.creates;
    creates.is_empty() || creates.iter().any(|create| is_taken(create.node))
}

/// How many nodes have a pod by this status.
fn with_a_pod(status: &DaemonSetStatus) -> u32 {
    let DaemonSetStatus { current_number_scheduled, number_misscheduled, .. } = status;
    let nodes = i64::from(*current_number_scheduled) + i64::from(*number_misscheduled);
    u32::try_from(nodes).unwrap_or_default()
}

/// The nodes that count in a figure, by name, with those elsewhere in the cluster.
fn named_with(steps: &Steps<'_>, figure: Figure, elsewhere: &[&str]) -> Vec<NodeName> {
    let names = steps.evaluations.with(figure).map(|node| steps.fleet.node_view(node).name);
    let mut names: Vec<NodeName> = names.chain(elsewhere.iter().copied()).map(NodeName::from).collect();
    names.sort_unstable();
    names
}

/// Nodes that went down before the update reached them use up the limit, while other nodes wait for the update. The
/// policy may excuse them: then it says why the update goes on beyond the limit.
fn spent_before_start(snapshot: &Snapshot<'_>, steps: &Steps<'_>) -> Option<Warning> {
    let Budget { down_before: nodes, .. } = steps.update.choice.budget;
    let limit = match snapshot.spec.strategy {
        Strategy::OnDelete => return None,
        Strategy::Replace(_) => steps.update.choice.budget.max_unavailable,
        Strategy::Surge { .. } => steps.update.choice.budget.max_surge,
    };
    let waits = steps.evaluations.sums.get(Figure::ReadyOutdated) > 0;
    (nodes > 0 && nodes >= limit && waits).then_some(Warning::BudgetSpentBeforeStart { nodes, limit })
}

/// A held node whose pod is lost gets the new version where there is no stable revision, and where another controller creates the pods. Without a stable revision
/// a failed version can't be taken back.
fn about_rollout(steps: &Steps<'_>) -> Vec<Warning> {
    let fleet = &steps.fleet;
    let Some(rollout) = fleet.goals.rollout() else { return Vec::new() };
    let mut warnings = Vec::new();
    if rollout.stable.is_none() {
        let nodes = steps.evaluations.sums.get(Figure::Held);
        warnings.extend((nodes > 0).then_some(Warning::NoStableRevision { nodes }));
        let on_failure =
            fleet.snapshot.spec.policy.rollout.as_ref().and_then(|policy| policy.on_failure.as_ref());
        let wants_stable = on_failure.is_some_and(|policy| policy.action == FailureAction::RollBack);
        let is_stopped = matches!(rollout.known.decision.stage, RolloutStage::Stopped { .. });
        warnings.extend((wants_stable && is_stopped).then_some(Warning::NothingToRollBackTo));
    }
    if let Some(UndoProgress::Not { because, .. }) = rollout.known.decision.undo {
        warnings.push(Warning::NotUndone { because });
    }
    warnings.extend(empty_waves(rollout));
    if !Authority::of(fleet.snapshot).syncs_nodes() {
        let nodes = named_with(steps, Figure::HeldWithoutPod, &steps.rest.held_without_pod);
        warnings.extend((!nodes.is_empty()).then_some(Warning::PodsLostUnderExternalController { nodes }));
    }
    warnings
}

/// A wave without a node is done as soon as it is open. Without any node in the rollout no wave can have one.
fn empty_waves(rollout: &Rollout<'_>) -> Option<Warning> {
    let known = &rollout.known;
    let waves = (0..).zip(&known.waves).filter(|(_, nodes)| nodes.is_empty());
    let waves: Vec<u32> = waves.map(|(index, _)| index).collect();
    let is_going_on = known.decision.stage != RolloutStage::Complete && known.decision.nodes > 0;
    (is_going_on && !waves.is_empty()).then_some(Warning::EmptyWaves { waves })
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
            warnings.extend(rounds_to_all(
                limit,
                steps.update.choice.budget.max_unavailable,
                steps.update.choice.budget.desired,
            ));
        }
        Strategy::Surge { limit, .. } => {
            if strategy.kind == "RollingUpdate" && max_unavailable.is_some_and(|m| !m.is_zero()) {
                warnings.push(Warning::BothLimitsSet);
            }
            warnings.extend(rounds_to_all(
                limit,
                steps.update.choice.budget.max_surge,
                steps.update.choice.budget.desired,
            ));
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
