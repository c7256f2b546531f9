//! What a person who asks about a node learns beside its verdict.

use crate::support::{
    Given, NodeStory, PodStory, TURN_KEY, at, given, new, node, old, on_delete, pod, request, rolling,
};
use daemonset::turns::plan_with_details;
use serde_json::{Value, json};

/// The details of all nodes that have any.
fn told(given: &Given) -> Value {
    let recording = given.recording();
    json!(plan_with_details(&recording.snapshot().unwrap()).1)
}

fn turning(turn: Value, node: NodeStory) -> Given {
    given(rolling(1)).node(node).policy(json!({"turn": turn}))
}

#[test]
fn a_node_without_a_turn_has_none() {
    let plain = given(rolling(1)).nodes(["a", "b"], old());
    assert_eq!(told(&plain), json!({}));
    let begins = plain.policy(json!({"turn": {"gates": ["drained"]}}));
    assert_eq!(told(&begins), json!({}), "no turn has begun");
}

#[test]
fn a_turn_is_told_with_its_gates_and_the_time_at_which_they_are_overdue() {
    let rules = json!({"gates": ["drained", "backup"], "timeoutSeconds": 900});
    let story = node("a").in_turn(60).open("backup", 60).has(old());
    let turn = json!({
        "since": at(-60).to_string(), "key": TURN_KEY, "request": request(60), "cordoned": false,
        "open": ["backup"], "closed": ["drained"], "overdueAt": at(840).to_string(),
    });
    assert_eq!(told(&turning(rules, story)), json!({"a": {"turn": turn}}));
    let open = node("a").in_turn(60).open("drained", 60).has(old());
    let turn = &told(&turning(json!({"gates": ["drained"], "timeoutSeconds": 900}), open))["a"]["turn"];
    assert_eq!((&turn["closed"], &turn["overdueAt"]), (&json!([]), &Value::Null));
}

#[test]
fn a_turn_that_ends_is_told_no_more() {
    let done = node("a").in_turn(60).has(new());
    assert_eq!(told(&turning(json!({}), done)), json!({}));
    let by_person = given(on_delete()).node(node("a").in_turn(60).has(old()));
    assert_eq!(told(&by_person), json!({}));
}

#[test]
fn a_turn_that_has_cordoned_its_node_is_told_so() {
    let cordoned = format!("{} cordoned", request(60));
    let story = node("a").turn(&cordoned).cordoned().has(old());
    let turn = &told(&turning(json!({"cordon": true, "gates": ["drained"]}), story))["a"]["turn"];
    assert_eq!((&turn["cordoned"], &turn["request"]), (&json!(true), &json!(request(60))));
}

/// The pull pod of node a for the new revision.
fn pulling(seconds: i64, state: Value) -> PodStory {
    let labels = json!({"pull.daemonset/owner": "uid-agent", "pull.daemonset/revision": "new"});
    let story = pod("x").named("agent-pull-qnwtr87lww").created_ago(seconds).phase("Pending");
    story
        .with("/metadata/labels", labels)
        .with("/metadata/ownerReferences", json!([]))
        .with("/spec/containers", json!([{"name": "image-0", "image": "new"}]))
        .with("/status/containerStatuses", json!([{"name": "image-0", "state": state}]))
}

#[test]
fn the_images_that_a_node_waits_for_are_told_with_the_pod_that_pulls_them() {
    let pulls = |given: Given| given.policy(json!({"pull": {}}));
    let unpulled = pulls(given(rolling(1)).node(node("a").has(old())));
    assert_eq!(told(&unpulled), json!({"a": {"pull": {"images": ["new"]}}}));
    let waiting = json!({"waiting": {"reason": "ContainerCreating"}});
    let pulled = pulls(given(rolling(1)).node(node("a").has(old())).stray("a", pulling(40, waiting)));
    let pull = json!({
        "images": ["new"], "pod": "agent-pull-qnwtr87lww", "since": at(-40).to_string(), "endsAt": at(560).to_string(),
    });
    assert_eq!(told(&pulled), json!({"a": {"pull": pull}}));
    let done = json!({"terminated": {"reason": "StartError", "exitCode": 128}});
    let done = pulls(given(rolling(1)).node(node("a").has(old())).stray("a", pulling(40, done)));
    assert_eq!(told(&done), json!({}));
    let not_ready = pulls(given(rolling(1)).node(node("a").has(old().not_ready())));
    assert_eq!(told(&not_ready), json!({}), "it goes at once");
}

/// One image is there, and one is not.
#[test]
fn images_that_are_on_the_node_are_not_told() {
    let mut given = given(rolling(1)).policy(json!({"pull": {}}));
    let containers = json!([{"name": "a", "image": "one:1"}, {"name": "b", "image": "two:1"}]);
    given = given.with("/daemonSet/spec/template/spec/containers", containers);
    let story =
        node("a").condition("Ready", "True", None).with("/status/images", json!([{"names": ["one:1"]}]));
    assert_eq!(told(&given.node(story.has(old())))["a"]["pull"], json!({"images": ["two:1"]}));
}

#[test]
fn the_lacking_resource_is_told_with_its_amounts() {
    let story =
        old().with("/spec/containers", json!([{"name": "c", "resources": {"requests": {"memory": "1Gi"}}}]));
    let wanted = json!([{"name": "c", "image": "new", "resources": {"requests": {"memory": "4Gi"}}}]);
    let mut fleet = given(rolling(1)).node(node("a").has(story)).policy(json!({"fit": "Hold"}));
    fleet = fleet.with("/daemonSet/spec/template/spec/containers", wanted);
    fleet.json["free"] = json!({"a": {"memory": "512Mi"}});
    let fit = json!({"resource": "memory", "requested": "4Gi", "free": "1536Mi"});
    assert_eq!(told(&fleet), json!({"a": {"fit": fit}}));
}

#[test]
fn a_pod_that_settles_is_told_and_from_ten_minutes_on_that_it_is_stuck() {
    let settling = |seconds| {
        given(rolling(1)).node(node("a").has(new().runs("new", "runtime://1", 5).changed(
            seconds,
            "old",
            "runtime://1",
        )))
    };
    let detail =
        |seconds: i64, stuck: bool| json!({"pod": "a-1", "since": at(-seconds).to_string(), "stuck": stuck});
    assert_eq!(told(&settling(30)), json!({"a": {"inPlace": [detail(30, false)]}}));
    assert_eq!(told(&settling(600)), json!({"a": {"inPlace": [detail(600, true)]}}));
    let settled = given(rolling(1)).node(node("a").has(new().runs("new", "runtime://2", 5).changed(
        30,
        "old",
        "runtime://1",
    )));
    assert_eq!(told(&settled), json!({}));
}

#[test]
fn the_pod_that_has_the_name_of_the_node_s_pod_is_told() {
    let named = given(rolling(1)).node(node("a")).policy(json!({"podNames": "OnePerNode"}));
    let name = named.plan().actions.iter().find_map(|action| match action {
        daemonset::Action::CreatePod { pod, .. } => {
            pod.to_value()["metadata"]["name"].as_str().map(str::to_owned)
        }
        _ => None,
    });
    let name = name.unwrap();
    let taken = named.stray("elsewhere", pod("x").named(&name).owned_by("other"));
    assert_eq!(told(&taken), json!({"a": {"nameTaken": name}}));
}

#[test]
fn a_daemon_set_that_is_left_alone_has_none() {
    let deleted = turning(json!({}), node("a").in_turn(60).has(old()));
    let deleted = deleted.with("/daemonSet/metadata/deletionTimestamp", json!(at(0).to_string()));
    assert_eq!(told(&deleted), json!({}));
}
