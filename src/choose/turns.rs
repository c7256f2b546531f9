//! The places of nodes in turn, and how many more turns may begin.
//!
//! A node in turn has its place in the budget already: nobody asks for room again. The order of turns decides who keeps it where the
//! budget has shrunk: M may have been lowered, other nodes may have gone down since, and a pod that was not Ready when its turn began may
//! work again. Nodes that have lost their pod come first, since they hold their places whatever follows; then it goes by the beginning of
//! the turn and the name of the node.

use crate::choose::limits::Budget;
use crate::node::figures::{Figure, Sums};

/// How many more turns may begin: M of each kind, less the nodes in turn. Dead nodes must not use up the room of the others: the excused
/// have their own, and a dead one takes none.
#[derive(Debug, Clone, Copy)]
pub struct TurnRooms {
    pub counted: u32,
    pub excused: u32,
}

/// Nodes in turn, at the end of their order.
#[derive(Debug)]
pub struct InTurn<N> {
    pub nodes: Vec<N>,
    /// How many of them count in [`Figure::TurnPlace`].
    pub places: u32,
    /// How many of them count in [`Figure::Waits`].
    pub waiting: u32,
}

impl TurnRooms {
    /// Nodes that can't go on take no place: so many of those in turn.
    pub(crate) fn new(budget: &Budget, sums: &Sums, without_room: u32) -> Self {
        let limit = planted::limit(budget.max_unavailable);
        TurnRooms {
            counted: limit.saturating_sub(sums.get(Figure::TurnPlace) - without_room),
            excused: limit.saturating_sub(sums.get(Figure::ExcusedTurnPlace)),
        }
    }

    /// The room for nodes of a kind.
    pub fn of(&mut self, is_excused: bool) -> &mut u32 {
        if is_excused { &mut self.excused } else { &mut self.counted }
    }
}

/// From this place on in the order of turns the budget has no room.
pub(crate) fn first_place_without_room(budget: &Budget, sums: &Sums) -> u32 {
    // Each node in turn that is not excused counts as unavailable or lost.
    let down = sums.get(Figure::Unavailable) + sums.get(Figure::DownAfterUpdate);
    let others = down.saturating_sub(sums.get(Figure::InTurn));
    budget.max_unavailable.saturating_sub(others)
}

/// The deliberate errors in this file.
mod planted {
    crate::planted::planted! {
        limit(right: u32): TurnLimitOffByOne => right + 1;
    }
}
