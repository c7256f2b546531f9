//! The manifests of pods and revisions to create.

use crate::facts::lineage::is_of_content;
use crate::facts::names;
use crate::fleet::context::Context;
use crate::kind::ViolationKind;
use crate::rules::pull_manifests;
use crate::violation::Findings;
use daemonset::internal::{CustomBody, Shared, Tie};
use daemonset::kubernetes::well_known::TEMPLATE_GENERATION_LABEL;
use daemonset::model::{DaemonSet, Labels, NodeName, Toleration};
use daemonset::policy::{Binding, PodNames};
use daemonset::{Action, CreateReason, Snapshot};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Checks all manifests. The creates of a plan share everything but the node's part, and the shared part is checked once.
pub(crate) fn check(context: &Context<'_>, findings: &mut Findings<'_>) {
    let mut seen: Option<(&Arc<Shared>, bool, Option<&'static str>)> = None;
    let mut seen_pull = None;
    // No name is looked up where the API server gives them.
    let names_are_given = context.snapshot.spec().policy.pod_names != PodNames::Generated;
    let taken = if names_are_given { names::taken(context.snapshot) } else { BTreeSet::new() };
    for (index, action) in context.actions.iter().enumerate() {
        let kind = match action {
            Action::CreatePod { node, pod, reason: CreateReason::PullImages, .. } => {
                let field = pull_manifests::wrong_field(context, node, pod, &mut seen_pull);
                field.map(|field| ViolationKind::WrongManifest { field })
            }
            Action::CreatePod { node, pod, .. } => {
                let source = Source::new(context, node);
                let field = match (&pod.body, seen) {
                    (Some(body), _) => wrong_body_field(context, &source, node, &pod.shared, body),
                    (None, Some((shared, is_stable, field)))
                        if Arc::ptr_eq(shared, &pod.shared) && is_stable == source.is_stable =>
                    {
                        field
                    }
                    (None, _) => wrong_field(context, &source, &pod.shared),
                };
                if pod.body.is_none() {
                    seen = Some((&pod.shared, source.is_stable, field));
                }
                let field = if pod.node() == node { field } else { Some(tied_by(context.snapshot)) };
                // An object of the caller has a name of the caller.
                let is_named =
                    !names_are_given || pod.body.is_some() || names::is_right(context.snapshot, pod, &taken);
                let field = field.or((!is_named).then_some("metadata.name"));
                field.map(|field| ViolationKind::WrongManifest { field })
            }
            Action::CreateRevision { revision, .. } => wrong_revision_field(context.snapshot, revision)
                .map(|field| ViolationKind::WrongRevision { field }),
            _ => None,
        };
        if let Some(kind) = kind {
            findings.add(index, kind);
        }
    }
}

/// The revision that the pod of a node is made from.
struct Source<'c> {
    is_stable: bool,
    hash: Option<&'c str>,
    tolerations: &'c [Toleration],
}

impl<'c> Source<'c> {
    fn new(context: &'c Context<'_>, node: &NodeName) -> Self {
        let position = context.snapshot.index().node(node.as_str());
        match position.and_then(|node| context.goals.stable_of(node)) {
            Some(stable) => {
                Source { is_stable: true, hash: Some(stable.hash), tolerations: &stable.template.tolerations }
            }
            None => Source {
                is_stable: false,
                hash: context.lineage.current_hash,
                tolerations: &context.snapshot.spec().template.tolerations,
            },
        }
    }
}

/// The first field that is wrong for every node of this goal.
fn wrong_field(context: &Context<'_>, source: &Source<'_>, shared: &Shared) -> Option<&'static str> {
    let snapshot = context.snapshot;
    let metadata = wrong_metadata(context, source, &shared.metadata, &shared.revision_hash);
    if metadata.is_some() {
        metadata
    } else if !is_tied(snapshot, shared) {
        Some(tied_by(snapshot))
    } else if !has_tolerations(source.tolerations, &shared.spec) {
        Some("spec.tolerations")
    } else {
        None
    }
}

/// The first wrong field of an object that the caller has made. It may have more tolerations than the template's pod, and be
/// tied to its node in either way.
fn wrong_body_field(
    context: &Context<'_>,
    source: &Source<'_>,
    node: &NodeName,
    shared: &Shared,
    body: &CustomBody,
) -> Option<&'static str> {
    let nothing = Map::new();
    let metadata = body.value.get("metadata").and_then(Value::as_object).unwrap_or(&nothing);
    let spec = body.value.pointer(body.pod_spec).and_then(Value::as_object).unwrap_or(&nothing);
    let wrong = wrong_metadata(context, source, metadata, &shared.revision_hash);
    let tolerated = tolerations(spec);
    if wrong.is_some() {
        wrong
    } else if !is_for(spec, node.as_str()) {
        Some(tied_by(context.snapshot))
    } else if !source.tolerations.iter().all(|one| tolerated.contains(one)) {
        Some("spec.tolerations")
    } else {
        None
    }
}

