//! The actions of a plan, in the words of the model.

use super::controller::Step;
use super::memory::instant;
use super::objects::{PodId, Request, Turn};
use super::real::Real;
use daemonset::{Action, CreateReason};
use std::collections::BTreeMap;

/// For each DaemonSet the turn that a patch gives a node, or takes from it.
pub type TurnChanges = [Option<Option<Turn>>; 2];

/// `None` for actions that change no input of a plan: status, events, requeues.
pub fn step(real: &Real, ds: u8, action: &Action) -> Option<Step> {
    Some(match action {
        Action::CreateRevision { revision, .. } => Step::CreateRevision {
            ds,
            version: real
                .version(revision["metadata"]["labels"]["controller-revision-hash"].as_str().unwrap()),
            number: u8::try_from(revision["revision"].as_i64().unwrap()).unwrap(),
        },
        Action::RenumberRevision { revision, number, .. } => Step::Renumber {
            ds,
            version: real.version(revision.name.rsplit('-').next().unwrap()),
            number: u8::try_from(*number).unwrap(),
        },
        Action::DeletePod { pod, reason, .. } => {
            Step::Delete { id: PodId::of_uid(pod.uid.as_str()), takes: reason.is_update() }
        }
        Action::CreatePod { node, pod, reason, .. } => Step::Create {
            ds,
            node: node_number(node.as_str()),
            version: real.version(pod.revision_hash()),
            name: pod.name().map(|name| real.name_number(name)),
            pulls: *reason == CreateReason::PullImages,
        },
        Action::UpdatePodInPlace { pod, patch, .. } => {
            let hash = &patch["metadata"]["labels"]["controller-revision-hash"];
            let id = PodId::of_uid(pod.uid.as_str());
            Step::ChangeInPlace { id, version: real.version(hash.as_str().unwrap()) }
        }
        Action::PatchNode { node, unschedulable, annotations, reason, .. } => {
            let is_gate_of =
                |key: &String| annotations.get(&daemonset::turns::gate_annotation(super::real::GATE, key));
            Step::Patch {
                ds,
                node: node_number(&node.name),
                reason: *reason,
                unschedulable: *unschedulable,
                turns: real.keys.each_ref().map(|key| turn_of(annotations, key)),
                gates_go: real.keys.each_ref().map(|key| is_gate_of(key) == Some(&None)),
            }
        }
        Action::UpdateStatus { .. } | Action::RecordEvent { .. } | Action::Requeue { .. } => return None,
        Action::AdoptPod { .. }
        | Action::ReleasePod { .. }
        | Action::AdoptRevision { .. }
        | Action::ReleaseRevision { .. }
        | Action::LabelRevision { .. }
        | Action::LabelPod { .. }
        | Action::AnnotateRevision { .. }
        | Action::RestoreTemplate { .. }
        | Action::DeleteRevision { .. } => panic!("nothing in the model asks for {action:?}"),
    })
}

fn turn_of(annotations: &BTreeMap<String, Option<String>>, key: &str) -> Option<Option<Turn>> {
    let value = annotations.get(&format!("turn.daemonset/{key}"))?;
    Some(value.as_ref().map(|value| {
        let (request, cordoned) = match value.strip_suffix(" cordoned") {
            Some(request) => (request, true),
            None => (value.as_str(), false),
        };
        let (number, at) = request.split_once(' ').unwrap();
        let request = Request { number: number.parse().unwrap(), at: instant(at.parse().unwrap()) };
        Turn { request, cordoned }
    }))
}

fn node_number(node: &str) -> u8 {
    node.strip_prefix('n').unwrap().parse().unwrap()
}
