//! Whether a node moves, and the obstacles of a fleet that does not.

use crate::node::obstacle::ObstacleKind;
use crate::node::wait::{BlocksFrom, Wait, WaitsOn};
use crate::report::{BudgetUse, NodeOutcome, NodeVerdict, Plan, PodState, PodVerdict, Situation};
use crate::rollout::report::{HoldReason, WaveProgress};
use jiff::{SignedDuration, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

/// The movement of one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, clippy::exhaustive_enums, reason = "internal")]
pub enum Movement {
    Settled,
    /// Its own part is done. A pod beside the available one ends, and holds a place in maxSurge until then.
    Ends,
    Acting,
    Waiting,
    /// The limit holds it: other nodes must move first.
    Held,
    Blocked(ObstacleKind),
    /// It waits until this instant and, for some kinds, the patience of the caller; then it is blocked.
    BlockedFrom(ObstacleKind, Timestamp),
}

impl Movement {
    pub(crate) fn of(node: &NodeVerdict) -> Self {
        Movement::new(node.counts, &node.outcome, || node.pods.iter().collect())
    }

    /// The movement of a node with this verdict.
    pub fn new(counts: BudgetUse, outcome: &NodeOutcome, pods: impl FnOnce() -> PodTimes) -> Self {
        if counts.deleted_by_update {
            return Movement::Blocked(ObstacleKind::DeletedByUpdate);
        }
        if counts.down_after_update {
            return Movement::Blocked(ObstacleKind::DownAfterUpdate);
        }
        match outcome {
            // Beside an available pod of the goal only terminating ones stay, and one that is overdue holds no place.
            NodeOutcome::UpToDate if counts.surging => Movement::Ends,
            NodeOutcome::UpToDate | NodeOutcome::NotTarget => Movement::Settled,
            NodeOutcome::Create { rejected, .. }
            | NodeOutcome::UpdateInPlace { rejected, .. }
            | NodeOutcome::Delete { rejected, .. } => {
                // One rejection may be a conflict of the moment.
                let again_and_again = rejected.is_some_and(|rejected| rejected.count > 1);
                if again_and_again { Movement::Blocked(ObstacleKind::Rejected) } else { Movement::Acting }
            }
            NodeOutcome::TurnBegins | NodeOutcome::Waits(Wait::NextPlan) => Movement::Acting,
            NodeOutcome::Waits(Wait::Rollout { because }) => {
                Movement::held_by_rollout(because, pods().held())
            }
            NodeOutcome::Waits(wait) => Movement::of_wait(wait, || pods().not_ready_since()),
        }
    }

    /// The movement of a node that waits.
    fn of_wait(wait: &Wait, not_ready_since: impl FnOnce() -> Option<Timestamp>) -> Self {
        let Some(kind) = wait.obstacle() else { return Movement::without_obstacle(wait.on()) };
        // Without an instant it waits, however long.
        let since = match wait.blocks_from() {
            BlocksFrom::Now => return Movement::Blocked(kind),
            BlocksFrom::Instant(since) => since,
            BlocksFrom::UnreadyPod => not_ready_since(),
        };
        since.map_or(Movement::Waiting, |since| Movement::BlockedFrom(kind, since))
    }

    fn without_obstacle(on: WaitsOn) -> Self {
        match on {
            WaitsOn::OtherNodes => Movement::Held,
            WaitsOn::Time | WaitsOn::Kubelet | WaitsOn::Person | WaitsOn::OtherController => {
                Movement::Waiting
            }
        }
    }

    /// The movement of a node that the rollout has not reached. Where no person holds it, a node that is unavailable for a moment may
    /// use up the limit, and others go on after it.
    pub fn held_by_rollout(because: &HoldReason, pod: HeldPod) -> Self {
        let movement = match because.obstacle() {
            Some(kind) => Movement::Blocked(kind),
            // It keeps the old version, and waits for nothing.
            None if *because == HoldReason::NoWave => Movement::Settled,
            None => Movement::without_obstacle(because.on()),
        };
        match (movement, pod) {
            (Movement::Settled | Movement::Held, HeldPod::Waits) => Movement::Waiting,
            (Movement::Settled | Movement::Held, HeldPod::Ends(at)) => {
                Movement::BlockedFrom(ObstacleKind::Overdue, at)
            }
            (movement, _) => movement,
        }
    }

    /// The movement at an instant, for a caller with this patience.
    pub(crate) fn at(self, now: Timestamp, patience: SignedDuration) -> Self {
        match self {
            Movement::BlockedFrom(kind, since) => blocked_if(is_blocked(kind, since, now, patience), kind),
            Movement::Settled
            | Movement::Ends
            | Movement::Acting
            | Movement::Waiting
            | Movement::Held
            | Movement::Blocked(_) => self,
        }
    }
}

pub(super) fn blocked_if(blocked: bool, kind: ObstacleKind) -> Movement {
    if blocked { Movement::Blocked(kind) } else { Movement::Waiting }
}

fn is_blocked(kind: ObstacleKind, since: Timestamp, now: Timestamp, patience: SignedDuration) -> bool {
    // A terminating pod has had its time already.
    let is_watched = matches!(kind, ObstacleKind::NotReady | ObstacleKind::ClosedGates);
    let patience = if is_watched { patience } else { SignedDuration::ZERO };
    now.duration_since(since) >= patience
}

/// Whether a wave is open, and its pods are Ready but not for long enough.
pub(super) fn bakes(plan: &Plan) -> bool {
    let mut waves = plan.report.rollout.iter().flat_map(|rollout| rollout.waves.iter());
    waves.any(|wave| matches!(wave.progress, WaveProgress::Baking { .. }))
}

/// Whether nothing goes on once the nodes that wait are done: a pod of a failed version that becomes Ready changes no verdict.
pub(super) fn stops_the_others<'k>(kinds: impl IntoIterator<Item = &'k ObstacleKind>) -> bool {
    kinds.into_iter().any(|kind| *kind == ObstacleKind::RolloutFailed)
}

