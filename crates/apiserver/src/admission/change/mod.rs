//! Whether a manifest restarts the fleet: what it would change in the pod template, field by field.

mod walk;

use super::prepare::templates_equal;
use super::refusal::Refusal;
use super::request::update;
use super::{Form, Rules};
use crate::json::{LAST_APPLIED, at, fields_mut};
use crate::patch::three_way_merge;
use serde_json::Value;
use std::fmt;

pub use walk::{Difference, Place};

/// The fields of a pod template that differ.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TemplateDiff {
    /// In the order of the API's fields.
    pub differences: Vec<Difference>,
}

impl fmt::Display for TemplateDiff {
    /// A line a field, without the end of the last.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.differences.iter().map(ToString::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

/// Whether applying this manifest restarts the pods of the stored DaemonSet, and what does: nothing if the template
/// stays the same in meaning, whatever else changes.
///
/// If the stored object was applied before (it has the annotation
/// `kubectl.kubernetes.io/last-applied-configuration`), the manifest is merged as `kubectl apply` does it: what was
/// applied and is no longer in the manifest goes, what others have set stays. Else it replaces the stored object, as
/// `kubectl replace` does it: what is not in the manifest goes.
///
/// # Errors
/// What the API server answers instead of storing it.
pub fn template_change(stored: &Value, manifest: &Value) -> Result<Option<TemplateDiff>, Refusal> {
    let new = applied(stored, manifest)?;
    if templates_equal(stored, &new) {
        return Ok(None);
    }
    Ok(Some(TemplateDiff { differences: walk::differences(template(stored), template(&new)) }))
}

/// Where a manifest says in other words what the stored template says: `1000m` for `1`, a default spelled out or left
/// out. None of it restarts a pod.
///
/// # Errors
/// What the API server answers instead of storing the manifest.
pub fn equivalent_spellings(stored: &Value, manifest: &Value) -> Result<TemplateDiff, Refusal> {
    let new = applied(stored, manifest)?;
    Ok(TemplateDiff {
        differences: walk::equivalent_spellings(template(stored), template(manifest), template(&new)),
    })
}

fn template(object: &Value) -> &Value {
    at(object, &["spec", "template"])
}

/// The object that would be stored.
fn applied(stored: &Value, manifest: &Value) -> Result<Value, Refusal> {
    let last_applied = at(stored, &["metadata", "annotations", LAST_APPLIED])
        .as_str()
        .and_then(|text| serde_json::from_str::<Value>(text).ok())
        .filter(Value::is_object);
    let sent = match last_applied {
        Some(last_applied) => three_way_merge(&last_applied, manifest, stored).map_err(Refusal::Patch)?,
        None => without_version(manifest),
    };
    update(stored, &sent, &Rules::new().form(Form::from_daemon_set(stored)))
}

/// A manifest that was once read from a cluster may carry the version it had then.
fn without_version(manifest: &Value) -> Value {
    let mut sent = manifest.clone();
    if let Some(metadata) = fields_mut(&mut sent, "metadata") {
        metadata.remove("resourceVersion");
    }
    sent
}
