//! The standing of each node in a plan: the figures in which it counts, and its places in the orders from which a plan
//! chooses.

use super::facts::Slot;
use crate::action::RequeueReason;
use crate::reconcile::outside::{Addend, Figure, Sums};
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The outdated pods that an update chooses from, by readiness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Group {
    Pending,
    NotReady,
    NotYetAvailable,
    Available,
}

/// How far behind a candidate is: first those whose update was not refused, by the number of the revision, an unknown one
/// first; then the others by refusal alone.
pub(super) type Urgency = (Option<Timestamp>, Number);

/// The number of a revision, in eight bytes that need no alignment to eight; an unknown one comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Number([u32; 2]);

impl From<Option<i64>> for Number {
    fn from(number: Option<i64>) -> Self {
        // The order of the numbers without a sign; the least number shares its place with the unknown one.
        let ordered = number.map_or(0, |number| (number as u64 ^ 1 << 63).max(1));
        Number([(ordered >> 32) as u32, ordered as u32])
    }
}

impl Default for Number {
    fn default() -> Self {
        Number::from(None)
    }
}

/// A yes or no about a node's part in a plan.
#[derive(Debug, Clone, Copy)]
pub(super) enum Act {
    /// Pods of it are adopted, released or labelled.
    Claims,
    /// Node sync deletes pods of it.
    Deletes,
    /// It leaves: its deletes come last.
    Leaves,
    /// Node sync deletes its updated pod only because a better outdated one is kept.
    KeepsOutdated,
    /// Node sync creates a pod on it.
    Creates,
    /// Only the budget or a person holds its outdated pod.
    Waits,
    /// A driven rollout holds it, and it has no pod.
    HeldWithoutPod,
}

/// The part of a node in a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Acts(u8);

impl Acts {
    pub(super) fn with(self, act: Act, applies: bool) -> Self {
        Acts(self.0 | u8::from(applies) << act as u8)
    }

    pub(super) fn has(self, act: Act) -> bool {
        self.0 >> act as u8 & 1 == 1
    }
}

/// The part of one node in a plan, as long as nothing about it changes.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Standing {
    pub(super) addend: Addend,
    pub(super) acts: Acts,
    pub(super) group: Option<Group>,
    /// The number of its candidate's revision.
    pub(super) number: Number,
    pub(super) instants: Option<Box<Instants>>,
}

/// The instants of a node that is on its way.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Instants {
    /// When time alone changes its standing.
    pub(super) due: Option<Timestamp>,
    /// The first change that time alone brings, with the reason to look again.
    pub(super) change: Option<(Timestamp, RequeueReason)>,
    /// When it stops being doubled.
    pub(super) place_free: Option<Timestamp>,
    /// When its update was refused.
    pub(super) refused: Option<Timestamp>,
}

impl Standing {
    fn instants(&self) -> Instants {
        self.instants.as_deref().copied().unwrap_or_default()
    }

    fn urgency(&self) -> Urgency {
        let refused = self.instants().refused;
        (refused, if refused.is_none() { self.number } else { Number::default() })
    }
}

/// A node in an order by name.
pub(super) type Named = (Arc<str>, Slot);

/// The candidates of a group, the most urgent first; of the same urgency by the name of the node.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    by_urgency: BTreeMap<Urgency, BTreeSet<Named>>,
    length: usize,
    /// How many of them only the budget holds.
    held: u32,
}

impl Candidates {
    pub(super) fn len(&self) -> usize {
        self.length
    }

