//! The nodes of a rollout that the policy steers: their places in the waves, and the sums from which its course follows.
//!
//! A change of one node moves that node, and at most one other one a wave over the limit of that wave.

use super::apply::NotKept;
use super::facts::{Slot, node_ix};
use super::standing::Named;
use super::waves::{Members, Turn};
use crate::reconcile::fleet::Fleet;
use crate::reconcile::goal::base::{KnownBase, live_pods};
use crate::reconcile::goal::course::{Course, judged_by};
use crate::reconcile::goal::node::{RolloutFacts, RolloutNode};
use crate::reconcile::goal::tally::{Bounds, Instants, Tally};
use crate::reconcile::goal::waves::WaveFilter;
use crate::reconcile::goal::{RolloutState, WaveFigures, WaveNodes};
use crate::reconcile::history::History;
use crate::reconcile::steps::Decision;
use crate::rollout_report::{FailingNode, FailureEvidence};
use crate::snapshot::placement::Placement;
use crate::snapshot::position::{NodeIx, Position};
use crate::snapshot::{RolloutPolicy, Snapshot};
use crate::view::NodeView;
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The rollout of the current revision, whose base stays the same.
#[derive(Debug, Clone)]
pub(super) struct KeptRollout {
    base: Option<KnownBase>,
    waves: Vec<Members>,
    /// By slot.
    nodes: Vec<Option<Member>>,
    tally: Tally<Counted>,
    /// The nodes that fail, by name.
    failing: BTreeMap<Arc<str>, FailureEvidence>,
    /// How many live pods of nodes carry each hash.
    live: BTreeMap<Arc<str>, u32>,
    /// How many nodes do not take part, but are wanted by the template of base.
    wanted_by_base: u32,
    /// As the last plan found it.
    course: Option<Arc<Course>>,
    /// The live pods of each revision that base was chosen by; `None` where it must be chosen anew.
    chosen_by: Option<Vec<u32>>,
    /// Nodes whose facts or waves have changed since the last plan.
    changed: BTreeSet<Slot>,
}

/// A node.
#[derive(Debug, Clone)]
struct Member {
    name: Arc<str>,
    node: RolloutNode,
    /// Its placement by the template of base, if there is one.
    by_base: Option<Placement>,
    /// The waves whose selectors match it.
    matches: Box<[Match]>,
    /// The hashes of its live pods.
    live: Vec<Arc<str>>,
}

/// A wave whose selector matches a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Match {
    wave: u32,
    /// The node is within the limit of the wave.
    is_inside: bool,
}

/// Instants, each with the number of nodes that have it.
#[derive(Debug, Clone, Default)]
struct Counted(BTreeMap<Timestamp, u32>);

