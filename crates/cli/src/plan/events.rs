//! How long a plan takes after one event, from a state that is kept between the events.
#![allow(clippy::disallowed_types, reason = "a stopwatch needs a clock; the library reads none")]

use super::timing::{Timings, nanoseconds};
use crate::cluster::{Choice, Input, InputForm, Source};
use crate::shell::console::{self, Stop};
use daemonset::model::{DaemonSet, Node, ObjectRef, Pod};
use daemonset::{Action, ActionOutcome, Observed, Plan, Recording, Snapshot};
use daemonset_incremental::internal::difference;
use daemonset_incremental::{Change, Tracker};
use fastrand::Rng;
use serde::Serialize;
use std::time::Instant;

/// The same events on every run.
const SEED: u64 = 1;
/// Every so many events the plan is compared with that of all objects.
const COMPARED: usize = 100;

/// The output; durations are nanoseconds.
#[derive(Serialize)]
struct EventTimes {
    nodes: usize,
    pods: usize,
    events: usize,
    /// Checking and planning all objects, and keeping their facts.
    build: Timings,
    apply: Tail,
    plan: Tail,
    /// Whether every compared plan equals that of all objects.
    same: bool,
}

#[derive(Serialize)]
struct Tail {
    #[serde(flatten)]
    figures: Timings,
    p99: u64,
}

/// Builds the state, applies six events for each of `times` rounds, and prints the figures.
pub(crate) fn run(source: &Source, choice: &Choice, times: u32) -> Result<u8, Stop> {
    let stop = |message: String| source.stop(message);
    let bytes = source.bytes().map_err(stop)?;
    let form = InputForm::of(&bytes).map_err(stop)?;
    let input = Input::parse(&bytes, form, choice).map_err(stop)?;
    let mut cluster = WatchedCluster::new(input.recording);
    cluster.build().map_err(stop)?;
    // The objects have passed the check.
    let build = Timings::of_each(times.min(10), || cluster.build().unwrap_or_default());
    cluster.settle().map_err(stop)?;
    let mut rng = Rng::with_seed(SEED);
    for _ in 0..times {
        cluster.round(&mut rng).map_err(stop)?;
    }
    let report = EventTimes {
        nodes: cluster.recording.nodes.len(),
        pods: cluster.recording.pods.len(),
        events: cluster.applied.len(),
        build,
        same: cluster.is_same,
        apply: Tail::new(cluster.applied),
        plan: Tail::new(cluster.planned),
    };
    let json = serde_json::to_string(&report).map_err(std::io::Error::from)?;
    console::print(&json)?;
    Ok(u8::from(!report.same))
}

/// A cluster whose objects change, and the tracker that is given the changes.
struct WatchedCluster {
    recording: Recording,
    tracker: Tracker,
    applied: Vec<u64>,
    planned: Vec<u64>,
    is_same: bool,
}

impl WatchedCluster {
    fn new(recording: Recording) -> Self {
        let tracker = tracker(&recording);
        WatchedCluster { recording, tracker, applied: Vec::new(), planned: Vec::new(), is_same: true }
    }

    /// Builds the state anew. Returns how long that takes.
    fn build(&mut self) -> Result<u64, String> {
        self.tracker = tracker(&self.recording);
        let start = Instant::now();
        let plan = plan_changes(&mut self.tracker, &self.recording)?;
        let took = nanoseconds(start.elapsed());
        drop(plan);
        Ok(took)
    }

    /// Records the actions of plans as accepted, until a plan has no action on pods: no cache shows any effect yet.
    fn settle(&mut self) -> Result<(), String> {
        let now = self.recording.now;
        let mut created = 0_u32;
        loop {
            let plan = plan_changes(&mut self.tracker, &self.recording)?;
            let on_pods: Vec<&Action> = plan.actions.iter().filter(|action| is_on_pod(action)).collect();
            for action in &on_pods {
                created += 1;
                let _ = self.tracker.record(action, &accepted(action, created), now);
            }
            if on_pods.is_empty() {
                return Ok(());
            }
        }
    }

