//! Changes of pods in their place: where one is possible, and the patch that makes a pod of the old revision one of the goal. Told apart
//! from the planner, by the effect of the patch.

use crate::facts::in_place;
use crate::facts::memories;
use crate::facts::stage::PodStage;
use crate::facts::strategy::Strategy;
use crate::fleet::context::{Context, Deletion, Goal};
use crate::kind::ViolationKind;
use crate::violation::Findings;
use daemonset::internal::{NodeIx, Phase};
use daemonset::kubernetes::canonical_json;
use daemonset::kubernetes::well_known::{IN_PLACE_ANNOTATION, TEMPLATE_GENERATION_LABEL};
use daemonset::model::{Container, ContainerStatus, Labels, Pod};
use daemonset::policy::InPlacePolicy;
use daemonset::{Action, PodView};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// A change that is possible.
struct Change<'s> {
    /// The templates of the old revisions that the pod's hash names: most often one.
    old: Vec<&'s Value>,
    goal: Goal<'s>,
    /// The containers with another image, with the new one.
    images: BTreeMap<String, String>,
}

/// Checks all changes of pods in their place.
pub(crate) fn check(context: &Context<'_>, findings: &mut Findings<'_>) {
    for take in &context.deletes {
        if let Some(Action::UpdatePodInPlace { patch, .. }) = context.actions.get(take.action) {
            if let Some(kind) = wrong_change(context, take, patch) {
                findings.add(take.action, kind);
            }
        }
    }
}

fn wrong_change(context: &Context<'_>, take: &Deletion<'_>, patch: &Value) -> Option<ViolationKind> {
    // Other rules tell of a pod on no known node, and of one that is not live.
    let (Some(node), PodStage::Live(_)) = (take.facts.node, take.stage) else { return None };
    match possible(context, node, take.pod) {
        None => Some(ViolationKind::NotInPlace),
        Some(change) => {
            wrong_field(context, take.pod, &change, patch).map(|field| ViolationKind::WrongChange { field })
        }
    }
}

/// Whether the one live pod of a node can be changed in its place.
pub(crate) fn is_possible_on(context: &Context<'_>, node: NodeIx) -> bool {
    let mut live = context.live_pods_of(node);
    live.next().is_some_and(|pod| possible(context, node, pod).is_some())
}

/// The change that makes the pod one of its node's goal; `None` where the pod must be deleted.
fn possible<'c>(context: &'c Context<'_>, node: NodeIx, pod: &PodView<'_>) -> Option<Change<'c>> {
    let snapshot = context.snapshot;
    let is_asked_for = snapshot.spec().policy.in_place == InPlacePolicy::IfPossible
        && matches!(Strategy::in_force(snapshot), Strategy::Replace(_));
    let runs = pod.bound && pod.phase == Phase::Running;
    if !is_asked_for || !runs || memories::is_change_refused(snapshot, pod.uid) {
        return None;
    }
    let settles = in_place::changed(pod, snapshot.now()).is_some_and(|changed| changed.settles);
    if settles || context.live_pods_of(node).count() != 1 {
        return None;
    }
    let goal = context.goal_of(node);
    let hash = pod.labels.get(&snapshot.spec().policy.unique_label_key)?;
    let named = context.lineage.members.iter().filter(|member| !member.equal && member.hash == hash);
    let templates = named.filter_map(|member| member.view.data.pointer("/spec/template"));
    let old: Vec<&Value> = templates.filter(|old| differs_in_images_alone(old, goal.template)).collect();
    let images = other_images(&pod.object.model(), goal.template)?;
    (!old.is_empty() && !images.is_empty()).then_some(Change { old, goal, images })
}

/// Whether two templates are the same but for the images of containers, labels and annotations. Containers are the same in the same order.
fn differs_in_images_alone(old: &Value, goal: &Value) -> bool {
    let same = |old: &Value, goal: &Value, but_for: &[&str]| {
        canonical_json::equal(&without(old, but_for), &without(goal, but_for))
    };
    let same_part = |pointer, but_for| same(part(old, pointer), part(goal, pointer), but_for);
    let containers = |template| part(template, "/spec/containers").as_array().map(Vec::as_slice);
    let (own, wanted) = (containers(old).unwrap_or_default(), containers(goal).unwrap_or_default());
    same(old, goal, &["$patch", "metadata", "spec"])
        && same_part("/metadata", &["labels", "annotations"])
        && same_part("/spec", &["containers"])
        && own.len() == wanted.len()
        && own.iter().zip(wanted).all(|(own, wanted)| same(own, wanted, &["image"]))
}

/// A part of a value; null where it is absent.
fn part<'v>(value: &'v Value, pointer: &str) -> &'v Value {
    value.pointer(pointer).unwrap_or(&Value::Null)
}

/// The other members of an object; none of anything else.
fn without(value: &Value, members: &[&str]) -> Value {
    let all = value.as_object().into_iter().flatten();
    let rest = all.filter(|(key, _)| !members.contains(&key.as_str()));
    Value::Object(rest.map(|(key, value)| (key.clone(), value.clone())).collect())
}

/// The containers of the goal's template that have another image in the pod, with the new one; `None` where the pod lacks a container, or
/// one that changes has not run.
fn other_images(pod: &Pod, template: &Value) -> Option<BTreeMap<String, String>> {
    let wanted = Vec::<Container>::deserialize(template.pointer("/spec/containers")?).ok()?;
    let mut images = BTreeMap::new();
    for Container { name, image, .. } in wanted {
        let own = pod.spec.containers.iter().find(|own| own.name == name)?;
        if own.image != image {
            let status = pod.status.container_statuses.iter().find(|status| status.name == name);
            status.filter(|status| !status.container_id.is_empty())?;
            images.insert(name, image);
        }
    }
    Some(images)
}

