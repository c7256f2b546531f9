//! Promises that each step of a controller must keep, judged by the real state.

use super::controller::Step;
use super::objects::{Node, Pod, PodId, Pull, Turning};
use super::state::{State, TurnChoice};
use super::world::Boundary;
use crate::model_check::objects::Phase;
use daemonset::TurnReason;
use daemonset::policy::TurnMode;

/// A broken promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Broken {
    /// More nodes that are up are in turn than maxUnavailable allows.
    TooManyTurns,
    /// A pod is taken on a node that is not in turn.
    NotInTurn,
    /// A pod is taken on a node whose turn has a closed gate.
    GateClosed,
    /// The update took down more nodes than maxUnavailable allows.
    Budget,
    /// A turn ends while its node waits for the new daemon.
    EndedTooEarly,
    /// A turn begins or ends, or a pod is taken, though the policy keeps all as it is.
    NotKept,
    /// A node stays unschedulable that a turn made so.
    LeftCordoned,
    /// A node becomes schedulable that a person has cordoned.
    PersonsCordon,
    /// A node becomes schedulable while another DaemonSet is in turn on it.
    UncordonedInTurn,
    /// A plan from a cache that shows all leaves a turn that says it has cordoned a node which is schedulable.
    CordonNotLost,
    /// A second pod of the DaemonSet is created on a node.
    SecondPod,
    /// A pod is deleted or changed again, though that is on its way.
    TakenTwice,
    /// More nodes pull than the policy allows.
    TooManyPulls,
    /// An available pod is taken before the images of the new one are there.
    WithoutImages,
}

/// The promises that a step breaks which the API server accepts, judged before the step.
pub fn broken_by(state: &State, process: usize, step: &Step, boundary: &Boundary) -> Option<Broken> {
    let promises = Promises { state, process, boundary };
    match *step {
        Step::CreateRevision { .. } | Step::Renumber { .. } => None,
        Step::Delete { id, takes } if state.real.pod(id).is_some_and(|pod| pod.pull.is_none()) => {
            promises.broken_by_loss(id).or_else(|| promises.broken_by_take(id).filter(|_| takes))
        }
        Step::Delete { .. } => None,
        Step::ChangeInPlace { id, .. } => promises.broken_by_loss(id).or_else(|| promises.broken_by_take(id)),
        Step::Create { pulls: true, .. } => promises.broken_by_pull(),
        Step::Create { ds, node, .. } => {
            state.real.daemons(ds, node).next().is_some().then_some(Broken::SecondPod)
        }
        Step::Patch { ds, node, reason, unschedulable, .. } => {
            promises.broken_by_turn(ds, node, reason).or_else(|| {
                (unschedulable == Some(false)).then(|| promises.broken_by_uncordon(ds, node)).flatten()
            })
        }
    }
}

/// The promise that a state breaks.
pub fn broken_in(state: &State) -> Option<Broken> {
    let is_left = |node: &u8| {
        let stored = &state.real.nodes[usize::from(*node)];
        stored.unschedulable && !state.truth(*node).cordoned_by_person && !stored.is_cordoned_by_a_turn()
    };
    state.node_numbers().any(|node| is_left(&node)).then_some(Broken::LeftCordoned)
}

/// The promise that a whole plan breaks whose cache showed all nodes, and which had nothing in flight.
pub fn broken_after(state: &State, ds: u8) -> Option<Broken> {
    let says_so = |node: &Node| node.turning(ds).turn.is_some_and(|turn| turn.cordoned);
    let mut nodes = state.real.nodes.iter();
    nodes.any(|node| says_so(node) && !node.unschedulable).then_some(Broken::CordonNotLost)
}

struct Promises<'s> {
    state: &'s State,
    process: usize,
    boundary: &'s Boundary,
}

