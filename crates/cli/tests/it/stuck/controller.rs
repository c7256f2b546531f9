//! Nothing is done, though the limit is free.

use super::{Cluster, HOUR, MINUTE, ago};
use insta::assert_snapshot;
use serde_json::json;

/// The pod of node-3 became Ready 88 minutes ago, and nothing has happened since.
pub(super) fn idle() -> Cluster {
    Cluster::updated(3, 88 * MINUTE)
}

#[test]
fn a_controller_that_does_nothing_is_named() {
    assert_snapshot!(idle().stuck(), @"
    logging/agent: stuck: nothing moves until somebody does something; 2 nodes have an outdated pod, about 2 rounds left
    Cause      node-4: nothing has happened since 2026-01-01T08:32:00Z (for 88m), though this is due and waits for no limit: delete 1 pod. Either no controller runs, or the API server refuses its calls: a webhook, a quota, or rights that are missing
    Held       node-5: maxUnavailable is spent (1 of 1) by node-4
    Run        kubectl describe daemonset -n logging agent
               kubectl get lease -n kube-system kube-controller-manager
               kubectl get pods -n kube-system -l component=kube-controller-manager
               kubectl get resourcequotas -n logging
               kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations
    ");
    // Within the patience it may be about to.
    assert_snapshot!(Cluster::updated(3, 9 * MINUTE).moves(), @"
    logging/agent: moves: 1 node to act on, 2 nodes have an outdated pod, about 2 rounds left
    Held       node-5: maxUnavailable is spent (1 of 1) by node-4
    Now        delete 1 pod
    ");
}

/// The template is newer than the status: the controller has not even looked.
#[test]
fn a_controller_that_has_not_seen_the_template_is_named() {
    let unseen = Cluster::updated(5, HOUR)
        .set("/metadata/generation", json!(3))
        .set("/spec/template/spec/containers/0/image", json!("agent:3"));
    assert_snapshot!(unseen.stuck(), @"
    logging/agent: stuck: nothing moves until somebody does something; 5 nodes have an outdated pod, about 5 rounds left
    Cause      node-1: nothing has happened since 2026-01-01T09:00:00Z (for 60m), though this is due: create 1 revision, delete 1 pod, write the status. The controller has not seen the DaemonSet as it is (generation 3, observed 2): unless that was changed a moment ago, no controller runs
    Held       node-2, node-3, node-4, node-5: maxUnavailable is spent (1 of 1) by node-1
    Run        kubectl describe daemonset -n logging agent
               kubectl get lease -n kube-system kube-controller-manager
               kubectl get pods -n kube-system -l component=kube-controller-manager
               kubectl get resourcequotas -n logging
               kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations
    ");
    // A restart has the time of the change in the template.
    let annotations = json!({"kubectl.kubernetes.io/restartedAt": ago(MINUTE)});
    let restarted = unseen.set("/spec/template/metadata/annotations", annotations);
    assert_snapshot!(restarted.moves(), @"
    logging/agent: moves: 1 node to act on, 5 nodes have an outdated pod, about 5 rounds left
    Held       node-2, node-3, node-4, node-5: maxUnavailable is spent (1 of 1) by node-1
    Now        create 1 revision, delete 1 pod, write the status
    ");
}

/// A missing pod, which a quota or a webhook keeps away.
#[test]
fn a_pod_that_is_not_created_is_told() {
    assert_snapshot!(Cluster::updated(5, HOUR).without_pod("node-2").stuck(), @"
    logging/agent: stuck: nothing moves until somebody does something; no node has an outdated pod, about 1 round left
    Cause      node-2: nothing has happened since 2026-01-01T09:00:00Z (for 60m), though this is due and waits for no limit: create 1 pod, write the status. Either no controller runs, or the API server refuses its calls: a webhook, a quota, or rights that are missing
    Run        kubectl describe daemonset -n logging agent
               kubectl get lease -n kube-system kube-controller-manager
               kubectl get pods -n kube-system -l component=kube-controller-manager
               kubectl get resourcequotas -n logging
               kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations
    ");
}

/// The status was written after the pod had gone: a controller runs, and its creates are refused.
pub(super) fn refused() -> Cluster {
    let counts =
        [("currentNumberScheduled", 4), ("numberReady", 4), ("numberAvailable", 4), ("numberUnavailable", 1)];
    let gone = Cluster::updated(3, HOUR).without_pod("node-4");
    counts
        .into_iter()
        .fold(gone, |cluster, (count, nodes)| cluster.set(&format!("/status/{count}"), json!(nodes)))
}

#[test]
fn a_controller_that_knows_of_the_missing_pod_is_refused() {
    assert_snapshot!(refused().stuck(), @"
    logging/agent: stuck: nothing moves until somebody does something; 1 node has an outdated pod, about 1 round left
    Cause      node-4: no pod has come since 2026-01-01T09:00:00Z (for 60m), though this is due and waits for no limit: create 1 pod. The controller knows that (its status counts 4 of 5 nodes with a pod): most likely the API server refuses its creates, for a quota, a webhook, pod security, or rights that are missing; its events name the reason
    Held       node-5: maxUnavailable is spent (1 of 1) by node-4
    Run        kubectl describe daemonset -n logging agent
               kubectl get resourcequotas -n logging
               kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations
    ");
}

const QUOTA: &str = "Error creating: pods \"agent-\" is forbidden: exceeded quota: few, requested: pods=1, used: pods=4, limited: pods=4";

/// The same with its events: the last one tells of a quota.
pub(super) fn quota() -> Cluster {
    refused().refused("Error creating: an older one", 5 * MINUTE).refused(QUOTA, 30)
}

/// The words of the API server come first, and the commands are those about the thing that refuses.
#[test]
fn a_refused_create_is_told_by_its_event() {
    let cluster = quota();
    assert_snapshot!(cluster.stuck(), @r#"
    logging/agent: stuck: nothing moves until somebody does something; 1 node has an outdated pod, about 1 round left
    Cause      node-4: this is due: create 1 pod; the API server refuses it: Error creating: pods "agent-" is forbidden: exceeded quota: few, requested: pods=1, used: pods=4, limited: pods=4 (42 times, the last time 30s ago)
    Held       node-5: maxUnavailable is spent (1 of 1) by node-4
    Run        kubectl describe daemonset -n logging agent
               kubectl get resourcequotas -n logging
    "#);
    assert_snapshot!(cluster.why("node-4"), @r#"
    Node node-4, DaemonSet logging/agent
    node-4 should run a pod.
    It has no pod of the DaemonSet.
    This plan creates its pod at once, because it has none. The API server refuses it: Error creating: pods "agent-" is forbidden: exceeded quota: few, requested: pods=1, used: pods=4, limited: pods=4 (42 times, the last time 30s ago).
    Run        kubectl describe daemonset -n logging agent
               kubectl get resourcequotas -n logging
    "#);
    // The node that it holds gets the same words.
    assert_snapshot!(cluster.why("node-5"), @r#"
    Node node-5, DaemonSet logging/agent
    node-5 should run a pod.
    Pod agent-5-h7k2x is outdated, of revision #1 (the current one is #2); it is Ready and available since 2025-12-24T02:00:00Z (for 8d).
    Its outdated pod waits, because maxUnavailable is spent: 1 node may be without an available pod, and 1 is so. It is spent by node-4 (CREATE: the node has none). The API server refuses it: Error creating: pods "agent-" is forbidden: exceeded quota: few, requested: pods=1, used: pods=4, limited: pods=4 (42 times, the last time 30s ago). It goes once node-4 has an available pod again.
    Run        kubectl describe daemonset -n logging agent
               kubectl get resourcequotas -n logging
    "#);
    // Nobody waits out the patience to be told.
    let soon = Cluster::updated(3, 9 * MINUTE)
        .without_pod("node-4")
        .refused("Error creating: admission webhook \"images.example.com\" denied the request: no tag", 30);
    assert_snapshot!(soon.moves(), @r#"
    logging/agent: moves: 1 node to act on, 1 node has an outdated pod, about 1 round left
    Cause      node-4: this is due: create 1 pod, write the status; the API server refuses it: Error creating: admission webhook "images.example.com" denied the request: no tag (21 times, the last time 30s ago)
    Held       node-5: maxUnavailable is spent (1 of 1) by node-4
    Now        create 1 pod, write the status
    Run        kubectl describe daemonset -n logging agent
               kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations
    "#);
    // A pod has come since.
    let over = Cluster::updated(3, MINUTE).without_pod("node-4").refused(QUOTA, 2 * MINUTE);
    assert!(!over.moves().contains("refuse"), "{}", over.moves());
    // The pods that the quota allows become Ready after the refusals, which one controller makes within a second: some events tell of
    // one call, the last one of the others.
    let mut first = Cluster::updated(5, 20).without_pod("node-4").refused(QUOTA, 30).refused(QUOTA, 30);
    for pod in &mut first.pods {
        pod["metadata"]["creationTimestamp"] = json!(super::ago(30));
    }
    first.events[0]["count"] = json!(1);
    first.events[1]["count"] = json!(16);
    first.events[1]["message"] = json!(format!("(combined from similar events): {QUOTA}"));
    let told = "the API server refuses it: Error creating: pods \"agent-\" is forbidden: exceeded quota";
    assert!(first.moves().contains(told), "{}", first.moves());
    assert!(first.moves().contains("(17 times, the last time 30s ago)"), "{}", first.moves());
    // Without a right to read events, and in a file without them, it is the same as before.
    assert!(!refused().stuck().contains("quota: few"));
}

/// They are read only where something is due.
#[cfg(unix)]
#[test]
fn the_events_of_a_live_cluster_are_read() {
    use crate::kubectl::Fake;
    let ask = |name: &str, cluster: &Cluster, words: &[&str]| {
        let script =
            "case \"$*\" in *events*) cat \"$here/events.json\" ;; *) cat \"$here/all.json\" ;; esac";
        let fake = Fake::new(name, &format!("config) echo kind-dev ;;\nget) {script} ;;"));
        let refused = Cluster::updated(5, HOUR).refused("Error creating: exceeded quota: few", 30);
        std::fs::write(fake.path("events.json"), crate::plan::list(refused.events)).unwrap();
        std::fs::write(fake.path("all.json"), cluster.json()).unwrap();
        let ran = fake.run(&[words, &["--now", super::NOW, "-n", "logging"]].concat());
        let events = fake.calls().into_iter().filter(|call| call.contains("events")).collect::<Vec<_>>();
        (ran.out, events)
    };
    let read =
        "get events -o json --namespace logging --field-selector involvedObject.kind=DaemonSet,type=Warning";
    for words in [&["stuck", "agent"][..], &["why", "node-4"], &["why", "agent"]] {
        let (out, events) = ask(&format!("refused-{}", words.join("-")), &refused(), words);
        assert!(out.contains("Error creating: exceeded quota: few (21 times"), "{out}");
        assert_eq!(events.first().map(String::as_str), Some(read));
    }
    let (_, events) = ask("refused-idle", &Cluster::updated(5, HOUR), &["stuck", "agent"]);
    assert!(events.is_empty(), "{events:?}");
}

/// The API server takes no new object there, and Kubernetes' controller writes no event of that.
#[test]
fn a_namespace_that_is_being_deleted_is_told() {
    let ends = |cluster: Cluster| cluster.without_pod("node-2").in_ending_namespace(MINUTE);
    let early = ends(Cluster::updated(5, 9 * MINUTE));
    assert_snapshot!(early.stuck(), @"
    logging/agent: stuck: nothing moves until somebody does something; no node has an outdated pod
    Cause      node-2: namespace logging is being deleted: no pod is created in it
    Run        kubectl describe namespace logging
    ");
    // Neither the patience nor the status says more.
    assert_snapshot!(ends(refused()).stuck(), @"
    logging/agent: stuck: nothing moves until somebody does something; 1 node has an outdated pod
    Cause      node-2, node-4: namespace logging is being deleted: no pod is created in it
    Held       node-5: maxUnavailable is spent (2 of 1) by node-2, node-4
    Run        kubectl describe namespace logging
    ");
    assert_snapshot!(early.why("node-2"), @"
    Node node-2, DaemonSet logging/agent
    node-2 should run a pod.
    It has no pod of the DaemonSet.
    This plan creates its pod at once, because it has none. Namespace logging is being deleted: no pod is created in it.
    Run        kubectl describe namespace logging
    ");
    // A pod ends, which changes nothing for the others.
    assert_snapshot!(early.clone().overdue("node-3", -25).moves(), @"
    logging/agent: moves: 1 node to wait for, no node has an outdated pod
    Cause      node-2: namespace logging is being deleted: no pod is created in it
    Waiting    node-3: pod agent-3-q9d4m ends, and should be gone at 2026-01-01T10:00:25Z, in 25s
    Run        kubectl describe namespace logging
    ");
    let held = early.clone().overdue("node-3", 30 * MINUTE);
    let held = held.pod("node-3", |pod| pod["metadata"]["finalizers"] = json!(["example.com/flush"]));
    assert_snapshot!(held.stuck(), @r#"
    logging/agent: stuck: nothing moves until somebody does something; no node has an outdated pod
    Cause      node-2: namespace logging is being deleted: no pod is created in it
               node-3: pod agent-3-q9d4m should be gone, and the finalizer example.com/flush keeps it, since 2026-01-01T09:30:00Z (for 30m)
    Run        kubectl describe namespace logging
               kubectl describe pod -n logging agent-3-q9d4m
               kubectl patch pod -n logging agent-3-q9d4m --type=merge -p '{"metadata":{"finalizers":null}}'    # if nobody does the work that example.com/flush waits for
    "#);
    // A namespace that stays is no reason.
    let mut stays = early;
    stays.namespaces[0]["metadata"]["deletionTimestamp"].take();
    assert!(stays.moves().contains("1 node to act on"));
}

/// It is read only where a pod is to be created, and no refused call explains why none comes.
#[cfg(unix)]
#[test]
fn the_namespace_of_a_live_cluster_is_read() {
    use crate::kubectl::Fake;
    let ask = |name: &str, cluster: &Cluster, words: &[&str]| {
        let script = "case \"$*\" in *events*) cat \"$here/events.json\" ;; *namespace/*) cat \"$here/namespace.json\" ;; *) cat \"$here/all.json\" ;; esac";
        let fake = Fake::new(name, &format!("config) echo kind-dev ;;\nget) {script} ;;"));
        let (mut all, ending) = (cluster.clone(), Cluster::updated(5, HOUR).in_ending_namespace(MINUTE));
        std::fs::write(fake.path("events.json"), crate::plan::list(std::mem::take(&mut all.events))).unwrap();
        std::fs::write(fake.path("namespace.json"), ending.namespaces[0].to_string()).unwrap();
        std::fs::write(fake.path("all.json"), all.json()).unwrap();
        let ran = fake.run(&[words, &["--now", super::NOW, "-n", "logging"]].concat());
        let read =
            fake.calls().into_iter().filter(|call| call.starts_with("get namespace")).collect::<Vec<_>>();
        (ran, read)
    };
    for (words, code) in [(&["stuck", "agent"][..], 1), (&["why", "node-4"], 0), (&["why", "agent"], 0)] {
        let (ran, read) = ask(&format!("ends-{}", words.join("-")), &refused(), words);
        assert_eq!((ran.code, ran.err.as_str()), (Some(code), ""), "{}", ran.out);
        assert!(
            ran.out.to_lowercase().contains("namespace logging is being deleted: no pod is created in it"),
            "{}",
            ran.out
        );
        assert!(ran.out.contains("kubectl describe namespace logging"), "{}", ran.out);
        assert_eq!(
            read.first().map(String::as_str),
            Some("get namespace/logging -o json --namespace logging")
        );
    }
    for (name, cluster) in
        [("ends-quota", quota()), ("ends-idle", idle()), ("ends-done", Cluster::updated(5, HOUR))]
    {
        let (ran, read) = ask(name, &cluster, &["why", "agent"]);
        assert!(read.is_empty(), "{read:?} {}", ran.out);
    }
}

/// The names are those of `deploy/`, so that the commands find something.
#[test]
fn a_steered_rollout_is_looked_for_at_its_own_controller() {
    let steered = |policy: &str, strategy: &str| {
        let idle =
            idle().annotated("policy", policy).set("/spec/updateStrategy/type", json!(strategy)).stuck();
        let looks = idle.lines().filter(|line| line.contains("get lease") || line.contains("get pods"));
        looks.map(|line| line.trim_start_matches("Run").trim().to_owned()).collect::<Vec<_>>()
    };
    for (policy, strategy, name) in [
        ("drive: {type: RollingUpdate}", "OnDelete", "daemonset-driver"),
        ("onFailure: {}", "RollingUpdate", "daemonset-controller"),
    ] {
        let expected = [
            format!("kubectl get lease -n kube-system {name}"),
            format!("kubectl get pods -n kube-system -l app={name}"),
        ];
        assert_eq!(steered(policy, strategy).first_chunk(), Some(&expected));
        let kustomization = name.trim_start_matches("daemonset-");
        let path =
            format!("{}/../controller/deploy/{kustomization}/kustomization.yaml", env!("CARGO_MANIFEST_DIR"));
        assert!(
            std::fs::read_to_string(&path).unwrap().contains(&format!("pairs: {{app: {name}}}")),
            "{path}"
        );
    }
}

/// Another group and version names the fields of an event in another way, and a series has its own times.
#[test]
fn events_of_both_versions_are_read() {
    let mut cluster = refused().refused("", 30);
    let about = cluster.events[0]["involvedObject"].take();
    cluster.events[0] = json!({
        "apiVersion": "events.k8s.io/v1", "kind": "Event", "type": "Warning", "reason": "FailedCreate", "regarding": about,
        "note": "Error creating: no\nand no\u{1b}[31m", "eventTime": "2026-01-01T09:50:00.000000Z",
        "metadata": {"name": "agent.1", "namespace": "logging"},
        "series": {"count": 7, "lastObservedTime": "2026-01-01T09:59:00.000000Z"},
    });
    let out = cluster.stuck();
    assert!(out.contains("(7 times, the last time 60s ago)"), "{out}");
    assert!(out.lines().all(|line| !line.starts_with("and no")) && !out.contains('\u{1b}'), "{out:?}");
    // An event that can't be read is no reason to say nothing.
    for broken in [json!(3), json!({"uid": []}), json!(null)] {
        cluster.events[0]["regarding"] = broken;
        assert!(!cluster.stuck().contains("7 times"));
    }
}

/// Objects do not tell that the DaemonSet was changed a moment ago: a controller that runs has done something by the second look.
#[cfg(unix)]
#[test]
fn a_live_cluster_is_looked_at_twice() {
    use crate::kubectl::Fake;
    let looks = |name: &str, second: &Cluster| {
        let script = "case \"$*\" in *events*) echo forbidden >&2; exit 1 ;; esac; n=$(cat \"$here/n\" 2>/dev/null || echo 0); echo 1 >\"$here/n\"; cat \"$here/$n.json\"";
        let fake = Fake::new(name, &format!("config) echo kind-dev ;;\nget) {script} ;;"));
        std::fs::write(fake.path("0.json"), idle().json()).unwrap();
        std::fs::write(fake.path("1.json"), second.json()).unwrap();
        let ran = fake.run(&["stuck", "--now", super::NOW]);
        let asked = fake.calls().iter().filter(|call| call.contains("get daemonsets")).count();
        assert_eq!((asked, ran.err.as_str()), (2, ""));
        (ran.code, ran.out)
    };
    let (code, out) = looks("twice-moves", &idle().overdue("node-4", -25));
    assert_eq!(code, Some(0), "{out}");
    let (code, out) = looks("twice-stuck", &idle());
    assert_eq!(code, Some(1));
    assert!(out.contains("nothing has happened since"), "{out}");
}
