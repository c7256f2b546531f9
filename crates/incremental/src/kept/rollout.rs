//! The nodes of a rollout that the policy steers: their places in the waves, and the sums from which the decision about it follows.
//!
//! A change of one node moves that node, and at most one other one a wave over the limit of that wave.

use super::WholePlan;
use super::evaluation::Named;
use super::facts::{KeptNode, Slot};
use super::objects::Objects;
use super::waves::{Members, Orders, Turn, WavePlace};
use crate::NeedsLists;
use daemonset::NodeView;
use daemonset::internal::{
    Fleet, History, KnownRollout, KnownStable, NodeIx, Placement, RolloutDecision, RolloutFacts, RolloutNode,
    RolloutSums, Stable, TimeRange, TimestampSet, WaveFigures, WaveNodes, judged_by, live_pods,
    wave_selector,
};
use daemonset::kubernetes::Selector;
use daemonset::model::NodeName;
use daemonset::policy::{RolloutPolicy, Wave};
use daemonset::report::{FailingNode, FailureEvidence};
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The rollout of the current revision, whose stable revision stays the same.
#[derive(Debug, Clone)]
pub(super) struct KeptRollout {
    stable: Option<KnownStable>,
    waves: Vec<Members>,
    orders: Orders,
    /// By slot.
    nodes: Vec<Option<Member>>,
    sums: RolloutSums<Counted>,
    /// The nodes that fail, by name.
    failing: BTreeMap<NodeName, FailureEvidence>,
    /// The same as a list; `None` where one of them has changed since.
    failing_list: Option<Arc<[FailingNode]>>,
    live: LiveHashes,
    /// How many nodes do not take part, but are wanted by the template of the stable revision.
    wanted_by_stable: u32,
    /// As the last plan found it.
    decision: Option<Arc<RolloutDecision>>,
    /// The live pods of each revision that stable revision was chosen by; `None` where it must be chosen anew.
    chosen_by: Option<Vec<u32>>,
    /// Nodes whose facts or waves have changed since the last plan.
    changed: BTreeSet<Slot>,
}

/// A node.
#[derive(Debug, Clone)]
struct Member {
    name: NodeName,
    node: RolloutNode,
    /// Its placement by the template of the stable revision, if there is one.
    by_stable: Option<Placement>,
    live: Arc<[Arc<str>]>,
}

/// The hashes of the live pods of nodes. Most nodes have the same ones: each different list is there once, with the number of
/// nodes that have it.
#[derive(Debug, Clone, Default)]
struct LiveHashes(Vec<(Arc<[Arc<str>]>, u32)>);

impl LiveHashes {
    /// Adds a node. One without live pods is not among them.
    fn add<'h>(&mut self, hashes: impl Iterator<Item = &'h str> + Clone) -> Arc<[Arc<str>]> {
        let is_it = |known: &[Arc<str>]| hashes.clone().eq(known.iter().map(|hash| &**hash));
        if let Some((known, nodes)) = self.0.iter_mut().find(|(known, _)| is_it(known)) {
            *nodes += 1;
            return Arc::clone(known);
        }
        let list: Arc<[Arc<str>]> = hashes.map(Arc::from).collect();
        if !list.is_empty() {
            self.0.push((Arc::clone(&list), 1));
        }
        list
    }

    /// Takes a node out.
    fn remove(&mut self, hashes: &Arc<[Arc<str>]>) {
        let Some(position) = self.0.iter().position(|(known, _)| Arc::ptr_eq(known, hashes)) else { return };
        let Some((_, nodes)) = self.0.get_mut(position) else { return };
        *nodes -= 1;
        if *nodes == 0 {
            self.0.swap_remove(position);
        }
    }

    /// Each hash with a number of live pods, some hashes more than once.
    fn pods(&self) -> impl Iterator<Item = (&str, u32)> {
        self.0.iter().flat_map(|(hashes, nodes)| hashes.iter().map(|hash| (&**hash, *nodes)))
    }
}

/// Instants, each with the number of nodes that have it.
#[derive(Debug, Clone, Default)]
struct Counted(BTreeMap<Timestamp, u32>);

impl TimestampSet for Counted {
    fn range(&self) -> TimeRange {
        let [first, last] = [self.0.first_key_value(), self.0.last_key_value()];
        TimeRange { first: first.map(|(at, _)| *at), last: last.map(|(at, _)| *at) }
    }
}

