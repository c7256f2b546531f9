//! Random pods against a second statement of the rules, which reads the JSON and knows nothing of the library's types.

use daemonset::model::Node;
use daemonset_drain::{DaemonOwner, DrainPolicy, Pod, drain, verdicts};
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use serde_json::{Value, from_value, json};
use std::collections::BTreeMap;

const NOW: &str = "2026-01-01T12:00:00Z";

/// The objects of one drain, as JSON.
#[derive(Debug, Clone)]
struct World {
    pods: Vec<Value>,
    daemon_sets: Vec<Value>,
    policy: Value,
}

fn world() -> impl Strategy<Value = World> {
    let daemon = (select(vec![None, Some("DaemonSet"), Some("AgentSet")]), select(vec!["a", "a-b"]), select(vec!["x", "y"]))
        .prop_map(|(kind, namespace, name)| json!({"kind": kind, "metadata": {"namespace": namespace, "name": name}}));
    (prop::collection::vec(a_pod(), 0..7), prop::collection::vec(daemon, 0..4), a_policy())
        .prop_map(|(pods, daemon_sets, policy)| World { pods, daemon_sets, policy })
}

fn a_pod() -> impl Strategy<Value = Value> {
    let owner = (select(vec!["DaemonSet", "ReplicaSet", "AgentSet"]), select(vec!["x", "y"]), select(vec![json!(true), json!(false), Value::Null]))
        .prop_map(|(kind, name, controller)| json!({"kind": kind, "name": name, "uid": "o", "controller": controller}));
    let place =
        (select(vec!["a", "a-b"]), select(vec!["p", "q", "r"]), select(vec!["n", "n", "n", "n", "m", ""]));
    let labels = select(vec![
        Value::Null,
        json!({"app": "web"}),
        json!({"app": "web"}),
        json!({"app": "db"}),
        json!({"app": "web", "pull.daemonset/owner": "u"}),
    ]);
    let annotations = select(vec![
        Value::Null,
        json!({}),
        json!({"other": "x"}),
        json!({"kubernetes.io/config.mirror": "x"}),
    ]);
    let volumes = select(vec![
        Value::Null,
        json!([]),
        json!([{"name": "v", "hostPath": {}}]),
        json!([{"name": "c"}, {"name": "v", "emptyDir": {}}]),
    ]);
    let phase = select(vec!["Running", "Running", "Pending", "Succeeded", "Failed", "Unknown", ""]);
    let deleted = prop_oneof![3 => Just(None), 2 => (-40_i64..40).prop_map(Some)];
    (place, prop::collection::vec(owner, 0..3), labels, annotations, volumes, phase, deleted, 0_u8..3).prop_map(
        |((namespace, name, node), owners, labels, annotations, volumes, phase, deleted, uid)| {
            json!({
                "metadata": {
                    "namespace": namespace, "name": name, "uid": format!("u{uid}"), "labels": labels, "annotations": annotations,
                    "ownerReferences": owners, "deletionTimestamp": deleted.map(later),
                },
                "spec": {"nodeName": node, "volumes": volumes},
                "status": {"phase": phase},
            })
        },
    )
}

fn a_policy() -> impl Strategy<Value = Value> {
    let flag = || select(vec![Value::Null, json!(false), json!(true)]);
    let selector = select(vec![
        Value::Null,
        json!({}),
        json!({"matchLabels": {"app": "web"}}),
        json!({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["db"]}]}),
    ]);
    (selector, flag(), flag(), prop::option::of(0_u32..40), prop::option::of(0_u32..40)).prop_map(
        |(selector, force, empty_dir, grace, skip)| {
            json!({
                "podSelector": selector, "evictWithoutController": force, "deleteEmptyDirData": empty_dir, "graceSeconds": grace,
                "skipWaitForDeleteSeconds": skip,
            })
        },
    )
}

fn now() -> Timestamp {
    NOW.parse().unwrap()
}

fn later(seconds: i64) -> String {
    (now() + SignedDuration::from_secs(seconds)).to_string()
}

