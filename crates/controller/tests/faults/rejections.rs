//! Stories in which calls are rejected: nothing was done, and the response says so.

use crate::cluster::{AGENT, Cluster, HOUR};
use crate::faults::{Fault, Verb};
use crate::objects::rolling;
use crate::pods::controller_uid;
use crate::store::{Actor, Kind, id, text};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{Instant, sleep};

#[tokio::test(start_paused = true)]
async fn a_rollout_without_faults() {
    let cluster = Cluster::steady(8, rolling(2)).await;
    cluster.release("agent:v2");
    cluster.done(HOUR).await;
    cluster.finish(45).await;
    assert_eq!(cluster.api.state().store.invariants.worst_unavailable, 2);
}

/// 409 to a status update: the next one is made from a newer snapshot.
#[tokio::test(start_paused = true)]
async fn a_status_update_in_conflict_is_repeated() {
    let cluster = Cluster::steady(4, rolling(1)).await;
    cluster.fault(Verb::UpdateStatus, Kind::DaemonSet, Fault::Conflict, 5);
    cluster.release("agent:v2");
    cluster.done(HOUR).await;
    assert_eq!(cluster.happened(Fault::Conflict), 5);
    cluster.finish(45).await;
}

/// The last status update is in conflict, and no further event would lead to another reconcile.
#[tokio::test(start_paused = true)]
async fn a_conflict_of_the_last_status_update_is_retried() {
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
    cluster.finish(20).await;
}

fn is_v2(pod: &Value) -> bool {
    crate::pods::image_of(pod) == "agent:v2"
}

/// A revision is renumbered after an undo, and an orphan is adopted; both patches are rejected at first.
#[tokio::test(start_paused = true)]
async fn patches_in_conflict_are_repeated() {
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
    assert_eq!(adopted, 3, "the orphan is adopted again");
    cluster.finish(50).await;
}

/// Another client removes the owners of a pod.
fn orphan(cluster: &Cluster) {
    let pod = cluster.pods_of_agent().remove(0);
    let own = id(Kind::Pod, text(&pod["metadata"]["name"]));
    let store = &mut cluster.api.state().store;
    // The invariants count only pods with the DaemonSet as owner.
    store.invariants.max_unavailable += 1;
    store.change(Actor::Others, &own, |pod| pod["metadata"]["ownerReferences"] = json!([]));
}

/// Nothing is written for the DaemonSet before `Retry-After` is over, despite further events.
#[tokio::test(start_paused = true)]
async fn retry_after_is_obeyed() {
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
        let (rejected_at, writes) = (Instant::now(), cluster.writes());
        // Events all the time: the labels of a node concern all DaemonSets.
        for number in 0..58 {
            sleep(Duration::from_millis(500)).await;
            cluster.api.state().store.change(Actor::Others, &id(Kind::Node, "n01"), |node| {
                node["metadata"]["labels"]["turn"] = json!(number.to_string());
            });
        }
        // One more call may have been under way at the same moment.
        assert!(cluster.writes() <= writes + 1, "{verb:?}: {} more within 29 s", cluster.writes() - writes);
        cluster.done(HOUR).await;
        assert!(rejected_at.elapsed() < Duration::from_secs(60), "{verb:?}: {:?}", rejected_at.elapsed());
        cluster.finish(45).await;
    }
}

/// The read before an adoption obeys `Retry-After`, too.
#[tokio::test(start_paused = true)]
async fn an_adoption_obeys_retry_after() {
    let cluster = Cluster::steady(3, rolling(1)).await;
    cluster.fault(Verb::Get, Kind::DaemonSet, Fault::TooManyRequests(30), 1);
    cluster.fault(Verb::Get, Kind::DaemonSet, Fault::Silent, 1);
    orphan(&cluster);
    sleep(Duration::from_secs(29)).await;
    assert_eq!((cluster.happened(Fault::TooManyRequests(30)), cluster.writes()), (1, 0));
    sleep(Duration::from_secs(60)).await;
    assert_eq!((cluster.happened(Fault::Silent), cluster.writes()), (1, 0), "the read has not ended yet");
    cluster.done(Duration::from_secs(30)).await;
    cluster.finish(5).await;
}

/// It responds that it shuts down, and then it accepts no connection.
#[tokio::test(start_paused = true)]
async fn calls_are_repeated_after_a_restart_of_the_api_server() {
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
        // These faults are rejections: no call has to wait until its outcome is known.
        cluster.done(Duration::from_secs(60)).await;
        assert_eq!(cluster.happened(fault), 12, "{fault:?}");
        cluster.finish(50).await;
    }
}

/// A quota that is never raised: the status stays correct, and attempts become rare.
#[tokio::test(start_paused = true)]
async fn the_status_stays_correct_while_creates_are_rejected() {
    let cluster = Cluster::steady(4, rolling(1)).await;
    cluster.fault(Verb::Create, Kind::Pod, Fault::Forbidden, 100_000);
    cluster.release("agent:v2");
    sleep(HOUR).await;
    let ds = cluster.daemon_set();
    assert_eq!(ds["status"]["observedGeneration"], ds["metadata"]["generation"]);
    assert_eq!(ds["status"]["numberAvailable"], 3, "{}", ds["status"]);
    assert_eq!(ds["status"]["numberUnavailable"], 1);
    let rejected = cluster.happened(Fault::Forbidden);
    assert!((10..60).contains(&rejected), "{rejected} creates in an hour");
    assert!(cluster.writes() < 80, "{}", cluster.writes());
    cluster.api.state().faults.end();
    cluster.done(HOUR).await;
    cluster.finish(110).await;
}