impl Counted {
    fn add(&mut self, at: Timestamp) {
        *self.0.entry(at).or_default() += 1;
    }

    fn remove(&mut self, at: Timestamp) {
        let Some(nodes) = self.0.get_mut(&at) else { return };
        *nodes -= 1;
        if *nodes == 0 {
            self.0.remove(&at);
        }
    }
}

impl KeptRollout {
    /// Without nodes, and before the decision about it.
    fn new(policy: &RolloutPolicy, stable: Option<KnownStable>) -> Self {
        KeptRollout {
            stable,
            waves: Vec::new(),
            orders: Orders::default(),
            nodes: Vec::new(),
            sums: RolloutSums::new(policy.waves.len()),
            failing: BTreeMap::new(),
            failing_list: None,
            live: LiveHashes::default(),
            wanted_by_stable: 0,
            decision: None,
            chosen_by: None,
            changed: BTreeSet::new(),
        }
    }

    /// The rollout of a plan of a whole snapshot, if the policy steers one: its facts, the decision about it and its goals.
    pub(super) fn of_decision(listed: &WholePlan<'_>, objects: &Objects) -> Option<Self> {
        let snapshot = listed.snapshot;
        let policy = snapshot.spec().policy.rollout.as_ref()?;
        let decided = listed.steps.and_then(|steps| Some((steps, &*steps.fleet.goals.rollout()?.known)));
        let mut rollout = KeptRollout::new(policy, decided.and_then(|(_, known)| known.stable.clone()));
        rollout.nodes.reserve_exact(listed.order.len());
        for ((slot, position), (_, node)) in (0..).zip(&*listed.order).zip(&objects.nodes) {
            let KeptNode { name, placement, .. } = &node.facts;
            let (node, live) = match decided {
                Some((steps, known)) => {
                    let live = rollout.live.add(live_hashes(&steps.fleet, &steps.history, *position));
                    (RolloutNode { stable_placement: None, ..known.nodes.at(*position).clone() }, live)
                }
                None => (RolloutNode::new(RolloutFacts::NONE), Arc::default()),
            };
            let by_stable = rollout.placement_by_stable(snapshot.node(*position), *placement);
            rollout.nodes.push(Some(Member { name: name.clone(), node, by_stable, live }));
            rollout.count(slot, true);
        }
        // The plan has matched those that take part.
        let matched = |member: &&Option<Member>| member.as_ref().is_some_and(|one| one.node.facts.takes_part);
        let nodes = listed.order.iter().zip(&rollout.nodes);
        let others: Vec<NodeIx> = nodes.filter(|(_, node)| !matched(node)).map(|(node, _)| *node).collect();
        let reports = || listed.report.rollout.iter().flat_map(|report| &report.waves);
        for (index, wave) in policy.waves.iter().enumerate() {
            let selector = wave_selector(wave);
            let matches = |labels| selector.as_ref().is_none_or(|selector| selector.matches(labels));
            let others = others.iter().filter(|node| matches(snapshot.node(**node).labels));
            let places = places(listed, decided.and_then(|(_, known)| known.waves.get(index)), others);
            // Waves with the same selector share the order of the first one, whose place is the number of that wave.
            let is_alike = |other: &Wave| other.up_to.is_some() && other.nodes == wave.nodes;
            let order = policy.waves.iter().position(is_alike).filter(|_| wave.up_to.is_some());
            let ordered = (0..).zip(&rollout.nodes).zip(&places).filter(|_| order == Some(index));
            let ordered = ordered.filter(|(_, place)| **place != WavePlace::Elsewhere);
            rollout.orders.push(ordered.filter_map(|((slot, member), _)| member.as_ref()?.turn(slot)));
            let report = reports().nth(index);
            let names = report.map(|report| Arc::clone(&report.nodes));
            let figures = report.map_or_else(WaveFigures::default, |report| WaveFigures {
                updated: report.updated,
                available: report.available,
            });
            let limit = wave.up_to.zip(order);
            rollout.waves.push(Members::new(places, limit, &rollout.orders, figures, names));
        }
        rollout.decision = decided.map(|(_, known)| Arc::clone(&known.decision));
        Some(rollout)
    }

    /// The placement of a node by the template of the stable revision, from that by the current one.
    fn placement_by_stable(&self, node: &NodeView<'_>, placement: Placement) -> Option<Placement> {
        self.stable.as_ref().map(|stable| stable.placement(node, placement))
    }

