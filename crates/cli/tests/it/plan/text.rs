//! The text for a person, and the same plan as JSON.

use super::{dump, plan, printed, recording, with};
use insta::{assert_json_snapshot, assert_snapshot};
use serde_json::{Value, json};
use std::io::Read;
use std::process::Command;

#[test]
fn the_readme_shows_what_the_example_prints() {
    let readme = include_str!("../../../../../README.md");
    assert!(readme.contains(printed(&["--example"], "").trim_end()), "the README's output is another one");
    let why = crate::program::run("why", &["node-1", "--example"], b"").out;
    assert!(readme.contains(why.trim_end()), "the README's sentences are others: {why}");
}

#[test]
fn the_built_in_example_waits_in_the_middle_of_an_update() {
    assert_snapshot!(printed(&["--example"], ""), @"
    DaemonSet  monitoring/node-exporter, RollingUpdate, maxUnavailable 1: updated 3/5, ready 4/5, available 4/5
    Revision   node-exporter-6b4c7c96bb #2, current as before
    Budget     spent: 1 of 5 nodes may be unavailable, 1 is (1 not Ready): node-2
    Nodes      5: 1 waiting for Ready, 2 held by maxUnavailable, 2 up to date
    Now        no action: 3 nodes must wait
    As of      2026-11-21T04:01:54Z, the newest time in the built-in example

    NODE    PLACEMENT  POD                  REVISION     STATE              NOW
    node-1  run        node-exporter-hxw9r  outdated #1  available for 15s  waits: maxUnavailable spent (1 of 1)
    node-2  run        node-exporter-h446g  updated #2   Pending for 0s     waits until Ready
    node-3  run        node-exporter-f7xm5  updated #2   available for 1s   up to date
    node-4  run        node-exporter-ghwxh  updated #2   available for 8s   up to date
    node-5  run        node-exporter-h5v6t  outdated #1  available for 15s  waits: maxUnavailable spent (1 of 1)

    Next       time alone changes nothing: look again when an object changes
    Run        kubectl daemonset stuck monitoring/node-exporter --example
    ");
}

/// A List has two DaemonSets; the one that is chosen is new, and its nodes have no pod yet.
#[test]
fn a_new_daemon_set_gets_its_revision_and_its_pods() {
    let fresh = dump("fresh.json");
    let text = printed(&[&fresh, "--daemonset", "logging/fluent-bit"], "").replace(&fresh, "fresh.json");
    assert_snapshot!(text, @"
    DaemonSet  logging/fluent-bit, RollingUpdate, maxUnavailable 1: updated 0/5, ready 0/5, available 0/5
    Revision   fluent-bit-v9vvnvktrm #1, new: this plan creates it
    Budget     spent: 1 of 5 nodes may be unavailable, 5 are (5 not Ready): node-1, node-2, node-3 and 2 more
    Nodes      5: 5 to get a pod
    Now        create 1 revision, create 5 pods, write the status
    As of      2026-11-21T04:00:38Z, the newest time in fresh.json

    NODE    PLACEMENT  POD  REVISION  STATE  NOW
    node-1  run        -    -         -      CREATE: the node has none
    node-2  run        -    -         -      CREATE: the node has none
    node-3  run        -    -         -      CREATE: the node has none
    node-4  run        -    -         -      CREATE: the node has none
    node-5  run        -    -         -      CREATE: the node has none

    Actions, in order
      1. create revision fluent-bit-v9vvnvktrm as #1: no revision has the template
      2. create pod on node-1 (batch 0): the node has none
      3. create pod on node-2 (batch 1): the node has none
      4. create pod on node-3 (batch 1): the node has none
      5. create pod on node-4 (batch 2): the node has none
      6. create pod on node-5 (batch 2): the node has none
      7. write status as it has changed: desired 0 -> 5, unavailable 0 -> 5, observedGeneration 0 -> 1

    Next       time alone changes nothing: look again when an object changes
    ");
}

#[test]
fn a_hundred_nodes_are_a_few_rows() {
    let file = std::fs::File::open(dump("large.json.gz")).unwrap();
    let mut large = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut large).unwrap();
    assert_snapshot!(printed(&["-", "--daemonset", "monitoring/node-exporter"], &large), @"
    DaemonSet  monitoring/node-exporter, RollingUpdate, maxUnavailable 10%: updated 50/100, ready 90/100, available 90/100
    Revision   node-exporter-6ddcdf997f #2, current as before
    Budget     spent: 10 of 100 nodes may be unavailable, 10 are (10 not Ready): node-11, node-12, node-2 and 7 more
    Nodes      100: 10 waiting for Ready, 50 held by maxUnavailable, 40 up to date
    Now        no action: 60 nodes must wait
    As of      2026-11-21T07:55:39Z, the newest time in stdin

    NODE                            PLACEMENT  POD      REVISION     STATE                     NOW
    10 nodes: node-11, node-12,     run        10 pods  updated #2   Pending for 0s to 1s      waits until Ready
    node-2, node-35, node-4,
    node-48, node-57, node-79,
    node-88, node-90
    50 nodes: node-1, node-100,     run        50 pods  outdated #1  available for 17s to 18s  waits: maxUnavailable spent
    node-13 and 47 more                                                                        (10 of 10)
    40 nodes: node-10, node-14,     run        40 pods  updated #2   available for 1s to 13s   up to date
    node-16 and 37 more

    Next       time alone changes nothing: look again when an object changes
    Run        kubectl daemonset stuck monitoring/node-exporter -f -
    ");
}

#[test]
fn a_container_that_waits_is_the_cause_in_the_row_and_in_the_head() {
    let pod = |name: &str, node: &str, reason: &str| {
        let waiting = json!([{"name": "c", "restartCount": 1, "state": {"waiting": {"reason": reason}}}]);
        let owners = json!([{"uid": "uid-of-agent", "controller": true}]);
        let pod = with(super::bare(super::pod(name)), "/metadata/ownerReferences", owners);
        let pod = with(pod, "/metadata/labels", json!({"app": "agent", "pod-template-generation": "2"}));
        let pod = with(pod, "/spec", json!({"nodeName": node}));
        with(pod, "/status", json!({"phase": "Running", "containerStatuses": waiting}))
    };
    let agent = recording("waiting", &["a", "b", "c"]);
    let agent = with(agent, "/daemonSet/spec/templateGeneration", json!(2));
    let pods = [
        pod("agent-1", "a", "CrashLoopBackOff"),
        pod("agent-2", "b", "ImagePullBackOff"),
        pod("agent-3", "c", "ContainerCreating"),
    ];
    let text = printed(&["-f", "-"], &with(agent, "/pods", json!(pods)).to_string());
    let line = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap().to_owned();
    let head = ["Nodes", "Now"].map(line).join("\n");
    assert_snapshot!(head, @"
    Nodes      3: 1 waiting for Ready, 1 waiting for Ready (crashing), 1 waiting for Ready (unable to pull its image)
    Now        create 1 revision, label 3 pods, write the status; 3 nodes must wait (1 crashing, 1 unable to pull its image)
    ");
    let ends = ["a ", "b ", "c "].map(|node| rows(&text, node).rsplit_once("  ").unwrap().1.to_owned());
    assert_eq!(
        ends,
        ["waits until Ready: crashing", "waits until Ready: unable to pull its image", "waits until Ready"]
    );
}

#[test]
fn the_conditions_that_a_plan_writes_are_shown() {
    let agent = with(recording("conditions", &["a"]), "/policy", json!({"conditions": true}));
    let text = printed(&["-f", "-"], &agent.to_string());
    let status = text.lines().find(|line| line.contains("write status")).unwrap().trim().to_owned();
    assert_snapshot!(
        status,
        @"3. write status as it has changed: desired 0 -> 1, unavailable 0 -> 1, observedGeneration 0 -> 1, Available True (EnoughAvailable), Progressing True (Updating)"
    );
}

#[test]
fn a_surging_node_has_two_rows_and_a_tainted_one_its_taint() {
    let surge = printed(&[&dump("surge.json")], "");
    assert_snapshot!(rows(&surge, "node-1"), @"
    node-1  run        fluent-bit-gzlls  updated #2   Pending for 1s    waits until Ready
                       fluent-bit-r4cx9  outdated #1  available for 7s
    ");
    let tainted = printed(&[&dump("tainted.json"), "--daemonset", "logging/fluent-bit"], "");
    let [cordoned, not_ready, broken] = ["node-3", "node-4", "node-6"].map(|node| rows(&tainted, node));
    assert_snapshot!(format!("{cordoned}\n{not_ready}\n{broken}"), @r"
    node-3  run, cordoned                  fluent-bit-xlt5c  updated #1  available for 0s  up to date
    node-4  no new: NoSchedule             fluent-bit-vtfld  updated #1  available for 0s  left alone
            node.kubernetes.io/not-ready,
            node NotReady
    node-6  no: NoExecute broken=true      -                 -           -                 none wanted
    ");
}

/// The rows of one node.
fn rows(text: &str, node: &str) -> String {
    let mut lines = text.lines().skip_while(|line| !line.starts_with(node));
    let first = lines.next().unwrap_or_default();
    let more = lines.take_while(|line| line.starts_with(' '));
    [first].into_iter().chain(more).collect::<Vec<_>>().join("\n")
}

/// 60 nodes, 60 creates and a status.
#[test]
fn many_actions_are_put_together() {
    let names: Vec<String> = (10..70).map(|number| format!("n{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let text = printed(&["-"], &recording("monday", &names).to_string());
    let actions = text.split_once("Actions, in order").unwrap().1;
    assert_snapshot!(actions, @r"
      1. create revision agent-q9dhgz4sln as #1: no revision has the template
      2. create 60 pods on n10 (batch 0), on n11 (batch 1), on n12 (batch 1) and 57 more: the node has none
      3. write status as it has changed: desired 0 -> 60, unavailable 0 -> 60, observedGeneration 0 -> 1

    Next       time alone changes nothing: look again when an object changes
    ");
}

#[test]
fn json_is_the_whole_plan_with_its_name_and_time() {
    let mut agent = recording("monday", &["a"]);
    agent["nodes"][0]["spec"] =
        json!({"taints": [{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}]});
    let plan: Value = serde_json::from_str(&printed(&["-", "-o", "json"], &agent.to_string())).unwrap();
    assert_eq!(plan["actions"][0]["type"], "CreateRevision");
    assert_eq!((&plan["name"], &plan["now"]), (&json!("monday"), &json!("2026-01-01T00:10:00Z")));
    assert_eq!(plan["status"]["desiredNumberScheduled"], 0);
    assert_eq!(plan["warnings"], json!([{"type": "NoTargetNodes"}]));
    assert_json_snapshot!(plan["report"], @r#"
    {
      "budget": {
        "beingReplaced": 0,
        "desired": 0,
        "doubled": 0,
        "lost": 0,
        "maxSurge": 0,
        "maxUnavailable": 1,
        "notReady": 0,
        "unavailable": 0
      },
      "currentRevision": {
        "hash": "q9dhgz4sln",
        "name": "agent-q9dhgz4sln",
        "number": 1,
        "origin": "Created"
      },
      "nodes": [
        {
          "counts": {
            "beingReplaced": false,
            "doubled": false,
            "lost": false,
            "notReady": false,
            "unavailable": false
          },
          "node": "a",
          "nodeReady": null,
          "outcome": {
            "type": "NotTarget"
          },
          "placement": {
            "taint": {
              "effect": "NoSchedule",
              "key": "dedicated",
              "value": "gpu"
            },
            "type": "ContinueOnly"
          },
          "pods": [],
          "unschedulable": false
        }
      ],
      "situation": "Synced",
      "strategy": {
        "limit": 1,
        "type": "Replace"
      }
    }
    "#);
}

#[test]
fn a_warning_and_the_next_wake_up_are_shown() {
    let mut agent = recording("monday", &["a", "b"]);
    agent["policy"] = json!({"burst": 1});
    agent["daemonSet"]["spec"]["updateStrategy"]["rollingUpdate"] = json!({"maxUnavailable": "60%"});
    let text = printed(&["-"], &agent.to_string());
    assert_snapshot!(text, @"
    DaemonSet  logging/agent, RollingUpdate, maxUnavailable 60%: updated 0/2, ready 0/2, available 0/2
    Revision   agent-q9dhgz4sln #1, new: this plan creates it
    Budget     spent: 2 of 2 nodes may be unavailable, 2 are (2 not Ready): a, b
    Policy     burst 1
    Nodes      2: 1 to get a pod, 1 left for the next plan
    Now        create 1 revision, create 1 pod, write the status; 1 node must wait
    As of      2026-01-01T00:10:00Z, the time of recording monday; stdin

    NODE  PLACEMENT  POD  REVISION  STATE  NOW
    a     run        -    -         -      CREATE: the node has none
    b     run        -    -         -      waits for the next plan: this one is full

    Actions, in order
      1. create revision agent-q9dhgz4sln as #1: no revision has the template
      2. create pod on a (batch 0): the node has none
      3. write status as it has changed: desired 0 -> 2, unavailable 0 -> 2, observedGeneration 0 -> 1

    Warning    60% of 2 rounds up to all target nodes
    Next       at once: this plan is full, and more is due
    Run        kubectl daemonset stuck logging/agent -f -
    ");
}

/// Under OnDelete an outdated pod, Ready for 4 s, must be so for 10; an updated one is to come by a person's delete.
#[test]
fn ages_and_instants_are_shown() {
    let mut agent = recording("monday", &["a"]);
    agent["daemonSet"]["spec"]["updateStrategy"] = json!({"type": "OnDelete"});
    agent["daemonSet"]["spec"]["minReadySeconds"] = json!(10);
    agent["pods"] = json!([{
        "metadata": {
            "name": "agent-1", "namespace": "logging", "uid": "1", "labels": {"app": "agent"},
            "ownerReferences": [{"uid": "uid-of-agent", "controller": true}],
        },
        "spec": {"nodeName": "a"},
        "status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:09:56Z"}],
        },
    }]);
    assert_snapshot!(printed(&["-"], &agent.to_string()), @"
    DaemonSet  logging/agent, OnDelete, minReadySeconds 10: updated 0/1, ready 1/1, available 0/1
    Revision   agent-q9dhgz4sln #1, new: this plan creates it
    Budget     none: whoever deletes a pod decides; of 1 nodes 1 is unavailable (0 not Ready): a
    Nodes      1: 1 waiting for you to delete the pod
    Now        create 1 revision, write the status; 1 node must wait
    As of      2026-01-01T00:10:00Z, the time of recording monday; stdin

    NODE  PLACEMENT  POD      REVISION           STATE                   NOW
    a     run        agent-1  outdated, no hash  Ready, available in 6s  waits for you: OnDelete, delete its pod

    Actions, in order
      1. create revision agent-q9dhgz4sln as #1: no revision has the template
      2. write status as it has changed: desired 0 -> 1, scheduled 0 -> 1, ready 0 -> 1, unavailable 0 -> 1, observedGeneration 0 -> 1

    Next       look again at 2026-01-01T00:10:06Z (in 6s): a Ready pod becomes available then
    Run        kubectl daemonset stuck logging/agent -f -
    ");
}

#[test]
fn nothing_is_done_for_a_daemon_set_that_is_being_deleted() {
    let agent = with(
        recording("monday", &["a"]),
        "/daemonSet/metadata/deletionTimestamp",
        json!("2026-01-01T00:00:00Z"),
    );
    assert_snapshot!(printed(&["-"], &agent.to_string()), @r"
    DaemonSet  logging/agent: updated 0/0, ready 0/0, available 0/0, as last written
    Now        nothing: the DaemonSet is being deleted
    As of      2026-01-01T00:10:00Z, the time of recording monday; stdin

    Next       time alone changes nothing: look again when an object changes
    ");
}

/// Colours are for terminals; CLICOLOR_FORCE asks for them elsewhere.
#[test]
fn a_pipe_gets_no_colours() {
    assert!(!plan(&["--example"]).out.contains('\u{1b}'));
    let coloured = |variables: &[(&str, &str)]| {
        let mut command = Command::new(super::binary());
        command.args(["plan", "--example"]);
        command.env_remove("NO_COLOR").envs(variables.iter().copied());
        String::from_utf8(command.output().unwrap().stdout).unwrap().contains('\u{1b}')
    };
    assert!(coloured(&[("CLICOLOR_FORCE", "1")]));
    assert!(!coloured(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
}
