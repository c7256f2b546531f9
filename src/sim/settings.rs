//! What a simulated cluster is like.

use super::chance::{Distribution, Probability};
use crate::snapshot::Policy;
use jiff::SignedDuration;

/// A whole cluster, but for its objects.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// How versions behave that nothing else is said about.
    pub behaviour: Behaviour,
    /// From creation to binding, where the pod fits.
    pub scheduling: Distribution,
    /// From joining to Ready.
    pub joining: Distribution,
    /// From a node's leaving to the removal of its pods (v1.36 `podgc`).
    pub garbage_collection: SignedDuration,
    /// The DaemonSet controller.
    pub controller: ControllerSettings,
    /// Nodes that come and go by themselves.
    pub churn: Churn,
}

impl Default for Settings {
    fn default() -> Self {
        let millis = SignedDuration::from_millis;
        Settings {
            behaviour: Behaviour::default(),
            scheduling: Distribution::uniform(millis(20), millis(200)),
            joining: Distribution::uniform(SignedDuration::from_secs(10), SignedDuration::from_secs(40)),
            garbage_collection: SignedDuration::from_secs(40),
            controller: ControllerSettings::default(),
            churn: Churn::default(),
        }
    }
}

/// How the pods of a version behave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Behaviour {
    /// Pulling the image, once a node.
    pub pull: Distribution,
    /// From the image being there to the container running.
    pub start: Distribution,
    /// From running to Ready.
    pub ready: Distribution,
    /// From the deletion to the last container's end; never longer than the grace period.
    pub stop: Distribution,
    /// How likely a start ends in a crash: the kubelet then waits 10 s, doubling to 5 min, and starts again.
    pub crash_at_start: Probability,
    /// On how many nodes the version never becomes Ready.
    pub never_ready: Probability,
    /// How likely a pod is evicted instead of becoming Ready: it ends as Failed.
    pub evicted: Probability,
    /// How likely a start takes the whole node down (kubernetes#117204).
    pub panics_node: Probability,
    /// How long a Ready pod runs until it crashes; none: for ever.
    pub lifetime: Option<Distribution>,
}

impl Default for Behaviour {
    fn default() -> Self {
        let seconds = SignedDuration::from_secs;
        Behaviour {
            pull: Distribution::long_tail(seconds(4), seconds(25)),
            start: Distribution::uniform(SignedDuration::from_millis(500), seconds(2)),
            ready: Distribution::long_tail(seconds(5), seconds(15)),
            stop: Distribution::long_tail(seconds(1), seconds(8)),
            crash_at_start: Probability::NEVER,
            never_ready: Probability::NEVER,
            evicted: Probability::NEVER,
            panics_node: Probability::NEVER,
            lifetime: None,
        }
    }
}

impl Behaviour {
    /// A version that never becomes Ready anywhere.
    pub fn broken() -> Self {
        Behaviour { never_ready: Probability::ALWAYS, ..Behaviour::default() }
    }
}

/// The DaemonSet controller and its watch caches.
#[derive(Debug, Clone, PartialEq)]
pub struct ControllerSettings {
    /// How long its caches take to show a change. Changes of one kind of object keep their order; those of different
    /// kinds overtake each other.
    pub watch_lag: Distribution,
    /// The shortest time between two reconciles.
    pub pause: SignedDuration,
    /// How long it is away after a crash.
    pub restart: SignedDuration,
    /// How likely it crashes before an action.
    pub crash: Probability,
    /// Whether its memory outlives a crash. Its caches never do: it lists anew.
    pub memory_survives: bool,
    /// Whether it keeps a memory at all.
    pub remembers: bool,
    /// How likely the API server refuses a request.
    pub refused: Probability,
    /// How likely the answer to a request that was carried out is lost.
    pub answer_lost: Probability,
    /// Its choices.
    pub policy: Policy,
}

impl Default for ControllerSettings {
    fn default() -> Self {
        let millis = SignedDuration::from_millis;
        ControllerSettings {
            watch_lag: Distribution::uniform(millis(5), millis(100)),
            pause: millis(100),
            restart: SignedDuration::from_secs(15),
            crash: Probability::NEVER,
            memory_survives: false,
            remembers: true,
            refused: Probability::NEVER,
            answer_lost: Probability::NEVER,
            policy: Policy::default(),
        }
    }
}

/// Nodes that come and go by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Churn {
    /// Time between two events; none: nothing happens.
    pub every: Option<Distribution>,
    /// How long a node that goes down stays down.
    pub down_for: Option<Distribution>,
}
