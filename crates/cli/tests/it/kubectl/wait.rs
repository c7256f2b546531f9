//! `rollout status --watch`: how it ends.

use super::watch::{interrupt, until};
use super::{CONTEXT, Fake, midrollout, newer, object, steered};
use crate::program::{Ran, finish};
use serde_json::{Value, json};
use std::fs;
use std::io::BufReader;
use std::process::Stdio;

/// A kubectl that can't watch, whose lists are these, the last one again and again.
fn listing(name: &str, lists: &[Value]) -> Fake {
    let last = lists.len() - 1;
    let fake = Fake::new(
        name,
        &format!(
            "{CONTEXT}\nget) case \"$*\" in *--watch*) exit 1 ;; esac\nn=$(cat \"$here/n\" 2>/dev/null || echo 0)\n\
             [ $n -lt {last} ] && echo $((n + 1)) >\"$here/n\"\ncat \"$here/$n.json\" ;;"
        ),
    );
    for (number, list) in lists.iter().enumerate() {
        fs::write(fake.path(&format!("{number}.json")), list.to_string()).unwrap();
    }
    fake
}

fn wait(fake: &Fake, more: &[&str]) -> Ran {
    let words = ["rollout", "status", "--watch", "--interval", "20ms"];
    fake.run(&[&words, more].concat())
}

/// The cluster once all its nodes have the new version.
fn done(annotations: &[(&str, &str)]) -> Value {
    let mut list = steered(annotations);
    for item in list["items"].as_array_mut().unwrap() {
        if item["kind"] == "Pod" {
            let ready =
                json!({"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-21T04:02:00Z"});
            item["metadata"]["labels"]["controller-revision-hash"] = json!("6b4c7c96bb");
            item["metadata"]["labels"]["pod-template-generation"] = json!("2");
            item["status"] = json!({"phase": "Running", "conditions": [ready]});
        } else if item["kind"] == "DaemonSet" {
            for figure in ["numberReady", "numberAvailable", "updatedNumberScheduled"] {
                item["status"][figure] = json!(5);
            }
            item["status"]["numberUnavailable"] = json!(0);
        }
    }
    list
}

/// The figures of a DaemonSet without a policy, as its controller counts on.
fn counted(updated: u64, available: u64) -> Value {
    let mut daemon_set = object(&midrollout(), "DaemonSet", "node-exporter");
    daemon_set["status"]["updatedNumberScheduled"] = json!(updated);
    daemon_set["status"]["numberAvailable"] = json!(available);
    daemon_set
}

const WAITING: &str =
    "Waiting for daemon set \"node-exporter\" rollout to finish: 3 out of 5 new pods have been updated...\n";

