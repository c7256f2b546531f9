//! The nodes that a plan can touch, chosen from the orders of the standings; all others are outside.

use super::Kept;
use super::facts::Slot;
use super::objects::Objects;
use super::standing::{Candidates, Group, Standing, Standings};
use crate::memory::Memory;
use crate::reconcile::budget::Budget;
use crate::reconcile::figures::Figure;
use crate::reconcile::history::beyond_limit;
use crate::reconcile::leave_last::may_go;
use crate::reconcile::outside::{Outside, PodNames, Reached};
use crate::snapshot::index::RevisionFacts;
use crate::snapshot::strategy::Strategy;
use crate::snapshot::{self, UnreadyPolicy};
use std::collections::BTreeSet;

/// The first candidates of a group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Reach {
    /// So many must be looked at.
    looked: usize,
    /// So many the update reaches: the cap of the plan leaves out those that need no look.
    reached: usize,
}

/// The candidates within the room, of which those within the cap of the plan need a look.
fn within(candidates: &Candidates, room: u32, cap: usize) -> Reach {
    let reached = candidates.len().min(room as usize);
    Reach { looked: reached.min(cap), reached }
}

/// The nodes that a plan can touch.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) slots: BTreeSet<Slot>,
    reaches: [(Group, Reach); 4],
}

impl Kept {
    /// Chooses the nodes; those that have changed are always among them, since the report has their verdicts.
    pub(super) fn choose(&self, changed: &[Slot], memory: &Memory) -> Chosen {
        let standings = &self.standings;
        // One more than a plan may hold: so it sees that it is capped.
        let cap = self.spec.policy.burst as usize + 1;
        let reaches = self.reaches(cap);
        let mut slots: BTreeSet<Slot> = changed.iter().copied().collect();
        slots.extend(&standings.claiming);
        slots.extend(standings.creating.iter().take(cap).map(|(_, slot)| *slot));
        slots.extend(self.first_deleting(cap));
        // All that go, since a decision counts them from the first.
        let going = may_go(&standings.sums) as usize;
        slots.extend(standings.leaving_last.iter().take(going).map(|(_, (_, slot))| *slot));
        for (group, reach) in reaches {
            slots.extend(standings.group(group).iter().take(reach.looked));
        }
        slots.extend(self.nodes_with_history(memory));
        Chosen { slots, reaches }
    }

    /// The first nodes of which node sync deletes pods: so many deletes that the update can't take back.
    fn first_deleting(&self, cap: usize) -> impl Iterator<Item = Slot> {
        let standings = &self.standings;
        let mut counted = 0;
        let is_needed = move |slot: &Slot| {
            let is_needed = counted < cap;
            // The update may keep the updated pod of such a node after all.
            counted += usize::from(!standings.keeping_outdated.contains(slot));
            is_needed
        };
        standings.deleting.iter().map(|(_, (_, slot))| *slot).take_while(is_needed)
    }

    /// Creates in flight keep their revisions: they matter as soon as a revision is beyond the limit.
    fn nodes_with_history<'k>(&'k self, memory: &'k Memory) -> impl Iterator<Item = Slot> + 'k {
        let is_old = |facts: &&RevisionFacts| facts.claim.is_ours() && !facts.has_content;
        let old = self.revision_facts.iter().filter(is_old).count();
        let is_beyond = beyond_limit(old, self.spec.daemon_set.spec.revision_history_limit) > 0;
        let nodes = is_beyond.then(|| memory.creates.keys());
        nodes.into_iter().flatten().filter_map(|node| self.objects.node_slot(node.as_str()))
    }

