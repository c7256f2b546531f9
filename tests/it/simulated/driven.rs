//! Driven rollouts: Kubernetes' own controller is in the cluster, too, and creates the pods.

use super::{agent, cluster, count, json_of, pod_on, seconds, settings, template};
use crate::support;
use daemonset::Policy;
use daemonset::model::{DaemonSet, UpdateStrategy};
use daemonset::policy::{PullPolicy, RolloutPolicy, TurnMode, TurnPolicy};
use daemonset_sim::{Behaviour, Cluster, Distribution, Kind, Probability, RolloutEnd, Runtime, Settings};
use jiff::Timestamp;
use serde_json::{Value, json};

const NODES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

fn on_delete() -> DaemonSet {
    let mut agent = agent(template("v1"));
    agent.spec.update_strategy = serde_json::from_value(support::on_delete()).unwrap();
    agent
}

fn drive(max_unavailable: u32) -> UpdateStrategy {
    serde_json::from_value(support::rolling(max_unavailable)).unwrap()
}

/// One canary for a minute, then all; a pod that is unavailable for so long fails the version.
fn canary() -> RolloutPolicy {
    let failure = json!({"availableWithinSeconds": 60});
    let rollout = json!({"waves": [{"upTo": 1, "bakeSeconds": 60}, {}], "onFailure": failure});
    serde_json::from_value(rollout).unwrap()
}

/// Six nodes run version 1, and two of them may be down at once.
fn driven(change: impl FnOnce(&mut Settings)) -> Cluster {
    let mut settings = settings().container_statuses(true);
    settings.controller.policy = Policy::default().external_controller(drive(2)).rollout(canary());
    change(&mut settings);
    let mut cluster = cluster(settings, &NODES);
    cluster.create_daemon_set(on_delete());
    cluster.run_until_quiet(seconds(3600)).unwrap();
    cluster
}

fn release(cluster: &mut Cluster, behaviour: Behaviour) {
    cluster.release(behaviour, |spec| *spec = template("v2"));
}

/// Who caused the events of this name, from an instant on.
fn causes(cluster: &Cluster, name: &str, since: Timestamp) -> Vec<String> {
    let events = cluster.history().iter().filter(|event| event.t >= since).map(json_of);
    let named = events.filter(|event: &Value| event["event"] == name);
    named.map(|event| event["by"].as_str().unwrap().to_owned()).collect()
}

fn is_new(cluster: &Cluster, node: &str) -> bool {
    let current = cluster.plan().unwrap().unwrap().report.current_revision.unwrap().hash;
    pod_on(cluster, node).metadata.labels.get("controller-revision-hash") == Some(current.as_str())
}

#[test]
fn a_version_that_works_completes_within_the_driven_budget() {
    let mut cluster = driven(|_| {});
    let started = cluster.now();
    release(&mut cluster, settings().behaviour);
    let end = cluster.run_rollout(seconds(600), seconds(86_400));
    let summary = cluster.summary(started, end);
    assert_eq!((end, summary.pods_created, summary.pods_deleted), (RolloutEnd::Complete, 6, 6));
    assert_eq!(
        (summary.max_unavailable, summary.worst_unavailable.nodes, summary.worst_taken_down.nodes),
        (2, 2, 2)
    );
    assert_eq!(causes(&cluster, "PodCreated", started), ["otherController"; 6]);
    assert_eq!(causes(&cluster, "PodTerminating", started), ["controller"; 6]);
    assert_eq!(summary.rollout.unwrap().waves.iter().map(|wave| wave.nodes).collect::<Vec<_>>(), [1, 6]);
}

#[test]
fn a_version_that_fails_stops_at_the_canary() {
    let mut cluster = driven(|_| {});
    let started = cluster.now();
    release(&mut cluster, settings().behaviour.never_ready(Probability::ALWAYS));
    let end = cluster.run_rollout(seconds(600), seconds(86_400));
    let rollout = cluster.summary(started, end).rollout.unwrap();
    assert_eq!((end, rollout.reached), (RolloutEnd::Stopped, 1));
}

