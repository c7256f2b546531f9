//! Stories in which the API server's final answer to a call is no: each is in the log once, an event and a metric, and holds nothing
//! up for longer than it must.

use crate::cluster::{AGENT, CONTROLLER, Cluster, HOUR};
use crate::faults::{Fault, Verb};
use crate::log::Log;
use crate::objects::rolling;
use crate::rollouts::POLICY;
use crate::rollouts::driver::{DRIVER, driven};
use crate::store::{Actor, Id, Kind, id, text};
use daemonset::Policy;
use daemonset::kubernetes::go_json;
use daemonset::policy::PodNames;
use daemonset_controller::rollout::policy::ProcessRole;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::sleep;

const MINUTE: Duration = Duration::from_secs(60);
/// A shell script as real DaemonSets have them.
const SCRIPT: &str = "exec agent </dev/null 2>&1 && echo \u{2028} \u{1f600}";

/// A new image and script, as a user applies them.
fn release(cluster: &Cluster, image: &str, script: &str) {
    cluster.api.state().store.change(Actor::Others, &id(Kind::DaemonSet, AGENT), |ds| {
        ds["spec"]["template"]["spec"]["containers"][0]["args"] = json!([script]);
    });
    cluster.release(image);
}

fn numbers(cluster: &Cluster) -> Vec<i64> {
    cluster.revisions().iter().filter_map(|revision| revision["revision"].as_i64()).collect()
}

fn named(revision: &Value) -> Id {
    id(Kind::Revision, text(&revision["metadata"]["name"]))
}

/// The events with this reason: their message and count.
fn events(cluster: &Cluster, reason: &str) -> Vec<(String, u64)> {
    let state = cluster.api.state();
    let events = state.stored_events.values().filter(|event| event["reason"] == reason);
    events.map(|event| (text(&event["message"]).to_owned(), event["count"].as_u64().unwrap_or(0))).collect()
}

