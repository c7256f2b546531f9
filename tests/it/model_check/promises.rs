//! What no step of the controller may do, judged by what is real and by what the controller could know.

use super::controller::Step;
use super::objects::{Phase, Pod, PodId, Strategy};
use super::world::State;

/// A promise that a step broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Broken {
    /// More nodes are down by our hand than maxUnavailable allows.
    Budget,
    /// A node without an available pod by our hand, though we surge.
    DownUnderSurge,
    /// More nodes have two pods than maxSurge allows.
    Doubled,
    /// A pod on a node that has one, without surge.
    SecondPod,
    /// Two live pods of one version on a node, or more than two.
    Twin,
    /// A delete that was accepted before, and is remembered.
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

/// The limits are those of the spec that the controller has seen: of a newer one it can't know.
pub struct Promises<'s> {
    state: &'s State,
}

impl<'s> Promises<'s> {
    pub fn new(state: &'s State) -> Self {
        Promises { state }
    }

    /// Whether this delete leaves a node without an available pod that has one, and might have kept it: not where
    /// another pod went down by itself.
    pub fn takes_down(state: &State, id: PodId) -> bool {
        let available = |pod: &Pod| pod.phase == Phase::Available;
        let helps = |pod: &Pod| matches!(pod.phase, Phase::Available | Phase::Crashed);
        let others = state.real.pods_of(id.node).filter(|pod| pod.id != id).any(helps);
        state.real.pod(id).is_some_and(available) && !others
    }

    /// What this step breaks, just before it is taken.
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
        // A pod that has become Ready while the cache does not show it: it goes as one that serves nobody, and nothing
        // could tell.
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
