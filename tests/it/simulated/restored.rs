//! Simulations that start from a recording of a real cluster or of another simulation.

use super::{exists, is_ready, millis, seconds, settings};
use crate::recorded::dumps::{DUMPS, Dump};
use crate::support::{given, new, node, old, rolling, surging};
use daemonset::model::{Pod, Uid};
use daemonset::policy::{PodNames, TurnMode, TurnPolicy};
use daemonset::{Policy, Recording, plan};
use daemonset_sim::{Change, Cluster, Distribution, RolloutEnd, Runtime, availability, resize};
use std::collections::{BTreeMap, BTreeSet};

fn restored(recording: &Recording) -> Cluster {
    Cluster::from_recording(settings(), 1, recording)
}

#[test]
fn a_simulation_starts_with_the_objects_of_the_dump() {
    for name in DUMPS {
        let dump = Dump::load(name);
        for daemon_set in dump.daemon_sets() {
            let recording = dump.daemon_set(&daemon_set);
            let cluster = restored(&recording);
            assert!(cluster.pods().eq(&recording.pods), "{name}: {daemon_set}: the pods differ");
            assert!(cluster.nodes().eq(&recording.nodes), "{name}: {daemon_set}: the nodes differ");
            assert!(cluster.revisions().eq(&recording.revisions), "{name}: {daemon_set}: other revisions");
            assert_eq!(cluster.daemon_set(), Some(&recording.daemon_set), "{name}");
            let expected = plan(&recording.snapshot().unwrap());
            assert!(cluster.plan().unwrap().unwrap() == expected, "{name}: {daemon_set}: another plan");
            let curve = availability(cluster.history());
            let here = curve.iter().rev().find(|point| point.t <= cluster.now()).unwrap();
            let status = expected.status.unwrap_or_default();
            let actual = (here.desired, here.desired - here.unavailable, here.taken_down);
            let figures = (status.desired_number_scheduled as u32, status.number_available as u32, 0);
            assert_eq!(actual, figures, "{name}: {daemon_set}: the history does not lead to this state");
        }
    }
}

fn revision_hash(pod: &Pod) -> Option<&str> {
    pod.metadata.labels.get("controller-revision-hash")
}

fn target(pod: &Pod) -> &str {
    let bound = Some(pod.spec.node_name.as_str()).filter(|node| !node.is_empty());
    bound.or(pod.spec.affinity_node.as_ref().map(|node| node.as_str())).unwrap()
}

#[test]
fn a_grown_cluster_has_the_same_pods_of_the_same_revisions_on_its_nodes() {
    let dump = Dump::load("midrollout");
    let name = dump.daemon_sets().remove(0);
    let recording = dump.daemon_set(&name);
    let grown = resize(&recording, 60);
    assert_eq!(grown.nodes.len(), 60);
    let unique = |names: Vec<&str>| names.iter().collect::<BTreeSet<_>>().len() == names.len();
    assert!(unique(grown.nodes.iter().map(|node| node.metadata.name.as_str()).collect()));
    assert!(unique(grown.pods.iter().map(|pod| pod.metadata.name.as_str()).collect()));
    assert!(unique(grown.pods.iter().map(|pod| pod.metadata.uid.as_str()).collect()));
    let on = |recording: &Recording, node: &str| {
        let pods = recording.pods.iter().filter(|pod| target(pod) == node);
        pods.map(|pod| (revision_hash(pod).map(str::to_owned), is_ready(pod))).collect::<Vec<_>>()
    };
    for (node, original) in grown.nodes.iter().zip(recording.nodes.iter().cycle()) {
        let (node, original) = (node.metadata.name.as_str(), original.metadata.name.as_str());
        assert_eq!(on(&grown, node), on(&recording, original), "{node}");
    }
    assert!(grown.revisions == recording.revisions && grown.daemon_set == recording.daemon_set);
    let mut cluster = restored(&grown);
    let end = cluster.run_rollout(seconds(900), seconds(86_400));
    assert_eq!(end, RolloutEnd::Complete, "{:#?}", cluster.plan());
    let mut same = resize(&recording, recording.nodes.len());
    same.pods.sort_by_key(|pod| recording.pods.iter().position(|other| other == pod));
    assert!(same == recording, "as many as there are");
    let shrunk = resize(&recording, 2);
    assert!(shrunk.nodes[..] == recording.nodes[..2]);
    assert!(
        shrunk.pods.iter().all(|pod| shrunk.nodes.iter().any(|n| n.metadata.name.as_str() == target(pod)))
    );
}

