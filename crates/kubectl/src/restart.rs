//! Replacing every pod without another change: `kubectl rollout restart`; pausing and resuming, which there is not.

use super::error::RolloutError;
use super::fields::name;
use super::patches::{Patches, nested, set};
use super::restore::accepted;
use super::undo::Change;
use jiff::Timestamp;
use serde_json::{Value, json};
use std::convert::Infallible;

/// Where in the template it is told.
const PATH: [&str; 5] = ["spec", "template", "metadata", "annotations", "kubectl.kubernetes.io/restartedAt"];

/// Gives the template an annotation with the time, so that every pod is outdated
/// (v1.36 kubectl `rollout_restart.go`, `objectrestarter.go`). kubectl writes its own time zone's time; this is UTC's.
///
/// # Errors
/// When the template has this second's annotation already, and when the API server would refuse the DaemonSet.
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
    Err(RolloutError::CannotPause(name(daemon_set).to_owned()))
}

/// A DaemonSet can't be resumed (v1.36 kubectl `objectresumer.go defaultObjectResumer`).
///
/// # Errors
/// Always.
pub fn resume(daemon_set: &Value) -> Result<Infallible, RolloutError> {
    Err(RolloutError::CannotResume(name(daemon_set).to_owned()))
}
