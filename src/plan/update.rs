//! The update strategy: which outdated pods go now, and where updated ones come up beside them.

use crate::action::DeleteReason;
use crate::choose::Choice;
use crate::node::budget::place_free_at;
use crate::node::evaluation::Evaluations;
use crate::node::fleet::{Fleet, Readiness};
use crate::node::sync::{Deletion, Means, NodeSync};
use crate::plan::rest_of_cluster::RestOfCluster;
use crate::pods::history::History;
use crate::position::{FleetIx, NodeIx};
use crate::rules::{change, turn};
use jiff::Timestamp;

/// The creates and deletes of the update strategy.
#[derive(Debug)]
#[doc(alias = "rollingUpdate")]
pub struct Update {
    /// The choice that it carries out.
    pub choice: Choice<NodeIx>,
    /// Available pods that go by a withdrawn toleration, of the nodes that the choice lets leave.
    pub leaving: Vec<Deletion>,
    /// The most urgent first; under surge by node name. Pods that are changed in their place are among them, and nodes whose turn
    /// begins.
    pub deletes: Vec<Deletion>,
    /// Updated pods that node sync deletes as excess and that must survive, because the update deletes the outdated pod
    /// beside them; sorted. Without this, switching from surge to rolling update would delete both pods of a node.
    pub spared: Vec<FleetIx>,
    /// When a terminating pod that holds a place in maxSurge is overdue, while others wait for that place.
    pub place_free_at: Option<Timestamp>,
}

impl Update {
    /// Carries out a choice on the pods that node sync leaves.
    pub fn new(
        (fleet, history): (&Fleet<'_>, &History<'_>),
        (node_sync, evaluations): (&NodeSync, &Evaluations),
        choice: Choice<NodeIx>,
        rest: &RestOfCluster<'_>,
    ) -> Self {
        let begins_turns = turn::rules(&fleet.snapshot.spec).is_some();
        let delete = |(group, node): &(Readiness, NodeIx)| {
            // The choice knows nodes only.
            let index = evaluations.nodes.at(*node).candidate?;
            let means = if planted::needs_turn(begins_turns && fleet.turn(*node).is_none()) {
                Means::Turn
            } else if change::is_possible(fleet, history, *node, fleet.pod(index)) {
                Means::InPlace
            } else {
                Means::Delete
            };
            Some(Deletion::new(index, group.reason_of_update()).by(means))
        };
        let mut deletes: Vec<Deletion> = choice.deletes.iter().filter_map(delete).collect();
        // The choice is in two groups, pending pods first. Under surge both need no room, and have one order.
        if fleet.is_surge() {
            deletes.sort_unstable_by_key(|deletion| fleet.target_name(fleet.pod(deletion.pod)));
        }
        // A pod whose turn begins stays in this plan, and one that is changed in its place is the only live one: for these nothing is spared.
        let gone = deletes.iter().filter(|deletion| deletion.deletes());
        let mut spared: Vec<FleetIx> =
            gone.filter_map(|deletion| node_sync.given_up_for(deletion.pod)).collect();
        spared.sort_unstable();
        // To ask walks over all target nodes: only a candidate that waits for a place makes that worth while.
        let place_free_at = if choice.lacks_places {
            place_free_at(fleet, node_sync).into_iter().chain(rest.place_free_at).min()
        } else {
            None
        };
        let leaving = choice.leaving.iter().flat_map(|node| node_sync.leaving(fleet, *node));
        let leaving = leaving.map(|(pod, _)| Deletion::new(pod, DeleteReason::TolerationWithdrawn)).collect();
        Update { choice, leaving, deletes, spared, place_free_at }
    }

    /// Node sync's deletes without the spared pods, and with the pods that leave last.
    pub fn node_sync_deletes<'u>(&'u self, node_sync: &'u NodeSync) -> impl Iterator<Item = &'u Deletion> {
        let is_not_spared = |deletion: &&Deletion| self.spared.binary_search(&deletion.pod).is_err();
        node_sync.deletes.iter().filter(is_not_spared).chain(&self.leaving)
    }

    /// All deletes: node sync's, then the update's own.
    pub fn all_deletes<'u>(&'u self, node_sync: &'u NodeSync) -> impl Iterator<Item = &'u Deletion> {
        self.node_sync_deletes(node_sync).chain(&self.deletes)
    }
}

/// The deliberate errors in this file.
mod planted {
    crate::planted::planted! {
        needs_turn(right: bool): TurnSkipped => false;
    }
}
