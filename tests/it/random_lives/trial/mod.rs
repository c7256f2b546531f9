//! One run: a cluster, its events, and the complaints about its controller. The fuzz target `transitions` uses such
//! runs, too.

mod ending;
mod origin;

use super::commands::{CACHES, Command, Limits, behaviour};
use super::rollout::{RolloutWatcher, Since};
use super::steering::{Steering, policy_with};
use super::watcher::{Behind, Watcher};
use daemonset::model::{Pod, Taint};
use daemonset::policy::{DownNodesPolicy, LifecyclePolicy};
use daemonset::report::Evidence;
use daemonset::{Action, ActionOutcome, Policy, Recording, Snapshot, plan, reconcile};
use daemonset_audit::audit;
use daemonset_sim::{Cluster, Distribution, Kind, Planner, Settings};
use jiff::{SignedDuration, Timestamp};
pub use origin::{Origin, Versions};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The initial state of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Beginning {
    pub seed: u64,
    pub nodes: u8,
    pub limits: Limits,
    pub min_ready: u8,
    pub memory_survives: bool,
    /// Whether a node is tainted while it lacks the Ready pod that it has had.
    pub taints_absence: bool,
    pub policy: Choices,
    pub origin: Origin,
}

/// The choices of the policy that differ from Kubernetes'.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Choices {
    pub excuses_down: bool,
    pub respects_lifecycle: bool,
    pub steering: Option<Steering>,
    /// Whether Kubernetes' own controller is there, and this one only drives the update.
    pub drives: bool,
}

impl Choices {
    fn policy(self, limits: Limits) -> Policy {
        let mut policy =
            Policy::default().external_controller(self.drives.then(|| limits.driven().strategy()));
        if self.excuses_down {
            policy.down_nodes = DownNodesPolicy::ExcuseIfDownBefore;
        }
        if self.respects_lifecycle {
            policy.lifecycle = LifecyclePolicy::Respect;
        }
        policy_with(policy, self.steering.map(Steering::policy))
    }
}

impl Beginning {
    /// The settings of its cluster.
    pub fn settings(self) -> Settings {
        let mut settings = Settings::default().behaviour(behaviour(0));
        settings.joining = Distribution::fixed(SignedDuration::from_secs(2));
        settings.container_statuses = true;
        settings.controller.memory_survives = self.memory_survives;
        settings.controller.policy = self.policy.policy(self.limits);
        settings.absence_taint = self.taints_absence.then(absence_taint);
        settings
    }
}

/// No template tolerates it.
fn absence_taint() -> Taint {
    Taint { key: "agent-not-ready".to_owned(), effect: "NoSchedule".to_owned(), ..Taint::default() }
}

/// Wrong decisions with their number.
type Complaints = Rc<RefCell<BTreeMap<String, u32>>>;

/// The longest time for which a cache may be behind. Memory holds actions in flight for 300 s.
const LONGEST_LAG: SignedDuration = SignedDuration::from_secs(200);

pub struct Trial {
    pub cluster: Cluster,
    pub watcher: Watcher,
    pub rollouts: RolloutWatcher,
    /// Complaints about single decisions, judged by their snapshots.
    complaints: Complaints,
    frozen_since: Option<Timestamp>,
    /// Whether the watcher of rollouts looks at a plan after each command.
    takes_notes: bool,
    /// Whether a command was performed after which no controller could keep the budget.
    beyond_promises: bool,
}

impl Trial {
    /// A run in which this crate decides.
    pub fn begin(beginning: Beginning) -> Self {
        Trial::decided_by(reconcile, beginning.settings(), beginning)
    }

    /// The same, which notes how far plans find the rollout.
    pub fn begin_with_notes(beginning: Beginning) -> Self {
        Trial { takes_notes: true, ..Trial::begin(beginning) }
    }

    /// A run in which this crate decides for a caller without memory.
    pub fn begin_without_memory(beginning: Beginning) -> Self {
        let mut settings = beginning.settings();
        settings.controller.remembers = false;
        Trial::decided_by(reconcile, settings, beginning)
    }

    pub fn decided_by(planner: impl Planner + 'static, settings: Settings, beginning: Beginning) -> Self {
        let mut cluster = beginning.cluster(settings);
        let complaints = Complaints::default();
        cluster.set_planner(Judged { planner, complaints: Rc::clone(&complaints) });
        let (watcher, rollouts) = (Watcher::default(), RolloutWatcher::default());
        let mut trial = Trial {
            cluster,
            watcher,
            rollouts,
            complaints,
            frozen_since: None,
            takes_notes: false,
            beyond_promises: false,
        };
        trial.note_policy();
        trial.pass(SignedDuration::from_secs(30));
        trial
    }

    pub fn perform(&mut self, command: Command, millis: u32) {
        if let Command::Freeze { .. } = command {
            self.frozen_since.get_or_insert(self.cluster.now());
        }
        self.beyond_promises |= command.is_beyond_promises();
        command.perform(&mut self.cluster);
        self.note_policy();
        self.watch(Since::ACommand);
        self.pass(SignedDuration::from_millis(millis.into()));
        if self.takes_notes
            && let Some(Ok(plan)) = self.cluster.plan()
        {
            self.rollouts.note_plan(&plan);
        }
    }

