//! Faults of the controllers and their caches.

use super::Cluster;
use crate::controller::SimulatedController;
use crate::environment::Environment;
use crate::probability::Distribution;
use crate::settings::ControllerSettings;
use crate::watch::Kind;
use daemonset::Memory;
use jiff::SignedDuration;

/// Faults of one controller of a cluster, and of its caches.
#[derive(Debug)]
pub struct Faults<'c> {
    controller: &'c mut SimulatedController,
    environment: &'c mut Environment,
}

impl Faults<'_> {
    /// Makes the controller crash once it has executed this many actions of a plan. Plans with fewer actions are
    /// executed completely, and the request stays for a later plan.
    pub fn crash_after(&mut self, actions: u32) {
        self.controller.crash_after = Some(actions);
    }

    /// Makes the controller crash now.
    pub fn crash(&mut self) {
        self.controller.crash(0, self.environment);
    }

    /// Sets the lag with which a cache shows later changes.
    pub fn set_watch_lag(&mut self, kind: Kind, lag: Distribution) {
        self.controller.cache.set_lag(kind, lag);
    }

    /// Freezes a cache: it shows no change until it is [thawed](Self::thaw).
    pub fn freeze(&mut self, kind: Kind) {
        self.controller.cache.freeze(kind, true);
    }

    /// Thaws a frozen cache: it shows the changes that it has missed, and later ones.
    pub fn thaw(&mut self, kind: Kind) {
        self.controller.cache.freeze(kind, false);
    }

    /// Changes the controller's settings. A new `watch_lag` has no effect; use [`set_watch_lag`](Self::set_watch_lag).
    pub fn configure(&mut self, change: impl FnOnce(&mut ControllerSettings)) {
        self.controller.configure(change);
    }
}

impl Cluster {
    /// The faults of Kubernetes' own controller; `None` while there is none beside the simulated one.
    pub fn other_controller(&mut self) -> Option<Faults<'_>> {
        let Cluster { environment, other, .. } = self;
        other.as_mut().map(|controller| Faults { controller, environment })
    }

    /// The faults of the simulated controller, which may drive the update only.
    pub fn controller(&mut self) -> Faults<'_> {
        let Cluster { environment, controller, .. } = self;
        Faults { controller, environment }
    }

    /// As [`Faults::crash_after`], of the simulated controller.
    pub fn crash_controller_after(&mut self, actions: u32) {
        self.controller().crash_after(actions);
    }

    /// As [`Faults::crash`], of the simulated controller.
    pub fn crash_controller(&mut self) {
        self.controller().crash();
    }

    /// Empties the controller's memory; the caches stay.
    pub fn lose_memory(&mut self) {
        self.controller.set_memory(Memory::default());
    }

    /// As [`Faults::set_watch_lag`], of the simulated controller.
    pub fn set_watch_lag(&mut self, kind: Kind, lag: Distribution) {
        self.controller().set_watch_lag(kind, lag);
    }

    /// The age of the oldest change that a cache does not show yet; zero if the cache is up to date.
    pub fn cache_lag(&self, kind: Kind) -> SignedDuration {
        let since = self.controller.cache.behind_since(kind);
        since.map_or(SignedDuration::ZERO, |since| self.now().duration_since(since))
    }

    /// As [`Faults::freeze`], of the simulated controller.
    pub fn freeze(&mut self, kind: Kind) {
        self.controller().freeze(kind);
    }

    /// As [`Faults::thaw`], of the simulated controller.
    pub fn thaw(&mut self, kind: Kind) {
        self.controller().thaw(kind);
    }

    /// Logs all changes from now on, for [`relist_from_the_past`](Cluster::relist_from_the_past), which goes back no further.
    pub fn keep_log(&mut self) {
        self.controller.cache.keep_log(&self.environment.objects);
    }

    /// Lists all objects from an API server that is behind by this much, and continues the watches from there: the
    /// caches go back in time.
    pub fn relist_from_the_past(&mut self, behind: SignedDuration) {
        let now = self.now();
        let shown_until = now.saturating_sub(behind).unwrap_or(now);
        self.controller.cache.relist_from_the_past(now, shown_until);
        self.controller.wake(now);
    }

    /// As [`Faults::configure`], of the simulated controller; its policy holds from its next plan on.
    pub fn configure_controller(&mut self, change: impl FnOnce(&mut ControllerSettings)) {
        self.controller().configure(change);
    }
}
