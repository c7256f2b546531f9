//! What goes wrong with the controller.

use super::Cluster;
use crate::memory::Memory;
use crate::sim::chance::Distribution;
use crate::sim::settings::ControllerSettings;
use crate::sim::watch::Kind;
use jiff::SignedDuration;

impl Cluster {
    /// It crashes once it has executed so many actions of a plan; a plan with fewer is executed.
    pub fn crash_after(&mut self, actions: u32) {
        self.controller.crash_after = Some(actions);
    }

    /// It crashes now.
    pub fn crash(&mut self) {
        self.controller.crash(0, &mut self.world);
    }

    /// Its memory is lost, but not its caches.
    pub fn lose_memory(&mut self) {
        self.controller.remember(Memory::default());
    }

    /// How far behind a cache is from now on.
    pub fn lag(&mut self, kind: Kind, lag: Distribution) {
        self.controller.cache.set_lag(kind, lag);
    }

    /// How far a cache is behind: for how long there has been a change that it does not show.
    pub fn behind(&self, kind: Kind) -> SignedDuration {
        let since = self.controller.cache.behind_since(kind);
        since.map_or(SignedDuration::ZERO, |since| self.now().duration_since(since))
    }

    /// A cache sees nothing new until it is [thawed](Cluster::thaw).
    pub fn freeze(&mut self, kind: Kind) {
        self.controller.cache.freeze(kind, true);
    }

    /// A frozen cache sees again what it has missed.
    pub fn thaw(&mut self, kind: Kind) {
        self.controller.cache.freeze(kind, false);
    }

    /// Keeps what caches are sent, for [`relist_from_the_past`](Cluster::relist_from_the_past). Call it first of all.
    pub fn keep_log(&mut self) {
        self.controller.cache.keep_log();
    }

    /// The caches list from an API server that is so far behind, and watch on from there: they go back in time.
    pub fn relist_from_the_past(&mut self, behind: SignedDuration) {
        let now = self.now();
        let shown_until = now.saturating_sub(behind).unwrap_or(now);
        self.controller.cache.relist_from_the_past(now, shown_until);
        self.controller.wake(now);
    }

    /// Changes the controller's settings, but for those of its caches.
    pub fn set_controller(&mut self, change: impl FnOnce(&mut ControllerSettings)) {
        change(&mut self.controller.settings);
    }
}
