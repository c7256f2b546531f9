//! The clusters whose events are explored in every order.

use super::explore;
use super::real::GATE;
use super::state::Left;
use super::world::Boundary;
use serde_json::{Value, json};

/// No disturbance at all.
pub const NOTHING: Left = Left {
    edits: 1,
    policies: 0,
    cordons: 0,
    crashes: 0,
    lost: 0,
    refused: 0,
    late_answers: 0,
    late_pulls: 0,
    outages: 0,
    deletions: 0,
};

pub fn boundary(nodes: u8, policy: Value, left: Left) -> Boundary {
    let policy = serde_json::from_value(policy).unwrap();
    Boundary {
        nodes,
        daemon_sets: 1,
        processes: 1,
        remembers: true,
        limit: 1,
        policy,
        is_edited: false,
        is_broken: false,
        left,
    }
}

/// A turn with a cordon and one gate.
pub fn turn() -> Value {
    json!({"turn": {"cordon": true, "gates": [GATE]}})
}

/// The template is edited twice: there and back.
pub fn two_edits(nodes: u8, policy: Value, left: Left) -> Boundary {
    boundary(nodes, policy, Left { edits: 2, ..left })
}

/// The template has been edited once.
pub fn edited(nodes: u8, policy: Value, left: Left) -> Boundary {
    Boundary { is_edited: true, ..boundary(nodes, policy, Left { edits: 0, ..left }) }
}

/// Two DaemonSets on one node.
pub fn two_on_one_node(left: Left) -> Boundary {
    Boundary { daemon_sets: 2, ..edited(1, turn(), left) }
}

/// Two processes that know nothing of each other, nor of their own actions.
pub fn two_processes(nodes: u8) -> Boundary {
    let left = Left { crashes: 1, lost: 1, ..NOTHING };
    Boundary { processes: 2, remembers: false, ..two_edits(nodes, json!({"podNames": "OnePerNode"}), left) }
}

pub fn pulls() -> Value {
    json!({"pull": {"parallel": 1}})
}

pub fn in_place() -> Value {
    json!({"inPlace": "IfPossible"})
}

#[test]
fn the_promises_of_turns_hold_while_a_person_cordons() {
    let things = [
        ("a turn begins", 100),
        ("a turn ends", 100),
        ("a turn loses its cordon", 100),
        ("a person uncordons a node in turn", 100),
        ("a node has changed before its patch", 100),
    ];
    explore("turns, a person", edited(2, turn(), Left { cordons: 2, ..NOTHING }), 2_000, &things);
}

#[test]
fn the_promises_of_turns_hold_whatever_is_lost() {
    let lost = [("the answer to a patch of a node is lost", 50), ("an action in flight expires", 10)];
    explore("turns, lost answers", edited(2, turn(), Left { cordons: 1, lost: 1, ..NOTHING }), 1_500, &lost);
    let refused = [("a process crashes", 50), ("a patch of a node is refused", 20)];
    explore("turns, refused", boundary(2, turn(), Left { refused: 1, crashes: 1, ..NOTHING }), 500, &refused);
}

#[test]
fn the_promises_of_turns_hold_for_each_edit() {
    let late = [("a gate gets a late answer", 50), ("a revision is renumbered", 50)];
    explore("turns, 2 edits", two_edits(2, turn(), Left { late_answers: 1, ..NOTHING }), 1_000, &late);
    let policies = Left { policies: 2, cordons: 1, ..NOTHING };
    explore("turns, other policies", boundary(1, turn(), policies), 3_000, &[("a turn ends", 200)]);
}

#[test]
fn the_promises_of_turns_hold_while_nodes_go_away() {
    let things = [("a node in turn goes away", 50)];
    explore("turns, outages", edited(2, turn(), Left { outages: 1, ..NOTHING }), 4_000, &things);
}

