//! The API server's side of the actions: what is asked for is done, or refused.

use super::event::Actor;
use super::needs::Needs;
use super::watch::Seen;
use super::world::{World, full_name};
use crate::action::Action;
use crate::kubernetes::canonical_json;
use crate::memory::ActionOutcome;
use crate::model::{ControllerRevision, DaemonSetStatus, ObjectRef, OwnerReference, Pod, Uid};
use crate::pod_manifest::PodManifest;
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;
use thiserror::Error;

/// Why the API server refuses a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(super) enum Refusal {
    /// There is no such object, or it is another one of that name.
    #[error("not found")]
    NotFound,
    /// It has changed since.
    #[error("conflict")]
    Conflict,
    /// There is one of that name already.
    #[error("already exists")]
    AlreadyExists,
    /// It is no object.
    #[error("invalid")]
    Invalid,
}

impl World {
    /// Does what an action asks for.
    pub(super) fn execute(&mut self, action: &Action) -> Result<ActionOutcome, Refusal> {
        match action {
            Action::AdoptPod { pod, .. } => self.adopt_pod(pod)?,
            Action::ReleasePod { pod, .. } => self.release_pod(pod)?,
            Action::LabelPod { pod, labels, .. } => {
                let uid = self.existing_pod(pod)?;
                self.change_pod(&uid, |pod| pod.metadata.labels.extend(labels.iter()));
            }
            Action::DeletePod { pod, reason, .. } => {
                // One that is not found is deleted.
                if let Ok(uid) = self.existing_pod(pod) {
                    self.delete_pod(Actor::Controller, &uid, Some(*reason));
                }
            }
            Action::CreatePod { pod, .. } => return Ok(ActionOutcome::Created(self.create_pod(pod)?)),
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
            Action::RenumberRevision { revision, number, .. } => {
                let uid = self.existing_revision(revision)?;
                self.change_revision(&uid, |revision| revision.revision = *number);
            }
            Action::DeleteRevision { revision, .. } => {
                if let Ok(uid) = self.existing_revision(revision) {
                    self.store(Seen::RevisionGone(uid));
                }
            }
            Action::UpdateStatus { daemon_set, status, .. } => self.update_status(daemon_set, status)?,
            Action::RecordEvent { .. } | Action::Requeue { .. } => {}
        }
        Ok(ActionOutcome::Done)
    }

    fn existing_pod(&self, reference: &ObjectRef) -> Result<Uid, Refusal> {
        let pod = self.pod(&reference.uid).ok_or(Refusal::NotFound)?;
        let same = pod.metadata.name == reference.name && pod.metadata.namespace == reference.namespace;
        if same { Ok(reference.uid.clone()) } else { Err(Refusal::Conflict) }
    }

    fn existing_revision(&self, reference: &ObjectRef) -> Result<Uid, Refusal> {
        let revision = self.objects.revisions.get(&reference.uid).ok_or(Refusal::NotFound)?;
        let same = revision.metadata.name == reference.name;
        if same { Ok(reference.uid.clone()) } else { Err(Refusal::Conflict) }
    }

    /// The reference that makes the DaemonSet an object's controller.
    fn owner(&self) -> Result<OwnerReference, Refusal> {
        Ok(self.objects.daemon_set.as_ref().ok_or(Refusal::NotFound)?.owner_reference())
    }

    fn adopt_pod(&mut self, reference: &ObjectRef) -> Result<(), Refusal> {
        let (uid, owner) = (self.existing_pod(reference)?, self.owner()?);
        let owned =
            self.pod(&uid).map(|pod| OwnerReference::controller_of(&pod.metadata.owner_references).is_some());
        if owned == Some(true) {
            return Err(Refusal::Conflict);
        }
        self.change_pod(&uid, |pod| pod.metadata.owner_references.push(owner));
        Ok(())
    }

