//! Calls that are refused: nothing was done, and it is told so.

use crate::cluster::{AGENT, Cluster, HOUR};
use crate::faults::{Fault, Verb};
use crate::objects::rolling;
use crate::pods::controller_uid;
use crate::store::{By, Kind, id, text};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{Instant, sleep};

#[tokio::test(start_paused = true)]
async fn nothing_goes_wrong() {
    let cluster = Cluster::steady(8, rolling(2)).await;
    cluster.release("agent:v2");
    cluster.done(HOUR).await;
    cluster.end(45).await;
    assert_eq!(cluster.api.state().store.guard.worst_unavailable, 2);
}

/// 409 on a status: the next one is made from what is there then.
#[tokio::test(start_paused = true)]
async fn a_status_in_conflict_is_written_anew() {
    let cluster = Cluster::steady(4, rolling(1)).await;
    cluster.fault(Verb::UpdateStatus, Kind::DaemonSet, Fault::Conflict, 5);
    cluster.release("agent:v2");
    cluster.done(HOUR).await;
    assert_eq!(cluster.happened(Fault::Conflict), 5);
    cluster.end(45).await;
}

/// The last status of all is in conflict, when nothing else happens any more that would ask for another.
#[tokio::test(start_paused = true)]
async fn the_last_status_is_not_lost_in_a_conflict() {
    let cluster = Cluster::steady(1, rolling(1)).await;
    cluster.release("agent:v2");
    let updated = |cluster: &Cluster| {
        cluster.pods_of_agent().iter().any(|pod| pod["status"]["phase"] == "Running" && is_v2(pod))
    };
    while !updated(&cluster) {
        sleep(Duration::from_millis(1)).await;
    }
    cluster.fault(Verb::UpdateStatus, Kind::DaemonSet, Fault::Conflict, 1);
    cluster.done(HOUR).await;
    assert_eq!(cluster.happened(Fault::Conflict), 1);
    cluster.end(20).await;
}

fn is_v2(pod: &Value) -> bool {
    crate::pods::image_of(pod) == "agent:v2"
}

/// A revision is renumbered after an undo, and an orphan adopted; both patches are refused at first.
#[tokio::test(start_paused = true)]
async fn patches_in_conflict_are_sent_anew() {
    let cluster = Cluster::steady(3, rolling(1)).await;
    cluster.release("agent:v2");
    cluster.done(HOUR).await;
    cluster.fault(Verb::Patch, Kind::Revision, Fault::Conflict, 2);
    cluster.fault(Verb::Patch, Kind::Pod, Fault::Conflict, 2);
    cluster.release("agent:v1");
    cluster.done(HOUR).await;
    orphan(&cluster);
    sleep(Duration::from_secs(10)).await;
    assert_eq!(cluster.happened(Fault::Conflict), 4);
    let adopted = cluster.pods_of_agent().len();
    assert_eq!(adopted, 3, "it is owned again");
    cluster.end(50).await;
}

/// Somebody takes the controller from a pod's owners.
fn orphan(cluster: &Cluster) {
    let pod = cluster.pods_of_agent().remove(0);
    let own = id(Kind::Pod, text(&pod["metadata"]["name"]));
    let store = &mut cluster.api.state().store;
    // Without an owner it does not count as a pod of the fleet.
    store.guard.max_unavailable += 1;
    store.change(By::Others, &own, |pod| pod["metadata"]["ownerReferences"] = json!([]));
}

/// Nothing is sent for the DaemonSet before the API server's time has come, whatever else happens.
#[tokio::test(start_paused = true)]
async fn too_many_requests_are_waited_out() {
    for (verb, kind) in [
        (Verb::Create, Kind::Pod),
        (Verb::Delete, Kind::Pod),
        (Verb::UpdateStatus, Kind::DaemonSet),
        (Verb::Create, Kind::Revision),
    ] {
        let cluster = Cluster::steady(6, rolling(2)).await;
        cluster.fault(verb, kind, Fault::TooManyRequests(30), 1);
        cluster.release("agent:v2");
        while cluster.happened(Fault::TooManyRequests(30)) == 0 {
            sleep(Duration::from_millis(1)).await;
        }
        let (told, writes) = (Instant::now(), cluster.writes());
        // Something happens all the time: a node's labels, which concern all DaemonSets.
        for number in 0..58 {
            sleep(Duration::from_millis(500)).await;
            cluster.api.state().store.change(By::Others, &id(Kind::Node, "n01"), |node| {
                node["metadata"]["labels"]["turn"] = json!(number.to_string());
            });
        }
        // What was under way at the same moment may have come in since.
        assert!(cluster.writes() <= writes + 1, "{verb:?}: {} more within 29 s", cluster.writes() - writes);
        cluster.done(HOUR).await;
        assert!(told.elapsed() < Duration::from_secs(60), "{verb:?}: {:?}", told.elapsed());
        cluster.end(45).await;
    }
}

