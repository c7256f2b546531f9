//! Labels, annotations and taint keys with a meaning in Kubernetes.
//!
//! ```
//! use daemonset::kubernetes::well_known::{TEMPLATE_GENERATION_ANNOTATION, TEMPLATE_GENERATION_LABEL};
//! use daemonset::{Action, Recording, reconcile};
//! use serde_json::{from_value, json};
//!
//! # let daemon_set = json!({
//! #     "metadata": {"name": "agent", "namespace": "ns", "uid": "u1"},
//! #     "spec": {
//! #         "selector": {"matchLabels": {"app": "agent"}},
//! #         "template": {"metadata": {"labels": {"app": "agent"}}},
//! #         "updateStrategy": {"type": "RollingUpdate"},
//! #     },
//! # });
//! let mut recording: Recording =
//!     from_value(json!({"now": "2026-01-01T12:00:00Z", "daemonSet": daemon_set, "nodes": [{"metadata": {"name": "a"}}]}))?;
//! let annotations = &mut recording.daemon_set.metadata.annotations;
//! *annotations = annotations.with(TEMPLATE_GENERATION_ANNOTATION, "3");
//! let actions = reconcile(&recording.snapshot().unwrap());
//! let Action::CreatePod { pod, .. } = &actions[1] else { panic!("the node lacks a pod") };
//! assert_eq!(pod.to_value()["metadata"]["labels"][TEMPLATE_GENERATION_LABEL], "3");
//! # Ok::<(), serde_json::Error>(())
//! ```

/// The label with the template generation that a pod was created at
/// (v1.36 `apps/v1 DeprecatedTemplateGeneration` of a pod's labels).
pub const TEMPLATE_GENERATION_LABEL: &str = "pod-template-generation";

/// The annotation of a DaemonSet with its template generation (v1.36 `apps/v1 DeprecatedTemplateGeneration`).
pub const TEMPLATE_GENERATION_ANNOTATION: &str = "deprecated.daemonset.template.generation";

/// The taint of a node whose condition Ready is False (v1.36 `core/v1 TaintNodeNotReady`).
pub const TAINT_NOT_READY: &str = "node.kubernetes.io/not-ready";

/// The taint of a node whose condition Ready is Unknown (v1.36 `core/v1 TaintNodeUnreachable`).
pub const TAINT_UNREACHABLE: &str = "node.kubernetes.io/unreachable";

/// The taint of a node that Karpenter is about to replace (karpenter.sh/docs, "Disruption").
pub const TAINT_DISRUPTED: &str = "karpenter.sh/disrupted";

/// The taint of a node that cluster-autoscaler is about to remove (`utils/taints ToBeDeletedTaint`).
pub const TAINT_TO_BE_DELETED: &str = "ToBeDeletedByClusterAutoscaler";

/// Where the annotation of a node begins that holds a turn; the turn key follows.
pub const TURN_PREFIX: &str = "turn.daemonset/";

/// Between the name of a gate and the turn key, in the annotation of a node that opens the gate.
pub const GATE_INFIX: &str = ".gate.daemonset/";

/// The annotation of a pod that an update has changed in its place.
pub const IN_PLACE_ANNOTATION: &str = "in-place.daemonset/since";

/// The label of a pull pod that names its DaemonSet's uid.
pub const PULL_OWNER_LABEL: &str = "pull.daemonset/owner";

/// The label of a pull pod that names the hash of the revision whose images it pulls.
pub const PULL_REVISION_LABEL: &str = "pull.daemonset/revision";

/// Set on the API server's copy of a static pod (v1.36 `core/v1 MirrorPodAnnotationKey`).
pub const MIRROR_ANNOTATION: &str = "kubernetes.io/config.mirror";

/// The taint of a cordoned node (v1.36 `core/v1 TaintNodeUnschedulable`).
pub const TAINT_UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";
