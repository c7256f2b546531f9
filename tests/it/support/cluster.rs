//! The effect of an executed plan on a snapshot, without other events.

use daemonset::model::{ControllerRevision, Labels, Node, ObjectRef, OwnerReference, Pod};
use daemonset::{Action, ActionOutcome, Memory, Plan, Recording};
use std::collections::BTreeMap;

/// Executes a plan at once: deleted pods are gone, created ones pending. Accepted actions go to the memory, if there is
/// one.
pub fn apply(recording: &mut Recording, plan: &Plan) {
    let now = recording.now;
    for action in &plan.actions {
        let outcome = execute(recording, action);
        if let Some(memory) = &mut recording.memory {
            memory.record(action, &outcome, now);
        }
    }
}

/// Makes the memory forget everything that the snapshot shows.
pub fn observe(recording: &mut Recording) {
    let mut memory: Option<Memory> = recording.memory.take();
    if let (Some(memory), Ok(snapshot)) = (&mut memory, recording.snapshot()) {
        memory.observe(&snapshot);
    }
    recording.memory = memory;
}

/// Executes one action.
pub fn execute(recording: &mut Recording, action: &Action) -> ActionOutcome {
    let ours = OwnerReference {
        api_version: "apps/v1".to_owned(),
        kind: "DaemonSet".to_owned(),
        name: recording.daemon_set.metadata.name.clone(),
        uid: recording.daemon_set.metadata.uid.clone(),
        controller: Some(true),
        block_owner_deletion: Some(true),
    };
    match action {
        Action::AdoptPod { pod, .. } => pod_named(recording, pod).metadata.owner_references.push(ours),
        Action::ReleasePod { pod, .. } => {
            pod_named(recording, pod).metadata.owner_references.retain(|owner| owner.uid != ours.uid);
        }
        Action::LabelPod { pod, labels, .. } => {
            pod_named(recording, pod).metadata.labels.extend(labels.iter());
        }
        Action::DeletePod { pod, .. } => recording.pods.retain(|p| p.metadata.uid != pod.uid),
        Action::CreatePod { pod, .. } => return ActionOutcome::Created(create(recording, pod.to_value())),
        Action::AdoptRevision { revision, .. } => {
            revision_named(recording, revision).metadata.owner_references.push(ours);
        }
        Action::ReleaseRevision { revision, .. } => {
            let owners = &mut revision_named(recording, revision).metadata.owner_references;
            owners.retain(|owner| owner.uid != ours.uid);
        }
        Action::CreateRevision { revision, .. } => {
            let mut revision: ControllerRevision = serde_json::from_value(revision.clone()).unwrap();
            revision.metadata.uid = format!("uid-{}", revision.metadata.name).into();
            recording.revisions.push(revision);
        }
        Action::LabelRevision { revision, labels, .. } => {
            revision_named(recording, revision).metadata.labels.extend(labels.iter());
        }
        Action::AnnotateRevision { revision, annotations, .. } => {
            patch(&mut revision_named(recording, revision).metadata.annotations, annotations);
        }
        Action::PatchNode { node, unschedulable, annotations, .. } => {
            let same = |n: &&mut Node| n.metadata.uid == node.uid && n.metadata.name.as_str() == node.name;
            let stored = recording.nodes.iter_mut().find(same).unwrap();
            stored.spec.unschedulable = unschedulable.unwrap_or(stored.spec.unschedulable);
            patch(&mut stored.metadata.annotations, annotations);
        }
        Action::UpdatePodInPlace { pod, patch: changes, .. } => {
            let stored = pod_named(recording, pod);
            let members = |field: &str| -> BTreeMap<String, Option<String>> {
                serde_json::from_value(changes["metadata"][field].clone()).unwrap()
            };
            patch(&mut stored.metadata.labels, &members("labels"));
            patch(&mut stored.metadata.annotations, &members("annotations"));
            for changed in changes["spec"]["containers"].as_array().unwrap() {
                let own = stored.spec.containers.iter_mut().find(|own| changed["name"] == own.name);
                own.unwrap().image = changed["image"].as_str().unwrap().to_owned();
            }
        }
        Action::RenumberRevision { revision, number, .. } => {
            revision_named(recording, revision).revision = *number;
        }
        Action::DeleteRevision { revision, .. } => {
            recording.revisions.retain(|r| r.metadata.uid != revision.uid);
        }
        Action::UpdateStatus { status, .. } => recording.daemon_set.status = status.clone(),
        Action::RestoreTemplate { patch, .. } => {
            let mut template = patch["spec"]["template"].clone();
            template.as_object_mut().unwrap().remove("$patch").unwrap();
            recording.daemon_set.spec.template = template;
            let metadata = &mut recording.daemon_set.metadata;
            metadata.generation += 1;
            if let Ok(version) = metadata.resource_version.parse::<u64>() {
                metadata.resource_version = (version + 1).to_string();
            }
        }
        Action::RecordEvent { .. } | Action::Requeue { .. } => {}
    }
    ActionOutcome::Done
}

/// Sets and removes labels or annotations.
fn patch(stored: &mut Labels, changes: &BTreeMap<String, Option<String>>) {
    let kept = stored.iter().filter(|(key, _)| !changes.contains_key(*key));
    let set = changes.iter().filter_map(|(key, value)| Some((key.as_str(), value.as_deref()?)));
    *stored = kept.chain(set).collect();
}

fn create(recording: &mut Recording, mut manifest: serde_json::Value) -> ObjectRef {
    let serial = recording.pods.len();
    let fresh = (serial..).map(|n| format!("created-{n}"));
    let name = fresh.into_iter().find(|n| recording.pods.iter().all(|p| p.metadata.name != *n)).unwrap();
    let name = manifest["metadata"]["name"].as_str().map_or(name, str::to_owned);
    manifest["metadata"]["uid"] = format!("uid-of-{name}").into();
    manifest["metadata"]["name"] = name.into();
    manifest["metadata"]["creationTimestamp"] = recording.now.to_string().into();
    manifest["status"] = serde_json::json!({"phase": "Pending"});
    let pod: Pod = serde_json::from_value(manifest).unwrap();
    let created = ObjectRef {
        namespace: pod.metadata.namespace.clone(),
        name: pod.metadata.name.clone(),
        uid: pod.metadata.uid.clone(),
        resource_version: String::new(),
    };
    recording.pods.push(pod);
    created
}

/// The object of an action. It is an error if the object does not exist or has another uid.
fn pod_named<'r>(recording: &'r mut Recording, reference: &ObjectRef) -> &'r mut Pod {
    let same = |p: &&mut Pod| p.metadata.uid == reference.uid && p.metadata.name == reference.name;
    recording.pods.iter_mut().find(same).unwrap()
}

fn revision_named<'r>(recording: &'r mut Recording, reference: &ObjectRef) -> &'r mut ControllerRevision {
    let same = |r: &&mut ControllerRevision| r.metadata.uid == reference.uid;
    recording.revisions.iter_mut().find(same).unwrap()
}