#[test]
fn a_node_that_goes_down_keeps_the_daemon_pods_that_were_restored() {
    let dump = Dump::load("steady");
    let name = dump.daemon_sets().remove(0);
    let mut cluster = restored(&dump.daemon_set(&name));
    let (node, uid) = {
        let pod = cluster.pods().find(|pod| is_ready(pod)).unwrap();
        (target(pod).to_owned(), pod.metadata.uid.clone())
    };
    cluster.take_down(&node);
    cluster.run_for(seconds(60));
    let pod = cluster.pods().find(|pod| pod.metadata.uid == uid);
    assert!(pod.is_some_and(|pod| pod.metadata.deletion_timestamp.is_none()), "it tolerates that");
}

#[test]
fn a_pod_that_terminates_on_a_dead_node_keeps_terminating() {
    let story = given(rolling(1)).node(node("a").not_ready().has(old().terminating(10)));
    let mut cluster = restored(&story.node(node("b").has(old().terminating(10))).recording());
    let (dead, live) = (Uid::from("uid-a-1"), Uid::from("uid-b-1"));
    cluster.run_for(seconds(9));
    assert!(exists(&cluster, &live));
    cluster.run_for(seconds(3600));
    assert!(exists(&cluster, &dead) && !exists(&cluster, &live));
    cluster.bring_up("a");
    assert!(!exists(&cluster, &dead));
}

#[test]
fn pods_bound_to_missing_nodes_are_collected() {
    let story = given(rolling(1)).node(node("a").has(new())).stray("gone", new());
    let mut cluster = restored(&story.recording());
    let stray = Uid::from("uid-gone-stray");
    cluster.run_for(seconds(39));
    assert!(exists(&cluster, &stray));
    cluster.run_for(seconds(1));
    assert!(!exists(&cluster, &stray));
}

#[test]
fn memory_and_policy_come_from_the_recording() {
    let memory = serde_json::json!({"creates": {"a": {"uid": "uid-x", "revision": "new", "at": crate::support::at(-10)}}});
    let story = given(rolling(1)).node(node("a")).with("/memory", memory);
    let mut cluster = restored(&story.policy(serde_json::json!({"podNames": "Deterministic"})).recording());
    cluster.run_for(seconds(289));
    assert_eq!(cluster.pods().count(), 0, "one is in flight");
    cluster.run_for(seconds(2));
    assert_eq!(cluster.pods().count(), 1);
}

/// The second simulation has names of its own, so that only uids could collide.
fn deterministic_names() -> Policy {
    Policy::default().pod_names(PodNames::Deterministic)
}

/// The recording of a simulation.
fn recorded(cluster: &Cluster) -> Recording {
    let mut recording = Recording::new(cluster.daemon_set().unwrap().clone(), cluster.now());
    recording.nodes = cluster.nodes().cloned().collect();
    recording.pods = cluster.pods().cloned().collect();
    recording.revisions = cluster.revisions().cloned().collect();
    recording.policy = deterministic_names();
    recording.memory = Some(cluster.memory().clone());
    recording
}

#[test]
fn a_simulation_continues_from_the_recording_of_another_one() {
    let mut settings = settings();
    settings.controller.policy = deterministic_names();
    let first = super::running_with(settings, &["a", "b", "c"], super::template("v1"));
    let before: Vec<Pod> = first.pods().cloned().collect();
    let mut second = restored(&recorded(&first));
    for node in ["d", "e", "f", "g", "h", "i"] {
        second.add_node(node, Default::default());
    }
    second.run_until_quiet(seconds(600)).unwrap();
    assert_eq!(second.pods().count(), 9);
    for pod in &before {
        assert!(second.pods().any(|other| other == pod), "{} is another one now", pod.metadata.name);
    }
    second.edit(|ds| ds.spec.template = super::template("v2"));
    assert_eq!(second.run_rollout(seconds(600), seconds(3600)), RolloutEnd::Complete);
    assert_eq!(second.revisions().count(), 2);
}

/// The largest number of pods that any node has at one time, terminating ones included.
fn most_pods_on_a_node(cluster: &Cluster) -> usize {
    let mut pods: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut most = 0;
    for event in cluster.history() {
        match &event.change {
            Change::PodCreated(pod) => {
                let node = pods.entry(pod.node.to_string()).or_default();
                node.insert(pod.uid.to_string());
                most = most.max(node.len());
            }
            Change::PodGone(pod) => {
                pods.entry(pod.node.to_string()).or_default().remove(pod.uid.as_str());
            }
            _ => {}
        }
    }
    most
}

