//! Promises that each step of the controller must keep, judged by the real state and by the controller's knowledge.

use super::controller::Step;
use super::objects::{Phase, Pod, PodId, Strategy};
use super::state::State;

/// A broken promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Broken {
    /// The controller took down more nodes than maxUnavailable allows.
    Budget,
    /// The controller took down a node under surge.
    DownUnderSurge,
    /// More nodes have two pods than maxSurge allows.
    Doubled,
    /// A create on a node that has a pod, without surge.
    SecondPod,
    /// Two live pods of one version on a node, or more than two.
    Twin,
    /// A second delete, although the first one was accepted and is remembered.
    DeletedTwice,
}

impl Broken {
    pub const ALL: [(Broken, &'static str); 6] = [
        (Broken::Budget, "never more nodes down by our hand than maxUnavailable"),
        (Broken::DownUnderSurge, "never a node down by our hand under surge"),
        (Broken::Doubled, "never more doubled nodes than maxSurge"),
        (Broken::SecondPod, "never a second pod on a node without surge"),
        (Broken::Twin, "never two live pods of a version, nor three, on a node"),
        (Broken::DeletedTwice, "never a pod deleted twice"),
    ];
}

/// The limits of the spec that the controller has seen: it can't know a newer one.
pub struct Promises<'s> {
    state: &'s State,
}

impl<'s> Promises<'s> {
    pub fn new(state: &'s State) -> Self {
        Promises { state }
    }

    /// Whether this delete takes the last available pod of a node. A node whose other pod went down by itself does not
    /// count.
    pub fn takes_down(state: &State, id: PodId) -> bool {
        let available = |pod: &Pod| pod.phase == Phase::Available;
        let helps = |pod: &Pod| matches!(pod.phase, Phase::Available | Phase::Crashed);
        let others = state.real.pods_of(id.node).filter(|pod| pod.id != id).any(helps);
        state.real.pod(id).is_some_and(available) && !others
    }

    /// The promises that this step breaks, judged before the step.
    pub fn broken_by(&self, step: Step) -> Option<Broken> {
        match step {
            Step::CreateRevision { .. } | Step::Renumber { .. } => None,
            Step::Delete(id) => self.broken_by_delete(id),
            Step::Create { node, version, beside } => self.broken_by_create(node, version, beside),
        }
    }

    fn broken_by_delete(&self, id: PodId) -> Option<Broken> {
        let State { real, cache, down, .. } = self.state;
        if real.pod(id).is_none_or(|pod| pod.phase == Phase::Terminating) {
            return Some(Broken::DeletedTwice);
        }
        // The pod has become Ready, but the cache does not show it, so that the controller deletes it as not Ready.
        let blind = cache.pod(id).is_some_and(|pod| !pod.phase.is_ready());
        if blind || !Self::takes_down(self.state, id) {
            return None;
        }
        match cache.spec.strategy {
            Strategy::Replace(limit) => {
                let others = (0_u8..).zip(down).filter(|(node, down)| **down && *node != id.node).count();
                (others + 1 > usize::from(limit.max(1))).then_some(Broken::Budget)
            }
            Strategy::Surge(_) => Some(Broken::DownUnderSurge),
        }
    }

    fn broken_by_create(&self, node: u8, version: u8, beside: bool) -> Option<Broken> {
        let real = &self.state.real;
        let limit = match self.state.cache.spec.strategy {
            Strategy::Replace(_) => {
                return real.pods_of(node).next().is_some().then_some(Broken::SecondPod);
            }
            Strategy::Surge(limit) => usize::from(limit),
        };
        let live: Vec<_> = real.pods_of(node).filter(|pod| pod.phase != Phase::Terminating).collect();
        if live.len() > 1 || live.iter().any(|pod| pod.version == version) {
            return Some(Broken::Twin);
        }
        let doubled = |other: &u8| *other != node && real.pods_of(*other).count() > 1;
        let others = (0..self.state.down.len() as u8).filter(doubled).count();
        (beside && others + 1 > limit).then_some(Broken::Doubled)
    }
}
