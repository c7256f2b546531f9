//! `simulate` as a user calls it.

use crate::program::{Ran, dump, run};
use insta::assert_snapshot;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

fn simulate(arguments: &[&str]) -> Ran {
    run("simulate", arguments, b"")
}

/// Its stdout when all is well.
fn printed(arguments: &[&str]) -> String {
    let ran = simulate(arguments);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    ran.out
}

/// Its stdout where the rollout does not end well.
fn looked_at(arguments: &[&str]) -> String {
    let ran = simulate(arguments);
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""));
    ran.out
}

fn path(name: &str) -> String {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name).to_str().unwrap().to_owned()
}

#[test]
fn the_readme_shows_what_it_prints_and_draws() {
    let readme = include_str!("../../../../README.md");
    let svg = path("readme.svg");
    let summary = printed(&["--max-unavailable", "10%", "--svg", &svg]);
    assert!(readme.contains(summary.trim_end()), "the README's summary is another one: {summary}");
    let drawn = std::fs::read_to_string(svg).unwrap();
    assert!(drawn == include_str!("../../../../docs/rollout.svg"), "docs/rollout.svg is another one");
}

#[test]
fn the_readme_draws_how_long_each_node_is_down() {
    let readme = include_str!("../../../../README.md");
    let command = "simulate --daemonset logging/fluent-bit --max-unavailable 10% --startup 1500ms --pull 7s \\
    --downtime --compare policy=none pull=10% pull=10%,inPlace=IfPossible maxSurge=10% --svg downtime.svg";
    assert!(readme.contains(command), "the README has another command");
    let svg = path("downtime.svg");
    let words = command.split_whitespace().skip(1).filter(|word| *word != "\\");
    let words: Vec<&str> =
        words.map(|word| if word == "downtime.svg" { svg.as_str() } else { word }).collect();
    assert_snapshot!(printed(&words), @"
    SETTING             DONE IN  WORST DOWN  DOWN A NODE  90 % WITHIN  LONGEST
    no policy             2m13s           6          11s          16s      18s
    pull 10%              1m22s           6         4.5s         9.6s      11s
    pull 10%, in place    1m22s           6         4.3s         8.8s      13s
    maxSurge 10%          2m14s           0           0s           0s       0s
    ");
    let drawn = std::fs::read_to_string(&svg).unwrap();
    assert!(drawn == include_str!("../../../../docs/downtime.svg"), "docs/downtime.svg is another one");
    for text in ["the proposal&apos;s goal: under 5s", "median 4.5s", "no node is down"] {
        assert!(drawn.contains(text), "{text}");
    }
    assert!(readme.contains("11 at the median; 4.5 with pulled images, 4.3 in place; none with surge"));
}

/// A chart is rehearsed before there is a cluster: its pods run first, and then a next version comes.
#[test]
fn a_manifest_is_rolled_out_on_nodes_of_the_built_in_cluster() {
    let manifest = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: web}\n\
        spec:\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    \
        spec: {containers: [{name: web, image: 'web:1'}]}\n";
    let stdin = |manifest: &str, more: &[&str]| {
        run("simulate", &[&["-f", "-", "--nodes", "12"], more].concat(), manifest.as_bytes())
    };
    let note = "note: stdin has no nodes: these are nodes of the built-in cluster\n";
    let ran = stdin(manifest, &["--max-unavailable", "3"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), note));
    assert_snapshot!(ran.out, @"
    DaemonSet  default/web, RollingUpdate, maxUnavailable 3
    Cluster    12 nodes, from stdin, seed 1
    Rollout    complete in 1m52s
    Down       at worst 3 of 12 nodes (0s after the start); maxUnavailable allows 3
    Pods       12 created, 12 deleted
    Controller 80 reconciles
    Left over  none: every target node has an available pod of the new version
    ");
    // The API server's own words.
    let ran = stdin(&manifest.replace("app: web}}\n    spec", "app: other}}\n    spec"), &[]);
    assert_snapshot!(ran.err, @r#"
    error: stdin: The DaemonSet "web" is invalid: spec.template.metadata.labels: Invalid value: {"app":"other"}: `selector` does not match template `labels`
    "#);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    // Two of them, and one that runs nowhere.
    let two = format!("{manifest}---\n{}", manifest.replace("name: web}", "name: other}"));
    let ran = stdin(&two, &[]);
    assert!(ran.err.contains("2 DaemonSets: choose one with --daemonset: web, other"), "{}", ran.err);
    assert_eq!(stdin(&two, &["--daemonset", "other"]).code, Some(0));
    let nowhere = manifest.replace("{containers", "{nodeSelector: {gpu: a}, containers");
    assert_snapshot!(stdin(&nowhere, &[]).err, @"
    note: stdin has no nodes: these are nodes of the built-in cluster
    note: no node may run its pod, by labels or taints, so that nothing is rolled out: `on NODE` tells why
    ");
}

/// The next version is another one, whatever the tag is now.
#[test]
fn a_version_with_the_tag_next_has_a_next_version() {
    let manifest = "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: web}\nspec:\n  selector: {matchLabels: {app: web}}\n  \
        template:\n    metadata: {labels: {app: web}}\n    spec: {containers: [{name: web, image: 'web:next'}]}\n";
    let ran = run("simulate", &["-f", "-", "--nodes", "3"], manifest.as_bytes());
    assert!(ran.out.contains("Pods       3 created, 3 deleted"), "{}", ran.out);
}

/// A policy of the folder `examples`.
fn example(name: &str) -> String {
    format!("{}/../../examples/{name}.yaml", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_page_about_waves_shows_a_rehearsal() {
    let page = include_str!("../../../../docs/waves.md");
    let policy = example("driven");
    let settings = ["--nodes", "40", "--strategy", "OnDelete", "--policy", &policy, "--approve-after", "5m"];
    let rehearsal = printed(&settings);
    let shown: String = rehearsal.lines().map(|line| format!("   {line}\n")).collect();
    assert!(page.contains(&shown), "the page shows another rehearsal: {shown}");
}

#[test]
fn the_readmes_show_a_bad_version_that_is_rolled_back() {
    let readme = include_str!("../../README.md");
    let (svg, policy) = (path("canary.svg"), example("canary"));
    let bad = ["--nodes", "24", "--max-unavailable", "10%", "--lifetime", "20s..60s", "--policy", &policy];
    let summary = looked_at(&[&bad[..], &["--svg", &svg]].concat());
    assert!(readme.contains(summary.trim_end()), "the README's summary is another one: {summary}");
    let drawn = std::fs::read_to_string(svg).unwrap();
    assert!(drawn == include_str!("../../../../docs/canary.svg"), "docs/canary.svg is another one");
    let compared = looked_at(&[&bad[..], &["--bound", "15m", "--compare"]].concat());
    assert!(readme.contains(compared.trim_end()), "the README's comparison is another one: {compared}");
}

#[test]
fn the_plugins_readme_drains_nodes() {
    let readme = include_str!("../../README.md");
    let policy = format!("{}/../../examples/turns.yaml", env!("CARGO_MANIFEST_DIR"));
    let others = ["--workloads", "3", "--disruption-budget", "1"];
    let summary =
        printed(&[&["--nodes", "20", "--max-unavailable", "10%", "--policy", &policy], &others[..]].concat());
    assert!(readme.contains(summary.trim_end()), "the README's summary is another one: {summary}");
}

/// A policy file with this content.
fn policy(name: &str, content: &str) -> String {
    let file = path(name);
    std::fs::write(&file, content).unwrap();
    file
}

#[test]
fn a_version_that_fails_on_the_canary_stops_where_the_policy_pauses() {
    let policy = policy("pause.yaml", "waves: [{upTo: 1}, {}]\nonFailure: {waitingSeconds: 20}\n");
    assert_snapshot!(looked_at(&["--nodes", "4", "--policy", &policy, "--pull-fails"]), @"
    DaemonSet  monitoring/node-exporter, RollingUpdate, maxUnavailable 1
    Cluster    4 nodes, from the built-in cluster, seed 1
    Policy     waves 1, all; Pause when a node fails
    Rollout    failed after 20s (1 node: ImagePullBackOff): no further node gets the new version
    Reached    1 of 4 nodes ever got the new version
    Waves      0: 1 node, from 0s on; 1: 4 nodes, not opened
    Down       at worst 1 of 4 nodes (0s after the start); maxUnavailable allows 1
    Pods       1 created, 1 deleted
    Controller 9 reconciles
    Left over  4 nodes

    NODE    PODS  WHY
    node-1  new   its new pod does not become Ready
    node-2  old   is held: the new version has failed (TooManyFailures)
    node-3  old   is held: the new version has failed (TooManyFailures)
    node-4  old   is held: the new version has failed (TooManyFailures)
    ");
}

#[test]
fn a_wave_waits_until_a_person_approves() {
    let policy = policy("approve.json", r#"{"waves": [{"upTo": 2}, {"needsApproval": true}]}"#);
    let alone = printed(&["--nodes", "4", "--policy", &policy]);
    assert_snapshot!(alone, @"
    DaemonSet  monitoring/node-exporter, RollingUpdate, maxUnavailable 1
    Cluster    4 nodes, from the built-in cluster, seed 1
    Policy     waves 2, all (after approval)
    Rollout    held: all released nodes have the new version, after 48s
    Reached    2 of 4 nodes ever got the new version
    Waves      0: 2 nodes, 0s to 47s; 1: 4 nodes, not opened
    Down       at worst 1 of 4 nodes (0s after the start); maxUnavailable allows 1
    Pods       2 created, 2 deleted
    Controller 17 reconciles
    Left over  2 nodes

    NODE    PODS  WHY
    node-3  old   is held for wave 1: wave 1 waits for approval
    node-4  old   is held for wave 1: wave 1 waits for approval
    ");
    let compared = printed(&["--nodes", "4", "--policy", &policy, "--compare"]);
    assert!(compared.contains("held: 2 of 4    2 of 4"), "{compared}");
    let approved = ["--nodes", "4", "--policy", &policy, "--approve-after", "10m"];
    let summary = printed(&approved);
    assert!(summary.contains("Rollout    complete in 1"), "{summary}");
    let svg = path("approved.svg");
    printed(&[&approved[..], &["--svg", &svg]].concat());
    let drawn = std::fs::read_to_string(svg).unwrap();
    for text in [">wave 1 waits for approval<", ">wave 1 approved<", ">waits for a person<"] {
        assert!(drawn.contains(text), "{text}");
    }
}

#[test]
fn a_person_pauses_and_lets_the_rollout_go_on() {
    let policy = policy("plain.yaml", "{}");
    let (trace, svg) = (path("paused.jsonl"), path("paused.svg"));
    let times = ["--pause-at", "30s", "--resume-at", "20m", "--trace", &trace, "--svg", &svg];
    let summary = printed(&[&["--nodes", "6", "--policy", &policy], &times[..]].concat());
    assert!(summary.contains("Rollout    complete in 21m"), "{summary}");
    let trace = std::fs::read_to_string(trace).unwrap();
    let steered = trace.lines().filter(|line| line.contains("RolloutSteered"));
    let values: Vec<Value> = steered.map(|line| serde_json::from_str(line).unwrap()).collect();
    let paused = |event: &Value| event["annotations"]["rollout.daemonset/paused"].clone();
    assert_eq!(values.iter().map(paused).collect::<Vec<_>>(), [Value::from("true"), Value::Null]);
    let drawn = std::fs::read_to_string(svg).unwrap();
    assert!(drawn.contains(">paused<") && drawn.contains(">resumed<"));
}

#[test]
fn a_policy_with_turns_tells_and_draws_them() {
    let turns = "turn: {cordon: true, gates: [drained, backup]}\ndrain: {}\npull: {parallel: 1}\n";
    let (policy, svg) = (policy("turns.yaml", turns), path("turns.svg"));
    let others = ["--workloads", "2", "--disruption-budget", "1", "--gate", "backup=10s"];
    let summary = printed(&[&["--nodes", "4", "--policy", &policy, "--svg", &svg], &others[..]].concat());
    assert_snapshot!(summary, @"
    DaemonSet  monitoring/node-exporter, RollingUpdate, maxUnavailable 1
    Cluster    4 nodes, from the built-in cluster, seed 1
    Policy     all nodes at once; turns (cordon, gates drained and backup), drain, pull 1
    Rollout    complete in 2m1s
    Reached    4 of 4 nodes ever got the new version
    Down       at worst 1 of 4 nodes (29s after the start); maxUnavailable allows 1
    Turns      4, median 19s, 90 % within 35s, longest 35s; 10 pods evicted, 3 evictions refused
    Downtime   of a node: median 9.1s, 90 % within 20s, longest 20s
    Pods       4 created, 4 deleted
    Controller 91 reconciles
    Left over  none: every target node has an available pod of the new version
    ");
    let drawn = std::fs::read_to_string(svg).unwrap();
    for class in ["cordoned", "drain", "pull"] {
        assert!(
            drawn.contains(&format!("class=\"lane {class}\""))
                && drawn.contains(&format!("class=\"chip {class}\"")),
            "{class}"
        );
    }
    let alone = printed(&["--nodes", "4"]);
    assert!(!alone.contains("Turns") && !alone.contains("Downtime"), "{alone}");
}

#[test]
fn a_gate_that_nobody_opens_holds_the_rollout() {
    let policy = policy("gate.yaml", "turn: {gates: [backup]}\n");
    let summary = looked_at(&["--nodes", "3", "--policy", &policy]);
    assert!(summary.contains("Rollout    stuck: nothing happens any more"), "{summary}");
    assert!(summary.contains("node-1  old   in turn, waits for backup"), "{summary}");
    for (gate, others, expected) in [
        (
            "bakcup=1m",
            &["--policy", policy.as_str()][..],
            "error: bakcup: no such gate: the gates are backup\n",
        ),
        ("backup=1m", &[], "error: backup: no such gate: no policy has gates\n"),
    ] {
        let unknown = simulate(&[&["--nodes", "3", "--gate", gate], others].concat());
        assert_eq!((unknown.code, unknown.err.as_str()), (Some(2), expected));
    }
    let compared = format!("policy={policy}");
    printed(&["--nodes", "3", "--gate", "backup=1m", "--compare", "policy=none", &compared]);
    let usage = simulate(&["--gate", "backup"]);
    assert!(usage.err.contains("must be NAME=TIME"), "{}", usage.err);
}

#[test]
fn a_pod_is_changed_in_its_place() {
    let policy = policy("in-place.yaml", "inPlace: IfPossible\n");
    let (svg, trace) = (path("in-place.svg"), path("in-place.jsonl"));
    let summary = printed(&["--nodes", "3", "--policy", &policy, "--svg", &svg, "--trace", &trace]);
    assert!(summary.contains("Pods       0 created, 0 deleted, 3 changed in their place"), "{summary}");
    let trace = std::fs::read_to_string(trace).unwrap();
    assert_eq!(trace.lines().filter(|line| line.contains("\"event\":\"PodChanged\"")).count(), 3);
    assert!(std::fs::read_to_string(svg).unwrap().contains("3 nodes updated in"));
}

#[test]
fn policies_are_compared_beside_limits() {
    let policy = example("canary");
    let (with, limits) = (format!("policy={policy},maxUnavailable=2"), ["--nodes", "6", "--broken"]);
    let compare = ["--compare", "policy=none,maxUnavailable=2", &with];
    assert_snapshot!(looked_at(&[&limits[..], &compare].concat()), @"
    SETTING                                         DONE IN  EVER NEW  WORST DOWN  BUDGET  MOST DOUBLED  DOWNTIME  PODS CREATED  CRASHES
    no policy, maxUnavailable 2               never: 0 of 6    2 of 6           2       2             0     4m41s             2        0
    policy canary.yaml, maxUnavailable 2  rolled back: 1m6s    1 of 6           1       2             0      1m6s             2        0
    ");
    let json: Value =
        serde_json::from_str(&looked_at(&[&limits[..], &["-o", "json"], &compare].concat())).unwrap();
    let figures = |run: usize| {
        let run = &json["runs"][run];
        (run["end"].clone(), run["nodesReached"].clone(), run["rollout"]["reached"].clone())
    };
    assert_eq!(figures(0), ("Stuck".into(), 2.into(), Value::Null));
    assert_eq!(figures(1), ("RolledBack".into(), 1.into(), 1.into()));
}

#[test]
fn a_driven_rollout_is_simulated_beside_kubernetes_own_controller() {
    let drive = "drive: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 2}}\n";
    let policy = policy("drive.yaml", &format!("{drive}waves: [{{upTo: 1, bakeSeconds: 60}}, {{}}]\n"));
    let driven = ["--nodes", "6", "--strategy", "OnDelete", "--policy", &policy];
    let (trace, svg, html) = (path("driven.jsonl"), path("driven.svg"), path("driven.html"));
    let files = ["--trace", &trace, "--svg", &svg, "--html", &html];
    assert_snapshot!(printed(&[&driven[..], &files].concat()), @"
    DaemonSet  monitoring/node-exporter, OnDelete
    Cluster    6 nodes, from the built-in cluster, seed 1
    Policy     driven beside Kubernetes' own controller, maxUnavailable 2; waves 1 (bake 1m), all
    Rollout    complete in 2m24s
    Reached    6 of 6 nodes ever got the new version
    Waves      0: 1 node, 0s to 1m24s; 1: 6 nodes, 1m24s to 2m23s
    Down       at worst 2 of 6 nodes (1m24s after the start); maxUnavailable allows 2
    Pods       6 created, 6 deleted
    Controller 46 reconciles
    Left over  none: every target node has an available pod of the new version
    ");
    for file in [svg, html] {
        let drawn = std::fs::read_to_string(file).unwrap();
        assert!(drawn.contains("Policy: driven beside Kubernetes"));
    }
    let trace = std::fs::read_to_string(trace).unwrap();
    let events: Vec<Value> = trace.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let count = |event: &str, by: &str| {
        events.iter().filter(|line| line["event"] == event && line["by"] == by).count()
    };
    assert_eq!((count("PodTerminating", "controller"), count("PodCreated", "otherController")), (6, 6));
    let compare = ["--compare", "maxUnavailable=1", "maxUnavailable=3"];
    assert_snapshot!(printed(&[&driven[..], &compare].concat()), @"
    SETTING           DONE IN  EVER NEW  WORST DOWN  BUDGET  MOST DOUBLED  DOWNTIME  PODS CREATED  CRASHES
    maxUnavailable 1    3m14s    6 of 6           1       1             0     2m13s             6        0
    maxUnavailable 3     2m8s    6 of 6           3       3             0     2m13s             6        0
    ");
    let rolling = simulate(&["--policy", &policy]);
    assert_eq!(rolling.code, Some(2), "a DaemonSet with RollingUpdate can't be driven");
    assert!(rolling.err.contains("only a DaemonSet with OnDelete can be driven"), "{}", rolling.err);
}

#[test]
fn the_exit_code_tells_whether_the_rollout_ends_well() {
    let partition = policy("partition.yaml", "waves: [{upTo: 1}]");
    let waits = policy("failing.yaml", "onFailure: {availableWithinSeconds: 60}");
    for (code, arguments) in [
        (0, &["--max-unavailable", "2"][..]),
        (0, &["--policy", &partition]),
        (0, &["--as-is"]),
        (1, &["--broken"]),
        (1, &["--bound", "10s"]),
        (1, &["--strategy", "OnDelete"]),
        (1, &["--broken", "--policy", &waits]),
        (1, &["--compare", "type=OnDelete", "maxUnavailable=1"]),
    ] {
        assert_eq!(simulate(&[&["--nodes", "3"], arguments].concat()).code, Some(code), "{arguments:?}");
    }
}

/// Without a policy neither the summary nor the picture has anything about one.
#[test]
fn without_a_policy_there_is_nothing_of_one() {
    let svg = path("unsteered.svg");
    let summary = printed(&["--nodes", "3", "-o", "json", "--svg", &svg]);
    assert!(!summary.contains("rollout") && !summary.contains("policy") && !summary.contains("Reached"));
    assert!(!std::fs::read_to_string(svg).unwrap().contains("phase"));
}

/// The DaemonSet of a file may have a policy in its annotations, in YAML.
#[test]
fn the_annotations_of_the_daemon_set_steer() {
    let mut list: Value =
        serde_json::from_str(&std::fs::read_to_string(dump("midrollout.json")).unwrap()).unwrap();
    for item in list["items"].as_array_mut().unwrap().iter_mut().filter(|item| item["kind"] == "DaemonSet") {
        item["metadata"]["annotations"]["rollout.daemonset/policy"] = "waves:\n- upTo: 1\n".into();
    }
    let file = path("annotated.json");
    std::fs::write(&file, list.to_string()).unwrap();
    // A note tells that the cluster is in the middle of a rollout.
    let ran = simulate(&["--from", &file]).out;
    assert!(ran.contains("Policy     waves 1\n") && ran.contains("Rollout    held"), "{ran}");
    let ran = simulate(&["--from", &file, "--compare", "policy=none", "maxUnavailable=2"]).out;
    assert!(ran.contains("no policy"), "{ran}");
}

#[test]
fn a_broken_version_shows_the_waiting_nodes_and_why() {
    assert_snapshot!(looked_at(&["--nodes", "5", "--max-unavailable", "2", "--broken"]), @"
    DaemonSet  monitoring/node-exporter, RollingUpdate, maxUnavailable 2
    Cluster    5 nodes, from the built-in cluster, seed 1
    Rollout    stuck: nothing happens any more, after 21s
    Down       at worst 2 of 5 nodes (0s after the start); maxUnavailable allows 2
    Pods       2 created, 2 deleted
    Controller 12 reconciles
    Left over  5 nodes

    NODE    PODS  WHY
    node-1  new   its new pod does not become Ready
    node-2  new   its new pod does not become Ready
    node-3  old   waits: maxUnavailable is spent (2 of 2)
    node-4  old   waits: maxUnavailable is spent (2 of 2)
    node-5  old   waits: maxUnavailable is spent (2 of 2)
    ");
}

/// The built-in DaemonSet tolerates every taint: its new version loses that toleration.
#[test]
fn a_rollout_stops_at_the_budget_when_nodes_are_tainted_for_the_daemons_absence() {
    let trace = path("absence.jsonl");
    let summary =
        looked_at(&["--nodes", "4", "--max-unavailable", "1", "--absence-taint", "--trace", &trace]);
    assert_snapshot!(summary, @"
    DaemonSet  monitoring/node-exporter, RollingUpdate, maxUnavailable 1
    Cluster    4 nodes, from the built-in cluster, seed 1
    Taint      agent-not-ready:NoSchedule on each node that has lost its pod; the new version does not tolerate it
    Rollout    stuck: nothing happens any more, after 1s
    Down       at worst 1 of 4 nodes (0s after the start); maxUnavailable allows 1
    Pods       0 created, 1 deleted
    Controller 5 reconciles
    Left over  4 nodes

    NODE    PODS  WHY
    node-1  none  the update deleted its pod, and it is no target node any more: it counts until it is back
    node-2  old   waits: maxUnavailable is spent (1 of 1)
    node-3  old   waits: maxUnavailable is spent (1 of 1)
    node-4  old   waits: maxUnavailable is spent (1 of 1)
    ");
    let trace = std::fs::read_to_string(trace).unwrap();
    let events: Vec<Value> = trace.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let count = |event: &str, by: &str| {
        events.iter().filter(|line| line["event"] == event && line["by"] == by).count()
    };
    assert_eq!((count("PodTerminating", "controller"), count("NodeTainted", "world")), (1, 1));
    let other = looked_at(&["--nodes", "4", "--max-unavailable", "2", "--absence-taint", "other/taint"]);
    assert!(other.contains("other/taint:NoSchedule") && other.contains("2 deleted"), "{other}");
}

#[test]
fn a_version_that_takes_its_nodes_down_is_reported() {
    assert_snapshot!(looked_at(&["--nodes", "4", "--panics-node", "100%"]), @"
    DaemonSet  monitoring/node-exporter, RollingUpdate, maxUnavailable 1
    Cluster    4 nodes, from the built-in cluster, seed 1
    Rollout    stuck: nothing happens any more, after 21s
    Down       at worst 1 of 4 nodes (0s after the start); maxUnavailable allows 1
    Pods       1 created, 1 deleted
    Controller 8 reconciles
    Left over  4 nodes

    NODE    PODS  WHY
    node-1  new   the node went down with the new version
    node-2  old   waits: maxUnavailable is spent (1 of 1)
    node-3  old   waits: maxUnavailable is spent (1 of 1)
    node-4  old   waits: maxUnavailable is spent (1 of 1)
    ");
}

#[test]
fn a_summary_is_json_too() {
    let summary: Value = serde_json::from_str(&printed(&["--nodes", "3", "-o", "json"])).unwrap();
    assert_eq!(summary["daemonSet"], "monitoring/node-exporter");
    assert_eq!((&summary["end"], &summary["podsCreated"]), (&"Complete".into(), &3.into()));
    assert_eq!(summary["worstUnavailable"]["nodes"], 1);
    let compared =
        printed(&["--nodes", "3", "-o", "json", "--compare", "maxUnavailable=1", "maxUnavailable=3"]);
    let compared: Value = serde_json::from_str(&compared).unwrap();
    assert_eq!(compared["runs"][1]["label"], "maxUnavailable 3");
    assert_eq!(compared["runs"][1]["maxUnavailable"], 3);
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_one_does_not() {
    let rough =
        ["--nodes", "9", "--churn", "10s..60s", "--crash", "2%", "--failure-rate", "30%", "--bound", "30m"];
    let all = |seed: &str, name: &str| {
        let files = ["svg", "html", "jsonl"].map(|kind| path(&format!("{name}.{kind}")));
        let out = ["--svg", &files[0], "--html", &files[1], "--trace", &files[2], "--seed", seed];
        let summary = simulate(&[&rough[..], &out[..]].concat()).out;
        (summary, files.map(|file| std::fs::read(file).unwrap()))
    };
    let first = all("7", "first");
    assert!(first == all("7", "second"));
    assert!(first != all("8", "third"));
}

/// A trace is complete in itself: members, order, and a budget that can be counted from it.
#[test]
fn a_trace_has_every_change() {
    let file = path("trace.jsonl");
    printed(&["--nodes", "12", "--max-unavailable", "3", "--min-ready-seconds", "5", "--trace", &file]);
    let text = std::fs::read_to_string(file).unwrap();
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(
        events.is_sorted_by_key(|event| event["t"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap())
    );
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    let mut alive: BTreeMap<&str, &str> = BTreeMap::new();
    for event in &events {
        let text = |member: &str| event[member].as_str().unwrap_or_default();
        assert!(["controller", "world", "user"].contains(&text("by")), "{event}");
        *kinds.entry(text("event")).or_default() += 1;
        match text("event") {
            "PodCreated" => assert!(alive.insert(text("pod"), text("node")).is_none(), "{event}"),
            "PodGone" => assert_eq!(alive.remove(text("pod")), Some(text("node")), "{event}"),
            "PodReady" | "PodTerminating" => {
                assert_eq!(alive.get(text("pod")), Some(&text("node")), "{event}")
            }
            _ => {}
        }
    }
    assert_eq!((kinds["NodeAdded"], kinds["PodCreated"], kinds["PodGone"]), (12, 24, 12));
    assert_eq!((kinds["PodTerminating"], kinds["DaemonSetChanged"]), (12, 2));
    assert_eq!(alive.len(), 12);
}

#[test]
fn a_real_cluster_goes_on_from_where_it_is() {
    let ran = printed(&["--from", &dump("midrollout.json"), "--as-is"]);
    assert!(ran.contains("Rollout    complete"), "{ran}");
    assert!(ran.contains("Pods       2 created, 2 deleted"), "{ran}");
    // The version that is being rolled out is the new one.
    for fault in ["--broken", "--crash-loops", "--pull-fails"] {
        let ran = simulate(&["--from", &dump("midrollout.json"), "--as-is", fault]);
        assert!(ran.code == Some(1) && ran.out.contains("Rollout    stuck"), "{fault}: {}", ran.out);
    }
    let several = simulate(&["--from", &dump("steady.json")]);
    assert_eq!(several.code, Some(2));
    assert!(several.err.contains("choose one with --daemonset: logging/fluent-bit"), "{}", several.err);
}

/// A recorded policy has the choices of the DaemonSet's annotation in it, and no Namespace is there to ask.
#[test]
fn a_recording_of_turns_is_simulated() {
    let policy = r#"{"turn":{"cordon":true}}"#;
    let recording = |policy_of_controller: &str| {
        let annotation = serde_json::to_string(policy).unwrap();
        format!(
            r#"{{"now": "2026-01-02T00:00:00Z", "policy": {policy_of_controller}, "daemonSet": {{
                "metadata": {{"name": "agent", "namespace": "ns", "uid": "u", "annotations": {{"rollout.daemonset/policy": {annotation}}}}},
                "spec": {{"selector": {{"matchLabels": {{"app": "agent"}}}}, "updateStrategy": {{"type": "RollingUpdate"}},
                    "template": {{"metadata": {{"labels": {{"app": "agent"}}}}, "spec": {{"containers": [{{"name": "c", "image": "a:1"}}]}}}}}}}},
                "nodes": [{{"metadata": {{"name": "a"}}}}, {{"metadata": {{"name": "b"}}}}], "pods": [], "revisions": []}}"#
        )
    };
    let ran = run("simulate", &["-f", "-"], recording(policy).as_bytes());
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert!(ran.out.contains("Turns      2, "), "{}", ran.out);
    let ran = run("simulate", &["-f", "-"], recording("{}").as_bytes());
    assert!(ran.err.contains("turn: Forbidden"), "its controller did not have the power: {}", ran.err);
}

/// A Recording of one DaemonSet with a pod on each of two nodes, with other members beside.
fn recording_of_pods(strategy: &str, pod_status: &str, beside: &str) -> String {
    let container = r#"{"name": "c", "image": "a:1", "resources": {"requests": {"cpu": "2"}}}"#;
    let template = format!(
        r#"{{"metadata": {{"labels": {{"app": "agent"}}}}, "spec": {{"containers": [{container}]}}}}"#
    );
    let owner = r#""ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "u", "controller": true}]"#;
    let pods = ["n0", "n1"].map(|node| {
        format!(
            r#"{{"metadata": {{"name": "agent-{node}", "namespace": "ns", "uid": "pod-{node}", "creationTimestamp": "2026-01-01T00:00:00Z", "labels":
                {{"app": "agent", "controller-revision-hash": "old"}}, {owner}}},
                "spec": {{"nodeName": "{node}", "containers": [{container}]}}, "status": {pod_status}}}"#
        )
    });
    format!(
        r#"{{"now": "2026-01-02T00:00:00Z", "daemonSet": {{"metadata": {{"name": "agent", "namespace": "ns", "uid": "u", "generation": 1}},
            "spec": {{"selector": {{"matchLabels": {{"app": "agent"}}}}, "updateStrategy": {strategy}, "template": {template}}}}},
            "nodes": [{{"metadata": {{"name": "n0"}}}}, {{"metadata": {{"name": "n1"}}}}], "pods": [{}],
            "revisions": [{{"metadata": {{"name": "agent-old", "namespace": "ns", "uid": "r", {owner}, "labels":
                {{"app": "agent", "controller-revision-hash": "old"}}}}, "revision": 1,
                "data": {{"spec": {{"template": {{"$patch": "replace", {}}}}}}}]{beside}}}"#,
        pods.join(", "),
        template.trim_start_matches('{')
    )
}

const READY: &str = r#"{"phase": "Running", "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}"#;
const SURGE: &str = r#"{"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}}"#;

/// A pod of the new version comes beside the old one where the node has room for both, and `fit` holds a pod for which there is none.
#[test]
fn the_free_resources_of_a_recording_are_those_of_its_nodes() {
    let simulated = |free: &str, arguments: &[&str]| {
        let recording = recording_of_pods(SURGE, READY, &format!(r#", "free": {free}"#));
        run("simulate", &[&["-f", "-"], arguments].concat(), recording.as_bytes())
    };
    let end = |free: &str, arguments: &[&str]| {
        let ran = simulated(free, arguments);
        let end = ran.out.lines().find_map(|line| line.strip_prefix("Rollout    "));
        end.unwrap_or_else(|| panic!("{} {}", ran.out, ran.err)).split([' ', ':']).next().unwrap().to_owned()
    };
    let stuck = "stuck";
    let (room, none) = (r#"{"cpu": "2"}"#, r#"{"cpu": "1999m"}"#);
    for arguments in [&[][..], &["--nodes", "5"]] {
        assert_eq!(end("{}", arguments), "complete");
        assert_eq!(end(&format!(r#"{{"n0": {room}, "n1": {room}}}"#), arguments), "complete");
        assert_eq!(end(&format!(r#"{{"n0": {none}, "n1": {room}}}"#), arguments), stuck);
        assert_eq!(end(r#"{"n0": {"memory": "0"}, "n1": {"pods": "1"}}"#, arguments), "complete");
        assert_eq!(end(r#"{"n0": {"pods": "0"}}"#, arguments), stuck);
    }
    let fit = policy("fit.yaml", "fit: Hold\n");
    let replace = ["--policy", &fit, "--max-unavailable", "1", "--max-surge", "0"];
    let full = r#"{"n0": {"cpu": "0"}, "n1": {"cpu": "-1"}}"#;
    let ran = simulated(full, &replace);
    let left = "Left over  1 node\n\nNODE  PODS  WHY\nn1    old   waits: the new pod does not fit (cpu)\n";
    assert!(ran.out.contains("Rollout    stuck") && ran.out.contains(left), "{}", ran.out);
}

/// A pod that still pulls its image when the simulation begins goes on, and one whose container has an image does not pull again.
#[test]
fn an_image_is_there_once_a_kubelet_has_told_its_id() {
    let status = |statuses: &str| {
        format!(
            r#"{{"phase": "Pending", "conditions": [{{"type": "Ready", "status": "False"}}], "containerStatuses": {statuses}}}"#
        )
    };
    let waits = |image_id: &str, reason: &str| {
        let waiting = format!(r#""state": {{"waiting": {{"reason": "{reason}"}}}}"#);
        status(&format!(r#"[{{"name": "c", "imageID": "{image_id}", {waiting}}}]"#))
    };
    for policy in ["", r#", "policy": {"turn": {}}"#] {
        let pulls = |status: &str| {
            let recording = recording_of_pods(r#"{"type": "RollingUpdate"}"#, status, policy);
            let ran = run("simulate", &["-f", "-", "--as-is", "--pull", "5m"], recording.as_bytes());
            assert!(ran.out.contains("Rollout    complete in "), "{} {}", ran.out, ran.err);
            ran.out.contains("Rollout    complete in 5m")
        };
        assert!(pulls(&waits("", "ImagePullBackOff")));
        assert!(pulls(&waits("", "ContainerCreating")));
        assert!(!pulls(&waits("sha256:1", "CrashLoopBackOff")));
        assert!(!pulls(&status("[]")), "no kubelet tells");
    }
}

#[test]
fn bad_input_is_one_line() {
    let unknown = policy("unknown.yaml", "waves: [{upto: 1}]");
    let drive = "drive: {type: RollingUpdate}\nonFailure: {action: RollBack}";
    let (refused, two) =
        (policy("refused.yaml", drive), policy("two.yaml", "paused: true\n---\npaused: false\n"));
    for (arguments, expected) in [
        (&["--from", "/nowhere"][..], "/nowhere: No such file"),
        (&["--max-unavailable", "x"], "maxUnavailable: Invalid value: \"x\""),
        (&["--startup", "soon"], "must be a duration such as 10s"),
        (&["--failure-rate", "200%"], "must be a percentage from 0% to 100%"),
        (
            &["--compare", "nodes=3"],
            "must be type, maxUnavailable, maxSurge, minReadySeconds, pull, inPlace or policy",
        ),
        (&["--compare"], "--compare: name a setting, or a --policy to compare"),
        (&["--policy", "/nowhere.yaml"], "/nowhere.yaml: No such file"),
        (&["--policy", &unknown], "unknown.yaml: waves[0].upto: unknown field `upto`"),
        (&["--policy", &refused], "refused.yaml: onFailure.action: Invalid value"),
        (&["--policy", &two], "two.yaml: has 2 documents, and must have one"),
        (&["--strategy", "Recreate"], "must be OnDelete, RollingUpdate or SurgingRollingUpdate"),
        (&["--nodes", "0"], "0 is not in 1..=100000"),
        (&["--bound", "0s"], "must be more than nothing"),
        (
            &["--pause-at", "20s", "--resume-at", "10s"],
            "resume after 10s: must be later than the pause, which is after 20s",
        ),
        (&["--compare", "maxSurge=1", "--trace", "x"], "cannot be used with"),
        (&["--svg", "/nowhere/x.svg", "--nodes", "1"], "/nowhere/x.svg: No such file"),
    ] {
        let ran = simulate(arguments);
        assert!(ran.code == Some(2) || ran.code == Some(1), "{arguments:?}");
        assert!(ran.err.contains(expected) && ran.err.lines().count() == 1, "{arguments:?}: {}", ran.err);
    }
}
