//! Operations of a user on the DaemonSet and on pods.

use super::Cluster;
use super::rollout::steering_changes;
use crate::environment::generations::{TemplateChange, raise_generations, spec_changed};
use crate::event::{Actor, Change, PodTrouble};
use crate::requirements::PodRequirements;
use crate::settings::Behaviour;
use crate::watch::WatchEvent;
use daemonset::kubernetes::well_known::TEMPLATE_GENERATION_ANNOTATION;
use daemonset::model::{DaemonSet, Pod, Uid};
use serde_json::Value;
use std::sync::Arc;

impl Cluster {
    /// Creates the DaemonSet. As in the API server, it gets a uid, and its generation and template generation start at
    /// 1.
    pub fn create_daemon_set(&mut self, mut daemon_set: DaemonSet) {
        let metadata = &mut daemon_set.metadata;
        if metadata.uid.as_str().is_empty() {
            metadata.uid = self.environment.new_uid();
        }
        metadata.generation = 1;
        metadata.creation_timestamp = Some(self.environment.now);
        if !metadata.annotations.contains_key(TEMPLATE_GENERATION_ANNOTATION) {
            metadata.annotations = metadata.annotations.with(TEMPLATE_GENERATION_ANNOTATION, "1");
        }
        let change = spec_changed(&daemon_set, TemplateChange::New);
        self.put(daemon_set, change);
    }

    /// Edits the DaemonSet. As in the API server, a changed spec raises the generation, a changed template raises the
    /// template generation, and the status stays.
    pub fn edit(&mut self, edit: impl FnOnce(&mut DaemonSet)) {
        let Some(stored) = self.daemon_set().cloned() else { return };
        let mut daemon_set = stored.clone();
        edit(&mut daemon_set);
        daemon_set.status = stored.status.clone();
        daemon_set.metadata.uid = stored.metadata.uid.clone();
        let change = raise_generations(&stored, &mut daemon_set);
        let steered = steering_changes(&stored.metadata.annotations, &daemon_set.metadata.annotations);
        if daemon_set.spec == stored.spec && !steered.is_empty() {
            self.put(daemon_set, Change::RolloutSteered { annotations: steered });
        } else if daemon_set != stored {
            let change = spec_changed(&daemon_set, change);
            self.put(daemon_set, change);
        }
    }

    /// Edits the template, and sets the behaviour of the pods of the new version.
    pub fn release(&mut self, behaviour: Behaviour, edit: impl FnOnce(&mut Value)) {
        let Some(mut template) = self.daemon_set().map(|ds| ds.spec.template.clone()) else { return };
        edit(&mut template);
        self.set_behaviour(&template, behaviour);
        self.edit(|ds| ds.spec.template = template);
    }

    /// Sets the behaviour of the pods of a template that are created from now on.
    pub fn set_behaviour(&mut self, template: &Value, behaviour: Behaviour) {
        self.environment.versions.set_behaviour(template.clone(), behaviour);
        let known: Vec<Uid> = self.environment.objects.revisions.keys().cloned().collect();
        for uid in known {
            self.environment.read_version(&uid);
        }
    }

    fn put(&mut self, mut daemon_set: DaemonSet, change: Change) {
        daemon_set.metadata.resource_version = self.environment.new_version();
        self.environment.store(WatchEvent::DaemonSet(Arc::new(daemon_set)));
        self.environment.record(Actor::User, change);
        self.send();
    }

    /// Creates a pod from its manifest, such as a pod of another owner. The scheduler gets it unless it is bound.
    ///
    /// # Errors
    /// If the manifest is not a pod.
    pub fn add_pod(&mut self, manifest: &Value) -> Result<Uid, serde_json::Error> {
        let mut pod: Pod = serde_json::from_value(manifest.clone())?;
        pod.metadata.creation_timestamp.get_or_insert(self.environment.now);
        let started = !pod.status.phase.is_empty();
        if !started {
            pod.status.phase = "Pending".into();
        }
        let bound = pod.is_bound();
        let requirements = Arc::new(PodRequirements::from_template(manifest));
        let uid = self.environment.add_pod(Actor::User, pod, Some(requirements));
        match (bound, started) {
            (false, _) => self.environment.enqueue_for_scheduling(&uid),
            (true, false) => self.environment.start(&uid),
            (true, true) => self.environment.adopt_started_pod(&uid),
        }
        self.send();
        Ok(uid)
    }

    /// Edits an annotation of a revision by hand, or removes it.
    pub fn annotate_revision(&mut self, name: &str, key: &str, value: Option<&str>) {
        let revisions = &self.environment.objects.revisions;
        let named = revisions.iter().find(|(_, revision)| revision.metadata.name == name);
        let Some(uid) = named.map(|(uid, _)| uid.clone()) else { return };
        self.environment.change_revision(&uid, |revision| {
            let others = revision.metadata.annotations.iter().filter(|(other, _)| *other != key);
            revision.metadata.annotations = others.chain(value.map(|value| (key, value))).collect();
        });
        self.send();
    }

    /// Deletes a pod, with its grace period.
    pub fn delete_pod(&mut self, uid: &Uid) {
        self.environment.delete_pod(Actor::User, uid, None);
        self.send();
    }

    /// Evicts a pod as a kubelet under resource pressure does: its phase becomes Failed.
    pub fn evict_pod(&mut self, uid: &Uid) {
        self.environment.fail(uid, PodTrouble::Evicted);
        self.send();
    }

    /// Crashes a pod's container: the pod becomes not Ready, and the kubelet restarts it after a back-off.
    pub fn crash_pod(&mut self, uid: &Uid) {
        self.environment.crash_pod(uid);
        self.send();
    }

    /// Removes all finalizers of a pod.
    pub fn remove_finalizers(&mut self, uid: &Uid) {
        self.environment.finalize(uid);
        self.send();
    }
}
