//! Pods that were changed in their place, read apart from the planner.

use daemonset::PodView;
use daemonset::internal::rfc3339;
use daemonset::model::{ContainerStatus, Pod};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

/// The change of a pod.
pub(crate) struct Changed {
    at: Timestamp,
    /// Its old containers may still run: its conditions tell nothing.
    pub(crate) settles: bool,
    /// Since when its new containers have run.
    runs_since: Timestamp,
    /// The most restarts of a container after it.
    pub(crate) restarts: i64,
}

/// The change of a pod, if it has a readable one.
pub(crate) fn changed(pod: &PodView<'_>, now: Timestamp) -> Option<Changed> {
    let since: Value = serde_json::from_str(pod.in_place()?).ok()?;
    let at = rfc3339(since.get("at")?.as_str()?)?;
    let (before, restarts) = (since.get("containers")?.as_object()?, since.get("restarts")?.as_object()?);
    let is_id = |container: &Value, member| container.get(member).is_some_and(Value::is_string);
    let is_readable = !before.is_empty()
        && before.values().all(|container| is_id(container, "id") && is_id(container, "imageID"))
        && restarts.values().all(|count| count.as_u64().is_some_and(|count| u32::try_from(count).is_ok()));
    if !is_readable {
        return None;
    }
    let object = pod.object.model();
    let is_late = now.duration_since(at) >= SignedDuration::from_secs(60);
    let statuses = |name: &str| object.status.container_statuses.iter().find(|status| status.name == name);
    let settles = before
        .iter()
        .any(|(name, before)| statuses(name).is_none_or(|status| !is_new(status, before, is_late)));
    let starts = before.keys().filter_map(|name| statuses(name)?.started_at);
    let restarts = most_restarts(&object, before, restarts);
    Some(Changed { at, settles, runs_since: starts.fold(at, Ord::max), restarts })
}

fn is_new(status: &ContainerStatus, before: &Value, is_late: bool) -> bool {
    let differs = |id: &str, member| !id.is_empty() && before.get(member).and_then(Value::as_str) != Some(id);
    differs(&status.container_id, "id") && (is_late || differs(&status.image_id, "imageID"))
}

fn most_restarts(pod: &Pod, before: &Map<String, Value>, restarts: &Map<String, Value>) -> i64 {
    let counts =
        pod.status.container_statuses.iter().chain(&pod.status.init_container_statuses).map(|status| {
            let had = restarts.get(&status.name).and_then(Value::as_i64).unwrap_or(0);
            // The change itself is one restart of the container.
            let is_changed = before.get(&status.name).is_some_and(|before| is_new(status, before, true));
            i64::from(status.restart_count) - had - i64::from(is_changed)
        });
    counts.max().unwrap_or(0)
}

impl Changed {
    /// Since when a pod that is Ready since this instant counts as Ready.
    fn ready_since(&self, transition: Timestamp) -> Timestamp {
        transition.max(self.runs_since)
    }
}

/// When the pod says that it was changed.
pub(crate) fn changed_at(pod: &PodView<'_>) -> Option<Timestamp> {
    let since: Value = serde_json::from_str(pod.in_place()?).ok()?;
    rfc3339(since.get("at")?.as_str()?)
}

/// Since when the pod has been Ready as it is.
pub(crate) fn ready_since(pod: &PodView<'_>, now: Timestamp) -> Option<Timestamp> {
    let transition = pod.ready_since?;
    Some(changed(pod, now).map_or(transition, |changed| changed.ready_since(transition)))
}

/// When the pod came with its present version: its creation, or a later change.
pub(crate) fn birth(pod: &PodView<'_>, now: Timestamp) -> Option<Timestamp> {
    pod.created_at.max(changed(pod, now).map(|changed| changed.at))
}
