//! `describe`, `lint`, `would-restart`, `create`, `update`, `rollout …`: text, JSON and exit codes.

use crate::plan::{daemon_set, file, list, node, pod, recording, with};
use crate::program::{Ran, dump, run};
use insta::assert_snapshot;
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn call(line: &str) -> Ran {
    let mut words = line.split(' ');
    let subcommand = words.next().unwrap();
    run(subcommand, &words.collect::<Vec<_>>(), b"")
}

/// Its stdout, with this exit code and nothing on stderr.
fn printed(code: i32, line: &str) -> String {
    let ran = call(line);
    assert_eq!((ran.code, ran.err.as_str()), (Some(code), ""), "{line}");
    ran.out
}

fn json_of(code: i32, line: &str) -> Value {
    serde_json::from_str(&printed(code, &format!("{line} -o json"))).unwrap()
}

fn refused(line: &str) -> String {
    let ran = call(line);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{line}");
    ran.err
}

#[test]
fn describe_shows_the_conditions_that_are_stored() {
    let mut stored = recording("conditions", &["a"]);
    let message = "2 of 2 nodes lack an available pod, and at most 1 may: 1 node down, 1 without a pod";
    stored["daemonSet"]["status"] = json!({"conditions": [
        {"type": "Available", "status": "False", "reason": "TooManyUnavailable", "message": message},
        {"type": "Odd"},
    ]});
    let text = printed(0, &format!("describe {}", file("conditions.json", stored.to_string())));
    let conditions = text.split_once("Conditions:").unwrap().1.split_once("\n\n").unwrap().0;
    assert_snapshot!(format!("Conditions:{conditions}"), @"
    Conditions:
      Type       Status  Reason              Message
      ----       ------  ------              -------
      Available  False   TooManyUnavailable  2 of 2 nodes lack an available pod, and at most 1 may: 1 node down, 1 without a pod
      Odd
    ");
    assert!(!printed(0, "describe --example").contains("Conditions:"));
}

#[test]
fn describe_has_the_plan_in_short_and_the_template() {
    let text = printed(0, "describe --example");
    let (head, template) = text.split_once("\n\n").unwrap();
    assert_snapshot!(head, @"
    DaemonSet  monitoring/node-exporter, RollingUpdate, maxUnavailable 1: updated 3/5, ready 4/5, available 4/5
    Revision   node-exporter-6b4c7c96bb #2, current as before
    Budget     spent: 1 of 5 nodes may be unavailable, 1 is (1 not Ready): node-2
    Nodes      5: 1 waiting for Ready, 2 held by maxUnavailable, 2 up to date
    Now        no action: 3 nodes must wait
    As of      2026-11-21T04:01:54Z, the newest time in the built-in example
    Next       time alone changes nothing: look again when an object changes
    Run        kubectl daemonset stuck monitoring/node-exporter --example
    ");
    let template: Vec<&str> = template.lines().take(12).collect();
    assert_snapshot!(template.join("\n"), @"
    Pod Template:
      Labels:       app.kubernetes.io/component=exporter
                    app.kubernetes.io/name=node-exporter
                    app.kubernetes.io/part-of=kube-prometheus
                    app.kubernetes.io/version=1.9.0
      Annotations:  kubectl.kubernetes.io/default-container: node-exporter
                    pod-ready.stage.kwok.x-k8s.io/delay: 6s
      Containers:
       node-exporter:
        Image:      quay.io/prometheus/node-exporter:v1.9.1
        Port:       <none>
        Host Port:  <none>
    ");
    let old = printed(0, "describe --example --revision 1");
    assert!(old.contains("Pod Template of revision 1:\n") && old.contains("node-exporter:v1.9.0\n"), "{old}");
    let ran = call("describe --example --revision 9");
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), "error: unable to find the specified revision\n"));
    let recorded = file("describe.json", recording("monday", &["a"]).to_string());
    let recorded = printed(0, &format!("describe {recorded}"));
    assert!(recorded.contains("As of      2026-01-01T00:10:00Z, the time of recording"), "{recorded}");
    let json = json_of(0, "describe --example --revision 2");
    assert_eq!((&json["name"], &json["revision"]), (&json!("monitoring/node-exporter"), &json!(2)));
    assert_eq!(json["plan"]["report"]["situation"], "Synced");
    assert_eq!(json["template"]["spec"]["containers"][0]["name"], "node-exporter");
}

