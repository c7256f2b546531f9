//! The situations that lives with turns must reach: a promise that is never put to the test proves nothing.

use super::facts::{Facts, is_take};
use super::life::Life;
use daemonset::policy::{PodNames, TurnMode};
use daemonset_sim::{Actor, Change, Event};
use std::collections::BTreeSet;

/// The situations of an event, before the facts know of it.
pub fn situations(facts: &Facts, event: &Event) -> Vec<&'static str> {
    let mut all = Vec::new();
    let drives = facts.policy.external_controller.is_some();
    match &event.change {
        Change::TurnBegan { node, turn, .. } if *turn == facts.key => {
            let others = facts.nodes.get(node.as_str()).map_or(0, |node| node.turns().count());
            all.extend((others > 0).then_some("a turn begins beside another DaemonSet's"));
            all.extend(drives.then_some("a turn begins beside another controller"));
            let in_turn = facts.nodes.values().filter(|node| node.turn.is_some()).count();
            all.extend((in_turn + 1 == facts.allowed(event.t)).then_some("a turn takes the last place"));
        }
        Change::TurnEnded { node, turn, uncordons } if *turn == facts.key => {
            let Some(node) = facts.nodes.get(node.as_str()) else { return all };
            let Some(turn) = &node.turn else { return all };
            let others = node.turns().filter(|(key, _)| *key != facts.key).count();
            all.extend((turn.cordoned && others > 0 && !uncordons).then_some("a cordon is handed over"));
            all.extend(node.is_unreachable.then_some("the turn of an unreachable node ends"));
            all.extend(facts.policy.turn.is_none().then_some("a turn ends that nobody asks for"));
            all.extend((!facts.is_settled(node, event.t)).then_some("the turn of a node that leaves ends"));
            let is_untouched = node.taken_in_turn.is_none();
            all.extend(is_untouched.then_some("a turn ends that has replaced nothing"));
            all.extend(node.is_persons.then_some("a turn ends on a node that a person has cordoned"));
        }
        Change::TurnEnded { .. } if event.by == Actor::Controller => all.push("a turn is left over"),
        Change::PodTerminating { pod, reason: Some(reason) }
        | Change::PodChanged { pod, reason: Some(reason) }
            if is_take(*reason) && event.by == Actor::Controller =>
        {
            let Some(node) = facts.nodes.get(pod.node.as_str()) else { return all };
            let gates = match &facts.policy.turn {
                Some(TurnMode::Take(rules)) => &rules.gates[..],
                _ => &[],
            };
            let is_closed = facts.closed_gates(node, gates).next().is_some();
            all.extend(is_closed.then_some("a pod is taken after its time"));
            all.extend(drives.then_some("a pod is taken beside another controller"));
            let taken = facts.nodes.values().filter(|node| node.taken.is_some()).count();
            all.extend(
                (taken + 1 == facts.allowed(event.t)).then_some("a pod is the last that may be taken"),
            );
        }
        Change::PodCreated(_) if facts.policy.pod_names == PodNames::OnePerNode => {
            all.push("a pod is made that each node has one of");
        }
        Change::ControllerCrashed { memory_kept, .. } => {
            let is_in_turn = facts.nodes.values().any(|node| node.turn.is_some());
            all.extend((is_in_turn && *memory_kept).then_some("a crash in a turn, memory kept"));
            all.extend((is_in_turn && !memory_kept).then_some("a crash in a turn, memory lost"));
        }
        _ => {}
    }
    all
}

/// All that a life has reached.
pub fn reached(life: &mut Life) -> BTreeSet<String> {
    let mut reached = std::mem::take(&mut life.noted.borrow_mut().things);
    for event in life.cluster.history() {
        if let Some(name) = name(event) {
            reached.insert(name);
        }
    }
    reached
}

/// The name of an event that a controller or the world brings about in a turn.
fn name(event: &Event) -> Option<String> {
    let by = event.by;
    Some(match &event.change {
        Change::PodTerminating { reason: Some(reason), .. } => format!("{by:?} deletes {reason:?}"),
        Change::PodChanged { reason: Some(reason), .. } => format!("{by:?} changes {reason:?}"),
        Change::TurnLostCordon { .. } => "a turn loses its cordon".to_owned(),
        Change::GateOpened { gate, .. } => format!("{by:?} opens {gate}"),
        Change::PodEvicted { .. } => "a pod is evicted".to_owned(),
        Change::EvictionRefused { .. } => "an eviction is refused".to_owned(),
        Change::DaemonSetChanged { .. } if by == Actor::Controller => "a template is restored".to_owned(),
        _ => return None,
    })
}

/// The lives must reach each of these, and each wait of a candidate.
pub const EVERYTHING: &[&str] = &[
    "Controller changes OutdatedAvailable",
    "Controller changes OutdatedNotReady",
    "Controller deletes FailedPod",
    "Controller deletes OutdatedAvailable",
    "Controller deletes OutdatedNotReady",
    "Controller deletes OutdatedPending",
    "Controller opens drained",
    "OtherController deletes FailedPod",
    "a change in place is refused, and the pod deleted",
    "a cordon is handed over",
    "a crash in a turn, memory kept",
    "a crash in a turn, memory lost",
    "a pod is evicted",
    "a pod is made that each node has one of",
    "a pod is taken after its time",
    "a pod is taken beside another controller",
    "a pod is the last that may be taken",
    "a template is restored",
    "a turn begins beside another DaemonSet's",
    "a turn begins beside another controller",
    "a turn ends on a node that a person has cordoned",
    "a turn ends that has replaced nothing",
    "a turn ends that nobody asks for",
    "a turn is left over",
    "a turn loses its cordon",
    "a turn takes the last place",
    "an eviction is refused",
    "change OutdatedAvailable: Changed",
    "change OutdatedAvailable: Rejected",
    "change OutdatedAvailable: Unknown",
    "create PullImages: Created",
    "create PullImages: Rejected",
    "create PullImages: Unknown",
    "delete PullDone: Done",
    "delete PullDone: Rejected",
    "delete PullDone: Unknown",
    "outcome HeldByRollout",
    "outcome LeftAlone",
    "outcome TurnBegins",
    "outcome UpdateInPlace",
    "patch TurnBegins: Changed",
    "patch TurnBegins: Conflict",
    "patch TurnBegins: Rejected",
    "patch TurnBegins: Unknown",
    "patch TurnEnds: Changed",
    "patch TurnEnds: Conflict",
    "patch TurnEnds: Rejected",
    "patch TurnEnds: Unknown",
    "patch TurnLosesCordon: Changed",
    "patch TurnLosesCordon: Conflict",
    "the turn of a node that leaves ends",
    "the turn of an unreachable node ends",
];