#[test]
fn a_held_node_that_loses_its_pod_gets_the_new_version_and_a_warning_says_so() {
    let mut cluster = driven(|_| {});
    release(&mut cluster, settings().behaviour);
    cluster.run_for(seconds(20));
    let lost = pod_on(&cluster, "f").metadata.uid;
    assert!(is_new(&cluster, "a") && !is_new(&cluster, "f"));
    cluster.delete_pod(&lost);
    let warned = (0..4).any(|_| {
        cluster.run_for(seconds(1));
        let warnings = cluster.plan().unwrap().unwrap().warnings;
        warnings.iter().any(|warning| json!(warning) == json!({"type": "LostUnderDrive", "nodes": ["f"]}))
    });
    cluster.run_for(seconds(10));
    assert!(warned && is_new(&cluster, "f") && !is_new(&cluster, "e"));
}

#[test]
fn each_controller_has_faults_of_its_own() {
    let mut cluster = driven(|settings| settings.controller.policy.rollout = None);
    cluster.other_controller().unwrap().freeze(Kind::Pods);
    release(&mut cluster, settings().behaviour);
    cluster.run_for(seconds(60));
    let gone = |cluster: &Cluster| count(cluster, "PodGone");
    assert_eq!(
        (gone(&cluster), cluster.pods().count()),
        (2, 4),
        "nothing comes back: the other one sees no pod go"
    );
    cluster.other_controller().unwrap().thaw(Kind::Pods);
    cluster.other_controller().unwrap().crash();
    assert_eq!((count(&cluster, "OtherControllerCrashed"), count(&cluster, "ControllerCrashed")), (1, 0));
    cluster.freeze(Kind::Pods);
    cluster.run_for(seconds(60));
    assert_eq!(
        (gone(&cluster), cluster.pods().count()),
        (2, 6),
        "the driver does not see that they are back"
    );
    cluster.thaw(Kind::Pods);
    assert_eq!(cluster.run_rollout(seconds(600), seconds(86_400)), RolloutEnd::Complete);
}

#[test]
fn the_annotation_decides_who_creates_the_pods() {
    let mut settings = settings();
    settings.controller.reads_annotations = true;
    let mut cluster = cluster(settings, &NODES);
    cluster.create_daemon_set(on_delete());
    cluster.run_until_quiet(seconds(3600)).unwrap();
    assert!(cluster.other_controller().is_none());
    let policy = json!({"drive": drive(1)}).to_string();
    cluster.edit(|ds| {
        ds.metadata.annotations = ds.metadata.annotations.with("rollout.daemonset/policy", &policy)
    });
    release(&mut cluster, super::settings().behaviour);
    let started = cluster.now();
    assert_eq!(cluster.run_rollout(seconds(600), seconds(86_400)), RolloutEnd::Complete);
    assert_eq!(causes(&cluster, "PodCreated", started), ["otherController"; 6]);
    cluster
        .edit(|ds| ds.metadata.annotations = ds.metadata.annotations.with("rollout.daemonset/policy", "{}"));
    cluster.run_for(seconds(60));
    assert!(cluster.other_controller().is_none());
}

/// It knows neither turns nor pull pods, and ends none of them.
#[test]
fn kubernetes_own_controller_leaves_turns_and_pull_pods_alone() {
    let mut cluster = driven(|settings| {
        settings.runtime = Some(Runtime::Containerd);
        let policy = Policy::default().external_controller(drive(2)).pull(PullPolicy::default());
        let turn = TurnPolicy::default().cordon(true).gates(["backup"]);
        settings.controller.policy = policy.turn(TurnMode::Take(turn));
        settings.gates.insert("backup".to_owned(), Distribution::fixed(seconds(100)));
    });
    let started = cluster.now();
    release(&mut cluster, settings().behaviour);
    cluster.run_for(seconds(30));
    assert!(cluster.pods().count() > NODES.len(), "a pull pod is there");
    cluster.crash_controller();
    cluster.run_for(seconds(30));
    assert_eq!(causes(&cluster, "TurnEnded", started), [""; 0]);
    let end = cluster.run_rollout(seconds(600), seconds(86_400));
    assert_eq!(end, RolloutEnd::Complete);
    cluster.run_until_quiet(seconds(600)).unwrap();
    assert_eq!(causes(&cluster, "TurnEnded", started), ["controller"; 6]);
}
