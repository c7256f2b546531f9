//! The statuses of containers, as kubelets write them.

use crate::environment::Environment;
use daemonset::model::{Container, ContainerStatus, Pod, Uid};

impl Environment {
    /// The containers of a pod run; those alone that are being changed, if any are. Each has another id, and was restarted if it ran
    /// before.
    pub(crate) fn containers_started(&mut self, uid: &Uid) {
        let Some(runtime) = self.runtimes.get_mut(uid).filter(|_| self.settings.runtime.is_some()) else {
            return;
        };
        let (changing, now) = (std::mem::take(&mut runtime.changing), self.now);
        self.change_pod(uid, |pod| {
            let Pod { metadata, spec, status } = pod;
            for Container { name, image, .. } in &spec.containers {
                if !changing.is_empty() && !changing.contains(name) {
                    continue;
                }
                let known = status.container_statuses.iter_mut().position(|status| status.name == *name);
                let restart_count = match known.and_then(|known| status.container_statuses.get(known)) {
                    Some(before) => before.restart_count + i32::from(!before.container_id.is_empty()),
                    None => 0,
                };
                let started = ContainerStatus {
                    name: name.clone(),
                    restart_count,
                    started_at: Some(now),
                    container_id: format!("containerd://{}-{name}-{restart_count}", metadata.uid),
                    image_id: image_id(image),
                    ..ContainerStatus::default()
                };
                match known.and_then(|known| status.container_statuses.get_mut(known)) {
                    Some(before) => *before = started,
                    None => status.container_statuses.push(started),
                }
            }
        });
    }

    /// A pod runs of which no kubelet has told the ids of its containers.
    pub(crate) fn adopt_containers(&mut self, uid: &Uid) {
        let tells = |pod: &Pod| {
            let statuses = &pod.status.container_statuses;
            !statuses.is_empty() && statuses.iter().all(|status| !status.container_id.is_empty())
        };
        if self.pod(uid).is_some_and(|pod| pod.status.phase == "Running" && !tells(pod)) {
            self.containers_started(uid);
        }
    }

    /// The containers of a pod do not run: none of them, or those alone that are being changed.
    pub(crate) fn end_containers(&mut self, uid: &Uid, how: impl Fn(&mut ContainerStatus, &str)) {
        let Some(runtime) = self.runtimes.get(uid) else { return };
        let changing = runtime.changing.clone();
        self.change_pod(uid, |pod| {
            for Container { name, image, .. } in &pod.spec.containers {
                if !changing.is_empty() && !changing.contains(name) {
                    continue;
                }
                let statuses = &mut pod.status.container_statuses;
                if !statuses.iter().any(|status| status.name == *name) {
                    statuses.push(ContainerStatus { name: name.clone(), ..ContainerStatus::default() });
                }
                let Some(status) = statuses.iter_mut().find(|status| status.name == *name) else { continue };
                (status.started_at, status.terminated_reason) = (None, None);
                status.waiting_reason.clear();
                how(status, image);
            }
        });
    }

    /// Writes the restarts of the container, and its reason to wait, into the pod's status.
    pub(crate) fn report_container(&mut self, uid: &Uid, waiting_reason: &str) {
        if self.settings.runtime.is_some() {
            let waits = waiting_reason.to_owned();
            return self.end_containers(uid, |status, _| status.waiting_reason.clone_from(&waits));
        }
        let Some(runtime) = self.runtimes.get(uid).filter(|_| self.settings.container_statuses) else {
            return;
        };
        let restart_count = i32::try_from(runtime.restarts).unwrap_or(i32::MAX);
        let waiting_reason = waiting_reason.to_owned();
        self.change_pod(uid, |pod| {
            pod.status.container_statuses =
                vec![ContainerStatus { restart_count, waiting_reason, ..ContainerStatus::default() }];
        });
    }
}

/// The id of an image: its digest, so that two names of one image have the same.
pub(crate) fn image_id(image: &str) -> String {
    match image.split_once('@') {
        Some((_, digest)) => digest.to_owned(),
        None => format!("sha256:{image}"),
    }
}
