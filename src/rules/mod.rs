//! The opt-in rules, a room each, and why a candidate of the update waits for something else than a limit: its turn, its images, its room
//! on the node. A choice leaves these candidates out, and their places go to the next ones.

pub(crate) mod change;
pub(crate) mod down_nodes;
pub(crate) mod fit;
#[warn(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs)]
pub(crate) mod gate;
pub(crate) mod in_place;
pub(crate) mod names;
pub(crate) mod pull;
pub(crate) mod turn;
pub(crate) mod turn_end;

use crate::action::RequeueReason;
use crate::input::pod_wants::PodWants;
use crate::input::policy::{FitPolicy, Rule};
use crate::node::fleet::{Fleet, FleetPod};
use crate::node::wait::Wait;
use crate::pods::history::History;
use crate::position::NodeIx;
use crate::rules::pull::PullPod;
use jiff::Timestamp;

/// The part of one candidate.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Hold {
    /// Why it waits.
    pub wait: Option<Wait>,
    /// The images of its goal are not on the node.
    pub lacks_images: bool,
    /// Its closed gates, once they are overdue.
    pub overdue: Vec<String>,
    /// When time alone changes any of these.
    pub next: Option<(Timestamp, RequeueReason)>,
}

impl Hold {
    fn changes_at(&mut self, at: Option<Timestamp>, reason: RequeueReason) {
        self.next = self.next.into_iter().chain(at.map(|at| (at, reason))).min();
    }
}

/// Asks about one candidate after the other.
pub(crate) struct Holds<'f, 'a> {
    fleet: &'f Fleet<'a>,
    history: &'f History<'f>,
}

impl<'f, 'a> Holds<'f, 'a> {
    /// `None` for most plans: without rules that read rare facts, limits alone hold candidates.
    pub(crate) fn new(fleet: &'f Fleet<'a>, history: &'f History<'f>) -> Option<Self> {
        fleet.rare.as_ref()?;
        // Where a person deletes the pods, nothing is a candidate.
        turn::updates(fleet.snapshot).then_some(Holds { fleet, history })
    }

    /// `None` for a candidate that only a limit holds.
    pub(crate) fn of(&self, node: NodeIx, pod: &FleetPod) -> Option<Box<Hold>> {
        let mut hold = Hold::default();
        hold.wait = self.wait(&mut hold, node, pod);
        (hold != Hold::default()).then(|| Box::new(hold))
    }

    /// The first thing that the candidate waits for, in the order of the rules.
    fn wait(&self, hold: &mut Hold, node: NodeIx, pod: &FleetPod) -> Option<Wait> {
        // Found first, since a pull does not wait for the turn.
        hold.lacks_images = self.lacks_images(hold, node, pod.readiness.is_ready());
        Rule::ALL.iter().find_map(|rule| self.wait_by(*rule, hold, node, pod))
    }

    fn wait_by(&self, rule: Rule, hold: &mut Hold, node: NodeIx, pod: &FleetPod) -> Option<Wait> {
        // A pod that is not Ready serves nobody, and goes at once.
        let is_ready = pod.readiness.is_ready();
        match rule {
            Rule::Turn if turn::are_kept(self.fleet.snapshot) => Some(Wait::TurnsFrozen),
            Rule::Turn => self.wait_of_turn(hold, node),
            Rule::Pull => (is_ready && hold.lacks_images).then_some(Wait::Pull),
            Rule::Fit => {
                let lacking = is_ready.then(|| self.lacking_resource(node, pod)).flatten()?;
                // A change in place needs no room.
                let retried_at = change::retried_at(self.fleet, self.history, node, pod);
                hold.changes_at(retried_at, RequeueReason::RetryDue);
                Some(Wait::Fit { resource: lacking.resource })
            }
            // They hold no candidate.
            Rule::PodNames
            | Rule::DownNodes
            | Rule::Lifecycle
            | Rule::Drain
            | Rule::InPlace
            | Rule::Priority => None,
        }
    }

