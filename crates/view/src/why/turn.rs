//! The turn of a node in sentences: its gates, the images and the room that it lacks, and pods that settle.

use crate::case::Case;
use crate::hostile;
use crate::turning::list;
use crate::words;
use daemonset::kubernetes::well_known::TURN_PREFIX;
use daemonset::model::{DaemonSet, Node};
use daemonset::policy::{OnTimeout, TurnMode, TurnPolicy};
use daemonset::report::{InPlaceDetail, NodeDetail, NodeOutcome, NodeVerdict, PullDetail, TurnDetail, Wait};
use daemonset::turns::abandoned_turns;
use daemonset::{Action, CreateReason, DeleteReason, TurnReason};
use jiff::Timestamp;

impl Case<'_> {
    pub(crate) fn detail(&self, node: &NodeVerdict) -> Option<&NodeDetail> {
        self.planned.details.get(&node.node)
    }

    fn turn_policy(&self) -> Option<&TurnPolicy> {
        match &self.planned.policy.turn {
            Some(TurnMode::Take(turn)) => Some(turn),
            _ => None,
        }
    }

    pub(super) fn changes_in_place(&self, node: &NodeVerdict, reason: DeleteReason) -> String {
        format!(
            "This plan changes its pod in its place: {}. Containers with a new image start anew; until they run, the pod counts \
             as not Ready.",
            self.goal(node).deleting(reason)
        )
    }

    pub(crate) fn does_not_fit(&self, node: &NodeVerdict, resource: &str) -> String {
        let amounts = self.detail(node).and_then(|detail| detail.fit.as_ref()).map_or_else(
            || format!("too much {resource}"),
            |fit| {
                let (wanted, free) = (&fit.requested, &fit.free);
                format!("{wanted} of {resource}, and the node would have {free} without its own pods")
            },
        );
        format!(
            "The new pod does not fit here: it requests {amounts}. The old one stays until there is room."
        )
    }

    pub(super) fn turn_begins(&self) -> String {
        let Some(turn) = self.turn_policy() else { return "Its turn begins with this plan.".to_owned() };
        let cordoned = if turn.cordon { ", and cordons the node" } else { "" };
        let then = match turn.gates.as_slice() {
            [] => "a later plan takes its pod".to_owned(),
            [only] => format!("its pod goes once the gate {only} is open"),
            several => format!("its pod goes once the gates {} are open", list(several)),
        };
        format!("This plan begins its turn{cordoned}: {then}.")
    }

    pub(crate) fn waits_for_gates(&self, node: &NodeVerdict, turn: &TurnDetail) -> String {
        let one = turn.closed.len() == 1;
        let (gates, are) = if one { ("gate", "is") } else { ("gates", "are") };
        let mut text = format!(
            "It has been in turn since {}, and its pod goes once the {gates} {} {are} open.",
            self.since(turn.since),
            list(&turn.closed)
        );
        if !turn.open.is_empty() {
            text.push_str(&format!(" Open already: {}.", list(&turn.open)));
        }
        if let Some(at) = turn.overdue_at {
            text.push_str(&self.overdue(at));
        }
        if turn.closed.iter().any(|gate| gate == "drained") {
            let node = &node.node;
            text.push_str(&format!(
                " The drain opens drained: {} drain {node}{} tells which pods it waits for.",
                self.plugin, self.connection
            ));
        }
        let others: Vec<&String> = turn.closed.iter().filter(|gate| *gate != "drained").collect();
        if let (Some(first), Some(request)) = (others.first(), &turn.request) {
            text.push_str(&format!(
                " Whoever opens {first} does it by kubectl annotate node{} {} --overwrite {first}.gate.daemonset/{}={request:?}.",
                self.connection, node.node, turn.key
            ));
        }
        text
    }

    fn overdue(&self, at: Timestamp) -> String {
        let proceeds = self.turn_policy().is_some_and(|turn| turn.on_timeout == OnTimeout::Proceed);
        let then = if proceeds { ": its pod goes all the same then" } else { "" };
        if at <= self.now {
            format!(" That has been overdue since {}.", self.since(at))
        } else {
            format!(" That is overdue {}{then}.", self.at(at))
        }
    }

    pub(crate) fn waits_for_pull(&self, node: &NodeVerdict, pull: &PullDetail) -> String {
        let images: Vec<String> = pull.images.iter().map(|image| hostile::with_stand_ins(image)).collect();
        let images = list(&images);
        let are = if pull.images.len() == 1 { "is" } else { "are" };
        let PullDetail { pod, since, ends_at, .. } = pull;
        let pulled = match pod {
            Some(pod) => format!("Pod {pod} has been pulling{}", self.maybe_since(*since)),
            None if self.creates_pull(node) => "This plan creates a pod that pulls".to_owned(),
            None => "No pod pulls yet, since only some of the nodes pull at a time".to_owned(),
        };
        let ends = ends_at
            .map(|at| format!("; the update waits for it until {at} ({})", words::relative(at, self.now)));
        format!(
            "Its {} stays until {images} {are} on the node. {pulled}{}.",
            self.goal(node).other(),
            ends.unwrap_or_default()
        )
    }

    fn creates_pull(&self, on: &NodeVerdict) -> bool {
        self.plan.actions.iter().any(|action| match action {
            Action::CreatePod { node, reason, .. } => *node == on.node && *reason == CreateReason::PullImages,
            _ => false,
        })
    }

    /// The pod of another owner that keeps the node's own one away.
    pub(crate) fn name_taken(&self, node: &NodeVerdict) -> Option<String> {
        let pod = self.detail(node)?.name_taken.as_ref()?;
        let namespace = &self.planned.daemon_set.metadata.namespace;
        Some(format!(
            "Its pod can't be created: each pod of this node has one name, and {pod} of another owner has it. Delete that pod if \
             nobody needs it (kubectl delete pod -n {namespace} {pod}), or rename the DaemonSet."
        ))
    }

    /// The turn of a node that waits for something else, and its pods that settle.
    pub(super) fn turn(&self, node: &NodeVerdict) -> Vec<String> {
        let mut sentences: Vec<String> = self.turn_changes(node).into_iter().collect();
        let Some(detail) = self.detail(node) else { return sentences };
        if let Some(turn) = &detail.turn {
            sentences.extend(self.in_turn(node, turn));
        }
        let is_told = node.outcome == NodeOutcome::Waits(Wait::Pull);
        if let Some(pull) = detail.pull.as_ref().filter(|_| !is_told) {
            sentences.push(self.waits_for_pull(node, pull));
        }
        sentences.extend(detail.in_place.iter().map(|pod| self.settles(pod)));
        sentences
    }

    fn in_turn(&self, node: &NodeVerdict, turn: &TurnDetail) -> Option<String> {
        let since = self.since(turn.since);
        // A cordon that a person has taken back is no longer the turn's.
        let cordoned = match turn.cordoned && node.unschedulable {
            true => " Its turn has cordoned the node, and uncordons it at its end.",
            false => "",
        };
        match &node.outcome {
            // Told with its gates.
            NodeOutcome::Waits(Wait::Gates { .. }) => {
                Some(cordoned.trim_start().to_owned()).filter(|text| !text.is_empty())
            }
            NodeOutcome::Delete { .. } | NodeOutcome::UpdateInPlace { .. } => {
                Some(format!("It has been in turn since {since}.{cordoned}"))
            }
            _ => Some(format!(
                "It has been in turn since {since}: the turn ends when the node has an available pod of the version that it should \
                 run.{cordoned}"
            )),
        }
    }

    fn settles(&self, pod: &InPlaceDetail) -> String {
        format!(
            "Pod {} was changed in its place at {}: its new containers do not all run yet, so that it counts as not Ready.",
            pod.pod,
            self.since(pod.since)
        )
    }

    /// The end of its turn, or of the turn's cordon, in this plan.
    fn turn_changes(&self, node: &NodeVerdict) -> Option<String> {
        self.plan.actions.iter().find_map(|action| match action {
            Action::PatchNode { node: patched, unschedulable, reason, .. } if patched.name == node.node.as_str() => {
                match (reason, unschedulable) {
                    (TurnReason::TurnEnds, Some(false)) => {
                        Some("This plan ends its turn, and uncordons the node.".to_owned())
                    }
                    (TurnReason::TurnEnds, _) => Some("This plan ends its turn.".to_owned()),
                    (TurnReason::TurnLosesCordon, _) => Some(
                        "A person has uncordoned the node: this plan notes it, and the end of the turn takes no later cordon back."
                            .to_owned(),
                    ),
                    _ => None,
                }
            }
            _ => None,
        })
    }
}

/// Turns on a node that belong to none of these DaemonSets, which may be all there are or not.
pub(super) fn of_nobody(node: &Node, daemon_sets: &[DaemonSet], now: Timestamp) -> Vec<String> {
    let ends = abandoned_turns([node], daemon_sets);
    let removed = ends.iter().flat_map(|action| match action {
        Action::PatchNode { annotations, .. } => {
            annotations.keys().filter(|key| key.starts_with(TURN_PREFIX)).collect()
        }
        _ => Vec::new(),
    });
    let sentence = |key: &String| {
        let began =
            node.metadata.annotations.get(key).and_then(|value| value.split(' ').nth(1)?.parse().ok());
        let since = began.map(|at: Timestamp| format!(" since {at} ({})", words::relative(at.min(now), now)));
        format!(
            "The node has been in turn{} for none of these DaemonSets (annotation {key}): if it is no other's either, the controller \
             ends that turn.",
            since.unwrap_or_default()
        )
    };
    removed.map(sentence).collect()
}
