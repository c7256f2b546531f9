//! Turns of DaemonSets that are gone: the simulated controller ends them when it starts, and every ten minutes.

use crate::controller::SimulatedController;
use crate::environment::Environment;
use crate::event::Actor;
use crate::event_queue::later;
use daemonset::kubernetes::well_known::TURN_PREFIX;
use daemonset::model::DaemonSet;
use daemonset::turns;
use jiff::{SignedDuration, Timestamp};
use std::collections::BTreeSet;

/// How often the controller looks for them.
const INTERVAL: SignedDuration = SignedDuration::from_mins(10);

/// After a DaemonSet has gone, the watches have a moment to show all that goes with it.
const AFTER_CHANGE: SignedDuration = SignedDuration::from_secs(2);

impl SimulatedController {
    /// Ends the turns of nobody, if it is time to look.
    pub(crate) fn end_leftovers(&mut self, environment: &mut Environment) {
        // Most clusters never have a turn.
        if !environment.has_turns {
            self.has_leftovers = false;
            return;
        }
        let daemon_sets = environment.daemon_sets();
        let is_due = self.leftovers_at.is_none_or(|at| at <= environment.now);
        if is_due {
            self.leftovers_at = Some(later(environment.now, INTERVAL));
            let nodes = self.cache.objects.nodes.values().map(|node| &**node);
            for action in turns::abandoned_turns(nodes, &daemon_sets) {
                if !self.is_refused() {
                    // Where the node has changed since, the next look finds the turn again.
                    let _ = environment.execute(&action, Actor::Controller);
                }
            }
        }
        let known: BTreeSet<String> = daemon_sets.iter().map(turns::key).collect();
        let annotations =
            environment.objects.nodes.values().flat_map(|node| node.metadata.annotations.iter());
        let mut turns = annotations.filter_map(|(key, _)| key.strip_prefix(TURN_PREFIX));
        self.has_leftovers = turns.any(|turn| !known.contains(turn));
    }

    /// A DaemonSet is gone.
    pub(crate) fn look_for_leftovers(&mut self, now: Timestamp) {
        self.leftovers_at = Some(later(now, AFTER_CHANGE));
        self.has_leftovers = true;
    }

    /// When the controller looks again, if there is anything to look at.
    pub(crate) fn next_look_for_leftovers(&self) -> Option<Timestamp> {
        self.leftovers_at.filter(|_| self.has_leftovers)
    }
}

impl Environment {
    /// All that exist.
    fn daemon_sets(&self) -> Vec<DaemonSet> {
        let own = self.objects.daemon_set.iter().map(|ds| DaemonSet::clone(ds));
        own.chain(self.other_daemon_sets.iter().cloned()).collect()
    }
}
