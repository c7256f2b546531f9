//! A small language for rollouts: `cluster(["a", "b"], rolling(1))`, `update("v2")`, `settle()`, `pods()`.

use super::watcher::{self, Watcher, Worst};
use crate::support::{Given, agent, template};
use daemonset::model::{Pod, Uid};
use daemonset_sim::{Actor, Behaviour, Change, Cluster, Settings};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, from_value};

/// A cluster in the middle of a story. The watcher checks every step.
pub struct Story {
    pub cluster: Cluster,
    watcher: Watcher,
    /// The position in the history from which `trail` starts.
    mark: usize,
}

/// A cluster in which version v1 runs on all of these nodes.
pub fn cluster<const N: usize>(nodes: [&str; N], strategy: Value) -> Story {
    on(Cluster::new(7), nodes, strategy)
}

/// A cluster in which the DaemonSet has just been created.
pub fn on<const N: usize>(empty: Cluster, nodes: [&str; N], strategy: Value) -> Story {
    let mut story = Story::of(empty);
    for node in nodes {
        story.cluster.add_node(node, [("kubernetes.io/hostname", node)].into_iter().collect());
    }
    story.install(strategy, template("v1"));
    story.settle();
    story.mark();
    story
}

/// A cluster that starts from a snapshot.
pub fn from(given: &Given) -> Story {
    Story::of(Cluster::from_recording(Settings::default(), 7, &given.recording()))
}

impl Story {
    pub fn of(cluster: Cluster) -> Self {
        let mut story = Story { cluster, watcher: Watcher::default(), mark: 0 };
        story.watcher.watch(&story.cluster);
        story
    }

    pub fn install(&mut self, strategy: Value, template: Value) {
        self.cluster.create_daemon_set(from_value(agent(strategy, template)).unwrap());
    }

    pub fn update(&mut self, version: &str) {
        self.release(version, Behaviour::default());
    }

    pub fn release(&mut self, version: &str, behaviour: Behaviour) {
        self.change(version, behaviour, |_| {});
    }

    /// Releases a version with a changed pod spec.
    pub fn change(&mut self, version: &str, behaviour: Behaviour, change: impl FnOnce(&mut Value)) {
        self.cluster.release(behaviour, |template| {
            template["spec"]["containers"][0]["image"] = version.into();
            change(&mut template["spec"]);
        });
    }

    /// `kubectl rollout undo`: restores the template of the previous revision.
    pub fn undo(&mut self) {
        let mut revisions: Vec<_> = self.cluster.revisions().collect();
        revisions.sort_by_key(|revision| -revision.revision);
        let mut template = revisions[1].data["spec"]["template"].clone();
        template.as_object_mut().unwrap().remove("$patch");
        self.cluster.edit(|ds| ds.spec.template = template);
    }

    pub fn switch(&mut self, strategy: Value) {
        self.cluster.edit(|ds| ds.spec.update_strategy = from_value(strategy).unwrap());
    }

    /// Starts counting here.
    pub fn mark(&mut self) {
        self.mark = self.cluster.history().len();
        self.watcher.worst = Worst::default();
    }

    pub fn step(&mut self) -> Option<Timestamp> {
        let at = self.cluster.step();
        self.watcher.watch(&self.cluster);
        at
    }

    /// Processes events until none is left.
    pub fn settle(&mut self) {
        let last = self.cluster.now() + SignedDuration::from_hours(24);
        while self.cluster.next_at().is_some() {
            self.step();
            assert!(self.cluster.now() < last, "never at rest: {:?}", self.pods());
        }
        watcher::at_rest(&self.cluster);
    }

    pub fn run(&mut self, seconds: i64) {
        let until = self.cluster.now() + SignedDuration::from_secs(seconds);
        while self.cluster.next_at().is_some_and(|at| at <= until) {
            self.step();
        }
        self.cluster.run_until(until);
    }

    pub fn until(&mut self, what: impl Fn(&Story) -> bool) {
        let last = self.cluster.now() + SignedDuration::from_hours(1);
        while !what(self) {
            assert!(self.step().is_some_and(|at| at < last), "it never came: {:?}", self.pods());
        }
    }

