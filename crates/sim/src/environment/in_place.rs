//! Pods that are changed in their place: the kubelet ends the containers whose image is new, pulls, and starts them.

use crate::environment::Environment;
use crate::environment::api_server::{ApiError, patched};
use crate::environment::pod_lifecycle::is_ready;
use crate::event::{Actor, Change, PodIdentity};
use crate::event_queue::{PodTransition, Timer, later};
use crate::random::Purpose;
use daemonset::DeleteReason;
use daemonset::model::{Container, ObjectRef, Pod, Uid};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Environment {
    /// Applies the strategic merge patch of a change in place.
    pub(crate) fn update_in_place(
        &mut self,
        reference: &ObjectRef,
        patch: &Value,
        by: (Actor, DeleteReason),
    ) -> Result<ObjectRef, ApiError> {
        let uid = self.existing_pod(reference)?;
        let mut changed = Vec::new();
        self.change_pod(&uid, |pod| changed = apply(pod, patch));
        let reference = self.pod_ref(&uid).ok_or(ApiError::NotFound)?;
        self.change_containers(&uid, changed, by);
        Ok(reference)
    }

    /// The kubelet sees that these containers of a pod should run another image.
    fn change_containers(&mut self, uid: &Uid, changed: Vec<String>, (by, reason): (Actor, DeleteReason)) {
        let key = &self.settings.controller.policy.unique_label_key;
        let Some(pod) = self.objects.pods.get(uid) else { return };
        let revision = pod.metadata.labels.get(key).unwrap_or_default().to_owned();
        let (name, was_ready) = (pod.metadata.name.clone(), is_ready(pod));
        let known = self.versions.get(&revision).map(|(_, behaviour)| behaviour);
        let is_ending = self.is_ending(uid);
        let Some(runtime) = self.runtimes.get_mut(uid) else { return };
        if runtime.revision != revision {
            runtime.revision.clone_from(&revision);
            runtime.behaviour = known.unwrap_or(self.settings.behaviour);
            runtime.restarts = 0;
            if let Some(kubelet) = self.kubelets.get_mut(&runtime.node) {
                let attempts = kubelet.attempts.entry(revision.clone()).or_default();
                *attempts += 1;
                runtime.attempt = *attempts;
            }
        }
        let node = runtime.node.clone();
        if runtime.identity.is_some() {
            let (node, uid) = (node.clone(), uid.clone());
            runtime.identity = Some(Arc::new(PodIdentity { node, pod: name, uid, revision }));
        }
        let is_up = self.kubelets.get(&node).is_some_and(|kubelet| kubelet.up);
        if changed.is_empty() || is_ending {
            return;
        }
        let subject = [node.as_str(), runtime.revision.as_str()];
        let draw = |purpose| self.random.stream(purpose, subject, runtime.attempt);
        runtime.epoch += 1;
        runtime.keeps_ready =
            was_ready && runtime.behaviour.keeps_ready.sample(&mut draw(Purpose::KeepsReady));
        runtime.changing.extend(changed);
        if is_up && runtime.started {
            let stop =
                runtime.behaviour.stop.sample(&mut draw(Purpose::Stop)).min(runtime.requirements.grace);
            let (epoch, transition) = (runtime.epoch, PodTransition::Killed);
            self.queue.push(later(self.now, stop), Timer::Pod { uid: uid.clone(), epoch, transition });
        }
        self.record_pod(by, uid, |pod| Change::PodChanged { pod, reason: Some(reason) });
    }

    /// The old containers have ended: the kubelet pulls, and starts the new ones.
    pub(crate) fn killed(&mut self, uid: &Uid) {
        let Some(runtime) = self.runtimes.get(uid) else { return };
        if !runtime.keeps_ready {
            self.set_ready(uid, false);
            self.end_containers(uid, |status, _| status.terminated_reason = Some("Completed".to_owned()));
        }
        self.start_containers(uid);
    }
}

/// Applies the patch: labels, annotations, and images by the names of their containers. Returns the containers with another image.
fn apply(pod: &mut Pod, patch: &Value) -> Vec<String> {
    let members = |field: &str| -> BTreeMap<String, Option<String>> {
        let found = patch.get("metadata").and_then(|metadata| metadata.get(field));
        found.and_then(|found| BTreeMap::deserialize(found).ok()).unwrap_or_default()
    };
    pod.metadata.labels = patched(&pod.metadata.labels, &members("labels"));
    pod.metadata.annotations = patched(&pod.metadata.annotations, &members("annotations"));
    let containers =
        patch.pointer("/spec/containers").and_then(|found| Vec::<Container>::deserialize(found).ok());
    let mut changed = Vec::new();
    for Container { name, image, .. } in containers.into_iter().flatten() {
        if let Some(own) = pod.spec.containers.iter_mut().find(|own| own.name == name && own.image != image) {
            own.image = image;
            changed.push(name);
        }
    }
    changed
}
