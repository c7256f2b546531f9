//! A DaemonSet from a typed one.

use crate::model::{DaemonSet, TemplateFidelity};
use k8s_openapi::api::apps::v1 as apps;

impl DaemonSet {
    /// Takes a typed DaemonSet, which has lost every field that the version of Kubernetes it is typed for does not know.
    ///
    /// Its template is marked as [`TemplateFidelity::Typed`]: a stored revision that is the same after the same loss is
    /// taken to hold it. So no revision is created, and no pod is outdated, because a field was lost; new pods are made
    /// from the stored template and have the field. But three things can't be helped:
    ///
    /// - A change of lost fields alone is not seen. Of two revisions that differ in nothing else the newer one is taken for
    ///   the template, also where the template is the older one, as for a moment after an undo.
    /// - Where the change of a known field makes a new revision, this revision and its pods are without the lost fields.
    /// - From then on the stored revision is not the template that the API server holds. The first controller that reads
    ///   the template whole (Kubernetes' own, one that watches [`DaemonSet`] itself, or this one once its version of
    ///   `k8s-openapi` knows the fields) makes a new revision, and **replaces every pod**.
    ///
    /// Who watches [`DaemonSet`] itself from the beginning has none of these.
    pub fn lossy_from(typed: &apps::DaemonSet) -> DaemonSet {
        // The same types with fewer fields: there is nothing in it that can't be read.
        let mut ds: DaemonSet =
            serde_json::to_value(typed).and_then(serde_json::from_value).unwrap_or_default();
        ds.template_fidelity = TemplateFidelity::Typed;
        ds
    }
}
