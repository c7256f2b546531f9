//! The update rule: which nodes the strategy takes now, by sums over all nodes and by candidates in order. No pod exists here.
//!
//! There is one function for each strategy. A decision on all objects sorts its candidates, the crate daemonset-incremental
//! keeps them in order: both make the same choice.

pub(crate) mod limits;
pub(crate) mod unsorted;
#[allow(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs, reason = "internal")]
pub(crate) mod waits;

use crate::input::UnreadyPolicy;
use crate::input::strategy::Strategy;
use crate::node::figures::{Figure, Sums};
use crate::node::fleet::Readiness;
use limits::Budget;

/// The nodes with a pod that the update may take, in the order of their urgency.
pub trait Candidates {
    type Node;

    /// How many there are in a group: the group of a node is the readiness of its outdated pod.
    fn len(&self, group: Readiness) -> u32;

    /// The first `count` of a group.
    fn first(&mut self, group: Readiness, count: u32) -> First<Self::Node>;

    /// The first `count` of the nodes that [leave last](Figure::LeavesLast), in the order of their going.
    fn leaving(&mut self, count: u32) -> Vec<Self::Node>;
}

/// The first candidates of a group.
#[derive(Debug)]
pub struct First<N> {
    /// These candidates. A plan from changes leaves out nodes beyond its cap, which get no action and no verdict.
    pub nodes: Vec<N>,
    /// How many of them need room, with the nodes that are left out: a node in turn has its room already.
    pub count: u32,
    /// How many of them count in [`Figure::Waits`], with the nodes that are left out.
    pub waiting: u32,
}

/// The nodes that the strategy takes now.
#[derive(Debug)]
pub struct Choice<N> {
    /// Nodes whose outdated pod goes, the most urgent first.
    pub deletes: Vec<(Readiness, N)>,
    /// Nodes that get an updated pod beside the outdated one.
    pub creates: Vec<N>,
    /// Nodes that lose an available pod by a withdrawn toleration.
    pub leaving: Vec<N>,
    /// How many candidates of each group are chosen, in the order of [`Readiness::ALL`].
    pub counts: [u32; Readiness::ALL.len()],
    /// How many nodes count in [`Figure::Waits`] and wait for no limit: they are chosen, or wait for something else.
    pub waiting: u32,
    /// Under surge: a candidate waits until another node stops having two pods.
    pub lacks_places: bool,
}

/// Chooses for a strategy.
pub fn choose<C: Candidates>(
    candidates: &mut C,
    strategy: Strategy,
    unready: UnreadyPolicy,
    sums: &Sums,
) -> Choice<C::Node> {
    let budget = Budget::new(sums, strategy);
    let mut choice = match strategy {
        Strategy::OnDelete => Choice::none(),
        Strategy::Replace(_) => replace(candidates, unready, &budget),
        Strategy::Surge { .. } => surge(candidates, &budget),
    };
    // Under each strategy alike: without surge, and under OnDelete, no node leaves last, and the sum is 0.
    choice.leaving = candidates.leaving(may_leave(sums));
    choice
}

/// Delete, then create: outdated pods go within maxUnavailable.
///
/// Every deletion is decided against the same sums: the limit holds even when all of them happen at once and no new pod
/// becomes available. So a group has room of its own, which no other group's deletes use up, except where two groups count
/// in the same figure.
///
/// v1.36 `update.go rollingUpdate`, without surge.
fn replace<C: Candidates>(candidates: &mut C, unready: UnreadyPolicy, budget: &Budget) -> Choice<C::Node> {
    let mut choice = Choice::none();
    let room = match unready {
        UnreadyPolicy::AtOnce => u32::MAX,
        UnreadyPolicy::WithinBudget => budget.room_for_unready(),
    };
    // Pods of both groups count as being replaced once they are gone: they share the room. Pending ones serve nobody, and
    // go first.
    let pending = choice.delete(candidates.first(Readiness::Pending, room), Readiness::Pending);
    choice.delete(candidates.first(Readiness::NotReady, room - pending), Readiness::NotReady);
    // Nodes of the groups above count as not Ready already: their deletes use up nothing here.
    let room = budget.room_for_not_yet_available();
    choice.delete(candidates.first(Readiness::NotYetAvailable, room), Readiness::NotYetAvailable);
    // A room of its own, once more: see `Budget::room_for_available`.
    let room = budget.room_for_available();
    choice.delete(candidates.first(Readiness::Available, room), Readiness::Available);
    choice
}

/// Create, then delete: updated pods come up beside Ready outdated ones within maxSurge. Outdated pods that are not Ready go at
/// once `[surge-replaces-unready]`. [Node sync](crate::node::sync) deletes the outdated pod of a pair.
///
/// Create-first proposal (`SurgingRollingUpdate`); v1.36 `update.go rollingUpdate`, with surge.
fn surge<C: Candidates>(candidates: &mut C, budget: &Budget) -> Choice<C::Node> {
    let mut choice = Choice::none();
    for group in [Readiness::Pending, Readiness::NotReady] {
        choice.delete(candidates.first(group, u32::MAX), group);
    }
    // Each create takes a place of the same limit. A pod that is not yet available protects less: it gets the first places.
    let mut room = budget.room_for_surge();
    for group in [Readiness::NotYetAvailable, Readiness::Available] {
        // Before the room shrinks: a candidate beyond it waits for a place, and the plan asks when one is free.
        choice.lacks_places |= candidates.len(group) > room;
        room -= choice.create(candidates.first(group, room), group);
    }
    choice
}

/// How many of the nodes that [leave last](Figure::LeavesLast) go in this plan: W − U, of the W nodes that would lose an
/// available pod `[surge-leaves-last]`.
///
/// The users of a daemon under surge expect all of it to be there. A template whose tolerations move from one zone to another
/// must not leave nobody serving: while U target nodes have no available pod, U of the leaving nodes keep theirs.
///
/// v1.36 `update.go rollingUpdate`, "shouldNotRunPods"; `TestDaemonSetRollingUpdateWithTolerations`.
fn may_leave(sums: &Sums) -> u32 {
    sums.get(Figure::LeavesLast).saturating_sub(sums.get(Figure::Unavailable))
}

impl<N> Choice<N> {
    pub fn none() -> Self {
        let counts = [0; Readiness::ALL.len()];
        let (deletes, creates, leaving) = (Vec::new(), Vec::new(), Vec::new());
        Choice { deletes, creates, leaving, counts, waiting: 0, lacks_places: false }
    }

    /// Takes the outdated pods of these candidates. Returns how many they are.
    fn delete(&mut self, first: First<N>, group: Readiness) -> u32 {
        let count = self.count(&first, group);
        self.deletes.extend(first.nodes.into_iter().map(|node| (group, node)));
        count
    }

    /// Puts updated pods beside those of these candidates. Returns how many they are.
    fn create(&mut self, first: First<N>, group: Readiness) -> u32 {
        let count = self.count(&first, group);
        self.creates.extend(first.nodes);
        count
    }

    fn count(&mut self, first: &First<N>, group: Readiness) -> u32 {
        self.waiting += first.waiting;
        if let Some(count) = self.counts.get_mut(group as usize) {
            *count += first.count;
        }
        first.count
    }

    /// How many candidates of a group are chosen.
    pub fn chosen(&self, group: Readiness) -> u32 {
        self.counts.get(group as usize).copied().unwrap_or_default()
    }
}
