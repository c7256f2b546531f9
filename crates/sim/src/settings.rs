//! Settings of a simulated cluster: durations, probabilities, and the controller's options.

use crate::probability::{Distribution, Probability};
use daemonset::Policy;
use daemonset::model::Taint;
use daemonset::policy::Permissions;
use jiff::SignedDuration;
use std::collections::BTreeMap;

/// The settings of a cluster.
///
/// ```
/// use daemonset_sim::{Behaviour, Cluster, Distribution, Settings};
/// use jiff::SignedDuration;
/// use serde_json::{from_value, json};
///
/// # let daemon_set = json!({
/// #     "metadata": {"name": "agent", "namespace": "ns", "uid": "u1"},
/// #     "spec": {
/// #         "selector": {"matchLabels": {"app": "agent"}},
/// #         "template": {"metadata": {"labels": {"app": "agent"}}},
/// #         "updateStrategy": {"type": "RollingUpdate"},
/// #     },
/// # });
/// let behaviour = Behaviour::default().ready(Distribution::fixed(SignedDuration::from_mins(5)));
/// let settings = Settings::default().behaviour(behaviour);
/// let start = "2026-01-01T12:00:00Z".parse().unwrap();
/// let mut cluster = Cluster::with_settings(settings, 1, start);
/// cluster.add_node("a", Default::default());
/// cluster.create_daemon_set(from_value(daemon_set)?);
/// cluster.run_until_quiet(SignedDuration::from_mins(10)).unwrap();
/// assert_eq!(cluster.status().number_available, 1);
/// assert!(cluster.now().duration_since(start) > SignedDuration::from_mins(5));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// The behaviour of versions that have none of their own (see
    /// [`Cluster::set_behaviour`](crate::Cluster::set_behaviour)).
    pub behaviour: Behaviour,
    /// The behaviour of the version that the DaemonSet of a [recording](crate::Cluster::from_recording) has, also of those of its pods
    /// that are there; `None` if it is that of all others.
    pub current_behaviour: Option<Behaviour>,
    /// The time from a pod's creation to its binding, if it fits.
    pub scheduling: Distribution,
    /// The time from a node's joining to Ready.
    pub joining: Distribution,
    /// The time from a node's deletion to the removal of its pods (v1.36 `podgc`).
    pub garbage_collection: SignedDuration,
    /// The DaemonSet controller.
    pub controller: ControllerSettings,
    /// Random events of nodes.
    pub churn: Churn,
    /// The taint of each node that has lost its Ready pod of the DaemonSet, until it has one again; `None` if nobody sets
    /// one. Node-readiness agents do so.
    pub absence_taint: Option<Taint>,
    /// Whether the kubelets write restarts and the reasons of waiting containers into a pod's status. A policy's
    /// [`FailurePolicy`](daemonset::policy::FailurePolicy) reads them; without one they only wake the controller.
    pub container_statuses: bool,
    /// How long a user takes to approve a wave that waits for approval; `None` if nobody approves.
    pub approves_after: Option<SignedDuration>,
    /// The container runtime of the nodes, for policies with `pull` or `inPlace`: a node pulls each image once, its status names
    /// its images, and the status of each container has its ids and its start. `None`: a node pulls once for each revision, and
    /// tells of no image and no container.
    pub runtime: Option<Runtime>,
    /// The gates of turns that something opens, each with the time that it takes after a turn began. The controller itself opens
    /// `drained`, if its policy has `drain`.
    pub gates: BTreeMap<String, Distribution>,
}

/// A container runtime. They differ in a pod that only pulls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Runtime {
    /// containerd: a container whose command does not exist ends as terminated, with the reason `StartError`.
    Containerd,
    /// CRI-O: it waits, with the reason `CreateContainerError`, until the deadline of its pod.
    CriO,
}

impl Default for Settings {
    fn default() -> Self {
        let millis = SignedDuration::from_millis;
        Settings {
            behaviour: Behaviour::default(),
            current_behaviour: None,
            scheduling: Distribution::uniform(millis(20), millis(200)),
            joining: Distribution::uniform(SignedDuration::from_secs(10), SignedDuration::from_secs(40)),
            garbage_collection: SignedDuration::from_secs(40),
            controller: ControllerSettings::default(),
            churn: Churn::default(),
            absence_taint: None,
            container_statuses: false,
            approves_after: None,
            runtime: None,
            gates: BTreeMap::new(),
        }
    }
}

