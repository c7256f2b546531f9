//! The promises of turns, pulls, changes in place and names, judged by the facts of a life.

mod cordons;
mod ends;
mod limit;
mod names;
mod pulls;
mod rest;
mod takes;

use super::beginning::Beginning;
use super::facts::{Facts, is_take};
use daemonset::TurnReason;
use daemonset::policy::TurnMode;
use daemonset_sim::{Actor, Change, Cluster, Event};
use pulls::Pulls;
use std::collections::BTreeSet;

/// The promises of a life that has gone on, and those that are broken.
pub struct Promises {
    pub broken: BTreeSet<String>,
    /// The caller has no memory, or has lost it while caches are behind: it can't keep all promises.
    pub is_beyond: bool,
    pulls: Pulls,
}

impl Promises {
    pub fn new(beginning: Beginning) -> Self {
        Promises { is_beyond: beginning.forgets, pulls: Pulls::new(beginning), broken: BTreeSet::new() }
    }

    /// Judges an event before the facts know of it. `step` has all events of its step.
    pub fn judge(&mut self, facts: &Facts, event: &Event, step: &[Event]) {
        let mut broken = Vec::new();
        match &event.change {
            Change::PodCreated(pod) if event.by == Actor::Controller => {
                broken.extend(names::broken_by_create(facts, pod));
            }
            Change::PodTerminating { pod, reason: Some(reason) }
            | Change::PodChanged { pod, reason: Some(reason) }
                if event.by == Actor::Controller && is_take(*reason) && !self.is_beyond =>
            {
                broken.extend(takes::broken_by_take(facts, event.t, pod));
                broken.extend(takes::broken_by_loss(facts, event.t, pod, *reason));
                broken.extend(self.pulls.broken_by_take(facts, event.t, pod, *reason));
            }
            Change::TurnBegan { node, turn, .. } if *turn == facts.key && !self.is_beyond => {
                broken.extend(kept(facts, TurnReason::TurnBegins));
                broken.extend(limit::broken_by_begin(facts, event.t, node.as_str()));
            }
            Change::TurnEnded { node, turn, uncordons } => {
                if *turn == facts.key && event.by == Actor::Controller && !self.is_beyond {
                    broken.extend(kept(facts, TurnReason::TurnEnds));
                    broken.extend(ends::broken_by_end(facts, event.t, node.as_str()));
                }
                if *uncordons {
                    broken.extend(cordons::broken_by_uncordon(facts, node.as_str(), step));
                }
            }
            _ => {}
        }
        self.broken.extend(broken.into_iter().map(|broken| format!("{broken} at {}", event.t)));
    }

    /// Judges the state after a step or a command.
    pub fn judge_state(&mut self, facts: &Facts, cluster: &Cluster) {
        let mut broken: Vec<String> = cordons::broken_in(facts);
        broken.extend(self.pulls.broken_in(facts, cluster).filter(|_| !self.is_beyond));
        self.broken.extend(broken.into_iter().map(|broken| format!("{broken} at {}", cluster.now())));
    }

    /// Judges the state after a plan that saw everything, and whose actions were all done.
    pub fn judge_rest(&mut self, facts: &Facts, cluster: &Cluster, is_quiet: bool) {
        let broken = rest::broken_in(facts, cluster, is_quiet);
        self.broken.extend(broken.into_iter().map(|broken| format!("{broken} at {}", cluster.now())));
    }

    /// A create of a pull pod may be refused from now on.
    pub fn note_refusals(&mut self, until: jiff::Timestamp) {
        self.pulls.refused_until = Some(until);
    }
}

/// Nothing begins, ends or is taken under `Keep`.
fn kept(facts: &Facts, reason: TurnReason) -> Option<String> {
    (facts.policy.turn == Some(TurnMode::Keep)).then(|| format!("kept: {reason:?}"))
}
