//! Pull pods and images on nodes, read apart from the planner.

use super::context::{Context, Goal};
use super::kind::ViolationKind;
use super::memories;
use super::names;
use super::violation::Findings;
use daemonset::internal::{NodeIx, Placement, Strategy};
use daemonset::kubernetes::ImageReference;
use daemonset::model::{ContainerStatus, Pod};
use daemonset::policy::PullPolicy;
use daemonset::{Action, CreateReason, PodView, Snapshot};
use jiff::SignedDuration;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A pull pod of the DaemonSet.
pub(super) struct Pull<'s> {
    pub(super) pod: &'s PodView<'s>,
    pub(super) node: Option<NodeIx>,
    /// The hash label of its revision.
    pub(super) hash: &'s str,
}

/// The pull pods of the DaemonSet.
pub(super) fn of_daemon_set<'s>(snapshot: &'s Snapshot<'s>) -> impl Iterator<Item = Pull<'s>> {
    let own = snapshot.pods().iter().filter(|pod| is_own(snapshot, pod));
    own.map(|pod| Pull {
        pod,
        node: pod.target.and_then(|node| snapshot.index().node(node)),
        hash: pod.labels.get("pull.daemonset/revision").unwrap_or_default(),
    })
}

/// Whether a pod pulls images for the DaemonSet: it has no controller, and names the DaemonSet in a label.
pub(super) fn is_own(snapshot: &Snapshot<'_>, pod: &PodView<'_>) -> bool {
    let metadata = &snapshot.spec().daemon_set.metadata;
    pod.controller.is_none()
        && pod.namespace == metadata.namespace
        && pod.labels.get("pull.daemonset/owner") == Some(metadata.uid.as_str())
}

/// The pull pods by their nodes and the hashes of their revisions, where a policy asks for them.
pub(super) fn by_node<'s>(snapshot: &'s Snapshot<'s>) -> BTreeMap<(NodeIx, &'s str), Vec<Pull<'s>>> {
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
pub(super) fn rules<'s>(snapshot: &'s Snapshot<'_>) -> Option<&'s PullPolicy> {
    let is_in_force = matches!(snapshot.spec().strategy, Strategy::Replace(_));
    snapshot.spec().policy.pull.as_ref().filter(|_| is_in_force)
}

impl Pull<'_> {
    fn is_over(&self, snapshot: &Snapshot<'_>, rules: &PullPolicy) -> bool {
        let time = SignedDuration::from_secs(rules.timeout_seconds.into());
        let end = self.pod.created_at.and_then(|at| at.checked_add(time).ok());
        end.is_some_and(|end| end <= snapshot.now())
    }

    /// It still takes a place of `parallel`.
    fn pulls(&self, snapshot: &Snapshot<'_>, rules: &PullPolicy) -> bool {
        let object = self.pod.object.model();
        let is_done = object.spec.containers.iter().all(|container| has_image(&object, &container.name));
        self.pod.deleted_at.is_none() && !is_done && !self.is_over(snapshot, rules)
    }
}

/// Whether a pull pod shows that the image of a container is on the node.
fn has_image(pod: &Pod, container: &str) -> bool {
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

/// A Ready pod stays until the images of its successor are on the node, or nobody waits for them any more.
pub(super) fn waits(context: &Context<'_>, node: NodeIx) -> Option<ViolationKind> {
    let rules = rules(context.snapshot)?;
    (!is_pulled(context, node, rules)).then_some(ViolationKind::NotPulled)
}

fn is_pulled(context: &Context<'_>, node: NodeIx, rules: &PullPolicy) -> bool {
    let snapshot = context.snapshot;
    let Goal { template, hash, .. } = context.goal_of(node);
    let images = images(template);
    let on_node = &snapshot.node(node).object.model().status.images;
    let is_there = |(image, policy): &(String, String)| {
        let reference = ImageReference::split(image);
        let always = policy == "Always" || (policy.is_empty() && reference.is_latest());
        on_node.iter().any(|known| known.names.contains(image)) && (!always || reference.digest.is_some())
    };
    let shows = |pull: &Pull<'_>| {
        let object = pull.pod.object.model();
        pull.is_over(snapshot, rules)
            || (0..images.len()).all(|index| has_image(&object, &format!("image-{index}")))
    };
    images.iter().all(is_there)
        || memories::is_pull_refused(snapshot, &names::of_pull(snapshot, snapshot.node(node).name, hash))
        || context.pulls.get(&(node, hash)).into_iter().flatten().any(shows)
}

/// The distinct images of a template with their first pull policy, but for those that are never pulled.
pub(super) fn images(template: &Value) -> Vec<(String, String)> {
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

/// Checks how many nodes pull at a time, that each is a target node, and that it pulls the images of a revision once.
pub(super) fn check(context: &Context<'_>, desired: u32, findings: &mut Findings<'_>) {
    let snapshot = context.snapshot;
    let creates = context.actions.iter().enumerate().filter_map(|(index, action)| match action {
        Action::CreatePod { node, pod, reason: CreateReason::PullImages, .. } => Some((index, node, pod)),
        _ => None,
    });
    let mut creates = creates.peekable();
    if creates.peek().is_none() {
        return;
    }
    let Some(rules) = rules(snapshot) else {
        creates.for_each(|(index, ..)| {
            findings.add(index, ViolationKind::TooManyPulls { pulling: 1, limit: 0 })
        });
        return;
    };
    let limit = super::limits::nodes(rules.parallel, desired);
    let pulling = of_daemon_set(snapshot).filter(|pull| pull.pulls(snapshot, rules)).count();
    let mut known: BTreeSet<(Option<&str>, &str)> =
        of_daemon_set(snapshot).map(|pull| (pull.pod.target, pull.hash)).collect();
    let mut pulling = pulling as u32 + memories::unseen_pulls(snapshot);
    for (index, node, pod) in creates {
        pulling += 1;
        let place = snapshot.index().node(node.as_str());
        let is_target = place.is_some_and(|node| context.goals.placement(node) == Placement::Run);
        if !is_target {
            findings.add(index, ViolationKind::NotTargetNode);
        } else if !known.insert((Some(node.as_str()), pod.revision_hash())) {
            findings.add(index, ViolationKind::SecondCreate);
        } else if pulling > limit {
            findings.add(index, ViolationKind::TooManyPulls { pulling, limit });
        }
    }
}