/// The behaviour of the pods of one version of the template.
///
/// See the examples of [`Settings`] and [`Summary`](crate::Summary).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Behaviour {
    /// The duration of the image pull, which happens once on each node.
    pub pull: Distribution,
    /// The time from the end of the image pull to the running container.
    pub start: Distribution,
    /// The time from running to Ready.
    pub ready: Distribution,
    /// The time from a pod's deletion to the end of its last container; at most the grace period.
    pub stop: Distribution,
    /// The probability that a start ends in a crash. The kubelet restarts the container after 10 s, doubling up to 5
    /// min.
    pub crash_at_start: Probability,
    /// The probability, for each node, that the version never becomes Ready there.
    pub never_ready: Probability,
    /// The probability that a pod is evicted instead of becoming Ready: its phase becomes Failed.
    pub evicted: Probability,
    /// The probability that a start takes the whole node down (kubernetes#117204).
    pub panics_node: Probability,
    /// The probability, for each node, that every start of the version ends in a crash there.
    pub crash_loops: Probability,
    /// The probability, for each node, that the image can't be pulled there.
    pub pull_fails: Probability,
    /// How long a Ready pod runs until it crashes; `None` if it never crashes.
    pub lifetime: Option<Distribution>,
    /// The probability that a pod's condition Ready stays True while the pod is changed in its place (kubernetes#91667), as
    /// without a probe: it is Ready as soon as its new containers run.
    pub keeps_ready: Probability,
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
            crash_loops: Probability::NEVER,
            pull_fails: Probability::NEVER,
            lifetime: None,
            keeps_ready: Probability::NEVER,
        }
    }
}

impl Behaviour {
    /// A version that never becomes Ready on any node.
    pub fn broken() -> Self {
        Behaviour { never_ready: Probability::ALWAYS, ..Behaviour::default() }
    }
}

/// The DaemonSet controller and its watch caches.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ControllerSettings {
    /// The lag of the caches behind the API server. Changes of one kind of object keep their order; changes of
    /// different kinds may overtake each other.
    pub watch_lag: Distribution,
    /// The minimum time between two reconciles.
    pub pause: SignedDuration,
    /// The time from a crash to the restart.
    pub restart: SignedDuration,
    /// The probability, for each action, that the controller crashes before it.
    pub crash: Probability,
    /// Whether the memory survives a crash. The caches never survive: the controller lists all objects again.
    pub memory_survives: bool,
    /// Whether the planner gets the memory at all.
    pub remembers: bool,
    /// Whether the planner gets the version of its list of pods.
    pub knows_versions: bool,
    /// The probability that the API server refuses a request.
    pub refused: Probability,
    /// The probability that the answer to an executed request is lost.
    pub answer_lost: Probability,
    /// The policy of its plans.
    pub policy: Policy,
    /// Whether the annotations of the DaemonSet complete the policy, as JSON ([`Policy::with_annotations`]). While they can't be
    /// read, the rollout is paused.
    pub reads_annotations: bool,
    /// The powers of these annotations.
    pub powers: Permissions,
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
            knows_versions: true,
            refused: Probability::NEVER,
            answer_lost: Probability::NEVER,
            policy: Policy::default(),
            reads_annotations: false,
            powers: Permissions::default(),
        }
    }
}

/// Random events of nodes: they go down, leave and join.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Churn {
    /// The time between two events; `None` if there are none.
    pub every: Option<Distribution>,
    /// How long a node stays down; `None` if it stays down for good.
    pub down_for: Option<Distribution>,
}

daemonset::internal::setters! {
    Settings {
        behaviour: Behaviour,
        current_behaviour: Option<Behaviour>,
        scheduling: Distribution,
        joining: Distribution,
        garbage_collection: SignedDuration,
        controller: ControllerSettings,
        churn: Churn,
        absence_taint: Option<Taint>,
        container_statuses: bool,
        approves_after: Option<SignedDuration>,
        runtime: Option<Runtime>,
        gates: BTreeMap<String, Distribution>,
    }
    Behaviour {
        pull: Distribution,
        start: Distribution,
        ready: Distribution,
        stop: Distribution,
        crash_at_start: Probability,
        never_ready: Probability,
        evicted: Probability,
        panics_node: Probability,
        crash_loops: Probability,
        pull_fails: Probability,
        lifetime: Option<Distribution>,
        keeps_ready: Probability,
    }
    ControllerSettings {
        watch_lag: Distribution,
        pause: SignedDuration,
        restart: SignedDuration,
        crash: Probability,
        memory_survives: bool,
        remembers: bool,
        knows_versions: bool,
        refused: Probability,
        answer_lost: Probability,
        policy: Policy,
        reads_annotations: bool,
        powers: Permissions,
    }
    Churn {
        every: Option<Distribution>,
        down_for: Option<Distribution>,
    }
}
