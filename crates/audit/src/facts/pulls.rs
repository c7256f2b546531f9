//! Pull pods and the images that they pull, read apart from the planner.

use crate::facts::strategy::Strategy;
use daemonset::internal::NodeIx;
use daemonset::model::{ContainerStatus, Pod};
use daemonset::policy::PullPolicy;
use daemonset::{PodView, Snapshot};
use jiff::SignedDuration;
use serde_json::Value;
use std::collections::BTreeMap;

/// A pull pod of the DaemonSet.
pub(crate) struct Pull<'s> {
    pub(crate) pod: &'s PodView<'s>,
    pub(crate) node: Option<NodeIx>,
    /// The hash label of its revision.
    pub(crate) hash: &'s str,
}

/// The pull pods of the DaemonSet.
pub(crate) fn of_daemon_set<'s>(snapshot: &'s Snapshot<'s>) -> impl Iterator<Item = Pull<'s>> {
    let own = snapshot.pods().iter().filter(|pod| is_own(snapshot, pod));
    own.map(|pod| Pull {
        pod,
        node: pod.target.and_then(|node| snapshot.index().node(node)),
        hash: pod.labels.get("pull.daemonset/revision").unwrap_or_default(),
    })
}

/// Whether a pod pulls images for the DaemonSet: it has no controller, and names the DaemonSet in a label.
pub(crate) fn is_own(snapshot: &Snapshot<'_>, pod: &PodView<'_>) -> bool {
    let metadata = &snapshot.spec().daemon_set.metadata;
    pod.controller.is_none()
        && pod.namespace == metadata.namespace
        && pod.labels.get("pull.daemonset/owner") == Some(metadata.uid.as_str())
}

/// The pull pods by their nodes and the hashes of their revisions, where a policy asks for them.
pub(crate) fn by_node<'s>(snapshot: &'s Snapshot<'s>) -> BTreeMap<(NodeIx, &'s str), Vec<Pull<'s>>> {
    let mut pulls: BTreeMap<_, Vec<Pull<'s>>> = BTreeMap::new();
    if rules(snapshot).is_some() {
        for pull in of_daemon_set(snapshot) {
            if let Some(node) = pull.node {
                pulls.entry((node, pull.hash)).or_default().push(pull);
            }
        }
    }
    pulls
}

/// The rules of pulls, where the policy has them in force.
pub(crate) fn rules<'s>(snapshot: &'s Snapshot<'_>) -> Option<&'s PullPolicy> {
    let is_in_force = matches!(Strategy::in_force(snapshot), Strategy::Replace(_));
    snapshot.spec().policy.pull.as_ref().filter(|_| is_in_force)
}

impl Pull<'_> {
    pub(crate) fn is_over(&self, snapshot: &Snapshot<'_>, rules: &PullPolicy) -> bool {
        let time = SignedDuration::from_secs(rules.timeout_seconds.into());
        let end = self.pod.created_at.and_then(|at| at.checked_add(time).ok());
        end.is_some_and(|end| end <= snapshot.now())
    }

    /// It still takes a place of `parallel`.
    pub(crate) fn pulls(&self, snapshot: &Snapshot<'_>, rules: &PullPolicy) -> bool {
        let object = self.pod.object.model();
        let is_done = object.spec.containers.iter().all(|container| has_image(&object, &container.name));
        self.pod.deleted_at.is_none() && !is_done && !self.is_over(snapshot, rules)
    }
}

/// Whether a pull pod shows that the image of a container is on the node.
pub(crate) fn has_image(pod: &Pod, container: &str) -> bool {
    let before_its_image = |reason: &str| {
        [
            "",
            "ContainerCreating",
            "PodInitializing",
            "ErrImagePull",
            "ImagePullBackOff",
            "ImageInspectError",
            "InvalidImageName",
            "ErrImageNeverPull",
            "RegistryUnavailable",
            "SignatureValidationFailed",
        ]
        .contains(&reason)
    };
    let shows = |status: &ContainerStatus| {
        let has_ended =
            status.terminated_reason.as_deref().is_some_and(|reason| reason != "ContainerStatusUnknown");
        !status.image_id.is_empty() || has_ended || !before_its_image(&status.waiting_reason)
    };
    let mut statuses = pod.status.container_statuses.iter();
    statuses.find(|status| status.name == container).is_some_and(shows)
}

/// The distinct images of a template with their first pull policy, but for those that are never pulled.
pub(crate) fn images(template: &Value) -> Vec<(String, String)> {
    let text = |container: &Value, field| {
        container.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let mut images: Vec<(String, String)> = Vec::new();
    for list in ["/spec/initContainers", "/spec/containers"] {
        for container in template.pointer(list).and_then(Value::as_array).into_iter().flatten() {
            let image = text(container, "image");
            if !image.is_empty() && images.iter().all(|(known, _)| *known != image) {
                images.push((image, text(container, "imagePullPolicy")));
            }
        }
    }
    images.retain(|(_, policy)| policy != "Never");
    images
}
