//! Random histories: a reconciler that is given each change plans as one that is given all objects.

use super::rollout::steered;
use super::world;
use crate::support::{cases, execute, tracked};
use daemonset::model::{ControllerRevision, DaemonSet, Node, NodeName, ObjectRef, Pod, ResourceList, Uid};
use daemonset::outlook::Obstacles;
use daemonset::report::Situation;
use daemonset::{
    Action, ActionOutcome, DeleteReason, Memory, NodeView, Observed, ObservedAt, Plan, PodView, Policy,
    Reconciler, Recorded, Recording, RestoreReason, RevisionReason, RevisionView, RolloutReason,
};
use daemonset_audit::{Violation, ViolationKind, audit};
use daemonset_incremental::{Auditor, Change, NotKept, Tracker, audit_kept};
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// A history: the cluster changes from one random fleet to the next, one object at a time.
#[derive(Debug, Clone)]
pub struct History {
    pub fleets: Vec<Recording>,
    /// Decides the order of the changes, and the moments between them.
    pub seed: u64,
}

pub fn history() -> impl Strategy<Value = History> {
    let fleet = prop_oneof![world::world().prop_map(|world| world.recording()), steered()];
    (prop::collection::vec(fleet, 2..4), any::<u64>()).prop_map(|(fleets, seed)| History { fleets, seed })
}

/// Random numbers: the same for the same seed.
pub struct Choices(pub u64);

impl Choices {
    /// SplitMix64.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    pub fn one_in(&mut self, number: usize) -> bool {
        self.below(number) == 0
    }

    fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.below(last + 1));
        }
    }
}

/// The objects as a client's cache has them.
#[derive(Debug, Clone, Default)]
pub struct Cache {
    pub daemon_set: DaemonSet,
    pub nodes: BTreeMap<String, Node>,
    pub pods: BTreeMap<(String, String), Pod>,
    pub revisions: BTreeMap<(String, String), ControllerRevision>,
    /// The caller's, for each node.
    pub free: BTreeMap<NodeName, ResourceList>,
}

/// One change of one object.
#[derive(Debug, Clone)]
pub enum Event {
    DaemonSet(Box<DaemonSet>),
    Node(String, Option<Box<Node>>),
    Pod((String, String), Option<Box<Pod>>),
    Revision((String, String), Option<Box<ControllerRevision>>),
    /// Of a node: the caller knows other free resources.
    Free(NodeName, Option<ResourceList>),
}

impl From<&Recording> for Cache {
    fn from(recording: &Recording) -> Self {
        let nodes = recording.nodes.iter().map(|node| (node.metadata.name.to_string(), node.clone()));
        let pods = recording.pods.iter();
        let pods = pods.map(|pod| ((pod.metadata.namespace.clone(), pod.metadata.name.clone()), pod.clone()));
        let revisions = recording.revisions.iter();
        Cache {
            daemon_set: recording.daemon_set.clone(),
            nodes: nodes.collect(),
            pods: pods.collect(),
            revisions: revisions.map(|revision| (revision_name(revision), revision.clone())).collect(),
            free: recording.free.clone(),
        }
    }
}

impl Cache {
    /// The changes that turn this cache into another one.
    fn changes_to(&self, other: &Cache) -> Vec<Event> {
        let mut events = Vec::new();
        if self.daemon_set != other.daemon_set {
            events.push(Event::DaemonSet(Box::new(other.daemon_set.clone())));
        }
        let nodes = differences(&self.nodes, &other.nodes);
        events.extend(nodes.map(|(name, node)| Event::Node(name, node.map(Box::new))));
        let pods = differences(&self.pods, &other.pods);
        events.extend(pods.map(|(name, pod)| Event::Pod(name, pod.map(Box::new))));
        let revisions = differences(&self.revisions, &other.revisions);
        events.extend(revisions.map(|(name, revision)| Event::Revision(name, revision.map(Box::new))));
        events.extend(differences(&self.free, &other.free).map(|(node, free)| Event::Free(node, free)));
        events
    }

    fn apply(&mut self, event: &Event) {
        match event.clone() {
            Event::DaemonSet(daemon_set) => self.daemon_set = *daemon_set,
            Event::Node(name, node) => put(&mut self.nodes, name, node),
            Event::Pod(name, pod) => put(&mut self.pods, name, pod),
            Event::Revision(name, revision) => put(&mut self.revisions, name, revision),
            Event::Free(node, free) => put(&mut self.free, node, free.map(Box::new)),
        }
    }

