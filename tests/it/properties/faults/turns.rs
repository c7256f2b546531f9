//! Turns, pulls and takes of pods before their time.

use super::rollout::current;
use super::{Case, Fault, Planted, delete};
use crate::properties::oracle::{Fleet, max_unavailable};
use crate::properties::turn_invariants::in_turn;
use crate::support::TURN_KEY;
use daemonset::model::{IntOrString, Node, ObjectRef, Pod};
use daemonset::policy::{InPlacePolicy, TurnMode};
use daemonset::report::{NodeOutcome, NodeVerdict, Wait};
use daemonset::{Action, CreateReason, TurnReason};
use serde_json::json;
use std::collections::BTreeMap;

pub const FAULTS: &[Fault] = &[
    begins_without_need,
    ends_while_its_pod_waits,
    changes_more_of_a_node,
    taken_out_of_turn,
    taken_while_turns_are_kept,
    taken_behind_a_closed_gate,
    too_many_turns,
    taken_before_its_images,
    too_many_pulls,
    changed_without_need,
    changes_more_of_a_pod,
    taken_without_place,
    begins_before_its_images,
];

/// For plans beside another controller.
pub const DRIVEN_FAULTS: &[Fault] = &[taken_before_its_revision];

/// The node as an action names it.
fn named(node: &Node) -> ObjectRef {
    ObjectRef {
        name: node.metadata.name.to_string(),
        uid: node.metadata.uid.clone(),
        resource_version: node.metadata.resource_version.clone(),
        ..ObjectRef::default()
    }
}

/// A node whose outcome is this.
fn node_where<'c>(case: &'c Case<'_>, wanted: impl Fn(&NodeVerdict) -> bool) -> Option<&'c Node> {
    let name = case.choose(case.plan.report.nodes.iter().filter(|verdict| wanted(verdict)))?.node.clone();
    case.recording.nodes.iter().find(|node| node.metadata.name == name)
}

/// A patch of a node with its own turn.
fn patch(node: &Node, value: Option<String>, reason: TurnReason) -> Action {
    let annotations = BTreeMap::from([(format!("turn.daemonset/{TURN_KEY}"), value)]);
    Action::patch_node(named(node), None, annotations, reason)
}

fn begin(case: &Case<'_>, node: &Node) -> Action {
    patch(node, Some(format!("2 {}", case.recording.now)), TurnReason::TurnBegins)
}

fn begins_without_need(case: &Case<'_>) -> Option<Planted> {
    let node = node_where(case, |verdict| matches!(verdict.outcome, NodeOutcome::UpToDate))?;
    case.with("TurnNotDue", begin(case, node))
}

fn ends_while_its_pod_waits(case: &Case<'_>) -> Option<Planted> {
    let waits = |verdict: &NodeVerdict| {
        matches!(verdict.outcome, NodeOutcome::Waits(Wait::Gates { .. }) | NodeOutcome::Waits(Wait::Room))
    };
    case.with("TurnNotDue", patch(node_where(case, waits)?, None, TurnReason::TurnEnds))
}

/// An annotation that is no one's turn, or the other cordon.
fn changes_more_of_a_node(case: &Case<'_>) -> Option<Planted> {
    let index = case.choose_action(|action| matches!(action, Action::PatchNode { .. }))?;
    case.planted("WrongPatch", |actions| {
        let Action::PatchNode { unschedulable, annotations, .. } = &mut actions[index] else { return };
        if case.pick % 2 == 0 {
            annotations.insert("note".to_owned(), None);
        } else {
            *unschedulable = Some(!unschedulable.unwrap_or(false));
        }
    })
}

/// The outdated pod that the update would take from a node.
fn candidate<'c>(case: &'c Case<'_>, node: &str) -> Option<&'c Pod> {
    let is_it = |pod: &&Pod| {
        Fleet::target(pod) == Some(node)
            && case.fleet.live(pod)
            && !case.fleet.is_changing(pod)
            && case.is_updated(pod) == Some(false)
    };
    let mut live = case.fleet.owned().filter(is_it).filter(|pod| !case.deletes(pod));
    live.next()
}

