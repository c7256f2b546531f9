//! Until when an accepted action is in flight.

use crate::input::Snapshot;
use crate::input::memory::accepted::{
    ChangedPod, CreatedPod, DeletedPod, InFlight, PatchedNode, PullPodCall, RestoredTemplate,
};
use crate::input::memory::parsed_version;
use jiff::Timestamp;

/// What has a version that a snapshot reaches.
pub(crate) trait Versioned {
    /// Whether the snapshot is at this version or a later one.
    fn is_read(version: u64, snapshot: &Snapshot<'_>) -> bool {
        snapshot.pods_version.is_some_and(|read| version <= read)
    }
}

impl Versioned for CreatedPod {}
impl Versioned for DeletedPod {}
impl Versioned for PullPodCall {}
impl Versioned for ChangedPod {}

impl Versioned for PatchedNode {
    fn is_read(version: u64, snapshot: &Snapshot<'_>) -> bool {
        snapshot.nodes_version.is_some_and(|read| version <= read)
    }
}

impl Versioned for RestoredTemplate {
    fn is_read(before: u64, snapshot: &Snapshot<'_>) -> bool {
        parsed_version(&snapshot.spec.daemon_set.metadata.resource_version).is_some_and(|read| before < read)
    }
}

#[expect(private_bounds, reason = "only this crate asks")]
impl<T: Versioned> InFlight<T> {
    /// When it expires; `None` where it has, and where the version of the snapshot shows the outcome.
    pub(crate) fn until(&self, snapshot: &Snapshot<'_>) -> Option<Timestamp> {
        let is_read = self.version.is_some_and(|version| T::is_read(version, snapshot));
        snapshot.expires(self.at).filter(|_| !is_read)
    }
}
