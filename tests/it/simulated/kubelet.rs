//! Pods on their nodes: they are pulled and started, become Ready, crash, are evicted, and end.

use super::{
    add_small_node, agent, cluster, exists, is_bound, is_ready, millis, pod_on, pod_story, running,
    running_with, seconds, settings, start, template, uid_on,
};
use daemonset_sim::{Cluster, Distribution, Probability};
use serde_json::json;

#[test]
fn a_pod_is_bound_pulled_started_and_ready_each_in_its_time() {
    let cluster = running(&["a"]);
    // 0.1 s until the reconcile, 0.1 s to bind, 4 s to pull, 1 s to start, 5 s to become Ready.
    assert_eq!(pod_story(&cluster, start()), ["0.1 PodCreated a", "10.2 PodReady a"]);
    assert_eq!(pod_on(&cluster, "a").status.phase, "Running");
}

#[test]
fn an_image_is_pulled_once_a_node_and_revision() {
    let mut cluster = running(&["a"]);
    let mut takes = |release: Option<&str>| {
        let since = cluster.now();
        match release {
            Some(version) => cluster.edit(|ds| ds.spec.template = template(version)),
            None => cluster.delete_pod(&uid_on(&cluster, "a")),
        }
        cluster.run_until_quiet(seconds(600)).unwrap();
        let story = pod_story(&cluster, since);
        let at = |name: &str| {
            let line = story.iter().find(|line| line.contains(name)).unwrap();
            line.split(' ').next().unwrap().parse::<f64>().unwrap()
        };
        ((at("PodReady") - at("PodCreated")) * 10.0).round() / 10.0
    };
    assert_eq!(takes(None), 6.1, "it is there");
    assert_eq!(takes(Some("v2")), 10.1, "another image");
    assert_eq!(takes(Some("v1")), 6.1, "it still is");
}

#[test]
fn a_crash_loop_waits_ten_seconds_doubling_to_five_minutes() {
    let mut cluster = running(&["a"]);
    let uid = uid_on(&cluster, "a");
    let waits: Vec<String> = (0..7)
        .map(|_| {
            let since = cluster.now();
            cluster.crash_pod(&uid);
            cluster.run_until_quiet(seconds(3600)).unwrap();
            pod_story(&cluster, since).join(", ")
        })
        .collect();
    let story = |ready: u32| format!("0.0 PodUnready a, {ready}.0 PodReady a");
    assert_eq!(waits, [15, 25, 45, 85, 165, 305, 305].map(story), "5 s of each are the readiness probe");
}

#[test]
fn a_container_that_crashes_at_its_start_is_never_ready() {
    let mut settings = settings();
    settings.behaviour.crash_at_start = Probability::ALWAYS;
    let mut cluster = cluster(settings, &["a"]);
    cluster.create_daemon_set(agent(template("v1")));
    cluster.run_for(seconds(7200));
    assert_eq!(pod_story(&cluster, start()), ["0.1 PodCreated a"]);
    assert_eq!(pod_on(&cluster, "a").status.phase, "Running");
}

#[test]
fn a_pod_that_crashes_at_its_first_start_comes_up_later() {
    let mut cluster = cluster(settings(), &["a"]);
    cluster.create_daemon_set(agent(template("v1")));
    cluster.run_for(seconds(2));
    cluster.crash_pod(&uid_on(&cluster, "a"));
    cluster.run_until_quiet(seconds(600)).unwrap();
    let pod = pod_on(&cluster, "a");
    assert!(is_ready(&pod));
    assert_eq!(pod.status.phase, "Running");
}

#[test]
fn an_evicted_pod_ends_as_failed_and_is_replaced_after_a_back_off() {
    let mut settings = settings();
    settings.behaviour.evicted = Probability::ALWAYS;
    let mut cluster = cluster(settings, &["a"]);
    cluster.create_daemon_set(agent(template("v1")));
    cluster.run_until(start() + millis(5_300));
    assert_eq!(pod_story(&cluster, start())[..2], ["0.1 PodCreated a", "5.2 PodFailed a"]);
    cluster.run_for(seconds(600));
    let failures = pod_story(&cluster, start()).iter().filter(|line| line.contains("PodFailed")).count();
    // The first pod is deleted at once, the others after 1, 2, 4 … 256 s; the next would have to wait for 512 s.
    assert_eq!(failures, 11);
}

/// An agent whose containers need a minute to end, with a grace period of ten seconds.
fn slow_to_end() -> Cluster {
    let mut settings = settings();
    settings.behaviour.stop = Distribution::fixed(seconds(60));
    let mut template = template("v1");
    template["spec"]["terminationGracePeriodSeconds"] = json!(10);
    running_with(settings, &["a"], template)
}

#[test]
fn on_a_live_node_a_pod_ends_within_its_grace_period() {
    let mut cluster = slow_to_end();
    let since = cluster.now();
    cluster.delete_pod(&uid_on(&cluster, "a"));
    let deadline = pod_on(&cluster, "a").metadata.deletion_timestamp;
    assert_eq!(deadline, Some(since + seconds(10)));
    cluster.run_for(seconds(60));
    assert_eq!(pod_story(&cluster, since)[..2], ["0.0 PodTerminating a", "10.0 PodGone a"]);
}

