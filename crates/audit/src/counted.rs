//! The nodes of a fleet, counted once and again when something about them has changed.

use crate::facts::stage::PodStage;
use crate::facts::strategy::Strategy;
use crate::fleet::context::Context;
use crate::fleet::leaving::{is_last, leaves_last};
use crate::fleet::{Carried, Fleet, Others, Sums};
use crate::goals::{Goals, Group, NodeGroups, Regrouped, Surroundings, may_fail_at};
use crate::rules;
use crate::violation::{Findings, Violation};
use daemonset::internal::{IndexVec, NodeIx};
use daemonset::model::Toleration;
use daemonset::{Action, PodView, Snapshot};
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The nodes of a fleet, counted, each by its key.
#[derive(Debug, Default)]
pub struct Counted {
    /// `None` where no node is counted.
    basis: Option<Basis>,
    nodes: BTreeMap<u32, CountedNode>,
    sums: BTreeMap<Group, ByGoal>,
    hashes: Hashes,
    /// The nodes as a rollout sees them, if the policy steers one.
    groups: Option<NodeGroups>,
    /// When time alone changes the counts of a node.
    due: BTreeSet<(Timestamp, u32)>,
    now: Timestamp,
}

/// The pods of the DaemonSet by their hash.
#[derive(Debug, Default)]
struct Hashes(BTreeMap<Arc<str>, HashSum>);

/// The pods that have one hash.
#[derive(Debug, Clone, Copy)]
struct HashSum {
    pods: HashPods,
    /// The hash means the template.
    is_updated: bool,
}

/// How many pods have one hash.
#[derive(Debug, Clone, Copy, Default)]
struct HashPods {
    carried: Carried,
    live: u32,
}

/// A counted node.
#[derive(Debug, Clone, Default)]
struct CountedNode {
    group: Group,
    sums: ByGoal,
    due: Option<Timestamp>,
    /// Its pods by their hash.
    hashes: Vec<(Arc<str>, HashPods)>,
}

/// The figures in which nodes count, by their goal.
#[derive(Debug, Clone, Copy, Default)]
struct ByGoal {
    current: Sums,
    stable: Sums,
}

/// The parts of the DaemonSet and of its revisions on which the counts of every node rest, but for the meaning of the hashes of pods.
#[derive(Debug, PartialEq)]
struct Basis {
    surges: bool,
    min_ready_seconds: i32,
    template_generation: Option<String>,
    tolerations: Vec<Toleration>,
    /// When the current revision was created, if it is there.
    current: Option<Option<Timestamp>>,
    /// The uid and the hash of the stable revision.
    stable: Option<(String, String)>,
}

impl Basis {
    fn new(context: &Context<'_>) -> Self {
        let spec = context.snapshot.spec();
        Basis {
            surges: matches!(Strategy::in_force(context.snapshot), Strategy::Surge(_)),
            min_ready_seconds: spec.daemon_set.spec.min_ready_seconds,
            template_generation: spec.template_generation.clone(),
            tolerations: spec.template.tolerations.clone(),
            current: context.lineage.current().map(|member| member.view.created_at),
            stable: context.goals.stable().map(|stable| (stable.view.uid.to_owned(), stable.hash.to_owned())),
        }
    }
}

impl Counted {
    /// Whether any node is counted.
    pub fn has_nodes(&self) -> bool {
        self.basis.is_some()
    }

    /// When nodes were counted last.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// The keys of the nodes that time alone changes by now.
    pub fn due(&self, now: Timestamp) -> impl Iterator<Item = u32> {
        self.due.range(..=(now, u32::MAX)).map(|(_, key)| *key)
    }