/// Whether a pod of this spec can only run on the node: `spec.nodeName` or, without it, each term of required node affinity.
fn is_for(spec: &Map<String, Value>, node: &str) -> bool {
    let named = spec.get("nodeName").and_then(Value::as_str).filter(|name| !name.is_empty());
    let path = ["nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"];
    let affinity = spec.get("affinity").unwrap_or(&Value::Null);
    let terms = path.iter().try_fold(affinity, |inner, key| inner.get(key)).and_then(Value::as_array);
    let names_node = |term: &Value| {
        let is_name = |field: &&Value| {
            let text = |key| field.get(key).and_then(Value::as_str);
            text("key") == Some("metadata.name") && text("operator") == Some("In")
        };
        let fields = term.get("matchFields").and_then(Value::as_array);
        let values = fields.and_then(|fields| fields.iter().find(is_name)?.get("values")?.as_array());
        values.is_some_and(|values| matches!(values.as_slice(), [one] if one.as_str() == Some(node)))
    };
    match named {
        Some(name) => name == node,
        None => terms.is_some_and(|terms| !terms.is_empty() && terms.iter().all(names_node)),
    }
}

/// The first wrong field of an object's metadata.
fn wrong_metadata(
    context: &Context<'_>,
    source: &Source<'_>,
    metadata: &Map<String, Value>,
    revision_hash: &str,
) -> Option<&'static str> {
    let snapshot = context.snapshot;
    let labels = labels(metadata);
    let hash = labels.get(&snapshot.spec().policy.unique_label_key);
    let generation = snapshot.spec().template_generation.as_deref();
    let found = labels.get(TEMPLATE_GENERATION_LABEL);
    // With a generation, a pod of the stable revision would count as updated.
    let is_right =
        if source.is_stable { found.is_none() } else { generation.is_none() || found == generation };
    if hash.is_none() || hash != source.hash || hash != Some(revision_hash) {
        Some("metadata.labels: hash")
    } else if !is_right {
        Some("metadata.labels: pod-template-generation")
    } else if !snapshot.spec().selector.matches(&labels) {
        Some("metadata.labels: selector")
    } else if !is_in_namespace(snapshot, metadata) {
        Some("metadata.namespace")
    } else if !is_controlled(snapshot, metadata) {
        Some("metadata.ownerReferences")
    } else {
        None
    }
}

