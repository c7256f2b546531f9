//! Turns, pulls, changes in place and fit, as `why`, `plan`, `rollout status` and `rollout plan` tell them.

use crate::plan::{bare, daemon_set, file, list, node, with};
use crate::program::run;
use insta::assert_snapshot;
use serde_json::{Value, json};

const NOW: &str = "2026-01-01T01:00:00Z";
/// The key of logging/agent in annotations of nodes.
const KEY: &str = "agent.3332d3de";

fn ago(seconds: i64) -> String {
    let now: jiff::Timestamp = NOW.parse().unwrap();
    now.checked_sub(jiff::SignedDuration::from_secs(seconds)).unwrap().to_string()
}

fn template(image: &str) -> Value {
    let container = json!({"name": "agent", "image": image, "resources": {"requests": {"memory": "2Gi"}}});
    json!({"metadata": {"labels": {"app": "agent"}}, "spec": {"containers": [container]}})
}

fn revision(name: &str, number: i64, image: &str) -> Value {
    let mut template = template(image);
    template["$patch"] = json!("replace");
    json!({
        "metadata": {
            "name": name, "namespace": "logging", "uid": name, "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": {"app": "agent", "controller-revision-hash": name},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "uid-of-agent", "controller": true}],
        },
        "data": {"spec": {"template": template}},
        "revision": number,
    })
}

/// A pod of `revision`, Ready for half an hour.
fn pod(node: &str, revision: &str) -> Value {
    json!({
        "metadata": {
            "name": format!("{revision}-{node}"), "namespace": "logging", "uid": format!("{revision}-{node}"),
            "creationTimestamp": ago(3600), "labels": {"app": "agent", "controller-revision-hash": revision},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "uid-of-agent", "controller": true}],
        },
        "spec": {"nodeName": node, "containers": [{"name": "agent", "image": "agent:1"}]},
        "status": {
            "phase": "Running", "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": ago(1800)}],
            "containerStatuses": [{"name": "agent", "containerID": "runtime://1", "imageID": "sha256:1", "state": {"running": {}}}],
        },
    })
}

/// DaemonSet logging/agent on nodes a, b and c, which run version 1 while version 2 comes.
struct Fleet(Value);

impl Fleet {
    fn under(policy: Value) -> Self {
        let names = ["a", "b", "c"];
        Fleet(json!({
            "name": "turns", "now": NOW, "policy": policy,
            "daemonSet": bare(with(daemon_set("agent"), "/spec/template", template("agent:2"))),
            "nodes": names.map(|name| bare(node(name))), "pods": names.map(|name| pod(name, "old")),
            "revisions": [revision("old", 1, "agent:1"), revision("new", 2, "agent:2")],
        }))
    }

    /// An annotation of node a.
    fn annotated(mut self, key: &str, value: &str) -> Self {
        let annotations = &mut self.0["nodes"][0]["metadata"]["annotations"];
        if annotations.is_null() {
            *annotations = json!({});
        }
        annotations[key] = json!(value);
        self
    }

    /// Node a is in turn since so many seconds.
    fn in_turn(self, seconds: i64, cordoned: &str) -> Self {
        self.annotated(&format!("turn.daemonset/{KEY}"), &format!("2 {}{cordoned}", ago(seconds)))
    }

    /// A gate of node a that is open for the turn which began so many seconds ago.
    fn open(self, gate: &str, seconds: i64) -> Self {
        self.annotated(&format!("{gate}.gate.daemonset/{KEY}"), &format!("2 {}", ago(seconds)))
    }

    fn set(self, pointer: &str, value: Value) -> Self {
        Fleet(with(self.0, pointer, value))
    }

    fn with_pod(mut self, pod: Value) -> Self {
        self.0["pods"].as_array_mut().unwrap().push(pod);
        self
    }

    fn call(&self, words: &[&str]) -> String {
        let (first, rest) = words.split_first().unwrap();
        let ran = run(first, &[rest, &["-f", "-"]].concat(), self.0.to_string().as_bytes());
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{words:?}");
        ran.out
    }

    /// The sentences about a node or a pod, without the headline and the last one.
    fn why(&self, subject: &str) -> String {
        let text = self.call(&["why", subject]);
        let (_, sentences) = text.split_once('\n').unwrap();
        let lines: Vec<&str> = sentences.lines().filter(|line| !line.starts_with("The figures")).collect();
        lines.join("\n")
    }

