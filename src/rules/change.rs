//! Whether the update may change a pod in its place instead of deleting it.

use crate::input::policy::InPlacePolicy;
use crate::node::fleet::{Fleet, FleetPod};
use crate::pods::history::{History, RevisionRole};
use crate::position::NodeIx;
use crate::rules::in_place::ImageChanges;
use daemonset_objects::RevisionView;
use daemonset_objects::internal::{Phase, revision};
use daemonset_objects::kubernetes::canonical_json;
use daemonset_objects::model::Container;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Whether the update may change a pod in its place instead of deleting it: nothing but images, labels and annotations is new.
pub(crate) fn is_possible(fleet: &Fleet<'_>, history: &History<'_>, node: NodeIx, pod: &FleetPod) -> bool {
    changed_containers(fleet, history, node, pod).is_some()
}

/// When a change in place is tried again that nothing but a refusal forbids.
pub(crate) fn retried_at(
    fleet: &Fleet<'_>,
    history: &History<'_>,
    node: NodeIx,
    pod: &FleetPod,
) -> Option<Timestamp> {
    let until = refused_until(fleet, pod)?;
    wanted_containers(fleet, history, node, pod).map(|_| until)
}

fn refused_until(fleet: &Fleet<'_>, pod: &FleetPod) -> Option<Timestamp> {
    fleet.snapshot.memory.as_ref()?.in_place_refused_until(fleet.view(pod).uid, fleet.snapshot.now)
}

/// The containers whose images are new, in the order of the goal's template, with these images; `None` where the pod must be deleted.
pub(crate) fn changed_containers(
    fleet: &Fleet<'_>,
    history: &History<'_>,
    node: NodeIx,
    pod: &FleetPod,
) -> Option<Vec<Container>> {
    if refused_until(fleet, pod).is_some() {
        return None;
    }
    wanted_containers(fleet, history, node, pod)
}

/// The same, whether such a change was refused or not.
fn wanted_containers(
    fleet: &Fleet<'_>,
    history: &History<'_>,
    node: NodeIx,
    pod: &FleetPod,
) -> Option<Vec<Container>> {
    // The cheap questions first: few pods pass them, and need a comparison of templates and their whole object.
    let snapshot = fleet.snapshot;
    let view = fleet.view(pod);
    if snapshot.spec.policy.in_place == InPlacePolicy::Never || fleet.is_surge() {
        return None;
    }
    let is_only = fleet.pods_of(node).filter(|(_, other)| other.is_live()).count() == 1;
    let runs = view.bound && view.phase == Phase::Running;
    let settles = fleet.in_place(pod).is_some_and(|in_place| in_place.settles);
    if !is_only || !runs || settles {
        return None;
    }
    if !is_change_of_images(fleet, history, node, pod) {
        return None;
    }
    let goal = goal_template(fleet, node);
    let object = view.object.model();
    let wanted: Vec<Container> = Vec::deserialize(goal.pointer("/spec/containers")?).ok()?;
    let mut changed = Vec::new();
    for container in wanted {
        let own = object.spec.containers.iter().find(|own| own.name == container.name)?;
        if own.image == container.image {
            continue;
        }
        // Without the id of the old container, an id that shows up later may be its own, and would count as that of a new one.
        let status = object.status.container_statuses.iter().find(|status| status.name == container.name)?;
        if status.container_id.is_empty() {
            return None;
        }
        changed.push(container);
    }
    (!changed.is_empty()).then_some(changed)
}

/// Whether nothing but images, labels and annotations of the pod's revision differs from the goal's. Other inputs make another pod,
/// which a patch of images does not.
fn is_change_of_images(fleet: &Fleet<'_>, history: &History<'_>, node: NodeIx, pod: &FleetPod) -> bool {
    // A fleet has few revisions and many nodes: each template is compared once.
    let Some(rare) = &fleet.rare else { return false };
    let changes = rare.image_changes.get_or_init(|| {
        let same_beside_images = |goal: &Value, inputs: &Value| {
            let rest = rest_of(goal);
            let is_same = |view: &RevisionView<'_>| {
                canonical_json::equal(revision::inputs(view.data), inputs)
                    && view.data.pointer("/spec/template").map(rest_of).as_ref() == Some(&rest)
            };
            let old =
                history.revisions.enumerated().filter(|(_, revision)| revision.role == RevisionRole::Old);
            let same = old.filter(|(_, revision)| revision.view.as_ref().is_some_and(is_same));
            same.map(|(position, _)| position).collect()
        };
        let spec = &fleet.snapshot.spec;
        let to_stable = fleet
            .goals
            .stable()
            .map(|stable| same_beside_images(stable.raw_template(), revision::inputs(stable.view.data)));
        let to_current = same_beside_images(spec.raw_template(), &spec.inputs);
        Arc::new(ImageChanges { to_current, to_stable: to_stable.unwrap_or_default() })
    });
    let changes =
        if fleet.goals.stable_of(node).is_some() { &changes.to_stable } else { &changes.to_current };
    pod.revision.is_some_and(|revision| changes.contains(&revision))
}

/// The template of the old revision that the pod's hash label names; `None` for a pod of the current revision, which is no old one on the
/// way back to the stable revision either.
pub(crate) fn old_template<'h>(history: &'h History<'_>, pod: &FleetPod) -> Option<&'h Value> {
    let revision = history.revision(pod.revision?);
    let view = revision.view.as_ref().filter(|_| revision.role == RevisionRole::Old);
    view?.data.pointer("/spec/template")
}

/// The template of the revision that the node should run.
pub(crate) fn goal_template<'f>(fleet: &'f Fleet<'_>, node: NodeIx) -> &'f Value {
    match fleet.goals.stable_of(node) {
        Some(stable) => stable.raw_template(),
        None => fleet.snapshot.spec.raw_template(),
    }
}

/// A template without images of containers, labels and annotations: a change of the rest is none in place. Containers are the same only
/// in the same order.
pub fn rest_of(template: &Value) -> Value {
    let mut rest = canonical_json::normalized(template);
    // An API server of before v1.34 has stored `creationTimestamp: null` in each template.
    drop_nulls(&mut rest);
    // The directive of the patch that a revision holds.
    if let Some(members) = rest.as_object_mut() {
        members.remove("$patch");
    }
    if let Some(metadata) = rest.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("labels");
        metadata.remove("annotations");
    }
    // Nothing else in the metadata is the same as no metadata.
    if rest.get("metadata").is_some_and(|metadata| *metadata == json!({})) {
        rest.as_object_mut().map(|members| members.remove("metadata"));
    }
    let containers = rest.pointer_mut("/spec/containers").and_then(Value::as_array_mut);
    for container in containers.into_iter().flatten().filter_map(Value::as_object_mut) {
        container.remove("image");
    }
    rest
}

/// A member that is null is an absent one.
fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, member| !member.is_null());
            members.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