    /// Takes the counts of nodes back.
    pub fn forget<'k>(&mut self, keys: impl Iterator<Item = &'k u32>) {
        for key in keys {
            if let Some(groups) = &mut self.groups {
                groups.remove(*key);
            }
            let Some(CountedNode { group, sums, due, hashes }) = self.nodes.remove(key) else { continue };
            self.sums.entry(group).or_default().subtract(sums);
            due.map(|due| self.due.remove(&(due, *key)));
            for (hash, pods) in hashes {
                self.hashes.subtract(&hash, pods);
            }
        }
    }

    /// Counts the nodes of a snapshot, which are not counted, and judges the actions beside all others. `None` if these rest on another
    /// basis: then all are to be counted again.
    ///
    /// # Errors
    /// Where the surroundings lack a fact. The nodes may be counted in part.
    pub fn judge<S: Surroundings>(
        &mut self,
        snapshot: &Snapshot<'_>,
        surroundings: &S,
        actions: &[Action],
    ) -> Result<Option<Vec<Violation>>, S::Error> {
        let goals = self.goals(snapshot, surroundings, actions)?;
        let context = Context::new(snapshot, &goals, actions);
        if !self.rests_on(&context) {
            return Ok(None);
        }
        let others = self.others(&goals);
        self.count(&context, |node| surroundings.key(node));
        let mut findings = Findings::new(snapshot, actions);
        if rules::check_list(snapshot, &goals, others.sums, actions, &mut findings).is_continue() {
            rules::check_objects(&context, Fleet::new(&context).beside(others), &mut findings);
        }
        Ok(Some(findings.in_order()))
    }

    /// The goals of the nodes of a snapshot, beside all others that are counted.
    fn goals<'s, S: Surroundings>(
        &mut self,
        snapshot: &'s Snapshot<'s>,
        surroundings: &S,
        actions: &'s [Action],
    ) -> Result<Goals<'s>, S::Error> {
        let Some(policy) = &snapshot.spec().policy.rollout else { return Ok(Goals::unsteered(snapshot)) };
        let Counted { groups, hashes, .. } = self;
        let groups = groups.get_or_insert_with(|| NodeGroups::new(&policy.waves));
        let live = |hash: &str| hashes.0.get(hash).map_or(0, |sum| sum.pods.live);
        let (goals, regrouped) = Goals::steered(snapshot, policy, actions, groups, surroundings, live)?;
        self.regroup(regrouped);
        Ok(goals)
    }

    /// Moves counted nodes to other groups.
    fn regroup(&mut self, nodes: Regrouped) {
        for (key, group) in nodes {
            let Some(node) = self.nodes.get_mut(&key) else { continue };
            let old = std::mem::replace(&mut node.group, group);
            self.sums.entry(old).or_default().subtract(node.sums);
            self.sums.entry(group).or_default().add(node.sums);
        }
    }

    /// Whether the counts rest on the same basis as these ones.
    fn rests_on(&self, context: &Context<'_>) -> bool {
        let mut hashes = self.hashes.0.iter();
        self.basis.as_ref().is_none_or(|known| *known == Basis::new(context))
            && hashes.all(|(hash, sum)| sum.is_updated == context.lineage.has_template(hash))
    }

    /// The counts of all counted nodes towards these goals.
    fn others(&self, goals: &Goals<'_>) -> Others {
        let mut sums = Sums::default();
        for (group, by_goal) in &self.sums {
            let goal = goals.of_group(*group);
            let mut of_goal = if goal.is_stable { by_goal.stable } else { by_goal.current };
            if goal.is_held {
                // A node that the rollout has not reached leaves by no toleration.
                of_goal.leaving = 0;
            }
            sums.add(of_goal);
        }
        let carried = self.hashes.0.iter().map(|(hash, sum)| (Arc::clone(hash), sum.pods.carried));
        Others { sums, carried: carried.collect() }
    }

    /// Counts the nodes of a snapshot, which are not counted.
    fn count(&mut self, context: &Context<'_>, key: impl Fn(NodeIx) -> u32) {
        let mut nodes: IndexVec<NodeIx, CountedNode> =
            vec![CountedNode::default(); context.snapshot.nodes().len()].into();
        let current = Goals::unsteered(context.snapshot);
        count_towards(context, &current, &mut nodes, |by_goal| &mut by_goal.current);
        if let Some(stable) = context.goals.all_stable() {
            count_towards(context, &stable, &mut nodes, |by_goal| &mut by_goal.stable);
        }
        self.count_hashes(context, &mut nodes);
        let keys: Vec<u32> = nodes.positions().map(key).collect();
        for (key, node) in keys.into_iter().zip(Vec::from(nodes)) {
            let group = self.groups.as_ref().map_or(Group::OUTSIDE, |groups| groups.group(key));
            self.sums.entry(group).or_default().add(node.sums);
            node.due.map(|due| self.due.insert((due, key)));
            self.nodes.insert(key, CountedNode { group, ..node });
        }
        (self.basis, self.now) = (Some(Basis::new(context)), context.snapshot.now());
    }

    /// Counts the pods of each hash on each node.
    fn count_hashes(&mut self, context: &Context<'_>, nodes: &mut IndexVec<NodeIx, CountedNode>) {
        for (_, pod, facts) in context.own_pods() {
            let Some(node) = facts.node else { continue };
            let due = changes_at(context.snapshot, node, pod);
            nodes.change(node, |node| node.due = [node.due, due].into_iter().flatten().min());
            let Some(hash) = facts.hash.map(|hash| context.lineage.hash(hash)) else { continue };
            let stage = context.stage(pod, facts);
            let may_live = !matches!(stage, PodStage::Terminating | PodStage::Gone);
            let pods = HashPods {
                carried: Carried { pods: 1, left_behind: may_live.into() },
                live: matches!(stage, PodStage::Live(_)).into(),
            };
            let hash = self.hashes.add(hash, pods, || context.lineage.has_template(hash));
            nodes.change(node, |node| node.hashes.push((hash, pods)));
        }
    }
}