    fn json(&self, words: &[&str]) -> Value {
        serde_json::from_str(&self.call(&[words, &["-o", "json"]].concat())).unwrap()
    }

    /// The lines of a text that begin with these labels.
    fn lines(&self, words: &[&str], labels: &[&str]) -> String {
        let text = self.call(words);
        let lines = text.lines().filter(|line| labels.iter().any(|label| line.starts_with(label)));
        lines.collect::<Vec<_>>().join("\n")
    }
}

const HEAD: [&str; 7] = ["Turns", "Pulls", "Fit", "In place", "Nodes", "Now", "Budget"];

fn gates() -> Fleet {
    Fleet::under(
        json!({"turn": {"cordon": true, "gates": ["drained", "backup", "approved"], "timeoutSeconds": 900}}),
    )
}

#[test]
fn a_turn_begins() {
    assert_snapshot!(gates().why("node/a"), @"
    a should run a pod.
    Pod old-a is outdated, of revision #1 (the current one is #2); it is Ready and available since 2026-01-01T00:30:00Z (for 30m).
    This plan begins its turn, and cordons the node: its pod goes once the gates drained, backup and approved are open.
    ");
    assert_snapshot!(gates().lines(&["plan"], &HEAD), @"
    Budget     1 left, 1 for this plan: 1 of 3 nodes may be unavailable, 0 are (0 not Ready)
    Nodes      3: 1 to begin a turn, 2 held by maxUnavailable
    Now        write the status, patch 1 node; 2 nodes must wait
    ");
    let ungated = Fleet::under(json!({"turn": {}}));
    assert_snapshot!(ungated.why("node/a").lines().nth(2).unwrap(), @"This plan begins its turn: a later plan takes its pod.");
}

#[test]
fn a_node_waits_for_gates() {
    let waits = gates()
        .in_turn(1200, " cordoned")
        .open("approved", 1200)
        .set("/nodes/0/spec", json!({"unschedulable": true}));
    assert_snapshot!(waits.why("node/a"), @r#"
    a should run a pod. It is cordoned, which makes no difference to a DaemonSet.
    Pod old-a is outdated, of revision #1 (the current one is #2); it is Ready and available since 2026-01-01T00:30:00Z (for 30m).
    It has been in turn since 2026-01-01T00:40:00Z (for 20m), and its pod goes once the gates drained and backup are open. Open already: approved. That has been overdue since 2026-01-01T00:55:00Z (for 5m). The drain opens drained: kubectl daemonset drain a tells which pods it waits for. Whoever opens backup does it by kubectl annotate node a --overwrite backup.gate.daemonset/agent.3332d3de="2 2026-01-01T00:40:00Z".
    Its turn has cordoned the node, and uncordons it at its end.
    "#);
    assert_snapshot!(waits.lines(&["plan"], &HEAD), @"
    Budget     spent: 1 of 3 nodes may be unavailable, 1 is (1 not Ready): a
    Turns      1 node is in turn: a (for 20m, waits for drained and backup, overdue for 5m)
    Nodes      3: 2 held by maxUnavailable, 1 in turn, waiting for gates
    Now        write the status; 3 nodes must wait
    ");
    let page = include_str!("../../../../docs/turns.md");
    let told: Vec<String> = waits.why("node/a").lines().map(str::to_owned).collect();
    assert!(page.contains(&told[..told.len() - 1].join("\n")), "the page about turns tells something else");
    let turn = json!({
        "since": ago(1200), "key": KEY, "request": format!("2 {}", ago(1200)), "cordoned": true, "open": ["approved"],
        "closed": ["drained", "backup"], "overdueAt": ago(300),
    });
    assert_eq!(waits.json(&["plan"])["details"], json!({"a": {"turn": turn}}));
    assert_eq!(waits.json(&["why", "node/a"])["daemonSets"][0]["detail"], json!({"turn": turn}));
}

#[test]
fn a_gate_that_is_not_overdue_tells_when_it_is() {
    let proceeds = json!({"turn": {"gates": ["backup"], "timeoutSeconds": 900, "onTimeout": "Proceed"}});
    assert_snapshot!(Fleet::under(proceeds).in_turn(60, "").why("node/a"), @r#"
    a should run a pod.
    Pod old-a is outdated, of revision #1 (the current one is #2); it is Ready and available since 2026-01-01T00:30:00Z (for 30m).
    It has been in turn since 2026-01-01T00:59:00Z (for 60s), and its pod goes once the gate backup is open. That is overdue at 2026-01-01T01:14:00Z, in 14m: its pod goes all the same then. Whoever opens backup does it by kubectl annotate node a --overwrite backup.gate.daemonset/agent.3332d3de="2 2026-01-01T00:59:00Z".
    "#);
}

/// Nobody is needed before that.
#[test]
fn closed_gates_tell_when_they_count_as_stuck() {
    let stuck = |turn: Value, seconds| {
        let policy = json!({"turn": turn});
        Fleet::under(policy).in_turn(seconds, "").lines(&["stuck"], &["logging", "Cause", "Waiting"])
    };
    assert_snapshot!(stuck(json!({"gates": ["drained", "backup"]}), 60), @"
    logging/agent: moves: 1 node to wait for, 3 nodes have an outdated pod, about 3 rounds left
    Waiting    a: in turn since 2026-01-01T00:59:00Z (for 60s), waits for drained and backup; it counts as stuck in 9m
    ");
    assert_snapshot!(stuck(json!({"gates": ["drained"], "timeoutSeconds": 900}), 60), @"
    logging/agent: moves: 1 node to wait for, 3 nodes have an outdated pod, about 3 rounds left
    Waiting    a: in turn since 2026-01-01T00:59:00Z (for 60s), waits for drained; it counts as stuck in 24m
    ");
    let proceeds = json!({"gates": ["backup"], "timeoutSeconds": 900, "onTimeout": "Proceed"});
    assert_snapshot!(stuck(proceeds, 60), @"
    logging/agent: moves: 1 node to wait for, 3 nodes have an outdated pod, about 3 rounds left
    Waiting    a: in turn since 2026-01-01T00:59:00Z (for 60s), waits for backup; its pod goes all the same at 2026-01-01T01:14:00Z, in 14m
    ");
    let late = Fleet::under(json!({"turn": {"gates": ["backup"]}})).in_turn(600, "");
    let ran = run("stuck", &["-f", "-"], late.0.to_string().as_bytes());
    assert_eq!(ran.code, Some(1), "{}", ran.out);
}

#[test]
fn a_node_in_turn_waits_for_its_new_pod() {
    let mut fleet = gates().in_turn(600, " cordoned");
    fleet.0["pods"].as_array_mut().unwrap().remove(0);
    assert_snapshot!(fleet.why("node/a"), @"
    a should run a pod.
    It has no pod of the DaemonSet.
    This plan creates its pod at once, because it has none.
    A person has uncordoned the node: this plan notes it, and the end of the turn takes no later cordon back.
    It has been in turn since 2026-01-01T00:50:00Z (for 10m): the turn ends when the node has an available pod of the version that it should run.
    ");
}

#[test]
fn a_turn_ends() {
    let mut ended = gates().in_turn(600, " cordoned").set("/nodes/0/spec", json!({"unschedulable": true}));
    ended.0["pods"][0] = pod("a", "new");
    assert_snapshot!(ended.why("node/a"), @"
    a should run a pod. It is cordoned, which makes no difference to a DaemonSet.
    Pod new-a is updated, of revision #2; it is Ready and available since 2026-01-01T00:30:00Z (for 30m).
    Nothing is to be done here: its pod is updated and available.
    This plan ends its turn, and uncordons the node.
    ");
    let uncordoned = gates().in_turn(600, " cordoned").why("node/a");
    assert_snapshot!(uncordoned.lines().find(|line| line.contains("person")).unwrap(), @"A person has uncordoned the node: this plan notes it, and the end of the turn takes no later cordon back.");
}

#[test]
fn turns_of_others_are_told() {
    let left = Fleet::under(json!({}))
        .annotated("turn.daemonset/gone.00000000", &format!("7 {} cordoned", ago(300)));
    assert_snapshot!(left.why("node/a").lines().last().unwrap(), @"The node has been in turn since 2026-01-01T00:55:00Z (for 5m) for none of these DaemonSets (annotation turn.daemonset/gone.00000000): if it is no other's either, the controller ends that turn.");
}

/// The pull pod of node a.
fn pulling(node: &str, name: &str) -> Value {
    let labels = json!({"pull.daemonset/owner": "uid-of-agent", "pull.daemonset/revision": "new"});
    json!({
        "metadata": {"name": name, "namespace": "logging", "uid": name, "creationTimestamp": ago(40), "labels": labels},
        "spec": {"nodeName": node, "containers": [{"name": "image-0", "image": "agent:2"}]},
        "status": {"phase": "Pending", "containerStatuses": [{"name": "image-0", "state": {"waiting": {"reason": "ContainerCreating"}}}]},
    })
}

#[test]
fn images_are_waited_for() {
    let name = "agent-pull-x";
    let pulls = Fleet::under(json!({"pull": {"parallel": 1}})).with_pod(pulling("a", name));
    assert_snapshot!(pulls.why("node/a"), @"
    a should run a pod.
    Pod old-a is outdated, of revision #1 (the current one is #2); it is Ready and available since 2026-01-01T00:30:00Z (for 30m).
    Its outdated pod stays until agent:2 is on the node. Pod agent-pull-x has been pulling since 2026-01-01T00:59:20Z (for 40s); the update waits for it until 2026-01-01T01:09:20Z (in 9m20s).
    ");
    assert_snapshot!(pulls.why("node/b").lines().nth(2).unwrap(), @"Its outdated pod stays until agent:2 is on the node. No pod pulls yet, since only some of the nodes pull at a time.");
    assert_snapshot!(pulls.why(&format!("pod/{name}")), @"It pulls images for an update of the DaemonSet, and runs nothing: it is no daemon, and counts nowhere. Node a waits for it: kubectl daemonset why node/a --daemonset logging/agent tells for which images.");
    assert_snapshot!(pulls.lines(&["plan"], &HEAD), @"
    Budget     1 left: 1 of 3 nodes may be unavailable, 0 are (0 not Ready)
    Pulls      3 nodes wait for images: a (agent:2, pulled for 40s), b (agent:2, not pulled yet), c (agent:2, not pulled yet)
    Nodes      3: 3 waiting for images
    Now        write the status; 3 nodes must wait
    ");
    let pull = json!({"images": ["agent:2"], "pod": name, "since": ago(40), "endsAt": ago(-560)});
    assert_eq!(pulls.json(&["plan"])["details"]["a"], json!({"pull": pull}));
}

#[test]
fn a_pod_that_does_not_fit_stays() {
    let full =
        Fleet::under(json!({"fit": "Hold"})).set("/free", json!({"a": {"memory": "1Gi"}, "b": {}, "c": {}}));
    assert_snapshot!(full.why("node/a"), @"
    a should run a pod.
    Pod old-a is outdated, of revision #1 (the current one is #2); it is Ready and available since 2026-01-01T00:30:00Z (for 30m).
    The new pod does not fit here: it requests 2Gi of memory, and the node would have 1Gi without its own pods. The old one stays until there is room.
    ");
    assert_snapshot!(full.lines(&["plan"], &HEAD), @"
    Budget     1 left, 1 for this plan: 1 of 3 nodes may be unavailable, 0 are (0 not Ready)
    Fit        1 node has too little for the new pod: a (memory: 2Gi requested, 1Gi free)
    Nodes      3: 1 to lose a pod, 1 too small for the new pod, 1 held by maxUnavailable
    Now        delete 1 pod, write the status; 2 nodes must wait
    ");
}

#[test]
fn a_pod_is_changed_in_its_place_and_settles() {
    let fleet = || Fleet::under(json!({"inPlace": "IfPossible"}));
    assert_snapshot!(fleet().why("node/a").lines().nth(2).unwrap(), @"This plan changes its pod in its place: outdated, within the budget. Containers with a new image start anew; until they run, the pod counts as not Ready.");
    assert_snapshot!(fleet().lines(&["plan"], &HEAD), @"
    Budget     1 left, 1 for this plan: 1 of 3 nodes may be unavailable, 0 are (0 not Ready)
    Nodes      3: 1 to be changed in place, 2 held by maxUnavailable
    Now        change 1 pod, write the status; 2 nodes must wait
    ");
    let changed = |seconds: i64| {
        let was = json!({"agent": {"id": "runtime://1", "imageID": "sha256:1"}});
        let since = json!({"at": ago(seconds), "containers": was, "restarts": {}});
        let mut fleet = fleet();
        fleet.0["pods"][0] = pod("a", "new");
        fleet.set("/pods/0/metadata/annotations", json!({"in-place.daemonset/since": since.to_string()}))
    };
    assert_snapshot!(changed(30).why("node/a"), @"
    a should run a pod.
    Pod new-a is updated, of revision #2; it runs, but has not been Ready since 2026-01-01T00:59:30Z (for 30s).
    It waits until new-a is Ready.
    Pod new-a was changed in its place at 2026-01-01T00:59:30Z (for 30s): its new containers do not all run yet, so that it counts as not Ready.
    Run        kubectl describe pod -n logging new-a
               kubectl logs -n logging new-a --all-containers
    ");
    assert_snapshot!(changed(30).lines(&["plan"], &HEAD), @"
    Budget     spent: 1 of 3 nodes may be unavailable, 1 is (1 not Ready): a
    In place   1 pod is settling: new-a on a for 30s
    Nodes      3: 1 waiting for Ready, 2 held by maxUnavailable
    Now        write the status; 3 nodes must wait
    ");
    assert_snapshot!(changed(660).lines(&["plan"], &["In place", "Warning"]), @"
    In place   1 pod is settling: new-a on a for 11m, stuck
    Warning    changed in their place more than ten minutes ago, and still not started anew: new-a
    ");
}

#[test]
fn a_name_that_another_pod_has_is_told() {
    let mut fleet = Fleet::under(json!({"podNames": "OnePerNode"}));
    fleet.0["pods"].as_array_mut().unwrap().remove(0);
    let create = fleet.json(&["plan"])["actions"]
        .as_array()
        .unwrap()
        .iter()
        .find(|action| action["type"] == "CreatePod")
        .cloned();
    let mut other = pod("elsewhere", "old");
    other["metadata"]["name"] = create.unwrap()["pod"]["metadata"]["name"].clone();
    other["metadata"]["ownerReferences"][0]["uid"] = json!("other");
    let taken = fleet.with_pod(other);
    assert_snapshot!(taken.why("node/a"), @"
    a should run a pod.
    It has no pod of the DaemonSet.
    Its pod can't be created: each pod of this node has one name, and agent-9gp6bjwps7 of another owner has it. Delete that pod if nobody needs it (kubectl delete pod -n logging agent-9gp6bjwps7), or rename the DaemonSet.
    ");
}

#[test]
fn the_other_waits_of_turns_have_their_sentences() {
    let rule = |fleet: Fleet| fleet.why("node/a").lines().nth(2).unwrap().to_owned();
    assert_snapshot!(rule(Fleet::under(json!({"turn": "Keep"}))), @"The policy of turns can't be read, or says Keep: until it is repaired no turn begins or ends, and no outdated pod goes.");
    let unknown =
        json!({"conditions": [{"type": "Ready", "status": "Unknown", "lastTransitionTime": ago(60)}]});
    assert_snapshot!(rule(Fleet::under(json!({"turn": {}})).set("/nodes/0/status", unknown)), @"No turn begins here: the node does not report, and its kubelet could do nothing.");
    let mut crowded = Fleet::under(json!({"turn": {}})).in_turn(60, "");
    crowded.0["pods"].as_array_mut().unwrap().truncate(1);
    assert_snapshot!(rule(crowded), @"It is in turn, but too many other nodes are without an available pod now: its pod stays until some of them have one again.");
}

#[test]
fn the_status_of_a_rollout_tells_turns() {
    let policy = json!({"rollout": {"waves": [{"upTo": 1}, {}]}, "turn": {"gates": ["drained"]}, "pull": {}});
    let fleet = Fleet::under(policy).in_turn(120, "");
    let path = file("turns-status.json", fleet.0.to_string());
    let ran = run("rollout", &["status", &path], b"");
    assert_snapshot!(ran.out, @"
    Waiting for daemon set spec update to be observed...
    Rollout    progressing: 0 of 3 nodes updated, stable revision old

    WAVE  NODES  UPDATED  AVAILABLE  STATE
    0     1      0        0          updating
    1     3      0        0          waits for wave 0

    Turns      1 node is in turn: a (for 2m, waits for drained)
    Pulls      1 node waits for images: a (agent:2, not pulled yet)
    Next       time alone changes nothing: look again when an object changes
    ");
    let ran = run("rollout", &["status", &path, "-o", "json"], b"");
    let json: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(json["details"]["a"]["turn"]["closed"], json!(["drained"]));
}

#[test]
fn the_plan_of_a_rollout_tells_what_happens_on_each_node() {
    let turn = json!({"cordon": true, "gates": ["drained", "backup"], "timeoutSeconds": 900});
    let policy = json!({
        "rollout": {"waves": [{"upTo": 1}, {}]}, "turn": turn, "pull": {}, "inPlace": "IfPossible", "fit": "Hold",
        "podNames": "OnePerNode",
    });
    let of = |policy: &Value| {
        let path = file("turns-plan.json", Fleet::under(policy.clone()).0.to_string());
        run("rollout", &["plan", "--from", &path], b"").out.replace(&path, "turns.json")
    };
    assert_snapshot!(of(&policy), @"
    DaemonSet  logging/agent, turns.json
    Revision   new #2, current as before; stable revision old
    Policy     in force
    Rollout    progressing: 0 of 3 nodes updated, stable revision old

    WAVE  NODES  NEW  OPENS                     NOW               NEW NODES
    0     1      1    at once                   updating          a
    1     3      2    when wave 0 is available  waits for wave 0  b, c

    Stops      nowhere, unless a node fails or does not become available
    Failure    nothing is judged: a version that fails goes on as far as the limits let it
    Each node  has one name for its pods, so that it never has two
               has the new images before its pod goes: 10% of the nodes pull at a time, each for 10m at most
               keeps its pod while the new one would not fit on it
               is cordoned, waits for the gates drained and backup (overdue after 15m), then loses its pod, and is uncordoned once the new one is available
               keeps its pod where nothing but images, labels and annotations is new: it is changed in its place
    ");
    let others = json!({"rollout": {}, "turn": {"gates": ["backup"], "timeoutSeconds": 60, "onTimeout": "Proceed"}, "pull": {"parallel": 1}});
    assert_snapshot!(of(&others), @"
    DaemonSet  logging/agent, turns.json
    Revision   new #2, current as before; stable revision old
    Policy     in force
    Rollout    progressing: 0 of 3 nodes updated, stable revision old
    Waves      none: all 3 nodes are released at once
    Stops      nowhere, unless a node fails or does not become available
    Failure    nothing is judged: a version that fails goes on as far as the limits let it
    Each node  has the new images before its pod goes: 1 node pulls at a time, each for 10m at most
               waits for the gate backup for 60s at most, then loses its pod
    ");
    let path = file("turns-plan-json.json", Fleet::under(policy).0.to_string());
    let json: Value =
        serde_json::from_str(&run("rollout", &["plan", "--from", &path, "-o", "json"], b"").out).unwrap();
    assert_eq!(json["choices"]["turn"], turn);
}

/// The objects of the fleet as kubectl prints them.
#[test]
fn lint_tells_nodes_that_are_too_small() {
    let Fleet(fleet) = Fleet::under(json!({}));
    let kinded = |object: &Value, kind: &str| with(object.clone(), "/kind", json!(kind));
    let small = json!({"allocatable": {"memory": "1Gi", "cpu": "2"}});
    let nodes = fleet["nodes"].as_array().unwrap().iter();
    let nodes = nodes.map(|node| with(kinded(node, "Node"), "/status", small.clone()));
    let items = [kinded(&fleet["daemonSet"], "DaemonSet")].into_iter().chain(nodes).collect();
    let ran = run("lint", &["--from", &file("turns-lint.json", list(items))], b"");
    let line = ran.out.lines().find(|line| line.contains("NodeTooSmall")).unwrap();
    assert_snapshot!(line, @"Error spec.template.spec.containers[0].resources.requests[memory]: 3 of 3 target nodes are too small for the pod, even without any other: it requests memory 2Gi, and none of them has more than 1Gi: a, b, c. Request less, or keep the pod off these nodes with a node selector or affinity. (NodeTooSmall)");
}
