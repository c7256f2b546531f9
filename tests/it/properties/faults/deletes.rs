//! Forbidden and wrong deletes of pods.

use super::{Case, Fault, Planted, delete, lose_nodes, object, reference};
use crate::properties::oracle::{Fleet, max_surge, max_unavailable};
use daemonset::model::{Node, NodeName, Pod};
use daemonset::policy::UnreadyPolicy;
use daemonset::report::{NodeOutcome, Wait};
use daemonset::{Action, ClaimReason, DeleteReason, Failure};
use serde_json::json;

pub const FAULTS: &[Fault] = &[
    unknown_uid,
    foreign_pod,
    wrong_adoption,
    wrong_release,
    deleted_twice,
    already_terminating,
    wrong_node,
    stray,
    last_pod,
    leaves_too_early,
    held_pod,
    wrong_failure,
    too_many_available,
    too_many_young,
    too_many_unready,
    beside_lost_nodes,
];

fn unknown_uid(case: &Case<'_>) -> Option<Planted> {
    let index = case.choose_action(|action| object(&mut action.clone()).is_some())?;
    case.planted("UnknownObject", |actions| {
        object(&mut actions[index]).unwrap().uid = "uid-of-yesterday".into();
    })
}

fn foreign_pod(case: &Case<'_>) -> Option<Planted> {
    let foreign = case.recording.pods.iter().filter(|pod| !case.fleet.owns(pod));
    case.with("ForeignObject", delete(case.choose(foreign)?))
}

fn controlled<'c>(case: &'c Case<'_>) -> Option<&'c Pod> {
    case.choose(case.fleet.owned().filter(|pod| !pod.metadata.owner_references.is_empty()))
}

fn wrong_adoption(case: &Case<'_>) -> Option<Planted> {
    let pod = reference(controlled(case)?);
    case.with("WrongAdoption", Action::adopt_pod(pod, ClaimReason::SelectorMatches))
}

fn wrong_release(case: &Case<'_>) -> Option<Planted> {
    let pod = reference(controlled(case)?);
    case.with("WrongRelease", Action::release_pod(pod, ClaimReason::SelectorNoLongerMatches))
}

/// Deletes of pods of the DaemonSet.
fn deletes(action: &Action) -> bool {
    matches!(action, Action::DeletePod { reason, .. } if *reason != DeleteReason::PullDone)
}

fn deleted_twice(case: &Case<'_>) -> Option<Planted> {
    let index = case.choose_action(|action| matches!(action, Action::DeletePod { .. }))?;
    case.with("DeletedTwice", case.plan.actions[index].clone())
}

fn already_terminating(case: &Case<'_>) -> Option<Planted> {
    let going = case.fleet.owned().filter(|pod| case.fleet.going(pod));
    case.with("AlreadyTerminating", delete(case.choose(going)?))
}

fn wrong_node(case: &Case<'_>) -> Option<Planted> {
    let index = case.choose_action(deletes)?;
    case.planted("WrongNode", |actions| {
        if let Action::DeletePod { node, .. } = &mut actions[index] {
            *node = "elsewhere".into();
        }
    })
}

fn wrong_failure(case: &Case<'_>) -> Option<Planted> {
    let index = case.choose_action(deletes)?;
    case.planted("WrongFailure", |actions| {
        if let Action::DeletePod { failure, .. } = &mut actions[index] {
            *failure = Some(Failure::new(77, 1));
        }
    })
}

fn stray(case: &Case<'_>) -> Option<Planted> {
    let is_stray = |pod: &&Pod| {
        let known = |node: &str| case.recording.nodes.iter().any(|n| n.metadata.name.as_str() == node);
        let bound = !pod.spec.node_name.as_str().is_empty();
        // A change in place in flight counts as a delete in flight.
        let is_leaving = case.fleet.going(pod) || case.fleet.is_changing(pod);
        Fleet::target(pod).is_none_or(|node| bound && !known(node)) && !is_leaving
    };
    case.with("StrayDeleted", delete(case.choose(case.fleet.owned().filter(is_stray))?))
}

/// Live pods that stay, and that are alone on a node where they may stay.
fn alone<'c>(case: &'c Case<'_>) -> Vec<&'c Pod> {
    let live = || case.fleet.owned().filter(|pod| case.fleet.live(pod));
    let alone = |pod: &&Pod| {
        let node = Fleet::target(pod).unwrap_or_default();
        // A change in place in flight counts as a delete in flight.
        if case.fleet.is_changing(pod) {
            return false;
        }
        let may_stay = case.fleet.targets.contains(node) || case.fleet.tolerated.contains(node);
        may_stay && live().filter(|other| Fleet::target(other) == Some(node)).count() == 1
    };
    live().filter(alone).filter(|pod| !case.deletes(pod)).collect()
}

fn last_pod(case: &Case<'_>) -> Option<Planted> {
    let pod = case.choose(alone(case))?;
    let target = case.fleet.targets.contains(Fleet::target(pod)?);
    let rule = match (case.strategy(), case.is_updated(pod)?) {
        ("" | "OnDelete", _) => "DeletedUnderOnDelete",
        (_, true) => "NeededPodDeleted",
        (_, false) if target && max_surge(case.recording).is_some() && case.fleet.ready(pod) => "NoSuccessor",
        (_, false) => return None,
    };
    case.with(rule, delete(pod))
}

/// The only pod of a node that waits for the target nodes.
fn leaves_too_early(case: &Case<'_>) -> Option<Planted> {
    let waits = |pod: &&Pod| {
        let node = case.plan.report.nodes.iter().find(|node| Fleet::target(pod) == Some(node.node.as_str()));
        node.is_some_and(|node| matches!(node.outcome, NodeOutcome::Waits(Wait::TargetNodes { .. })))
    };
    let last = alone(case).into_iter().filter(waits);
    case.with("LeavesTooEarly", delete(case.choose(last)?))
}