/// What the pods of a node tell about its movement.
#[derive(Debug, Clone, Copy, Default)]
#[allow(missing_docs, clippy::exhaustive_structs, reason = "internal")]
pub struct PodTimes {
    /// When the last of the updated pods that are not Ready began to be so: `None` before the first pod, `Some(None)` where one of them
    /// tells no instant.
    not_ready: Option<Option<Timestamp>>,
    has_available: bool,
    /// A pod is Ready, and becomes available by time.
    has_young: bool,
    /// A pod runs, or may.
    has_live: bool,
    /// When the last of the terminating pods is overdue: `None` before the first pod, `Some(None)` where the snapshot shows no delete.
    ends: Option<Option<Timestamp>>,
}

/// The part of a node's own pod in the time for which a node that the rollout holds is unavailable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, clippy::exhaustive_enums, reason = "internal")]
pub enum HeldPod {
    /// It changes nothing.
    Stays,
    /// Time alone brings the node an available pod, or an action.
    Waits,
    /// It ends, and is overdue from this instant on.
    Ends(Timestamp),
}

impl PodTimes {
    /// Adds a pod.
    pub fn add(&mut self, updated: bool, state: PodState) {
        match state {
            PodState::Available { .. } => self.has_available = true,
            PodState::Ready { available_at } => {
                self.has_live = true;
                self.has_young |= available_at.is_some();
            }
            PodState::NotReady { since } | PodState::Pending { since } => {
                self.has_live = true;
                if updated {
                    self.not_ready = Some(match self.not_ready {
                        None => since,
                        // The patience is over when it is over for each pod.
                        Some(others) => others.zip(since).map(|(one, other)| one.max(other)),
                    });
                }
            }
            PodState::Terminating { overdue_at } => self.ends = self.ends.max(Some(overdue_at)),
            PodState::Failed | PodState::Succeeded => {}
        }
    }

    fn not_ready_since(self) -> Option<Timestamp> {
        self.not_ready.flatten()
    }

    /// The same for a node that the rollout holds.
    pub fn held(self) -> HeldPod {
        match self.ends {
            _ if self.has_available => HeldPod::Stays,
            _ if self.has_young => HeldPod::Waits,
            Some(overdue_at) if !self.has_live => overdue_at.map_or(HeldPod::Waits, HeldPod::Ends),
            _ => HeldPod::Stays,
        }
    }
}

