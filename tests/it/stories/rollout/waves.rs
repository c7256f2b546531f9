//! Waves: which nodes they have, and when they open.

use super::{creates, deletes, mark, marks, requeue, revisions, steered};
use crate::support::{Given, at, new, node, old, revision};
use daemonset::report::Warning;
use serde_json::{Value, json};

/// Nodes a to d in zones 1, 1, 2, 2, with old pods.
fn zones(rollout: Value) -> Given {
    ["a", "b", "c", "d"]
        .iter()
        .zip(["1", "1", "2", "2"])
        .fold(steered(rollout), |fleet, (name, zone)| fleet.node(node(name).label("zone", zone).has(old())))
}

#[test]
fn without_waves_all_nodes_are_released() {
    assert_eq!(deletes(&zones(json!({})).plan()), ["a", "b", "c", "d"]);
}

#[test]
fn the_first_wave_opens_at_once_and_alone() {
    let plan = zones(json!({"waves": [{"upTo": 1}, {}]})).plan();
    assert_eq!((deletes(&plan), marks(&plan)), (vec!["a".to_owned()], vec!["wave=0".to_owned()]));
}

#[test]
fn a_wave_has_the_nodes_that_match_its_selector() {
    let plan = zones(json!({"waves": [{"nodes": {"matchLabels": {"zone": "2"}}}, {}]})).plan();
    assert_eq!(deletes(&plan), ["c", "d"]);
    assert_eq!(
        deletes(&zones(json!({"waves": [{"nodes": {}}]})).plan()).len(),
        4,
        "an empty selector is for all"
    );
}

#[test]
fn a_percentage_of_the_matching_nodes_rounds_up() {
    let of_zone_2 = json!({"nodes": {"matchLabels": {"zone": "2"}}, "upTo": "1%"});
    assert_eq!(deletes(&zones(json!({"waves": [of_zone_2]})).plan()), ["c"]);
    assert_eq!(deletes(&zones(json!({"waves": [{"upTo": "51%"}]})).plan()), ["a", "b", "c"]);
    assert_eq!(deletes(&zones(json!({"waves": [{"upTo": "250%"}]})).plan()).len(), 4);
}

#[test]
fn waves_without_a_node_are_named() {
    let warnings = |waves: Value| json!(zones(json!({"waves": waves})).plan().warnings);
    let nowhere = json!({"nodes": {"matchLabels": {"zone": "9"}}});
    assert_eq!(warnings(json!([nowhere, {}])), json!([{"type": "EmptyWaves", "waves": [0]}]));
    assert_eq!(warnings(json!([{"upTo": 1}, {}])), json!([]));
    let two = zones(json!({"waves": [{"upTo": 0}, {"upTo": 1}, nowhere, {}]})).plan().warnings;
    assert_eq!(
        two[0].to_string(),
        "waves 0, 2 have no node, and can show no failure before the next wave opens"
    );
    let no_nodes = steered(json!({"waves": [{"upTo": 1}, {}]})).plan().warnings;
    assert_eq!(no_nodes, [Warning::NoTargetNodes]);
}

/// No earlier version exists that a wave could hold a node on.
#[test]
fn the_waves_of_a_first_install_hold_no_node_and_a_warning_says_so() {
    let first = steered(json!({"waves": [{"upTo": 1, "bakeSeconds": 600}, {}]})).revisions([]);
    let plan = first.node(node("a")).node(node("b")).node(node("c")).plan();
    assert_eq!(creates(&plan).len(), 3);
    assert_eq!(json!(plan.warnings), json!([{"type": "NoBase", "nodes": 2}]));
    assert_eq!(
        plan.warnings[0].to_string(),
        "2 nodes wait for the rollout, but there is no old revision: a missing pod there gets the new version at once"
    );
}

/// Nodes a and b; c has had the new version for so many seconds.
fn canary(rollout: Value, ready_for: i64) -> Given {
    let fleet = steered(rollout).nodes(["a", "b"], old());
    fleet.node(node("c").has(new().created_ago(900).ready_for(ready_for)))
}

#[test]
fn a_node_that_has_the_new_version_is_the_canary() {
    let plan = canary(json!({"waves": [{"upTo": 1, "bakeSeconds": 3600}, {}]}), 60).plan();
    assert_eq!(deletes(&plan), Vec::<String>::new(), "c is the canary, though a comes first by name");
}

#[test]
fn a_wave_opens_when_the_one_before_has_baked() {
    let waves = json!({"waves": [{"upTo": 1, "bakeSeconds": 600}, {"upTo": 2, "bakeSeconds": 600}, {}]});
    let baking = canary(waves.clone(), 599).plan();
    assert_eq!((deletes(&baking), marks(&baking)), (vec![], vec!["wave=0".to_owned()]));
    assert_eq!(requeue(&baking), Some((1, "WaveDone".to_owned())));
    let baked = canary(waves, 600).plan();
    assert_eq!((deletes(&baked), marks(&baked)), (vec!["a".to_owned()], vec!["wave=1".to_owned()]));
    assert_eq!(requeue(&baked), None);
}

