//! Whether a template is what the API server holds.

/// Whether `spec.template` of a [`DaemonSet`](super::DaemonSet) is the one that the API server holds, or what a typed
/// object has left of it.
///
/// It is no part of the object's JSON: what is parsed from an API server's answer is exact.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TemplateFidelity {
    /// It is.
    #[default]
    Exact,
    /// It has been through k8s-openapi's `PodTemplateSpec`: fields that its version of Kubernetes does not know are gone.
    /// A revision whose data is the same after the same loss then holds the template, and is taken for it.
    #[cfg(feature = "k8s-openapi")]
    Typed,
}