    pub(super) fn held(&self) -> u32 {
        self.held
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Slot> {
        self.by_urgency.values().flatten().map(|(_, slot)| *slot)
    }

    fn insert(&mut self, urgency: Urgency, node: Named, is_held: bool) {
        self.by_urgency.entry(urgency).or_default().insert(node);
        self.length += 1;
        self.held += u32::from(is_held);
    }

    fn remove(&mut self, urgency: Urgency, node: &Named, is_held: bool) {
        let Some(nodes) = self.by_urgency.get_mut(&urgency) else { return };
        nodes.remove(node);
        if nodes.is_empty() {
            self.by_urgency.remove(&urgency);
        }
        self.length -= 1;
        self.held -= u32::from(is_held);
    }
}

/// The sums of all nodes, and the orders from which a plan chooses.
#[derive(Debug, Default)]
pub(super) struct Standings {
    pub(super) sums: Sums,
    /// How many nodes wait for the budget or a person and are in no group.
    pub(super) held_by_person: u32,
    pub(super) pending: Candidates,
    pub(super) not_ready: Candidates,
    pub(super) not_yet_available: Candidates,
    pub(super) available: Candidates,
    pub(super) claiming: BTreeSet<Slot>,
    /// Nodes that leave come last.
    pub(super) deleting: BTreeSet<(bool, Named)>,
    pub(super) keeping_outdated: BTreeSet<Slot>,
    pub(super) creating: BTreeSet<Named>,
    pub(super) taken: BTreeSet<Slot>,
    pub(super) held_without_pod: BTreeSet<Slot>,
    pub(super) due: BTreeSet<(Timestamp, Slot)>,
    pub(super) changes: BTreeSet<(Timestamp, RequeueReason, Slot)>,
    pub(super) places_free: BTreeSet<(Timestamp, Slot)>,
}

impl Standings {
    pub(super) fn group(&self, group: Group) -> &Candidates {
        match group {
            Group::Pending => &self.pending,
            Group::NotReady => &self.not_ready,
            Group::NotYetAvailable => &self.not_yet_available,
            Group::Available => &self.available,
        }
    }

    fn group_mut(&mut self, group: Group) -> &mut Candidates {
        match group {
            Group::Pending => &mut self.pending,
            Group::NotReady => &mut self.not_ready,
            Group::NotYetAvailable => &mut self.not_yet_available,
            Group::Available => &mut self.available,
        }
    }

    /// Puts a node where its standing belongs.
    pub(super) fn insert(&mut self, node: &Named, standing: &Standing) {
        let slot = node.1;
        self.sums.add(&standing.addend);
        match standing.group {
            Some(group) => {
                self.group_mut(group).insert(standing.urgency(), node.clone(), standing.acts.has(Act::Waits));
            }
            None => self.held_by_person += u32::from(standing.acts.has(Act::Waits)),
        }
        insert_if(standing.acts.has(Act::Claims), &mut self.claiming, || slot);
        insert_if(standing.acts.has(Act::Deletes), &mut self.deleting, || {
            (standing.acts.has(Act::Leaves), node.clone())
        });
        insert_if(standing.acts.has(Act::KeepsOutdated), &mut self.keeping_outdated, || slot);
        insert_if(standing.acts.has(Act::Creates), &mut self.creating, || node.clone());
        insert_if(standing.addend.figures.has(Figure::Taken), &mut self.taken, || slot);
        insert_if(standing.acts.has(Act::HeldWithoutPod), &mut self.held_without_pod, || slot);
        let Instants { due, change, place_free, .. } = standing.instants();
        self.due.extend(due.map(|at| (at, slot)));
        self.changes.extend(change.map(|(at, reason)| (at, reason, slot)));
        self.places_free.extend(place_free.map(|at| (at, slot)));
    }

    /// Takes a node out of all places of the standing that it was inserted with.
    pub(super) fn remove(&mut self, node: &Named, standing: &Standing) {
        let slot = node.1;
        self.sums.subtract(&standing.addend);
        match standing.group {
            Some(group) => {
                self.group_mut(group).remove(standing.urgency(), node, standing.acts.has(Act::Waits))
            }
            None => self.held_by_person -= u32::from(standing.acts.has(Act::Waits)),
        }
        if standing.acts.has(Act::Claims) {
            self.claiming.remove(&slot);
        }
        if standing.acts.has(Act::Deletes) {
            self.deleting.remove(&(standing.acts.has(Act::Leaves), node.clone()));
        }
        if standing.acts.has(Act::KeepsOutdated) {
            self.keeping_outdated.remove(&slot);
        }
        if standing.acts.has(Act::Creates) {
            self.creating.remove(node);
        }
        if standing.addend.figures.has(Figure::Taken) {
            self.taken.remove(&slot);
        }
        if standing.acts.has(Act::HeldWithoutPod) {
            self.held_without_pod.remove(&slot);
        }
        let Instants { due, change, place_free, .. } = standing.instants();
        due.map(|at| self.due.remove(&(at, slot)));
        change.map(|(at, reason)| self.changes.remove(&(at, reason, slot)));
        place_free.map(|at| self.places_free.remove(&(at, slot)));
    }
}

fn insert_if<T: Ord>(belongs: bool, set: &mut BTreeSet<T>, element: impl FnOnce() -> T) {
    if belongs {
        set.insert(element());
    }
}
