//! Turns, pulls and changes in place: the nodes and kubelets of the simulation, step by step.

use super::{agent, cluster, is_ready, json_of, pod_on, pod_story, seconds, settings, template};
use daemonset::Policy;
use daemonset::policy::{InPlacePolicy, PullPolicy, TurnMode, TurnPolicy};
use daemonset_sim::{Behaviour, Cluster, Event, Probability, RolloutEnd, Runtime, Settings};
use jiff::Timestamp;
use serde_json::json;

pub fn with_policy(policy: Policy) -> Settings {
    let mut settings = settings().runtime(Some(Runtime::Containerd));
    settings.controller.policy = policy;
    settings
}

/// The agent of version 1 on these nodes.
pub fn running(settings: Settings, nodes: &[&str]) -> Cluster {
    let mut cluster = cluster(settings, nodes);
    cluster.create_daemon_set(agent(template("v1")));
    cluster.run_until_quiet(seconds(3600)).unwrap();
    cluster
}

pub fn release(cluster: &mut Cluster) -> Timestamp {
    let since = cluster.now();
    cluster.edit(|ds| ds.spec.template = template("v2"));
    let end = cluster.run_rollout(seconds(3600), seconds(86_400));
    assert_eq!(end, RolloutEnd::Complete, "{:#?}", cluster.plan());
    cluster.run_until_quiet(seconds(3600)).unwrap();
    since
}

/// The events of turns and images from here on: `0.1 TurnBegan a`.
pub fn turn_story(cluster: &Cluster, since: Timestamp) -> Vec<String> {
    let events = cluster.history().iter().filter(|event| event.t >= since);
    let line = |event: &Event| {
        let json = json_of(event);
        let name = json["event"].as_str().unwrap().to_owned();
        let after = event.t.duration_since(since).as_millis() as f64 / 1000.0;
        let is_told = ["Turn", "Image", "Gate", "PodEvicted", "EvictionRefused"]
            .iter()
            .any(|told| name.starts_with(told));
        is_told.then(|| format!("{after:.1} {name} {}", json["node"].as_str().unwrap()))
    };
    events.filter_map(line).collect()
}

#[test]
fn a_pod_is_changed_in_its_place() {
    let mut cluster = running(with_policy(Policy::default().in_place(InPlacePolicy::IfPossible)), &["a"]);
    let before = pod_on(&cluster, "a");
    let since = release(&mut cluster);
    // 2 s until the old container has ended, 4 s to pull, 1 s to start, 5 s to become Ready.
    assert_eq!(pod_story(&cluster, since), ["0.1 PodChanged a", "12.1 PodReady a"]);
    let after = pod_on(&cluster, "a");
    let [was, is] = [&before, &after].map(|pod| pod.status.container_statuses[0].clone());
    assert_eq!((&before.metadata.uid, was.restart_count), (&after.metadata.uid, 0));
    assert_eq!((is.restart_count, is.image_id.as_str()), (1, "sha256:v2"));
    assert!(was.container_id != is.container_id && is_ready(&after));
    assert_eq!(is.started_at.unwrap().duration_since(since).as_secs(), 7);
}

#[test]
fn the_condition_ready_may_stay_true_all_the_time() {
    let settings = with_policy(Policy::default().in_place(InPlacePolicy::IfPossible));
    let keeps_ready = settings.behaviour.keeps_ready(Probability::ALWAYS);
    let mut cluster = running(settings.behaviour(keeps_ready), &["a"]);
    let since = cluster.now();
    cluster.edit(|ds| ds.spec.template = template("v2"));
    let end = cluster.watch_rollout(seconds(600), seconds(600), |cluster| {
        let pod = pod_on(cluster, "a");
        assert!(is_ready(&pod) && pod.status.conditions[0].last_transition_time.unwrap() < since);
    });
    assert_eq!(end, RolloutEnd::Complete);
    let complete = cluster.now().duration_since(since).as_secs();
    assert_eq!(pod_story(&cluster, since), ["0.1 PodChanged a", "7.1 PodReady a"]);
    assert_eq!(complete, 7, "the controller waits for its new container all the same");
}

#[test]
fn a_pod_that_stayed_ready_while_it_was_changed_is_ready_again_after_a_crash() {
    let settings = with_policy(Policy::default().in_place(InPlacePolicy::IfPossible));
    let keeps_ready = settings.behaviour.keeps_ready(Probability::ALWAYS);
    let mut cluster = running(settings.behaviour(keeps_ready), &["a"]);
    release(&mut cluster);
    let uid = pod_on(&cluster, "a").metadata.uid;
    cluster.crash_pod(&uid);
    assert!(!is_ready(&pod_on(&cluster, "a")));
    cluster.run_for(seconds(60));
    assert!(is_ready(&pod_on(&cluster, "a")));
}

