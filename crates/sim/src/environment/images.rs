//! Images on nodes: a kubelet pulls each of them once, whoever asks for it, and reports them in the status of its node.

use crate::environment::containers::image_id;
use crate::environment::{Environment, ImagePull, is_pull_pod};
use crate::event::{Actor, Change};
use crate::event_queue::{PodTransition, Timer, later};
use crate::probability::Distribution;
use crate::random::Purpose;
use crate::settings::{Behaviour, Runtime};
use daemonset::model::{Container, ContainerImage, NodeName, Pod, Uid};
use indexmap::IndexSet;
use jiff::SignedDuration;

/// The longest time after which a kubelet reports a change of its node's status (v1.36 `nodeStatusUpdateFrequency`).
const HEARTBEAT: SignedDuration = SignedDuration::from_secs(10);

impl Environment {
    /// How long the kubelet pulls before it starts these containers of a pod; an error if it can't pull.
    pub(crate) fn pull(
        &mut self,
        uid: &Uid,
        containers: &[Container],
    ) -> Result<SignedDuration, SignedDuration> {
        let Some(runtime) = self.runtimes.get(uid) else { return Ok(SignedDuration::ZERO) };
        let (node, revision) = (runtime.node.clone(), runtime.revision.clone());
        let Behaviour { pull, pull_fails, .. } = runtime.behaviour;
        let subject = [node.as_str(), revision.as_str()];
        let fails = pull_fails.sample(&mut self.random.stream(Purpose::PullFails, subject, 0));
        let Some(kubelet) = self.kubelets.get_mut(&node) else { return Ok(SignedDuration::ZERO) };
        let takes = || pull.sample(&mut self.random.stream(Purpose::Pull, subject, 0));
        if self.settings.runtime.is_none() {
            let delay = if kubelet.pulled.insert(revision.clone()) { takes() } else { SignedDuration::ZERO };
            return if fails { Err(delay) } else { Ok(delay) };
        }
        let images: IndexSet<&String> = containers.iter().map(|container| &container.image).collect();
        if fails && images.iter().any(|image| !kubelet.images.contains_key(*image)) {
            return Err(takes());
        }
        Ok(self.pull_each(&node, images.into_iter().cloned(), pull))
    }

    /// Pulls one image after the other, except for those that are there or on their way.
    fn pull_each(
        &mut self,
        node: &NodeName,
        images: impl Iterator<Item = String>,
        takes: Distribution,
    ) -> SignedDuration {
        let mut free_at = self.now;
        for image in images {
            let rng = &mut self.random.stream(Purpose::Pull, [node.as_str(), &image], 0);
            let (since, until) = (free_at, later(free_at, takes.sample(rng)));
            let Some(kubelet) = self.kubelets.get_mut(node) else { continue };
            let is_new = !kubelet.images.contains_key(&image);
            let pull = kubelet.images.entry(image.clone()).or_insert(ImagePull { since, until });
            free_at = free_at.max(pull.until);
            if is_new {
                self.queue.push(until, Timer::ImagePulled { node: node.clone(), image });
            }
        }
        free_at.duration_since(self.now)
    }

    /// An image is there, unless its pull was lost.
    pub(crate) fn image_pulled(&mut self, node: &NodeName, image: String) {
        let Some(kubelet) = self.kubelets.get(node) else { return };
        let Some(pull) = kubelet.images.get(&image).filter(|pull| pull.until == self.now).copied() else {
            return;
        };
        let rng = &mut self.random.stream(Purpose::Heartbeat, [node.as_str(), &image], 0);
        let report_in = Distribution::uniform(SignedDuration::ZERO, HEARTBEAT).sample(rng);
        self.queue.push(later(self.now, report_in), Timer::ReportImages(node.clone()));
        self.record(Actor::Environment, Change::ImagePulled { node: node.clone(), image, since: pull.since });
    }

    /// The kubelet writes the images that are there into the status of its node.
    pub(crate) fn report_images(&mut self, node: &NodeName) {
        let now = self.now;
        let Some(kubelet) = self.kubelets.get(node).filter(|kubelet| kubelet.up) else { return };
        let there = kubelet.images.iter().filter(|(_, pull)| pull.until <= now);
        let there: Vec<String> = there.map(|(image, _)| image.clone()).collect();
        self.change_node(node, |node| {
            let images = &mut node.status.images;
            for image in there {
                if !images.iter().any(|known| known.names.contains(&image)) {
                    images.push(ContainerImage { names: vec![image] });
                }
            }
        });
    }

    /// The images of a pod on a node are there: all of them, or those whose id the kubelet has told, or the node itself.
    pub(crate) fn adopt_images(&mut self, node: &NodeName, revision: &str, pod: &Pod, all: bool) {
        let known =
            self.objects.nodes.get(node).map(|node| node.status.images.as_slice()).unwrap_or_default();
        let has_id = |name: &str| {
            let mut statuses = pod.status.container_statuses.iter();
            statuses.any(|status| status.name == name && !status.image_id.is_empty())
        };
        let is_there = |Container { name, image, .. }: &Container| {
            all || has_id(name) || known.iter().any(|known| known.names.contains(image))
        };
        let (there, missing): (Vec<_>, Vec<_>) = pod.spec.containers.iter().partition(|it| is_there(it));
        let pull = ImagePull { since: self.now, until: self.now };
        let Some(kubelet) = self.kubelets.get_mut(node) else { return };
        if missing.is_empty() {
            kubelet.pulled.insert(revision.to_owned());
        }
        if self.settings.runtime.is_some() {
            for Container { image, .. } in there {
                kubelet.images.entry(image.clone()).or_insert(pull);
            }
        }
    }

    /// A pod that only pulls has pulled: no container of it can start.
    pub(crate) fn pulled_only(&mut self, uid: &Uid) {
        let Some(runtime) = self.settings.runtime else { return };
        self.end_containers(uid, |status, image| {
            status.image_id = image_id(image);
            match runtime {
                Runtime::Containerd => status.terminated_reason = Some("StartError".to_owned()),
                Runtime::CriO => status.waiting_reason = "CreateContainerError".to_owned(),
            }
        });
        if runtime == Runtime::Containerd {
            self.change_pod(uid, |pod| pod.status.phase = "Failed".into());
        }
    }

    /// A pod that only pulls has had its time.
    pub(crate) fn deadline_exceeded(&mut self, uid: &Uid) {
        if self.pod(uid).is_some_and(|pod| pod.status.phase != "Failed") {
            self.change_pod(uid, |pod| {
                pod.status.phase = "Failed".into();
                pod.status.reason = "DeadlineExceeded".to_owned();
            });
        }
    }

    /// Schedules the end of a pod that only pulls; `false` for each other pod.
    pub(crate) fn only_pulls(&mut self, uid: &Uid, pulled: Result<SignedDuration, SignedDuration>) -> bool {
        if self.settings.runtime.is_none() || !self.pod(uid).is_some_and(|pod| is_pull_pod(pod)) {
            return false;
        }
        let (delay, transition) = match pulled {
            Ok(delay) => (delay, PodTransition::PulledOnly),
            Err(delay) => (delay, PodTransition::PullFailed),
        };
        let Some(runtime) = self.runtimes.get(uid) else { return true };
        let (epoch, deadline) = (runtime.epoch, runtime.requirements.deadline);
        let mut after = |delay, transition| {
            self.queue.push(later(self.now, delay), Timer::Pod { uid: uid.clone(), epoch, transition });
        };
        after(delay, transition);
        if let Some(deadline) = deadline {
            after(deadline, PodTransition::DeadlineExceeded);
        }
        true
    }
}