#[test]
fn on_a_dead_node_a_pod_terminates_until_the_node_is_back() {
    let mut cluster = slow_to_end();
    let uid = uid_on(&cluster, "a");
    cluster.take_down("a");
    cluster.delete_pod(&uid);
    cluster.run_for(seconds(86_400));
    assert!(exists(&cluster, &uid));
    let back = cluster.now();
    cluster.bring_up("a");
    cluster.run_for(seconds(1));
    assert_eq!(pod_story(&cluster, back)[0], "0.0 PodGone a");
    assert!(!exists(&cluster, &uid));
}

#[test]
fn a_node_that_goes_down_while_a_pod_ends_keeps_it() {
    let mut cluster = slow_to_end();
    let uid = uid_on(&cluster, "a");
    cluster.delete_pod(&uid);
    cluster.run_for(seconds(5));
    cluster.take_down("a");
    cluster.run_for(seconds(86_400));
    assert!(exists(&cluster, &uid));
}

#[test]
fn the_pods_of_a_node_that_left_are_collected_forty_seconds_later() {
    for goes_down_first in [false, true] {
        let mut cluster = slow_to_end();
        let uid = uid_on(&cluster, "a");
        if goes_down_first {
            cluster.take_down("a");
            cluster.delete_pod(&uid);
        }
        let left = cluster.now();
        cluster.remove_node("a");
        cluster.run_until(left + millis(39_999));
        assert!(exists(&cluster, &uid));
        cluster.run_for(seconds(60));
        assert_eq!(pod_story(&cluster, left).last().unwrap(), "40.0 PodGone a");
    }
}

#[test]
fn finalizers_keep_a_pod_that_has_ended() {
    let with_finalizer = || {
        let mut template = template("v1");
        template["metadata"]["finalizers"] = json!(["example.com/bill"]);
        let cluster = running_with(settings(), &["a"], template);
        let uid = uid_on(&cluster, "a");
        (cluster, uid)
    };
    let (mut cluster, uid) = with_finalizer();
    cluster.delete_pod(&uid);
    cluster.run_for(seconds(3600));
    let kept = cluster.pods().find(|pod| pod.metadata.uid == uid).unwrap();
    assert!(kept.status.phase == "Succeeded" && !is_ready(kept));
    cluster.remove_finalizers(&uid);
    assert!(!exists(&cluster, &uid));

    let (mut cluster, uid) = with_finalizer();
    cluster.delete_pod(&uid);
    cluster.remove_finalizers(&uid);
    assert!(exists(&cluster, &uid), "its containers still run");
    cluster.run_for(seconds(2));
    assert!(!exists(&cluster, &uid));

    let (mut cluster, uid) = with_finalizer();
    cluster.remove_node("a");
    cluster.run_for(seconds(3600));
    assert!(exists(&cluster, &uid), "its node is gone, but not the finalizer");
    cluster.remove_finalizers(&uid);
    assert!(!exists(&cluster, &uid));

    let (mut cluster, uid) = with_finalizer();
    cluster.evict_pod(&uid);
    cluster.delete_pod(&uid);
    let phase = cluster.pods().find(|pod| pod.metadata.uid == uid).map(|pod| pod.status.phase.clone());
    assert_eq!(phase.as_deref(), Some("Failed"), "a phase that has ended never changes");
}

#[test]
fn an_unbound_pod_is_removed_at_once() {
    let mut cluster = cluster(settings(), &[]);
    add_small_node(&mut cluster, "a", 100);
    let mut template = template("v1");
    template["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": "1"}});
    cluster.create_daemon_set(agent(template));
    cluster.run_for(seconds(60));
    let pod = pod_on(&cluster, "a");
    assert!(!is_bound(&pod));
    let since = cluster.now();
    cluster.delete_pod(&pod.metadata.uid);
    assert_eq!(pod_story(&cluster, since), ["0.0 PodTerminating a", "0.0 PodGone a"]);
}

#[test]
fn a_node_that_goes_down_takes_the_readiness_of_its_pods() {
    let mut cluster = running(&["a", "b"]);
    let since = cluster.now();
    cluster.take_down("a");
    cluster.run_for(seconds(600));
    assert_eq!(pod_story(&cluster, since), ["0.0 PodUnready a"]);
    let node = cluster.nodes().find(|node| node.metadata.name.as_str() == "a").unwrap();
    assert_eq!(node.status.conditions[0].status, "Unknown");
    let effects: Vec<_> = node.spec.taints.iter().map(|taint| taint.effect.as_str()).collect();
    assert_eq!(effects, ["NoSchedule", "NoExecute"]);
    let back = cluster.now();
    cluster.bring_up("a");
    cluster.run_until_quiet(seconds(600)).unwrap();
    assert_eq!(pod_story(&cluster, back), ["6.0 PodReady a"], "started again, its image is there");
}