    /// Puts a node with these labels and taints, and this placement by the current template, among the nodes. Returns
    /// whether something has changed on which its goal or its placement depends.
    pub(super) fn put_node(
        &mut self,
        (name, slot): &Named,
        view: &NodeView<'_>,
        placement: Placement,
        selectors: &[Option<Selector<'_>>],
    ) -> bool {
        let slot = *slot;
        let by_stable = self.placement_by_stable(view, placement);
        let matches = selectors.iter().map(|selector| selector.as_ref());
        let matches = matches.map(|selector| selector.is_none_or(|selector| selector.matches(view.labels)));
        let matches: Vec<bool> = matches.collect();
        let has_same_waves = || self.wave_matches(slot).eq(matches.iter().copied());
        if self.member(slot).is_some_and(|old| old.by_stable == by_stable) && has_same_waves() {
            return false;
        }
        // It leaves the orders of its waves, and enters others with the same facts.
        let old = self.take_node(slot);
        let (facts, live) =
            old.map_or((RolloutFacts::NONE, Arc::default()), |old| (old.node.facts, old.live));
        for (wave, matches) in self.waves.iter_mut().zip(matches) {
            wave.set_match(slot, matches);
        }
        let index = slot as usize;
        if self.nodes.len() <= index {
            self.nodes.resize_with(index + 1, || None);
        }
        if let Some(place) = self.nodes.get_mut(index) {
            *place = Some(Member {
                name: name.clone(),
                node: RolloutNode::new(RolloutFacts::NONE),
                by_stable,
                live,
            });
        }
        self.count(slot, true);
        self.set_facts(slot, facts);
        true
    }

    pub(super) fn remove_node(&mut self, slot: Slot) {
        if let Some(member) = self.take_node(slot) {
            self.live.remove(&member.live);
        }
    }

    /// Takes a node out of all sums and orders, but for its live pods.
    fn take_node(&mut self, slot: Slot) -> Option<Member> {
        let facts = self.member(slot)?.node.facts.clone();
        self.set_facts(slot, RolloutFacts::NONE);
        self.count(slot, false);
        self.waves.iter_mut().for_each(|wave| wave.set_match(slot, false));
        let mut member = self.nodes.get_mut(slot as usize)?.take()?;
        member.node.facts = facts;
        Some(member)
    }

    /// Gives a node other facts: its turn in each wave changes, and over the limit of a wave another node may come or go.
    fn set_facts(&mut self, slot: Slot, facts: RolloutFacts) {
        // Out of the sums with the old facts and the old first wave, and into them once both are new.
        self.count(slot, false);
        let KeptRollout { nodes, waves, orders, .. } = self;
        let Some(Some(member)) = nodes.get_mut(slot as usize) else { return };
        let (old, old_figures) = (member.turn(slot), WaveFigures::new(&member.node.facts));
        member.node.facts = facts;
        let (new, new_figures) = (member.turn(slot), WaveFigures::new(&member.node.facts));
        if old != new {
            let matching = waves.iter().filter(|wave| wave.matches(slot));
            matching.for_each(|wave| orders.exchange(wave, old.as_ref(), new.as_ref()));
        }
        let mut moved = Vec::new();
        for (number, wave) in waves.iter_mut().enumerate().filter(|(_, wave)| wave.matches(slot)) {
            if wave.is_inside(slot) {
                wave.figures.subtract(old_figures);
            }
            if old != new {
                let nodes = wave.exchange(slot, orders, old.as_ref(), new.as_ref()).into_iter();
                moved.extend(nodes.filter(|other| *other != slot).map(|other| (number, other)));
            }
            if wave.is_inside(slot) {
                wave.figures.add(new_figures);
            }
        }
        member.node.first_wave = first_wave(waves, slot);
        self.changed.insert(slot);
        self.count(slot, true);
        for (wave, other) in moved {
            self.move_over_limit(wave, other);
        }
    }

    /// Another node has come into a wave, or has left it.
    fn move_over_limit(&mut self, wave: usize, slot: Slot) {
        self.count(slot, false);
        if let (Some(Some(member)), Some(members)) =
            (self.nodes.get_mut(slot as usize), self.waves.get_mut(wave))
        {
            let figures = WaveFigures::new(&member.node.facts);
            if members.is_inside(slot) {
                members.figures.add(figures);
            } else {
                members.figures.subtract(figures);
            }
            member.node.first_wave = first_wave(&self.waves, slot);
        }
        self.count(slot, true);
        self.changed.insert(slot);
    }

    /// For each wave, whether it matches the labels of a node.
    pub(super) fn wave_matches(&self, slot: Slot) -> impl Iterator<Item = bool> {
        self.waves.iter().map(move |wave| wave.matches(slot))
    }

    /// The placement of a node by the template of the stable revision.
    pub(super) fn placement_of(&self, slot: Slot) -> Option<Placement> {
        self.member(slot)?.by_stable
    }

    fn member(&self, slot: Slot) -> Option<&Member> {
        self.nodes.get(slot as usize)?.as_ref()
    }

    /// Adds a node to the sums, or takes it out of them.
    fn count(&mut self, slot: Slot, is_added: bool) {
        let KeptRollout { nodes, sums, failing, failing_list, wanted_by_stable, .. } = self;
        let Some(Some(member)) = nodes.get(slot as usize) else { return };
        let facts = &member.node.facts;
        let is_wanted_by_stable = !facts.takes_part && member.by_stable == Some(Placement::Run);
        if facts.failing.is_now() {
            *failing_list = None;
        }
        if is_added {
            sums.change(&member.node, |sum| *sum += 1, Counted::add);
            *wanted_by_stable += u32::from(is_wanted_by_stable);
            let evidence = facts.failing.evidence.clone();
            failing.extend(evidence.map(|evidence| (member.name.clone(), evidence)));
        } else {
            sums.change(&member.node, |sum| *sum -= 1, Counted::remove);
            *wanted_by_stable -= u32::from(is_wanted_by_stable);
            if facts.failing.is_now() {
                failing.remove(&member.name);
            }
        }
    }

    /// Finds the facts of these nodes and decides about the rollout anew. Returns the nodes that have another goal now. The slots are
    /// those of the fleet's nodes, in their order.
    ///
    /// # Errors
    /// [`NeedsLists::NotKept`] if there is another stable revision: the placement of the nodes by its template is not known.
    pub(super) fn look_at(
        &mut self,
        fleet: &Fleet<'_>,
        history: &History<'_>,
        slots: &[Slot],
    ) -> Result<Vec<Slot>, NeedsLists> {
        let Some(policy) = &fleet.snapshot.spec().policy.rollout else { return Ok(Vec::new()) };
        let judged_by = judged_by(fleet.snapshot, policy, history);
        for (node, slot) in fleet.nodes.positions().zip(slots) {
            let facts = RolloutFacts::new(fleet, node, judged_by);
            self.set_facts(*slot, facts);
            let Some(Some(member)) = self.nodes.get_mut(*slot as usize) else { continue };
            let new = self.live.add(live_hashes(fleet, history, node));
            self.live.remove(&std::mem::replace(&mut member.live, new));
        }
        let mut live = live_pods(fleet, history, fleet.strays().map(|(_, pod)| pod));
        for (hash, pods) in self.live.pods() {
            if let Some(revision) = history.position(hash) {
                live.change(revision, |sum| *sum += pods);
            }
        }
        let live: Vec<u32> = live.into();
        if self.chosen_by.as_ref() != Some(&live) {
            self.choose_stable(fleet, history, live)?;
        }
        let stable = self.stable.as_ref().map(|stable| (stable, || self.wanted_by_stable > 0));
        let decision = RolloutDecision::new(fleet.snapshot, history, policy, &self.sums, stable);
        let is_same = self.decision.as_ref().is_some_and(|old| old.has_goals_of(&decision));
        let changed = std::mem::take(&mut self.changed);
        let mut others: Vec<Slot> =
            if is_same { changed.iter().copied().collect() } else { (0..self.nodes.len() as Slot).collect() };
        others.retain(|slot| {
            let Some(Some(Member { node, .. })) = self.nodes.get_mut(*slot as usize) else { return false };
            let goal = decision.goal(node);
            // A held node that comes into a wave keeps its goal, and waits for something from now on.
            std::mem::replace(&mut node.goal, goal) != goal || (goal.is_held() && changed.contains(slot))
        });
        let name = |slot: Slot| Some(&self.nodes.get(slot as usize)?.as_ref()?.name);
        self.waves.iter_mut().for_each(|wave| wave.list_names(&self.orders, name));
        if self.failing_list.is_none() {
            let nodes = self.failing.iter();
            let nodes = nodes.map(|(node, evidence)| FailingNode::new(node.clone(), evidence.clone()));
            self.failing_list = Some(nodes.collect());
        }
        self.decision = Some(Arc::new(decision));
        Ok(others)
    }

    /// # Errors
    /// [`NeedsLists::NotKept`] if these live pods of each revision make another one the stable revision.
    fn choose_stable(
        &mut self,
        fleet: &Fleet<'_>,
        history: &History<'_>,
        live: Vec<u32>,
    ) -> Result<(), NeedsLists> {
        let stable = KnownStable::choose(fleet.snapshot, history, &live.clone().into(), self.stable.as_ref());
        let uid = |stable: &Option<KnownStable>| stable.as_ref().map(|stable| Arc::clone(&stable.uid));
        let is_same = uid(&stable) == uid(&self.stable);
        self.chosen_by = is_same.then_some(live);
        if is_same { Ok(()) } else { Err(NeedsLists::NotKept) }
    }

    /// The state of the rollout, with these nodes; `None` before the first decision.
    pub(super) fn known(&self, slots: impl Iterator<Item = Slot>) -> Option<KnownRollout> {
        let nodes = slots.filter_map(|slot| self.member(slot)).map(|member| RolloutNode {
            stable_placement: member.by_stable.filter(|_| member.node.goal.is_stable()),
            ..member.node.clone()
        });
        Some(KnownRollout {
            stable: self.stable.clone(),
            decision: Arc::clone(self.decision.as_ref()?),
            nodes: Vec::from_iter(nodes).into(),
            waves: self.waves.iter().map(|wave| WaveNodes::Named(wave.names(), wave.figures)).collect(),
            failing: self.failing_list.clone()?,
        })
    }

    /// As the last plan found it.
    pub(super) fn decision(&self) -> Option<&RolloutDecision> {
        self.decision.as_deref()
    }

    /// The revisions have changed: another one may be the stable revision.
    pub(super) fn revisions_changed(&mut self) {
        self.chosen_by = None;
    }

    /// The stable revision in this history.
    pub(super) fn stable_in<'h>(&self, history: &History<'h>) -> Option<Stable<'h>> {
        self.stable.as_ref().and_then(|known| Stable::find(known, history))
    }

    /// Whether this revision is the stable revision.
    pub(super) fn has_stable(&self, uid: &str) -> bool {
        self.stable.as_ref().is_some_and(|stable| *stable.uid == *uid)
    }
}

