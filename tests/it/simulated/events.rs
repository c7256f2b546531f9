//! The trace: one event a line, in the documented form.

use super::{agent, cluster, count, json_of, running, seconds, settings, start, template, uid_on};
use daemonset_sim::{Cluster, Distribution, Probability};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// A run with every kind of event.
fn stormy() -> Cluster {
    let mut settings = settings();
    settings.churn.every = Some(Distribution::fixed(seconds(70)));
    settings.churn.down_for = Some(Distribution::fixed(seconds(30)));
    settings.controller.crash = Probability::percent(2);
    settings.behaviour.evicted = Probability::percent(20);
    let mut cluster = cluster(settings, &["a", "b", "c", "d", "e", "f"]);
    cluster.create_daemon_set(agent(template("v1")));
    cluster.run_for(seconds(600));
    let nodes: Vec<String> = cluster.nodes().take(2).map(|node| node.metadata.name.to_string()).collect();
    cluster.taint(&nodes[0], "x", "NoSchedule");
    cluster.label_node(&nodes[1], "x", "y");
    cluster.edit(|ds| ds.spec.template = template("v2"));
    cluster.run_for(seconds(1800));
    cluster
}

/// The members of each event beside `t`, `by` and `event`; a question mark follows optional ones.
fn members() -> BTreeMap<&'static str, Vec<&'static str>> {
    let pod = vec!["node", "pod", "uid", "revision"];
    let troubled = [pod.clone(), vec!["reason"]].concat();
    let node = vec!["node", "ready", "labels", "taints"];
    BTreeMap::from([
        ("PodCreated", pod.clone()),
        ("PodTerminating", [pod.clone(), vec!["reason?"]].concat()),
        ("PodGone", pod.clone()),
        ("PodReady", pod),
        ("PodUnready", troubled.clone()),
        ("PodFailed", troubled),
        ("NodeAdded", node.clone()),
        ("NodeGone", vec!["node"]),
        ("NodeReady", node.clone()),
        ("NodeUnready", node.clone()),
        ("NodeTainted", node.clone()),
        ("NodeLabelled", node),
        ("DaemonSetChanged", vec!["generation", "templateChanged", "spec"]),
        (
            "Reconciled",
            vec!["number", "revision", "budget", "created", "deleted", "planned", "refused", "requeue?"],
        ),
        ("ControllerCrashed", vec!["afterActions", "memoryKept"]),
    ])
}

#[test]
fn each_line_has_its_members_and_no_others() {
    let members = members();
    let mut seen = BTreeSet::new();
    for event in stormy().history() {
        let line = serde_json::to_string(event).unwrap();
        assert!(!line.contains('\n'));
        let json: Value = serde_json::from_str(&line).unwrap();
        let name = json["event"].as_str().unwrap().to_owned();
        let found: BTreeSet<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
        let (may, must): (Vec<&str>, Vec<&str>) =
            members[name.as_str()].iter().chain(&["t", "by", "event"]).partition(|key| key.ends_with('?'));
        let must: BTreeSet<&str> = must.into_iter().collect();
        let may: BTreeSet<&str> = may.iter().map(|key| key.trim_end_matches('?')).collect();
        assert!(must.is_subset(&found), "{line}");
        assert!(found.difference(&must).all(|key| may.contains(key)), "{line}");
        assert!(["controller", "world", "user"].contains(&json["by"].as_str().unwrap()), "{line}");
        assert_eq!(json["t"].as_str().unwrap().parse::<Timestamp>().unwrap(), event.t, "RFC 3339");
        for text in ["node", "pod", "uid", "revision"].into_iter().filter(|text| found.contains(text)) {
            assert!(json[text].is_string(), "{line}");
        }
        seen.insert(name);
    }
    assert!(seen.iter().map(String::as_str).eq(members.keys().copied()), "only {seen:?}");
}

#[test]
fn time_never_goes_back() {
    let cluster = stormy();
    let times: Vec<Timestamp> = cluster.history().iter().map(|event| event.t).collect();
    assert!(times.is_sorted() && times[0] == start());
}

#[test]
fn events_have_their_exact_json() {
    let mut cluster = running(&["a"]);
    let uid = uid_on(&cluster, "a");
    let pod = super::pod_on(&cluster, "a");
    let revision = pod.metadata.labels.get("controller-revision-hash").unwrap();
    let ready = cluster.history().iter().map(json_of).find(|event| event["event"] == "PodReady").unwrap();
    let identity = json!({"node": "a", "pod": pod.metadata.name, "uid": uid, "revision": revision});
    let with = |more: Value| {
        let mut event = identity.clone();
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event
    };
    assert_eq!(ready, with(json!({"t": "2026-01-01T12:00:10.2Z", "by": "world", "event": "PodReady"})));
    cluster.edit(|ds| ds.spec.template = template("v2"));
    cluster.run_for(seconds(1));
    let going =
        cluster.history().iter().map(json_of).find(|event| event["event"] == "PodTerminating").unwrap();
    assert_eq!(
        (&going["by"], &going["reason"], &going["uid"]),
        (&json!("controller"), &json!("OutdatedAvailable"), &json!(uid))
    );
}

#[test]
fn pods_of_other_owners_have_no_events() {
    let mut cluster = running(&["a"]);
    let before = count(&cluster, "PodCreated");
    let other = json!({"metadata": {"name": "other", "namespace": "ns", "ownerReferences":
        [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "r", "controller": true}]},
        "spec": {"nodeName": "a", "containers": []}});
    let uid = cluster.add_pod(&other).unwrap();
    cluster.run_for(seconds(60));
    cluster.delete_pod(&uid);
    cluster.run_for(seconds(60));
    assert_eq!((count(&cluster, "PodCreated"), count(&cluster, "PodGone")), (before, 0));
}
