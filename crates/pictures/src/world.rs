//! The world around a simulated rollout: how fast nodes and kubelets are, and what goes wrong.

use crate::scene::Release;
use daemonset::model::Taint;
use daemonset_sim::{Distribution, Probability, Settings};
use jiff::SignedDuration;

/// From a container's start to Ready.
pub const STARTUP: &str = "5s,p99=15s";
/// Pulling the new image, once a node.
pub const PULL: &str = "4s,p99=25s";
/// From a pod's deletion to its end.
pub const STOP: &str = "1s,p99=8s";
/// How far the controller's caches are behind.
pub const LAG: &str = "5ms..100ms";
/// The key of the taint of nodes that lack their pod.
pub const ABSENCE_TAINT: &str = "agent-not-ready";

/// The choices about a simulation that are no part of a DaemonSet or its policy.
pub struct World {
    pub startup: Distribution,
    pub pull: Distribution,
    pub stop: Distribution,
    /// How likely a start of the new version crashes.
    pub failure_rate: Probability,
    /// How likely a new pod is evicted before it is Ready.
    pub evicted: Probability,
    /// On so many of the nodes the new version never becomes Ready.
    pub broken: Probability,
    pub crash_loops: Probability,
    pub pull_fails: Probability,
    pub panics_node: Probability,
    /// A pod of the new version crashes so long after it has become Ready.
    pub lifetime: Option<Distribution>,
    /// How often a node joins, leaves, or goes down.
    pub churn: Option<Distribution>,
    /// The key of the taint of nodes that lack their pod.
    pub absence_taint: Option<String>,
    /// How likely the controller crashes before an action.
    pub crash: Probability,
    pub lag: Distribution,
    /// A person approves each wave that waits for approval, after so long.
    pub approve_after: Option<SignedDuration>,
    /// The gates that somebody opens, and how long after a turn has begun.
    pub gates: Vec<(String, Distribution)>,
    /// Release no new version.
    pub as_is: bool,
}

impl World {
    /// The settings of the simulation, and the behaviour of the version that is released.
    pub fn settings(self) -> (Settings, Release) {
        let mut settings = Settings::default();
        let behaviour = &mut settings.behaviour;
        (behaviour.pull, behaviour.ready, behaviour.stop) = (self.pull, self.startup, self.stop);
        let mut new = *behaviour;
        new.crash_at_start = self.failure_rate;
        new.evicted = self.evicted;
        new.never_ready = self.broken;
        new.panics_node = self.panics_node;
        new.crash_loops = self.crash_loops;
        new.pull_fails = self.pull_fails;
        new.lifetime = self.lifetime;
        // Where none is released, it is the one that is being rolled out.
        settings.current_behaviour = self.as_is.then_some(new);
        settings.approves_after = self.approve_after;
        settings.gates = self.gates.into_iter().collect();
        settings.churn.every = self.churn;
        settings.churn.down_for = self
            .churn
            .map(|_| Distribution::uniform(SignedDuration::from_mins(1), SignedDuration::from_mins(5)));
        settings.absence_taint =
            self.absence_taint.map(|key| Taint { key, effect: "NoSchedule".to_owned(), ..Taint::default() });
        settings.controller.crash = self.crash;
        settings.controller.watch_lag = self.lag;
        (settings, if self.as_is { Release::None } else { Release::New(new) })
    }
}