/// The first wrong part of the patch.
fn wrong_field(
    context: &Context<'_>,
    pod: &PodView<'_>,
    change: &Change<'_>,
    patch: &Value,
) -> Option<&'static str> {
    let object = pod.object.model();
    let part = |pointer| part(patch, pointer);
    let has_no_more = |pointer, members: &[&str]| {
        part(pointer).as_object().is_none_or(|own| own.keys().all(|key| members.contains(&key.as_str())))
    };
    let knows = has_no_more("", &["metadata", "spec"])
        && has_no_more("/metadata", &["labels", "annotations"])
        && has_no_more("/spec", &["containers"]);
    let annotations = part("/metadata/annotations");
    let since = annotations.get(IN_PLACE_ANNOTATION).and_then(Value::as_str);
    let since: Option<Value> = since.and_then(|text| serde_json::from_str(text).ok());
    let is_any = |is_right: &dyn Fn(&Value) -> bool| change.old.iter().any(|old| is_right(old));
    if !knows {
        Some("field beside labels, annotations and containers")
    } else if !is_any(&|old| {
        patched(&object.metadata.labels, part("/metadata/labels"))
            == Some(labels(context, &object, change, old))
    }) {
        Some("metadata.labels")
    } else if !is_any(&|old| {
        let found = patched(&object.metadata.annotations, annotations);
        found.map(without_since)
            == Some(without_since(following(&object.metadata.annotations, old, change, "annotations")))
    }) {
        Some("metadata.annotations")
    } else if !since.is_some_and(|found| canonical_json::equal(&found, &as_it_was(context, &object, change)))
    {
        Some("metadata.annotations: in-place.daemonset/since")
    } else if !has_images(part("/spec/containers"), &change.images) {
        Some("spec.containers")
    } else {
        None
    }
}

type Pairs = BTreeMap<String, String>;

fn pairs(labels: &Labels) -> Pairs {
    labels.iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

/// Labels or annotations with a patch applied; `None` if it has other values than texts.
fn patched(labels: &Labels, patch: &Value) -> Option<Pairs> {
    let mut patched = pairs(labels);
    for (key, value) in patch.as_object().into_iter().flatten() {
        match value {
            Value::String(text) => _ = patched.insert(key.clone(), text.clone()),
            Value::Null => _ = patched.remove(key),
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => return None,
        }
    }
    Some(patched)
}

/// The labels or annotations of a template.
fn given(template: &Value, field: &str) -> Pairs {
    let found = template.get("metadata").and_then(|metadata| metadata.get(field));
    pairs(&found.and_then(|found| Labels::deserialize(found).ok()).unwrap_or_default())
}

/// The pod's labels or annotations, with those of the goal's template in place of the old one's. The ones that somebody else gave it stay.
fn following(pod: &Labels, old: &Value, change: &Change<'_>, field: &str) -> Pairs {
    let old = given(old, field);
    let own = pairs(pod).into_iter().filter(|(key, _)| !old.contains_key(key));
    own.chain(given(change.goal.template, field)).collect()
}

fn without_since(mut annotations: Pairs) -> Pairs {
    annotations.remove(IN_PLACE_ANNOTATION);
    annotations
}

/// The labels that the pod has as one of the goal: the hash and the generation are those of a pod that is created for it.
fn labels(context: &Context<'_>, pod: &Pod, change: &Change<'_>, old: &Value) -> Pairs {
    let spec = context.snapshot.spec();
    let mut labels = following(&pod.metadata.labels, old, change, "labels");
    labels.insert(spec.policy.unique_label_key.clone(), change.goal.hash.to_owned());
    labels.remove(TEMPLATE_GENERATION_LABEL);
    let of_template = given(change.goal.template, "labels").remove(TEMPLATE_GENERATION_LABEL);
    let generation = spec.template_generation.clone().or(of_template);
    // With a generation a pod of the stable revision would count as updated.
    if let Some(generation) = generation.filter(|_| !change.goal.is_stable) {
        labels.insert(TEMPLATE_GENERATION_LABEL.to_owned(), generation);
    }
    labels
}

/// The containers that change, as they are, and all restarts.
fn as_it_was(context: &Context<'_>, pod: &Pod, change: &Change<'_>) -> Value {
    let statuses = &pod.status.container_statuses;
    let changed = statuses.iter().filter(|status| change.images.contains_key(&status.name));
    let containers = changed
        .map(|status| (status.name.clone(), json!({"id": status.container_id, "imageID": status.image_id})));
    let restarts = |status: &ContainerStatus| (status.name.clone(), json!(status.restart_count.max(0)));
    let all = statuses.iter().chain(&pod.status.init_container_statuses).map(restarts);
    json!({
        "at": context.snapshot.now(),
        "containers": containers.collect::<Map<_, _>>(),
        "restarts": all.collect::<Map<_, _>>(),
    })
}

/// Whether a patch of containers sets these images, each once, and nothing else.
fn has_images(patch: &Value, images: &BTreeMap<String, String>) -> bool {
    let Some(patch) = patch.as_array() else { return false };
    let text = |container: &Value, field| {
        container.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let found: BTreeMap<String, String> =
        patch.iter().map(|container| (text(container, "name"), text(container, "image"))).collect();
    let sets_no_more = |container: &Value| container.as_object().is_some_and(|members| members.len() == 2);
    patch.len() == images.len() && found == *images && patch.iter().all(sets_no_more)
}
