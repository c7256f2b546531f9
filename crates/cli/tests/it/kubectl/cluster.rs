//! A cluster that answers: arguments, names, namespaces, and more than one DaemonSet.

use super::{CONTEXT, Fake, steered};
use crate::program::dump;
use insta::assert_snapshot;
use serde_json::{Value, json};
use std::fs;

const NOW: [&str; 2] = ["--now", "2026-11-21T04:02:00Z"];
const ALL: &str = "get daemonsets,pods,nodes,controllerrevisions -o json";

fn with<'a>(arguments: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [arguments, more].concat()
}

#[test]
fn a_plan_of_the_current_context() {
    let fake = Fake::of_dump("current", "midrollout.json");
    assert_snapshot!(fake.printed(&with(&["plan"], &NOW)), @"
    DaemonSet  monitoring/node-exporter, RollingUpdate, maxUnavailable 1: updated 3/5, ready 4/5, available 4/5
    Revision   node-exporter-6b4c7c96bb #2, current as before
    Budget     spent: 1 of 5 nodes may be unavailable, 1 is (1 not Ready): node-2
    Nodes      5: 1 waiting for Ready, 2 held by maxUnavailable, 2 up to date
    Now        no action: 3 nodes must wait
    As of      2026-11-21T04:02:00Z, as --now says; context kind-dev

    NODE    PLACEMENT  POD                  REVISION     STATE              NOW
    node-1  run        node-exporter-hxw9r  outdated #1  available for 21s  waits: maxUnavailable spent (1 of 1)
    node-2  run        node-exporter-h446g  updated #2   Pending for 6s     waits until Ready
    node-3  run        node-exporter-f7xm5  updated #2   available for 7s   up to date
    node-4  run        node-exporter-ghwxh  updated #2   available for 14s  up to date
    node-5  run        node-exporter-h5v6t  outdated #1  available for 21s  waits: maxUnavailable spent (1 of 1)

    Next       time alone changes nothing: look again when an object changes
    Run        kubectl daemonset stuck monitoring/node-exporter
    ");
    assert_eq!(fake.calls(), ["config current-context", ALL]);
}

/// A live cluster is planned at the time of the machine.
#[test]
#[expect(clippy::disallowed_methods, reason = "a shell has a clock, the library has none")]
fn the_clock_is_the_machine_s() {
    let fake = Fake::of_dump("clock", "midrollout.json");
    let plan: Value = serde_json::from_str(&fake.printed(&["plan", "-o", "json"])).unwrap();
    let now: jiff::Timestamp = plan["now"].as_str().unwrap().parse().unwrap();
    assert!(jiff::Timestamp::now().duration_since(now).as_secs().abs() < 60, "{now}");
    assert!(fake.printed(&["plan"]).contains("Z, the clock of this machine; context kind-dev\n"));
}

#[test]
fn flags_are_passed_on_exactly() {
    let calls = |name: &str, arguments: &[&str]| {
        let fake = Fake::of_dump(name, "midrollout.json");
        fake.printed(&with(&["plan"], arguments));
        fake.calls()
    };
    assert_eq!(
        calls("context", &["--context", "prod", "--kubeconfig", "a b/config", "-n", "monitoring"]),
        [format!("{ALL} --context prod --kubeconfig a b/config --namespace monitoring")]
    );
    assert_eq!(
        calls("kubeconfig", &["--kubeconfig", "config"]),
        ["config current-context --kubeconfig config".to_owned(), format!("{ALL} --kubeconfig config")]
    );
    let more = "--context prod --cluster c --user u --as system:admin --as-group a --as-group b c --request-timeout 5s";
    assert_eq!(
        calls(
            "connection",
            &[
                "--context",
                "prod",
                "--cluster",
                "c",
                "--user",
                "u",
                "--as",
                "system:admin",
                "--as-group",
                "a",
                "--as-group",
                "b c",
                "--request-timeout",
                "5s",
            ]
        ),
        [format!("{ALL} {more}")]
    );
    let stuck = Fake::of_dump("connection-commands", "midrollout.json");
    let answer = stuck.printed(&with(&["stuck", "--context", "a b", "--as", "me"], &NOW));
    assert!(answer.contains("kubectl describe pod --context 'a b' --as me -n monitoring "), "{answer}");
    let plan = stuck.printed(&with(&["plan", "--context", "a b", "--as", "me"], &NOW));
    assert!(plan.ends_with("stuck monitoring/node-exporter --context 'a b' --as me\n"), "{plan}");
    assert_eq!(
        calls("all", &["--context", "prod", "-A"]),
        [format!("{ALL} --context prod --all-namespaces")]
    );
    assert_eq!(
        calls("selector", &["--context", "prod", "-l", "app=web,tier!=edge"]),
        [
            "get daemonsets -o json --context prod --selector app=web,tier!=edge",
            "get pods,nodes,controllerrevisions -o json --context prod",
        ]
    );
    assert_eq!(
        calls("named", &["--context", "prod", "monitoring/node-exporter"]),
        [format!("{ALL} --context prod --namespace monitoring")]
    );
}

/// Twin clusters have the same names: a command without its cluster would act on the other one.
#[test]
fn every_command_of_an_answer_names_the_cluster() {
    for (number, policy) in [
        "{waves: [{}], onFailure: {availableWithinSeconds: 1}}",
        "{waves: [{needsApproval: true}]}",
        "{paused: true}",
    ]
    .into_iter()
    .enumerate()
    {
        let fake = Fake::new(
            &format!("names-cluster-{number}"),
            "config) echo kind-dev ;;\nget) cat \"$here/cluster.json\" ;;",
        );
        fs::write(fake.path("cluster.json"), steered(&[("policy", policy)]).to_string()).unwrap();
        let mut commands = 0;
        for words in [&["stuck"][..], &["rollout", "status"], &["rollout", "plan"], &["why", "node-1"]] {
            commands += commands_that_name_prod(&fake, words);
        }
        assert!(commands > 0);
    }
}

/// Runs it with `--context prod`: the number of lines with commands, each of which has it, too.
fn commands_that_name_prod(fake: &Fake, words: &[&str]) -> usize {
    let ran = fake.run(&[words, &["--context", "prod"]].concat());
    let text = ran.out + &ran.err;
    let told: Vec<&str> = text.lines().filter(|line| line.contains("kubectl ")).collect();
    for line in &told {
        let commands = line.split("kubectl ").skip(1);
        let lost: Vec<&str> = commands.filter(|command| !command.contains("--context prod")).collect();
        assert!(lost.is_empty(), "{words:?}: {line}");
    }
    told.len()
}

#[test]
fn the_commands_of_a_person_who_deletes_approves_and_opens_name_the_cluster() {
    let daemon_set = |list: &mut Value, change: &dyn Fn(&mut Value)| {
        let items = list["items"].as_array_mut().unwrap();
        items.iter_mut().filter(|item| item["kind"] == "DaemonSet").for_each(change);
    };
    let fake = |name: &str, list: &Value| {
        let fake = Fake::new(name, "config) echo kind-dev ;;\nget) cat \"$here/cluster.json\" ;;");
        fs::write(fake.path("cluster.json"), list.to_string()).unwrap();
        fake
    };
    let mut deletes = steered(&[]);
    daemon_set(&mut deletes, &|ds| ds["spec"]["updateStrategy"] = json!({"type": "OnDelete"}));
    let deletes = fake("names-cluster-delete", &deletes);
    assert_eq!(commands_that_name_prod(&deletes, &["why", "node-1"]), 1);

    let mut failed = steered(&[("policy", "{waves: [{needsApproval: true}], onFailure: {}}")]);
    let items = failed["items"].as_array_mut().unwrap();
    for revision in items.iter_mut().filter(|item| item["revision"] == 2) {
        revision["metadata"]["annotations"]["rollout.daemonset/failed"] =
            json!("2 2026-11-21T04:01:55Z it eats the disk");
    }
    assert_eq!(commands_that_name_prod(&fake("names-cluster-approve", &failed), &["rollout", "approve"]), 1);

    let mut gates = steered(&[("policy", "{turn: {gates: [drained, backup], timeoutSeconds: 1}}")]);
    let items = gates["items"].as_array_mut().unwrap();
    items.push(json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": "monitoring", "annotations": {"rollout.daemonset/powers": "turn"}},
    }));
    for node in items.iter_mut().filter(|item| item["metadata"]["name"] == "node-1") {
        node["metadata"]["annotations"]["turn.daemonset/node-exporter.fc213aa4"] =
            json!("2 2026-11-21T04:01:55Z");
    }
    let gates = fake("names-cluster-gates", &gates);
    assert_eq!(commands_that_name_prod(&gates, &["why", "node-1"]), 1);
    let stuck = gates.run(&["stuck", "--context", "prod"]).out;
    let why = "kubectl daemonset why node/node-1 --daemonset monitoring/node-exporter --context prod";
    assert!(stuck.contains(why), "{stuck}");
}

