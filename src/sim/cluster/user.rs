//! What a person does with the DaemonSet and its pods.

use super::Cluster;
use crate::kubernetes::well_known::TEMPLATE_GENERATION_ANNOTATION;
use crate::model::{DaemonSet, Pod, Uid};
use crate::sim::event::{Actor, Change};
use crate::sim::needs::Needs;
use crate::sim::settings::Behaviour;
use crate::sim::watch::Seen;
use serde_json::Value;
use std::sync::Arc;

impl Cluster {
    /// Creates the DaemonSet as the API server does: uid, generation and template generation begin.
    pub fn install(&mut self, mut daemon_set: DaemonSet) {
        let metadata = &mut daemon_set.metadata;
        if metadata.uid.as_str().is_empty() {
            metadata.uid = self.world.new_uid();
        }
        metadata.generation = 1;
        metadata.creation_timestamp = Some(self.world.now);
        if !metadata.annotations.contains_key(TEMPLATE_GENERATION_ANNOTATION) {
            metadata.annotations = metadata.annotations.with(TEMPLATE_GENERATION_ANNOTATION, "1");
        }
        self.put(daemon_set, TemplateChange::New);
    }

    /// Changes the DaemonSet as the API server lets a person do: a changed spec raises the generation, a changed template
    /// the template generation; the status stays.
    pub fn edit(&mut self, edit: impl FnOnce(&mut DaemonSet)) {
        let Some(stored) = self.daemon_set().cloned() else { return };
        let mut daemon_set = stored.clone();
        edit(&mut daemon_set);
        daemon_set.status = stored.status.clone();
        daemon_set.metadata.uid = stored.metadata.uid.clone();
        let mut change = TemplateChange::Same;
        if daemon_set.spec != stored.spec {
            daemon_set.metadata.generation = stored.metadata.generation + 1;
        }
        if daemon_set.spec.template != stored.spec.template {
            change = TemplateChange::New;
            let annotations = &mut daemon_set.metadata.annotations;
            let generation =
                annotations.get(TEMPLATE_GENERATION_ANNOTATION).and_then(|text| text.parse::<i64>().ok());
            if let Some(generation) = generation {
                *annotations =
                    annotations.with(TEMPLATE_GENERATION_ANNOTATION, &(generation + 1).to_string());
            }
        }
        if daemon_set != stored {
            self.put(daemon_set, change);
        }
    }

    /// Edits the template, and says how pods of the new version will behave.
    pub fn release(&mut self, behaviour: Behaviour, edit: impl FnOnce(&mut Value)) {
        let Some(mut template) = self.daemon_set().map(|ds| ds.spec.template.clone()) else { return };
        edit(&mut template);
        self.behave(&template, behaviour);
        self.edit(|ds| ds.spec.template = template);
    }

    /// Says how pods of a template behave that are created from now on.
    pub fn behave(&mut self, template: &Value, behaviour: Behaviour) {
        self.world.versions.expect(template.clone(), behaviour);
        let known: Vec<Uid> = self.world.objects.revisions.keys().cloned().collect();
        for uid in known {
            self.world.learn_version(&uid);
        }
    }

    fn put(&mut self, mut daemon_set: DaemonSet, change: TemplateChange) {
        daemon_set.metadata.resource_version = self.world.new_version();
        let told = Change::DaemonSetChanged {
            generation: daemon_set.metadata.generation,
            template_changed: change == TemplateChange::New,
            spec: Box::new(daemon_set.spec.clone()),
        };
        self.world.store(Seen::DaemonSet(Arc::new(daemon_set)));
        self.world.tell(Actor::User, told);
        self.send();
    }

    /// Puts a pod into the cluster, as whoever owns it does; it is scheduled if it is not bound.
    pub fn add_pod(&mut self, manifest: &Value) -> Result<Uid, serde_json::Error> {
        let mut pod: Pod = serde_json::from_value(manifest.clone())?;
        pod.metadata.creation_timestamp.get_or_insert(self.world.now);
        let started = !pod.status.phase.is_empty();
        if !started {
            pod.status.phase = "Pending".to_owned();
        }
        let bound = pod.is_bound();
        let uid = self.world.add_pod(Actor::User, pod, Some(Needs::of(manifest)));
        match (bound, started) {
            (false, _) => self.world.schedule_soon(&uid),
            (true, false) => self.world.start(&uid),
            (true, true) => self.world.take_up(&uid),
        }
        self.send();
        Ok(uid)
    }

    /// Deletes a pod, with its grace period.
    pub fn delete_pod(&mut self, uid: &Uid) {
        self.world.delete_pod(Actor::User, uid, None);
        self.send();
    }

    /// Evicts a pod as a kubelet does that is short of something: it ends as Failed.
    pub fn fail_pod(&mut self, uid: &Uid) {
        self.world.fail(uid);
        self.send();
    }

    /// Ends a pod's readiness; it crashed by itself, and the kubelet starts it again.
    pub fn crash_pod(&mut self, uid: &Uid) {
        self.world.crash_pod(uid);
        self.send();
    }

    /// Takes the finalizers from a pod.
    pub fn finalize_pod(&mut self, uid: &Uid) {
        self.world.finalize(uid);
        self.send();
    }
}

/// Whether an edit touched the template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TemplateChange {
    New,
    Same,
}