impl Promises<'_> {
    fn choice(&self, ds: u8) -> TurnChoice {
        self.state.daemon_sets[usize::from(ds)].turn
    }

    fn turning(&self, ds: u8, node: u8) -> &Turning {
        self.state.real.nodes[usize::from(node)].turning(ds)
    }

    fn limit(&self) -> usize {
        self.boundary.limit.into()
    }

    fn broken_by_turn(&self, ds: u8, node: u8, reason: TurnReason) -> Option<Broken> {
        if self.choice(ds) == TurnChoice::Keep && reason != TurnReason::TurnLosesCordon {
            return Some(Broken::NotKept);
        }
        match reason {
            TurnReason::TurnBegins => {
                let State { real, .. } = self.state;
                let is_in_turn = |node: &u8| self.turning(ds, *node).turn.is_some();
                let is_down = |node: &u8| !real.daemons(ds, *node).any(Pod::is_available);
                // A node whose pod works may wait for the room that one takes which is down and not in turn, or was away.
                let may_wait = self.boundary.left.outages > 0
                    || self.state.node_numbers().any(|node| is_down(&node) && !is_in_turn(&node));
                let is_up = |node: &u8| !real.nodes[usize::from(*node)].unreachable;
                let in_turn = self.state.node_numbers().filter(|node| is_in_turn(node) && is_up(node));
                let in_turn = in_turn.filter(|node| is_down(node) || !may_wait).count();
                (in_turn + 1 > self.limit()).then_some(Broken::TooManyTurns)
            }
            TurnReason::TurnEnds => {
                let waits = self.state.truth(node).down[usize::from(ds)];
                (waits && self.choice(ds) == TurnChoice::Take).then_some(Broken::EndedTooEarly)
            }
            _ => None,
        }
    }

    fn broken_by_uncordon(&self, ds: u8, node: u8) -> Option<Broken> {
        let stored = &self.state.real.nodes[usize::from(node)];
        let mut others = (0..).zip(&stored.of).filter(|(other, _)| *other != ds);
        if self.state.truth(node).cordoned_by_person {
            Some(Broken::PersonsCordon)
        } else {
            others.any(|(_, of)| of.turn.is_some()).then_some(Broken::UncordonedInTurn)
        }
    }

    /// Whether the update may take a pod of this node.
    fn broken_by_take(&self, id: PodId) -> Option<Broken> {
        let Turning { turn, gate } = self.turning(id.ds, id.node);
        if let Some(TurnMode::Take(rules)) = &self.boundary.policy.turn {
            match self.choice(id.ds) {
                TurnChoice::Keep => return Some(Broken::NotKept),
                TurnChoice::Take if turn.is_none() => return Some(Broken::NotInTurn),
                TurnChoice::Take if !rules.gates.is_empty() && *gate != turn.map(|turn| turn.request) => {
                    return Some(Broken::GateClosed);
                }
                TurnChoice::Take | TurnChoice::Absent => {}
            }
        }
        let version = self.state.daemon_sets[usize::from(id.ds)].version;
        let is_pulled = self.state.truth(id.node).pulled & (1 << version) > 0;
        let waits = self.boundary.parallel().is_some() && !self.is_blind(id) && self.state.takes_down(id);
        (waits && !is_pulled).then_some(Broken::WithoutImages)
    }

    fn broken_by_loss(&self, id: PodId) -> Option<Broken> {
        let State { real, .. } = self.state;
        // Two that do not know of each other spend each budget twice.
        if !self.boundary.remembers || self.boundary.processes > 1 {
            return None;
        }
        if real.pod(id).is_none_or(|pod| pod.phase == Phase::Terminating) {
            // A person may have come first.
            return (self.boundary.left.deletions == 0).then_some(Broken::TakenTwice);
        }
        if self.is_blind(id) || !self.state.takes_down(id) {
            return None;
        }
        let others = self.state.node_numbers().filter(|node| *node != id.node);
        let down = others.filter(|node| self.state.truth(*node).down[usize::from(id.ds)]).count();
        (down + 1 > self.limit()).then_some(Broken::Budget)
    }

    /// Whether the pod has become Ready, and the cache does not show it, so that it goes as one that serves nobody.
    fn is_blind(&self, id: PodId) -> bool {
        let cache = &self.state.processes[self.process].watched.cache;
        cache.pod(id).is_some_and(|pod| !pod.is_available())
    }

    fn broken_by_pull(&self) -> Option<Broken> {
        let pulling = self.state.real.pulls().filter(|(_, pull)| *pull == Pull::Pulling).count();
        let parallel = self.boundary.parallel().unwrap_or(0);
        (pulling + 1 > parallel).then_some(Broken::TooManyPulls)
    }
}
