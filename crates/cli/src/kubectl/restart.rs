//! `kubectl rollout restart`, and the commands to pause and resume, which a DaemonSet does not support.

use super::error::RolloutError;
use super::fields::name;
use super::patches::{Patches, nested, set};
use super::restore::accepted;
use super::undo::Change;
use daemonset::model::Owner;
use jiff::Timestamp;
use serde_json::{Value, json};
use std::convert::Infallible;

/// The path of the annotation.
const PATH: [&str; 5] = ["spec", "template", "metadata", "annotations", "kubectl.kubernetes.io/restartedAt"];

/// Sets an annotation with the time in the template, which makes every pod outdated (v1.36 kubectl
/// `rollout_restart.go`, `objectrestarter.go`). The time is in UTC; kubectl writes it in the time zone of its
/// machine.
///
/// # Errors
/// If the template already has the annotation with this second, and if the API server would refuse the DaemonSet.
///
/// ```
/// use kubectl_daemonset::kubectl::{RolloutError, restart};
/// use serde_json::json;
///
/// let web = json!({
///     "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "web", "namespace": "ns", "generation": 1},
///     "spec": {
///         "selector": {"matchLabels": {"app": "web"}},
///         "template": {
///             "metadata": {"labels": {"app": "web"}},
///             "spec": {"containers": [{"name": "web", "image": "web:v1"}]}
///         }
///     }
/// });
/// let change = restart(&web, "2026-01-01T12:00:00Z".parse().unwrap())?;
/// let annotations = &change.patches.strategic_merge["spec"]["template"]["metadata"]["annotations"];
/// assert_eq!(annotations["kubectl.kubernetes.io/restartedAt"], "2026-01-01T12:00:00Z");
/// assert_eq!(change.after["metadata"]["generation"], 2);
/// # Ok::<(), RolloutError>(())
/// ```
pub fn restart(daemon_set: &Value, now: Timestamp) -> Result<Change, RolloutError> {
    let at = Value::from(now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
    let there = PATH.iter().try_fold(daemon_set, |inner, key| inner.get(key));
    if there == Some(&at) {
        return Err(RolloutError::RestartedThisSecond(name(daemon_set).to_owned()));
    }
    let json = json!([set(daemon_set, &PATH, at.clone())]);
    let patches = Patches { strategic_merge: nested(&PATH, at), json };
    let after = accepted(daemon_set, &patches.strategic_merge).map_err(RolloutError::NotPatched)?;
    Ok(Change { patches, after })
}

/// A DaemonSet can't be paused (v1.36 kubectl `objectpauser.go defaultObjectPauser`).
///
/// # Errors
/// Always.
pub fn pause(daemon_set: &Value) -> Result<Infallible, RolloutError> {
    let (resource, name) = (Owner::from_object(daemon_set).resource(), name(daemon_set).to_owned());
    Err(RolloutError::CannotPause { resource, name })
}

/// A DaemonSet can't be resumed (v1.36 kubectl `objectresumer.go defaultObjectResumer`).
///
/// # Errors
/// Always.
pub fn resume(daemon_set: &Value) -> Result<Infallible, RolloutError> {
    let (resource, name) = (Owner::from_object(daemon_set).resource(), name(daemon_set).to_owned());
    Err(RolloutError::CannotResume { resource, name })
}
