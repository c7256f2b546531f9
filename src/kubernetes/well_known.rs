//! Labels, annotations and taint keys with a meaning in Kubernetes.

/// The label with the template generation that a pod was created at
/// (v1.36 `apps/v1 DeprecatedTemplateGeneration` of a pod's labels).
pub const TEMPLATE_GENERATION_LABEL: &str = "pod-template-generation";

/// The annotation of a DaemonSet with its template generation (v1.36 `apps/v1 DeprecatedTemplateGeneration`).
pub const TEMPLATE_GENERATION_ANNOTATION: &str = "deprecated.daemonset.template.generation";

/// The taint of a node whose condition Ready is False (v1.36 `core/v1 TaintNodeNotReady`).
pub const TAINT_NOT_READY: &str = "node.kubernetes.io/not-ready";

/// The taint of a node whose condition Ready is Unknown (v1.36 `core/v1 TaintNodeUnreachable`).
pub const TAINT_UNREACHABLE: &str = "node.kubernetes.io/unreachable";
