//! Stories in which other actors create and delete pods, nodes and DaemonSets, and pods fail.

use crate::cluster::{AGENT, CONTROLLER, CRASHES, Cluster, HOUR};
use crate::faults::{Fault, Verb};
use crate::objects::{daemon_set, node, rolling};
use crate::rollouts::POLICY;
use crate::store::{Actor, Kind, id, text};
use daemonset_controller::rollout::policy::ProcessRole;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::sleep;

fn name(object: &Value) -> &str {
    text(&object["metadata"]["name"])
}

#[tokio::test(start_paused = true)]
async fn manually_deleted_pods_are_replaced() {
    let cluster = Cluster::steady(6, rolling(1)).await;
    cluster.allow_down(2);
    cluster.release("agent:v2");
    for _ in 0..2 {
        sleep(Duration::from_millis(900)).await;
        let pod = cluster.pods_of_agent().pop().expect("a pod");
        cluster.api.state().store.remove(Actor::Others, &id(Kind::Pod, name(&pod)));
    }
    cluster.done(HOUR).await;
    cluster.finish(50).await;
}

/// The new DaemonSet has another uid. It adopts and updates the orphaned pods of the old one.
#[tokio::test(start_paused = true)]
async fn a_daemon_set_is_recreated_with_orphans() {
    let cluster = Cluster::steady(5, rolling(1)).await;
    let old = cluster.daemon_set();
    {
        let store = &mut cluster.api.state().store;
        store.invariants.daemon_set = None;
        store.remove(Actor::Others, &id(Kind::DaemonSet, AGENT));
        let owned: Vec<_> = store
            .objects
            .iter()
            .filter(|(_, object)| crate::pods::controller_uid(object) == text(&old["metadata"]["uid"]))
            .map(|(id, _)| id.clone())
            .collect();
        assert_eq!(owned.len(), 6, "five pods and a revision");
        for id in owned {
            store.change(Actor::Others, &id, |object| object["metadata"]["ownerReferences"] = json!([]));
        }
        let new = store.create(Actor::Others, Kind::DaemonSet, daemon_set(AGENT, &rolling(1)));
        assert_ne!(new["metadata"]["uid"], old["metadata"]["uid"]);
    }
    cluster.done(HOUR).await;
    let gone = cluster.count(|verb, kind| verb == Verb::Delete && kind == Kind::Pod);
    assert_eq!(gone, 0, "the pods match the new template");
    let new = cluster.daemon_set();
    cluster.api.state().store.invariants.daemon_set = Some(text(&new["metadata"]["uid"]).to_owned());
    cluster.release("agent:v2");
    cluster.done(HOUR).await;
    cluster.finish(70).await;
}

/// As Kubernetes' own controller writes it.
fn write_status(cluster: &Cluster, counter: &str) {
    cluster.api.state().store.change(Actor::Others, &id(Kind::DaemonSet, AGENT), |ds| {
        let old = ds["status"][counter].as_i64().unwrap_or(0);
        ds["status"][counter] = json!(old + 1);
    });
}

fn warnings_of_another(cluster: &Cluster) -> usize {
    let state = cluster.api.state();
    state.stored_events.values().filter(|event| event["reason"] == "AnotherController").count()
}

/// Each of its status writes prolongs the pause; a minute after the last one all is made up for.
#[tokio::test(start_paused = true)]
async fn beside_another_controller_nothing_is_done() {
    let cluster = Cluster::steady(4, rolling(1)).await;
    let writes = cluster.writes();
    for counter in ["numberReady", "observedGeneration", "numberUnavailable"] {
        write_status(&cluster, counter);
        sleep(Duration::from_secs(1)).await;
        assert!(cluster.metrics.text().contains("daemonset_beside_another 1"), "{counter}");
        cluster.release("agent:v2");
        sleep(Duration::from_secs(55)).await;
    }
    assert_eq!(cluster.writes(), writes);
    assert_eq!(warnings_of_another(&cluster), 3);
    cluster.done(HOUR).await;
    assert!(cluster.metrics.text().contains("daemonset_beside_another 0"));
    cluster.finish(50).await;
}

