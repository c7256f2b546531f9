//! The patch that changes a pod in its place.

use crate::input::Snapshot;
use crate::node::fleet::{Fleet, FleetPod};
use crate::pods::history::History;
use crate::position::NodeIx;
use crate::rules::change::{changed_containers, goal_template, old_template};
use crate::rules::in_place::{Since, WasContainer};
use daemonset_objects::kubernetes::well_known::{IN_PLACE_ANNOTATION, TEMPLATE_GENERATION_LABEL};
use daemonset_objects::model::{ContainerStatus, Labels};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The patch; `None` if the pod can't be changed in its place.
pub(crate) fn patch(fleet: &Fleet<'_>, history: &History<'_>, node: NodeIx, pod: &FleetPod) -> Option<Value> {
    let snapshot = fleet.snapshot;
    let changed = changed_containers(fleet, history, node, pod)?;
    let object = fleet.view(pod).object.model();
    let (old, goal) = (old_template(history, pod)?, goal_template(fleet, node));
    let mut labels = difference(&object.metadata.labels, &metadata(old, "labels"), &metadata(goal, "labels"));
    for (key, value) in own_labels(snapshot, fleet, history, node) {
        // Over the template's own: with another hash the pod would be outdated.
        match (value, object.metadata.labels.get(&key)) {
            (Some(value), had) if had != Some(&value) => _ = labels.insert(key, Value::from(value)),
            (Some(_), _) => _ = labels.remove(&key),
            (None, Some(_)) => _ = labels.insert(key, Value::Null),
            (None, None) => _ = labels.remove(&key),
        }
    }
    let mut annotations = difference(
        &object.metadata.annotations,
        &metadata(old, "annotations"),
        &metadata(goal, "annotations"),
    );
    let statuses = &object.status.container_statuses;
    let was = changed.iter().filter_map(|container| {
        let status = statuses.iter().find(|status| status.name == container.name)?;
        let was = WasContainer { id: status.container_id.clone(), image_id: status.image_id.clone() };
        Some((container.name.clone(), was))
    });
    let all = statuses.iter().chain(&object.status.init_container_statuses);
    let since = Since {
        at: snapshot.now,
        containers: was.collect(),
        restarts: all.map(|status| (status.name.clone(), restart_count(status))).collect(),
    };
    annotations.insert(IN_PLACE_ANNOTATION.to_owned(), Value::from(json!(since).to_string()));
    let containers: Vec<Value> =
        changed.iter().map(|container| json!({"name": container.name, "image": container.image})).collect();
    let mut patch = json!({
        "metadata": {"labels": labels, "annotations": annotations},
        "spec": {"containers": containers},
    });
    // Whatever order serde_json keeps: plans are compared by their text.
    patch.sort_all_objects();
    Some(patch)
}

/// The hash label and the template generation of a pod of the goal; `None` where it has none.
fn own_labels(
    snapshot: &Snapshot<'_>,
    fleet: &Fleet<'_>,
    history: &History<'_>,
    node: NodeIx,
) -> [(String, Option<String>); 2] {
    let (hash, generation) = match fleet.goals.stable_of(node) {
        // With a generation it would be an updated pod.
        Some(stable) => (stable.hash.to_string(), None),
        None => {
            // Without a generation of the DaemonSet a created pod has that of the template's own labels, if it has one.
            let labels = metadata(snapshot.spec.raw_template(), "labels");
            let of_template = labels.get(TEMPLATE_GENERATION_LABEL).map(str::to_owned);
            let generation = snapshot.spec.template_generation.clone().or(of_template);
            (history.current_hash().to_owned(), generation)
        }
    };
    [
        (snapshot.spec.policy.unique_label_key.clone(), Some(hash)),
        (TEMPLATE_GENERATION_LABEL.to_owned(), generation),
    ]
}

fn restart_count(status: &ContainerStatus) -> u32 {
    u32::try_from(status.restart_count).unwrap_or(0)
}

fn metadata(template: &Value, field: &str) -> Labels {
    let found = template.get("metadata").and_then(|metadata| metadata.get(field));
    found.and_then(|found| Labels::deserialize(found).ok()).unwrap_or_default()
}

/// The members of the goal in which the pod differs, and a null for each that the pod has from the old template alone.
fn difference(pod: &Labels, old: &Labels, goal: &Labels) -> Map<String, Value> {
    let new = goal.iter().filter(|(key, value)| pod.get(key) != Some(*value));
    let new = new.map(|(key, value)| (key.to_owned(), Value::from(value)));
    let gone = old.iter().filter(|(key, _)| pod.contains_key(key) && !goal.contains_key(key));
    new.chain(gone.map(|(key, _)| (key.to_owned(), Value::Null))).collect()
}