#[test]
fn an_image_is_pulled_once_a_node_whoever_asks() {
    for runtime in [Runtime::Containerd, Runtime::CriO] {
        let settings = with_policy(Policy::default().pull(PullPolicy::default())).runtime(Some(runtime));
        let mut cluster = running(settings, &["a", "b"]);
        let since = release(&mut cluster);
        let pulls = turn_story(&cluster, since);
        assert_eq!(pulls.iter().filter(|line| line.ends_with(" a")).count(), 1, "{pulls:#?}");
        // The pull is over before the pod goes: 2 s to stop, 0.1 s to bind, 1 s to start, 5 s to become Ready.
        let story = pod_story(&cluster, since);
        assert_eq!(story[..2], ["4.2 PodTerminating a", "6.2 PodGone a"], "{runtime:?}");
        assert!(story[3].starts_with("12.") && story[3].ends_with("PodReady a"), "{story:#?}");
        assert_eq!(cluster.pods().count(), 2, "no pull pod is left");
        let images = |node: &daemonset::model::Node| {
            node.status.images.iter().flat_map(|i| i.names.clone()).collect::<Vec<_>>()
        };
        assert!(cluster.nodes().map(images).all(|images| images == ["v1", "v2"]));
    }
}

#[test]
fn a_pull_that_fails_is_given_up_after_its_time() {
    let pull = PullPolicy::default().timeout_seconds(60);
    let mut cluster = running(with_policy(Policy::default().pull(pull)), &["a"]);
    let since = cluster.now();
    let fails = Behaviour::default().pull_fails(Probability::ALWAYS);
    cluster.release(fails, |template| template["spec"]["containers"][0]["image"] = json!("v2"));
    cluster.run_for(seconds(59));
    let waiting = |cluster: &Cluster| {
        let statuses = cluster.pods().flat_map(|pod| pod.status.container_statuses.clone());
        statuses.map(|status| status.waiting_reason).collect::<Vec<_>>()
    };
    assert_eq!(pod_story(&cluster, since), [""; 0]);
    assert_eq!(waiting(&cluster), ["", "ImagePullBackOff"]);
    cluster.run_for(seconds(10));
    assert_eq!(pod_story(&cluster, since)[0], "60.1 PodTerminating a", "the daemon itself shows the cause");
}

#[test]
fn nodes_take_their_turns_one_after_the_other() {
    let turn = TurnMode::Take(TurnPolicy::default().cordon(true));
    let mut cluster = running(with_policy(Policy::default().turn(turn)), &["a", "b"]);
    let since = cluster.now();
    cluster.edit(|ds| ds.spec.template = template("v2"));
    let end = cluster.watch_rollout(seconds(3600), seconds(86_400), |cluster| {
        let cordoned = cluster.nodes().filter(|node| node.spec.unschedulable).count();
        assert!(cordoned <= 1);
    });
    assert_eq!(end, RolloutEnd::Complete);
    cluster.run_until_quiet(seconds(3600)).unwrap();
    let turns: Vec<String> = turn_story(&cluster, since)
        .into_iter()
        .filter(|line| line.contains("Turn"))
        .map(|line| line.split_once(' ').unwrap().1.to_owned())
        .collect();
    assert_eq!(turns, ["TurnBegan a", "TurnEnded a", "TurnBegan b", "TurnEnded b"]);
    assert!(cluster.nodes().all(|node| !node.spec.unschedulable && node.spec.taints.is_empty()));
}

#[test]
fn a_patch_of_a_node_that_has_changed_is_refused() {
    let turn = TurnMode::Take(TurnPolicy::default().cordon(true));
    let mut cluster = running(with_policy(Policy::default().turn(turn)), &["a"]);
    cluster.freeze(daemonset_sim::Kind::Nodes);
    cluster.cordon("a");
    let since = cluster.now();
    cluster.edit(|ds| ds.spec.template = template("v2"));
    cluster.run_for(seconds(10));
    assert_eq!(turn_story(&cluster, since), [""; 0], "the controller has not seen the cordon");
    cluster.thaw(daemonset_sim::Kind::Nodes);
    cluster.run_until_quiet(seconds(600)).unwrap();
    assert!(cluster.is_rolled_out());
    assert!(cluster.nodes().all(|node| node.spec.unschedulable), "the person's cordon stays");
}
