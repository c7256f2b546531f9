//! Stories about objects that a tenant may store and that nobody can decode: they stop nobody but their owner.

use crate::api_server::NAMESPACE;
use crate::bytes::{NO_UTF8, bytes};
use crate::cluster::{AGENT, Cluster, HOUR};
use crate::faults::Verb;
use crate::log::Log;
use crate::objects::{daemon_set, rolling};
use crate::pods::controller_uid;
use crate::store::{Actor, Kind, id, text};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

const MINUTE: Duration = Duration::from_secs(60);

/// Data that an API server stores, lists and watches byte by byte. Kubernetes v1.37 fails on the number, and stores the others.
fn unreadable() -> [String; 4] {
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(200), "]".repeat(200));
    [deep, r#"{"a":1e999}"#.to_owned(), r#"{"a":"\ud800"}"#.to_owned(), format!("{{\"a\":\"{NO_UTF8}\"}}")]
}

/// Stores a revision with this data, which has the labels of the DaemonSet.
fn store_revision(cluster: &Cluster, name: &str, owners: Value, data: &str) {
    let metadata =
        json!({"name": name, "namespace": NAMESPACE, "labels": {"app": AGENT}, "ownerReferences": owners});
    let revision = json!({"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": metadata,
        "data": bytes(data), "revision": 7});
    cluster.api.state().store.create(Actor::Others, Kind::Revision, revision);
}

fn owner(kind: &str, name: &str, uid: &str) -> Value {
    json!([{"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": uid, "controller": true}])
}

fn uid_of_agent(cluster: &Cluster) -> String {
    text(&cluster.daemon_set()["metadata"]["uid"]).to_owned()
}

/// All watches list again.
fn list_again(cluster: &Cluster) {
    cluster.compact();
    cluster.break_watches();
}

#[tokio::test(start_paused = true)]
async fn a_revision_of_another_owner_stops_nobody() {
    for data in unreadable() {
        let cluster = Cluster::steady(4, rolling(1)).await;
        let log = Log::capture();
        // The watch has it first, a list then.
        store_revision(&cluster, "db-1", owner("StatefulSet", "db", "uid-of-db"), &data);
        cluster.release("agent:v2");
        cluster.done(HOUR).await;
        list_again(&cluster);
        cluster.release("agent:v3");
        cluster.done(HOUR).await;
        let watches = cluster.connection.watches.clone();
        assert!(timeout(HOUR, watches.failed_for(MINUTE)).await.is_err(), "every watch works");
        assert_eq!(log.lines("WARN"), Vec::<String>::new());
        cluster.finish(75).await;
    }
}

/// Without its data it may be the current one: to create another one would restart the fleet.
#[tokio::test(start_paused = true)]
async fn a_revision_of_a_daemon_set_stops_this_one_alone() {
    // Bytes that are no UTF-8 are data like any other.
    for (data, is_orphan) in unreadable().into_iter().zip([false, true, false]) {
        let cluster = Cluster::steady(3, rolling(1)).await;
        let beside = daemon_set("beside", &rolling(1));
        cluster.api.state().store.create(Actor::Others, Kind::DaemonSet, beside);
        sleep(MINUTE).await;
        let log = Log::capture();
        let owners = if is_orphan { json!([]) } else { owner("DaemonSet", AGENT, &uid_of_agent(&cluster)) };
        store_revision(&cluster, "agent-bad", owners, &data);
        sleep(MINUTE).await;
        let before = (cluster.pods_of_agent(), cluster.count(|_, kind| kind == Kind::Revision));
        cluster.release("agent:v2");
        cluster.release_of("beside", "beside:v2");
        list_again(&cluster);
        sleep(5 * MINUTE).await;
        assert_eq!(cluster.pods_of_agent(), before.0, "no pod restarts");
        assert_eq!(images(&cluster, "beside"), ["beside:v2"; 3], "the other one goes on");
        let events: Vec<Value> = {
            let state = cluster.api.state();
            let all = state.stored_events.values();
            all.filter(|event| event["reason"] == "InvalidDaemonSet").cloned().collect()
        };
        let [event] = events.as_slice() else { panic!("{events:#?}") };
        assert_eq!(event["involvedObject"]["name"], AGENT);
        assert!(
            text(&event["message"]).contains("revisions[agent-bad].data: Invalid value: null: must be JSON"),
            "{event}"
        );
        assert_eq!(log.lines("the DaemonSet is invalid").len(), 1, "{:#?}", log.lines(""));
        cluster.api.state().store.remove(Actor::Others, &id(Kind::Revision, "agent-bad"));
        cluster.done(HOUR).await;
    }
}