    fn reaches(&self, cap: usize) -> [(Group, Reach); 4] {
        let Standings { pending, not_ready, not_yet_available, available, sums, .. } = &self.standings;
        let strategy = self.spec.strategy;
        let budget = Budget::new(sums, strategy);
        let [first, second, third, fourth] = match strategy {
            Strategy::OnDelete => [Reach::default(); 4],
            Strategy::Replace(_) => {
                let room = match self.spec.policy.unready {
                    UnreadyPolicy::AtOnce => u32::MAX,
                    UnreadyPolicy::WithinBudget => budget.room_for_unready(),
                };
                let left = room.saturating_sub(u32::try_from(pending.len()).unwrap_or(u32::MAX));
                [
                    within(pending, room, cap),
                    within(not_ready, left, cap),
                    within(not_yet_available, budget.room_for_not_yet_available(), cap),
                    within(available, budget.room_for_available(), cap),
                ]
            }
            // Creates are capped in the order of names, not of urgency: all that the update reaches are needed, and one
            // more, so that it sees that others wait for a place.
            Strategy::Surge { .. } => {
                let room = budget.room_for_surge();
                let left = room.saturating_sub(u32::try_from(not_yet_available.len()).unwrap_or(u32::MAX));
                let all = |candidates: &Candidates, room: u32| {
                    let reached = candidates.len().min(room as usize);
                    Reach { looked: reached + 1, reached }
                };
                let [pending, not_ready] = [pending, not_ready].map(|group| within(group, u32::MAX, cap));
                [pending, not_ready, all(not_yet_available, room), all(available, left)]
            }
        };
        [
            (Group::Pending, first),
            (Group::NotReady, second),
            (Group::NotYetAvailable, third),
            (Group::Available, fourth),
        ]
    }

    /// All nodes but the chosen ones.
    pub(super) fn outside<'k>(&'k self, chosen: &Chosen) -> Outside<'k> {
        let standings = &self.standings;
        let (mut sums, mut conflicts) = (standings.sums.clone(), standings.conflicts);
        let waits = |standing: &Standing| u32::from(standing.addend.figures.has(Figure::Waits));
        // Of the chosen nodes, by group: how many there are, and how many wait.
        let mut inside = [(0_u32, 0_u32); 4];
        for node in chosen.slots.iter().filter_map(|slot| self.objects.node(*slot)) {
            sums.subtract(&node.standing.addend);
            conflicts -= node.standing.conflicts;
            let group = node.standing.group.and_then(|group| inside.get_mut(group as usize));
            if let Some((nodes, waiting)) = group {
                (*nodes, *waiting) = (*nodes + 1, *waiting + waits(&node.standing));
            }
        }
        let mut held = sums.get(Figure::Waits);
        let mut reached = [0_u32; 4];
        for (((group, reach), (nodes, waiting)), reached) in
            chosen.reaches.iter().zip(inside).zip(&mut reached)
        {
            let candidates = standings.group(*group);
            let Reach { looked, reached: end } = *reach;
            if end == candidates.len() {
                *reached = (end as u32).saturating_sub(nodes);
                held -= candidates.waiting() - waiting;
                continue;
            }
            let unlooked = candidates.iter().take(end).skip(looked);
            for slot in unlooked.filter(|slot| !chosen.slots.contains(slot)) {
                *reached += 1;
                held -= self.objects.node(slot).map_or(0, |node| waits(&node.standing));
            }
        }
        let [pending, not_ready, not_yet_available, available] = reached;
        let is_outside = |slot: &Slot| !chosen.slots.contains(slot);
        let changes = standings.changes.iter().find(|(_, _, slot)| is_outside(slot));
        let places_free = standings.places_free.iter().find(|(_, slot)| is_outside(slot));
        let names = |slots: &'k BTreeSet<Slot>| -> Vec<&'k str> {
            let outside = slots.iter().filter(|slot| is_outside(slot));
            outside.filter_map(|slot| self.objects.node(*slot)).map(|node| node.facts.name.as_str()).collect()
        };
        Outside {
            sums,
            conflicts,
            held,
            reached: Reached { pending, not_ready, not_yet_available, available },
            hashes: self.objects.live_hashes().collect(),
            next_change: changes.map(|(at, reason, _)| (*at, *reason)),
            place_free_at: places_free.map(|(at, _)| *at),
            taken: names(&standings.taken),
            held_without_pod: names(&standings.held_without_pod),
            rollout: self.rollout.as_ref().and_then(|rollout| rollout.state(chosen.slots.iter().copied())),
            pod_names: self.pod_names(),
            pod_template: self.pod_template.clone(),
        }
    }
}

impl Kept {
    /// The names of all pods, where a new one must not have any of them.
    pub(super) fn pod_names(&self) -> Option<&dyn PodNames> {
        match self.spec.policy.pod_names {
            snapshot::PodNames::Generated => None,
            snapshot::PodNames::Deterministic => Some(&self.objects),
        }
    }
}

impl PodNames for Objects {
    fn has_pod(&self, name: &str) -> bool {
        self.pod_slot(name).is_some()
    }
}