/// The pod goes where the plan begins a turn.
fn taken_out_of_turn(case: &Case<'_>) -> Option<Planted> {
    let begins = |action: &Action| matches!(action, Action::PatchNode { reason: TurnReason::TurnBegins, .. });
    let index = case.choose_action(begins)?;
    let Action::PatchNode { node, .. } = &case.plan.actions[index] else { return None };
    let mut planted = case.with("NotInTurn", delete(candidate(case, &node.name)?))?;
    planted.actions.retain(|action| *action != case.plan.actions[index]);
    Some(planted)
}

/// Whether the update takes a pod, by deleting it or by changing it in its place.
fn takes(action: &Action) -> bool {
    match action {
        Action::DeletePod { reason, .. } => reason.is_update(),
        Action::UpdatePodInPlace { .. } => true,
        _ => false,
    }
}

fn taken_while_turns_are_kept(case: &Case<'_>) -> Option<Planted> {
    max_unavailable(case.recording)?;
    case.choose_action(takes)?;
    let mut planted = case.planted("TurnsKept", |_| ())?;
    planted.recording.policy.turn = Some(TurnMode::Keep);
    Some(planted)
}

fn taken_behind_a_closed_gate(case: &Case<'_>) -> Option<Planted> {
    let node = node_where(case, |verdict| matches!(verdict.outcome, NodeOutcome::Waits(Wait::Gates { .. })))?;
    case.with("GateClosed", delete(candidate(case, node.metadata.name.as_str())?))
}

/// Turns begin on all nodes that wait for the budget.
fn too_many_turns(case: &Case<'_>) -> Option<Planted> {
    matches!(case.recording.policy.turn, Some(TurnMode::Take(_))).then_some(())?;
    let limit = max_unavailable(case.recording)?;
    let is_counted = |verdict: &&NodeVerdict| !verdict.counts.excused;
    let counted = || case.plan.report.nodes.iter().filter(is_counted);
    let begun = counted().filter(|verdict| matches!(verdict.outcome, NodeOutcome::TurnBegins)).count();
    let waiting: Vec<&str> = counted()
        .filter(|verdict| matches!(verdict.outcome, NodeOutcome::Waits(Wait::MaxUnavailable { .. })))
        .map(|verdict| verdict.node.as_str())
        .collect();
    if begun + waiting.len() <= limit || waiting.is_empty() {
        return None;
    }
    let mut planted = case.planted("TurnLimitExceeded", |_| ())?;
    for node in case.recording.nodes.iter().filter(|node| waiting.contains(&node.metadata.name.as_str())) {
        planted.actions.push(begin(case, node));
    }
    Some(planted)
}

/// With turns only the pod of a node in turn waits for nothing else.
fn taken_before_its_images(case: &Case<'_>) -> Option<Planted> {
    let in_turn = in_turn(case.recording, &case.plan);
    let has_its_turn = |node: &str| case.recording.policy.turn.is_none() || in_turn.contains(node);
    let node = node_where(case, |verdict| {
        matches!(verdict.outcome, NodeOutcome::Waits(Wait::Pull)) && has_its_turn(verdict.node.as_str())
    })?;
    case.with("NotPulled", delete(candidate(case, node.metadata.name.as_str())?))
}

fn begins_before_its_images(case: &Case<'_>) -> Option<Planted> {
    let in_turn = in_turn(case.recording, &case.plan);
    matches!(case.recording.policy.turn, Some(TurnMode::Take(_))).then_some(())?;
    let node = node_where(case, |verdict| {
        matches!(verdict.outcome, NodeOutcome::Waits(Wait::Pull)) && !in_turn.contains(verdict.node.as_str())
    })?;
    case.with("NotPulled", begin(case, node))
}

