//! A cluster in which the controller runs: a steady fleet, then a story, then the checks at its end.

use crate::api_server::{ApiServer, raise_generation};
use crate::faults::{Fault, Verb};
use crate::kubelet;
use crate::objects::{create_foreign, daemon_set, namespace, node};
use crate::pods::{controller_uid, image_of, is_available, is_deleting, is_live, node_of, version_of};
use crate::rights::Rights;
use crate::store::{Actor, Kind, id, text};
use daemonset::Policy;
use daemonset_controller::caches::Caches;
use daemonset_controller::clock::{BootClock, Clock};
use daemonset_controller::connection::Connection;
use daemonset_controller::controller::Controller;
use daemonset_controller::event_recorder::{DRIVER, EventRecorder};
use daemonset_controller::executor::ActionExecutor;
use daemonset_controller::metrics::Metrics;
use daemonset_controller::other_controller::{OtherController, Reaction};
use daemonset_controller::queue::Queue;
use daemonset_controller::response::ActingClient;
use daemonset_controller::rollout::policy::{Policies, ProcessRole};
use daemonset_controller::tasks::Tasks;
use daemonset_controller::turns::Turns;
use daemonset_controller::watches::Scope;
use daemonset_controller::worker::{Mode, Verification, Worker};
use daemonset_executor::lease::RenewDeadline;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep};

pub const AGENT: &str = "agent";
/// The name of the controller's client.
pub const CONTROLLER: &str = "controller";
/// An image whose pods fail after their start.
pub const CRASHES: &str = "agent:crashes";
/// The time limit of a story.
pub const HOUR: Duration = Duration::from_secs(3600);

pub struct Cluster {
    pub api: ApiServer,
    pub connection: Connection,
    /// Until when the controller may act: for ever, unless a story changes it.
    pub deadline: RenewDeadline,
    pub machine: Machine,
    pub metrics: Metrics,
    /// The policy of `--policy`.
    pub policy: Policy,
    /// How a controller reacts to signs of another one.
    pub reaction: Reaction,
    /// The number of calls before the story.
    calls_before: usize,
    /// The processes, by the name of their client.
    controllers: BTreeMap<&'static str, (Controller, Tasks)>,
}

/// A clock that follows tokio's paused one, which jumps to the next timer whenever all tasks wait.
pub fn clock() -> Clock {
    let (begin, start) = (Instant::now(), Timestamp::from_second(1_767_225_600).expect("2026"));
    Clock::new(move || start + SignedDuration::try_from(begin.elapsed()).expect("an hour or two"))
}

/// The machine of the controller, whose clock runs while the process is stopped.
#[derive(Clone, Default)]
pub struct Machine {
    stopped: Arc<Mutex<Duration>>,
}

impl Machine {
    pub fn clock(&self) -> BootClock {
        let (begin, stopped) = (Instant::now(), self.stopped.clone());
        BootClock::new(move || begin.elapsed() + *stopped.lock().expect("no panic"))
    }

    /// Stops the process for this time: the clock of the machine runs, and nothing else happens. The timers of the process are
    /// late afterwards.
    pub fn stop_process(&self, time: Duration) {
        *self.stopped.lock().expect("no panic") += time;
    }
}

impl Cluster {
    /// Nodes that all have their pod, beside foreign objects. The invariants are checked from now on.
    pub async fn steady(nodes: usize, strategy: Value) -> Self {
        Cluster::steady_with(nodes, strategy, Policy::default()).await
    }

    /// The same under a policy of `--policy`.
    pub async fn steady_with(nodes: usize, strategy: Value, policy: Policy) -> Self {
        let cluster = Cluster::new_with(nodes, &strategy, policy).await;
        cluster.done(HOUR).await;
        cluster.with_invariants(&strategy).await
    }

    /// The same at the creation of the DaemonSet, without invariants.
    pub async fn new(nodes: usize, strategy: &Value) -> Self {
        Cluster::new_with(nodes, strategy, Policy::default()).await
    }