impl Instants for Counted {
    fn bounds(&self) -> Bounds {
        let first = self.0.first_key_value().zip(self.0.last_key_value());
        first.map_or_else(Bounds::default, |((first, _), (last, _))| Bounds::new(*first, *last))
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
    /// Without nodes, and before its course is found.
    fn new(policy: &RolloutPolicy, base: Option<KnownBase>) -> Self {
        KeptRollout {
            base,
            waves: Vec::new(),
            nodes: Vec::new(),
            tally: Tally::new(policy.waves.len()),
            failing: BTreeMap::new(),
            live: BTreeMap::new(),
            wanted_by_base: 0,
            course: None,
            chosen_by: None,
            changed: BTreeSet::new(),
        }
    }

    /// The rollout of a decision on a whole snapshot, if the policy steers one: its facts, its course and its goals. The nodes
    /// have these names and are in the order of the slots.
    pub(super) fn of_decision<'n>(
        snapshot: &Snapshot<'_>,
        decision: &Decision<'_>,
        names: impl Iterator<Item = &'n Arc<str>>,
    ) -> Option<Self> {
        let policy = snapshot.spec.policy.rollout.as_ref()?;
        let decided = match decision {
            Decision::Synced(steps) => steps.fleet.goal.rollout().map(|rollout| (steps, &*rollout.state)),
            Decision::SelectingAll | Decision::BeingDeleted | Decision::NameCollision(_) => None,
        };
        let mut rollout = KeptRollout::new(policy, decided.and_then(|(_, state)| state.base.clone()));
        let filters = WaveFilter::all(&policy.waves);
        for (slot, (name, view)) in (0..).zip(names.zip(&snapshot.nodes)) {
            let position = node_ix(slot);
            let mut member = rollout.new_member(name, view, snapshot.placement(position), &filters);
            if let Some((steps, state)) = decided {
                member.node = RolloutNode { base_placement: None, ..state.nodes.at(position).clone() };
                let live = live_hashes(&steps.fleet, &steps.history, position);
                member.live = live.map(|hash| rollout.hash(hash)).collect();
            }
            rollout.nodes.push(Some(member));
            rollout.count(slot, true);
        }
        let mut by_name: Vec<Slot> = (0..rollout.nodes.len() as Slot).collect();
        by_name.sort_unstable_by(|a, b| snapshot.index.by_name(node_ix(*a), node_ix(*b)));
        for (wave, up_to) in (0..).zip(policy.waves.iter().map(|wave| wave.up_to)) {
            let inside = decided.and_then(|(_, state)| state.waves.get(wave as usize));
            for node in inside.into_iter().flat_map(|nodes| nodes.inside()) {
                let member = rollout.nodes.get_mut(node.index()).and_then(Option::as_mut);
                let matches = member.into_iter().flat_map(|member| &mut member.matches);
                matches.filter(|one| one.wave == wave).for_each(|one| one.is_inside = true);
            }
            let members = by_name.iter().filter_map(|slot| Some((*slot, rollout.member(*slot)?)));
            let members = members.filter_map(|(slot, member)| {
                let one = member.matches.iter().find(|one| one.wave == wave)?;
                Some((member.turn(slot)?, one.is_inside, WaveFigures::new(&member.node.facts)))
            });
            rollout.waves.push(Members::of(up_to, members));
        }
        rollout.course = decided.map(|(_, state)| Arc::clone(&state.course));
        Some(rollout)
    }

    /// A hash that other nodes have as well is shared with them.
    fn hash(&self, hash: &str) -> Arc<str> {
        self.live.get_key_value(hash).map_or_else(|| hash.into(), |(known, _)| Arc::clone(known))
    }