impl<'p> FromIterator<&'p PodVerdict> for PodTimes {
    fn from_iter<I: IntoIterator<Item = &'p PodVerdict>>(pods: I) -> Self {
        let mut times = PodTimes::default();
        pods.into_iter().for_each(|pod| times.add(pod.updated, pod.state));
        times
    }
}

/// The obstacles of a rollout by kind. An [`Outlook`](crate::outlook::Outlook) names their nodes, and needs the verdicts of all
/// nodes for that; this is for any plan, also one from changes, at the cost of the nodes in its report.
///
/// Time alone may bring an obstacle: so the instant is asked for last, and a caller may ask again without another plan.
///
/// ```
/// use daemonset::outlook::{ObstacleKind, Obstacles};
/// use daemonset::{Recording, plan};
/// use jiff::SignedDuration;
///
/// let mut recording = Recording::from_json(&std::fs::read("examples/recording.json")?)?;
/// recording.daemon_set.spec.update_strategy.kind = "OnDelete".into();
/// let obstacles = Obstacles::new(&plan(&recording.snapshot()?));
/// assert_eq!(obstacles.at(recording.now, SignedDuration::from_mins(10)), [ObstacleKind::WaitsForDelete]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Obstacles {
    /// A node acts: nothing else matters then, and nothing else is kept.
    acts: bool,
    /// A node waits for time.
    waits: bool,
    /// A pod ends, and gives its place to a node that the limit holds.
    ends: bool,
    /// A limit, or a wave that is not open, holds a node.
    holds: bool,
    /// A wave bakes: time alone opens the next one, or brings it to a person who approves it.
    bakes: bool,
    kinds: BTreeSet<ObstacleKind>,
    /// The instant of the last node for each kind, which [`Movement::BlockedFrom`] tells.
    from: BTreeMap<ObstacleKind, Timestamp>,
}

impl Obstacles {
    /// The obstacles of the nodes of this plan, and of those that its report leaves out.
    pub fn new(plan: &Plan) -> Self {
        let report = &plan.report;
        let mut obstacles = report.others.clone();
        obstacles.bakes = bakes(plan);
        match report.situation {
            Situation::SelectingAll => obstacles.add(Movement::Blocked(ObstacleKind::SelectingAll)),
            Situation::BeingDeleted => obstacles.add(Movement::Blocked(ObstacleKind::BeingDeleted)),
            Situation::NameCollision => obstacles.add(Movement::Acting),
            Situation::Synced => {}
        }
        for node in &report.nodes {
            obstacles.add(Movement::of(node));
        }
        obstacles
    }

    /// The obstacles at an instant, in the order of [`ObstacleKind`]; empty while the rollout moves, and when it is complete. A pod
    /// that has not become Ready for `patience` is an obstacle.
    pub fn at(&self, now: Timestamp, patience: SignedDuration) -> Vec<ObstacleKind> {
        let is_past =
            |(kind, since): &(&ObstacleKind, &Timestamp)| is_blocked(**kind, **since, now, patience);
        let past = self.from.iter().filter(is_past).map(|(kind, _)| *kind);
        let kinds: BTreeSet<ObstacleKind> = self.kinds.iter().copied().chain(past.clone()).collect();
        // A wave that bakes opens the next one by time alone, for the nodes that it holds; a pod that ends gives one of them its place.
        let gives_way = self.holds && (self.bakes || self.ends);
        let waits = self.waits || past.count() < self.from.len() || gives_way;
        if self.acts || (waits && !stops_the_others(kinds.iter())) {
            return Vec::new();
        }
        if kinds.is_empty() && self.holds { vec![ObstacleKind::NoRoom] } else { kinds.into_iter().collect() }
    }

    /// Adds a node.
    #[doc(hidden)]
    pub fn add(&mut self, movement: Movement) {
        match movement {
            Movement::Acting => *self = Obstacles { acts: true, bakes: self.bakes, ..Obstacles::default() },
            _ if self.acts => {}
            Movement::Settled => {}
            Movement::Ends => self.ends = true,
            Movement::Waiting => self.waits = true,
            Movement::Held => self.holds = true,
            Movement::Blocked(kind) => _ = self.kinds.insert(kind),
            Movement::BlockedFrom(kind, since) => {
                let last = self.from.entry(kind).or_insert(since);
                *last = since.max(*last);
            }
        }
    }
}