    async fn new_with(nodes: usize, strategy: &Value, policy: Policy) -> Self {
        let clock = clock();
        let api = ApiServer::new(clock.clone());
        {
            let store = &mut api.state().store;
            for number in 0..nodes {
                store.create(Actor::Others, Kind::Node, node(&format!("n{number:02}")));
            }
            store.create(Actor::Others, Kind::Namespace, namespace());
            store.create(Actor::Others, Kind::DaemonSet, daemon_set(AGENT, strategy));
            create_foreign(store);
        }
        tokio::spawn(kubelet::run(api.clone(), BTreeSet::from([CRASHES.to_owned()])));
        let machine = Machine::default();
        let deadline = RenewDeadline::new(machine.clock());
        deadline.renewed(Duration::ZERO, 10_000 * HOUR);
        let connection = Connection::new("https://10.0.0.1", clock.clone());
        let metrics = Metrics::new(clock.clone());
        let (controllers, reaction) = (BTreeMap::new(), Reaction::StopActing);
        let mut cluster = Cluster {
            api,
            connection,
            deadline,
            machine,
            metrics,
            policy,
            reaction,
            calls_before: 0,
            controllers,
        };
        cluster.start(CONTROLLER, ProcessRole::Controller).await;
        cluster
    }

    /// Starts a process. One that has this name already ends at once, as if it was killed.
    pub async fn start(&mut self, name: &'static str, role: ProcessRole) {
        self.controllers.remove(name);
        let lead = (self.deadline.clone(), self.connection.clone());
        let policies = Policies::new(self.policy.clone(), role);
        let reaction = match role {
            ProcessRole::Controller => self.reaction,
            ProcessRole::Driver | ProcessRole::Comparison => Reaction::ActAnyway,
        };
        let with = (self.metrics.clone(), policies, reaction);
        let controller = start(&self.api, (name, role), lead, with).await;
        self.controllers.insert(name, controller);
    }

    /// Sets an annotation of the DaemonSet, or removes it, as `kubectl annotate` does.
    pub fn annotate(&self, key: &str, text: Option<&str>) {
        self.api.state().store.change(Actor::Others, &id(Kind::DaemonSet, AGENT), |ds| {
            let annotations = ds["metadata"]["annotations"].as_object_mut().expect("an object");
            match text {
                Some(text) => annotations.insert(key.to_owned(), json!(text)),
                None => annotations.remove(key),
            };
        });
    }

    /// Ends a process at once, as if it was killed.
    pub fn kill(&mut self, name: &'static str) {
        self.controllers.remove(name);
    }

    /// How many nodes have a live pod of this image.
    pub fn nodes_with(&self, image: &str) -> usize {
        let pods = self.pods_of_agent();
        let nodes: BTreeSet<&str> =
            pods.iter().filter(|pod| image_of(pod) == image && is_live(pod)).map(node_of).collect();
        nodes.len()
    }

    async fn with_invariants(mut self, strategy: &Value) -> Self {
        sleep(Duration::from_secs(10)).await;
        let uid = text(&self.daemon_set()["metadata"]["uid"]).to_owned();
        let limit = |field: &str| strategy["rollingUpdate"][field].as_u64().unwrap_or(0) as usize;
        let mut state = self.api.state();
        self.calls_before = state.calls.len();
        let invariants = &mut state.store.invariants;
        invariants.daemon_set = Some(uid);
        invariants.max_unavailable = limit("maxUnavailable");
        invariants.max_surge = limit("maxSurge");
        drop(state);
        self
    }

    pub fn daemon_set(&self) -> Value {
        self.api.state().store.get(&id(Kind::DaemonSet, AGENT)).cloned().unwrap_or_default()
    }

    /// A new image, as a user applies it.
    pub fn release(&self, image: &str) {
        self.release_of(AGENT, image);
    }

    /// The same of another DaemonSet.
    pub fn release_of(&self, name: &str, image: &str) {
        self.api.state().store.change(Actor::Others, &id(Kind::DaemonSet, name), |ds| {
            raise_generation(ds);
            ds["spec"]["template"]["spec"]["containers"][0]["image"] = json!(image);
        });
    }

    pub fn fault(&self, verb: Verb, kind: Kind, fault: Fault, times: u32) {
        self.api.state().faults.add(verb, kind, fault, times);
    }

    pub fn happened(&self, fault: Fault) -> u32 {
        self.api.state().faults.happened.get(&fault).copied().unwrap_or(0)
    }

    /// Waits until every fault was injected as often as requested: a watcher's random back-off may end after the rollout.
    pub async fn all_faults_happened(&self, limit: Duration) {
        let start = Instant::now();
        while self.api.state().faults.are_left() {
            assert!(start.elapsed() < limit, "some faults were not injected within {limit:?}");
            sleep(Duration::from_millis(100)).await;
        }
    }