#[test]
fn the_end_of_a_bake_is_looked_at_even_if_no_wave_opens_then() {
    let before_approval = json!({"waves": [{"upTo": 1, "bakeSeconds": 600}, {"needsApproval": true}]});
    assert_eq!(requeue(&canary(before_approval.clone(), 599).plan()), Some((1, "WaveDone".to_owned())));
    assert_eq!(requeue(&canary(before_approval, 600).plan()), None);
    let last = json!({"waves": [{"upTo": 1, "bakeSeconds": 600}]});
    assert_eq!(requeue(&canary(last, 599).plan()), Some((1, "WaveDone".to_owned())));
}

#[test]
fn pods_bake_for_min_ready_seconds_at_least() {
    let waves = json!({"waves": [{"upTo": 1, "bakeSeconds": 5}, {}]});
    assert_eq!(deletes(&canary(waves.clone(), 29).min_ready(30).plan()), Vec::<String>::new());
    assert_eq!(deletes(&canary(waves, 30).min_ready(30).plan()), ["a", "b"]);
}

/// The canary c has gone down since; the others wait for the second wave.
#[test]
fn all_waves_before_must_be_done_not_only_the_last() {
    let waves = json!({"waves": [{"nodes": {"matchLabels": {"first": "1"}}}, {"upTo": 1}, {}]});
    let fleet = |first: bool| {
        let pod = if first { new() } else { new().not_ready() };
        let fleet = steered(waves.clone()).node(node("a").has(new())).node(node("b").has(old()));
        let fleet = fleet.node(node("c").label("first", "1").has(pod));
        revisions(fleet, revision("old", 1), &[("wave", &mark("1"))]).plan()
    };
    assert_eq!(deletes(&fleet(true)), ["b"]);
    assert_eq!(deletes(&fleet(false)), Vec::<String>::new());
}

#[test]
fn a_wave_that_was_open_stays_open() {
    let waves = json!({"waves": [{"upTo": 1, "bakeSeconds": 3600}, {"upTo": 2}, {}]});
    let plan = revisions(canary(waves, 1), revision("old", 1), &[("wave", &mark("1"))]).plan();
    assert_eq!((deletes(&plan), marks(&plan)), (vec!["a".to_owned()], vec![]));
}

#[test]
fn a_mark_beyond_the_last_wave_opens_all() {
    let plan = revisions(
        canary(json!({"waves": [{"upTo": 1}, {}]}), 1),
        revision("old", 1),
        &[("wave", &mark("7"))],
    );
    assert_eq!((deletes(&plan.plan()), marks(&plan.plan())), (vec!["a".to_owned(), "b".to_owned()], vec![]));
}

#[test]
fn a_wave_that_needs_approval_waits_for_it() {
    let rollout = |approved: Value| {
        let waves = json!([{"upTo": 1}, {"needsApproval": true}]);
        deletes(&canary(json!({"waves": waves, "approved": approved}), 60).plan())
    };
    assert_eq!(rollout(json!({})), Vec::<String>::new());
    assert_eq!(rollout(json!({"2": 1})), Vec::<String>::new(), "one wave is approved, this is the second");
    assert_eq!(rollout(json!({"1": 9})), Vec::<String>::new(), "another revision is approved");
    assert_eq!(rollout(json!({"2": 2})), ["a", "b"]);
    let first = zones(json!({"waves": [{"needsApproval": true}]})).plan();
    assert_eq!((deletes(&first), marks(&first)), (vec![], vec![]), "the first wave may need it, too");
}

#[test]
fn a_node_that_is_down_and_lacks_the_version_holds_nobody_up() {
    let down = |pod| {
        let fleet = steered(json!({"waves": [{"nodes": {"matchLabels": {"first": "1"}}}, {}]}));
        let fleet = fleet.node(node("a").label("first", "1").ready("False", Some(at(-7200))).has(pod));
        deletes(&fleet.node(node("b").label("first", "1").has(new())).node(node("c").has(old())).plan())
    };
    assert_eq!(down(old().not_ready()), ["a", "c"], "a gets its pod when it can");
    assert_eq!(down(new().not_ready()), Vec::<String>::new(), "a may be down for the new version");
}

#[test]
fn failing_nodes_hold_nobody_up_while_so_many_may_fail() {
    let fleet = |max: Value, other: bool| {
        let on_failure = json!({"maxFailures": max, "maxRestarts": 0});
        let restarting = new().not_ready().with("/status/containerStatuses", json!([{"restartCount": 3}]));
        let waves = json!([{"nodes": {"matchLabels": {"first": "1"}}}, {}]);
        let fleet = steered(json!({"waves": waves, "onFailure": on_failure}));
        let fleet = fleet.node(node("a").label("first", "1").has(restarting)).node(node("c").has(old()));
        let fleet = if other { fleet.node(node("b").label("first", "1").has(new())) } else { fleet };
        deletes(&fleet.plan())
    };
    assert_eq!(fleet(json!(1), true), ["c"]);
    assert_eq!(fleet(json!("50%"), true), ["c"], "half of the wave");
    assert_eq!(fleet(json!("49%"), true), Vec::<String>::new(), "rounded down");
    assert_eq!(fleet(json!(1), false), Vec::<String>::new(), "all nodes of the wave fail");
}

#[test]
fn nodes_in_no_wave_are_held_for_good() {
    let fleet =
        steered(json!({"waves": [{"upTo": 1}]})).node(node("a").has(new())).node(node("b").has(old()));
    let plan = fleet.plan();
    assert_eq!((deletes(&plan), requeue(&plan)), (vec![], None));
}