    fn view<'c>(&'c self, node: &'c Node) -> NodeView<'c> {
        let (view, free) = (NodeView::from(node), self.free.get(&node.metadata.name));
        free.map_or(view, |free| view.free(free))
    }

    fn observed(
        &self,
    ) -> Observed<
        '_,
        impl Iterator<Item = NodeView<'_>>,
        impl Iterator<Item = &Pod>,
        impl Iterator<Item = &ControllerRevision>,
    > {
        Observed {
            daemon_set: &self.daemon_set,
            // A list has no order: here it is not that of the names, in which the nodes are kept.
            nodes: self.nodes.values().rev().map(|node| self.view(node)),
            pods: self.pods.values(),
            revisions: self.revisions.values(),
        }
    }
}

/// Namespace and name.
pub fn revision_name(revision: &ControllerRevision) -> (String, String) {
    (revision.metadata.namespace.clone(), revision.metadata.name.clone())
}

fn put<K: Ord, V>(map: &mut BTreeMap<K, V>, key: K, value: Option<Box<V>>) {
    match value {
        Some(value) => map.insert(key, *value),
        None => map.remove(&key),
    };
}

fn differences<'m, K: Ord + Clone, V: PartialEq + Clone>(
    one: &'m BTreeMap<K, V>,
    other: &'m BTreeMap<K, V>,
) -> impl Iterator<Item = (K, Option<V>)> + 'm {
    let keys: BTreeSet<&K> = one.keys().chain(other.keys()).collect();
    let different = keys.into_iter().filter(|key| one.get(*key) != other.get(*key));
    different.map(|key| (key.clone(), other.get(key).cloned()))
}

impl Event {
    /// The change that a watch shows, once the cache has it; `None` for a node that is not there.
    fn change<'c>(&'c self, cache: &'c Cache) -> Option<Change<'c>> {
        Some(match self {
            Event::DaemonSet(daemon_set) => Change::DaemonSet(daemon_set),
            Event::Node(_, Some(node)) => Change::Node(cache.view(node)),
            Event::Free(node, _) => Change::Node(cache.view(cache.nodes.get(node.as_str())?)),
            Event::Node(name, None) => Change::NodeGone(name),
            Event::Pod(_, Some(pod)) => Change::Pod(PodView::from(&**pod)),
            Event::Pod((namespace, name), None) => Change::PodGone { namespace, name },
            Event::Revision(_, Some(revision)) => Change::Revision(RevisionView::from(&**revision)),
            Event::Revision((namespace, name), None) => Change::RevisionGone { namespace, name },
        })
    }
}

/// Whether a tracker has the wait of each candidate, though its plan has few verdicts.
fn same_waits(tracker: &Tracker, kept: &Plan, whole: &Plan) -> Result<(), String> {
    let waits = |plan| tracker.waits(plan).collect::<BTreeMap<_, _>>();
    let (kept, whole) = (waits(kept), waits(whole));
    if kept == whole { Ok(()) } else { Err(format!("waits from changes {kept:?}\nof all {whole:?}")) }
}

/// Two reconcilers of one cluster.
pub struct Pair {
    pub cache: Cache,
    /// It is given each change.
    kept: Tracker,
    /// It judges the plans of the first at the cost of the changes.
    auditor: Auditor,
    /// How often it judged lists of each kind by a part of the nodes, and found each rule broken.
    pub audits: BTreeMap<String, u32>,
    audit_choices: Choices,
    /// It is given all objects.
    whole: Reconciler,
    pub now: Timestamp,
    pub choices: Choices,
    /// How many plans came from applied changes.
    pub kept_plans: u32,
    /// The uids of all pods that ever were.
    uids: BTreeSet<Uid>,
    /// Counts created pods, and those that got another uid.
    serial: u32,
}