#[test]
fn stuck_or_moving_or_complete() {
    assert_snapshot!(printed(0, "rollout stuck --example"), @"
    monitoring/node-exporter: moves: 1 node to wait for, 2 nodes have an outdated pod, about 2 rounds left
    Waiting    node-2: pod node-exporter-h446g is Pending (ContainerCreating), since 2026-11-21T04:01:54Z (for 0s); it counts as stuck in 10m
    Held       node-1, node-5: maxUnavailable is spent (1 of 1) by node-2
    Run        kubectl describe pod -n monitoring node-exporter-h446g
    ");
    let late = "--now 2026-11-21T05:00:00Z";
    assert_snapshot!(printed(1, &format!("rollout stuck --example {late}")), @"
    monitoring/node-exporter: stuck: nothing moves until somebody does something; 2 nodes have an outdated pod, about 2 rounds left
    Cause      node-2: pod node-exporter-h446g is Pending (ContainerCreating), since 2026-11-21T04:01:54Z (for 58m)
    Held       node-1, node-5: maxUnavailable is spent (1 of 1) by node-2
    Run        kubectl describe pod -n monitoring node-exporter-h446g
               kubectl rollout undo -n monitoring daemonset/node-exporter
    ");
    let patient = printed(0, &format!("stuck --example {late} --patience 2h"));
    assert!(patient.contains("; it counts as stuck in 61m\n"), "{patient}");
    let steady = dump("steady.json");
    let steady = printed(0, &format!("rollout stuck logging/fluent-bit -f {steady}"));
    let (answer, as_of) = steady.split_once('\n').unwrap();
    assert_snapshot!(answer, @"logging/fluent-bit: complete: no node has an outdated pod");
    // Somebody reads an old file as if it were of now.
    assert!(as_of.starts_with("As of      2026-") && as_of.contains("steady.json; --now tells"), "{as_of}");
    let json = json_of(1, &format!("rollout stuck --example {late}"));
    assert_eq!(json["standing"]["obstacles"], json!([{"kind": "NotReady", "nodes": ["node-2"]}]));
    assert_eq!((&json["name"], &json["outdated"]), (&json!("monitoring/node-exporter"), &json!(2)));
    let deleted =
        with(recording("x", &["a"]), "/daemonSet/metadata/deletionTimestamp", json!("2026-01-01T00:00:00Z"));
    let deleted = file("stuck-deleted.json", deleted.to_string());
    assert_snapshot!(printed(1, &format!("rollout stuck {deleted}")), @"
    logging/agent: stuck: nothing moves until somebody does something; no node has an outdated pod
    Cause      the DaemonSet is being deleted, so that the controller does nothing
    Run        kubectl describe daemonset -n logging agent
    ");
    let on_delete =
        with(recording("x", &["a"]), "/daemonSet/spec/updateStrategy", json!({"type": "OnDelete"}));
    let on_delete = file("stuck-on-delete.json", on_delete.to_string());
    assert_snapshot!(printed(0, &format!("rollout stuck {on_delete} --patience 1h")), @"
    logging/agent: moves: 1 node to act on, no node has an outdated pod
    Now        create 1 revision, create 1 pod, write the status
    ");
}

#[test]
fn status_history_undo_restart_and_diff() {
    assert_snapshot!(printed(0, "rollout status --example"), @r#"
    Waiting for daemon set "node-exporter" rollout to finish: 3 out of 5 new pods have been updated...
    "#);
    assert_snapshot!(printed(0, "rollout history --example"), @"
    daemonset.apps/node-exporter 
    REVISION  CHANGE-CAUSE
    1         <none>
    2         <none>
    ");
    assert_eq!(json_of(0, "rollout history --example")["revisions"][1]["revision"], 2);
    assert_snapshot!(printed(0, "rollout diff 1 2 --example"), @r#"
    --- node-exporter-686d6fc8d7 (revision 1)
    +++ node-exporter-6b4c7c96bb (revision 2)
    @@ -18,7 +18,7 @@
         - "--no-collector.wifi"
         - "--no-collector.hwmon"
         - "--collector.filesystem.mount-points-exclude=^/(dev|proc|sys|run/k3s/containerd/.+|var/lib/docker/.+|var/lib/kubelet/pods/.+)($|/)"
    -    image: quay.io/prometheus/node-exporter:v1.9.0
    +    image: quay.io/prometheus/node-exporter:v1.9.1
         imagePullPolicy: IfNotPresent
         name: node-exporter
         resources:
    "#);
    let yaml = printed(0, "rollout history --example -o yaml");
    let objects: Vec<&str> = yaml.split("---\n").collect();
    assert_eq!(objects.len(), 2);
    assert!(objects.iter().all(|yaml| yaml.starts_with("apiVersion: apps/v1\nkind: DaemonSet\n")), "{yaml}");
    assert_eq!(printed(0, "rollout history --example -o yaml --revision 2"), objects[1]);
    assert_eq!(call("rollout history --example -o yaml --revision 9").code, Some(1));
    let file = dump("midrollout.json");
    let diff = printed(0, &format!("rollout diff 1 {file}"));
    assert!(
        diff.starts_with("--- node-exporter-686d6fc8d7 (revision 1)\n+++ node-exporter (as it is)\n"),
        "{diff}"
    );
    // By default from the newest that is another one.
    for line in [
        "rollout diff --example".to_owned(),
        format!("rollout diff {file}"),
        format!("rollout diff node-exporter -f {file}"),
    ] {
        assert_eq!(printed(0, &line), diff);
    }
    assert_eq!(printed(0, &format!("rollout diff 1 node-exporter -f {file}")), diff);
    assert_eq!(call("rollout diff 1 9 --example").code, Some(1));
    assert_eq!(refused("rollout diff 1 x y --example"), "error: NEWER: must be a number\n");
    assert_eq!(refused("rollout diff x 1 --example"), "error: OLDER: must be a number\n");
    let fresh = call(&format!("rollout diff logging/fluent-bit -f {}", dump("fresh.json")));
    assert_eq!((fresh.code, fresh.err.as_str()), (Some(1), "error: every revision is as the template is\n"));
    // The command does what the answer shows, and stands beside no refusal.
    let first = call(&format!("rollout undo {file} --to-revision 1"));
    let command = "nothing is sent; this does it:\nkubectl rollout undo -n monitoring daemonset/node-exporter --to-revision=1\n";
    assert!(first.err.starts_with(command), "{}", first.err);
    let refused = call(&format!("rollout undo {file} --to-revision 77"));
    assert!(!refused.err.contains("this does it") && refused.code == Some(1), "{}", refused.err);
    let undo = call(&format!("rollout undo {file}"));
    assert_eq!(
        (undo.code, undo.out.as_str()),
        (Some(0), "daemonset.apps/node-exporter rolled back (dry run)\n")
    );
    let (sent, warning) = undo.err.split_once("\nWarning").unwrap();
    assert_eq!(
        sent,
        "nothing is sent; this does it:\nkubectl rollout undo -n monitoring daemonset/node-exporter"
    );
    assert!(warning.starts_with(": resource daemonsets/node-exporter"), "{warning}");
    let restart = call(&format!("rollout restart {file} --now 2026-01-01T00:00:00Z"));
    assert_eq!(
        (restart.code, restart.out.as_str()),
        (Some(0), "daemonset.apps/node-exporter restarted (dry run)\n")
    );
    assert_eq!(
        restart.err,
        "nothing is sent; this does it:\nkubectl rollout restart -n monitoring daemonset/node-exporter\n"
    );
    let refused = call(&format!("rollout history {file} --revision 9"));
    assert_eq!(
        (refused.code, refused.err.as_str()),
        (Some(1), "error: unable to find the specified revision\n")
    );
}

#[test]
fn lint_of_a_stored_one_and_of_a_manifest() {
    let text = printed(1, "lint --example");
    let rules: Vec<&str> = text.lines().map(|line| line.rsplit_once(' ').unwrap().1).collect();
    assert_eq!(rules, ["(NoReadinessProbe)", "(MinReadyZero)"]);
    let found = json_of(1, "lint --example");
    assert_eq!((&found[0]["severity"], &found[0]["rule"]), (&json!("Warning"), &json!("NoReadinessProbe")));
    let stored = file("lint-stored.json", list(vec![daemon_set("agent"), node("a"), node("b")]));
    let probe = json!([{"name": "x", "image": "x:1", "readinessProbe": {"exec": {"command": ["true"]}}}]);
    let manifest = |pointer: &str, value: Value| {
        let agent = with(daemon_set("agent"), "/spec/template/spec/containers", probe.clone());
        with(agent, pointer, value).to_string()
    };
    let good = file("lint-good.json", manifest("/spec/minReadySeconds", json!(10)));
    let line = format!("lint -f {good} --from {stored}");
    assert_eq!(call(&line).code, Some(0), "{}", call(&line).out);
    let bad = file(
        "lint-bad.json",
        manifest(
            "/spec/updateStrategy",
            json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "100%"}}),
        ),
    );
    let bad = printed(1, &format!("lint -f {bad} --from {stored}"));
    assert!(bad.contains("(MaxUnavailableTakesAll)"), "{bad}");
    // One that is not there yet.
    let other = file(
        "lint-other.json",
        with(
            serde_json::from_str(&manifest("/metadata/name", json!("other"))).unwrap(),
            "/metadata/uid",
            json!(""),
        )
        .to_string(),
    );
    let other = printed(1, &format!("lint --manifest {other} --from {stored}"));
    assert!(other.contains("(SelectorOverlaps)"), "{other}");
    assert_eq!(
        refused("lint -f nowhere.yaml --example"),
        "error: nowhere.yaml: No such file or directory (os error 2)\n"
    );
}

/// kubectl puts an object without a namespace into the one of the flag.
#[test]
fn lint_looks_into_the_namespace_of_the_flag() {
    let other = with(daemon_set("other"), "/metadata/namespace", json!("team"));
    let stored = file("lint-namespace-stored.json", list(vec![other, node("a")]));
    let web = with(daemon_set("other"), "/metadata", json!({"name": "web"}));
    let two = file(
        "lint-namespace-two.json",
        list(vec![web.clone(), with(web.clone(), "/metadata/name", json!("two"))]),
    );
    let web = file("lint-namespace.json", web.to_string());
    let overlaps = |line: &str| call(line).out.matches("chooses the pods of DaemonSet other").count();
    assert_eq!(overlaps(&format!("lint --manifest {web} --from {stored} -n team")), 1);
    assert_eq!(overlaps(&format!("lint --manifest {two} --from {stored} -n team")), 2);
    assert_eq!(overlaps(&format!("lint --manifest {web} --from {stored}")), 0);
}

/// Whatever the reason is. The other fields are looked at all the same.
#[test]
fn lint_tells_why_a_manifest_is_refused() {
    let containers = json!([{"name": "x", "image": "x:1"}]);
    let mut agent = with(daemon_set("agent"), "/spec/template/spec/containers", containers);
    agent["metadata"]["resourceVersion"] = json!("10");
    agent["spec"].as_object_mut().unwrap().remove("updateStrategy");
    let stored = file("lint-refused-stored.json", list(vec![agent.clone(), node("a")]));
    let errors = |name: &str, pointer: &str, value: Value| {
        let manifest = file(name, with(agent.clone(), pointer, value).to_string());
        let out = printed(1, &format!("lint --manifest {manifest} --from {stored}"));
        let errors = out.lines().filter(|line| line.starts_with("Error"));
        let before_remedy = errors.map(|line| line.split(" Put it right").next().unwrap().to_owned());
        (before_remedy.collect::<Vec<_>>().join("\n"), out.contains("(StrategyMissing)"))
    };
    let (old, lacks_defaults) = errors("lint-old.json", "/metadata/resourceVersion", json!("5"));
    assert_snapshot!(old, @"Error metadata.resourceVersion: It is refused: the stored DaemonSet has changed since this version of it was read.");
    assert!(!lacks_defaults, "an absent strategy is RollingUpdate");
    assert_snapshot!(errors("lint-beta.json", "/apiVersion", json!("apps/v1beta2")).0, @"Error apiVersion: It is refused: apps/v1beta2 DaemonSet is not apps/v1 DaemonSet.");
    let text = json!([{"name": "x", "image": "x:1", "tty": "yes"}]);
    assert_snapshot!(errors("lint-text.json", "/spec/template/spec/containers", text).0, @"Error spec.template.spec.containers.tty: It is refused: json: cannot unmarshal string into Go struct field Container.spec.template.spec.containers.tty of type bool.");
}

/// The command line may compare a manifest with a DaemonSet of another name, or of another namespace.
#[test]
fn lint_compares_with_one_of_another_name() {
    let containers = json!([{"name": "x", "image": "x:1"}]);
    let mut agent = with(daemon_set("agent"), "/spec/template/spec/containers", containers);
    agent["spec"].as_object_mut().unwrap().remove("updateStrategy");
    let stored = file("lint-renamed-stored.json", list(vec![agent.clone(), node("a"), node("b")]));
    let lint = |name: &str, metadata: Value| {
        let manifest = file(name, with(agent.clone(), "/metadata", metadata).to_string());
        call(&format!("lint --manifest {manifest} --from {stored} --daemonset logging/agent")).out
    };
    let same = lint("lint-same.json", json!({"name": "agent", "namespace": "logging"}));
    assert!(same.contains("(MinReadyZero)") && !same.contains("(StrategyMissing)"), "{same}");
    assert_eq!(lint("lint-renamed.json", json!({"name": "new", "namespace": "logging"})), same);
    assert_eq!(lint("lint-moved.json", json!({"name": "agent", "namespace": "new"})), same);
}

/// A chart may have several DaemonSets, and a cluster has: each line names its own.
#[test]
fn lint_of_several() {
    let web = "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: web}\nspec:\n  selector: {matchLabels: {app: web}}\n  template:\n    \
        metadata: {labels: {app: web}}\n    spec: {containers: [{name: web, image: 'web:1', readinessProbe: {httpGet: {port: 80}}}]}\n";
    let two = format!("{web}---\n{}", web.replace("name: web}", "name: other, namespace: x}"));
    let ran = run("lint", &["-f", "-", "--example"], two.as_bytes());
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let of = |name: &str| ran.out.lines().filter_map(|line| line.strip_prefix(name)).collect::<Vec<_>>();
    let (first, second) = (of("default/web: "), of("x/other: "));
    assert_eq!(first, second);
    assert_eq!((first.len(), ran.out.lines().count()), (first.len(), 2 * first.len()));
    assert!(first.iter().any(|line| line.contains("(MinReadyZero)")), "{}", ran.out);
    let json = run("lint", &["-f", "-", "--example", "-o", "json"], two.as_bytes());
    let json: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(json["daemonSets"][1]["name"], "x/other");
    assert_eq!(json["daemonSets"][1]["findings"].as_array().unwrap().len(), first.len());
    // The words of the API server, for each field, and nothing twice.
    let invalid = web
        .replace("image: 'web:1', readinessProbe: {httpGet: {port: 80}}", "readinessProbe: {}")
        .replace("{app: web}}\n    spec", "{app: x}}\n    spec");
    let ran = run("lint", &["-f", "-", "--example"], invalid.as_bytes());
    let errors: Vec<&str> = ran.out.lines().filter(|line| line.starts_with("Error")).collect();
    assert_snapshot!(errors.join("\n"), @r#"
    Error spec.template.metadata.labels: It is refused: Invalid value: {"app":"x"}: `selector` does not match template `labels`. Put it right, and look again: what needs a decision could not be looked at. (Invalid)
    Error spec.template.spec.containers[0].image: It is refused: Required value. Put it right, and look again: what needs a decision could not be looked at. (Invalid)
    Error spec.template.spec.containers[0].readinessProbe: It is refused: Required value: must specify a handler type. Put it right, and look again: what needs a decision could not be looked at. (Invalid)
    "#);
    // The one that is named, or all of a namespace.
    let steady = concat!(env!("CARGO_MANIFEST_DIR"), "/src/cluster/steady.json");
    let all = run("lint", &["--from", steady], b"");
    let names: BTreeSet<&str> = all.out.lines().filter_map(|line| Some(line.split_once(": ")?.0)).collect();
    assert!(names.len() > 1, "{}", all.out);
    let name = names.first().unwrap();
    let one = run("lint", &["--from", steady, "--daemonset", name], b"");
    let its = all.out.lines().filter_map(|line| line.strip_prefix(&format!("{name}: ")));
    assert_eq!(one.out.lines().collect::<Vec<_>>(), its.collect::<Vec<_>>());
}

/// The policy may be in the annotation, in YAML as in JSON, or in a file. It is rehearsed.
#[test]
fn lint_looks_at_the_policy_of_the_rollout() {
    let rules = |line: &str| -> Vec<String> {
        let found = serde_json::from_str::<Value>(&call(line).out).unwrap();
        let found = found.as_array().unwrap().clone().into_iter();
        found
            .map(|finding| {
                format!("{} {}", finding["rule"].as_str().unwrap(), finding["path"].as_str().unwrap())
            })
            .collect()
    };
    let policy = |name: &str, text: &str| {
        let found = rules(&format!("lint --example -o json --policy {}", file(name, text)));
        let of_policy = found.into_iter().filter_map(|line| {
            let (rule, path) = line.split_once(" metadata.annotations[rollout.daemonset/policy].")?;
            Some(format!("{rule} {path}"))
        });
        of_policy.collect::<Vec<_>>()
    };
    assert_eq!(policy("lint-canary.yaml", include_str!("../../../../examples/canary.yaml")), [""; 0]);
    let partition = "waves: [{upTo: 2}]\nonFailure: {maxRestarts: 3}";
    assert_eq!(policy("lint-partition.yaml", partition), ["NodesInNoWave waves"]);
    let fast = "{\"onFailure\": {\"availableWithinSeconds\": 3}}";
    assert_eq!(policy("lint-fast.json", fast), ["DeadlineTooShort onFailure.availableWithinSeconds"]);
    let drive = "drive: {type: RollingUpdate}\nonFailure: {action: RollBack, availableWithinSeconds: 3}";
    assert_eq!(
        policy("lint-drive.yaml", drive),
        ["InvalidRolloutPolicy drive", "InvalidRolloutPolicy onFailure.action"],
        "and no rehearsal"
    );

    let agent = with(daemon_set("agent"), "/spec/minReadySeconds", json!(10));
    let annotated = with(
        agent,
        "/metadata/annotations",
        json!({"rollout.daemonset/policy": "onFailure:\n  action: Pause\n"}),
    );
    let stored = file("lint-annotated.json", list(vec![annotated, node("a"), node("b")]));
    let path = "FailureUnnoticed metadata.annotations[rollout.daemonset/policy].onFailure";
    assert!(rules(&format!("lint --from {stored} -o json")).contains(&path.to_owned()));
    assert!(!rules(&format!("lint --from {stored} -o json --policy none")).contains(&path.to_owned()));
}

#[test]
fn under_on_delete_applying_a_manifest_restarts_no_pod() {
    let stored = with(daemon_set("agent"), "/spec/updateStrategy", json!({"type": "OnDelete"}));
    let cluster = file("on-delete-stored.json", list(vec![stored.clone()]));
    let container = json!([{"name": "x", "image": "x:2"}]);
    let manifest = with(stored.clone(), "/spec/template/spec/containers", container);
    let next = file("on-delete-next.json", manifest.to_string());
    let line = format!("would-restart -f {next} --from {cluster}");
    assert!(printed(0, &line).starts_with(
        "agent: applying it restarts no pod: the update strategy is OnDelete, so that each pod gets the new version when it is deleted\nspec.template.spec.containers"
    ), "{}", printed(0, &line));
    let json = json_of(0, &line);
    assert_eq!((&json["restarts"], &json["restartsOnDelete"]), (&json!(false), &json!(true)));
    // A driver deletes them, whether the manifest names the policy or the stored object has it from somebody else.
    let policy = json!({"rollout.daemonset/policy": "drive: {type: RollingUpdate}"});
    let driven = |object: Value| with(object, "/metadata/annotations", policy.clone());
    let named = file("driven-next.json", driven(manifest).to_string());
    let steered = file("driven-stored.json", list(vec![driven(stored)]));
    for line in [
        format!("would-restart -f {named} --from {cluster}"),
        format!("would-restart -f {next} --from {steered}"),
    ] {
        let text = printed(1, &line);
        assert!(
            text.contains("restarts every pod: the update strategy is OnDelete, and the driver"),
            "{text}"
        );
        assert_eq!(json_of(1, &line)["restarts"], true);
    }
    assert!(!json["differences"].as_array().unwrap().is_empty());
    let json = json_of(1, "would-restart --example");
    assert_eq!((&json["restarts"], &json["restartsOnDelete"]), (&json!(true), &json!(false)));
}

/// kubectl ends the manifest that it applied last with a line break. Fields that others have set stay, as they do when it applies.
#[test]
fn applying_a_manifest_keeps_what_others_have_set() {
    let dump: Value =
        serde_json::from_str(&std::fs::read_to_string(dump("midrollout.json")).unwrap()).unwrap();
    let items = dump["items"].as_array().unwrap();
    let mut stored = items.iter().find(|item| item["kind"] == "DaemonSet").unwrap().clone();
    let applied =
        stored["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"].as_str();
    let applied = applied.unwrap().to_owned();
    assert!(applied.ends_with('\n'), "{applied}");
    stored["spec"]["template"]["metadata"]["annotations"]["kubectl.kubernetes.io/restartedAt"] =
        json!("2026-01-01T00:00:00Z");
    let cluster = file("applied-stored.json", list(vec![stored]));
    // Somebody has set another image, and the manifest has that one now.
    let manifest = file("applied-next.json", applied.replace("v1.9.0", "v1.9.1"));
    assert_eq!(
        printed(0, &format!("would-restart -f {manifest} --from {cluster}")),
        "node-exporter: applying it restarts no pod\n"
    );
}

/// The old way to name the files is still understood.
#[test]
fn would_restart_create_and_update() {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/src/manifest/example.yaml");
    assert_snapshot!(printed(1, "would-restart --example"), @r#"
    node-exporter: applying it restarts every pod
    spec.template.spec.containers[kube-rbac-proxy].resources.limits[memory]: "40Mi" -> "64Mi"
    "#);
    let json = json_of(1, "would-restart --example");
    assert_eq!((&json["restarts"], json["differences"].as_array().unwrap().len()), (&json!(true), 1));
    let midrollout = dump("midrollout.json");
    for line in [
        format!("would-restart -f {manifest} --from {midrollout}"),
        format!("rollout would-restart {manifest} --from {midrollout}"),
    ] {
        assert_eq!(printed(1, &line), printed(1, "would-restart --example"));
    }
    let dump: Value = serde_json::from_str(&std::fs::read_to_string(&midrollout).unwrap()).unwrap();
    let items = dump["items"].as_array().unwrap();
    let stored = items.iter().find(|item| item["kind"] == "DaemonSet").unwrap();
    let same = file("same.json", stored.to_string());
    assert_eq!(
        printed(0, &format!("would-restart -f {same} --from {midrollout}")),
        "node-exporter: applying it restarts no pod\n"
    );
    let broken = file(
        "broken.json",
        with(stored.clone(), "/spec/selector/matchLabels", json!({"a": "b"})).to_string(),
    );
    // The built-in manifest is no answer about somebody's own cluster.
    for line in ["would-restart --from", "would-restart -f", "update --from"] {
        let unnamed = call(&format!("{line} {midrollout}"));
        assert_eq!((unnamed.code, unnamed.err.as_str()), (Some(2), "error: --manifest: name the manifest\n"));
    }
    let refusal = call(&format!("would-restart -f {broken} --from {midrollout}"));
    assert_eq!((refusal.code, refusal.out.as_str()), (Some(1), ""));
    assert!(refusal.err.starts_with("The DaemonSet \"node-exporter\" is invalid"), "{}", refusal.err);
    assert_eq!(
        printed(0, &format!("create -f {manifest}")),
        "daemonset.apps/node-exporter created (server dry run)\n"
    );
    assert_eq!(json_of(0, &format!("rollout create {manifest}"))["spec"]["revisionHistoryLimit"], 10);
    assert_eq!(
        printed(0, &format!("update -f {manifest} --from {midrollout}")),
        "daemonset.apps/node-exporter replaced (server dry run)\n"
    );
    let patched = run("update", &["--example", "--patch", "spec: {minReadySeconds: 5}"], b"");
    assert_eq!(
        (patched.code, patched.out.as_str()),
        (Some(0), "daemonset.apps/node-exporter patched (server dry run)\n")
    );
    let refused = run("update", &["--example", "--patch", "spec: {minReadySeconds: -5}"], b"");
    assert_eq!((refused.code, refused.out.as_str()), (Some(1), ""));
}

/// YAML as well as JSON, wherever a cluster is read.
#[test]
fn a_cluster_may_be_yaml() {
    let yaml = "\
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: a, creationTimestamp: 2026-01-01T00:00:00Z}}
- apiVersion: apps/v1
  kind: DaemonSet
  metadata: {name: agent, namespace: logging, uid: u, generation: 1}
  spec:
    selector: {matchLabels: {app: agent}}
    template: {metadata: {labels: {app: agent}}, spec: {containers: []}}
    updateStrategy: {type: RollingUpdate}
";
    let ran = run("plan", &["-"], yaml.as_bytes());
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert!(ran.out.contains("2. create pod on a (batch 0): the node has none"), "{}", ran.out);
    let documents =
        yaml.replace("- apiVersion: apps/v1\n", "---\napiVersion: apps/v1\n").replace("\n  ", "\n");
    let two = run("plan", &["-"], documents.as_bytes());
    assert_eq!((two.code, two.err.as_str()), (Some(0), ""), "{documents}");
    let recorded = recording("monday", &["a"]);
    let text = format!("# A comment makes it YAML.\n{recorded}");
    assert_eq!(
        run("plan", &["-"], text.as_bytes()).out,
        run("plan", &["-"], recorded.to_string().as_bytes()).out
    );
    let single = run("plan", &["-"], b"kind: Node\nmetadata: {name: a}\n");
    assert_eq!(single.err, "error: stdin: neither a List (items) nor a Recording (daemonSet)\n");
}

/// The questions that do not need them answer despite objects that can't be read.
#[test]
fn an_unreadable_pod_does_not_hide_a_status() {
    let broken = json!({"kind": "Pod", "metadata": {"name": "x", "creationTimestamp": "yesterday"}});
    let items = vec![broken, with(daemon_set("agent"), "/status", json!({"observedGeneration": 1}))];
    let broken = file("unreadable.json", list(items));
    assert_eq!(call(&format!("rollout status {broken}")).code, Some(0));
    assert!(
        refused(&format!("plan {broken}"))
            .contains("items[0].metadata.creationTimestamp (Pod x): failed to parse")
    );
}

/// A tenant may store any bytes as the data of a revision, and times of any year in the status of a pod.
#[test]
fn a_revision_that_can_not_be_read_stops_its_owner_alone() {
    let owners = json!([{"kind": "DaemonSet", "name": "bad", "uid": "uid-of-bad", "controller": true}]);
    let bad = json!({"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": {"name": "bad-1",
        "namespace": "logging", "uid": "r", "labels": {"app": "bad"}, "ownerReferences": owners}, "data": "DATA", "revision": 1});
    let ready = json!({"type": "Ready", "status": "True", "lastTransitionTime": "10000-01-01T23:58:59Z"});
    let late = with(pod("late"), "/status", json!({"conditions": [ready]}));
    let items = list(vec![daemon_set("good"), daemon_set("bad"), node("a"), bad, late]);
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    for data in [&deep, "1e999", r#"{"a":"\ud800"}"#] {
        let cluster = file("bad-revision.json", items.replace("\"DATA\"", data));
        let plan = printed(0, &format!("plan {cluster} --daemonset logging/good"));
        assert!(plan.contains("create pod on a"), "{plan}");
        let refusal = refused(&format!("plan {cluster} --daemonset logging/bad"));
        let place = "items[3].data (ControllerRevision logging/bad-1): ";
        assert!(refusal.contains(place) && refusal.contains("must be JSON that can be read"), "{refusal}");
    }
}

#[test]
fn completion_and_man_pages() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(printed(0, &format!("completion {shell}")).contains("would-restart"), "{shell}");
    }
    assert!(printed(0, "completion kubectl").starts_with("#!/bin/sh\n"));
    let directory = format!("{}/man", env!("CARGO_TARGET_TMPDIR"));
    assert_eq!(printed(0, &format!("man --dir {directory}")), "");
    let page = std::fs::read_to_string(format!("{directory}/kubectl-daemonset-plan.1")).unwrap();
    assert!(page.contains(".SH") && page.contains("watch"), "{page}");
    let candidates = |words: &[&str]| run("__complete", words, b"").out;
    assert_eq!(candidates(&["rollout", "st"]), "status\nstuck\n:4\n");
    assert_eq!(candidates(&["plan", "-o", ""]), "text\njson\n:4\n");
    assert_eq!(candidates(&["plan", "--wat"]), "--watch\n:4\n");
    assert_eq!(candidates(&["plan", "node.json", "x"]), ":0\n");
    assert!(candidates(&[""]).starts_with("plan\nwhy\n"));
}
