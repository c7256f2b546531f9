//! The manifests of a plan's pods: the template with labels, owner, name and tolerations.

use crate::input::snapshot::PodLookup;
use crate::input::{Binding, PodNames, Snapshot};
use crate::plan::rest_of_cluster::RestOfCluster;
use crate::pod_manifest::{PodManifest, Shared, Tie};
use crate::pods::history::History;
use crate::rollout::stable::Stable;
use crate::rules::names::{LONGEST_PREFIX, one_per_node};
use daemonset_objects::internal::{cut_name, name_hash, revision};
use daemonset_objects::kubernetes::canonical_json;
use daemonset_objects::kubernetes::names::is_dns_label;
use daemonset_objects::kubernetes::well_known::TEMPLATE_GENERATION_LABEL;
use daemonset_objects::model::Toleration;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The revision that pods are made from.
pub(crate) struct Source<'s> {
    pub(crate) raw_template: &'s Value,
    host_network: bool,
    pub(crate) hash: &'s str,
    pub(crate) is_stable: bool,
    /// In the form of a pod's label.
    pub generation: Option<&'s str>,
    /// The template's and those of every daemon pod.
    pub tolerations: &'s [Toleration],
    /// Of the caller's manifests; null without any.
    pub inputs: &'s Value,
}

impl<'s> Source<'s> {
    pub(crate) fn current(snapshot: &'s Snapshot<'_>, history: &'s History<'_>) -> Self {
        Source {
            raw_template: snapshot.spec.raw_template(),
            host_network: snapshot.spec.template.parsed.spec.host_network,
            hash: history.current_hash(),
            is_stable: false,
            generation: snapshot.spec.template_generation.as_deref(),
            tolerations: &snapshot.spec.template.tolerations,
            inputs: &snapshot.spec.inputs,
        }
    }

    /// Without a generation: it would make the pod an updated one.
    pub(crate) fn stable(stable: &'s Stable<'_>) -> Self {
        Source {
            raw_template: stable.raw_template(),
            host_network: stable.template.parsed.spec.host_network,
            hash: &stable.hash,
            is_stable: true,
            generation: None,
            tolerations: &stable.template.tolerations,
            inputs: revision::inputs(stable.view.data),
        }
    }
}

/// Makes the manifests of one plan, of one revision.
pub(crate) struct PodTemplate<'s> {
    pub source: Source<'s>,
    shared: Arc<Shared>,
    /// `None` where the API server generates the names.
    names: Option<Names<'s>>,
}

/// The names that this crate gives.
enum Names<'s> {
    Deterministic(DeterministicNames<'s>),
    OnePerNode(&'s Snapshot<'s>),
}

impl Names<'_> {
    fn name(&self, node: &str, hash: &str) -> Option<String> {
        match self {
            Names::Deterministic(names) => names.name(node, hash),
            Names::OnePerNode(snapshot) => Some(one_per_node(&snapshot.spec, node)),
        }
    }
}

impl<'s> PodTemplate<'s> {
    /// The template's metadata and spec with labels, owner, name prefix and tolerations
    /// (v1.36 `util.CreatePodTemplate`, `controller.GetPodFromTemplate`).
    pub(crate) fn new(snapshot: &'s Snapshot<'_>, rest: &'s RestOfCluster<'_>, source: Source<'s>) -> Self {
        let kept = rest.pod_template.clone();
        // The earlier template is that of the current revision, which may be another one by now.
        let kept = kept.filter(|shared| !source.is_stable && shared.revision_hash == source.hash);
        let names = match snapshot.spec.policy.pod_names {
            PodNames::Generated => None,
            PodNames::Deterministic => Some(Names::Deterministic(DeterministicNames::new(snapshot))),
            PodNames::OnePerNode => Some(Names::OnePerNode(snapshot)),
        };
        let shared = kept.unwrap_or_else(|| Arc::new(shared(snapshot, &source)));
        PodTemplate { source, shared, names }
    }

    pub(crate) fn manifest(&self, node: &str) -> PodManifest {
        let name = self.names.as_ref().and_then(|names| names.name(node, &self.shared.revision_hash));
        PodManifest { shared: Arc::clone(&self.shared), node: node.into(), name, body: None }
    }
}

impl PodTemplate<'_> {
    /// Makes a pod spec as tolerant as a pod of this template, without any other part of it. Returns the way in which such a pod is tied
    /// to its node.
    pub(crate) fn place_only(&self, spec: &mut Map<String, Value>) -> Tie {
        spec.extend(self.shared.spec.get("tolerations").map(|list| ("tolerations".to_owned(), list.clone())));
        match self.shared.tie {
            Tie::NodeAffinity { .. } => Tie::NodeAffinity { affinity: Map::new(), node_affinity: Map::new() },
            Tie::NodeName => Tie::NodeName,
        }
    }
}

/// The parts of the manifests that do not depend on the node.
fn shared(snapshot: &Snapshot<'_>, source: &Source<'_>) -> Shared {
    let template = canonical_json::normalized(source.raw_template);
    let mut parts = into_map(Some(template));
    let metadata = pod_metadata(into_map(parts.remove("metadata")), snapshot, source);
    let mut spec = into_map(parts.remove("spec"));
    let tie = match snapshot.spec.policy.binding {
        Binding::NodeName => Tie::NodeName,
        Binding::NodeAffinity => {
            // The term of the node replaces the template's required terms, in each manifest anew. The other parts stay.
            let mut affinity = into_map(spec.remove("affinity"));
            let node_affinity = into_map(affinity.remove("nodeAffinity"));
            Tie::NodeAffinity { affinity, node_affinity }
        }
    };
    let daemon_tolerations = &snapshot.spec.policy.daemon_tolerations;
    let tolerations =
        with_tolerations(spec.remove("tolerations"), daemon_tolerations.list(source.host_network));
    spec.insert("tolerations".to_owned(), Value::Array(tolerations));
    // No part of the template: no pod is outdated for it.
    if let Some(class) = snapshot.spec.policy.priority_class_name.as_ref().filter(|_| !has_priority(&spec)) {
        spec.insert("priorityClassName".to_owned(), Value::from(class.as_str()));
    }
    let revision_hash = source.hash.to_owned();
    Shared { metadata, spec, tie, revision_hash, is_stable: source.is_stable }
}