    /// Asserts that the rollout is complete and each node has exactly one pod.
    pub fn is_complete(&mut self, version: &str) {
        self.settle();
        assert_eq!(self.rollout_status(), "done");
        let nodes = watcher::targets(&self.cluster);
        let all: Vec<String> = nodes.iter().map(|node| format!("{node}: {version} available")).collect();
        assert_eq!(self.pods(), all);
    }

    /// Every pod of the DaemonSet, such as `a: v2 available`.
    pub fn pods(&self) -> Vec<String> {
        let ours = self.cluster.pods().filter(|pod| watcher::is_ours(&self.cluster, pod));
        let mut pods: Vec<String> = ours.map(|pod| self.describe(pod)).collect();
        pods.sort();
        pods
    }

    pub fn has(&self, pod: &str) -> bool {
        self.pods().iter().any(|other| other == pod)
    }

    pub fn pod_on(&self, node: &str) -> Uid {
        let here = |pod: &&Pod| watcher::is_ours(&self.cluster, pod) && watcher::target(pod).as_str() == node;
        self.cluster.pods().find(here).unwrap().metadata.uid.clone()
    }

    pub fn uids(&self) -> Vec<Uid> {
        self.cluster.pods().map(|pod| pod.metadata.uid.clone()).collect()
    }

    fn describe(&self, pod: &Pod) -> String {
        let min_ready = self.cluster.daemon_set().unwrap().spec.min_ready_seconds;
        let available = |since| since + SignedDuration::from_secs(min_ready.into()) <= self.cluster.now();
        let unbound = pod.spec.node_name.as_str().is_empty();
        let state = match (watcher::ready_since(pod), pod.status.phase.as_ref()) {
            _ if pod.metadata.deletion_timestamp.is_some() => "terminating",
            (_, "Failed") => "failed",
            (_, "Pending") if unbound => "unscheduled",
            (_, "Pending") => "starting",
            (None, _) => "not ready",
            (Some(since), _) if available(since) => "available",
            (Some(_), _) => "ready",
        };
        format!("{}: {} {state}", watcher::target(pod), watcher::version(&self.cluster, pod))
    }

    /// The answer of `kubectl rollout status`, whatever the strategy is.
    pub fn rollout_status(&self) -> String {
        let (status, ds) = (self.cluster.status(), self.cluster.daemon_set().unwrap());
        let desired = status.desired_number_scheduled;
        if status.observed_generation < ds.metadata.generation {
            "not observed".to_owned()
        } else if status.updated_number_scheduled < desired {
            format!("{} of {desired} updated", status.updated_number_scheduled)
        } else if status.number_available < desired {
            format!("{} of {desired} available", status.number_available)
        } else {
            "done".to_owned()
        }
    }

    /// The controller's creates and deletes of pods since the mark.
    pub fn trail(&self) -> Vec<String> {
        let events = self.cluster.history()[self.mark..].iter().filter(|event| event.by == Actor::Controller);
        let line = |change: &Change| match change {
            Change::PodCreated(pod) => Some(format!("create {}", pod.node)),
            Change::PodTerminating { pod, reason: Some(reason) } => {
                Some(format!("delete {}: {reason:?}", pod.node))
            }
            _ => None,
        };
        events.filter_map(|event| line(&event.change)).collect()
    }

    pub fn deletes(&self) -> Vec<String> {
        self.trail().into_iter().filter(|line| line.starts_with("delete")).collect()
    }

    pub fn worst(&self) -> Worst {
        self.watcher.worst
    }

    /// The image and the number of each revision, ordered by number.
    pub fn revisions(&self) -> Vec<String> {
        let mut revisions: Vec<_> = self.cluster.revisions().collect();
        revisions.sort_by_key(|revision| revision.revision);
        let image = |data: &Value| data["spec"]["template"]["spec"]["containers"][0]["image"].clone();
        let line = |number: i64, image: Value| format!("{number}: {}", image.as_str().unwrap());
        revisions.iter().map(|revision| line(revision.revision, image(&revision.data))).collect()
    }
}