    fn wait_of_turn(&self, hold: &mut Hold, node: NodeIx) -> Option<Wait> {
        let (fleet, now) = (self.fleet, self.fleet.snapshot.now);
        let turn = fleet.turn(node);
        if let Some(until) = turn.and_then(|turn| turn.in_flight_until) {
            // The patch may not have been done, whatever the policy is by now.
            return Some(Wait::NodePatch { until });
        }
        let rules = turn::rules(&fleet.snapshot.spec)?;
        let Some(turn) = turn else {
            // Its kubelet could do nothing.
            return fleet.node_view(node).unreachable.then_some(Wait::NodeUnreachable);
        };
        let closed: Vec<String> =
            turn::closed_gates(fleet.snapshot, turn, rules).into_iter().cloned().collect();
        if closed.is_empty() {
            return None;
        }
        match turn::overdue_at(turn, rules) {
            Some(at) if at <= now => hold.overdue.clone_from(&closed),
            at => hold.changes_at(at, RequeueReason::TurnOverdue),
        }
        (!turn::proceeds(turn, rules, now))
            .then(|| Wait::Gates { gates: closed, turn: Some(turn::gated(turn, rules)) })
    }

    fn lacks_images(&self, hold: &mut Hold, node: NodeIx, is_ready: bool) -> bool {
        let snapshot = self.fleet.snapshot;
        let Some(rules) = pull::rules(snapshot) else { return false };
        let images = &wants(self.fleet, node).images;
        let hash = goal_hash(self.fleet, self.history, node);
        let is_its_own = |pod: &&PullPod<'_>| pod.hash == hash;
        let pods = self.fleet.pull_pods_of(node).iter().filter(is_its_own);
        // The name is a hash: most memories have no refusal, and spare it.
        let memory = snapshot.memory.as_ref().filter(|memory| !memory.turns.refused_pulls.is_empty());
        let refused_until = memory.and_then(|memory| {
            memory.pull_refused_until(
                &pull::pod_name(&snapshot.spec, snapshot.node(node).name, hash),
                snapshot.now,
            )
        });
        if planted::is_pulled(pull::is_pulled(snapshot, rules, node, images, pods.clone())) {
            return false;
        }
        if refused_until.is_some() {
            // Nobody waits for it until it is tried again.
            hold.changes_at(refused_until, RequeueReason::RetryDue);
            return false;
        }
        // Only a Ready pod waits for it, and the first of several pull pods that is late ends the wait.
        let waits = is_ready && !turn::are_kept(snapshot);
        let ends_at = pods.filter(|_| waits).filter_map(|pod| pod.ends_at(rules)).min();
        hold.changes_at(ends_at, RequeueReason::PullTimeout);
        true
    }

    fn lacking_resource(&self, node: NodeIx, pod: &FleetPod) -> Option<fit::Lacking> {
        let fleet = self.fleet;
        if fleet.snapshot.spec.policy.fit != FitPolicy::Hold {
            return None;
        }
        // It is asked where a turn begins, and not at all where the turn empties the node.
        let rules = turn::rules(&fleet.snapshot.spec);
        let is_drained = rules.is_some_and(|rules| rules.gates.iter().any(|gate| gate == DRAINED));
        let has_begun = rules.is_some() && fleet.turn(node).is_some();
        if is_drained || has_begun || change::is_possible(fleet, self.history, node, pod) {
            return None;
        }
        fit::lacking(fleet, node, wants(fleet, node).pod.as_ref()?)
    }
}

/// The gate that the drain of a node opens.
const DRAINED: &str = "drained";

/// The images and requests of the pod that a node should run.
pub(crate) fn wants<'f>(fleet: &'f Fleet<'_>, node: NodeIx) -> &'f PodWants {
    match fleet.goals.stable_of(node) {
        Some(stable) => stable.template.wants(stable.raw_template()),
        None => fleet.snapshot.spec.template.wants(fleet.snapshot.spec.raw_template()),
    }
}

/// The hash label of the revision that a node should run.
pub fn goal_hash<'f>(fleet: &'f Fleet<'_>, history: &'f History<'_>, node: NodeIx) -> &'f str {
    fleet.goals.stable_of(node).map_or_else(|| history.current_hash(), |stable| &stable.hash)
}

/// The deliberate errors in this file.
mod planted {
    crate::planted::planted! {
        is_pulled(right: bool): PullNotAwaited => true;
    }
}