/// `KUBECTL` names another program.
#[test]
fn kubectl_may_have_another_name() {
    let fake = Fake::of_dump("renamed", "midrollout.json");
    fs::rename(fake.path("kubectl"), fake.path("k")).unwrap();
    let mut command = fake.command(&["plan", "--context", "dev"]);
    command.env("KUBECTL", fake.path("k"));
    assert_eq!(crate::program::finish(command, b"").code, Some(0));
    assert_eq!(fake.calls(), [format!("{ALL} --context dev")]);
}

#[test]
fn a_daemon_set_may_be_named_in_several_ways() {
    let fake = Fake::of_dump("names", "steady.json");
    for name in ["fluent-bit", "logging/fluent-bit", "ds/fluent-bit", "daemonset.apps/fluent-bit"] {
        let out = fake.printed(&["plan", name]);
        assert!(out.starts_with("DaemonSet  logging/fluent-bit, "), "{name}: {out}");
    }
    assert_eq!(
        fake.refused(&["plan", "nobody", "-n", "logging"]),
        "error: context kind-dev, namespace logging: no DaemonSet nobody in namespace logging: there is \
         logging/fluent-bit, monitoring/node-exporter"
    );
    assert_eq!(
        fake.refused(&["plan", "monitoring/x", "-n", "logging"]),
        "error: --namespace logging: the DaemonSet is named in monitoring"
    );
    // The name of a file, but for the kind before it.
    assert!(fake.refused(&["plan", "ds/web.yaml"]).contains("no DaemonSet web.yaml"));
    assert_eq!(fake.refused(&["plan", "a/b/c"]), "error: \"a/b/c\": must be NAME or NAMESPACE/NAME");
    assert_eq!(
        fake.refused(&["plan", "web", "--daemonset", "logging/web"]),
        "error: --daemonset: the DaemonSet is named already"
    );
}

