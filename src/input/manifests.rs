//! Manifests that the caller makes: per-node patches of the template, or objects of another kind, such as Jobs.

use crate::pod_manifest::PodManifest;
use daemonset_objects::NodeView;
use daemonset_objects::model::NodeName;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use thiserror::Error;

/// Makes the object that a node gets, in place of the template's pod.
///
/// A [`Reconciler`](crate::Reconciler::with_manifests) or a [`SnapshotBuilder`](crate::SnapshotBuilder::manifests) gets them once: the
/// snapshot has the inputs and makes the objects, so that no plan mixes the inputs of one with the objects of another, or with the
/// bare template's pods. A plan with an object that must not be created has no action ([`InvalidManifest`]).
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
/// use std::sync::Arc;
///
/// /// Large nodes get more memory.
/// #[derive(Debug)]
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
/// let plan = Reconciler::new("u1", Policy::default()).with_manifests(Arc::new(by_size)).plan(observed, *now)?;
/// let Action::CreatePod { pod, .. } = &plan.actions[1] else { panic!("the node lacks a pod") };
/// assert_eq!(pod.to_value()["spec"]["containers"][0]["resources"]["requests"]["memory"], "1Gi");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Manifests: fmt::Debug + Send + Sync {
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

/// An object that a plan must not create. The whole plan has no action then: a driver returns
/// [`PlanError::Manifest`](crate::PlanError::Manifest), [`reconcile`](crate::reconcile()) is empty, and [`plan`](crate::plan()) warns with
/// [`Warning::InvalidManifest`](crate::report::Warning::InvalidManifest).
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error, Serialize, Deserialize)]
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