#[test]
fn the_promises_of_turns_hold_for_pods_that_do_not_work() {
    let broken =
        Boundary { is_broken: true, ..edited(3, turn(), Left { crashes: 1, cordons: 1, ..NOTHING }) };
    explore("turns, a broken fleet", broken, 1_000, &[("a turn begins", 50)]);
    let left = Left { deletions: 1, ..NOTHING };
    explore("turns, a pod is deleted", edited(2, turn(), left), 500, &[("a turn ends", 50)]);
}

#[test]
fn two_daemon_sets_in_turn_share_one_cordon() {
    let things = [("a cordon is handed over", 200), ("a node has changed before its patch", 100)];
    explore("two DaemonSets", two_on_one_node(NOTHING), 2_000, &things);
}

#[test]
fn a_node_never_has_two_pods_of_one_name() {
    explore("one per node", two_processes(1), 2_500, &[("the name of a pod is taken", 200)]);
}

#[test]
fn pods_that_are_changed_in_place_hold_the_budget() {
    let crash = Left { crashes: 1, ..NOTHING };
    explore("in place, a crash", two_edits(2, in_place(), crash), 700, &[("a pod is changed in place", 50)]);
    let refused = Left { refused: 1, ..NOTHING };
    let things = [("a change in place is refused", 10), ("a pod is deleted", 50)];
    explore("in place, refused", two_edits(2, in_place(), refused), 1_000, &things);
    let lost = Left { lost: 1, ..NOTHING };
    explore(
        "in place, lost answers",
        two_edits(2, in_place(), lost),
        800,
        &[("an action in flight expires", 10)],
    );
}

#[test]
fn pods_wait_for_their_images() {
    let things = [("a pull pod is created", 40), ("a pull pod is deleted", 500)];
    let crash = Left { crashes: 1, late_pulls: 1, ..NOTHING };
    explore("pulls, a crash", edited(2, pulls(), crash), 3_000, &things);
    let refused = Left { refused: 1, ..NOTHING };
    explore("pulls, refused", edited(2, pulls(), refused), 1_000, &[("a pull pod is refused", 2)]);
    let lost = Left { lost: 1, ..NOTHING };
    explore("pulls, lost answers", edited(2, pulls(), lost), 2_000, &[("an action in flight expires", 10)]);
}

/// Larger state spaces: `just model-larger`.
#[test]
#[ignore = "takes minutes"]
fn the_promises_of_turns_hold_in_larger_models() {
    let all = Left { cordons: 2, crashes: 1, lost: 1, ..NOTHING };
    explore("turns, a person and losses", edited(2, turn(), all), 0, &[]);
    explore(
        "turns, 3 edits",
        boundary(2, turn(), Left { edits: 3, crashes: 1, late_answers: 1, ..NOTHING }),
        0,
        &[],
    );
    explore(
        "turns, 3 nodes",
        Boundary { limit: 2, ..edited(3, turn(), Left { crashes: 1, ..NOTHING }) },
        0,
        &[],
    );
    explore(
        "turns, outages and a crash",
        edited(2, turn(), Left { outages: 1, crashes: 1, ..NOTHING }),
        0,
        &[],
    );
    explore("two DaemonSets, a person", two_on_one_node(Left { cordons: 2, ..NOTHING }), 0, &[]);
    explore("two DaemonSets, losses", two_on_one_node(Left { crashes: 1, lost: 1, ..NOTHING }), 0, &[]);
    explore("one per node, 2 nodes", two_processes(2), 0, &[]);
    let all = Left { crashes: 1, lost: 1, refused: 1, ..NOTHING };
    explore("in place, all losses", two_edits(2, in_place(), all), 0, &[]);
    explore("pulls, 2 edits", two_edits(2, pulls(), Left { crashes: 1, ..NOTHING }), 0, &[]);
    let pulled = json!({"pull": {"parallel": 1}, "turn": {"cordon": true, "gates": [GATE]}});
    explore("pulls and turns", edited(2, pulled, NOTHING), 0, &[]);
    let changed = json!({"inPlace": "IfPossible", "turn": {"cordon": true, "gates": [GATE]}});
    explore("turns in place", two_edits(2, changed, Left { crashes: 1, ..NOTHING }), 0, &[]);
}
