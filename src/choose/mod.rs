//! The update rule: which nodes the strategy takes now, by sums over all nodes and by candidates in order. No pod exists here.
//!
//! There is one function for each strategy. A decision on all objects sorts its candidates, the crate daemonset-incremental
//! keeps them in order: both make the same choice.

pub(crate) mod limits;
pub(crate) mod turns;
pub(crate) mod unsorted;

use crate::input::UnreadyPolicy;
use crate::input::strategy::Strategy;
use crate::node::figures::{Figure, Sums};
use crate::node::fleet::Readiness;
use limits::Budget;
use turns::{InTurn, TurnRooms, first_place_without_room};

/// The nodes with a pod that the update may take, in the order of their urgency. Those that wait for something else than a limit are not
/// among them.
pub trait Candidates {
    type Node;

    /// How many there are in a group: the group of a node is the readiness of its outdated pod.
    fn len(&self, group: Readiness) -> u32;

    /// The first `count` of a group. Where a policy asks for turns: all that are in turn, and the first `count` that may begin one.
    fn first(&mut self, group: Readiness, count: u32, turns: Option<&mut TurnRooms>) -> First<Self::Node>;

    /// The nodes in turn that are not excused and have a Ready candidate, from this place on in the order of turns. They are no
    /// candidates from now on.
    fn in_turn_from(&mut self, place: u32) -> InTurn<Self::Node>;

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
#[derive(Debug, Clone)]
pub struct Choice<N> {
    /// The figures that it was made by.
    pub budget: Budget,
    /// Nodes whose outdated pod goes, the most urgent first.
    pub deletes: Vec<(Readiness, N)>,
    /// Nodes that get an updated pod beside the outdated one.
    pub creates: Vec<N>,
    /// Nodes that lose an available pod by a withdrawn toleration.
    pub leaving: Vec<N>,
    /// Nodes in turn for whose Ready pods the budget has no room any more, sorted.
    pub without_room: Vec<N>,
    /// How many candidates of each group are chosen, in the order of [`Readiness::ALL`].
    pub counts: [u32; Readiness::ALL.len()],
    /// How many nodes count in [`Figure::Waits`] and wait for no limit: they are chosen, or in turn without room.
    pub waiting: u32,
    /// Under surge: a candidate waits until another node stops having two pods.
    pub lacks_places: bool,
}

/// Chooses for a strategy. `takes_turns` where the policy asks for turns.
pub fn choose<C: Candidates>(
    candidates: &mut C,
    strategy: Strategy,
    unready: UnreadyPolicy,
    takes_turns: bool,
    sums: &Sums,
) -> Choice<C::Node>
where
    C::Node: Ord,
{
    let mut choice = Choice::new(Budget::new(sums, strategy));
    let mut taken_back = 0;
    // Where a person deletes the pods, no turn goes on.
    if strategy != Strategy::OnDelete && sums.get(Figure::InTurn) > 0 {
        let from = first_place_without_room(&choice.budget, sums);
        let InTurn { nodes, places, waiting } = candidates.in_turn_from(from);
        taken_back = places;
        choice.budget.being_replaced -= nodes.len() as u32;
        choice.waiting += waiting;
        choice.without_room = nodes;
        choice.without_room.sort_unstable();
    }
    let mut turns = takes_turns.then(|| TurnRooms::new(&choice.budget, sums, taken_back));
    match strategy {
        Strategy::OnDelete => {}
        Strategy::Replace(_) => replace(candidates, unready, turns.as_mut(), &mut choice),
        Strategy::Surge { .. } => surge(candidates, &mut choice),
    }
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
fn replace<C: Candidates>(
    candidates: &mut C,
    unready: UnreadyPolicy,
    mut turns: Option<&mut TurnRooms>,
    choice: &mut Choice<C::Node>,
) {
    let budget = choice.budget;
    let mut delete = |group, room| {
        let first = candidates.first(group, room, turns.as_deref_mut());
        choice.delete(first, group)
    };
    let room = match unready {
        UnreadyPolicy::AtOnce => u32::MAX,
        UnreadyPolicy::WithinBudget => budget.room_for_unready(),
    };
    // Pods of both groups count as being replaced once they are gone: they share the room. Pending ones serve nobody, and
    // go first.
    let pending = delete(Readiness::Pending, room);
    delete(Readiness::NotReady, room - pending);
    // Nodes of the groups above count as not Ready already: their deletes use up nothing here.
    delete(Readiness::NotYetAvailable, budget.room_for_not_yet_available());
    // A room of its own, once more: see `Budget::room_for_available`.
    delete(Readiness::Available, budget.room_for_available());
}

/// Create, then delete: updated pods come up beside Ready outdated ones within maxSurge. Outdated pods that are not Ready go at
/// once `[surge-replaces-unready]`. [Node sync](crate::node::sync) deletes the outdated pod of a pair.
///
/// Create-first proposal (`SurgingRollingUpdate`); v1.36 `update.go rollingUpdate`, with surge.
fn surge<C: Candidates>(candidates: &mut C, choice: &mut Choice<C::Node>) {
    for group in [Readiness::Pending, Readiness::NotReady] {
        choice.delete(candidates.first(group, u32::MAX, None), group);
    }
    // Each create takes a place of the same limit. A pod that is not yet available protects less: it gets the first places.
    let mut room = choice.budget.room_for_surge();
    for group in [Readiness::NotYetAvailable, Readiness::Available] {
        // Before the room shrinks: a candidate beyond it waits for a place, and the plan asks when one is free.
        choice.lacks_places |= candidates.len(group) > room;
        room -= choice.create(candidates.first(group, room, None), group);
    }
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
    /// Nothing is chosen yet.
    pub fn new(budget: Budget) -> Self {
        Choice {
            budget,
            deletes: Vec::new(),
            creates: Vec::new(),
            leaving: Vec::new(),
            without_room: Vec::new(),
            counts: [0; Readiness::ALL.len()],
            waiting: 0,
            lacks_places: false,
        }
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
