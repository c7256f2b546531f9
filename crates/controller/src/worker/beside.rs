//! Beside another DaemonSet controller nothing is planned.

use super::{Mode, Worker};
use crate::caches::Key;
use crate::other_controller::ForeignStatus;
use daemonset::EventType;
use daemonset::model::DaemonSet;
use tokio::time::Instant;

impl Worker {
    /// Until when the DaemonSet must wait, since another controller acts in this cluster. Reports the sign of it, if this DaemonSet
    /// has one.
    pub(super) fn stops_beside_another(&self, key: &Key, ds: &DaemonSet) -> Option<Instant> {
        let Mode::Execute(executor) = &self.mode else { return None };
        if let Some(foreign) = self.other_controller.take_unreported(key) {
            tracing::warn!(daemonset = %key, "{foreign}");
            executor.report(ds, EventType::Warning, ForeignStatus::REASON, &foreign.to_string());
        }
        self.pause()
    }

    /// Until when this process stops. Shows that it does.
    pub(super) fn pause(&self) -> Option<Instant> {
        let until = self.other_controller.stops_until();
        let stops = i64::from(until.is_some());
        if self.metrics.beside_another.set(stops) != stops && stops == 0 {
            tracing::info!("no other controller has written a status for a while: this one acts again");
        }
        until
    }
}
