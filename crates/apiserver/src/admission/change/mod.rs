//! Whether applying a manifest restarts the pods: the changes that it makes to the pod template, field by field.

mod walk;

use super::prepare::templates_equal;
use super::refusal::Refusal;
use super::request::update;
use super::{Form, Rules};
use crate::json::{LAST_APPLIED, at, fields_mut};
use crate::patch::three_way_merge;
use serde_json::Value;
use std::fmt;

pub use walk::{Difference, PathSegment};

/// The fields of a pod template that differ.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TemplateDiff {
    /// The differences, in the order of the API's fields.
    pub differences: Vec<Difference>,
    /// When the pods get the changed template.
    pub restart: Restart,
}

/// When the pods of a DaemonSet get a changed template. The update strategy after the change decides, for a manifest may
/// change the strategy together with the template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Restart {
    /// The controller replaces every pod, within the limits of the update strategy.
    Rollout,
    /// The controller replaces no pod: each node gets the changed template when its pod is deleted (v1.36 `update.go`
    /// rollingUpdate is not called under `OnDelete`).
    OnDelete,
}

impl Restart {
    fn from_daemon_set(daemon_set: &Value) -> Self {
        match at(daemon_set, &["spec", "updateStrategy", "type"]).as_str() {
            None | Some("OnDelete") => Restart::OnDelete,
            Some(_) => Restart::Rollout,
        }
    }
}

impl fmt::Display for TemplateDiff {
    /// One field a line, without a line break at the end.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.differences.iter().map(ToString::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

/// Whether applying this manifest restarts the pods of the stored DaemonSet, and the fields that cause it. `None` if
/// the template keeps its meaning, even if other fields of the DaemonSet change. Under `OnDelete` a changed template
/// restarts nothing until pods are deleted: see [`TemplateDiff::restart`].
///
/// A stored object with the annotation `kubectl.kubernetes.io/last-applied-configuration` is merged with the manifest
/// as `kubectl apply` does it: fields that were applied and are no longer in the manifest are removed, fields that
/// others have set stay. Without the annotation the manifest replaces the stored object as `kubectl replace` does it:
/// fields that are not in the manifest are removed.
///
/// # Errors
/// The API server's refusal to store the manifest.
///
/// # Example
///
/// ```
/// use daemonset_apiserver::admission::{Refusal, Rules, create, template_change};
/// use serde_json::json;
///
/// let manifest = json!({
///     "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "web"},
///     "spec": {
///         "selector": {"matchLabels": {"app": "web"}},
///         "template": {
///             "metadata": {"labels": {"app": "web"}},
///             "spec": {"containers": [{"name": "web", "image": "web:v1"}]}
///         }
///     }
/// });
/// let stored = create(&manifest, &Rules::new())?;
/// let mut next = manifest;
/// next["spec"]["template"]["spec"]["restartPolicy"] = json!("Always"); // the default
/// assert_eq!(template_change(&stored, &next)?, None);
///
/// next["spec"]["template"]["spec"]["containers"][0]["image"] = json!("web:v2");
/// let change = template_change(&stored, &next)?.expect("the image differs");
/// assert_eq!(change.to_string(), r#"spec.template.spec.containers[web].image: "web:v1" -> "web:v2""#);
/// # Ok::<(), Refusal>(())
/// ```
pub fn template_change(stored: &Value, manifest: &Value) -> Result<Option<TemplateDiff>, Refusal> {
    let new = applied(stored, manifest)?;
    if templates_equal(stored, &new) {
        return Ok(None);
    }
    let differences = walk::differences(template(stored), template(&new));
    Ok(Some(TemplateDiff { differences, restart: Restart::from_daemon_set(&new) }))
}

/// The fields of the template that the manifest spells differently from the stored object, with the same meaning:
/// `1000m` for `1`, a default written out or left out. These differences restart no pod.
///
/// # Errors
/// The API server's refusal to store the manifest.
pub fn equivalent_spellings(stored: &Value, manifest: &Value) -> Result<TemplateDiff, Refusal> {
    let new = applied(stored, manifest)?;
    Ok(TemplateDiff {
        differences: walk::equivalent_spellings(template(stored), template(manifest), template(&new)),
        restart: Restart::from_daemon_set(&new),
    })
}

fn template(object: &Value) -> &Value {
    at(object, &["spec", "template"])
}

/// The object that the API server would store.
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

/// A manifest that was read from a cluster may contain the version of that time, which would be a conflict today.
fn without_version(manifest: &Value) -> Value {
    let mut sent = manifest.clone();
    if let Some(metadata) = fields_mut(&mut sent, "metadata") {
        metadata.remove("resourceVersion");
    }
    sent
}