/// The fate of a pod in the second statement.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Clone, Copy)]
enum Fate {
    Ignored,
    Awaited { seconds_more: Option<i64> },
    Evicted,
    Blocking(&'static str),
}

/// A second statement of the rules, as questions in the order of the contract's text.
fn fate(pod: &Value, world: &World) -> Fate {
    let (metadata, policy) = (&pod["metadata"], &world.policy);
    let owners = metadata["ownerReferences"].as_array().unwrap();
    let controller = owners.iter().find(|owner| owner["controller"] == true);
    let exists = |owner: &Value| {
        world.daemon_sets.iter().any(|ds| {
            ds["kind"].as_str().unwrap_or("DaemonSet") == owner["kind"]
                && ds["metadata"]["namespace"] == metadata["namespace"]
                && ds["metadata"]["name"] == owner["name"]
        })
    };
    let app = metadata["labels"]["app"].as_str();
    let is_selected = match &policy["podSelector"] {
        selector if selector.get("matchLabels").is_some() => app == Some("web"),
        selector if selector.get("matchExpressions").is_some() => app != Some("db"),
        _ => true,
    };
    let is_pull_pod = metadata["labels"].get("pull.daemonset/owner").is_some();
    let is_mirror = metadata["annotations"].get("kubernetes.io/config.mirror").is_some();
    if pod["spec"]["nodeName"] != "n"
        || is_mirror
        || is_pull_pod
        || !is_selected
        || controller.is_some_and(exists)
    {
        return Fate::Ignored;
    }
    if let Some(deleted) = metadata["deletionTimestamp"].as_str() {
        let age = now().duration_since(deleted.parse().unwrap()).as_secs();
        return match policy["skipWaitForDeleteSeconds"].as_i64() {
            None | Some(0) => Fate::Awaited { seconds_more: None },
            Some(skip) if age >= skip => Fate::Ignored,
            Some(skip) => Fate::Awaited { seconds_more: Some(skip - age) },
        };
    }
    if ["Succeeded", "Failed"].iter().any(|phase| pod["status"]["phase"] == *phase) {
        return Fate::Evicted;
    }
    let has_empty_dir = pod["spec"]["volumes"]
        .as_array()
        .is_some_and(|volumes| volumes.iter().any(|v| !v["emptyDir"].is_null()));
    if has_empty_dir && policy["deleteEmptyDirData"] != true {
        return Fate::Blocking("LocalStorage");
    }
    let is_alone = controller.is_none_or(|owner| owner["kind"] == "DaemonSet");
    if is_alone && policy["evictWithoutController"] != true {
        return Fate::Blocking("Unmanaged");
    }
    Fate::Evicted
}

/// The answer of the second statement.
fn expected(world: &World) -> Value {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let key = |pod: &Value| ["namespace", "name", "uid"].map(|field| text(&pod["metadata"][field]));
    let mut fates: Vec<([String; 3], Fate)> =
        world.pods.iter().map(|pod| (key(pod), fate(pod, world))).collect();
    fates.sort();
    let blocking: Vec<Value> = fates
        .iter()
        .filter_map(|(key, fate)| match fate {
            Fate::Blocking(reason) => Some(json!([key, reason])),
            _ => None,
        })
        .collect();
    let evicted: Vec<&[String; 3]> = fates
        .iter()
        .filter(|(_, fate)| *fate == Fate::Evicted && blocking.is_empty())
        .map(|(key, _)| key)
        .collect();
    let awaited = fates.iter().filter_map(|(_, fate)| match fate {
        Fate::Awaited { seconds_more } => Some(*seconds_more),
        _ => None,
    });
    let left = evicted.len() + awaited.clone().count();
    let state = match (blocking.is_empty(), left) {
        (false, _) => "Blocked".to_owned(),
        (true, 0) => "Drained".to_owned(),
        (true, left) => format!("Draining {left}"),
    };
    let instants = awaited.flatten().chain((!evicted.is_empty()).then_some(5));
    json!({"state": state, "blocking": blocking, "evicted": evicted, "look": instants.min().map(later)})
}

/// The library's answer in the same form.
fn found(world: &World) -> Value {
    let pods: Vec<Pod> = world.pods.iter().map(|pod| from_value(pod.clone()).unwrap()).collect();
    let daemons: Vec<DaemonOwner> =
        world.daemon_sets.iter().map(|ds| from_value(ds.clone()).unwrap()).collect();
    let policy: DrainPolicy = from_value(world.policy.clone()).unwrap();
    let node: Node = from_value(json!({"metadata": {"name": "n"}})).unwrap();
    let decided = drain(&node, &pods, &daemons, &policy, now());
    assert!(decided.evict.iter().all(|evict| evict.grace_seconds == policy.grace_seconds));
    let key = |pod: &daemonset::model::ObjectRef| json!([pod.namespace, pod.name, pod.uid]);
    let state = match decided.state.left() {
        0 => decided.state.as_str().to_owned(),
        left => format!("{} {left}", decided.state.as_str()),
    };
    let blocking = decided.state.blocked_by().iter();
    let blocking: Vec<Value> = blocking.map(|pod| json!([key(&pod.pod), pod.reason])).collect();
    let evicted: Vec<Value> = decided.evict.iter().map(|evict| key(&evict.pod)).collect();
    json!({"state": state, "blocking": blocking, "evicted": evicted, "look": decided.look_again})
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_drain_is_that_of_the_second_statement(world in world()) {
        prop_assert_eq!(found(&world), expected(&world));
    }

    #[test]
    fn the_order_of_the_lists_does_not_count(world in world(), seed in any::<u64>()) {
        let mut turned = world.clone();
        turned.daemon_sets.reverse();
        let turns = usize::try_from(seed % 7).unwrap().min(turned.pods.len());
        turned.pods.rotate_left(turns);
        turned.pods.reverse();
        prop_assert_eq!(found(&turned), found(&world));
    }

    /// A drain that goes on, with each evicted pod gone, ends unless a pod blocks it or never ends.
    #[test]
    fn what_is_evicted_and_awaited_is_all_that_is_in_the_way(world in world()) {
        let answer = found(&world);
        prop_assume!(answer["state"] != "Blocked");
        let mut after = world.clone();
        after.pods.retain(|pod| fate(pod, &world) == Fate::Ignored);
        prop_assert_eq!(&found(&after)["state"], "Drained");
    }

    /// Whatever JSON is read has an answer.
    #[test]
    fn all_objects_have_an_answer(values in prop::collection::vec(any_object(), 0..5), skip in any::<u32>(), second in any::<i64>()) {
        let pods: Vec<Pod> = values.iter().filter_map(|value| from_value(value.clone()).ok()).collect();
        let daemons: Vec<DaemonOwner> = values.iter().filter_map(|value| from_value(value.clone()).ok()).collect();
        let nodes = values.iter().filter_map(|value| from_value(value.clone()).ok()).chain([Node::default()]);
        let now = Timestamp::from_second(second).unwrap_or(Timestamp::MAX);
        let policy = DrainPolicy::default().skip_wait_for_delete_seconds(skip);
        for node in nodes {
            let decided = drain(&node, &pods, &daemons, &policy, now);
            prop_assert!(!decided.to_string().is_empty());
            prop_assert_eq!(verdicts(&node, &pods, &daemons, &policy, now).len(), pods.len());
        }
    }

    /// A policy is read, or each of its problems has a path.
    #[test]
    fn all_policies_have_an_answer(value in any_object()) {
        if let Err(invalid) = DrainPolicy::try_from(value) {
            prop_assert!(!invalid.problems.is_empty());
        }
    }
}

/// Objects with the names of the fields that a drain reads, and values of all types.
fn any_object() -> impl Strategy<Value = Value> {
    let names = vec![
        "metadata",
        "spec",
        "status",
        "kind",
        "name",
        "namespace",
        "labels",
        "annotations",
        "ownerReferences",
        "controller",
        "nodeName",
        "volumes",
        "emptyDir",
        "phase",
        "deletionTimestamp",
        "podSelector",
        "matchLabels",
        "matchExpressions",
        "graceSeconds",
        "skipWaitForDeleteSeconds",
        "kubernetes.io/config.mirror",
        "app",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        select(vec![
            "n",
            "Failed",
            "DaemonSet",
            "9999-12-31T23:59:59Z",
            "-0001-01-01T00:00:00Z",
            "2026-01-01T12:00:00Z"
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(select(names.clone()), inner, 0..6).prop_map(|members| members
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect::<serde_json::Map<_, _>>()
                .into()),
        ]
    })
}

/// The random pods reach each verdict, and the random drains each state.
#[test]
fn every_fate_is_reached() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut reached: BTreeMap<String, u32> = BTreeMap::new();
    for _ in 0..2_000 {
        let world = world().new_tree(&mut runner).unwrap().current();
        let pods: Vec<Pod> = world.pods.iter().map(|pod| from_value(pod.clone()).unwrap()).collect();
        let daemons: Vec<DaemonOwner> =
            world.daemon_sets.iter().map(|ds| from_value(ds.clone()).unwrap()).collect();
        let policy: DrainPolicy = from_value(world.policy.clone()).unwrap();
        let node: Node = from_value(json!({"metadata": {"name": "n"}})).unwrap();
        for verdict in verdicts(&node, &pods, &daemons, &policy, now()) {
            let words = verdict.to_string();
            let words = if words.contains(" until 20") { "waits for an instant" } else { &words };
            *reached.entry(words.to_owned()).or_default() += 1;
        }
        let state = found(&world)["state"].as_str().unwrap().to_owned();
        *reached.entry(state.split(' ').next().unwrap().to_owned()).or_default() += 1;
    }
    println!("{reached:#?}");
    // Six reasons to leave a pod alone, two to wait, two to block, the eviction, and three states.
    assert_eq!(reached.len(), 14);
    assert!(reached.values().all(|count| *count >= 20));
}