    /// A pod turns not Ready and Ready again, one is deleted and comes back, a node is cordoned and uncordoned.
    fn round(&mut self, rng: &mut Rng) -> Result<(), String> {
        if !self.recording.pods.is_empty() {
            let position = rng.usize(..self.recording.pods.len());
            let ready = self.recording.pods.get(position).cloned().unwrap_or_default();
            let mut unready = ready.clone();
            for condition in &mut unready.status.conditions {
                condition.status = "False".into();
                condition.last_transition_time = Some(self.recording.now);
            }
            self.put_pod(position, unready)?;
            self.put_pod(position, ready)?;

            let position = rng.usize(..self.recording.pods.len());
            let pod = self.recording.pods.swap_remove(position);
            let (namespace, name) = (&*pod.metadata.namespace, &*pod.metadata.name);
            self.event(Change::PodGone { namespace, name })?;
            self.recording.pods.push(pod.clone());
            self.event(Change::Pod((&pod).into()))?;
        }
        if !self.recording.nodes.is_empty() {
            let position = rng.usize(..self.recording.nodes.len());
            let node = self.recording.nodes.get(position).cloned().unwrap_or_default();
            let mut cordoned = node.clone();
            cordoned.spec.unschedulable = !node.spec.unschedulable;
            self.put_node(position, cordoned)?;
            self.put_node(position, node)?;
        }
        Ok(())
    }

    fn put_pod(&mut self, position: usize, pod: Pod) -> Result<(), String> {
        if let Some(place) = self.recording.pods.get_mut(position) {
            *place = pod.clone();
        }
        self.event(Change::Pod((&pod).into()))
    }

    fn put_node(&mut self, position: usize, node: Node) -> Result<(), String> {
        if let Some(place) = self.recording.nodes.get_mut(position) {
            *place = node.clone();
        }
        self.event(Change::Node((&node).into()))
    }

    fn event(&mut self, change: Change<'_>) -> Result<(), String> {
        let start = Instant::now();
        let _ = self.tracker.apply(change);
        let applied = start.elapsed();
        let is_compared = self.planned.len() % COMPARED == COMPARED - 1;
        let memory = is_compared.then(|| self.tracker.memory().clone());
        let start = Instant::now();
        let plan = plan_changes(&mut self.tracker, &self.recording)?;
        self.planned.push(nanoseconds(start.elapsed()));
        self.applied.push(nanoseconds(applied));
        if let Some(memory) = memory {
            let recording = &self.recording;
            let policy = self.tracker.policy();
            let whole =
                Snapshot::builder(observed(recording), recording.now).memory(&memory).policy(policy).check();
            self.is_same &= whole.is_ok_and(|whole| difference(&plan, &daemonset::plan(&whole)).is_none());
        }
        Ok(())
    }
}

fn tracker(recording: &Recording) -> Tracker {
    let memory = recording.memory.clone().unwrap_or_default();
    let DaemonSet { metadata, owner, .. } = &recording.daemon_set;
    Tracker::with_memory(metadata.uid.clone(), recording.policy.clone(), memory).with_kind(owner.clone())
}

fn observed(recording: &Recording) -> Observed<'_, &[Node], &[Pod], &[daemonset::model::ControllerRevision]> {
    let Recording { daemon_set, nodes, pods, revisions, .. } = recording;
    Observed { daemon_set, nodes, pods, revisions }
}

fn plan_changes(tracker: &mut Tracker, recording: &Recording) -> Result<Plan, String> {
    let now = recording.now;
    // Where the changes do not suffice, the objects are listed.
    tracker.plan(now).or_else(|_| tracker.list(observed(recording), now)).map_err(|error| error.to_string())
}

fn is_on_pod(action: &Action) -> bool {
    matches!(action, Action::CreatePod { .. } | Action::DeletePod { .. })
}

fn accepted(action: &Action, number: u32) -> ActionOutcome {
    match action {
        Action::CreatePod { .. } => ActionOutcome::Created(ObjectRef {
            uid: format!("created-{number}").into(),
            name: format!("created-{number}"),
            ..ObjectRef::default()
        }),
        _ => ActionOutcome::Done,
    }
}

impl Tail {
    fn new(mut samples: Vec<u64>) -> Self {
        samples.sort_unstable();
        let position = (samples.len() * 99).div_ceil(100).saturating_sub(1);
        let p99 = samples.get(position).copied().unwrap_or_default();
        Tail { figures: Timings::from_sorted(&samples), p99 }
    }
}