/// The read before an adoption is a call like others.
#[tokio::test(start_paused = true)]
async fn an_adoption_waits_too() {
    let cluster = Cluster::steady(3, rolling(1)).await;
    cluster.fault(Verb::Get, Kind::DaemonSet, Fault::TooManyRequests(30), 1);
    cluster.fault(Verb::Get, Kind::DaemonSet, Fault::Silent, 1);
    orphan(&cluster);
    sleep(Duration::from_secs(29)).await;
    assert_eq!((cluster.happened(Fault::TooManyRequests(30)), cluster.writes()), (1, 0));
    sleep(Duration::from_secs(60)).await;
    assert_eq!((cluster.happened(Fault::Silent), cluster.writes()), (1, 0), "nobody knows yet");
    cluster.done(Duration::from_secs(30)).await;
    cluster.end(5).await;
}

/// It says that it ends, then it is not there.
#[tokio::test(start_paused = true)]
async fn an_api_server_that_is_started_again_is_asked_again() {
    for fault in [Fault::Unavailable, Fault::NotConnected] {
        let cluster = Cluster::steady(4, rolling(1)).await;
        for (verb, kind) in [
            (Verb::Create, Kind::Pod),
            (Verb::Delete, Kind::Pod),
            (Verb::UpdateStatus, Kind::DaemonSet),
            (Verb::Create, Kind::Revision),
            (Verb::Watch, Kind::Pod),
            (Verb::List, Kind::Pod),
        ] {
            cluster.fault(verb, kind, fault, 2);
        }
        cluster.compact();
        cluster.break_watches();
        cluster.release("agent:v2");
        // Nobody has to wait for minutes, as if a create might have been done.
        cluster.done(Duration::from_secs(60)).await;
        assert_eq!(cluster.happened(fault), 12, "{fault:?}");
        cluster.end(50).await;
    }
}

/// A quota that is never raised: the status is right nevertheless, and attempts become rare.
#[tokio::test(start_paused = true)]
async fn creates_that_are_refused_for_ever_hide_nothing() {
    let cluster = Cluster::steady(4, rolling(1)).await;
    cluster.fault(Verb::Create, Kind::Pod, Fault::Forbidden, 100_000);
    cluster.release("agent:v2");
    sleep(HOUR).await;
    let ds = cluster.daemon_set();
    assert_eq!(ds["status"]["observedGeneration"], ds["metadata"]["generation"]);
    assert_eq!(ds["status"]["numberAvailable"], 3, "{}", ds["status"]);
    assert_eq!(ds["status"]["numberUnavailable"], 1);
    let refused = cluster.happened(Fault::Forbidden);
    assert!((10..60).contains(&refused), "{refused} creates in an hour");
    assert!(cluster.writes() < 80, "{}", cluster.writes());
    cluster.api.state().faults.end();
    cluster.done(HOUR).await;
    cluster.end(110).await;
}

/// More nodes than one plan has creates: what is left is asked for at once, but not while all are refused.
#[tokio::test(start_paused = true)]
async fn a_large_fleet_is_no_reason_to_hurry() {
    let cluster = Cluster::begin(300, &rolling(1)).await;
    cluster.fault(Verb::Create, Kind::Pod, Fault::Forbidden, 100_000);
    let creates = |verb, kind| verb == Verb::Create && kind == Kind::Pod;
    sleep(Duration::from_secs(600)).await;
    let tried = cluster.count(creates);
    assert!((5..60).contains(&tried), "{tried} creates");
    cluster.api.state().faults.end();
    cluster.done(HOUR).await;
    assert!(cluster.count(creates) < tried + 310, "{}", cluster.count(creates));
}