fn too_many_pulls(case: &Case<'_>) -> Option<Planted> {
    let pulls =
        |action: &&Action| matches!(action, Action::CreatePod { reason: CreateReason::PullImages, .. });
    (case.plan.actions.iter().filter(pulls).count() > 1).then_some(())?;
    let mut planted = case.planted("TooManyPulls", |_| ())?;
    planted.recording.policy.pull.as_mut()?.parallel = IntOrString::Int(1);
    Some(planted)
}

/// The other controller has not adopted the current revision, or another one is newer.
fn taken_before_its_revision(case: &Case<'_>) -> Option<Planted> {
    let own = current(case)?.clone();
    let live = |node: &str| {
        case.fleet.owned().filter(|pod| Fleet::target(pod) == Some(node) && case.fleet.live(pod)).count()
    };
    let is_of_the_rollout = |action: &Action| match action {
        Action::AnnotateRevision { .. } | Action::PatchNode { reason: TurnReason::TurnBegins, .. } => true,
        // Where another live pod stays, node sync's rules let it go.
        _ => takes(action) && action.node().is_some_and(|node| live(node.as_str()) == 1),
    };
    case.choose_action(is_of_the_rollout)?;
    let mut planted = case.planted("RevisionAwaited", |_| ())?;
    let revisions = &mut planted.recording.revisions;
    let old = revisions
        .iter_mut()
        .find(|other| other.data != own.data && !other.metadata.owner_references.is_empty());
    match old.filter(|_| case.pick % 2 == 0) {
        Some(old) => old.revision = own.revision + 1,
        None => {
            let current = revisions.iter_mut().find(|other| other.metadata.name == own.metadata.name)?;
            current.metadata.owner_references.clear();
        }
    }
    Some(planted)
}

/// A plan that changes a pod in its place, under a policy that does not ask for it.
fn changed_without_need(case: &Case<'_>) -> Option<Planted> {
    changes_a_pod(case)?;
    let mut planted = case.planted("NotInPlace", |_| ())?;
    planted.recording.policy.in_place = InPlacePolicy::Never;
    Some(planted)
}

fn changes_a_pod(case: &Case<'_>) -> Option<usize> {
    case.choose_action(|action| matches!(action, Action::UpdatePodInPlace { .. }))
}

/// Each part of the patch of a pod, wrong in turn.
fn changes_more_of_a_pod(case: &Case<'_>) -> Option<Planted> {
    let index = changes_a_pod(case)?;
    let since = json!({"at": case.recording.now, "containers": {}, "restarts": {}}).to_string();
    let changes = [
        ("/metadata/labels/controller-revision-hash", json!("old")),
        ("/metadata/labels/note", json!("")),
        ("/metadata/annotations/note", json!("")),
        ("/metadata/annotations/in-place.daemonset~1since", json!(since)),
        ("/spec/containers/0/image", json!("of-tomorrow")),
        ("/spec/containers/0/command", json!([])),
        ("/spec/hostNetwork", json!(true)),
    ];
    let (pointer, value) = changes[case.pick % changes.len()].clone();
    case.planted("WrongChange", |actions| {
        let Action::UpdatePodInPlace { patch, .. } = &mut actions[index] else { return };
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        patch.pointer_mut(parent).unwrap()[key.replace("~1", "/")] = value;
    })
}

/// The pod goes or, with turns, its node's turn begins. Under surge no pod goes before the new one is there.
fn taken_without_place(case: &Case<'_>) -> Option<Planted> {
    max_unavailable(case.recording)?;
    let node = node_where(case, |verdict| matches!(verdict.outcome, NodeOutcome::Waits(Wait::Fit { .. })))?;
    let take = match case.recording.policy.turn {
        None => delete(candidate(case, node.metadata.name.as_str())?),
        Some(_) => begin(case, node),
    };
    case.with("DoesNotFit", take)
}
