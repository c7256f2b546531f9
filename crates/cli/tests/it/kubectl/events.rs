//! `plan --watch` of a cluster whose changes kubectl tells.

use super::watch::{interrupt, start, until};
use super::{Fake, midrollout, newer, object, steered};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::io::BufRead;
use std::process::Stdio;
use std::time::Duration;

/// The pod of node-2, which is not Ready in the list.
const LATE: &str = "node-exporter-h446g";

fn ready(pod: &Value) -> Value {
    let mut pod = pod.clone();
    let condition = json!({"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-21T04:01:58Z"});
    pod["status"] = json!({"phase": "Running", "conditions": [condition]});
    pod
}

fn lines_of(shown: &[String], start: &str) -> String {
    shown
        .iter()
        .filter(|line| line.starts_with(start))
        .map(|line| line.trim_end())
        .collect::<Vec<_>>()
        .join("\n")
}

/// The first of the next pictures in which the line that starts so has this text: a change may come between two looks.
fn picture(out: &mut impl BufRead, [start, text]: [&str; 2]) -> Vec<String> {
    let mut shown = Vec::new();
    for _ in 0..10 {
        shown = until(out, "node-5");
        if lines_of(&shown, start).contains(text) {
            return shown;
        }
    }
    panic!("no {start} has {text}: {shown:?}");
}

#[test]
fn changes_are_applied_and_nothing_is_listed_again() {
    let list = midrollout();
    let fake = Fake::watched("events", &list);
    let (child, mut out) = start(&fake, &[]);
    until(&mut out, "Run");
    let lists = fake.settled();
    let watches: BTreeSet<String> =
        fake.calls().into_iter().filter(|call| call.contains("--watch")).collect();
    let kinds = ["controllerrevisions", "daemonsets", "nodes", "pods"];
    assert_eq!(watches, kinds.map(|kind| format!("get {kind} --watch --output-watch-events -o json")).into());
    let late = object(&list, "Pod", LATE);
    // One that is older than the list is of the past.
    fake.tell("MODIFIED", &ready(&object(&list, "Pod", "node-exporter-hxw9r")));
    fake.tell("MODIFIED", &newer(ready(&late), 100));
    picture(&mut out, ["Now", "delete 1 pod, write the status; 1 node must wait"]);
    // A watch may bring an event late.
    let mut gone = newer(object(&list, "Pod", "node-exporter-f7xm5"), 200);
    fake.tell("MODIFIED", &late);
    fake.tell("DELETED", &gone);
    let shown = picture(&mut out, ["node-3", "CREATE: the node has none"]);
    assert!(lines_of(&shown, "node-2").contains("available for"), "{shown:?}");
    // The next pod of the node.
    gone["metadata"]["name"] = json!("node-exporter-zzzzz");
    gone["metadata"]["uid"] = json!("another");
    fake.tell("ADDED", &newer(gone, 1));
    let mut cordoned = newer(object(&list, "Node", "node-3"), 100);
    cordoned["spec"]["unschedulable"] = json!(true);
    fake.tell("MODIFIED", &cordoned);
    let shown = picture(&mut out, ["node-3", "cordoned"]);
    assert!(lines_of(&shown, "node-3").contains("node-exporter-zzzzz"), "{shown:?}");
    assert_eq!(fake.lists(), lists);
    assert_eq!(interrupt(child), (Some(0), String::new()));
}