    /// Delays the watches of a kind.
    pub fn lag(&self, kind: Kind, lag: Duration) {
        self.api.state().lag.insert(kind, lag);
    }

    /// Allows this many more unavailable nodes, for changes that the controller does not make.
    pub fn allow_down(&self, nodes: usize) {
        self.api.state().store.invariants.max_unavailable += nodes;
    }

    pub fn break_watches(&self) {
        let mut state = self.api.state();
        state.epoch += 1;
        // Wakes the watches, so that they see the new epoch.
        let version = state.store.version();
        state.store.changed.send_replace(version);
    }

    /// The connections of the watches are half open from now on: nothing comes any more.
    pub fn cut_watches(&self) {
        let mut state = self.api.state();
        state.epoch += 1;
        state.half_open = state.epoch;
    }

    /// Compacts the history: a watch that starts again must list again.
    pub fn compact(&self) {
        let mut state = self.api.state();
        state.compacted = state.store.version() + 1;
    }

    /// The number of writes of the story so far, without events.
    pub fn writes(&self) -> usize {
        self.count(|verb, kind| verb.writes() && kind != Kind::Event)
    }

    /// The lists and watches of pods of single nodes so far.
    pub fn drains_seen(&self) -> usize {
        self.api.state().calls.iter().filter(|call| call.kind == Kind::Pod && call.fields.is_some()).count()
    }

    /// The calls of a client, in their order.
    pub fn calls_of(&self, client: &str) -> Vec<(Verb, Kind)> {
        let state = self.api.state();
        state.calls.iter().filter(|call| call.client == client).map(|call| (call.verb, call.kind)).collect()
    }

    pub fn count(&self, matches: impl Fn(Verb, Kind) -> bool) -> usize {
        self.api.state().calls[self.calls_before..]
            .iter()
            .filter(|call| matches(call.verb, call.kind))
            .count()
    }

    /// All revisions, by their numbers.
    pub fn revisions(&self) -> Vec<Value> {
        let mut revisions: Vec<Value> = self.api.state().store.list(Kind::Revision).cloned().collect();
        revisions.sort_by_key(|revision| revision["revision"].as_i64());
        revisions
    }

    pub fn pods_of_agent(&self) -> Vec<Value> {
        let uid = text(&self.daemon_set()["metadata"]["uid"]).to_owned();
        self.api.state().store.list(Kind::Pod).filter(|pod| controller_uid(pod) == uid).cloned().collect()
    }

    /// The names of the pods of earlier DaemonSets: their controller has another uid than this one.
    pub fn pods_of_predecessors(&self, uid: &str) -> Vec<String> {
        let state = self.api.state();
        let managed = state.store.list(Kind::Pod).filter(|pod| !pod["metadata"]["generateName"].is_null());
        let old = managed.filter(|pod| controller_uid(pod) != uid);
        old.map(|pod| text(&pod["metadata"]["name"]).to_owned()).collect()
    }

    /// Waits until every node has exactly one pod, up to date and available, and the status reports it.
    pub async fn done(&self, limit: Duration) {
        let start = Instant::now();
        while let Err(missing) = self.is_done() {
            self.check_invariants();
            assert!(start.elapsed() < limit, "not done after {limit:?}: {missing}");
            sleep(Duration::from_millis(100)).await;
        }
    }

    /// Checks that no invariant was violated, that a minute passes without a write, and that the story had at most so many
    /// writes.
    pub async fn finish(&self, at_most: usize) {
        let writes = self.writes();
        assert!(writes <= at_most, "{writes} writes, at most {at_most} were expected");
        sleep(Duration::from_secs(60)).await;
        assert_eq!(self.writes(), writes, "the controller still writes");
        // A watch begins anew each minute.
        let reads = self.count(|verb, _| verb != Verb::Watch) - writes;
        assert!(reads <= at_most + 60, "{reads} reads and events");
        assert_eq!(self.is_done(), Ok(()));
        self.check_invariants();
    }

