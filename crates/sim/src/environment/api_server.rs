//! The API server: executes the controller's actions, or refuses them.

use crate::environment::generations::{raise_generations, spec_changed};
use crate::environment::turns::NodePatch;
use crate::environment::{Created, Environment, namespaced_name};
use crate::event::Actor;
use crate::watch::WatchEvent;
use daemonset::kubernetes::canonical_json;
use daemonset::model::{
    ControllerRevision, DaemonSet, DaemonSetStatus, Labels, NodeName, ObjectRef, OwnerReference, Uid,
};
use daemonset::{Action, ActionOutcome, PodManifest};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use thiserror::Error;

/// Why the API server refuses a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(crate) enum ApiError {
    /// No object has this uid.
    #[error("not found")]
    NotFound,
    /// The object has another name, version or controller than the request expects.
    #[error("conflict")]
    Conflict,
    /// Another object has that name.
    #[error("already exists")]
    AlreadyExists,
    /// The manifest can't be parsed.
    #[error("invalid")]
    Invalid,
}

impl Environment {
    /// Executes an action of a controller.
    pub(crate) fn execute(&mut self, action: &Action, by: Actor) -> Result<ActionOutcome, ApiError> {
        match action {
            Action::AdoptPod { pod, .. } => self.adopt_pod(pod)?,
            Action::ReleasePod { pod, .. } => self.release_pod(pod)?,
            Action::LabelPod { pod, labels, .. } => {
                let uid = self.existing_pod(pod)?;
                self.change_pod(&uid, |pod| pod.metadata.labels.extend(labels.iter()));
            }
            Action::DeletePod { pod, reason, .. } => {
                // A pod that is not found counts as deleted.
                if let Ok(uid) = self.existing_pod(pod) {
                    self.delete_pod(by, &uid, Some(*reason));
                }
            }
            Action::CreatePod { pod, .. } => return Ok(ActionOutcome::Created(self.create_pod(pod, by)?)),
            Action::UpdatePodInPlace { pod, patch, reason, .. } => {
                return Ok(ActionOutcome::Changed(self.update_in_place(pod, patch, (by, *reason))?));
            }
            Action::PatchNode { node, unschedulable, annotations, reason, .. } => {
                let name = self.unchanged_node(node)?;
                let patch = NodePatch { unschedulable: *unschedulable, annotations, reason: *reason };
                return Ok(ActionOutcome::Changed(self.patch_node(&name, patch, by)?));
            }
            Action::AdoptRevision { revision, .. } => {
                let (uid, owner) = (self.existing_revision(revision)?, self.owner()?);
                self.change_revision(&uid, |revision| revision.metadata.owner_references.push(owner));
            }
            Action::ReleaseRevision { revision, .. } => {
                let (uid, owner) = (self.existing_revision(revision)?, self.owner()?);
                self.change_revision(&uid, |revision| {
                    revision.metadata.owner_references.retain(|other| other.uid != owner.uid);
                });
            }
            Action::CreateRevision { revision, .. } => self.create_revision(revision)?,
            Action::LabelRevision { revision, labels, .. } => {
                let uid = self.existing_revision(revision)?;
                self.change_revision(&uid, |revision| revision.metadata.labels.extend(labels.iter()));
            }
            Action::AnnotateRevision { revision, annotations, .. } => {
                let uid = self.existing_revision(revision)?;
                self.change_revision(&uid, |revision| {
                    revision.metadata.annotations = patched(&revision.metadata.annotations, annotations);
                });
            }
            Action::RenumberRevision { revision, number, .. } => {
                let uid = self.existing_revision(revision)?;
                self.change_revision(&uid, |revision| revision.revision = *number);
            }
            Action::DeleteRevision { revision, .. } => {
                if let Ok(uid) = self.existing_revision(revision) {
                    self.store(WatchEvent::RevisionGone(uid));
                }
            }
            Action::UpdateStatus { daemon_set, status, .. } => self.update_status(daemon_set, status)?,
            Action::RestoreTemplate { daemon_set, patch, .. } => {
                self.restore_template(daemon_set, patch, by)?;
            }
            Action::RecordEvent { .. } | Action::Requeue { .. } => {}
        }
        Ok(ActionOutcome::Done)
    }

    /// Uid and resource version are preconditions.
    pub(crate) fn unchanged_node(&self, reference: &ObjectRef) -> Result<NodeName, ApiError> {
        let name = NodeName::from(reference.name.as_str());
        let node = self.objects.nodes.get(&name).ok_or(ApiError::NotFound)?;
        let is_unchanged = node.metadata.uid == reference.uid
            && node.metadata.resource_version == reference.resource_version;
        if is_unchanged { Ok(name) } else { Err(ApiError::Conflict) }
    }

    pub(crate) fn existing_pod(&self, reference: &ObjectRef) -> Result<Uid, ApiError> {
        let pod = self.pod(&reference.uid).ok_or(ApiError::NotFound)?;
        let same = pod.metadata.name == reference.name && pod.metadata.namespace == reference.namespace;
        if same { Ok(reference.uid.clone()) } else { Err(ApiError::Conflict) }
    }

    fn existing_revision(&self, reference: &ObjectRef) -> Result<Uid, ApiError> {
        let revision = self.objects.revisions.get(&reference.uid).ok_or(ApiError::NotFound)?;
        let same = revision.metadata.name == reference.name;
        if same { Ok(reference.uid.clone()) } else { Err(ApiError::Conflict) }
    }

    /// The owner reference that makes the DaemonSet the controller of an object.
    fn owner(&self) -> Result<OwnerReference, ApiError> {
        Ok(self.objects.daemon_set.as_ref().ok_or(ApiError::NotFound)?.owner_reference())
    }

