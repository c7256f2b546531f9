//! Which stored template a typed one was read from.

use crate::kubernetes::canonical_json;
use crate::kubernetes::revision::{has_template, rank};
use crate::view::RevisionView;
use k8s_openapi::api::core::v1::PodTemplateSpec;
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;

/// The template of the first-ranked revision that equals `template` after the same loss: `template` itself where that one
/// equals it as it is.
pub(crate) fn restored<'r, 'a: 'r>(
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

/// Whether stored data, read as the typed template was, is that template. What can't be read so is compared as it is.
fn becomes(data: &Value, template: &Value) -> bool {
    // The typed template loses nothing more: what equals it is equal after the loss, too.
    has_template(data, template)
        || data
            .pointer("/spec/template")
            .and_then(after_loss)
            .is_some_and(|stored| canonical_json::equal(&stored, template))
}

/// A template without what k8s-openapi's version of Kubernetes does not know.
fn after_loss(template: &Value) -> Option<Value> {
    let typed = PodTemplateSpec::deserialize(template).ok()?;
    serde_json::to_value(typed).ok()
}

/// The template that stored data restores.
pub(crate) fn stored(data: &Value) -> Option<Value> {
    let mut template = data.pointer("/spec/template")?.as_object()?.clone();
    template.remove("$patch");
    Some(Value::Object(template))
}
