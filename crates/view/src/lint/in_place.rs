//! Changes in place that turn out to be deletes, or restarts for nothing.

use super::context::{LintContext, is_live};
use super::finding::{Finding, Rule, Severity};
use super::format::count;
use super::manifest::POD;
use daemonset::internal::{Strategy, rest_beside_images};
use daemonset::kubernetes::ImageReference;
use daemonset::kubernetes::canonical_json;
use daemonset::model::NodeName;
use daemonset::policy::InPlacePolicy;
use daemonset::report::PodVerdict;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// All rules about changes in place that have an effect.
pub(super) fn findings(context: &LintContext<'_>) -> Vec<Finding> {
    let is_on = context.preflight.policy.in_place == InPlacePolicy::IfPossible;
    let replaces = matches!(context.manifest.strategy, Strategy::Replace(_));
    if !is_on || !replaces {
        return Vec::new();
    }
    let new = &context.manifest.daemon_set.spec.template;
    before(context).iter().flat_map(|old| changes(old, new)).collect()
}

/// A template that pods have, and which this one takes the place of.
struct OldTemplate<'a> {
    /// As in `pods of revision 3`.
    of: String,
    template: &'a Value,
    nodes: Vec<NodeName>,
}

/// The templates of the live outdated pods; where none is known, the stored one.
fn before<'a>(context: &LintContext<'a>) -> Vec<OldTemplate<'a>> {
    let mut revisions: BTreeMap<i64, OldTemplate<'a>> = BTreeMap::new();
    for node in &context.nodes {
        for pod in node.verdict.pods.iter().filter(|pod| !pod.updated && is_live(pod)) {
            if let Some((number, template)) = revision(context, pod) {
                let of = format!("revision {number}");
                let before = OldTemplate { of, template, nodes: Vec::new() };
                revisions.entry(number).or_insert(before).nodes.push(node.name());
            }
        }
    }
    let stored = context.preflight.stored.map(|stored| &stored.spec.template);
    let stored = stored.filter(|template| {
        revisions.is_empty() && !canonical_json::equal(template, &context.manifest.daemon_set.spec.template)
    });
    let of = "the stored template".to_owned();
    revisions
        .into_values()
        .chain(stored.map(|template| OldTemplate { of, template, nodes: Vec::new() }))
        .collect()
}

/// The number and the template of the revision that the hash of a pod names.
fn revision<'a>(context: &LintContext<'a>, pod: &PodVerdict) -> Option<(i64, &'a Value)> {
    let (key, hash) = (&context.preflight.policy.unique_label_key, pod.hash.as_deref()?);
    let uid = context.snapshot.spec().daemon_set.metadata.uid.as_str();
    let is_ours = |controller: Option<&str>| controller.is_none_or(|controller| controller == uid);
    let mut revisions = context.preflight.revisions.iter();
    let found = revisions.find(|view| view.labels.get(key) == Some(hash) && is_ours(view.controller))?;
    Some((found.number, found.data.pointer("/spec/template")?))
}

fn changes(old: &OldTemplate<'_>, new: &Value) -> Vec<Finding> {
    let (rest_before, rest_after) = (rest_beside_images(old.template), rest_beside_images(new));
    if let Some(path) = first_difference("spec.template", &rest_before, &rest_after) {
        return vec![deletes(old, path, "More than images is new")];
    }
    let images = changed_images(old.template, new);
    if images.is_empty() {
        let why = "No image is new, and a change of labels or annotations alone is none in place";
        return vec![deletes(old, "spec.template.metadata".to_owned(), why)];
    }
    let same = images.into_iter().filter(|(_, before, after)| {
        let digest = ImageReference::split(after).digest;
        digest.is_some() && ImageReference::split(before).digest == digest
    });
    same.map(|(path, before, after)| same_image(old, path, (before, after))).collect()
}

fn deletes(old: &OldTemplate<'_>, path: String, why: &str) -> Finding {
    let on = if old.nodes.is_empty() {
        String::new()
    } else {
        format!(" on {}", count(nodes(old).len() as u64, "node"))
    };
    Finding::new(Rule::NotInPlace, Severity::Advice, path)
        .why(format_args!("{why}: the pods of {}{on} are deleted, and not changed in place", old.of))
        .remedy("Change nothing but images, or accept that new pods take their places")
        .nodes(nodes(old))
}

fn same_image(old: &OldTemplate<'_>, path: String, (before, after): (&str, &str)) -> Finding {
    Finding::new(Rule::SameImage, Severity::Advice, path)
        .why(format_args!(
            "{before} and {after} have one digest: the container restarts for the same image, and its pod is not available for a minute"
        ))
        .remedy("Keep the name that the image has, unless it must change")
        .nodes(nodes(old))
}

fn nodes(old: &OldTemplate<'_>) -> Vec<NodeName> {
    let distinct: BTreeSet<&NodeName> = old.nodes.iter().collect();
    distinct.into_iter().cloned().collect()
}

/// The path, the old and the new image of each container whose image is new. Both templates have the same containers.
fn changed_images<'v>(old: &'v Value, new: &'v Value) -> Vec<(String, &'v str, &'v str)> {
    let containers = |template: &'v Value| {
        let list = template.pointer("/spec/containers").and_then(Value::as_array).into_iter().flatten();
        list.map(|container| container.get("image").and_then(Value::as_str).unwrap_or_default())
    };
    let pairs = containers(old).zip(containers(new)).enumerate().filter(|(_, (old, new))| old != new);
    pairs.map(|(index, (old, new))| (format!("{POD}.containers[{index}].image"), old, new)).collect()
}

/// The path of the first field, by name, in which two values differ.
fn first_difference(path: &str, before: &Value, after: &Value) -> Option<String> {
    match (before, after) {
        (Value::Object(old), Value::Object(new)) => {
            let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
            let value = |members: &serde_json::Map<String, Value>, key: &String| {
                members.get(key).cloned().unwrap_or_default()
            };
            keys.into_iter().find_map(|key| {
                first_difference(&format!("{path}.{key}"), &value(old, key), &value(new, key))
            })
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            let mut pairs = old.iter().zip(new).enumerate();
            pairs.find_map(|(index, (old, new))| first_difference(&format!("{path}[{index}]"), old, new))
        }
        _ => (before != after).then(|| path.to_owned()),
    }
}
