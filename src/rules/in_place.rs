//! Pods that an update has changed in their place: when their containers are new, and since when they count.

use crate::input::Snapshot;
use crate::position::{HistoryIx, PodIx, enumerate};
use daemonset_objects::PodView;
use daemonset_objects::internal::rfc3339;
use daemonset_objects::model::{ContainerStatus, Pod};
use jiff::{SignedDuration, Timestamp};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The annotation `in-place.daemonset/since` of a pod, in JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Since {
    /// When the pod was changed.
    #[serde(deserialize_with = "instant")]
    pub at: Timestamp,
    /// The containers whose image was changed, as they were.
    pub containers: BTreeMap<String, WasContainer>,
    /// How often each container and init container had been restarted.
    pub restarts: BTreeMap<String, u32>,
}

/// In the one form in which this crate writes instants, whatever else its parser would take.
fn instant<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
    let text = String::deserialize(deserializer)?;
    rfc3339(&text).ok_or_else(|| D::Error::custom("no instant of RFC 3339"))
}

/// A container before it was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WasContainer {
    pub id: String,
    #[serde(rename = "imageID")]
    pub image_id: String,
}

/// A pod that was changed in its place.
#[derive(Debug, Clone)]
pub struct InPlace {
    pub since: Since,
    /// It settles: its new containers do not all run yet, whatever its conditions say (kubernetes#91667).
    pub settles: bool,
    /// When time alone ends that.
    pub settled_at: Option<Timestamp>,
    /// The last of the change and of the starts of the changed containers.
    started_at: Timestamp,
    /// How often the container or init container with the most restarts has been restarted since.
    pub restarts: u32,
}

/// The old revisions whose pods may be changed in their place, by the goal of their node.
#[derive(Debug)]
pub struct ImageChanges {
    pub to_current: BTreeSet<HistoryIx>,
    pub to_stable: BTreeSet<HistoryIx>,
}

/// After this time the same image under two names is no reason to wait (kruise#635).
const SAME_IMAGE_AFTER: SignedDuration = SignedDuration::from_secs(60);

/// A pod that settles for so long is stuck.
const STUCK_AFTER: SignedDuration = SignedDuration::from_mins(10);

impl InPlace {
    /// Since when a Ready pod has been ready as it is, from its Ready transition.
    pub fn ready_since(&self, transition: Option<Timestamp>) -> Option<Timestamp> {
        transition.map(|transition| transition.max(self.started_at))
    }

    /// Whether it has settled for so long that a person should look.
    pub fn is_stuck(&self, now: Timestamp) -> bool {
        self.settles && now.duration_since(self.since.at) >= STUCK_AFTER
    }

    /// From when on it is [stuck](Self::is_stuck), while it settles.
    pub fn stuck_at(&self) -> Option<Timestamp> {
        self.since.at.checked_add(STUCK_AFTER).ok().filter(|_| self.settles)
    }

    /// The change of a pod, if it has a readable one. An annotation of another form is none, and so is one without a container: this
    /// crate never writes it, and it would give the pod another birth.
    pub fn of(pod: &PodView<'_>, now: Timestamp) -> Option<Self> {
        let since: Since = serde_json::from_str(pod.in_place()?).ok()?;
        (!since.containers.is_empty()).then(|| InPlace::new(since, &pod.object.model(), now))
    }

    fn new(since: Since, pod: &Pod, now: Timestamp) -> Self {
        let mut in_place =
            InPlace { settles: false, settled_at: None, started_at: since.at, restarts: 0, since };
        let is_late = now.duration_since(in_place.since.at) >= SAME_IMAGE_AFTER;
        let mut waits_for_time_alone = true;
        for (name, was) in &in_place.since.containers {
            let status = pod.status.container_statuses.iter().find(|status| status.name == *name);
            let is_new = |id: &str, was: &str| !id.is_empty() && id != was;
            let has_new_container = status.is_some_and(|status| is_new(&status.container_id, &was.id));
            let has_new_image = status.is_some_and(|status| is_new(&status.image_id, &was.image_id));
            in_place.settles |= planted::settles(!(has_new_container && (has_new_image || is_late)));
            waits_for_time_alone &= has_new_container;
            let started_at = status.and_then(|status| status.started_at);
            in_place.started_at = in_place.started_at.max(started_at.unwrap_or(in_place.started_at));
        }
        let settled_at = in_place.since.at.checked_add(SAME_IMAGE_AFTER).ok();
        in_place.settled_at = settled_at.filter(|_| in_place.settles && waits_for_time_alone && !is_late);
        in_place.restarts = restarts(pod, &in_place.since);
        in_place
    }
}

/// The most restarts of a container since the change, which itself is one restart of each changed container.
fn restarts(pod: &Pod, since: &Since) -> u32 {
    let containers = pod.status.container_statuses.iter().chain(&pod.status.init_container_statuses);
    let since_change = |status: &ContainerStatus| {
        let before =
            since.restarts.get(&status.name).map_or(0, |before| i32::try_from(*before).unwrap_or(i32::MAX));
        let was = since.containers.get(&status.name);
        let is_changed =
            was.is_some_and(|was| !status.container_id.is_empty() && status.container_id != was.id);
        status.restart_count.saturating_sub(before).saturating_sub(i32::from(is_changed))
    };
    let most = containers.map(since_change).max().unwrap_or(0);
    u32::try_from(most).unwrap_or(0)
}

/// The pods that were changed in their place and are the DaemonSet's, or may become so, in the order of the snapshot.
pub(crate) fn changed_in_place(snapshot: &Snapshot<'_>) -> Vec<(PodIx, InPlace)> {
    let metadata = &snapshot.spec.daemon_set.metadata;
    let is_anothers = |pod: &PodView<'_>| {
        pod.namespace != metadata.namespace || pod.controller.is_some_and(|uid| uid != metadata.uid.as_str())
    };
    let pods = enumerate::<PodIx, _>(&snapshot.pods).filter(|(_, pod)| !is_anothers(pod));
    pods.filter_map(|(position, pod)| Some((position, InPlace::of(pod, snapshot.now)?))).collect()
}

/// The deliberate errors in this file.
mod planted {
    crate::planted::planted! {
        settles(right: bool): OldContainersCount => false;
    }
}
