//! What a pod's own events say, in a file and in a cluster.

use super::causes::{self, not_ready};
use super::said::cause;
use super::{Cluster, HOUR, ago};
use crate::kubectl::Fake;
use insta::assert_snapshot;
use serde_json::{Value, json};

/// A warning about the pod of node-4, which has come 30 times.
fn warned(mut cluster: Cluster, reason: &str, message: &str, seconds: i64) -> Cluster {
    cluster.events.push(json!({
        "apiVersion": "v1", "kind": "Event", "type": "Warning", "reason": reason, "message": message, "count": 30,
        "metadata": {"name": format!("agent-4.{seconds}"), "namespace": "logging", "creationTimestamp": ago(HOUR)},
        "involvedObject": {"apiVersion": "v1", "kind": "Pod", "namespace": "logging", "name": "agent-4-q9d4m", "uid": "new-node-4"},
        "eventTime": null, "firstTimestamp": ago(HOUR), "lastTimestamp": ago(seconds), "source": {"component": "kubelet"},
    }));
    cluster
}

/// The kubelet makes its containers.
fn creating() -> Cluster {
    let waiting = json!({"waiting": {"reason": "ContainerCreating"}});
    let pending = |pod: &mut Value| pod["status"]["phase"] = json!("Pending");
    not_ready().container("node-4", json!({"state": waiting})).pod("node-4", pending)
}

fn mount() -> Cluster {
    let message = "MountVolume.SetUp failed for volume \"config\" : configmap \"mounts\" not found";
    warned(creating(), "FailedMount", message, 60)
}

#[test]
fn the_last_warning_tells_why_a_pod_is_pending() {
    assert_snapshot!(cause(&mount()), @r#"
    Cause      node-4: pod agent-4-q9d4m is Pending (ContainerCreating): FailedMount (MountVolume.SetUp failed for volume "config" : configmap "mounts" not found; 30 times, the last time 60s ago), since 2026-01-01T09:30:00Z (for 30m)
    Run        kubectl describe pod -n logging agent-4-q9d4m
               kubectl rollout undo -n logging daemonset/agent
    "#);
    assert_snapshot!(mount().why("node-4"), @r#"
    Node node-4, DaemonSet logging/agent
    node-4 should run a pod.
    Pod agent-4-q9d4m is updated, of revision #2; it is Pending since 2026-01-01T09:30:00Z (for 30m).
    It waits until agent-4-q9d4m is Ready. Pod agent-4-q9d4m is Pending (ContainerCreating): FailedMount (MountVolume.SetUp failed for volume "config" : configmap "mounts" not found; 30 times, the last time 60s ago), since 2026-01-01T09:30:00Z (for 30m).
    Run        kubectl describe pod -n logging agent-4-q9d4m
    "#);
    let sandbox =
        warned(mount(), "FailedCreatePodSandBox", "plugin type=\"cni\" failed: no IP addresses\nleft", 5);
    assert_snapshot!(cause(&sandbox).lines().next().unwrap(), @r#"Cause      node-4: pod agent-4-q9d4m is Pending (ContainerCreating): FailedCreatePodSandBox (plugin type="cni" failed: no IP addresses\nleft; 30 times, the last time 5s ago), since 2026-01-01T09:30:00Z (for 30m)"#);
    assert_eq!(mount().findings()[0]["cause"]["event"]["times"], json!(30));
    // What the status has in other words, and what is no warning.
    let mut normal = warned(creating(), "Pulling", "Pulling image \"agent:2\"", 5);
    normal.events[0]["type"] = json!("Normal");
    for other in [normal, warned(creating(), "BackOff", "Back-off restarting", 5)] {
        assert_eq!(cause(&other), cause(&creating()));
    }
}

/// The group events.k8s.io has other names for the same.
#[test]
fn an_event_of_the_newer_group_is_read() {
    let mut newer = mount();
    let event = &mut newer.events[0];
    let message = event["message"].take();
    let about = event["involvedObject"].take();
    *event = json!({
        "apiVersion": "events.k8s.io/v1", "kind": "Event", "type": "Warning", "reason": "FailedMount", "note": message,
        "metadata": {"name": "newer", "namespace": "logging", "creationTimestamp": ago(HOUR)}, "regarding": about,
        "eventTime": ago(HOUR), "series": {"count": 30, "lastObservedTime": ago(60)},
    });
    assert_eq!(cause(&newer), cause(&mount()));
}

#[test]
fn a_probe_that_fails_is_told_with_its_answer() {
    let probe =
        warned(not_ready(), "Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 500", 4);
    assert_snapshot!(cause(&probe).lines().next().unwrap(), @"Cause      node-4: container agent of pod agent-4-q9d4m is running, but not ready: Unhealthy (Readiness probe failed: HTTP probe failed with statuscode: 500; 30 times, the last time 4s ago), since 2026-01-01T09:30:10Z (for 29m)");
    let killed = warned(causes::crash_loop(), "Unhealthy", "Liveness probe failed: connection refused", 4);
    assert_snapshot!(cause(&killed).lines().next().unwrap(), @"Cause      node-4: container agent of pod agent-4-q9d4m crashes again and again: CrashLoopBackOff, 14 restarts, exit code 2 (Error): Unhealthy (Liveness probe failed: connection refused; 30 times, the last time 4s ago), since 2026-01-01T09:02:00Z (for 58m)");
    let kept = causes::finalizer().pod("node-4", |pod| {
        pod["metadata"]["finalizers"] = json!([]);
        pod["metadata"]["uid"] = json!("new-node-4");
    });
    let kept = warned(kept, "FailedKillPod", "error killing pod: context deadline exceeded", 4);
    assert_snapshot!(cause(&kept).lines().next().unwrap(), @"Cause      node-4: pod agent-4-h7k2x should be gone, and the kubelet has not ended it: FailedKillPod (error killing pod: context deadline exceeded; 30 times, the last time 4s ago), since 2026-01-01T09:40:00Z (for 20m)");
}

/// One more list, and only where an event may tell more.
#[test]
fn in_a_cluster_the_events_of_the_pod_are_asked_for() {
    let ask = |name: &str, mut cluster: Cluster| {
        let script =
            "case \"$*\" in *events*) cat \"$here/events.json\" ;; *) cat \"$here/all.json\" ;; esac";
        let fake = Fake::new(name, &format!("config) echo kind-dev ;;\nget) {script} ;;"));
        std::fs::write(fake.path("events.json"), crate::plan::list(std::mem::take(&mut cluster.events)))
            .unwrap();
        std::fs::write(fake.path("all.json"), cluster.json()).unwrap();
        let out = fake.run(&["stuck", "-n", "logging"]).out;
        let events = fake.calls().into_iter().filter(|call| call.contains("events")).collect::<Vec<_>>();
        (out, events.join("\n"))
    };
    let (text, calls) = ask("pod-events", mount());
    assert!(text.contains("FailedMount (MountVolume.SetUp failed"), "{text}");
    assert_snapshot!(calls, @"
    get events -o json --namespace logging --field-selector involvedObject.kind=DaemonSet,type=Warning
    get events -o json --namespace logging --field-selector involvedObject.kind=Pod,type=Warning,involvedObject.name=agent-4-q9d4m
    ");
    let (_, calls) = ask("no-pod-events", causes::image());
    assert!(!calls.contains("kind=Pod"), "{calls}");
}