    fn note_policy(&mut self) {
        let Trial { cluster, rollouts, watcher, .. } = self;
        cluster.configure_controller(|controller| {
            rollouts.policy.clone_from(&controller.policy.rollout);
            watcher.driven.clone_from(&controller.policy.external_controller);
            rollouts.drives = watcher.driven.is_some();
        });
        watcher.is_steered |= rollouts.policy.is_some();
    }

    /// Lets time pass, step by step. No cache stays frozen for longer than memory holds actions in flight.
    fn pass(&mut self, duration: SignedDuration) {
        let until = self.cluster.now() + duration;
        let thaws_at = self.frozen_since.map(|since| since + LONGEST_LAG - SignedDuration::from_secs(100));
        while let Some(at) = self.cluster.next_at().filter(|at| *at <= until) {
            if thaws_at.is_some_and(|thaws_at| thaws_at <= at) {
                self.thaw();
            }
            self.cluster.step();
            self.watch(Since::AStep);
        }
        self.cluster.run_until(until);
        if thaws_at.is_some_and(|thaws_at| thaws_at <= until) {
            self.thaw();
        }
    }

    fn thaw(&mut self) {
        for kind in 0..CACHES {
            Command::Thaw { kind }.perform(&mut self.cluster);
        }
        self.frozen_since = None;
    }

    fn watch(&mut self, since: Since) {
        watch(&mut self.watcher, &mut self.rollouts, &self.cluster, since);
    }

    /// All broken promises. The budget counts only while every command so far lets a controller keep it.
    pub fn broken(&self) -> Vec<String> {
        let mut broken: Vec<String> = self.complaints.borrow().keys().cloned().collect();
        broken.extend(self.cluster.difference().map(|difference| format!("changes: {difference}")));
        if !self.beyond_promises {
            let excesses = self.watcher.excesses.iter();
            broken.extend(excesses.map(|excess| format!("{}: {excess:?}", excess.figure)));
            let breaches = self.rollouts.breaches.iter();
            broken.extend(breaches.map(|breach| format!("{}: {breach:?}", breach.promise)));
        }
        broken
    }

    pub fn is_beyond_promises(&self) -> bool {
        self.beyond_promises
    }
}

/// A planner whose decisions are all judged.
struct Judged<B> {
    planner: B,
    complaints: Complaints,
}

impl<B: Planner> Planner for Judged<B> {
    fn plan(&mut self, snapshot: &Snapshot<'_>) -> Vec<Action> {
        let actions = self.planner.plan(snapshot);
        judge(snapshot, &actions, &mut self.complaints.borrow_mut());
        actions
    }

    fn record(&mut self, action: &Action, outcome: &ActionOutcome) {
        self.planner.record(action, outcome);
    }

    fn reset(&mut self) {
        self.planner.reset();
    }
}

/// The lag of the caches. It must be read after each step, because it changes with every event.
fn watch(watcher: &mut Watcher, rollouts: &mut RolloutWatcher, cluster: &Cluster, since: Since) {
    let behind = |kind| cluster.cache_lag(kind);
    let (pods, nodes, spec) = (behind(Kind::Pods), behind(Kind::Nodes), behind(Kind::DaemonSets));
    let behind = Behind { pods, nodes, spec, revisions: behind(Kind::Revisions) };
    watcher.watch(cluster.history(), behind);
    rollouts.watch(cluster, behind, since);
}

/// The complaints about one decision, judged by its snapshot alone.
fn judge(snapshot: &Snapshot<'_>, actions: &[Action], complaints: &mut BTreeMap<String, u32>) {
    for violation in audit(snapshot, actions) {
        let kind = serde_json::to_value(&violation.kind).unwrap();
        *complaints.entry(format!("audit: {}", kind["type"])).or_default() += 1;
    }
    if says_done_too_early(snapshot, actions) {
        *complaints.entry("status: done too early".to_owned()).or_default() += 1;
    }
}

/// Whether `kubectl rollout status` would report completion while a target node lacks an available updated pod.
fn says_done_too_early(snapshot: &Snapshot<'_>, actions: &[Action]) -> bool {
    let status = actions.iter().find_map(|action| match action {
        Action::UpdateStatus { status, .. } => Some(status),
        _ => None,
    });
    let Some(status) = status else { return false };
    let recording = Recording::from(snapshot);
    let done = status.observed_generation >= recording.daemon_set.metadata.generation
        && status.updated_number_scheduled >= status.desired_number_scheduled
        && status.number_available >= status.desired_number_scheduled;
    let available = |uid: &str| {
        let pod = recording.pods.iter().find(|pod| pod.metadata.uid.as_str() == uid);
        pod.is_some_and(|pod| is_available(pod, &recording))
    };
    let updated = |evidence: Evidence| evidence.is_updated();
    done && plan(snapshot).report.nodes.iter().any(|verdict| {
        let target = matches!(verdict.placement, daemonset::report::NodePlacement::Run);
        let good = verdict.pods.iter().any(|pod| updated(pod.evidence) && available(pod.pod.uid.as_str()));
        target && !good
    })
}

fn is_available(pod: &Pod, recording: &Recording) -> bool {
    let min_ready = SignedDuration::from_secs(recording.daemon_set.spec.min_ready_seconds.into());
    let ready = pod.status.conditions.iter().find(|c| c.kind == "Ready" && c.status == "True");
    let long_enough = |since: Timestamp| since + min_ready <= recording.now;
    pod.metadata.deletion_timestamp.is_none()
        && ready.is_some_and(|c| min_ready.is_zero() || c.last_transition_time.is_some_and(long_enough))
}