    /// Fails if an invariant was violated, after printing the log of all pods.
    pub fn check_invariants(&self) {
        assert_eq!(self.metrics.refused_plans.get(), 0, "plans that break a rule");
        assert_eq!(self.metrics.differing_plans.get(), 0, "plans that differ from the plan of all objects");
        let broken = self.api.state().store.invariants.broken.clone();
        if !broken.is_empty() {
            let state = self.api.state();
            let first = state.store.log.first().map(|change| change.at);
            for change in state.store.log.iter().filter(|change| change.id.kind == Kind::Pod) {
                let pod = &change.object;
                eprintln!(
                    "{:?} {:?} {} on {}: {} {}{}",
                    first.map(|first| change.at - first).unwrap_or_default(),
                    change.change_kind,
                    change.id.name,
                    node_of(pod),
                    image_of(pod),
                    pod["status"]["phase"],
                    if is_deleting(pod) { ", terminating" } else { "" },
                );
            }
            drop(state);
            panic!("{broken:#?}");
        }
    }

    pub fn is_done(&self) -> Result<(), String> {
        let ds = self.daemon_set();
        let image = text(&ds["spec"]["template"]["spec"]["containers"][0]["image"]);
        let state = self.api.state();
        let nodes: Vec<&str> =
            state.store.list(Kind::Node).map(|node| text(&node["metadata"]["name"])).collect();
        let uid = text(&ds["metadata"]["uid"]);
        let mut pods: Vec<&Value> = state.store.list(Kind::Pod).collect();
        pods.retain(|pod| controller_uid(pod) == uid);
        for node in &nodes {
            let here: Vec<&&Value> = pods.iter().filter(|pod| node_of(pod) == *node).collect();
            let [pod] = here.as_slice() else { return Err(format!("{} pods on {node}", here.len())) };
            if image_of(pod) != image || !is_available(pod) {
                return Err(format!("{node} has {} as {}", image_of(pod), pod["status"]["phase"]));
            }
            if state.store.get(&id(Kind::Revision, &format!("{AGENT}-{}", version_of(pod)))).is_none() {
                return Err(format!("no revision {}", version_of(pod)));
            }
        }
        status_is_right(&ds, nodes.len())
    }
}

fn status_is_right(ds: &Value, nodes: usize) -> Result<(), String> {
    let status = &ds["status"];
    let is = |field: &str, wanted: &Value| match status[field].clone() {
        Value::Null if *wanted == json!(0) => Ok(()),
        now if now == *wanted => Ok(()),
        now => Err(format!("{field} is {now}, not {wanted}")),
    };
    is("observedGeneration", &ds["metadata"]["generation"])?;
    for field in [
        "desiredNumberScheduled",
        "currentNumberScheduled",
        "updatedNumberScheduled",
        "numberReady",
        "numberAvailable",
    ] {
        is(field, &json!(nodes))?;
    }
    is("numberMisscheduled", &json!(0))?;
    is("numberUnavailable", &json!(0))
}

/// Starts the controller as `run` does, for the DaemonSets with the label `trial=yes`.
async fn start(
    api: &ApiServer,
    (name, role): (&'static str, ProcessRole),
    (deadline, connection): (RenewDeadline, Connection),
    (metrics, policies, reaction): (Metrics, Policies, Reaction),
) -> (Controller, Tasks) {
    let tasks = Tasks::default();
    let rights = match role {
        ProcessRole::Driver => Rights::of_driver(),
        ProcessRole::Controller | ProcessRole::Comparison => Rights::of_controller(),
    };
    let clock = api.state().store.clock.clone();
    let client = api.client(name, rights, &connection);
    let writes = ActingClient::new(client.clone(), deadline);
    let (caches, writers) = Caches::empty();
    let mut events = EventRecorder::new(writes.clone(), clock.clone(), &tasks);
    if role == ProcessRole::Driver {
        events = events.from_component(DRIVER);
    }
    let queue = Arc::new(Queue::new(Duration::from_millis(50)));
    let worker = Worker {
        turns: Turns::new(&caches, &queue),
        caches,
        queue,
        mode: Mode::Execute(ActionExecutor::new(writes, events, metrics.clone())),
        policies,
        status_interval: Duration::from_millis(500),
        verification: Verification::one_in(1),
        recorder: None,
        metrics,
        connection,
        clock,
        other_controller: OtherController::new(reaction),
        per_daemon_set: Arc::default(),
    };
    let scope = Scope { namespace: None, selector: Some("trial=yes".to_owned()) };
    let started = Controller::start(worker, writers, &client, &scope, 2, &tasks).await;
    (started.expect("the controller starts"), tasks)
}