/// The DaemonSet with the sign is gone before the pause is over, and nothing else changes.
#[tokio::test(start_paused = true)]
async fn the_metric_of_a_pause_ends_with_the_pause() {
    let cluster = Cluster::steady(4, rolling(1)).await;
    cluster.api.state().store.create(Actor::Others, Kind::DaemonSet, daemon_set("second", &rolling(1)));
    sleep(Duration::from_secs(60)).await;
    let second = id(Kind::DaemonSet, "second");
    cluster.api.state().store.change(Actor::Others, &second, |ds| ds["status"]["numberReady"] = json!(9));
    sleep(Duration::from_secs(1)).await;
    assert!(cluster.metrics.text().contains("daemonset_beside_another 1"));
    cluster.api.state().store.remove(Actor::Others, &second);
    sleep(Duration::from_secs(70)).await;
    assert!(cluster.metrics.text().contains("daemonset_beside_another 0"));
}

/// Its own writes are known, also where their response is lost, and so is the state of a cluster that it finds.
#[tokio::test(start_paused = true)]
async fn alone_it_never_stops() {
    let mut cluster = Cluster::steady(6, rolling(2)).await;
    sleep(Duration::from_secs(30)).await;
    cluster.fault(Verb::UpdateStatus, Kind::DaemonSet, Fault::BrokenAfterwards, 3);
    cluster.fault(Verb::UpdateStatus, Kind::DaemonSet, Fault::Conflict, 3);
    cluster.release("agent:v2");
    cluster.done(HOUR).await;
    cluster.all_faults_happened(HOUR).await;
    cluster.api.state().store.change(Actor::Others, &id(Kind::DaemonSet, AGENT), |ds| {
        ds["status"]["conditions"] = json!([{"type": "Stalled", "status": "True"}]);
    });
    cluster.start(CONTROLLER, ProcessRole::Controller).await;
    cluster.release("agent:v3");
    cluster.done(HOUR).await;
    sleep(Duration::from_secs(30)).await;
    assert_eq!(warnings_of_another(&cluster), 0);
}

/// It is deleted with its pods, which terminate meanwhile, and created again at once.
#[tokio::test(start_paused = true)]
async fn a_daemon_set_is_recreated_while_its_pods_terminate() {
    let cluster = Cluster::steady(5, rolling(1)).await;
    cluster.lag(Kind::DaemonSet, Duration::from_secs(2));
    {
        let store = &mut cluster.api.state().store;
        store.invariants.daemon_set = None;
        store.remove(Actor::Others, &id(Kind::DaemonSet, AGENT));
        store.create(Actor::Others, Kind::DaemonSet, daemon_set(AGENT, &rolling(1)));
    }
    for pod in cluster.pods_of_predecessors(text(&cluster.daemon_set()["metadata"]["uid"])) {
        cluster.api.state().store.remove(Actor::Others, &id(Kind::Pod, &pod));
    }
    cluster.done(HOUR).await;
    sleep(Duration::from_secs(10)).await;
    cluster.finish(60).await;
}

/// The DaemonSet leaves the cache for a moment, as when its label is mistyped: its calls in flight are kept.
#[tokio::test(start_paused = true)]
async fn a_daemon_set_that_leaves_the_cache_briefly_gets_no_second_pods() {
    let cluster = Cluster::steady(4, rolling(4)).await;
    cluster.lag(Kind::Pod, Duration::from_secs(5));
    let own = id(Kind::DaemonSet, AGENT);
    cluster.release("agent:v2");
    while cluster.count(|verb, kind| verb == Verb::Create && kind == Kind::Pod) < 4 {
        sleep(Duration::from_millis(10)).await;
    }
    sleep(Duration::from_millis(500)).await;
    // A watch with a selector shows this as a delete, and later as an unchanged DaemonSet.
    let ds = cluster.api.state().store.remove(Actor::Others, &own);
    sleep(Duration::from_secs(1)).await;
    {
        let store = &mut cluster.api.state().store;
        store.put(Actor::Others, own, ds);
    }
    cluster.done(HOUR).await;
    sleep(Duration::from_secs(10)).await;
    cluster.finish(50).await;
}

