//! Promises that each step of the controller must keep, judged by the real state and by the controller's knowledge.

use super::controller::Step;
use super::objects::{Mark, Phase, Pod, PodId, Strategy, Undone};
use super::state::State;

/// A broken promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Broken {
    /// The controller took down more nodes than maxUnavailable allows.
    Budget,
    /// The controller took down a node under surge.
    DownUnderSurge,
    /// More nodes have two pods than maxSurge allows.
    Surging,
    /// A create on a node that has a pod, without surge.
    SecondPod,
    /// Two live pods of one version on a node, or more than two.
    Twin,
    /// A second delete, although the first one was accepted and is remembered.
    DeletedTwice,
    /// A node gets the new version under a pause.
    PauseIgnored,
    /// A node beside the canary gets the new version before the canary was available once and both waves were approved.
    WaveTooEarly,
    /// A node gets the version that has failed.
    FailureSpreads,
    /// A node loses the new version, which has not failed.
    TakenBack,
    /// The mark of the last open wave goes back.
    WaveClosed,
    /// The template of a failed revision is replaced twice.
    UndoneTwice,
    /// A template is restored that has failed, or of which the marks say something else.
    WrongRestore,
    /// Something is marked, renumbered or restored while the cache does not show the template that was restored.
    NotAwaited,
}

impl Broken {
    pub const ALL: [(Broken, &'static str); 14] = [
        (Broken::Budget, "never more nodes down by our hand than maxUnavailable"),
        (Broken::DownUnderSurge, "never a node down by our hand under surge"),
        (Broken::Surging, "never more doubled nodes than maxSurge"),
        (Broken::SecondPod, "never a second pod on a node without surge"),
        (Broken::Twin, "never two live pods of a version, nor three, on a node"),
        (Broken::DeletedTwice, "never a pod deleted twice"),
        (Broken::PauseIgnored, "never a further node under a pause"),
        (Broken::WaveTooEarly, "never a second node before the canary is done and approved"),
        (Broken::FailureSpreads, "never a further node on a version that has failed"),
        (Broken::TakenBack, "never a node taken back from a version that has not failed"),
        (Broken::WaveClosed, "never an open wave closed by the controller"),
        (Broken::UndoneTwice, "never a template undone twice"),
        (Broken::WrongRestore, "never a template restored that has failed, or without its marks"),
        (Broken::NotAwaited, "never a mark, a number or a restore before the restored template is shown"),
    ];
}

/// The limits of the spec that the controller has seen: it can't know a newer one.
pub struct Promises<'s> {
    state: &'s State,
    steered: bool,
}

impl<'s> Promises<'s> {
    pub fn new(state: &'s State, steered: bool) -> Self {
        Promises { state, steered }
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
        let changes = matches!(step, Step::Mark { .. } | Step::Renumber { .. } | Step::Restore { .. });
        if self.state.awaits_template && changes {
            return Some(Broken::NotAwaited);
        }
        match step {
            Step::CreateRevision { .. } | Step::Renumber { .. } => None,
            Step::Restore { version, writes } => self.broken_by_restore(version, writes),
            Step::Mark { version, mark } => self.broken_by_mark(version, mark),
            Step::Delete(id) => self.broken_by_delete(id).or_else(|| self.broken_by_reach(step)),
            Step::Create { node, version, beside } => {
                self.broken_by_create(node, version, beside).or_else(|| self.broken_by_reach(step))
            }
        }
    }

    fn broken_by_restore(&self, version: u8, writes: u8) -> Option<Broken> {
        let State { real, cache, undone, allowed, .. } = self.state;
        // Another write has come first, and the API server refuses it.
        if writes != real.spec.writes {
            return None;
        }
        let number = cache.number(real.spec.version)?;
        let (old, new) = (cache.marks(version), cache.marks(real.spec.version));
        let is_due = new.failed
            && new.undone == Some(Undone { number, generation: real.spec.generation })
            && old.restored == Some(number)
            && !old.failed;
        if undone > allowed { Some(Broken::UndoneTwice) } else { (!is_due).then_some(Broken::WrongRestore) }
    }

    fn broken_by_mark(&self, version: u8, mark: Mark) -> Option<Broken> {
        let State { cache, canary_done, .. } = self.state;
        let Mark::Wave(wave) = mark else { return None };
        if cache.marks(version).wave > wave {
            return Some(Broken::WaveClosed);
        }
        let due = *canary_done && cache.spec.approved;
        (wave > Some(0) && !due).then_some(Broken::WaveTooEarly)
    }

    /// Whether a node that does not have version 1 gets it, or one that has it loses it.
    fn broken_by_reach(&self, step: Step) -> Option<Broken> {
        let State { real, cache, canary_done, .. } = self.state;
        if !self.steered || cache.spec.version == 0 {
            return None;
        }
        let failed = real.has_failed() || cache.has_failed();
        let node = match step {
            // Without a stable revision a missing pod is created from the current template.
            Step::Create { version: 1, .. } if cache.marks(0).failed => return None,
            Step::Create { node, version: 1, .. } => node,
            Step::Delete(id) => match real.pod(id) {
                Some(pod) if pod.version == 0 && pod.phase == Phase::Available => id.node,
                Some(pod) if pod.version == 1 && !failed => return Some(Broken::TakenBack),
                _ => return None,
            },
            _ => return None,
        };
        let new = |pod: &Pod| pod.version == 1 && pod.phase != Phase::Terminating;
        if real.pods_of(node).any(new) {
            return None;
        }
        if failed {
            Some(Broken::FailureSpreads)
        } else if cache.spec.paused {
            Some(Broken::PauseIgnored)
        } else {
            let due = *canary_done && cache.spec.approved;
            (node > 0 && !due).then_some(Broken::WaveTooEarly)
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
        let surging = |other: &u8| *other != node && real.pods_of(*other).count() > 1;
        let others = (0..self.state.down.len() as u8).filter(surging).count();
        (beside && others + 1 > limit).then_some(Broken::Surging)
    }
}
