//! The restored template that a snapshot does not show yet, and refusals to restore it.

use crate::action::Action;
use crate::input::Snapshot;
use crate::input::memory::accepted::{InFlight, RestoredTemplate};
use crate::input::memory::node_failures::{back_off, is_long_ago};
use crate::input::memory::restores::{RefusedRestore, RestoreMemory};
use crate::input::memory::{ActionOutcome, Memory, parsed_version};
use jiff::{SignedDuration, Timestamp};

/// The longest time between two tries.
const LONGEST_BACK_OFF: SignedDuration = SignedDuration::from_mins(5);

impl Memory {
    /// Keeps the outcome of a restore.
    pub(crate) fn record_restore(&mut self, action: &Action, outcome: &ActionOutcome, at: Timestamp) {
        let Action::RestoreTemplate { daemon_set, .. } = action else { return };
        let restores = if *outcome == ActionOutcome::Rejected {
            let before = self.restores.as_ref().and_then(|restores| restores.refused);
            let count = before.map_or(0, |refused| refused.count).saturating_add(1);
            RestoreMemory { accepted: None, refused: Some(RefusedRestore { at, count }) }
        } else {
            let version = parsed_version(&daemon_set.resource_version);
            let accepted = InFlight { expected: RestoredTemplate, at, version };
            RestoreMemory { accepted: Some(accepted), refused: None }
        };
        self.restores = Some(Box::new(restores));
    }

    /// When the restored template expires that the snapshot does not show.
    pub(crate) fn restored_until(&self, snapshot: &Snapshot<'_>) -> Option<Timestamp> {
        self.restored()?.until(snapshot)
    }

    /// When a refused restore may be tried again: 1 s after the first refusal, then doubling to 5 minutes; `None` if it may now.
    pub(crate) fn restore_again_at(&self, now: Timestamp) -> Option<Timestamp> {
        let refused = self.restores.as_ref()?.refused.filter(|refused| !is_long_ago(refused.at, now))?;
        let again_at = refused.at.checked_add(back_off(refused.count, LONGEST_BACK_OFF)).ok()?;
        Some(again_at).filter(|again_at| now < *again_at)
    }

    /// Forgets the actions that the snapshot shows, and the entries that have expired.
    pub(crate) fn observe_restores(&mut self, snapshot: &Snapshot<'_>) {
        let Some(restores) = self.restores.take() else { return };
        self.keep_restores(RestoreMemory {
            accepted: restores.accepted.filter(|accepted| accepted.until(snapshot).is_some()),
            refused: restores.refused.filter(|refused| !is_long_ago(refused.at, snapshot.now)),
        });
    }

    /// Forgets a restore whose answer was lost and that was not done, as the stored DaemonSet shows.
    pub(crate) fn settle_restore(&mut self, action: &Action, stored: &Snapshot<'_>) {
        let Action::RestoreTemplate { daemon_set, .. } = action else { return };
        // Of another version one of the two is true: it was done, and older caches may hide it still; or it never will be.
        if stored.spec.daemon_set.metadata.resource_version == daemon_set.resource_version {
            let refused = self.restores.take().and_then(|restores| restores.refused);
            self.keep_restores(RestoreMemory { accepted: None, refused });
        }
    }

    fn keep_restores(&mut self, left: RestoreMemory) {
        self.restores = (left != RestoreMemory::default()).then(|| Box::new(left));
    }
}