#[tokio::test(start_paused = true)]
async fn a_namespace_that_ends_is_left_alone() {
    let cluster = Cluster::steady(5, rolling(1)).await;
    cluster.api.state().terminating = true;
    cluster.allow_down(5);
    let events = cluster.api.state().events.len();
    for pod in cluster.pods_of_agent() {
        let own = id(Kind::Pod, text(&pod["metadata"]["name"]));
        cluster.api.state().store.remove(By::Others, &own);
        sleep(Duration::from_millis(200)).await;
    }
    sleep(HOUR).await;
    assert_eq!(cluster.api.state().events.len(), events, "an event could not be stored either");
    let refused = cluster.count(|verb, kind| verb == Verb::Create && kind == Kind::Pod);
    assert!((1..=10).contains(&refused), "{refused} creates");
    assert!(cluster.writes() <= 20, "{}", cluster.writes());
    // As Kubernetes' own, which does not take that for a failure.
    assert_eq!(cluster.daemon_set()["status"]["numberAvailable"].as_i64().unwrap_or(0), 0);
}

/// The watch of revisions has not shown yet what was created under this name.
#[tokio::test(start_paused = true)]
async fn a_revision_that_is_there_already_is_taken_where_it_is_ours() {
    let cluster = Cluster::steady(3, rolling(1)).await;
    cluster.lag(Kind::Revision, Duration::from_secs(20));
    cluster.fault(Verb::Create, Kind::Revision, Fault::BrokenAfterwards, 1);
    let begun = Instant::now();
    cluster.release("agent:v2");
    cluster.done(HOUR).await;
    assert_eq!(cluster.happened(Fault::BrokenAfterwards), 1);
    assert!(begun.elapsed() < Duration::from_secs(15), "the watch was not waited for: {:?}", begun.elapsed());
    assert_eq!(cluster.daemon_set()["status"]["collisionCount"], Value::Null);
    sleep(Duration::from_secs(30)).await;
    assert_eq!(revisions(&cluster), 2);
    cluster.end(60).await;
}

/// Somebody else has one of that name; at first not even the watch has told so.
#[tokio::test(start_paused = true)]
async fn a_revision_of_another_makes_another_name() {
    let cluster = Cluster::steady(3, rolling(1)).await;
    cluster.release("agent:v2");
    cluster.done(HOUR).await;
    let name = revision_of(&cluster, "agent:v2");
    cluster.release("agent:v1");
    cluster.done(HOUR).await;
    // The own one goes; the same name and content, for somebody else, comes when the watch is late.
    let own = id(Kind::Revision, &name);
    let mut object = cluster.api.state().store.remove(By::Others, &own);
    sleep(Duration::from_secs(1)).await;
    cluster.lag(Kind::Revision, Duration::from_secs(3));
    object["metadata"]["ownerReferences"][0]["uid"] = json!("uid-of-another");
    {
        let store = &mut cluster.api.state().store;
        store.create(By::Others, Kind::Revision, object);
        store.guard.foreign.insert(own);
    }
    let asked = cluster.count(|verb, kind| verb == Verb::List && kind == Kind::Revision);
    let deletes = |verb, kind| verb == Verb::Delete && kind == Kind::Pod;
    let deleted = cluster.count(deletes);
    cluster.release("agent:v2");
    cluster.done(HOUR).await;
    assert_eq!(cluster.count(deletes), deleted + 3, "each pod once: none was made under that name");
    assert_eq!(cluster.daemon_set()["status"]["collisionCount"], 1);
    assert_ne!(revision_of(&cluster, "agent:v2"), name);
    let asked = cluster.count(|verb, kind| verb == Verb::List && kind == Kind::Revision) - asked;
    assert!((1..=40).contains(&asked), "looked {asked} times");
    sleep(Duration::from_secs(5)).await;
    cluster.end(90).await;
}

fn revisions(cluster: &Cluster) -> usize {
    let uid = text(&cluster.daemon_set()["metadata"]["uid"]).to_owned();
    cluster.api.state().store.of(Kind::Revision).filter(|revision| controller_uid(revision) == uid).count()
}

/// The agent's own revision of an image.
fn revision_of(cluster: &Cluster, image: &str) -> String {
    let uid = text(&cluster.daemon_set()["metadata"]["uid"]).to_owned();
    let state = cluster.api.state();
    let mut own = state.store.of(Kind::Revision).filter(|revision| controller_uid(revision) == uid);
    let found = own.find(|revision| revision["data"].to_string().contains(&format!("\"{image}\"")));
    let name = found.map(|revision| text(&revision["metadata"]["name"]).to_owned());
    name.unwrap_or_else(|| panic!("{AGENT} has no revision of {image}"))
}
