//! A ControllerRevision: its name, its content, and its rank among equal ones.

use crate::kubernetes::{Selector, canonical_json};
use crate::model::DaemonSet;
use crate::view::RevisionView;
use crate::words::ownership::{ClaimVerdict, Ownership};
use serde_json::Value;
use std::cmp::Reverse;

/// The member of a revision's data that holds the inputs of its manifests, beside the template's patch.
pub const INPUTS: &str = "ingredients";

/// The name of the revision with this hash (v1.36 `controller_history.go ControllerRevisionName`).
pub fn name(ds: &DaemonSet, hash: &str) -> String {
    format!("{}-{hash}", ds.metadata.name)
}

/// Whether stored data restores this template: the patch `{"spec":{"template":{…,"$patch":"replace"}}}`, compared
/// member by member, so that a member which is null is the same as an absent one.
pub fn has_template(data: &Value, template: &Value) -> bool {
    let Some(stored) = data.pointer("/spec/template").and_then(Value::as_object) else { return false };
    let Some(template) = template.as_object() else { return false };
    let mut others = stored.iter().filter(|(key, value)| *key != "$patch" && !value.is_null());
    let count = template.values().filter(|value| !value.is_null()).count();
    others.clone().count() == count
        && others
            .all(|(key, value)| template.get(key).is_some_and(|other| canonical_json::equal(value, other)))
}

/// The inputs in stored data; null where there are none.
pub fn inputs(data: &Value) -> &Value {
    data.get(INPUTS).unwrap_or(&Value::Null)
}

/// Whether stored data holds this template and these inputs, null where there are none.
pub fn has_content(data: &Value, template: &Value, wanted: &Value) -> bool {
    canonical_json::equal(inputs(data), wanted) && has_template(data, template)
}

/// Whether a revision belongs to the DaemonSet.
pub fn claim(ds: &DaemonSet, selector: &Selector<'_>, revision: &RevisionView<'_>) -> ClaimVerdict {
    let ds = &ds.metadata;
    if revision.namespace != ds.namespace {
        return ClaimVerdict::Ignore;
    }
    let ownership = Ownership::from_controller(revision.controller, ds.uid.as_str());
    ownership.verdict(|| selector.matches(revision.labels), revision.deleted_at.is_some())
}

/// The rank of a revision among equal ones. The first is kept: the one with the largest number, then the oldest one, then
/// the first by name.
pub fn rank<'a>(view: &RevisionView<'a>) -> (Reverse<i64>, Option<jiff::Timestamp>, &'a str) {
    (Reverse(view.number), view.created_at, view.name)
}

/// Whether a revision with the right name is the current one, though its labels don't match the selector: it has the
/// template, is not terminating, and has no other controller. One that the DaemonSet still controls is released by this
/// pass.
pub fn can_be_current(
    ds: &DaemonSet,
    (template, inputs): (&Value, &Value),
    revision: &RevisionView<'_>,
) -> bool {
    let free = match Ownership::from_controller(revision.controller, ds.metadata.uid.as_str()) {
        Ownership::Orphan | Ownership::Controlled => true,
        Ownership::Foreign => false,
    };
    free && revision.deleted_at.is_none() && has_content(revision.data, template, inputs)
}