impl Pair {
    pub fn new(recording: &Recording, seed: u64) -> Self {
        let (uid, policy) = (recording.daemon_set.metadata.uid.clone(), recording.policy.clone());
        let memory = recording.memory.clone().unwrap_or_default();
        let whole = Reconciler::with_memory(uid.clone(), policy.clone(), memory.clone());
        let kept = Tracker::with_memory(uid, policy, memory);
        Pair {
            cache: recording.into(),
            kept,
            auditor: Auditor::default(),
            audits: BTreeMap::new(),
            audit_choices: Choices(seed),
            whole,
            now: recording.now,
            choices: Choices(seed),
            kept_plans: 0,
            uids: recording.pods.iter().map(|pod| pod.metadata.uid.clone()).collect(),
            serial: 0,
        }
    }

    /// Plans with both, and records the same outcomes in both.
    fn plan(&mut self) -> Result<(), String> {
        let mut plan = self.compare()?;
        // A plan looks at every changed node, wherever the orders have it. The next one follows the orders alone.
        if self.choices.one_in(3) {
            plan = self.compare()?;
        }
        if let Some(plan) = plan {
            self.execute(&plan);
        }
        Ok(())
    }

    /// Plans with both; `None` where both refuse the input.
    pub fn compare(&mut self) -> Result<Option<Plan>, String> {
        let mut at = ObservedAt::new(self.now);
        at.pods_version = self.choices.one_in(3).then(|| self.choices.next() % 3_000);
        at.nodes_version = at.pods_version.filter(|version| version % 2 == 0);
        let explained = self.kept.explain(at).ok();
        let mut is_listed = false;
        let cache = &self.cache;
        let list = || {
            is_listed = true;
            cache.observed()
        };
        let kept = tracked(&mut self.kept, list, at).map_err(|error| error.to_string());
        let whole = self.whole.plan(self.cache.observed(), at).map_err(|error| error.to_string());
        self.kept_plans += u32::from(!is_listed);
        let whole = match (kept, whole) {
            (Ok(kept), Ok(whole)) => {
                same(&kept, &whole)?;
                self.count_obstacles(&kept);
                same_waits(&self.kept, &kept, &whole)?;
                if let Some(explained) = explained.filter(|explained| *explained != whole) {
                    return Err(format!("explained {explained:#?}\nwhole {whole:#?}"));
                }
                whole
            }
            (Err(kept), Err(whole)) if kept == whole => return Ok(None),
            (kept, whole) => return Err(format!("kept {kept:?}\nwhole {whole:?}")),
        };
        if self.kept.memory() != self.whole.memory() {
            let json = |memory: &Memory| serde_json::to_string(memory).unwrap();
            let [kept, whole] = [json(self.kept.memory()), json(self.whole.memory())];
            return Err(format!("memory from changes {kept}\nof all {whole}"));
        }
        self.audit(&whole, at)?;
        Ok(Some(whole))
    }

    /// Audits the plan, and actions that break rules: a pod of each node is deleted, and revisions are changed, whatever the plan says.
    fn audit(&mut self, plan: &Plan, at: ObservedAt) -> Result<(), String> {
        let everywhere = self.cache.observed().pods.map(|pod| {
            let node = pod.spec.node_name.as_str().into();
            Action::delete_pod(node, ObjectRef::from(&pod.metadata), DeleteReason::ExcessPod)
        });
        let everywhere: Vec<Action> = everywhere.collect();
        let mut choices = Choices(self.audit_choices.0);
        let few =
            (0..choices.below(3)).filter_map(|_| everywhere.get(choices.below(everywhere.len().max(1))));
        let few: Vec<Action> = plan.actions.iter().chain(few).cloned().collect();
        self.audit_choices = choices;
        let few: Vec<Action> = few.into_iter().chain(self.change_of_revision()).collect();
        let wrong: Vec<Action> = plan.actions.iter().chain(&everywhere).cloned().collect();
        // An auditor that judges each other plan alone sees the changes of several plans at once.
        let skips = self.audit_choices.one_in(2);
        for (number, actions) in [&plan.actions, &wrong, &plan.actions, &few, &few].into_iter().enumerate() {
            let kept = if number < 2 || skips {
                audit_kept(&self.kept, actions, at)
            } else {
                self.auditor.audit(&mut self.kept, actions, at)
            };
            let kept = match kept {
                Ok(kept) => kept,
                // Such a plan ends before it chooses a stable revision.
                Err(NotKept::OtherStableRevision) if plan.report.situation != Situation::Synced => continue,
                Err(error) => return Err(format!("not judged: {error}")),
            };
            if number == 4 && !skips {
                self.count_audit(plan, actions, &kept);
            }
            let snapshot = daemonset::Snapshot::builder(self.cache.observed(), at);
            let snapshot = snapshot.memory(self.whole.memory()).policy(self.whole.policy());
            let whole = audit(&snapshot.check().map_err(|error| error.to_string())?, actions);
            if !are_same(&kept, &whole) {
                return Err(format!("list {number}, violations from changes {kept:#?}\nof all {whole:#?}"));
            }
        }
        Ok(())
    }