fn images(cluster: &Cluster, name: &str) -> Vec<String> {
    let state = cluster.api.state();
    let uid = text(&state.store.get(&id(Kind::DaemonSet, name)).expect("it is there")["metadata"]["uid"])
        .to_owned();
    let pods = state.store.list(Kind::Pod).filter(|pod| controller_uid(pod) == uid);
    pods.map(|pod| crate::pods::image_of(pod).to_owned()).collect()
}

/// A server of another version may have given a field another form. The first such pod leads to a list, and all later ones are read
/// in part at once.
#[tokio::test(start_paused = true)]
async fn a_pod_that_no_type_decodes_stops_nobody() {
    let cluster = Cluster::steady(3, rolling(1)).await;
    let log = Log::capture();
    for pod in ["odd-1", "odd-2", "odd-3"] {
        let metadata = json!({"name": pod, "namespace": NAMESPACE, "labels": {"app": pod}});
        let pod = json!({"metadata": metadata, "spec": {"nodeName": "n00", "tolerations": "odd"}});
        cluster.api.state().store.create(Actor::Others, Kind::Pod, pod);
        sleep(MINUTE).await;
    }
    assert_eq!(cluster.count(|verb, kind| (verb, kind) == (Verb::List, Kind::Pod)), 1);
    cluster.release("agent:v2");
    cluster.done(HOUR).await;
    let read_in_part = log.lines("is read in part");
    assert_eq!(read_in_part.len(), 3, "{read_in_part:#?}");
    cluster.finish(75).await;
}

/// Each list is decoded, and the first line of the watch after it is not.
#[tokio::test(start_paused = true)]
async fn lines_that_are_no_json_lead_to_lists_with_back_off() {
    let cluster = Cluster::steady(2, rolling(1)).await;
    for second in 0..600 {
        cluster.api.state().garbled.insert(Kind::Node);
        cluster.api.state().store.change(Actor::Others, &id(Kind::Node, "n00"), |node| {
            node["metadata"]["labels"]["second"] = json!(second.to_string());
        });
        sleep(Duration::from_secs(1)).await;
    }
    let lists = cluster.count(|verb, kind| (verb, kind) == (Verb::List, Kind::Node));
    assert!((40..70).contains(&lists), "{lists} lists in ten minutes");
}

/// The change in such a line is lost to the watch; the list has it.
#[tokio::test(start_paused = true)]
async fn a_line_of_a_watch_that_is_no_json_leads_to_a_list() {
    for kind in [Kind::DaemonSet, Kind::Pod, Kind::Node, Kind::Revision] {
        let cluster = Cluster::steady(2, rolling(1)).await;
        cluster.api.state().garbled.insert(kind);
        let start = Instant::now();
        if kind == Kind::Node {
            cluster.api.state().store.change(Actor::Others, &id(Kind::Node, "n00"), |node| {
                node["metadata"]["labels"]["seen"] = json!("no");
            });
        }
        cluster.release("agent:v2");
        cluster.done(MINUTE).await;
        assert!(cluster.api.state().garbled.is_empty());
        assert_eq!(
            cluster.count(|verb, of| verb == Verb::List && of == kind && of != Kind::Revision),
            usize::from(kind != Kind::Revision)
        );
        let watches = cluster.connection.watches.clone();
        assert!(timeout(HOUR, watches.failed_for(MINUTE)).await.is_err(), "{kind:?} {:?}", start.elapsed());
    }
}