/// Counts the nodes of a snapshot as if these were their goals.
fn count_towards(
    context: &Context<'_>,
    goals: &Goals<'_>,
    nodes: &mut IndexVec<NodeIx, CountedNode>,
    of_goal: impl Fn(&mut ByGoal) -> &mut Sums,
) {
    let context = Context::new(context.snapshot, goals, context.actions);
    let fleet = Fleet::new(&context);
    for (node, counts) in fleet.nodes.enumerated() {
        nodes.change(node, |node| *of_goal(&mut node.sums) = counts.sums());
    }
    let Strategy::Surge(_) = Strategy::in_force(context.snapshot) else { return };
    for (_, pod, facts) in context.own_pods() {
        let stage = context.stage(pod, facts);
        let Some(node) = facts.node.filter(|_| is_last(stage)) else { continue };
        let leaves = leaves_last(&context, &fleet, node, pod);
        nodes.change(node, |node| of_goal(&mut node.sums).leaving |= u32::from(leaves));
    }
}

/// When time alone changes the stage of a pod, its place in maxSurge, or whether it shows that the new version has failed.
fn changes_at(snapshot: &Snapshot<'_>, node: NodeIx, pod: &PodView<'_>) -> Option<Timestamp> {
    let available_at = || pod.ready_since?.checked_add(snapshot.spec().min_ready()).ok();
    let available_at = if pod.ready == Some(true) { available_at() } else { None };
    let changes = [available_at, pod.deleted_at].into_iter().flatten().filter(|at| snapshot.now() < *at);
    changes.chain(may_fail_at(snapshot, snapshot.node(node), pod)).min()
}

impl ByGoal {
    fn add(&mut self, node: ByGoal) {
        self.current.add(node.current);
        self.stable.add(node.stable);
    }

    fn subtract(&mut self, node: ByGoal) {
        self.current.subtract(node.current);
        self.stable.subtract(node.stable);
    }
}

impl Hashes {
    /// Returns the hash, which all its pods share.
    fn add(&mut self, hash: &str, pods: HashPods, is_updated: impl FnOnce() -> bool) -> Arc<str> {
        let known = self.0.get_key_value(hash).map(|(known, _)| Arc::clone(known));
        let known = known.unwrap_or_else(|| hash.into());
        let new = || HashSum { pods: HashPods::default(), is_updated: is_updated() };
        let sum = &mut self.0.entry(Arc::clone(&known)).or_insert_with(new).pods;
        sum.carried.pods += pods.carried.pods;
        sum.carried.left_behind += pods.carried.left_behind;
        sum.live += pods.live;
        known
    }

    fn subtract(&mut self, hash: &str, pods: HashPods) {
        let Some(HashSum { pods: sum, .. }) = self.0.get_mut(hash) else { return };
        sum.carried.pods = sum.carried.pods.saturating_sub(pods.carried.pods);
        sum.carried.left_behind = sum.carried.left_behind.saturating_sub(pods.carried.left_behind);
        sum.live = sum.live.saturating_sub(pods.live);
        if sum.carried.pods == 0 {
            self.0.remove(hash);
        }
    }
}