#[tokio::test(start_paused = true)]
async fn nodes_are_added_and_removed() {
    let cluster = Cluster::steady(5, rolling(1)).await;
    cluster.release("agent:v2");
    sleep(Duration::from_millis(900)).await;
    cluster.allow_down(2);
    for name in ["n10", "n11"] {
        cluster.api.state().store.create(Actor::Others, Kind::Node, node(name));
    }
    sleep(Duration::from_secs(1)).await;
    {
        let gone: Vec<Value> =
            cluster.pods_of_agent().into_iter().filter(|pod| crate::pods::node_of(pod) == "n03").collect();
        let store = &mut cluster.api.state().store;
        store.remove(Actor::Others, &id(Kind::Node, "n03"));
        // As the pod garbage collector does.
        for pod in gone {
            store.remove(Actor::Others, &id(Kind::Pod, name(&pod)));
        }
    }
    cluster.done(HOUR).await;
    assert_eq!(cluster.daemon_set()["status"]["desiredNumberScheduled"], 6);
    cluster.finish(60).await;
}

/// Failed pods are replaced with back-off, and a working release is rolled out.
#[tokio::test(start_paused = true)]
async fn failed_pods_are_replaced_with_back_off() {
    let cluster = Cluster::steady(3, rolling(1)).await;
    cluster.release(CRASHES);
    sleep(Duration::from_secs(600)).await;
    let creates = cluster.count(|verb, kind| verb == Verb::Create && kind == Kind::Pod);
    // 1, 2, 4 … 256 s on one node.
    assert!((8..=12).contains(&creates), "{creates} pods in ten minutes");
    assert!(cluster.writes() < 70, "{}", cluster.writes());
    assert!(cluster.api.state().events.iter().any(|reason| reason == "FailedDaemonPod"));
    cluster.release("agent:v3");
    cluster.done(Duration::from_secs(60)).await;
    cluster.finish(100).await;
}

/// The API server accepts an affinity that compares with a value that is no integer. Such a DaemonSet is not reconciled until
/// its author corrects it.
#[tokio::test(start_paused = true)]
async fn an_invalid_daemon_set_is_reported_once() {
    let cluster = Cluster::steady(3, rolling(1)).await;
    cluster.annotate(POLICY, Some("waves: [{}]"));
    sleep(Duration::from_secs(10)).await;
    let before = cluster.writes();
    let own = id(Kind::DaemonSet, AGENT);
    let with_affinity = |terms: Value| {
        cluster.api.state().store.change(Actor::Others, &own, |ds| {
            ds["spec"]["template"]["spec"]["affinity"] = json!({"nodeAffinity":
                {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}});
        });
    };
    with_affinity(json!([{"matchExpressions": [{"key": "cpus", "operator": "Gt", "values": ["many"]}]}]));
    for turn in 0..5 {
        sleep(Duration::from_secs(10)).await;
        cluster.api.state().store.change(Actor::Others, &id(Kind::Node, "n01"), |node| {
            node["metadata"]["labels"]["turn"] = json!(turn.to_string());
        });
    }
    assert_eq!(cluster.writes(), before);
    let reports = cluster.api.state().events.iter().filter(|reason| *reason == "InvalidDaemonSet").count();
    assert_eq!(reports, 1);
    let metrics = cluster.metrics.text();
    let series: Vec<&str> = metrics.lines().filter(|line| line.contains("daemonset=\"agent\"")).collect();
    assert_eq!(series, [""; 0], "they would stay as they were");
    with_affinity(json!([{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "Exists"}]}]));
    cluster.release("agent:v2");
    cluster.done(HOUR).await;
    cluster.finish(45).await;
}