#[test]
fn without_a_policy_it_waits_as_kubectl_does() {
    let fake = Fake::watched("wait", &midrollout());
    let mut command = fake.command(&["rollout", "status", "-w", "--interval", "20ms"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    assert_eq!(until(&mut out, "Waiting").concat(), WAITING);
    let lists = fake.settled();
    fake.tell("MODIFIED", &newer(counted(5, 4), 100));
    assert_eq!(
        until(&mut out, "Waiting").concat(),
        "Waiting for daemon set \"node-exporter\" rollout to finish: 4 of 5 updated pods are available...\n"
    );
    fake.tell("MODIFIED", &newer(counted(5, 5), 200));
    assert_eq!(
        until(&mut out, "daemon set").concat(),
        "daemon set \"node-exporter\" successfully rolled out\n"
    );
    assert_eq!(child.wait().unwrap().code(), Some(0));
    // Only the DaemonSets and their revisions are looked at.
    assert_eq!(fake.lists(), lists);
    assert!(fake.calls().iter().all(|call| !call.contains("pods")), "{:?}", fake.calls());
}

#[test]
fn a_rollout_that_is_done_or_goes_on_no_more_ends_the_wait() {
    let policy = |text: &'static str| ("policy", text);
    let waves = policy("waves: [{upTo: 3}, {needsApproval: true}]");
    let ends = |name: &str, list: Value, code: i32, told: &str| {
        let fake = listing(&format!("wait-{name}"), &[steered(&[policy("waves: [{}]")]), list]);
        let ran = wait(&fake, &[]);
        assert_eq!((ran.code, ran.err.as_str()), (Some(code), ""), "{name}: {}", ran.out);
        assert!(ran.out.contains(told), "{name}: {}", ran.out);
        // The answer is that of one look.
        let once = fake.run(&["rollout", "status"]);
        assert_eq!(once.code, Some(code), "{name}");
    };
    ends("done", done(&[waves]), 0, "Rollout    complete: 5 of 5 nodes updated");
    // The nodes of its waves have the new version, and the others keep the old one for good.
    let two = "{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [node-3, node-4]}]}";
    let partition = steered(&[("policy", &format!("waves: [{{nodes: {two}}}]"))]);
    ends(
        "partition",
        partition,
        0,
        "Held       2 nodes are in no wave and keep the old version: node-1, node-5",
    );
    ends("paused", steered(&[waves, ("paused", "true")]), 1, "Resume     kubectl daemonset rollout resume");
    ends(
        "invalid",
        steered(&[policy("waves: [{upto: 3}]")]),
        2,
        "Invalid    annotation rollout.daemonset/policy",
    );
    let judged = policy("{waves: [{}], onFailure: {action: Pause, availableWithinSeconds: 1}}");
    ends("failed", steered(&[judged]), 1, "Rollout    failed (TooManyFailures), no further node is updated");
    let back = policy("{waves: [{}], onFailure: {action: RollBack, availableWithinSeconds: 1}}");
    ends("rolled-back", steered(&[back]), 1, "all nodes go back to");
    let approval = policy("waves: [{nodes: {matchLabels: {none: none}}}, {needsApproval: true}]");
    ends("approval", steered(&[approval]), 1, "Approve    kubectl daemonset rollout approve");
}

/// The version that somebody waits for fails, and is undone before anybody looks again.
#[test]
fn a_version_that_is_undone_between_two_looks_is_not_done() {
    let policy = ("policy", "{waves: [{}], onFailure: {action: Undo, maxRestarts: 3}}");
    let before = steered(&[policy]);
    let number = |list: &Value, name: &str| object(list, "ControllerRevision", name)["revision"].as_i64();
    let failed = number(&before, "node-exporter-6b4c7c96bb").unwrap();
    let mut after = done(&[policy]);
    for item in after["items"].as_array_mut().unwrap() {
        if item["kind"] == "ControllerRevision" && item["metadata"]["name"] == "node-exporter-6b4c7c96bb" {
            item["revision"] = json!(failed + 1);
            item["metadata"]["annotations"]["rollout.daemonset/restored"] =
                json!(format!("{failed} 2026-11-21T04:01:00Z"));
        }
    }
    let fake = listing("wait-undone", &[before.clone(), before, after]);
    let ran = wait(&fake, &[]);
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    assert_eq!(ran.err, format!("error: revision {failed} has failed, and the template before it is back\n"));
}

#[test]
fn a_wait_has_an_end() {
    let fake = listing("wait-timeout", &[midrollout()]);
    let ran = wait(&fake, &["--timeout", "2s"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(124), WAITING));
    assert_eq!(ran.err, "error: timed out waiting for the condition\n");
    let json = wait(&fake, &["--timeout", "2s", "-o", "json"]);
    assert_eq!(serde_json::from_str::<Value>(&json.out).unwrap()["type"], "Updating");
    // One answer, which is no end.
    assert_eq!(fake.run(&["rollout", "status"]).code, Some(0));
}

/// A server may never answer, and a program that kubectl has started, as one for credentials, may live on.
#[test]
fn a_look_that_hangs_ends_with_the_wait() {
    let hangs = "sleep 5; exit 1 ;;";
    let first = Fake::new("wait-hangs", &format!("{CONTEXT}\nget) {hangs}"));
    let looks = "n=$(cat \"$here/n\" 2>/dev/null || echo 0); echo $((n + 1)) >\"$here/n\"
        [ $n -lt 2 ] && exec cat \"$here/cluster.json\"";
    let later = Fake::new(
        "wait-hangs-later",
        &format!("{CONTEXT}\nget) case \"$*\" in *--watch*) exit 1 ;; esac\n{looks}\n{hangs}"),
    );
    fs::write(later.path("cluster.json"), midrollout().to_string()).unwrap();
    for (fake, out) in [(first, ""), (later, WAITING)] {
        let ran = wait(&fake, &["--timeout", "1s"]);
        let timed_out = "error: timed out waiting for the condition\n";
        assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(124), out, timed_out));
    }
}

/// A connection that breaks between two reads says nothing about the powers of a namespace.
#[test]
fn a_namespace_that_could_not_be_read_is_read_again() {
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata":
        {"name": "monitoring", "annotations": {"rollout.daemonset/powers": "turn"}}});
    let policy = ("policy", "{turn: {cordon: true}, waves: [{}]}");
    let looks = "n=$(cat \"$here/n\" 2>/dev/null || echo 0)";
    let script = format!(
        "{CONTEXT}\nget) {looks}\ncase \"$*\" in *--watch*) exit 1 ;;
         'get namespace/'*) [ $n -eq 3 ] && echo 'Unable to connect to the server: EOF' >&2 && exit 1; cat \"$here/namespace.json\" ;;
         *) echo $((n + 1)) >\"$here/n\"; [ $n -lt 5 ] && exec cat \"$here/moves.json\"; cat \"$here/done.json\" ;; esac ;;"
    );
    let fake = Fake::new("wait-namespace", &script);
    fs::write(fake.path("namespace.json"), namespace.to_string()).unwrap();
    fs::write(fake.path("moves.json"), steered(&[policy]).to_string()).unwrap();
    fs::write(fake.path("done.json"), done(&[policy]).to_string()).unwrap();
    let ran = wait(&fake, &["--timeout", "20s"]);
    assert_eq!((ran.code, ran.err.lines().count()), (Some(0), 1), "{} {}", ran.out, ran.err);
    assert!(ran.err.contains("Unable to connect to the server: EOF; trying again"), "{}", ran.err);
}

