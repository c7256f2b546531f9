//! Manifests that the caller makes: per-node patches of the template, or objects of another kind, such as Jobs.

use crate::input::policy::PodNames;
use crate::input::{Snapshot, SnapshotBuilder};
use crate::plan::actions::Bodies;
use crate::plan::pod_template::Source;
use crate::pod_manifest::{CustomBody, PodManifest};
use crate::report::Plan;
use crate::report::explain::plan_of;
use daemonset_objects::internal::null_is_default;
use daemonset_objects::kubernetes::well_known::TEMPLATE_GENERATION_LABEL;
use daemonset_objects::model::{
    Labels, NodeName, NodeSelectorTerm, OwnerReference, Pod, PodSpec, Requirement, Toleration,
};
use daemonset_objects::{InvalidSnapshot, NodeView};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;
use thiserror::Error;

/// Makes the object that a node gets, in place of the template's pod.
///
/// An implementation is pure: the same arguments give the same object, without a clock, randomness or I/O, or else plans are
/// not repeatable. All other input, besides the DaemonSet and the node, is in the [`inputs`](Self::inputs). They are
/// a part of the revision and of its hash, so that a change of them is a new
/// revision and a rollout.
///
/// The planner decides with pods. A caller that creates another kind shows its objects as [`PodView`](crate::PodView)s, and
/// executes creates and deletes itself: the calls of `daemonset::kube` are those for pods.
///
/// ```
/// use daemonset::manifests::{Manifests, NewPod};
/// use daemonset::{Action, Observed, Policy, Reconciler, Recording, model};
/// use serde_json::{Value, json};
///
/// /// Large nodes get more memory.
/// struct BySize { large: Value }
///
/// impl Manifests for BySize {
///     fn inputs(&self) -> Value {
///         json!({"large": self.large})
///     }
///
///     fn manifest(&self, new: &NewPod<'_>) -> Value {
///         let mut pod = new.pod.to_value();
///         if new.node.label("size") == Some("large") {
///             pod["spec"]["containers"][0]["resources"] = new.inputs["large"].clone();
///         }
///         pod
///     }
/// }
///
/// let mut recording = Recording::from_json(&std::fs::read("examples/recording.json")?)?;
/// recording.nodes[0].metadata.labels = model::Labels::from_iter([("size", "large")]);
/// recording.pods.clear();
/// let Recording { daemon_set, nodes, pods, revisions, now, .. } = &recording;
/// let observed = Observed { daemon_set, nodes, pods, revisions };
/// let by_size = BySize { large: json!({"requests": {"memory": "1Gi"}}) };
/// let plan = Reconciler::new("u1", Policy::default()).plan_with(observed, &by_size, *now)?;
/// let Action::CreatePod { pod, .. } = &plan.actions[1] else { panic!("the node lacks a pod") };
/// assert_eq!(pod.to_value()["spec"]["containers"][0]["resources"]["requests"]["memory"], "1Gi");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Manifests {
    /// The input of the objects besides the DaemonSet and the node; null where there is no other.
    ///
    /// It is asked for once for each snapshot, and stored in the revision's data beside the template, as `ingredients`.
    /// While there are inputs, the template generation has no meaning, since it does not count their changes: the hash
    /// label alone decides which pods are updated. A policy that annotations ask for is
    /// [checked for them](crate::Policy::for_inputs).
    fn inputs(&self) -> Value;

    /// The object for one node. It is asked for once for each create of a plan.
    ///
    /// It must have the labels, the namespace and the owner of [`NewPod::pod`], and its pod spec must have the pod's
    /// tolerations and name the node, by `spec.nodeName` or by required node affinity, as the pod's own spec does.
    fn manifest(&self, new: &NewPod<'_>) -> Value;

    /// The place of the pod spec in the object, as a JSON pointer: `/spec` in a pod, `/spec/template/spec` in a Job.
    fn pod_spec(&self) -> &'static str {
        "/spec"
    }
}

/// The template's own pods: a plan with these is the plan without.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to choose")]
pub struct TemplateManifests;

impl Manifests for TemplateManifests {
    fn inputs(&self) -> Value {
        Value::Null
    }

    fn manifest(&self, new: &NewPod<'_>) -> Value {
        new.pod.to_value()
    }
}

/// A node that gets an object, and the revision that it is made from.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct NewPod<'a> {
    /// The node.
    pub node: &'a NodeView<'a>,
    /// The hash of the revision: the value of the hash label.
    pub revision_hash: &'a str,
    /// The inputs of the revision.
    pub inputs: &'a Value,
    /// The pod that the DaemonSet's template gives the node.
    pub pod: &'a PodManifest,
}