/// The places of all nodes in a wave that has these nodes; `others` match it, but do not take part.
fn places<'n>(
    listed: &WholePlan<'_>,
    wave: Option<&'n WaveNodes>,
    others: impl Iterator<Item = &'n NodeIx>,
) -> Vec<WavePlace> {
    let mut places = vec![WavePlace::Elsewhere; listed.order.len()];
    let mut put = |position: &NodeIx, place| {
        if let Some(found) = places.get_mut(*listed.slots.at(*position) as usize) {
            *found = place;
        }
    };
    let [inside, beyond] = wave.map_or([&[][..]; 2], |wave| [wave.inside(), wave.beyond()]);
    inside.iter().for_each(|node| put(node, WavePlace::Inside));
    beyond.iter().chain(others).for_each(|node| put(node, WavePlace::Beyond));
    places
}

/// The hashes of the live pods of a node.
pub(super) fn live_hashes<'f>(
    fleet: &'f Fleet<'_>,
    history: &'f History<'_>,
    node: NodeIx,
) -> impl Iterator<Item = &'f str> + Clone {
    let live = fleet.pods_of(node).map(|(_, pod)| pod).filter(|pod| pod.is_live());
    live.filter_map(|pod| pod.revision).map(|revision| &*history.revision(revision).hash)
}

impl Member {
    /// `None` for a node that does not take part.
    fn turn(&self, slot: Slot) -> Option<Turn> {
        let facts = &self.node.facts;
        facts.takes_part.then(|| (!facts.has_new_version, (self.name.clone(), slot)))
    }
}

/// The first wave that a node belongs to.
fn first_wave(waves: &[Members], slot: Slot) -> Option<u32> {
    (0..).zip(waves).find(|(_, wave)| wave.is_inside(slot)).map(|(number, _)| number)
}