    fn adopt_pod(&mut self, reference: &ObjectRef) -> Result<(), ApiError> {
        let (uid, owner) = (self.existing_pod(reference)?, self.owner()?);
        let owned =
            self.pod(&uid).map(|pod| OwnerReference::controller_of(&pod.metadata.owner_references).is_some());
        if owned == Some(true) {
            return Err(ApiError::Conflict);
        }
        self.change_pod(&uid, |pod| pod.metadata.owner_references.push(owner));
        Ok(())
    }

    fn release_pod(&mut self, reference: &ObjectRef) -> Result<(), ApiError> {
        let (uid, owner) = (self.existing_pod(reference)?, self.owner()?);
        self.change_pod(&uid, |pod| pod.metadata.owner_references.retain(|other| other.uid != owner.uid));
        Ok(())
    }

    /// Creates a pod, with a generated name and uid, and puts it into the scheduler's queue.
    fn create_pod(&mut self, manifest: &PodManifest, by: Actor) -> Result<ObjectRef, ApiError> {
        let created = self.versions.create(manifest).map_err(|_| ApiError::Invalid)?;
        let Created { mut pod, generate_name: prefix, requirements, .. } = created;
        let uid = self.new_uid();
        if pod.metadata.name.is_empty() {
            // The last digits of the uid are unique here.
            let suffix: String = uid.as_str().chars().skip(31).collect();
            pod.metadata.name = format!("{prefix}{suffix}");
        }
        if self.pod_names.contains(&namespaced_name(&pod.metadata.namespace, &pod.metadata.name)) {
            return Err(ApiError::AlreadyExists);
        }
        pod.metadata.uid = uid;
        pod.metadata.creation_timestamp = Some(self.now);
        pod.status.phase = "Pending".into();
        let uid = self.add_pod(by, pod, Some(requirements));
        self.enqueue_for_scheduling(&uid);
        self.pod_ref(&uid).ok_or(ApiError::Invalid)
    }

    /// Creates a revision. An existing revision of the same name, owner and content counts as created.
    fn create_revision(&mut self, manifest: &Value) -> Result<(), ApiError> {
        let mut revision = ControllerRevision::deserialize(manifest).map_err(|_| ApiError::Invalid)?;
        let owner = OwnerReference::controller_of(&revision.metadata.owner_references).map(str::to_owned);
        let same_name = |other: &&Arc<ControllerRevision>| {
            other.metadata.name == revision.metadata.name
                && other.metadata.namespace == revision.metadata.namespace
        };
        if let Some(other) = self.objects.revisions.values().find(same_name) {
            let same_owner =
                OwnerReference::controller_of(&other.metadata.owner_references) == owner.as_deref();
            let same = same_owner && canonical_json::equal(&other.data, &revision.data);
            return if same { Ok(()) } else { Err(ApiError::AlreadyExists) };
        }
        revision.metadata.uid = self.new_uid();
        revision.metadata.resource_version = self.new_version();
        revision.metadata.creation_timestamp = Some(self.now);
        let uid = revision.metadata.uid.clone();
        self.store(WatchEvent::Revision(Arc::new(revision)));
        self.read_version(&uid);
        Ok(())
    }

    /// Replaces the template; uid and resource version are preconditions.
    fn restore_template(&mut self, reference: &ObjectRef, patch: &Value, by: Actor) -> Result<(), ApiError> {
        let stored = self.objects.daemon_set.as_ref().ok_or(ApiError::NotFound)?;
        let metadata = &stored.metadata;
        if (&metadata.uid, &metadata.resource_version) != (&reference.uid, &reference.resource_version) {
            return Err(ApiError::Conflict);
        }
        let mut daemon_set = DaemonSet::clone(stored);
        let mut template = patch.pointer("/spec/template").cloned().ok_or(ApiError::Invalid)?;
        let directive = template.as_object_mut().and_then(|members| members.remove("$patch"));
        if directive.as_ref().and_then(Value::as_str) != Some("replace") {
            return Err(ApiError::Invalid);
        }
        daemon_set.spec.template = template;
        let change = raise_generations(stored, &mut daemon_set);
        if daemon_set == **stored {
            // A patch that changes nothing writes nothing.
            return Ok(());
        }
        daemon_set.metadata.resource_version = self.new_version();
        let change = spec_changed(&daemon_set, change);
        self.store(WatchEvent::DaemonSet(Arc::new(daemon_set)));
        self.record(by, change);
        Ok(())
    }

    /// Updates the status subresource; the resource version is a precondition.
    fn update_status(&mut self, reference: &ObjectRef, status: &DaemonSetStatus) -> Result<(), ApiError> {
        let version = self.new_version();
        let stored = self.objects.daemon_set.as_mut().ok_or(ApiError::NotFound)?;
        if stored.metadata.uid != reference.uid {
            return Err(ApiError::NotFound);
        }
        if stored.metadata.resource_version != reference.resource_version {
            return Err(ApiError::Conflict);
        }
        let daemon_set = Arc::make_mut(stored);
        daemon_set.status = status.clone();
        daemon_set.metadata.resource_version = version;
        let event = WatchEvent::DaemonSet(Arc::clone(stored));
        self.unsent.push(event);
        Ok(())
    }
}

/// Annotations with these set and removed.
pub(crate) fn patched(annotations: &Labels, patch: &BTreeMap<String, Option<String>>) -> Labels {
    let kept = annotations.iter().filter(|(key, _)| !patch.contains_key(*key));
    let set = patch.iter().filter_map(|(key, value)| Some((key.as_str(), value.as_deref()?)));
    kept.chain(set).collect()
}