/// The plan deletes a failed pod. If its node had just failed, the back-off would hold the pod.
fn held_pod(case: &Case<'_>) -> Option<Planted> {
    let fails = |action: &Action| matches!(action, Action::DeletePod { failure: Some(_), .. });
    let index = case.choose_action(fails)?;
    let Action::DeletePod { node, failure: Some(Failure { generation, .. }), .. } = &case.plan.actions[index]
    else {
        return None;
    };
    let mut memory = serde_json::to_value(case.recording.memory.clone().unwrap_or_default()).unwrap();
    let failures = json!({"generation": generation, "count": 3, "at": case.recording.now});
    memory["failures"][node.as_str()] = failures;
    let mut planted = case.planted("HeldBack", |_| ())?;
    planted.recording.memory = Some(serde_json::from_value(memory).unwrap());
    Some(planted)
}

/// Deletes those of these pods that the plan keeps.
fn without(case: &Case<'_>, rule: &'static str, pods: &[&Pod]) -> Option<Planted> {
    case.planted(rule, |actions| {
        for pod in pods {
            let place = actions.partition_point(|other| super::stage(other) <= 6);
            actions.insert(place, delete(pod));
        }
    })
}

/// Target nodes for which the plan keeps no such pod, but for those that may be excused.
fn down(case: &Case<'_>, good: impl Fn(&Pod) -> bool) -> usize {
    case.fleet.without(good)
}

/// M. A node in turn has its room already: its pod breaks other rules, which have faults of their own.
fn limit(case: &Case<'_>) -> Option<usize> {
    let has_turn =
        |node: &Node| node.metadata.annotations.iter().any(|(key, _)| key.contains("turn.daemonset/"));
    let has_turns = case.recording.policy.turn.is_some() || case.recording.nodes.iter().any(has_turn);
    max_unavailable(case.recording).filter(|_| !has_turns)
}

fn too_many_available(case: &Case<'_>) -> Option<Planted> {
    let limit = limit(case)?;
    let before = case.fleet.unavailable_targets();
    let doomed: Vec<&Pod> =
        case.fleet.owned().filter(|pod| !case.deletes(pod) && case.fleet.available(pod)).collect();
    let on_target = |pod: &&&Pod| Fleet::target(pod).is_some_and(|node| case.fleet.targets.contains(node));
    let doomed: Vec<&Pod> = doomed.iter().filter(on_target).copied().collect();
    let after = down(case, |_| false);
    (before.max(limit) < after && !doomed.is_empty())
        .then(|| without(case, "BudgetExceeded Unavailable", &doomed))
        .flatten()
}

fn too_many_young(case: &Case<'_>) -> Option<Planted> {
    let limit = limit(case)?;
    let young = |pod: &&&Pod| case.fleet.ready(pod) && !case.fleet.available(pod);
    let doomed: Vec<&Pod> = alone(case).iter().filter(young).copied().collect();
    let stays = |pod: &Pod| !case.deletes(pod) && doomed.iter().all(|d| d.metadata.uid != pod.metadata.uid);
    let before = down(case, |pod| case.fleet.ready(pod));
    let after = down(case, |pod| case.fleet.ready(pod) && stays(pod));
    let lost = down(case, |pod| case.fleet.available(pod) && stays(pod)) > case.fleet.unavailable_targets();
    let exceeds = before.max(limit) < after && !lost;
    exceeds.then(|| without(case, "BudgetExceeded NotReady", &doomed)).flatten()
}

fn too_many_unready(case: &Case<'_>) -> Option<Planted> {
    let limit = limit(case)?;
    if case.recording.policy.unready != UnreadyPolicy::WithinBudget {
        return None;
    }
    let outdated = |pod: &&&Pod| {
        let counts = |node| case.fleet.targets.contains(node) && !case.fleet.may_be_excused(node);
        Fleet::target(pod).is_some_and(counts)
            && !case.fleet.ready(pod)
            && case.is_updated(pod) == Some(false)
    };
    let doomed: Vec<&Pod> = alone(case).iter().filter(outdated).copied().collect();
    (doomed.len() > limit).then(|| without(case, "BudgetExceeded BeingReplaced", &doomed)).flatten()
}

/// The replacements within the budget, after the new version took down as many nodes as may be unavailable.
fn beside_lost_nodes(case: &Case<'_>) -> Option<Planted> {
    let limit = limit(case)?;
    let waits = case.recording.policy.unready == UnreadyPolicy::WithinBudget;
    // The replacement of an excused node counts nowhere.
    let counts = |on: &NodeName| {
        let mut verdicts = case.plan.report.nodes.iter();
        verdicts.any(|verdict| verdict.node == *on && !verdict.counts.excused)
    };
    let rule = |action: &Action| match action {
        Action::DeletePod { reason: DeleteReason::OutdatedAvailable, .. } => {
            Some("BudgetExceeded Unavailable beside lost nodes")
        }
        Action::DeletePod { reason: DeleteReason::OutdatedNotYetAvailable, .. } => {
            Some("BudgetExceeded NotReady beside lost nodes")
        }
        Action::DeletePod {
            reason: DeleteReason::OutdatedNotReady | DeleteReason::OutdatedPending,
            node,
            ..
        } if waits && counts(node) => Some("BudgetExceeded BeingReplaced beside lost nodes"),
        _ => None,
    };
    let rule = case.choose(case.plan.actions.iter().filter_map(rule))?;
    let mut planted = case.planted(rule, |_| ())?;
    lose_nodes(case, &mut planted, limit);
    Some(planted)
}