/// Where a watch breaks, all is listed at each look, and no watch is started again at once.
#[test]
fn a_watch_that_breaks_is_followed_by_lists() {
    let list = midrollout();
    let fake = Fake::watched("events-break", &list);
    let (child, mut out) = start(&fake, &[]);
    until(&mut out, "Run");
    fake.settled();
    fs::remove_file(fake.path("open")).unwrap();
    let mut other = list.clone();
    let pods = other["items"].as_array_mut().unwrap();
    pods.iter_mut().filter(|item| item["metadata"]["name"] == LATE).for_each(|pod| *pod = ready(pod));
    fs::write(fake.path("cluster.json"), other.to_string()).unwrap();
    let shown = until(&mut out, "node-5");
    assert_eq!(lines_of(&shown, "Now"), "Now        delete 1 pod, write the status; 1 node must wait");
    let lists = fake.lists();
    while fake.lists() < lists + 3 {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(fake.calls().iter().filter(|call| call.contains("--watch")).count(), 4);
    assert_eq!(interrupt(child), (Some(0), String::new()));
}

/// An object that can't be read is listed again, whatever is wrong with the watch.
#[test]
fn an_event_that_can_not_be_read_is_followed_by_a_list() {
    let list = midrollout();
    let fake = Fake::watched("events-bad", &list);
    let (child, mut out) = start(&fake, &[]);
    until(&mut out, "Run");
    let lists = fake.settled();
    let mut broken = newer(object(&list, "Pod", LATE), 100);
    broken["metadata"]["creationTimestamp"] = json!("yesterday");
    fake.tell("MODIFIED", &broken);
    while fake.lists() < lists + 2 {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(interrupt(child), (Some(0), String::new()));
}

/// A selector is that of the DaemonSets, and a time for one request would end a watch.
#[test]
fn the_flags_of_a_watch_are_those_of_the_list() {
    let fake = Fake::watched("events-flags", &midrollout());
    let flags = ["--context", "dev", "-n", "monitoring", "-l", "app=x", "--request-timeout", "5s"];
    let (child, mut out) = start(&fake, &flags);
    until(&mut out, "As of");
    while fake.calls().iter().filter(|call| call.contains("--watch")).count() < 4 {
        std::thread::sleep(Duration::from_millis(20));
    }
    let calls = fake.calls();
    let end = "--watch --output-watch-events -o json --context dev --namespace monitoring";
    assert!(calls.contains(&format!("get daemonsets {end} --selector app=x")), "{calls:?}");
    assert!(calls.contains(&format!("get pods {end}")), "{calls:?}");
    assert_eq!(interrupt(child).0, Some(0));
}

/// Namespaces have no watch: the one of a policy that needs powers is read once, also where that policy comes later.
#[test]
fn a_policy_that_comes_later_has_the_powers_of_its_namespace() {
    let fake = Fake::watched("events-powers", &steered(&[("policy", "waves: [{}]")]));
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata":
        {"name": "monitoring", "annotations": {"rollout.daemonset/powers": "turn"}}});
    fs::write(fake.path("namespace.json"), namespace.to_string()).unwrap();
    let mut command = fake.command(&["rollout", "status", "-w", "--interval", "20ms"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    fake.settled();
    let reads = || fake.calls().iter().filter(|call| call.contains("namespace/")).count();
    assert_eq!(reads(), 0, "{:?}", fake.calls());
    let changed = steered(&[("policy", "{waves: [{}], turn: {cordon: true}}")]);
    fake.tell("MODIFIED", &newer(object(&changed, "DaemonSet", "node-exporter"), 100));
    while reads() == 0 {
        assert_eq!(child.try_wait().unwrap(), None, "it still moves");
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!((interrupt(child), reads()), ((Some(130), String::new()), 1));
}

/// One that may not be read is asked for once.
#[test]
fn a_namespace_that_may_not_be_read_is_asked_for_once() {
    let fake = Fake::watched("events-no-powers", &steered(&[("policy", "waves: [{}]")]));
    let (child, mut out) = start(&fake, &[]);
    until(&mut out, "Run");
    fake.settled();
    let changed = steered(&[("policy", "{waves: [{}], turn: {cordon: true}}")]);
    fake.tell("MODIFIED", &newer(object(&changed, "DaemonSet", "node-exporter"), 100));
    picture(&mut out, ["Invalid", "needs the power turn"]);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(fake.calls().iter().filter(|call| call.contains("namespace/")).count(), 1);
    assert_eq!(interrupt(child), (Some(0), String::new()));
}