    /// A node without facts.
    fn new_member(
        &self,
        name: &Arc<str>,
        view: &NodeView<'_>,
        placement: Placement,
        filters: &[WaveFilter<'_>],
    ) -> Member {
        let matches = (0..).zip(filters).filter(|(_, filter)| filter.matches(view.labels));
        Member {
            name: Arc::clone(name),
            node: RolloutFacts::NONE.into(),
            by_base: self.base.as_ref().map(|base| base.placement(view, placement)),
            matches: matches.map(|(wave, _)| Match { wave, is_inside: false }).collect(),
            live: Vec::new(),
        }
    }

    /// Puts a node with these labels and taints, and this placement by the current template, among the nodes. Returns
    /// whether something has changed on which its goal or its placement depends.
    pub(super) fn put_node(
        &mut self,
        (name, slot): &Named,
        view: &NodeView<'_>,
        placement: Placement,
        filters: &[WaveFilter<'_>],
    ) -> bool {
        let member = self.new_member(name, view, placement, filters);
        let is_same = |old: &Member| {
            let waves = |member: &Member| -> Vec<u32> { member.matches.iter().map(|one| one.wave).collect() };
            old.by_base == member.by_base && waves(old) == waves(&member)
        };
        if self.member(*slot).is_some_and(is_same) {
            return false;
        }
        let (facts, live) =
            self.take_node(*slot).map_or((RolloutFacts::NONE, Vec::new()), |old| (old.node.facts, old.live));
        let index = *slot as usize;
        if self.nodes.len() <= index {
            self.nodes.resize_with(index + 1, || None);
        }
        if let Some(place) = self.nodes.get_mut(index) {
            *place = Some(member);
        }
        self.count(*slot, true);
        self.set_facts(*slot, facts, live);
        true
    }

    pub(super) fn remove_node(&mut self, slot: Slot) {
        self.take_node(slot);
    }

    fn take_node(&mut self, slot: Slot) -> Option<Member> {
        self.member(slot)?;
        self.set_facts(slot, RolloutFacts::NONE, Vec::new());
        self.count(slot, false);
        self.nodes.get_mut(slot as usize)?.take()
    }

    /// The node has other facts, or other live pods.
    pub(super) fn set_facts(&mut self, slot: Slot, facts: RolloutFacts, live: Vec<Arc<str>>) {
        self.count(slot, false);
        let Some(Some(member)) = self.nodes.get_mut(slot as usize) else { return };
        let (old, figures) = (member.turn(slot), WaveFigures::new(&member.node.facts));
        let is_same_turn =
            facts.takes_part == member.node.facts.takes_part && facts.has_it == member.node.facts.has_it;
        member.node.facts = facts;
        member.live = live;
        let (new, new_figures) = (member.turn(slot), WaveFigures::new(&member.node.facts));
        let mut moved = Vec::new();
        for one in &mut member.matches {
            let Some(wave) = self.waves.get_mut(one.wave as usize) else { continue };
            if one.is_inside {
                wave.figures.subtract(figures);
            }
            if !is_same_turn {
                for other in wave.exchange(old.as_ref(), new.as_ref()) {
                    if other == slot {
                        one.is_inside = !one.is_inside;
                    } else {
                        moved.push((one.wave, other));
                    }
                }
            }
            if one.is_inside {
                wave.figures.add(new_figures);
            }
        }
        member.node.first_wave = member.first_wave();
        self.changed.insert(slot);
        self.count(slot, true);
        for (wave, other) in moved {
            self.move_over_limit(wave, other);
        }
    }

    /// Another node has come into a wave, or has left it.
    fn move_over_limit(&mut self, wave: u32, slot: Slot) {
        self.count(slot, false);
        if let (Some(Some(member)), Some(members)) =
            (self.nodes.get_mut(slot as usize), self.waves.get_mut(wave as usize))
        {
            let figures = WaveFigures::new(&member.node.facts);
            for one in member.matches.iter_mut().filter(|one| one.wave == wave) {
                one.is_inside = !one.is_inside;
                if one.is_inside {
                    members.figures.add(figures);
                } else {
                    members.figures.subtract(figures);
                }
            }
            member.node.first_wave = member.first_wave();
        }
        self.count(slot, true);
        self.changed.insert(slot);
    }

    fn member(&self, slot: Slot) -> Option<&Member> {
        self.nodes.get(slot as usize)?.as_ref()
    }

    /// Adds a node to the sums, or takes it out of them.
    fn count(&mut self, slot: Slot, is_added: bool) {
        let KeptRollout { nodes, tally, failing, live, wanted_by_base, .. } = self;
        let Some(Some(member)) = nodes.get(slot as usize) else { return };
        let facts = &member.node.facts;
        let is_wanted_by_base = !facts.takes_part && member.by_base == Some(Placement::Run);
        if is_added {
            tally.change(&member.node, |sum| *sum += 1, Counted::add);
            *wanted_by_base += u32::from(is_wanted_by_base);
            let evidence = facts.failing.evidence();
            failing.extend(evidence.map(|evidence| (Arc::clone(&member.name), evidence.clone())));
            for hash in &member.live {
                *live.entry(Arc::clone(hash)).or_default() += 1;
            }
            return;
        }
        tally.change(&member.node, |sum| *sum -= 1, Counted::remove);
        *wanted_by_base -= u32::from(is_wanted_by_base);
        if facts.failing.is_now() {
            failing.remove(&member.name);
        }
        for hash in &member.live {
            if let Some(pods) = live.get_mut(hash) {
                *pods -= 1;
            }
        }
        live.retain(|_, pods| *pods > 0);
    }

    /// Finds the facts of these nodes and the course anew. Returns the nodes that have another goal now.
    ///
    /// # Errors
    /// [`NotKept`] if there is another base: the placement of the nodes by its template is not known.
    pub(super) fn look_at(
        &mut self,
        fleet: &Fleet<'_>,
        history: &History<'_>,
        slots: &[Slot],
    ) -> Result<Vec<Slot>, NotKept> {
        let Some(policy) = &fleet.snapshot.spec.policy.rollout else { return Ok(Vec::new()) };
        let judged_by = judged_by(policy, history);
        for (node, slot) in fleet.nodes.positions().zip(slots) {
            let facts = RolloutFacts::new(fleet, node, judged_by);
            let live = match self.member(*slot) {
                Some(member)
                    if live_hashes(fleet, history, node).eq(member.live.iter().map(|hash| &**hash)) =>
                {
                    member.live.clone()
                }
                _ => live_hashes(fleet, history, node).map(|hash| self.hash(hash)).collect(),
            };
            self.set_facts(*slot, facts, live);
        }
        let mut live = live_pods(fleet, history, fleet.strays().map(|(_, pod)| pod));
        for (hash, pods) in &self.live {
            if let Some(revision) = history.position(hash) {
                live.change(revision, |sum| *sum += pods);
            }
        }
        let live: Vec<u32> = live.into();
        if self.chosen_by.as_ref() != Some(&live) {
            self.choose_base(fleet, history, live)?;
        }
        let keeps_others = || self.wanted_by_base > 0;
        let course =
            Course::new(fleet.snapshot, history, policy, &self.tally, self.base.is_some(), keeps_others);
        let is_same = self.course.as_ref().is_some_and(|old| old.reach() == course.reach());
        let changed = std::mem::take(&mut self.changed).into_iter();
        let mut others: Vec<Slot> =
            if is_same { changed.collect() } else { (0..self.nodes.len() as Slot).collect() };
        others.retain(|slot| {
            let Some(Some(Member { node, .. })) = self.nodes.get_mut(*slot as usize) else { return false };
            let goal = course.goal(node);
            std::mem::replace(&mut node.goal, goal) != goal
        });
        self.waves.iter_mut().for_each(Members::list_names);
        self.course = Some(Arc::new(course));
        Ok(others)
    }

    /// # Errors
    /// [`NotKept`] if these live pods of each revision make another one base.
    fn choose_base(
        &mut self,
        fleet: &Fleet<'_>,
        history: &History<'_>,
        live: Vec<u32>,
    ) -> Result<(), NotKept> {
        let base = KnownBase::choose(fleet.snapshot, history, &live.clone().into(), self.base.as_ref());
        let is_same = match (&base, &self.base) {
            (Some(base), Some(old)) => base.is_same(old),
            (base, old) => base.is_none() && old.is_none(),
        };
        self.chosen_by = is_same.then_some(live);
        if is_same { Ok(()) } else { Err(NotKept) }
    }

    /// The state of the rollout, with these nodes; `None` before the course was found.
    pub(super) fn state(&self, slots: impl Iterator<Item = Slot>) -> Option<RolloutState> {
        let nodes = slots.filter_map(|slot| self.member(slot)).map(|member| RolloutNode {
            base_placement: member.by_base.filter(|_| member.node.goal.is_base()),
            ..member.node.clone()
        });
        let failing = self
            .failing
            .iter()
            .map(|(node, evidence)| FailingNode { node: (&**node).into(), evidence: evidence.clone() });
        Some(RolloutState {
            base: self.base.clone(),
            course: Arc::clone(self.course.as_ref()?),
            nodes: Vec::from_iter(nodes).into(),
            waves: self.waves.iter().map(|wave| WaveNodes::Named(wave.names(), wave.figures)).collect(),
            failing: failing.collect(),
        })
    }

    /// The revisions have changed: another one may be base.
    pub(super) fn revisions_changed(&mut self) {
        self.chosen_by = None;
    }

    /// Whether this revision is base.
    pub(super) fn has_base(&self, uid: &str) -> bool {
        self.base.as_ref().is_some_and(|base| base.is(uid))
    }
}

/// The hashes of the live pods of a node.
pub(super) fn live_hashes<'f>(
    fleet: &'f Fleet<'_>,
    history: &'f History<'_>,
    node: NodeIx,
) -> impl Iterator<Item = &'f str> {
    let live = fleet.pods_of(node).map(|(_, pod)| pod).filter(|pod| pod.is_live());
    live.filter_map(|pod| pod.revision).map(|revision| &*history.revision(revision).hash)
}

impl Member {
    /// `None` for a node that does not take part.
    fn turn(&self, slot: Slot) -> Option<Turn> {
        let facts = &self.node.facts;
        facts.takes_part.then(|| (!facts.has_it, (Arc::clone(&self.name), slot)))
    }

    fn first_wave(&self) -> Option<u32> {
        self.matches.iter().find(|one| one.is_inside).map(|one| one.wave)
    }
}