    /// An action on a revision, which may break a rule.
    fn change_of_revision(&mut self) -> Option<Action> {
        let choices = &mut self.audit_choices;
        let revisions = self.cache.revisions.len();
        let chosen = choices.below(2 * revisions);
        let revision = self.cache.revisions.values().nth(chosen)?;
        let metadata = &revision.metadata;
        let named = ObjectRef {
            namespace: metadata.namespace.clone(),
            name: metadata.name.clone(),
            uid: metadata.uid.clone(),
            resource_version: metadata.resource_version.clone(),
        };
        let number = revision.revision + choices.below(2) as i64;
        let mark = ["started", "wave", "wave", "failed", "completed", "completed", "restored", "undone"]
            [choices.below(8)];
        let rest = match mark {
            "undone" => format!(" {}", self.cache.daemon_set.metadata.generation),
            "wave" => format!(" {}", choices.below(4)),
            "failed" => " TooManyFailures".to_owned(),
            _ => String::new(),
        };
        Some(match choices.below(7) {
            6 => {
                let mut template = revision.data["spec"]["template"].clone();
                template["$patch"] = json!("replace");
                let patch = json!({"spec": {"template": template}});
                let daemon_set = ObjectRef::from(&self.cache.daemon_set);
                Action::restore_template(daemon_set, named, patch, RestoreReason::RolledBack)
            }
            0 | 1 => Action::delete_revision(named, RevisionReason::HistoryLimit),
            2 => Action::renumber_revision(named, number, RevisionReason::CurrentAgain),
            _ => {
                let value = format!("{} {}{rest}", revision.revision, self.now);
                let annotations = [(format!("rollout.daemonset/{mark}"), Some(value))].into();
                Action::annotate_revision(named, annotations, RolloutReason::WaveOpened)
            }
        })
    }

    /// Counts a list that was judged beside other nodes.
    fn count_audit(&mut self, plan: &Plan, actions: &[Action], found: &[Violation]) {
        self.count("audits beside other nodes".to_owned());
        if actions.iter().any(|action| action.noun() == "revision") {
            self.count("audits of revisions beside other nodes".to_owned());
        }
        if plan.actions.iter().any(|action| matches!(action, Action::RenumberRevision { .. })) {
            self.count("audits of an undo".to_owned());
        }
        if let Some(rollout) = &plan.report.rollout {
            let stage = serde_json::to_value(&rollout.stage).unwrap()["type"].clone();
            self.count(format!("audits of a rollout {}", stage.as_str().unwrap_or_default()));
            if !rollout.waves.is_empty() {
                self.count("audits of waves".to_owned());
            }
            if rollout.stable.is_some() {
                self.count("audits beside the stable revision".to_owned());
            }
        }
        for violation in found {
            let kind = serde_json::to_value(&violation.kind).unwrap()["type"].clone();
            self.count(format!("found {}", kind.as_str().unwrap_or_default()));
        }
    }

    /// Counts the obstacles of the nodes that the report of a plan from changes leaves out, while nothing moves.
    fn count_obstacles(&mut self, plan: &Plan) {
        let later = self.now + SignedDuration::from_hours(1_000);
        let obstacles = |obstacles: &Obstacles| obstacles.at(later, SignedDuration::ZERO);
        let (of_all, of_others) = (obstacles(&Obstacles::new(plan)), obstacles(&plan.report.others));
        for obstacle in of_others.iter().filter(|obstacle| of_all.contains(obstacle)) {
            self.count(format!("stuck {obstacle:?} beside the report"));
        }
    }

    fn count(&mut self, thing: String) {
        *self.audits.entry(thing).or_default() += 1;
    }

