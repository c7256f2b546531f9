//! A Ready pod stays while its successor would not fit on the node.

use super::{outcome, taken};
use crate::support::{Given, at, given, node, old, rolling};
use serde_json::{Value, json};

/// Node a with this much room and an old pod that requests 100 millicores; the new one requests `wanted`.
fn fleet(free: Value, wanted: Value) -> Given {
    let story =
        old().with("/spec/containers", json!([{"name": "c", "resources": {"requests": {"cpu": "100m"}}}]));
    let container = json!({"name": "c", "image": "new", "resources": wanted});
    let fleet = given(rolling(1)).node(node("a").has(story));
    let fleet = fleet.with("/daemonSet/spec/template/spec/containers", json!([container]));
    let mut fleet = fleet.policy(json!({"fit": "Hold"}));
    fleet.json["free"] = json!({"a": free});
    let mut current = fleet.json["revisions"][1].take();
    current["data"]["spec"]["template"]["spec"]["containers"] = json!([container]);
    fleet.json["revisions"][1] = current;
    fleet
}

fn does_not_fit(resource: &str) -> Value {
    json!({"type": "DoesNotFit", "resource": resource})
}

#[test]
fn a_pod_stays_while_its_successor_requests_more_than_the_node_would_have() {
    let fits = fleet(json!({"cpu": "100m"}), json!({"requests": {"cpu": "200m"}}));
    assert_eq!(taken(&fits), ["a-1"]);
    let too_large = fleet(json!({"cpu": "99m"}), json!({"requests": {"cpu": "200m"}}));
    assert_eq!(taken(&too_large), [""; 0]);
    assert_eq!(outcome(&too_large, "a"), does_not_fit("cpu"));
}

#[test]
fn the_first_resource_by_name_is_told() {
    let wanted = json!({"requests": {"memory": "2Gi", "cpu": "2"}});
    assert_eq!(outcome(&fleet(json!({"memory": "1Gi", "cpu": "1"}), wanted), "a"), does_not_fit("cpu"));
}

#[test]
fn a_resource_that_the_caller_does_not_name_is_there_if_each_node_has_it() {
    assert_eq!(taken(&fleet(json!({}), json!({"requests": {"cpu": "64", "memory": "1Ti"}}))), ["a-1"]);
    let device = fleet(json!({}), json!({"requests": {"example.com/gpu": "1"}}));
    assert_eq!(outcome(&device, "a"), does_not_fit("example.com/gpu"));
}

#[test]
fn a_limit_without_a_request_is_the_request() {
    assert_eq!(
        outcome(&fleet(json!({"cpu": "1"}), json!({"limits": {"cpu": "2"}})), "a"),
        does_not_fit("cpu")
    );
}

#[test]
fn each_pod_is_one_of_pods() {
    // Its own place is free once the old pod is gone.
    assert_eq!(taken(&fleet(json!({"pods": "0"}), json!({}))), ["a-1"]);
    assert_eq!(outcome(&fleet(json!({"pods": "-1"}), json!({})), "a"), does_not_fit("pods"));
}

#[test]
fn a_pod_fits_on_a_node_of_which_nothing_is_known() {
    let mut fleet = fleet(json!({}), json!({"requests": {"example.com/gpu": "1"}}));
    fleet.json["free"] = json!({});
    assert_eq!(taken(&fleet), ["a-1"]);
}

#[test]
fn a_pod_that_is_not_ready_goes_all_the_same() {
    let fleet = fleet(json!({"cpu": "0"}), json!({"requests": {"cpu": "200m"}}));
    let fleet = fleet.with("/pods/0/status/conditions/0/status", json!("False"));
    assert_eq!(taken(&fleet), ["a-1"]);
}

#[test]
fn without_the_policy_the_scheduler_finds_out() {
    let fleet = fleet(json!({"cpu": "0"}), json!({"requests": {"cpu": "200m"}})).policy(json!({}));
    assert_eq!(taken(&fleet), ["a-1"]);
}

#[test]
fn fit_is_asked_where_a_turn_begins_and_not_again() {
    let fleet = fleet(json!({"cpu": "0"}), json!({"requests": {"cpu": "200m"}}));
    let fleet = fleet.policy(json!({"fit": "Hold", "turn": {}}));
    assert_eq!(outcome(&fleet, "a"), does_not_fit("cpu"));
    let mut begun = fleet;
    begun.json["nodes"][0] = json!({
        "metadata": {"name": "a", "annotations": {format!("turn.daemonset/{}", crate::support::TURN_KEY): crate::support::request(9)}},
    });
    assert_eq!(taken(&begun), ["a-1"]);
}

#[test]
fn a_node_that_is_drained_first_has_room() {
    let fleet = fleet(json!({"cpu": "0"}), json!({"requests": {"cpu": "200m"}}));
    let fleet = fleet.policy(json!({"fit": "Hold", "turn": {"gates": ["drained"]}}));
    assert_eq!(fleet.steps(), ["patch a: TurnBegins"]);
}

#[test]
fn init_containers_count_by_their_largest_sum_with_the_sidecars_before_them() {
    let mut fleet = fleet(json!({"cpu": "1"}), json!({"requests": {"cpu": "100m"}}));
    let cpu = |cpu: &str| json!({"requests": {"cpu": cpu}});
    let init = json!([
        {"name": "sidecar", "image": "s", "restartPolicy": "Always", "resources": cpu("500m")},
        {"name": "init", "image": "i", "resources": cpu("601m")},
    ]);
    for pointer in [
        "/daemonSet/spec/template/spec/initContainers",
        "/revisions/1/data/spec/template/spec/initContainers",
    ] {
        fleet = fleet.with(pointer, init.clone());
    }
    // 500m and 601m at once, with 1 core and the old pod's 100m.
    assert_eq!(outcome(&fleet, "a"), does_not_fit("cpu"));
}

/// A change in place needs no room. One that was refused is tried again after half an hour, and nothing else would look then.
#[test]
fn a_refused_change_in_place_is_tried_again_where_a_pod_does_not_fit() {
    let container =
        |image: &str| json!({"name": "c", "image": image, "resources": {"requests": {"cpu": "100m"}}});
    let story = old().runs("old", "runtime://1", 3600).with("/spec/containers", json!([container("old")]));
    let mut fleet = given(rolling(1))
        .node(node("a").has(story))
        .with("/daemonSet/spec/template/spec/containers", json!([container("new")]))
        .policy(json!({"fit": "Hold", "inPlace": "IfPossible"}));
    for (index, image) in ["old", "new"].into_iter().enumerate() {
        fleet = fleet.with(
            &format!("/revisions/{index}/data/spec/template/spec/containers"),
            json!([container(image)]),
        );
    }
    fleet.json["free"] = json!({"a": {"cpu": "-1m"}});
    let refused =
        fleet.with("/memory", json!({"turns": {"refusedInPlace": {"uid-a-1": at(-60).to_string()}}}));
    assert_eq!(outcome(&refused, "a"), does_not_fit("cpu"));
    assert_eq!(refused.steps(), ["requeue at 2026-01-01T12:29:00Z: RetryDue"]);
    let later = refused.clone().with("/now", json!(at(1740).to_string()));
    assert_eq!(later.steps(), ["change a-1 in place: OutdatedAvailable"]);
    // A person who takes the permission away is not waited for.
    let never = refused.policy(json!({"fit": "Hold"}));
    assert_eq!(never.steps(), [""; 0]);
}