    fn release_pod(&mut self, reference: &ObjectRef) -> Result<(), Refusal> {
        let (uid, owner) = (self.existing_pod(reference)?, self.owner()?);
        self.change_pod(&uid, |pod| pod.metadata.owner_references.retain(|other| other.uid != owner.uid));
        Ok(())
    }

    /// Names it, gives it a uid, and sends it to the scheduler.
    fn create_pod(&mut self, manifest: &PodManifest) -> Result<ObjectRef, Refusal> {
        let value = manifest.to_value();
        let mut pod = Pod::deserialize(&value).map_err(|_| Refusal::Invalid)?;
        let uid = self.new_uid();
        if pod.metadata.name.is_empty() {
            let prefix = value.pointer("/metadata/generateName").and_then(Value::as_str).unwrap_or_default();
            // The last digits of the uid are unique here.
            let suffix: String = uid.as_str().chars().skip(31).collect();
            pod.metadata.name = format!("{prefix}{suffix}");
        }
        if self.pod_names.contains(&full_name(&pod.metadata.namespace, &pod.metadata.name)) {
            return Err(Refusal::AlreadyExists);
        }
        pod.metadata.uid = uid;
        // Ten thousand pods of one revision have the same labels.
        pod.metadata.labels = self.versions.shared(manifest.revision_hash(), pod.metadata.labels);
        pod.metadata.creation_timestamp = Some(self.now);
        pod.status.phase = "Pending".to_owned();
        let known = self.versions.of(manifest.revision_hash());
        let mut needs = known.map(|(needs, _)| Needs::clone(&needs)).unwrap_or_else(|| Needs::of(&value));
        // Those of the pod itself: the controller adds tolerations to the template's.
        needs.tolerations = Needs::of(&value).tolerations;
        let uid = self.add_pod(Actor::Controller, pod, Some(needs));
        self.schedule_soon(&uid);
        self.pod_ref(&uid).ok_or(Refusal::Invalid)
    }

    /// A revision of the same name, owner and content is as good as a new one.
    fn create_revision(&mut self, manifest: &Value) -> Result<(), Refusal> {
        let mut revision = ControllerRevision::deserialize(manifest).map_err(|_| Refusal::Invalid)?;
        let owner = OwnerReference::controller_of(&revision.metadata.owner_references).map(str::to_owned);
        let same_name = |other: &&Arc<ControllerRevision>| {
            other.metadata.name == revision.metadata.name
                && other.metadata.namespace == revision.metadata.namespace
        };
        if let Some(other) = self.objects.revisions.values().find(same_name) {
            let same_owner =
                OwnerReference::controller_of(&other.metadata.owner_references) == owner.as_deref();
            let same = same_owner && canonical_json::equal(&other.data, &revision.data);
            return if same { Ok(()) } else { Err(Refusal::AlreadyExists) };
        }
        revision.metadata.uid = self.new_uid();
        revision.metadata.resource_version = self.new_version();
        revision.metadata.creation_timestamp = Some(self.now);
        let uid = revision.metadata.uid.clone();
        self.store(Seen::Revision(Arc::new(revision)));
        self.learn_version(&uid);
        Ok(())
    }

    /// The status subresource, with the resource version as precondition.
    fn update_status(&mut self, reference: &ObjectRef, status: &DaemonSetStatus) -> Result<(), Refusal> {
        let version = self.new_version();
        let stored = self.objects.daemon_set.as_mut().ok_or(Refusal::NotFound)?;
        if stored.metadata.uid != reference.uid {
            return Err(Refusal::NotFound);
        }
        if stored.metadata.resource_version != reference.resource_version {
            return Err(Refusal::Conflict);
        }
        let daemon_set = Arc::make_mut(stored);
        daemon_set.status = status.clone();
        daemon_set.metadata.resource_version = version;
        let seen = Seen::DaemonSet(Arc::clone(stored));
        self.outbox.push(seen);
        Ok(())
    }
}