    /// Executes a beginning of the plan with random outcomes. The cache shows some of the effects at once.
    fn execute(&mut self, plan: &Plan) {
        let length = self.choices.below(plan.actions.len() + 1);
        for action in plan.actions.iter().take(length) {
            let outcome = self.outcome(action);
            self.record(action, &outcome);
            let is_done = !matches!(outcome, ActionOutcome::Rejected | ActionOutcome::Conflict);
            if is_done && self.choices.one_in(2) {
                self.show(action, &outcome);
            }
        }
    }

    /// Records an outcome in both. Returns whether it ends the plan.
    pub fn record(&mut self, action: &Action, outcome: &ActionOutcome) -> bool {
        let kept = self.kept.record(action, outcome, self.now);
        let whole = self.whole.record(action, outcome, self.now);
        assert_eq!(kept, whole);
        kept == Recorded::PlanEnds
    }

    /// Takes an action back that was not done, as storage shows.
    pub fn settle(&mut self, action: &Action) {
        let stored = daemonset::Snapshot::builder(self.cache.observed(), self.now).check().unwrap();
        self.kept.settle(action, &stored);
        self.whole.settle(action, &stored);
    }

    /// A watch was interrupted.
    pub fn forget_objects(&mut self) {
        self.kept.forget_objects();
    }

    fn outcome(&mut self, action: &Action) -> ActionOutcome {
        let version = (self.choices.next() % 3_000).to_string();
        match (self.choices.below(5), action) {
            (0, _) => ActionOutcome::Rejected,
            (1, _) => ActionOutcome::Unknown,
            (2, Action::PatchNode { .. } | Action::UpdatePodInPlace { .. }) => ActionOutcome::Conflict,
            (3, Action::PatchNode { node, .. }) => {
                ActionOutcome::Changed(ObjectRef { resource_version: version, ..node.clone() })
            }
            (3, Action::UpdatePodInPlace { pod, .. }) => {
                ActionOutcome::Changed(ObjectRef { resource_version: version, ..pod.clone() })
            }
            (_, Action::CreatePod { node, pod, .. }) => {
                let serial = self.next_serial();
                ActionOutcome::Created(ObjectRef {
                    namespace: self.cache.daemon_set.metadata.namespace.clone(),
                    name: pod.name().map_or_else(|| format!("agent-of-{node}"), str::to_owned),
                    uid: format!("uid-of-agent-{serial}").as_str().into(),
                    resource_version: version,
                })
            }
            (2, Action::DeletePod { pod, .. }) => {
                ActionOutcome::Changed(ObjectRef { resource_version: version, ..pod.clone() })
            }
            _ => ActionOutcome::Done,
        }
    }

    /// Shows the effect of an action.
    fn show(&mut self, action: &Action, outcome: &ActionOutcome) {
        let mut recording = self.recording();
        execute(&mut recording, action);
        if let ActionOutcome::Created(created) = outcome {
            if let Some(pod) = recording.pods.last_mut() {
                (pod.metadata.name, pod.metadata.uid) = (created.name.clone(), created.uid.clone());
            }
        }
        self.change_to(&recording);
    }

    /// The objects now.
    pub fn recording(&self) -> Recording {
        let Cache { daemon_set, nodes, pods, revisions, free } = self.cache.clone();
        let mut recording = Recording::new(daemon_set, self.now);
        recording.nodes = nodes.into_values().collect();
        recording.pods = pods.into_values().collect();
        recording.revisions = revisions.into_values().collect();
        recording.free = free;
        recording
    }

    /// Makes all changes at once that lead to these objects.
    pub fn change_to(&mut self, recording: &Recording) {
        for event in self.cache.changes_to(&Cache::from(recording)) {
            self.change(&event);
        }
    }

    pub fn policy(&self) -> Policy {
        self.whole.policy().clone()
    }

    pub fn set_policy(&mut self, policy: Policy) {
        self.kept.set_policy(policy.clone());
        self.whole.set_policy(policy);
    }

    pub fn change(&mut self, event: &Event) {
        let mut event = event.clone();
        if let Event::Pod(name, Some(pod)) = &mut event {
            self.give_uid(name, pod);
        }
        self.cache.apply(&event);
        if let Some(change) = event.change(&self.cache) {
            let _ = self.kept.apply(change);
        }
    }