/// Stores the data of a revision in other bytes, as a client that is not written in Go sends them.
fn store_as(cluster: &Cluster, revision: &Value, data: &str) {
    let body = format!(r#"{{"data": {data}}}"#);
    cluster.api.state().revision_data.keep(revision, &body);
}

/// A fleet with two versions, of which the older one, whose data are stored in these bytes, is wanted again.
async fn undone(bytes: impl Fn(&Value) -> String) -> Cluster {
    let cluster = Cluster::steady(4, rolling(2)).await;
    release(&cluster, "agent:v2", SCRIPT);
    cluster.done(HOUR).await;
    let script = cluster.revisions().pop().expect("a revision");
    store_as(&cluster, &script, &bytes(&script["data"]));
    release(&cluster, "agent:v3", "agent");
    cluster.done(HOUR).await;
    assert_eq!(numbers(&cluster), [1, 2, 3]);
    release(&cluster, "agent:v2", SCRIPT);
    cluster
}

#[tokio::test(start_paused = true)]
async fn a_version_with_shell_operators_comes_back() {
    let cluster = Cluster::steady(4, rolling(2)).await;
    for (image, script) in [("agent:v2", SCRIPT), ("agent:v3", "agent"), ("agent:v2", SCRIPT)] {
        release(&cluster, image, script);
        cluster.done(HOUR).await;
    }
    assert_eq!(numbers(&cluster), [1, 3, 4], "the second one has the largest number now");
    assert_eq!(cluster.count(|verb, kind| (verb, kind) == (Verb::Update, Kind::Revision)), 0);
    assert_eq!(events(&cluster, "FailedUpdate"), []);
    cluster.finish(80).await;
}

/// As clients that use serde_json have stored it, such as earlier versions of this library.
#[tokio::test(start_paused = true)]
async fn a_revision_without_the_escapes_of_go_is_changed_by_an_update() {
    let cluster = undone(Value::to_string).await;
    cluster.done(HOUR).await;
    assert_eq!(numbers(&cluster), [1, 3, 4]);
    assert_eq!(cluster.count(|verb, kind| (verb, kind) == (Verb::Update, Kind::Revision)), 1);
    assert_eq!(events(&cluster, "FailedUpdate"), []);
    cluster.finish(80).await;
}

/// A driver marks it, with its fewer rights.
#[tokio::test(start_paused = true)]
async fn a_driver_marks_a_revision_without_the_escapes_of_go() {
    let mut cluster = Cluster::steady(4, json!({"type": "OnDelete"})).await;
    cluster.api.state().store.invariants.max_unavailable = 2;
    release(&cluster, "agent:v2", SCRIPT);
    sleep(MINUTE).await;
    let script = cluster.revisions().pop().expect("a revision");
    store_as(&cluster, &script, &script["data"].to_string());
    cluster.start(CONTROLLER, ProcessRole::Comparison).await;
    cluster.annotate(POLICY, Some(&driven("waves: [{upTo: 1}, {}]")));
    cluster.start(DRIVER, ProcessRole::Driver).await;
    cluster.done(HOUR).await;
    assert_eq!(events(&cluster, "FailedUpdate"), []);
    cluster.finish(80).await;
}

/// Somebody has replaced it, and the watch does not show that yet.
#[tokio::test(start_paused = true)]
async fn another_revision_of_the_name_is_not_changed_in_its_place() {
    let cluster = Cluster::steady(4, rolling(2)).await;
    release(&cluster, "agent:v2", SCRIPT);
    cluster.done(HOUR).await;
    let script = cluster.revisions().pop().expect("a revision");
    release(&cluster, "agent:v3", "agent");
    cluster.done(HOUR).await;
    cluster.lag(Kind::Revision, MINUTE);
    {
        let mut state = cluster.api.state();
        state.store.remove(Actor::Others, &named(&script));
        let new = state.store.create(Actor::Others, Kind::Revision, script);
        state.revision_data.keep(&new, &new.to_string());
    }
    release(&cluster, "agent:v2", SCRIPT);
    sleep(MINUTE / 2).await;
    let calls = |verb| cluster.count(|called, kind| (called, kind) == (verb, Kind::Revision));
    assert!(calls(Verb::Patch) > 0, "the old one was tried");
    assert_eq!(calls(Verb::Update), 0);
    cluster.done(HOUR).await;
    assert_eq!(numbers(&cluster), [1, 3, 4]);
    assert!(calls(Verb::Update) > 0, "the new one is changed");
}

#[tokio::test(start_paused = true)]
async fn a_revision_in_unknown_bytes_is_left_to_a_person() {
    let log = Log::capture();
    let cluster = undone(|data| format!("{data:#}")).await;
    let old = numbers(&cluster);
    sleep(10 * MINUTE).await;
    assert_eq!(numbers(&cluster), old);
    assert_eq!(cluster.nodes_with("agent:v3"), 4, "no pod is replaced before the history is right");
    let refused = events(&cluster, "FailedUpdate");
    let [(message, count)] = refused.as_slice() else { panic!("{refused:#?}") };
    assert!(message.starts_with("Error updating: renumber revision agent-"), "{message}");
    assert!(message.contains(" -o json | kubectl replace --force -f -: "), "{message}");
    assert!((5..30).contains(count), "with back-off: {count}");
    let lines = log.lines("refuses a call");
    assert_eq!(lines.len(), 1, "{lines:#?}");
    assert!(lines[0].contains("WARN") && lines[0].contains("renumber revision agent-"), "{lines:#?}");
    let metric = format!(r#"daemonset_refused_calls_total{{action="RenumberRevision",code="422"}} {count}"#);
    assert!(cluster.metrics.text().contains(&metric), "{metric}");

    let script =
        cluster.revisions().into_iter().find(|revision| revision["revision"] == 2).expect("a revision");
    {
        // As `kubectl replace --force` does.
        let mut state = cluster.api.state();
        state.store.remove(Actor::Others, &named(&script));
        let new = state.store.create(Actor::Others, Kind::Revision, script);
        state.revision_data.keep(&new, &go_json::to_string(&new));
    }
    cluster.done(HOUR).await;
    assert_eq!(cluster.nodes_with("agent:v2"), 4);
    cluster.finish(120).await;
}

/// Its labels no longer match the selector, but the API server does not let it go.
#[tokio::test(start_paused = true)]
async fn a_revision_that_cannot_be_released_is_no_success() {
    let cluster = Cluster::steady(3, rolling(1)).await;
    cluster.release("agent:v2");
    cluster.done(HOUR).await;
    let old = cluster.revisions().remove(0);
    store_as(&cluster, &old, &format!("{:#}", old["data"]));
    let relabel = |app: &str| {
        cluster.api.state().store.change(Actor::Others, &named(&old), |revision| {
            revision["metadata"]["labels"]["app"] = json!(app);
        });
    };
    relabel("else");
    sleep(5 * MINUTE).await;
    let refused = events(&cluster, "FailedUpdate");
    let [(message, count)] = refused.as_slice() else { panic!("{refused:#?}") };
    assert!(message.contains("release revision agent-") && *count > 3, "{refused:#?}");
    relabel(AGENT);
    sleep(HOUR).await;
    cluster.finish(60).await;
}

/// Another object with the name of the pod: there is nothing to release.
#[tokio::test(start_paused = true)]
async fn a_pod_that_was_replaced_counts_as_released() {
    let cluster = Cluster::steady(3, rolling(1)).await;
    cluster.lag(Kind::Pod, Duration::from_secs(2));
    let pod = cluster.pods_of_agent().remove(0);
    let own = id(Kind::Pod, text(&pod["metadata"]["name"]));
    cluster.allow_down(1);
    {
        let store = &mut cluster.api.state().store;
        store.change(Actor::Others, &own, |pod| pod["metadata"]["labels"]["app"] = json!("else"));
    }
    sleep(Duration::from_millis(1900)).await;
    {
        let store = &mut cluster.api.state().store;
        store.remove(Actor::Others, &own);
        let mut new = pod.clone();
        new["metadata"]["labels"]["app"] = json!("else");
        new["metadata"]["ownerReferences"] = json!([]);
        store.create(Actor::Others, Kind::Pod, new);
    }
    sleep(MINUTE).await;
    assert!(cluster.count(|verb, kind| (verb, kind) == (Verb::Patch, Kind::Pod)) >= 1, "a release was tried");
    assert_eq!(events(&cluster, "FailedUpdate"), []);
    assert!(!cluster.metrics.text().contains("daemonset_refused_calls_total{"));
}

/// Whatever the call: an invalid object is no sign of an outdated snapshot.
#[tokio::test(start_paused = true)]
async fn a_refused_call_is_tried_again_with_back_off() {
    for (verb, kind, reason) in [
        (Verb::Create, Kind::Revision, "FailedCreate"),
        (Verb::Create, Kind::Pod, "FailedCreate"),
        (Verb::Delete, Kind::Pod, "FailedDelete"),
        (Verb::UpdateStatus, Kind::DaemonSet, "FailedUpdate"),
    ] {
        let log = Log::capture();
        let cluster = Cluster::steady(2, rolling(1)).await;
        cluster.fault(verb, kind, Fault::Invalid, 1_000_000);
        cluster.release("agent:v2");
        sleep(20 * MINUTE).await;
        let calls = cluster.count(|one, other| (one, other) == (verb, kind));
        assert!((5..60).contains(&calls), "{verb:?} {kind:?}: {calls} calls in 20 minutes");
        let refused = events(&cluster, reason);
        assert!(!refused.is_empty() && refused.len() <= 2, "{verb:?} {kind:?}: {refused:#?}");
        let lines = log.lines("refuses a call");
        let warned = lines.iter().filter(|line| line.contains("WARN")).count();
        assert!((1..=2).contains(&warned), "once for each text: {lines:#?}");
        assert!(log.lines("the plan failed").is_empty());
        cluster.api.state().faults.end();
        cluster.done(HOUR).await;
    }
}

/// A process that was started anew, and reads old lists, creates its pods again under the same names.
#[tokio::test(start_paused = true)]
async fn a_pod_with_a_given_name_that_is_ours_counts_as_created() {
    let policy = Policy::default().pod_names(PodNames::Deterministic);
    let mut cluster = Cluster::steady_with(4, rolling(4), policy).await;
    cluster.release("agent:v2");
    let creates = |cluster: &Cluster| cluster.count(|verb, kind| (verb, kind) == (Verb::Create, Kind::Pod));
    while creates(&cluster) < 4 {
        sleep(Duration::from_millis(10)).await;
    }
    cluster.api.state().list_lag = Duration::from_millis(200);
    cluster.lag(Kind::Pod, Duration::from_secs(5));
    cluster.start(CONTROLLER, ProcessRole::Controller).await;
    sleep(Duration::from_secs(10)).await;
    assert!(creates(&cluster) > 4, "names were tried that the cache did not show");
    cluster.done(HOUR).await;
    assert_eq!(events(&cluster, "FailedCreate"), []);
    assert_eq!(cluster.pods_of_agent().len(), 4);
    cluster.check_invariants();
}

#[tokio::test(start_paused = true)]
async fn a_given_name_that_another_pod_has_is_a_refusal() {
    let policy = Policy::default().pod_names(PodNames::Deterministic);
    let cluster = Cluster::steady_with(2, rolling(1), policy).await;
    cluster.fault(Verb::Create, Kind::Pod, Fault::AlreadyExists, 1_000_000);
    cluster.release("agent:v2");
    sleep(10 * MINUTE).await;
    let refused = events(&cluster, "FailedCreate");
    let [(message, count)] = refused.as_slice() else { panic!("{refused:#?}") };
    assert!(message.contains("the name already exists") && (5..30).contains(count), "{refused:#?}");
    cluster.api.state().faults.end();
    cluster.done(HOUR).await;
    cluster.finish(60).await;
}
