//! For any bytes: a recording that parses and passes the check is planned. The plan is deterministic, does not depend
//! on the order of the lists, and keeps the promises of every plan.

#![no_main]

use daemonset::{Action, CreateReason, DeleteReason, Plan, Recording, RequeueReason, plan, reconcile};
use daemonset::report::NodePlacement;
use daemonset_audit::audit;
use libfuzzer_sys::fuzz_target;
use std::collections::BTreeSet;

fuzz_target!(|bytes: &[u8]| {
    let Ok(recording) = Recording::from_json(bytes) else { return };
    let Ok(snapshot) = recording.snapshot() else {
        // An invalid recording is refused again for the same reasons.
        let again = serde_json::to_vec(&recording).unwrap();
        assert!(Recording::from_json(&again).unwrap().snapshot().is_err());
        return;
    };
    let first = plan(&snapshot);
    assert_eq!(first.actions, reconcile(&snapshot));
    let expected = serde_json::to_string(&first).unwrap();
    assert_eq!(serde_json::to_string(&plan(&snapshot)).unwrap(), expected);
    assert_eq!(audit(&snapshot, &first.actions), []);
    keeps_its_promises(&recording, &first);

    let replayed = serde_json::to_vec(&Recording::from(&snapshot)).unwrap();
    assert_eq!(planned(&Recording::from_json(&replayed).unwrap()), expected);
    let mut turned = recording.clone();
    turned.nodes.reverse();
    turned.pods.reverse();
    turned.revisions.reverse();
    assert_eq!(planned(&turned), expected);
});

fn planned(recording: &Recording) -> String {
    serde_json::to_string(&plan(&recording.snapshot().unwrap())).unwrap()
}

fn keeps_its_promises(recording: &Recording, plan: &Plan) {
    let adopted: BTreeSet<&str> = plan
        .actions
        .iter()
        .filter_map(|action| match action {
            Action::AdoptPod { pod, .. } => Some(pod.uid.as_str()),
            _ => None,
        })
        .collect();
    let (mut deleted, mut created) = (BTreeSet::new(), BTreeSet::new());
    for action in &plan.actions {
        match action {
            // Pull pods are none of the DaemonSet's.
            Action::DeletePod { reason: DeleteReason::PullDone, .. }
            | Action::CreatePod { reason: CreateReason::PullImages, .. } => {}
            Action::DeletePod { pod, .. } | Action::UpdatePodInPlace { pod, .. } => {
                assert!(deleted.insert(&pod.uid), "{pod:?} is taken twice");
                may_touch(recording, &pod.name, pod.uid.as_str(), &adopted);
            }
            Action::CreatePod { node, .. } => {
                assert!(created.insert(node), "two pods are created on {node}");
                let verdict = plan.report.nodes.iter().find(|verdict| verdict.node == *node).unwrap();
                assert_eq!(verdict.placement, NodePlacement::Run, "{node}");
            }
            Action::Requeue { at, reason, .. } => {
                assert!(*at > recording.now || *reason == RequeueReason::Burst);
            }
            _ => {}
        }
    }
    let burst = recording.policy.burst as usize;
    assert!(deleted.len() <= burst && created.len() <= burst);
    assert!(plan.actions.is_sorted_by_key(stage), "{:#?}", plan.actions);
    let requeues = plan.actions.iter().filter(|action| matches!(action, Action::Requeue { .. })).count();
    assert!(requeues <= 1);
}

/// Only pods that the DaemonSet controls or adopts; never a mirror pod, and never a pod of another namespace.
fn may_touch(recording: &Recording, name: &str, uid: &str, adopted: &BTreeSet<&str>) {
    let ds = &recording.daemon_set.metadata;
    let pod = recording.pods.iter().find(|pod| pod.metadata.uid.as_str() == uid).unwrap();
    let controller = pod.metadata.owner_references.iter().find(|owner| owner.controller == Some(true));
    assert_eq!(pod.metadata.name, name);
    assert_eq!(pod.metadata.namespace, ds.namespace);
    assert!(!pod.metadata.annotations.contains_key("kubernetes.io/config.mirror"));
    assert!(pod.metadata.deletion_timestamp.is_none());
    assert!(controller.map_or(adopted.contains(uid), |owner| owner.uid == ds.uid));
}

/// Claim, history, marks, pod deletes, pod creates, revision deletes, status, pulls, turns, events, requeue.
fn stage(action: &Action) -> u8 {
    match action {
        Action::AdoptPod { .. }
        | Action::ReleasePod { .. }
        | Action::AdoptRevision { .. }
        | Action::ReleaseRevision { .. } => 0,
        Action::CreateRevision { .. } | Action::LabelRevision { .. } | Action::RenumberRevision { .. } => 1,
        Action::AnnotateRevision { .. } => 2,
        Action::LabelPod { .. } => 3,
        Action::DeletePod { reason: DeleteReason::PullDone, .. } => 8,
        Action::CreatePod { reason: CreateReason::PullImages, .. } => 9,
        Action::DeletePod { .. } | Action::UpdatePodInPlace { .. } => 4,
        Action::CreatePod { .. } => 5,
        Action::DeleteRevision { .. } => 6,
        Action::UpdateStatus { .. } | Action::RestoreTemplate { .. } => 7,
        Action::PatchNode { .. } => 10,
        Action::RecordEvent { .. } => 11,
        Action::Requeue { .. } => 12,
    }
}