/// One plan can't create all pods. The next plan is due at once, but not while all creates are rejected.
#[tokio::test(start_paused = true)]
async fn a_full_plan_is_not_continued_while_creates_are_rejected() {
    let cluster = Cluster::new(300, &rolling(1)).await;
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
async fn a_terminating_namespace_is_left_alone() {
    let cluster = Cluster::steady(5, rolling(1)).await;
    cluster.api.state().terminating = true;
    cluster.allow_down(5);
    let events = cluster.api.state().events.len();
    for pod in cluster.pods_of_agent() {
        let own = id(Kind::Pod, text(&pod["metadata"]["name"]));
        cluster.api.state().store.remove(Actor::Others, &own);
        sleep(Duration::from_millis(200)).await;
    }
    sleep(HOUR).await;
    assert_eq!(cluster.api.state().events.len(), events, "events can't be stored either");
    let creates = cluster.count(|verb, kind| verb == Verb::Create && kind == Kind::Pod);
    assert!((1..=10).contains(&creates), "{creates} creates");
    assert!(cluster.writes() <= 20, "{}", cluster.writes());
    // As in Kubernetes' own controller, this is no failure: the status is still written.
    assert_eq!(cluster.daemon_set()["status"]["numberAvailable"].as_i64().unwrap_or(0), 0);
}

/// The watch of revisions has not shown the revision yet that was created under this name.
#[tokio::test(start_paused = true)]
async fn an_existing_revision_of_ours_counts_as_created() {
    let cluster = Cluster::steady(3, rolling(1)).await;
    cluster.lag(Kind::Revision, Duration::from_secs(20));
    cluster.fault(Verb::Create, Kind::Revision, Fault::BrokenAfterwards, 1);
    let start = Instant::now();
    cluster.release("agent:v2");
    cluster.done(HOUR).await;
    assert_eq!(cluster.happened(Fault::BrokenAfterwards), 1);
    assert!(
        start.elapsed() < Duration::from_secs(15),
        "it did not wait for the watch: {:?}",
        start.elapsed()
    );
    assert_eq!(cluster.daemon_set()["status"]["collisionCount"], Value::Null);
    sleep(Duration::from_secs(30)).await;
    assert_eq!(revisions(&cluster), 2);
    cluster.finish(60).await;
}

/// Another owner has a revision of that name, which the watch shows late.
#[tokio::test(start_paused = true)]
async fn a_foreign_revision_of_the_same_name_leads_to_another_name() {
    let cluster = Cluster::steady(3, rolling(1)).await;
    cluster.release("agent:v2");
    cluster.done(HOUR).await;
    let name = revision_with(&cluster, "agent:v2");
    cluster.release("agent:v1");
    cluster.done(HOUR).await;
    // The own revision is deleted; while the watch lags, another owner gets one with the same name and content.
    let own = id(Kind::Revision, &name);
    let mut object = cluster.api.state().store.remove(Actor::Others, &own);
    sleep(Duration::from_secs(1)).await;
    cluster.lag(Kind::Revision, Duration::from_secs(3));
    object["metadata"]["ownerReferences"][0]["uid"] = json!("uid-of-another");
    {
        let store = &mut cluster.api.state().store;
        store.create(Actor::Others, Kind::Revision, object);
        store.invariants.foreign.insert(own);
    }
    let lists_before = cluster.count(|verb, kind| verb == Verb::List && kind == Kind::Revision);
    let deletes = |verb, kind| verb == Verb::Delete && kind == Kind::Pod;
    let deleted = cluster.count(deletes);
    cluster.release("agent:v2");
    cluster.done(HOUR).await;
    assert_eq!(cluster.count(deletes), deleted + 3, "each pod once: no pod was created with that hash");
    assert_eq!(cluster.daemon_set()["status"]["collisionCount"], 1);
    assert_ne!(revision_with(&cluster, "agent:v2"), name);
    let lists = cluster.count(|verb, kind| verb == Verb::List && kind == Kind::Revision) - lists_before;
    assert!((1..=40).contains(&lists), "{lists} lists");
    sleep(Duration::from_secs(5)).await;
    cluster.finish(90).await;
}

fn revisions(cluster: &Cluster) -> usize {
    let uid = text(&cluster.daemon_set()["metadata"]["uid"]).to_owned();
    cluster.api.state().store.list(Kind::Revision).filter(|revision| controller_uid(revision) == uid).count()
}

/// The name of the agent's own revision with this image.
fn revision_with(cluster: &Cluster, image: &str) -> String {
    let uid = text(&cluster.daemon_set()["metadata"]["uid"]).to_owned();
    let state = cluster.api.state();
    let mut own = state.store.list(Kind::Revision).filter(|revision| controller_uid(revision) == uid);
    let found = own.find(|revision| revision["data"].to_string().contains(&format!("\"{image}\"")));
    let name = found.map(|revision| text(&revision["metadata"]["name"]).to_owned());
    name.unwrap_or_else(|| panic!("{AGENT} has no revision of {image}"))
}