fn has_priority(spec: &Map<String, Value>) -> bool {
    let is_given = |field| spec.get(field).is_some_and(|value| !value.is_null() && *value != "");
    is_given("priorityClassName") || is_given("priority")
}

/// Metadata that the API server gives to each object, and `name`, which one pod alone could have. A template has such fields when it
/// was copied from a pod: with a `resourceVersion` no pod could be created (v1.36 `GetPodFromTemplate` takes labels, annotations and
/// finalizers only; here unknown fields are carried over, too).
const SERVER_METADATA: [&str; 9] = [
    "name",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
];

fn pod_metadata(
    mut metadata: Map<String, Value>,
    snapshot: &Snapshot<'_>,
    source: &Source<'_>,
) -> Map<String, Value> {
    let ds = &snapshot.spec.daemon_set.metadata;
    for field in SERVER_METADATA {
        metadata.remove(field);
    }
    let mut labels = into_map(metadata.remove("labels"));
    // Over the template's own labels: with another hash the pod would be outdated from the beginning.
    labels.insert(snapshot.spec.policy.unique_label_key.clone(), Value::from(source.hash));
    if let Some(generation) = source.generation {
        labels.insert(TEMPLATE_GENERATION_LABEL.to_owned(), Value::from(generation));
    } else if source.is_stable {
        // A template may have the label by itself: then a pod of the stable revision would count as updated.
        labels.remove(TEMPLATE_GENERATION_LABEL);
    }
    metadata.insert("labels".to_owned(), Value::Object(labels));
    metadata.insert("namespace".to_owned(), Value::from(ds.namespace.as_str()));
    metadata.insert("generateName".to_owned(), Value::from(name_prefix(&ds.name)));
    metadata.insert("ownerReferences".to_owned(), json!([snapshot.spec.daemon_set.owner_reference()]));
    metadata
}

/// `<ds>-`, or `<ds>` where that is no valid prefix of a pod name
/// (v1.36 `controller_utils.go getPodsPrefix`: `ValidatePodName(prefix, true)`).
fn name_prefix(ds: &str) -> String {
    let prefix = format!("{ds}-");
    // As upstream: the last letter may be a dash, since the random suffix follows it.
    let masked: String = ds.chars().take(ds.chars().count().saturating_sub(1)).chain(['a']).collect();
    if prefix.len() <= 253 && masked.split('.').all(is_dns_label) { prefix } else { ds.to_owned() }
}

/// Names that no pod has, and that are the same for every plan of the same snapshot.
struct DeterministicNames<'s> {
    prefix: String,
    uid: &'s str,
    used: BTreeSet<&'s str>,
    /// The pods that are not in the snapshot.
    others: Option<&'s dyn PodLookup>,
}

impl<'s> DeterministicNames<'s> {
    fn new(snapshot: &'s Snapshot<'_>) -> Self {
        let ds = &snapshot.spec.daemon_set.metadata;
        let same_namespace = snapshot.pods.iter().filter(|pod| pod.namespace == ds.namespace);
        DeterministicNames {
            prefix: cut_name(&ds.name, LONGEST_PREFIX).to_owned(),
            uid: ds.uid.as_str(),
            used: same_namespace.map(|pod| pod.name).collect(),
            others: snapshot.pod_names,
        }
    }

    fn name(&self, node: &str, hash: &str) -> Option<String> {
        let attempt = |attempt: u32| {
            let letters = name_hash([self.uid, node, hash, &attempt.to_string()]);
            format!("{}-{letters}", self.prefix)
        };
        let is_used =
            |name: &str| self.used.contains(name) || self.others.is_some_and(|others| others.has_pod(name));
        // It ends: each attempt gives another name, and few of all names are used.
        (0..).map(attempt).find(|name| !is_used(name))
    }
}

/// The template's tolerations and the added ones, each replacing one of the same key, operator, value and effect
/// (v1.36 `util.AddOrUpdateDaemonPodTolerations`).
fn with_tolerations(template: Option<Value>, added: Vec<Toleration>) -> Vec<Value> {
    let mut list = match template {
        Some(Value::Array(list)) => list,
        _ => Vec::new(),
    };
    for toleration in added {
        let added = json!(toleration);
        // In its place, as upstream: the order of the template's tolerations stays.
        match list.iter_mut().find(|one| is_same_toleration(one, &toleration)) {
            Some(one) => *one = added,
            None => list.push(added),
        }
    }
    list
}

fn is_same_toleration(one: &Value, other: &Toleration) -> bool {
    // As upstream's `MatchToleration`: tolerationSeconds tells no two tolerations apart.
    let field = |name| one.get(name).and_then(Value::as_str).unwrap_or_default();
    field("key") == other.key
        && field("effect") == other.effect
        && field("operator") == other.operator
        && field("value") == other.value
}

/// The members of an object; empty for an absent or null part of a checked template.
fn into_map(value: Option<Value>) -> Map<String, Value> {
    match value {
        Some(Value::Object(map)) => map,
        _ => Map::new(),
    }
}
