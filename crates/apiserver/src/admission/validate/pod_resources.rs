//! Resource requirements of a pod as a whole, compared with its containers'.

use super::containers::resource_names::Names;
use super::containers::resources;
use super::pod::Pod;
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::json::{entries, list, member, text};
use crate::quantity::Quantity;
use serde_json::Value;
use std::collections::BTreeMap;

type Quantities<'a> = BTreeMap<&'a str, Quantity>;

/// v1.36 core/validation `validatePodResources`.
pub(super) fn pod_resources(pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let Some(whole) = member(pod.spec, "resources") else { return };
    let path = path.child("resources");
    if pod.os() == Some("windows") {
        return errors.forbidden(&path, "may not be set for a windows pod");
    }
    if member(whole, "claims").is_some() {
        errors.forbidden(&path.child("claims"), "claims may not be set for Resources at pod-level");
    }
    resources::resource_requirements(whole, Names::Pod, pod, &path, errors);
    requests_cover_containers(pod, whole, &path.child("requests"), errors);
    huge_pages_cover_containers(pod, whole, &path.child("limits"), errors);
    limits_cover_each_container(pod, whole, &path, errors);
}

/// v1.36 core/validation `validatePodResourceConsistency`.
fn requests_cover_containers(pod: &Pod<'_>, whole: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let of_pod = amounts(whole, "requests");
    for (name, sum) in of_containers(pod, "requests") {
        if let Some(request) = of_pod.get(name).filter(|request| sum > **request) {
            let detail = format!("must be greater than or equal to aggregate container requests of {sum}");
            errors.invalid(&path.key(name), request.to_string().as_str(), detail);
        }
    }
}

fn huge_pages_cover_containers(pod: &Pod<'_>, whole: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let of_pod = amounts(whole, "limits");
    for (name, sum) in of_containers(pod, "limits") {
        let limit = of_pod.get(name).filter(|limit| name.starts_with("hugepages-") && sum > **limit);
        if let Some(limit) = limit {
            let detail = format!("must be greater than or equal to aggregate container limits of {sum}");
            errors.invalid(&path.key(name), limit.to_string().as_str(), detail);
        }
    }
}

/// Upstream reports this error at a path below the pod's resources.
fn limits_cover_each_container(pod: &Pod<'_>, whole: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let of_pod = amounts(whole, "limits");
    for (position, container) in list(pod.spec, "containers").iter().enumerate() {
        for (name, limit) in of_container(container, "limits") {
            if let Some(most) = of_pod.get(name).filter(|most| limit > **most) {
                let containers = path.child("containers");
                let at = containers.index(position);
                let detail = format!("must be less than or equal to pod limits of {most}");
                errors.invalid(&at.key(name).child("limits"), limit.to_string().as_str(), detail);
            }
        }
    }
}

fn amounts<'a>(resources: &'a Value, bound: &str) -> Quantities<'a> {
    entries(resources, bound)
        .filter_map(|(name, amount)| Some((name, Quantity::from_json(amount).ok()?)))
        .collect()
}

fn of_container<'a>(container: &'a Value, bound: &str) -> Quantities<'a> {
    member(container, "resources").map(|resources| amounts(resources, bound)).unwrap_or_default()
}

/// The amounts that a pod needs at its peak. Containers and sidecars run at the same time; another init container
/// runs with the sidecars before it, and with nothing else (v1.36 component-helpers resource/helpers.go
/// `AggregateContainerRequests`).
fn of_containers<'a>(pod: &Pod<'a>, bound: &str) -> Quantities<'a> {
    let mut together = Quantities::new();
    for container in list(pod.spec, "containers") {
        add(&mut together, &of_container(container, bound));
    }
    let (mut restartable, mut starting) = (Quantities::new(), Quantities::new());
    for container in list(pod.spec, "initContainers") {
        let mut now = of_container(container, bound);
        if text(container, "restartPolicy") == "Always" {
            add(&mut together, &now);
            add(&mut restartable, &now);
            now.clone_from(&restartable);
        } else {
            add(&mut now, &restartable);
        }
        raise(&mut starting, now);
    }
    raise(&mut together, starting);
    together
}

fn add<'a>(sums: &mut Quantities<'a>, amounts: &Quantities<'a>) {
    for (name, amount) in amounts {
        sums.entry(name).and_modify(|sum| *sum = sum.plus(amount)).or_insert_with(|| amount.clone());
    }
}

fn raise<'a>(most: &mut Quantities<'a>, amounts: Quantities<'a>) {
    for (name, amount) in amounts {
        let known = most.entry(name).or_insert_with(|| amount.clone());
        if amount > *known {
            *known = amount;
        }
    }
}