/// A cache that lags shows a create late, and its list is older than the created pod.
#[test]
fn a_restored_cluster_knows_its_new_pods_under_lag() {
    for name in ["steady", "surge", "undo"] {
        let dump = Dump::load(name);
        for daemon_set in dump.daemon_sets() {
            for version in [None, Some("v7"), Some("")] {
                let mut recording = dump.daemon_set(&daemon_set);
                for pod in &mut recording.pods {
                    pod.metadata.resource_version =
                        version.unwrap_or(&pod.metadata.resource_version).to_owned();
                }
                let mut settings = settings();
                settings.controller.watch_lag = Distribution::uniform(millis(100), seconds(5));
                let mut cluster = Cluster::from_recording(settings, 1, &recording);
                cluster.edit(|ds| {
                    ds.spec.update_strategy = serde_json::from_value(surging("10%")).unwrap();
                    ds.spec.template["metadata"]["annotations"] = serde_json::json!({"version": "next"});
                });
                cluster.run_for(seconds(120));
                let most = most_pods_on_a_node(&cluster);
                assert!(most <= 3, "{name}: {daemon_set}: {most} pods of a node, from versions {version:?}");
            }
        }
    }
}

/// A memory may know of pods that no list shows, and a list may be newer than its pods.
#[test]
fn new_objects_have_neither_uids_nor_versions_of_the_recording() {
    let of_simulation = |serial: u64| format!("00000000-0000-4000-8000-{serial:012x}");
    let at = crate::support::at(-400);
    let memory = serde_json::json!({
        "creates": {"a": {"uid": of_simulation(40), "revision": "new", "at": at, "version": 700}},
        "taken": {"a": {"uid": of_simulation(90), "at": at}},
    });
    let largest = |pods_version: Option<u64>| {
        let story = given(rolling(1)).node(node("a")).with("/memory", memory.clone());
        let mut recording = story.recording();
        recording.pods_version = pods_version;
        let mut cluster = restored(&recording);
        cluster.run_for(seconds(60));
        let pod = cluster.pods().next().unwrap().metadata.clone();
        assert!(pod.uid.as_str() > of_simulation(90).as_str(), "{pod:?}");
        pod.resource_version.parse::<u64>().unwrap()
    };
    assert!(largest(None) > 700);
    assert!(largest(Some(5_000)) > 5_000);
    assert!(largest(Some(u64::MAX)) > 700, "there is no room beyond the last number");
}

/// The turn began before the recording: whoever opens its gates has seen it.
#[test]
fn gates_are_opened_of_a_turn_that_began_before_the_recording() {
    let turn = TurnMode::Take(TurnPolicy::default().gates(vec!["backup".to_owned()]));
    let mut settings = settings().runtime(Some(Runtime::Containerd));
    settings.controller.policy = Policy::default().turn(turn);
    let mut cluster = super::running_with(settings.clone(), &["a", "b"], crate::support::template("v1"));
    cluster.edit(|ds| ds.spec.template = crate::support::template("v2"));
    cluster.run_for(seconds(60));
    let mut recording = recorded(&cluster);
    recording.policy = settings.controller.policy.clone();
    assert!(recording.nodes.iter().any(|node| !node.metadata.annotations.is_empty()), "a node is in turn");
    settings.gates.insert("backup".to_owned(), Distribution::fixed(seconds(90)));
    let mut restored = Cluster::from_recording(settings, 1, &recording);
    let started = restored.now();
    assert_eq!(restored.run_rollout(seconds(600), seconds(86_400)), RolloutEnd::Complete);
    let opened = restored.history().iter().find(|event| matches!(event.change, Change::GateOpened { .. }));
    // Thirty seconds are left of the ninety.
    assert_eq!(opened.unwrap().t.duration_since(started).as_secs(), 30);
}

/// A pull pod brought the image, and was gone before the recording.
#[test]
fn a_node_has_the_images_that_its_status_names() {
    let mut recording = recorded(&super::running(&["a"]));
    let images = serde_json::json!([{"names": ["v2"]}, {"names": ["other@sha256:0f", "other:1"]}]);
    recording.nodes[0].status.images = serde_json::from_value(images).unwrap();
    let mut cluster = Cluster::from_recording(settings().runtime(Some(Runtime::Containerd)), 1, &recording);
    cluster.edit(|ds| ds.spec.template = crate::support::template("v2"));
    cluster.run_until_quiet(seconds(3600)).unwrap();
    cluster.edit(|ds| ds.spec.template = crate::support::template("v3"));
    cluster.run_until_quiet(seconds(3600)).unwrap();
    let pulled = cluster.history().iter().filter_map(|event| match &event.change {
        Change::ImagePulled { image, .. } => Some(image.as_str()),
        _ => None,
    });
    assert_eq!(pulled.collect::<Vec<_>>(), ["v3"]);
    let node = cluster.nodes().next().unwrap();
    let names: Vec<&str> =
        node.status.images.iter().flat_map(|image| &image.names).map(String::as_str).collect();
    for name in ["v1", "v2", "v3", "other@sha256:0f", "other:1"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
}
