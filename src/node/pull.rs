//! Images that are pulled on a node before its pod is taken.

use crate::input::Snapshot;
use crate::input::pod_wants::Image;
use crate::input::policy::PullPolicy;
use crate::input::spec::Spec;
use crate::input::strategy::Strategy;
use crate::position::{NodeIx, PodIx, enumerate};
use daemonset_objects::PodView;
use daemonset_objects::internal::{cut_name, name_hash};
use daemonset_objects::kubernetes::well_known::{PULL_OWNER_LABEL, PULL_REVISION_LABEL};
use daemonset_objects::model::{ContainerImage, ContainerStatus, Pod};
use jiff::{SignedDuration, Timestamp};

/// A pull pod of the DaemonSet.
#[derive(Debug, Clone, Copy)]
pub struct PullPod<'a> {
    pub view: &'a PodView<'a>,
    pub node: Option<NodeIx>,
    /// The hash label of its revision.
    pub hash: &'a str,
    /// It pulls the images of the current revision.
    pub is_current: bool,
    /// Its deletion was asked for.
    pub is_terminating: bool,
}

/// The rules of pulls; `None` where they have no effect: another pod beside the old one pulls by itself, and a person needs no order.
pub(crate) fn rules<'a>(snapshot: &'a Snapshot<'_>) -> Option<&'a PullPolicy> {
    match snapshot.spec.strategy {
        Strategy::Replace(_) => snapshot.spec.policy.pull.as_ref(),
        Strategy::OnDelete | Strategy::Surge { .. } => None,
    }
}

/// The pull pods of the DaemonSet, by node; those of one node from the oldest on, whatever the order of the list.
pub(crate) fn pull_pods<'a>(snapshot: &'a Snapshot<'a>, current_hash: &str) -> Vec<PullPod<'a>> {
    let metadata = &snapshot.spec.daemon_set.metadata;
    let pods = enumerate::<PodIx, _>(&snapshot.pods);
    // Their namespace and their owner first: few pods of a namespace have no controller.
    let pods = pods.filter(|(_, view)| view.controller.is_none() && view.namespace == metadata.namespace);
    let of_owner = |view: &PodView<'_>| view.labels.get(PULL_OWNER_LABEL) == Some(metadata.uid.as_str());
    let pods = pods.filter(|(_, view)| of_owner(view));
    let pods = pods.map(|(_, view)| {
        let hash = view.labels.get(PULL_REVISION_LABEL).unwrap_or_default();
        PullPod {
            view,
            node: view.target.and_then(|node| snapshot.index.node(node)),
            hash,
            is_current: hash == current_hash,
            is_terminating: view.deleted_at.is_some(),
        }
    });
    let mut pods: Vec<PullPod<'_>> = pods.collect();
    pods.sort_unstable_by_key(|pod| (pod.node, pod.view.created_at, pod.view.name));
    pods
}

impl PullPod<'_> {
    /// When its time is over; `None` for an unknown creation.
    pub(crate) fn ends_at(&self, rules: &PullPolicy) -> Option<Timestamp> {
        self.view.created_at?.checked_add(SignedDuration::from_secs(rules.timeout_seconds.into())).ok()
    }

    /// Whether its time is over.
    pub(crate) fn is_late(&self, rules: &PullPolicy, now: Timestamp) -> bool {
        self.ends_at(rules).is_some_and(|at| at <= now)
    }

    /// Whether it has pulled each of its own images.
    pub(crate) fn is_done(&self) -> bool {
        let pod = self.view.object.model();
        pod.spec.containers.iter().all(|container| has_pulled(&pod, &container.name))
    }
}

/// Whether a pull pod shows that an image is there.
fn has_pulled(pod: &Pod, container: &str) -> bool {
    let status = pod.status.container_statuses.iter().find(|status| status.name == container);
    status.is_some_and(ends_its_pull)
}

/// An image has its id once it is there. Each reason after its pull, in whatever words of a runtime, tells the same.
fn ends_its_pull(status: &ContainerStatus) -> bool {
    let is_terminated =
        status.terminated_reason.as_ref().is_some_and(|reason| reason != "ContainerStatusUnknown");
    let waits = status.waiting_reason.as_str();
    !status.image_id.is_empty() || is_terminated || !(waits.is_empty() || PULLING.contains(&waits))
}

/// The reasons for which a container waits before its image is there (v1.36 `kubelet/images/types.go`, `kubelet_pods.go`).
const PULLING: [&str; 9] = [
    "ContainerCreating",
    "PodInitializing",
    "ErrImagePull",
    "ImagePullBackOff",
    "ImageInspectError",
    "InvalidImageName",
    "ErrImageNeverPull",
    "RegistryUnavailable",
    "SignatureValidationFailed",
];

/// Whether a node has the images of a revision, or its time to pull them is over.
pub(crate) fn is_pulled<'p>(
    snapshot: &Snapshot<'_>,
    rules: &PullPolicy,
    node: NodeIx,
    images: &[Image],
    mut pods: impl Iterator<Item = &'p PullPod<'p>>,
) -> bool {
    images.is_empty()
        || are_on(images, &snapshot.node(node).object.images())
        || pods.any(|pod| {
            let object = pod.view.object.model();
            let has_each = (0..images.len()).all(|index| has_pulled(&object, &container_name(index)));
            has_each || pod.is_late(rules, snapshot.now)
        })
}

/// Whether the node's status names all of them, so that each start finds them there.
fn are_on(images: &[Image], on_node: &[ContainerImage]) -> bool {
    images.iter().all(|image| image.is_on(on_node))
}

/// The images that a node which is not pulled waits for: those that its pull pod has not pulled, or without one all that the node lacks.
pub(crate) fn missing<'i>(
    snapshot: &Snapshot<'_>,
    node: NodeIx,
    images: &'i [Image],
    pod: Option<&PullPod<'_>>,
) -> Vec<&'i str> {
    let on_node = snapshot.node(node).object.images();
    let object = pod.map(|pod| pod.view.object.model());
    let lacks = |(index, image): &(usize, &Image)| match &object {
        Some(object) => !has_pulled(object, &container_name(*index)),
        None => !image.is_on(&on_node),
    };
    images.iter().enumerate().filter(lacks).map(|(_, image)| image.reference.as_str()).collect()
}

/// The name of the container that pulls the image at an index.
pub(crate) fn container_name(index: usize) -> String {
    format!("image-{index}")
}

/// A name has 63 characters: these, `-pull-`, and the ten letters of the hash.
const LONGEST_PREFIX: usize = 47;

/// The name of the pull pod of a node and a revision.
pub fn pod_name(spec: &Spec<'_>, node: &str, hash: &str) -> String {
    format!("{}{}", pod_name_prefix(spec), name_hash([hash, node]))
}

/// The beginning of the names of all pull pods.
pub fn pod_name_prefix(spec: &Spec<'_>) -> String {
    format!("{}-pull-", cut_name(&spec.daemon_set.metadata.name, LONGEST_PREFIX))
}
