//! The turns of DaemonSets that are gone, for which nobody plans any more.

use crate::support::{TURN_KEY, given, lines, node, request, rolling};
use daemonset::turns::abandoned_turns;
use serde_json::json;

const GONE: &str = "turn.daemonset/gone.00000000";

fn ends(nodes: &[crate::support::NodeStory]) -> Vec<daemonset::Action> {
    let fleet = nodes.iter().cloned().fold(given(rolling(1)), |given, node| given.node(node));
    let recording = fleet.recording();
    abandoned_turns(&recording.nodes, std::slice::from_ref(&recording.daemon_set))
}

fn cordoned(seconds: i64) -> String {
    format!("{} cordoned", request(seconds))
}

#[test]
fn only_the_turns_of_daemon_sets_that_are_gone_end() {
    let gone = node("b").cordoned().annotation(GONE, &cordoned(60));
    let ends = ends(&[gone, node("a").in_turn(60), node("c")]);
    assert_eq!(lines(&ends), ["patch b, uncordoned: TurnEnds"]);
}

#[test]
fn a_cordon_is_handed_over_to_a_daemon_set_that_is_there() {
    let gone = node("a").cordoned().annotation(GONE, &cordoned(60)).in_turn(30);
    let ends = ends(&[gone]);
    assert_eq!(lines(&ends), ["patch a: TurnEnds"]);
    assert_eq!(json!(ends[0])["annotations"][format!("turn.daemonset/{TURN_KEY}")], json!(cordoned(30)));
}

#[test]
fn all_leftovers_of_a_node_end_in_one_patch_with_their_gates() {
    let story = node("a")
        .cordoned()
        .annotation(GONE, &cordoned(60))
        .annotation("turn.daemonset/lost.00000001", &request(9));
    let story = story.annotation("backup.gate.daemonset/gone.00000000", &request(60));
    let story = story.annotation(&format!("backup.gate.daemonset/{TURN_KEY}"), &request(60));
    let ends = ends(&[story]);
    assert_eq!(lines(&ends), ["patch a, uncordoned: TurnEnds"]);
    let expected = json!({
        GONE: null, "turn.daemonset/lost.00000001": null, "backup.gate.daemonset/gone.00000000": null,
    });
    assert_eq!(json!(ends[0])["annotations"], expected);
}
