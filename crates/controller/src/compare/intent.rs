//! What one plan would do, kept for a while: the other controller may do it a moment later.

use super::act::{Act, Place};
use daemonset::{NodeOutcome, Plan};
use std::collections::BTreeMap;
use std::time::Duration;

/// The actions of one plan that nobody was seen to do yet.
#[derive(Debug, Clone)]
pub struct Intent {
    /// When it was planned.
    pub at: Duration,
    acts: BTreeMap<Act, Option<Place>>,
    /// How many of each place are left.
    places: BTreeMap<Place, usize>,
}

/// How an action of theirs fits into a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// The plan has it.
    Same(Option<Place>),
    /// The plan has one like it on another node.
    OtherNode(Place),
}

impl Intent {
    /// What this plan would do.
    pub fn of(plan: &Plan, at: Duration) -> Self {
        let mut intent = Intent { at, acts: BTreeMap::new(), places: BTreeMap::new() };
        for action in &plan.actions {
            let Some(act) = Act::of(action) else { continue };
            let place = Place::of(action);
            intent.acts.insert(act, place);
            if let Some(place) = place {
                *intent.places.entry(place).or_default() += 1;
            }
        }
        intent
    }

    /// Whether it would do this.
    pub fn has(&self, act: &Act) -> Option<Fit> {
        self.acts.get(act).map(|place| Fit::Same(*place))
    }

    /// Whether it would do it on another node, for which a place is left.
    pub fn has_place(&self, places: &[Place]) -> Option<Fit> {
        let left = |place: &&Place| self.places.get(place).is_some_and(|left| *left > 0);
        places.iter().find(left).map(|place| Fit::OtherNode(*place))
    }

    /// It was done: neither the action nor its place can be had again.
    pub fn done(&mut self, act: &Act, fit: Fit) {
        self.acts.remove(act);
        if let Fit::Same(Some(place)) | Fit::OtherNode(place) = fit {
            self.places.entry(place).and_modify(|left| *left = left.saturating_sub(1));
        }
    }
}

/// The places that an action could take on a node to which this happens: those that its own node waits for.
pub fn places(act: &Act, outcome: &NodeOutcome) -> &'static [Place] {
    match (act, outcome) {
        (Act::DeletePod(_), NodeOutcome::HeldByMaxUnavailable { .. }) => &[Place::Update],
        (Act::DeletePod(_), NodeOutcome::WaitsForNextPlan) => &[Place::Update, Place::Sync],
        (Act::CreatePod(_), NodeOutcome::HeldByMaxSurge { .. }) => &[Place::Surge],
        (Act::CreatePod(_), NodeOutcome::WaitsForNextPlan) => &[Place::Missing, Place::Surge],
        _ => &[],
    }
}
