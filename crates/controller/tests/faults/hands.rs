//! What others do meanwhile: pods, nodes and DaemonSets come and go, and pods fail.

use crate::cluster::{AGENT, CRASHES, Cluster, HOUR};
use crate::faults::Verb;
use crate::objects::{daemon_set, node, rolling};
use crate::store::{By, Kind, id, text};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::sleep;

fn name(object: &Value) -> &str {
    text(&object["metadata"]["name"])
}

#[tokio::test(start_paused = true)]
async fn pods_are_deleted_by_hand() {
    let cluster = Cluster::steady(6, rolling(1)).await;
    cluster.allow_down(2);
    cluster.release("agent:v2");
    for _ in 0..2 {
        sleep(Duration::from_millis(900)).await;
        let pod = cluster.pods_of_agent().pop().expect("a pod");
        cluster.api.state().store.remove(By::Others, &id(Kind::Pod, name(&pod)));
    }
    cluster.done(HOUR).await;
    cluster.end(50).await;
}

/// The new one has another uid: pods of the old one, which were left as orphans, are adopted and updated.
#[tokio::test(start_paused = true)]
async fn a_daemon_set_is_made_again_under_its_name() {
    let cluster = Cluster::steady(5, rolling(1)).await;
    let old = cluster.daemon_set();
    {
        let store = &mut cluster.api.state().store;
        store.guard.daemon_set = None;
        store.remove(By::Others, &id(Kind::DaemonSet, AGENT));
        let owned: Vec<_> = store
            .objects
            .iter()
            .filter(|(_, object)| crate::pods::controller_uid(object) == text(&old["metadata"]["uid"]))
            .map(|(id, _)| id.clone())
            .collect();
        assert_eq!(owned.len(), 6, "pods and a revision");
        for id in owned {
            store.change(By::Others, &id, |object| object["metadata"]["ownerReferences"] = json!([]));
        }
        let new = store.create(By::Others, Kind::DaemonSet, daemon_set(AGENT, &rolling(1)));
        assert_ne!(new["metadata"]["uid"], old["metadata"]["uid"]);
    }
    cluster.done(HOUR).await;
    let gone = cluster.count(|verb, kind| verb == Verb::Delete && kind == Kind::Pod);
    assert_eq!(gone, 0, "the pods are what the new one wants");
    let new = cluster.daemon_set();
    cluster.api.state().store.guard.daemon_set = Some(text(&new["metadata"]["uid"]).to_owned());
    cluster.release("agent:v2");
    cluster.done(HOUR).await;
    cluster.end(70).await;
}

/// Deleted with its pods, which end by themselves, and made again at once.
#[tokio::test(start_paused = true)]
async fn a_daemon_set_is_made_again_while_its_pods_end() {
    let cluster = Cluster::steady(5, rolling(1)).await;
    cluster.lag(Kind::DaemonSet, Duration::from_secs(2));
    {
        let store = &mut cluster.api.state().store;
        store.guard.daemon_set = None;
        store.remove(By::Others, &id(Kind::DaemonSet, AGENT));
        store.create(By::Others, Kind::DaemonSet, daemon_set(AGENT, &rolling(1)));
    }
    for pod in cluster.pods_of_uid_but(text(&cluster.daemon_set()["metadata"]["uid"])) {
        cluster.api.state().store.remove(By::Others, &id(Kind::Pod, &pod));
    }
    cluster.done(HOUR).await;
    sleep(Duration::from_secs(10)).await;
    cluster.end(60).await;
}

/// What is in flight is remembered although the DaemonSet leaves the cache for a moment: its label was mistyped.
#[tokio::test(start_paused = true)]
async fn a_daemon_set_that_flickers_gets_no_second_pods() {
    let cluster = Cluster::steady(4, rolling(4)).await;
    cluster.lag(Kind::Pod, Duration::from_secs(5));
    let own = id(Kind::DaemonSet, AGENT);
    cluster.release("agent:v2");
    while cluster.count(|verb, kind| verb == Verb::Create && kind == Kind::Pod) < 4 {
        sleep(Duration::from_millis(10)).await;
    }
    sleep(Duration::from_millis(500)).await;
    // It goes as a watch with a selector tells it, and comes back as it was.
    let ds = cluster.api.state().store.remove(By::Others, &own);
    sleep(Duration::from_secs(1)).await;
    {
        let store = &mut cluster.api.state().store;
        store.put(By::Others, own, ds);
    }
    cluster.done(HOUR).await;
    sleep(Duration::from_secs(10)).await;
    cluster.end(50).await;
}

#[tokio::test(start_paused = true)]
async fn nodes_come_and_go() {
    let cluster = Cluster::steady(5, rolling(1)).await;
    cluster.release("agent:v2");
    sleep(Duration::from_millis(900)).await;
    cluster.allow_down(2);
    for name in ["n10", "n11"] {
        cluster.api.state().store.create(By::Others, Kind::Node, node(name));
    }
    sleep(Duration::from_secs(1)).await;
    {
        let gone: Vec<Value> =
            cluster.pods_of_agent().into_iter().filter(|pod| crate::pods::node_of(pod) == "n03").collect();
        let store = &mut cluster.api.state().store;
        store.remove(By::Others, &id(Kind::Node, "n03"));
        // The pod garbage collector's.
        for pod in gone {
            store.remove(By::Others, &id(Kind::Pod, name(&pod)));
        }
    }
    cluster.done(HOUR).await;
    assert_eq!(cluster.daemon_set()["status"]["desiredNumberScheduled"], 6);
    cluster.end(60).await;
}

/// Failed pods are replaced later each time, and a release that works gets through.
#[tokio::test(start_paused = true)]
async fn pods_that_fail_are_replaced_later_each_time() {
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
    cluster.end(100).await;
}

/// The API server takes an affinity that compares with no integer; nothing is done for it until its author mends it.
#[tokio::test(start_paused = true)]
async fn a_daemon_set_that_is_not_usable_is_told_once() {
    let cluster = Cluster::steady(3, rolling(1)).await;
    let own = id(Kind::DaemonSet, AGENT);
    let with_affinity = |terms: Value| {
        cluster.api.state().store.change(By::Others, &own, |ds| {
            ds["spec"]["template"]["spec"]["affinity"] = json!({"nodeAffinity":
                {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}});
        });
    };
    with_affinity(json!([{"matchExpressions": [{"key": "cpus", "operator": "Gt", "values": ["many"]}]}]));
    for turn in 0..5 {
        sleep(Duration::from_secs(10)).await;
        cluster.api.state().store.change(By::Others, &id(Kind::Node, "n01"), |node| {
            node["metadata"]["labels"]["turn"] = json!(turn.to_string());
        });
    }
    assert_eq!(cluster.writes(), 0);
    let told = cluster.api.state().events.iter().filter(|reason| *reason == "InvalidDaemonSet").count();
    assert_eq!(told, 1);
    with_affinity(json!([{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "Exists"}]}]));
    cluster.release("agent:v2");
    cluster.done(HOUR).await;
    cluster.end(45).await;
}
