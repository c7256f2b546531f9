//! A DaemonSet from a typed one, and the stored template that the typed one was read from.
//!
//! A typed template has lost the fields that the types do not know, and must not look like another template because of
//! that. So each stored template makes the same lossy round trip, into the types and back to JSON, and is compared then.
//! A match has the lost fields, and is used in place of the typed template.

use crate::kubernetes::revision::{can_be_current, claim, has_template, name, rank};
use crate::kubernetes::{Selector, canonical_json};
use crate::model::{DaemonSet, TemplateFidelity};
use crate::view::RevisionView;
use crate::words::hash::content_hash;
use k8s_openapi::api::apps::v1 as apps;
use k8s_openapi::api::core::v1::PodTemplateSpec;
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;

impl DaemonSet {
    /// Converts a typed DaemonSet, which has lost every field that its version of Kubernetes does not know.
    ///
    /// Its template is marked as [`TemplateFidelity::Typed`]: a stored revision that equals it after the same lossy round trip
    /// is used as the template. So no revision is created and no pod becomes outdated because a field was lost, and new
    /// pods, which are made from the stored template, have the field. Three limits remain:
    ///
    /// - A change of lost fields alone is not seen. Of two revisions that differ only in lost fields, the newer one is used
    ///   as the template, even if the template is the older one, for example for a moment after an undo.
    /// - When a change of a known field makes a new revision, this revision and its pods lack the lost fields.
    /// - From then on the stored revision is not the template that the API server holds. The first controller that reads
    ///   the whole template (Kubernetes' own, one that watches [`DaemonSet`] itself, or this one once its version of
    ///   `k8s-openapi` knows the fields) makes a new revision and **replaces every pod**.
    ///
    /// A controller that watches [`DaemonSet`] itself from the beginning has none of these limits.
    ///
    /// ```
    /// use daemonset::model::{DaemonSet, TemplateFidelity};
    /// use k8s_openapi::api::apps::v1 as apps;
    /// use serde_json::{from_value, json};
    ///
    /// let stored = json!({"metadata": {"name": "agent"}, "spec": {
    ///     "selector": {"matchLabels": {"app": "agent"}},
    ///     "template": {"metadata": {"labels": {"app": "agent"}}, "spec": {"containers": [], "fieldOfTheFuture": 1}},
    /// }});
    /// let typed: apps::DaemonSet = from_value(stored.clone())?;
    /// let ds = DaemonSet::lossy_from(&typed);
    /// assert_eq!(ds.template_fidelity, TemplateFidelity::Typed);
    /// assert!(ds.spec.template["spec"].get("fieldOfTheFuture").is_none());
    ///
    /// let exact: DaemonSet = from_value(stored)?;
    /// assert_eq!(exact.spec.template["spec"]["fieldOfTheFuture"], 1);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn lossy_from(typed: &apps::DaemonSet) -> DaemonSet {
        // The model has the same types with fewer fields, so that reading can't fail.
        let mut ds: DaemonSet =
            serde_json::to_value(typed).and_then(serde_json::from_value).unwrap_or_default();
        ds.template_fidelity = TemplateFidelity::Typed;
        ds
    }
}

/// The template of the revision that equals the DaemonSet's after the same lossy round trip; of several the one that history
/// would keep, a released one last `[restored-template]`.
pub(crate) fn stored_template<'a>(
    ds: &'a DaemonSet,
    selector: &Selector<'_>,
    revisions: &[RevisionView<'a>],
    inputs: &Value,
) -> Option<Cow<'a, Value>> {
    let template = &ds.spec.template;
    let ours = |revision: &&RevisionView<'a>| claim(ds, selector, revision).is_ours();
    let released = |revision: &&RevisionView<'a>| is_named_by_content(ds, inputs, revision);
    recovered(template, revisions.iter().filter(ours))
        .or_else(|| recovered(template, revisions.iter().filter(released)))
}

/// Whether a revision has the name for its own content, and would be the current one for its own template. The
/// DaemonSet's template can't give that name, since it has lost fields.
fn is_named_by_content(ds: &DaemonSet, inputs: &Value, revision: &RevisionView<'_>) -> bool {
    let named = |template: &Value| {
        let collisions = ds.status.collision_count.unwrap_or(0);
        revision.name == name(ds, &content_hash(template, inputs, collisions))
    };
    revision.namespace == ds.metadata.namespace
        && stored(revision.data)
            .is_some_and(|template| can_be_current(ds, (&template, inputs), revision) && named(&template))
}

/// The template of the first-ranked revision that equals `template` after the lossy round trip; `template` itself if that
/// revision equals it without one.
fn recovered<'r, 'a: 'r>(
    template: &'a Value,
    revisions: impl Iterator<Item = &'r RevisionView<'a>>,
) -> Option<Cow<'a, Value>> {
    let equal = revisions.filter(|revision| becomes(revision.data, template));
    let kept = equal.min_by_key(|revision| rank(revision))?;
    if has_template(kept.data, template) {
        return Some(Cow::Borrowed(template));
    }
    stored(kept.data).map(Cow::Owned)
}

/// Whether stored data equals a typed template after the lossy round trip. Data that the types can't read is compared
/// without one.
fn becomes(data: &Value, template: &Value) -> bool {
    // A second round trip loses nothing more: data that equals the template still equals it after the round trip.
    has_template(data, template)
        || data
            .pointer("/spec/template")
            .and_then(lossy_round_trip)
            .is_some_and(|stored| canonical_json::equal(&stored, template))
}

/// A template without the fields that k8s-openapi's version of Kubernetes does not know.
fn lossy_round_trip(template: &Value) -> Option<Value> {
    let typed = PodTemplateSpec::deserialize(template).ok()?;
    serde_json::to_value(typed).ok()
}

/// The template in stored data.
fn stored(data: &Value) -> Option<Value> {
    let mut template = data.pointer("/spec/template")?.as_object()?.clone();
    template.remove("$patch");
    Some(Value::Object(template))
}