#[test]
fn several_daemon_sets_are_an_overview() {
    let fake = Fake::of_dump("overview", "steady.json");
    assert_snapshot!(fake.printed(&with(&["plan", "-A"], &NOW)), @"
    DAEMONSET                 STRATEGY                         UPDATED  READY  AVAILABLE  NOW            NEXT
    logging/fluent-bit        RollingUpdate, maxUnavailable 1  5/5      5/5    5/5        nothing to do  on a change
    monitoring/node-exporter  RollingUpdate, maxUnavailable 1  5/5      5/5    5/5        nothing to do  on a change

    As of      2026-11-21T04:02:00Z, context kind-dev, all namespaces: 2 DaemonSets
    More       kubectl daemonset plan NAMESPACE/NAME, kubectl daemonset why NODE -A
    ");
    let json: Value = serde_json::from_str(&fake.printed(&["plan", "-A", "-o", "json"])).unwrap();
    let sets = json["daemonSets"].as_array().unwrap();
    assert_eq!(
        sets.iter().map(|set| &set["name"]).collect::<Vec<_>>(),
        ["logging/fluent-bit", "monitoring/node-exporter"]
    );
    assert_eq!(sets[0]["report"]["situation"], "Synced");
}

/// Without a flag, too, where the namespace has several; with one, even where there is only one.
#[test]
fn an_overview_follows_from_the_cluster_or_a_flag() {
    let overview = |fake: &Fake, arguments: &[&str]| fake.printed(arguments).starts_with("DAEMONSET ");
    let two = Fake::of_dump("two", "steady.json");
    assert!(overview(&two, &["plan"]));
    assert!(!overview(&two, &["plan", "fluent-bit"]));
    let one = Fake::of_dump("one", "midrollout.json");
    assert!(!overview(&one, &["plan"]));
    assert!(overview(&one, &["plan", "-A"]));
    assert!(overview(&one, &["plan", "-l", "app=x"]));
}

#[test]
fn a_cluster_without_daemon_sets_says_so() {
    let empty =
        Fake::new("empty", &format!("{CONTEXT}\nget) echo '{{\"kind\": \"List\", \"items\": []}}' ;;"));
    assert_eq!(
        empty.refused(&["plan"]),
        "error: context kind-dev: no DaemonSet in the namespace: -A looks at all of them"
    );
    assert_eq!(
        empty.refused(&["plan", "-A"]),
        "error: context kind-dev, all namespaces: no DaemonSet in the cluster"
    );
}

/// A file, the example and a cluster exclude each other.
#[test]
fn only_one_place_can_be_read() {
    let fake = Fake::of_dump("places", "midrollout.json");
    let file = dump("midrollout.json");
    assert_eq!(fake.refused(&["plan", &file, "--context", "x"]), "error: --context: has no effect on a file");
    assert_eq!(
        fake.refused(&["plan", "--example", "--kubeconfig", "x"]),
        "error: --kubeconfig: has no effect on --example"
    );
    assert_eq!(
        fake.refused(&["plan", "--example", "-f", &file]),
        "error: --example: can't be used with a file"
    );
    assert_eq!(fake.refused(&["plan", &file, "-f", &file]), "error: --filename: the file is named already");
    assert!(fake.calls().is_empty());
    fake.printed(&["plan", "-f", &file]);
    fake.printed(&["plan", "node-exporter", "-f", &file]);
    fake.printed(&["plan", "--time", "1"]);
    assert!(fake.calls().is_empty());
}

/// Revisions are all that a rollout's answers need; kubectl's answer to a change is not the change.
#[test]
fn rollout_reads_less_and_sends_nothing() {
    let fake = Fake::of_dump("rollout", "midrollout.json");
    let status = fake.printed(&["rollout", "status", "--context", "dev", "node-exporter"]);
    assert_eq!(
        status,
        "Waiting for daemon set \"node-exporter\" rollout to finish: 3 out of 5 new pods have been updated...\n"
    );
    let undo = fake.run(&["rollout", "undo", "--context", "dev"]);
    assert_eq!(
        (undo.code, undo.out.as_str()),
        (Some(0), "daemonset.apps/node-exporter rolled back (dry run)\n")
    );
    assert!(
        undo.err.starts_with("nothing is sent; this does it:\nkubectl rollout undo --context dev -n monitoring daemonset/node-exporter\n"),
        "{}",
        undo.err
    );
    assert_eq!(fake.calls(), ["get daemonsets,controllerrevisions -o json --context dev"; 2]);
}

/// A steered rollout asks for nodes and pods, too; a change is a command for the same cluster.
#[test]
fn a_steered_rollout_is_read_whole() {
    let list = steered(&[("policy", "waves: [{needsApproval: true}]")]);
    let fake = Fake::new("steered", &format!("{CONTEXT}\nget) cat \"$here/cluster.json\" ;;"));
    fs::write(fake.path("cluster.json"), list.to_string()).unwrap();
    let ran = fake.run(&with(&["rollout", "status", "--context", "dev"], &NOW));
    assert_eq!(ran.code, Some(1), "a wave waits for approval");
    let status = ran.out;
    assert!(status.contains("\n0     5      3        2          waits for approval\n"), "{status}");
    assert_eq!(
        fake.calls(),
        ["get daemonsets,controllerrevisions -o json --context dev", &format!("{ALL} --context dev")]
    );
    let approve = fake.run(&["rollout", "approve", "--context", "dev one", "--kubeconfig", "config"]);
    assert_eq!(
        approve.err,
        "nothing is sent; this does it:\nkubectl annotate --context 'dev one' --kubeconfig config -n monitoring daemonset/node-exporter \
         --overwrite rollout.daemonset/approved=2=1\n"
    );
    let overview = fake.printed(&with(&["plan", "-A"], &NOW));
    assert!(overview.contains("mark 1 revision; 3 nodes must wait; wave 0 waits for approval"), "{overview}");
}

/// The powers of a policy are those of its namespace, which is asked for where the policy needs one.
#[test]
fn the_namespace_gives_powers() {
    let list = steered(&[("policy", "{turn: {cordon: true}, waves: [{}]}")]);
    let namespace = json!({
        "apiVersion": "v1", "kind": "Namespace",
        // In YAML a text of several lines.
        "metadata": {"name": "monitoring", "annotations": {"rollout.daemonset/powers": "evict,\nturn\n"}},
    });
    let answer = |name: &str, namespaces: &str, command: &[&str]| {
        let cases = format!(
            "{CONTEXT}\nget) case \"$2\" in namespace*) {namespaces} ;; *) cat \"$here/cluster.json\" ;; esac ;;"
        );
        let fake = Fake::new(name, &cases);
        fs::write(fake.path("cluster.json"), list.to_string()).unwrap();
        fs::write(fake.path("namespace.json"), namespace.to_string()).unwrap();
        let ran = fake.run(&with(command, &["--context", "dev"]));
        (ran, fake.calls().pop().unwrap())
    };
    let granted = "cat \"$here/namespace.json\"";
    let (plan, asked) = answer("powers", granted, &["rollout", "plan"]);
    assert_eq!((plan.code, plan.err.as_str()), (Some(0), ""));
    assert_eq!(asked, "get namespace/monitoring -o json --context dev");
    let (overview, asked) = answer("powers-all", granted, &["plan", "-A"]);
    assert!(!overview.out.contains("invalid"), "{}", overview.out);
    assert_eq!(asked, "get namespaces -o json --context dev --all-namespaces");
    // Who may not read the namespace sees no powers.
    let forbidden = "echo 'Error from server (Forbidden)' >&2; exit 1";
    let (plan, _) = answer("powers-forbidden", forbidden, &["rollout", "plan"]);
    assert_eq!(plan.code, Some(2));
    assert!(plan.err.contains("turn: Forbidden: needs the power turn"), "{}", plan.err);
}

/// The manifest names the DaemonSet and its namespace.
#[test]
fn a_manifest_is_compared_with_the_cluster() {
    let fake = Fake::of_dump("manifest", "midrollout.json");
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/src/manifest/example.yaml");
    let restart = fake.run(&["would-restart", "--context", "dev", "-f", manifest]);
    assert_eq!((restart.code, restart.err.as_str()), (Some(1), ""));
    assert!(restart.out.starts_with("node-exporter: applying it restarts every pod\n"), "{}", restart.out);
    let lint = fake.run(&["lint", "--context", "dev", "-f", manifest, "-o", "json"]);
    assert_eq!((lint.code, lint.err.as_str()), (Some(1), ""));
    let found: Value = serde_json::from_str(&lint.out).unwrap();
    assert_eq!(found[0]["rule"], json!("NoReadinessProbe"));
    assert_eq!(
        fake.calls(),
        [
            "get daemonsets,controllerrevisions -o json --context dev --namespace monitoring",
            "get daemonsets,pods,nodes,controllerrevisions -o json --context dev --namespace monitoring",
            "get priorityclasses -o json --context dev --namespace monitoring",
        ]
    );
    assert_eq!(fake.refused(&["would-restart", "--context", "dev"]), "error: --manifest: name the manifest");
}

/// The pods and DaemonSets of each namespace are read, and those of the context's where a manifest has none.
#[test]
fn manifests_of_several_namespaces_are_compared_with_all_of_them() {
    let daemon_set = |metadata: Value| {
        let template = json!({"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "x", "image": "x:1"}]}});
        let spec = json!({"selector": {"matchLabels": {"app": "x"}}, "template": template});
        json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": metadata, "spec": spec})
    };
    let lists = |name: &str, metadata: &[Value]| {
        let config = "config) case \"$2\" in view) echo team ;; *) echo kind-dev ;; esac ;;";
        let fake = Fake::new(name, &format!("{config}\nget) cat \"$here/cluster.json\" ;;"));
        let stored = json!({"kind": "List", "items": [daemon_set(json!({"name": "other", "namespace": "team", "uid": "u"}))]});
        fs::write(fake.path("cluster.json"), stored.to_string()).unwrap();
        let manifests: Vec<Value> = metadata.iter().map(|metadata| daemon_set(metadata.clone())).collect();
        fs::write(fake.path("m.json"), json!({"kind": "List", "items": manifests}).to_string()).unwrap();
        let ran = fake.run(&["lint", "--manifest", "m.json"]);
        let asked = fake.calls().into_iter().find(|call| call.starts_with("get daemonsets")).unwrap();
        (asked.split_once("-o json").unwrap().1.to_owned(), ran.out.matches("(SelectorOverlaps)").count())
    };
    let named = |name: &str, namespace: &str| json!({"name": name, "namespace": namespace});
    assert_eq!(lists("lint-bare", &[json!({"name": "web"})]), (String::new(), 1));
    assert_eq!(
        lists("lint-one-namespace", &[named("web", "team"), named("two", "team")]),
        (" --namespace team".to_owned(), 2)
    );
    assert_eq!(
        lists("lint-two-namespaces", &[named("web", "team"), named("two", "b")]),
        (" --all-namespaces".to_owned(), 1)
    );
}

#[test]
fn a_cluster_is_simulated_only_where_one_is_named() {
    let fake = Fake::of_dump("simulate", "midrollout.json");
    assert!(fake.printed(&["simulate", "--nodes", "2"]).contains("from the built-in cluster"));
    assert!(fake.calls().is_empty());
    let named = fake.printed(&["simulate", "node-exporter", "--as-is"]);
    assert!(named.contains("5 nodes, from context kind-dev, seed 1"), "{named}");
    assert!(fake.printed(&["simulate", "--context", "dev", "--as-is"]).contains("from context dev"));
}

#[test]
fn names_of_the_cluster_are_completed() {
    let names = "get) echo daemonset.apps/web; echo daemonset.apps/logs; echo node/worker-1 ;;";
    let fake = Fake::new("complete", &format!("{CONTEXT}\n{names}"));
    assert_eq!(fake.printed(&["__complete", "plan", "-n", "x", "w"]), "web\nworker-1\n:4\n");
    assert_eq!(fake.printed(&["__complete", "why", "--context=dev", "wo"]), "worker-1\n:4\n");
    assert_eq!(
        fake.calls(),
        [
            "config current-context",
            "get daemonsets -o name --namespace x",
            "get nodes,pods,daemonsets -o name --context dev",
        ]
    );
    assert_eq!(fake.printed(&["__complete", "on", "wo"]), "worker-1\n:4\n");
    assert_eq!(fake.calls()[3..], ["config current-context", "get nodes -o name"]);
    assert_eq!(fake.printed(&["__complete", "plan", "-n", ""]), ":0\n");
    assert_eq!(fake.printed(&["__complete", "plan", "--exa"]), "--example\n:4\n");
    assert_eq!(fake.calls().len(), 5);
}

/// The pods are listed last, and only those of the node.
#[test]
fn a_drain_reads_the_pods_of_its_node_in_all_namespaces() {
    let pods = r#"{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "bare", "namespace": "shop"}, "spec": {"nodeName": "node-1"}}]}"#;
    let nodes = dump("steady.json");
    let get = format!("get) case \"$2\" in pods) echo '{pods}' ;; *) cat '{nodes}' ;; esac ;;");
    let fake = Fake::new("drain", &format!("{CONTEXT}\n{get}"));
    let ran = fake.run(&["drain", "node/node-1", "--context", "dev", "-o", "json"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""));
    let answer: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(answer["missingFlags"], json!(["--force"]));
    assert_eq!(answer["command"], "kubectl drain node-1 --ignore-daemonsets --force --context dev");
    assert_eq!(
        fake.calls(),
        [
            "get daemonsets,nodes -o json --context dev --all-namespaces",
            "get pods -o json --context dev --all-namespaces --field-selector spec.nodeName=node-1",
        ]
    );
    assert_eq!(fake.printed(&["__complete", "drain", ""]).lines().last(), Some(":4"));
    assert_eq!(fake.calls()[2..], ["config current-context", "get nodes -o name"]);
}

/// The daemon pods of a node are those of all namespaces.
#[test]
fn a_node_is_asked_about_in_all_namespaces() {
    let fake = Fake::of_dump("on", "steady.json");
    assert!(
        fake.printed(&["on", "node-1"])
            .starts_with("Node       node-1, of context kind-dev, all namespaces: 2 DaemonSets\n")
    );
    assert_eq!(fake.calls(), ["config current-context", "get daemonsets,nodes -o json --all-namespaces"]);
    let fake = Fake::of_dump("on-namespace", "steady.json");
    fake.printed(&["on", "node-1", "-n", "monitoring"]);
    assert_eq!(fake.calls()[1], "get daemonsets,nodes -o json --namespace monitoring");
}
