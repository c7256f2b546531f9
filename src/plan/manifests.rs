//! The objects that the caller makes, each checked.

use crate::input::manifests::{InvalidManifest, ManifestProblem, NewPod};
use crate::input::{PodNames, Snapshot};
use crate::plan::pod_template::Source;
use crate::pod_manifest::{CustomBody, PodManifest};
use daemonset_objects::NodeView;
use daemonset_objects::internal::null_is_default;
use daemonset_objects::kubernetes::well_known::TEMPLATE_GENERATION_LABEL;
use daemonset_objects::model::{
    Labels, NodeName, NodeSelectorTerm, OwnerReference, Pod, PodSpec, Requirement, Toleration,
};
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;

/// The manifest to create on a node: the template's pod, or what the caller makes of it.
pub(crate) fn manifest(
    snapshot: &Snapshot<'_>,
    node: &NodeView<'_>,
    pod: PodManifest,
    source: &Source<'_>,
) -> Result<PodManifest, InvalidManifest> {
    let Some(manifests) = &snapshot.manifests else { return Ok(pod) };
    let (revision_hash, inputs) = (pod.revision_hash(), source.inputs);
    let mut value = manifests.manifest(&NewPod { node, revision_hash, inputs, pod: &pod });
    // The caller's JSON may keep the order of insertion: plans are compared by their text.
    value.sort_all_objects();
    let body = CustomBody { value, pod_spec: manifests.pod_spec() };
    match problem(snapshot, source, &pod, &body) {
        Some(problem) => Err(InvalidManifest { node: pod.node, problem }),
        None => Ok(PodManifest { body: Some(Arc::new(body)), ..pod }),
    }
}

/// The metadata that decisions read.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Metadata {
    #[serde(deserialize_with = "null_is_default")]
    name: String,
    #[serde(deserialize_with = "null_is_default")]
    namespace: String,
    #[serde(deserialize_with = "null_is_default")]
    labels: Labels,
    #[serde(deserialize_with = "null_is_default")]
    owner_references: Vec<OwnerReference>,
}

/// The first reason not to create this object in place of the pod.
fn problem(
    snapshot: &Snapshot<'_>,
    source: &Source<'_>,
    pod: &PodManifest,
    body: &CustomBody,
) -> Option<ManifestProblem> {
    // Metadata that can't be read has no labels, and so not the hash: the first rule refuses it.
    let metadata = body.value.get("metadata").and_then(|metadata| Metadata::deserialize(metadata).ok());
    let Metadata { name, namespace, labels, owner_references } = metadata.unwrap_or_default();
    let spec = body.value.pointer(body.pod_spec).unwrap_or(&Value::Null);
    // Whether the owner's deletion waits for the object is the caller's choice: no decision reads it.
    let owner = OwnerReference { block_owner_deletion: None, ..snapshot.spec.daemon_set.owner_reference() };
    let mut controllers = owner_references.into_iter().filter(|owner| owner.controller == Some(true));
    let controller = controllers.next().map(|found| OwnerReference { block_owner_deletion: None, ..found });
    // Where a pod gets no generation, only that of the current template is wrong: with it a pod of the stable revision would count as updated.
    let has_generation = labels.get(TEMPLATE_GENERATION_LABEL);
    let has_right_generation = match source.generation {
        Some(_) => has_generation == source.generation,
        None => has_generation.is_none() || has_generation != snapshot.spec.template_generation.as_deref(),
    };
    let is_named_by_node = snapshot.spec.policy.pod_names == PodNames::OnePerNode;
    if labels.get(&snapshot.spec.policy.unique_label_key) != Some(pod.revision_hash()) {
        Some(ManifestProblem::Hash)
    } else if !has_right_generation {
        Some(ManifestProblem::TemplateGeneration)
    } else if is_named_by_node && pod.name() != Some(name.as_str()) {
        Some(ManifestProblem::Name)
    } else if !snapshot.spec.selector.matches(&labels) {
        Some(ManifestProblem::Selector)
    } else if namespace != snapshot.spec.daemon_set.metadata.namespace {
        Some(ManifestProblem::Namespace)
    } else if controller != Some(owner) || controllers.next().is_some() {
        Some(ManifestProblem::Owner)
    } else if !names_node(spec, &pod.node) {
        Some(ManifestProblem::Node)
    } else if !tolerates(spec, source.tolerations) {
        Some(ManifestProblem::Tolerations)
    } else {
        None
    }
}

/// The terms of required node affinity, which are ORed.
const TERMS: &str = "/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms";

/// Whether the node is the one that the next snapshot reads from this pod spec, and each term of its affinity names that
/// node: by another term the scheduler could bind the pod elsewhere.
fn names_node(spec: &Value, node: &NodeName) -> bool {
    let pod = PodSpec::deserialize(spec).map(|spec| Pod { spec, ..Pod::default() }).unwrap_or_default();
    let names = |field: &Requirement| {
        field.key == "metadata.name" && field.operator == "In" && field.values == [node.as_str()]
    };
    let terms = spec.pointer(TERMS).and_then(|terms| Vec::<NodeSelectorTerm>::deserialize(terms).ok());
    let all_name_it = terms.is_some_and(|terms| terms.iter().all(|term| term.match_fields.iter().any(names)));
    // The scheduler never looks at a pod that is bound, nor at its affinity.
    pod.target() == Some(node) && (pod.is_bound() || all_name_it)
}

/// Whether a pod spec has these tolerations; it may have others.
fn tolerates(spec: &Value, wanted: &[Toleration]) -> bool {
    let list = spec.get("tolerations").and_then(|list| Vec::<Toleration>::deserialize(list).ok());
    let list = list.unwrap_or_default();
    // More of them do no harm: placement has counted on these.
    wanted.iter().all(|toleration| list.contains(toleration))
}