/// The field that ties a pod to its node.
pub(crate) fn tied_by(snapshot: &Snapshot<'_>) -> &'static str {
    if snapshot.spec().policy.binding == Binding::NodeName { "spec.nodeName" } else { "spec.affinity" }
}

/// Without a scheduler a pod with a mere affinity stays Pending; with one, a pod with `spec.nodeName` bypasses it.
fn is_tied(snapshot: &Snapshot<'_>, shared: &Shared) -> bool {
    let by_name = snapshot.spec().policy.binding == Binding::NodeName;
    match &shared.tie {
        Tie::NodeAffinity { .. } => !by_name,
        Tie::NodeName => by_name,
    }
}

fn tolerations(spec: &Map<String, Value>) -> Vec<Toleration> {
    spec.get("tolerations").and_then(|list| Vec::deserialize(list).ok()).unwrap_or_default()
}

/// Whether the pod has the tolerations that placement counts on, and no others: with less it is evicted and created again and
/// again, with more it stays where the next plan deletes it.
pub(crate) fn has_tolerations(wanted: &[Toleration], spec: &Map<String, Value>) -> bool {
    let has = tolerations(spec);
    wanted.iter().all(|one| has.contains(one)) && has.iter().all(|one| wanted.contains(one))
}

/// The first field of a new revision that is wrong.
fn wrong_revision_field(snapshot: &Snapshot<'_>, revision: &Value) -> Option<&'static str> {
    let nothing = Map::new();
    let metadata = revision.get("metadata").and_then(Value::as_object).unwrap_or(&nothing);
    let ds = &snapshot.spec().daemon_set;
    let name = metadata.get("name").and_then(Value::as_str).unwrap_or_default();
    let labels = labels(metadata);
    let hash = labels.get(&snapshot.spec().policy.unique_label_key).unwrap_or_default();
    let taken = |name: &str| {
        snapshot.revisions().iter().any(|r| r.namespace == ds.metadata.namespace && r.name == name)
    };
    if name.strip_prefix(ds.metadata.name.as_str()).and_then(|rest| rest.strip_prefix('-')) != Some(hash) {
        Some("metadata.labels: hash")
    } else if taken(name) {
        Some("metadata.name")
    } else if !snapshot.spec().selector.matches(&labels) {
        Some("metadata.labels: selector")
    } else if !is_in_namespace(snapshot, metadata) {
        Some("metadata.namespace")
    } else if !is_controlled(snapshot, metadata) {
        Some("metadata.ownerReferences")
    } else if !revision.get("data").is_some_and(|data| is_of_content(snapshot, data)) {
        Some("data")
    } else {
        None
    }
}

/// A null is an empty value, as everywhere in labels.
fn labels(metadata: &Map<String, Value>) -> Labels {
    let labels = metadata.get("labels").and_then(Value::as_object);
    labels.into_iter().flatten().map(|(key, value)| (key, value.as_str().unwrap_or_default())).collect()
}

pub(crate) fn is_in_namespace(snapshot: &Snapshot<'_>, metadata: &Map<String, Value>) -> bool {
    let namespace = metadata.get("namespace").and_then(Value::as_str);
    namespace == Some(&snapshot.spec().daemon_set.metadata.namespace)
}

/// Whether the DaemonSet is its only controller, by uid and kind: the garbage collector deletes an object whose owner does
/// not exist, and looks for it by its kind.
fn is_controlled(snapshot: &Snapshot<'_>, metadata: &Map<String, Value>) -> bool {
    let owners = metadata.get("ownerReferences").and_then(Value::as_array);
    let controls = |owner: &&Value| owner.get("controller").and_then(Value::as_bool) == Some(true);
    let mut controllers = owners.into_iter().flatten().filter(controls);
    let (found, other) = (controllers.next(), controllers.next());
    let names = |member: &str, expected: &str| {
        found.and_then(|owner| owner.get(member)).and_then(Value::as_str) == Some(expected)
    };
    let DaemonSet { owner, metadata, .. } = &*snapshot.spec().daemon_set;
    names("uid", metadata.uid.as_str())
        && names("kind", &owner.kind)
        && names("apiVersion", &owner.api_version)
        && other.is_none()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the actions to judge are a plan's")]
mod tests {
    use super::*;
    use daemonset::Recording;
    use serde_json::{from_value, json};

    /// The planner makes no such object, so that only the audit's own reading of it is tested here.
    #[test]
    fn an_object_that_names_another_node_breaks_a_rule() {
        let mut recording: Recording = from_value(json!({
            "now": "2026-01-01T12:00:00Z",
            "daemonSet": {
                "metadata": {"name": "agent", "namespace": "ns", "uid": "u1"},
                "spec": {
                    "selector": {"matchLabels": {"app": "agent"}},
                    "template": {"metadata": {"labels": {"app": "agent"}}},
                },
            },
        }))
        .unwrap();
        recording.nodes =
            from_value(json!([{"metadata": {"name": "a"}}, {"metadata": {"name": "b"}}])).unwrap();
        let snapshot = recording.snapshot().unwrap();
        let planned = daemonset::reconcile(&snapshot);
        let changed = |change: fn(&mut Value)| {
            let mut actions = planned.clone();
            let Some(Action::CreatePod { pod, .. }) = actions.get_mut(1) else { panic!("a create") };
            let mut value = pod.to_value();
            change(&mut value["spec"]);
            pod.body = Some(Arc::new(CustomBody { value, pod_spec: "/spec" }));
            crate::audit(&snapshot, &actions).into_iter().map(|violation| violation.kind).collect::<Vec<_>>()
        };
        assert_eq!(changed(|_| {}), []);
        let wrong = [ViolationKind::WrongManifest { field: "spec.affinity" }];
        assert_eq!(changed(|spec| spec["nodeName"] = json!("b")), wrong);
        assert_eq!(changed(|spec| spec["affinity"] = json!({})), wrong);
        let two = |spec: &mut Value| {
            spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
                [0]["matchFields"][0]["values"] = json!(["a", "b"]);
        };
        assert_eq!(changed(two), wrong);
        let another_term = |spec: &mut Value| {
            let required = "requiredDuringSchedulingIgnoredDuringExecution";
            spec["affinity"]["nodeAffinity"][required]["nodeSelectorTerms"]
                .as_array_mut()
                .unwrap()
                .push(json!({}));
        };
        assert_eq!(changed(another_term), wrong);
    }
}