/// An object that a plan must not create.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the manifest for node {node}: {problem}")]
#[non_exhaustive]
pub struct InvalidManifest {
    /// The node that it was made for.
    pub node: NodeName,
    /// The problem.
    pub problem: ManifestProblem,
}

/// Why an object must not be created: the next snapshot would not count it as the node's updated pod, and the next plan would
/// create another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum ManifestProblem {
    /// It lacks the hash label of the revision, or has another one.
    #[error("metadata.labels must have the revision's hash")]
    Hash,
    /// It lacks the template generation, or has another one; or a pod of an older version has that of the current one.
    #[error("metadata.labels must have the template generation")]
    TemplateGeneration,
    /// It has another name, where the policy gives each node one name (`OnePerNode`): the promise of at most one pod rests on it.
    #[error("metadata.name must be the node's one name")]
    Name,
    /// Its labels do not match the selector.
    #[error("metadata.labels must match the selector")]
    Selector,
    /// It is in another namespace.
    #[error("metadata.namespace must be the DaemonSet's")]
    Namespace,
    /// Its controller is not the DaemonSet, or not the only one.
    #[error("metadata.ownerReferences must have the DaemonSet as the only controller")]
    Owner,
    /// Its pod spec names another node, or none.
    #[error("the pod spec must name the node")]
    Node,
    /// Its pod spec lacks a toleration that placement counts on.
    #[error("the pod spec must have the tolerations of the DaemonSet's pods")]
    Tolerations,
}

/// A checked snapshot whose objects the caller makes, from [`SnapshotBuilder::check_with`](crate::SnapshotBuilder::check_with).
///
/// It is a type of its own, so that no plan mixes the inputs of these manifests with the pods of the bare template.
#[derive(Clone)]
pub struct CustomSnapshot<'a, 'm> {
    pub(crate) snapshot: Snapshot<'a>,
    pub(crate) manifests: &'m dyn Manifests,
}

impl CustomSnapshot<'_, '_> {
    /// The plan, as [`plan`](crate::plan()).
    ///
    /// # Errors
    /// The first manifest that must not be created, in the order of the actions.
    pub fn plan(&self) -> Result<Plan, InvalidManifest> {
        plan_of(&self.snapshot, &Custom(self.manifests))
    }

    /// The instant that it is taken at.
    pub fn now(&self) -> Timestamp {
        self.snapshot.now
    }
}

impl<'a> SnapshotBuilder<'a> {
    /// Checks the input of a plan whose objects the caller makes.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn check_with(self, manifests: &dyn Manifests) -> Result<CustomSnapshot<'a, '_>, InvalidSnapshot> {
        // Asked for once: hash, revision and manifests of all plans of this snapshot have the same ones.
        let snapshot = self.inputs(manifests.inputs()).check()?;
        Ok(CustomSnapshot { snapshot, manifests })
    }
}

/// For crates of the same version: [`internal`](crate::internal).
#[doc(hidden)]
impl<'a> CustomSnapshot<'a, '_> {
    /// The input without the manifests.
    pub fn checked(&self) -> &Snapshot<'a> {
        &self.snapshot
    }
}

impl fmt::Debug for CustomSnapshot<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CustomSnapshot").field("snapshot", &self.snapshot).finish_non_exhaustive()
    }
}

/// The caller's manifests, each checked.
struct Custom<'m>(&'m dyn Manifests);

impl Bodies for Custom<'_> {
    type Error = InvalidManifest;

    fn body(
        &self,
        snapshot: &Snapshot<'_>,
        node: &NodeView<'_>,
        pod: PodManifest,
        source: &Source<'_>,
    ) -> Result<PodManifest, InvalidManifest> {
        let (revision_hash, inputs) = (pod.revision_hash(), source.inputs);
        let mut value = self.0.manifest(&NewPod { node, revision_hash, inputs, pod: &pod });
        // The caller's JSON may keep the order of insertion: plans are compared by their text.
        value.sort_all_objects();
        let body = CustomBody { value, pod_spec: self.0.pod_spec() };
        match problem(snapshot, source, &pod, &body) {
            Some(problem) => Err(InvalidManifest { node: pod.node, problem }),
            None => Ok(PodManifest { body: Some(Arc::new(body)), ..pod }),
        }
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
    // Where a pod gets no generation, only that of the current template is wrong: with it a pod of base would count as updated.
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