    /// The API server gives no uid twice and binds a pod once: a pod that comes back, or on another node, is another pod.
    fn give_uid(&mut self, name: &(String, String), pod: &mut Pod) {
        let node = |pod: &Pod| match pod.spec.node_name.as_str() {
            "" => pod.spec.affinity_node.clone().unwrap_or_default(),
            _ => pod.spec.node_name.clone(),
        };
        let is_it = |old: &Pod| old.metadata.uid == pod.metadata.uid && node(old) == node(pod);
        if self.cache.pods.get(name).is_some_and(is_it) || self.uids.insert(pod.metadata.uid.clone()) {
            return;
        }
        pod.metadata.uid = format!("{}-{}", pod.metadata.uid, self.next_serial()).into();
        self.uids.insert(pod.metadata.uid.clone());
    }

    fn next_serial(&mut self) -> u32 {
        self.serial += 1;
        self.serial
    }

    /// Time goes on, now and then far, and sometimes back.
    pub fn pass_time(&mut self) {
        let seconds = match self.choices.below(12) {
            0 => -(self.choices.below(100) as i64),
            1 => 290 + self.choices.below(20) as i64,
            2 => self.choices.below(4_000) as i64,
            _ => self.choices.below(12) as i64,
        };
        self.now += SignedDuration::from_secs(seconds);
    }

    fn go_to(&mut self, recording: &Recording) -> Result<(), String> {
        let mut events = self.cache.changes_to(&Cache::from(recording));
        self.choices.shuffle(&mut events);
        for event in &events {
            self.change(event);
            if self.choices.one_in(2) {
                self.pass_time();
                self.plan()?;
            }
        }
        if self.choices.one_in(6) {
            self.set_policy(recording.policy.clone());
        }
        self.pass_time();
        self.plan()
    }
}

/// Whether two lists of violations are the same, but for actions on objects of others, which are not kept: there something is wrong in both.
fn are_same(kept: &[Violation], whole: &[Violation]) -> bool {
    let unknown = kept.iter().filter(|violation| violation.kind == ViolationKind::UnknownObject);
    let unknown: BTreeSet<usize> = unknown.map(|violation| violation.action).collect();
    let known = |violation: &&Violation| !unknown.contains(&violation.action);
    let is_wrong = |action: &usize| whole.iter().any(|violation| violation.action == *action);
    unknown.iter().all(is_wrong) && kept.iter().filter(known).eq(whole.iter().filter(known))
}

/// Compares a plan from changes with the plan of all objects.
fn same(kept: &Plan, whole: &Plan) -> Result<(), String> {
    let differ = |one: &dyn std::fmt::Debug, other: &dyn std::fmt::Debug| {
        Err(format!("from changes {one:#?}\nof all objects {other:#?}"))
    };
    if kept.actions != whole.actions {
        return differ(&kept.actions, &whole.actions);
    }
    if (&kept.status, &kept.warnings) != (&whole.status, &whole.warnings) {
        return differ(&(&kept.status, &kept.warnings), &(&whole.status, &whole.warnings));
    }
    let verdicts: BTreeMap<_, _> =
        whole.report.nodes.iter().map(|verdict| (&verdict.node, verdict)).collect();
    for verdict in &kept.report.nodes {
        if verdicts.get(&verdict.node) != Some(&verdict) {
            return differ(verdict, &verdicts.get(&verdict.node));
        }
    }
    let frame = |plan: &Plan| {
        let mut report = plan.report.clone();
        (report.nodes, report.scope, report.others) = Default::default();
        report
    };
    if frame(kept) != frame(whole) {
        return differ(&frame(kept), &frame(whole));
    }
    let [obstacles, of_all] = [kept, whole].map(Obstacles::new);
    if obstacles != of_all {
        return differ(&(obstacles, &kept.report), &(of_all, &whole.report));
    }
    Ok(())
}

/// Lives through a history. Returns how many plans came from applied changes.
pub fn live(history: &History) -> Result<u32, String> {
    let mut pair = Pair::new(&history.fleets[0], history.seed);
    pair.plan()?;
    for fleet in &history.fleets[1..] {
        pair.go_to(fleet)?;
    }
    Ok(pair.kept_plans)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(150), failure_persistence: None, max_shrink_iters: 3000, ..ProptestConfig::default() })]

    #[test]
    fn changes_give_the_plan_of_all_objects(history in history()) {
        if let Err(difference) = live(&history) {
            prop_assert!(false, "{difference}");
        }
    }
}