#[test]
fn a_wait_is_about_a_cluster_and_its_first_look_succeeds() {
    let fake = listing("wait-refused", &[midrollout()]);
    assert_eq!(
        fake.refused(&["rollout", "status", "--watch", "--example"]),
        "error: the built-in example: --watch: only a cluster that kubectl reads can change"
    );
    assert_eq!(
        fake.refused(&["rollout", "status", "--watch", "nobody"]),
        "error: context kind-dev: no DaemonSet nobody in the namespace: there is monitoring/node-exporter"
    );
    let on_delete = {
        let mut list = midrollout();
        let items = list["items"].as_array_mut().unwrap();
        let daemon_set = items.iter_mut().find(|item| item["kind"] == "DaemonSet").unwrap();
        daemon_set["spec"]["updateStrategy"] = json!({"type": "OnDelete"});
        list
    };
    let refused = wait(&listing("wait-on-delete", &[on_delete]), &[]);
    assert_eq!(
        (refused.code, refused.err.as_str()),
        (Some(1), "error: rollout status is only available for RollingUpdate strategy type\n")
    );
}

/// A look that fails is one line, the same failure again is none, and the next look follows.
#[test]
fn a_look_that_fails_is_followed_by_the_next() {
    let bad = || json!({"items": 7});
    let fake = listing("wait-fails", &[midrollout(), midrollout(), bad(), bad(), bad(), done(&[])]);
    let ran = finish(fake.command(&["rollout", "status", "--watch", "--interval", "20ms"]), b"");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.ends_with("successfully rolled out\n"), "{}", ran.out);
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    assert!(ran.err.contains("; trying again"), "{}", ran.err);
    // After a good look it is news.
    let fake =
        listing("wait-fails-again", &[midrollout(), midrollout(), bad(), midrollout(), bad(), done(&[])]);
    let ran = wait(&fake, &[]);
    assert_eq!((ran.code, ran.err.lines().count()), (Some(0), 2), "{}", ran.err);
}

/// Nobody waits for a DaemonSet that is deleted, nor for another one that comes.
#[test]
fn a_daemon_set_that_is_gone_ends_the_wait() {
    let gone = "error: DaemonSet monitoring/node-exporter is gone\n";
    let without = || {
        let mut list = midrollout();
        list["items"].as_array_mut().unwrap().retain(|item| item["kind"] != "DaemonSet");
        list
    };
    let mut other = without();
    let mut daemon_set = object(&midrollout(), "DaemonSet", "node-exporter");
    daemon_set["metadata"]["name"] = json!("other");
    other["items"].as_array_mut().unwrap().push(daemon_set);
    // It was deleted and made again between two looks, and the new one is done.
    let mut again = done(&[]);
    let items = again["items"].as_array_mut().unwrap();
    items.iter_mut().find(|item| item["kind"] == "DaemonSet").unwrap()["metadata"]["uid"] = json!("another");
    for (name, last) in [("wait-gone", without()), ("wait-other", other), ("wait-again", again)] {
        let fake = listing(name, &[midrollout(), midrollout(), midrollout(), last]);
        let ran = wait(&fake, &["--timeout", "3s"]);
        assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(1), WAITING, gone), "{name}");
    }
    // A watch tells it, too.
    let fake = Fake::watched("wait-deleted", &midrollout());
    let mut command = fake.command(&["rollout", "status", "-w", "--interval", "20ms", "--timeout", "10s"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    fake.settled();
    fake.tell("DELETED", &newer(object(&midrollout(), "DaemonSet", "node-exporter"), 100));
    let ended = child.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), String::from_utf8_lossy(&ended.stderr).as_ref()), (Some(1), gone));
}

/// A time that no clock can tell is none.
#[test]
fn a_wait_may_be_longer_than_any_clock() {
    let fake = listing("wait-long", &[midrollout(), midrollout(), midrollout(), done(&[])]);
    let ran = wait(&fake, &["--timeout", "9223372036854775807s"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
    let fake = listing("wait-seldom", &[midrollout()]);
    let words = ["rollout", "status", "--watch", "--interval", "9223372036854775807s"];
    let mut command = fake.command(&words);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    assert_eq!(until(&mut out, "Waiting").concat(), WAITING);
    // It waits, until somebody interrupts it.
    assert_eq!(interrupt(child), (Some(130), String::new()));
}
