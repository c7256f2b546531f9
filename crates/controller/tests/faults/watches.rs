//! Stories in which watches and lists break, expire or lag.

use crate::cluster::{Cluster, HOUR};
use crate::faults::{Fault, Verb};
use crate::objects::{rolling, surging};
use crate::store::{Actor, Kind, id, text};
use serde_json::json;
use std::time::Duration;
use tokio::time::{sleep, timeout};

const KINDS: [Kind; 4] = [Kind::DaemonSet, Kind::Pod, Kind::Node, Kind::Revision];

#[tokio::test(start_paused = true)]
async fn a_rollout_survives_broken_watches() {
    let cluster = Cluster::steady(8, rolling(2)).await;
    cluster.release("agent:v2");
    for _ in 0..10 {
        sleep(Duration::from_millis(333)).await;
        cluster.break_watches();
    }
    cluster.done(HOUR).await;
    let again = cluster.count(|verb, kind| verb == Verb::Watch && kind == Kind::Pod);
    assert!((2..=20).contains(&again), "{again} watches of pods");
    assert_eq!(
        cluster.count(|verb, kind| verb == Verb::List && kind == Kind::Pod),
        0,
        "a watch resumes without a list"
    );
    cluster.finish(60).await;
}

/// The list contains the changes that happened while there was no watch: new pods, and removed ones.
#[tokio::test(start_paused = true)]
async fn an_expired_watch_leads_to_a_new_list() {
    let cluster = Cluster::steady(8, rolling(2)).await;
    cluster.release("agent:v2");
    for _ in 0..4 {
        sleep(Duration::from_millis(700)).await;
        cluster.compact();
        cluster.break_watches();
    }
    cluster.done(HOUR).await;
    let again = cluster.count(|verb, kind| verb == Verb::List && kind == Kind::Pod);
    assert!((1..=10).contains(&again), "{again} lists of pods");
    cluster.finish(60).await;
}

#[tokio::test(start_paused = true)]
async fn a_rollout_survives_lists_and_watches_that_fail() {
    let cluster = Cluster::steady(4, rolling(1)).await;
    for kind in KINDS {
        cluster.fault(Verb::List, kind, Fault::Error, 2);
        cluster.fault(Verb::List, kind, Fault::Broken, 1);
        cluster.fault(Verb::Watch, kind, Fault::Forbidden, 1);
        cluster.fault(Verb::Watch, kind, Fault::TooManyRequests(1), 1);
    }
    cluster.compact();
    cluster.break_watches();
    cluster.release("agent:v2");
    cluster.all_faults_happened(HOUR).await;
    cluster.done(HOUR).await;
    for (fault, times) in
        [(Fault::Error, 8), (Fault::Broken, 4), (Fault::Forbidden, 4), (Fault::TooManyRequests(1), 4)]
    {
        assert_eq!(cluster.happened(fault), times, "{fault:?}");
    }
    cluster.finish(60).await;
}

/// With back-off, up to one list in ten seconds.
#[tokio::test(start_paused = true)]
async fn failing_lists_are_retried_with_back_off() {
    let cluster = Cluster::steady(2, rolling(1)).await;
    cluster.fault(Verb::List, Kind::Pod, Fault::Error, 1000);
    cluster.compact();
    cluster.break_watches();
    cluster.release("agent:v2");
    sleep(Duration::from_secs(600)).await;
    let lists = cluster.happened(Fault::Error);
    assert!((10..70).contains(&lists), "{lists} lists in ten minutes");
    cluster.api.state().faults.end();
    cluster.done(Duration::from_secs(120)).await;
    cluster.finish(60).await;
}

/// As of one instant, however many changes come between two pages.
#[tokio::test(start_paused = true)]
async fn lists_come_in_pages() {
    let cluster = Cluster::steady(120, rolling(20)).await;
    cluster.compact();
    cluster.break_watches();
    cluster.release("agent:v2");
    cluster.done(HOUR).await;
    assert!(cluster.count(|verb, kind| verb == Verb::List && kind == Kind::Node) >= 3);
    assert_eq!(cluster.api.state().largest_page, Some(50), "of the reads of an executor as well");
}

/// A new revision needs those that are stored. The other revisions of the namespace may be large, and are no concern of this
/// DaemonSet.
#[tokio::test(start_paused = true)]
async fn a_release_lists_the_revisions_that_the_selector_matches() {
    let cluster = Cluster::steady(3, rolling(1)).await;
    cluster.release("agent:v2");
    cluster.done(HOUR).await;
    let mut other = cluster.revisions().remove(0);
    other["metadata"]["labels"] = json!({"app": "other"});
    other["metadata"]["ownerReferences"] = json!([]);
    for number in 0..100 {
        other["metadata"]["name"] = json!(format!("other-{number}"));
        cluster.api.state().store.create(Actor::Others, Kind::Revision, other.clone());
    }
    let listed = |kind| cluster.api.state().listed.get(&kind).copied().unwrap_or_default();
    let before = listed(Kind::Revision);
    cluster.release("agent:v3");
    cluster.done(HOUR).await;
    assert_eq!(listed(Kind::Revision) - before, 2);
    cluster.finish(60).await;
}

/// The list lacks it, and the watch does not show yet that its labels have changed.
#[tokio::test(start_paused = true)]
async fn an_own_revision_without_the_labels_counts_for_the_next_number() {
    let cluster = Cluster::steady(3, rolling(1)).await;
    cluster.release("agent:v2");
    cluster.done(HOUR).await;
    cluster.lag(Kind::Revision, Duration::from_secs(30));
    let newest = || cluster.revisions().pop().expect("a revision");
    let name = text(&newest()["metadata"]["name"]).to_owned();
    cluster.api.state().store.change(Actor::Others, &id(Kind::Revision, &name), |revision| {
        revision["metadata"]["labels"]["app"] = json!("else");
    });
    cluster.release("agent:v3");
    sleep(Duration::from_secs(10)).await;
    assert_eq!(newest()["revision"], 3);
    cluster.done(HOUR).await;
}

#[tokio::test(start_paused = true)]
async fn a_list_is_not_repeated_before_its_retry_after() {
    let cluster = Cluster::steady(2, rolling(1)).await;
    let watches = cluster.connection.watches.clone();
    cluster.fault(Verb::List, Kind::Pod, Fault::TooManyRequests(120), 2);
    cluster.compact();
    cluster.break_watches();
    cluster.release("agent:v2");
    let gives_up = timeout(Duration::from_secs(239), watches.failed_for(Duration::from_secs(60))).await;
    assert!(gives_up.is_err(), "another process would have to wait as well");
    assert_eq!(cluster.count(|verb, kind| verb == Verb::List && kind == Kind::Pod), 2);
    cluster.done(Duration::from_secs(60)).await;
    cluster.finish(60).await;
}

/// Nothing comes any more, not even the end of the connection.
#[tokio::test(start_paused = true)]
async fn a_half_open_connection_is_noticed_within_a_minute() {
    let cluster = Cluster::steady(2, rolling(1)).await;
    cluster.cut_watches();
    cluster.release("agent:v2");
    cluster.done(Duration::from_secs(65)).await;
    cluster.finish(60).await;
}

/// Each kind lags in turn, then all do: the controller sees pods that are gone, and misses pods that exist.
#[tokio::test(start_paused = true)]
async fn a_rollout_survives_watches_that_lag() {
    for strategy in [rolling(2), surging(2)] {
        for lagging in KINDS.iter().map(std::slice::from_ref).chain([&KINDS[..]]) {
            let cluster = Cluster::steady(6, strategy.clone()).await;
            for kind in lagging {
                cluster.lag(*kind, Duration::from_secs(3));
            }
            cluster.release("agent:v2");
            cluster.done(HOUR).await;
            sleep(Duration::from_secs(5)).await;
            cluster.finish(75).await;
        }
    }
}

/// The lists are older than the last writes, as from a cache of the API server.
#[tokio::test(start_paused = true)]
async fn a_rollout_survives_lists_that_lag() {
    for strategy in [rolling(2), surging(2)] {
        let cluster = Cluster::steady(6, strategy).await;
        cluster.api.state().list_lag = Duration::from_secs(2);
        cluster.release("agent:v2");
        for _ in 0..5 {
            sleep(Duration::from_millis(450)).await;
            for kind in KINDS {
                cluster.fault(Verb::Watch, kind, Fault::Gone, 1);
            }
            cluster.break_watches();
        }
        cluster.done(HOUR).await;
        assert!(cluster.happened(Fault::Gone) >= 12, "{}", cluster.happened(Fault::Gone));
        assert!(cluster.count(|verb, kind| verb == Verb::List && kind == Kind::Pod) >= 3);
        sleep(Duration::from_secs(30)).await;
        cluster.finish(75).await;
    }
}

/// The watch of DaemonSets is ahead of the watch of revisions: the number of a revision that the cache lacks must not be given
/// a second time.
#[tokio::test(start_paused = true)]
async fn stored_revisions_decide_the_number_of_a_new_one() {
    let cluster = Cluster::steady(3, rolling(1)).await;
    cluster.lag(Kind::Revision, Duration::from_secs(20));
    cluster.release("agent:v2");
    cluster.done(Duration::from_secs(15)).await;
    cluster.release("agent:v3");
    cluster.done(Duration::from_secs(15)).await;
    let mut numbers: Vec<i64> = {
        let state = cluster.api.state();
        state.store.list(Kind::Revision).filter_map(|revision| revision["revision"].as_i64()).collect()
    };
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 2, 3]);
    cluster.finish(90).await;
}

/// KEP-5647. The watch shows a pod and its end at the same instant, so that no reconcile sees it. The version of the cache
/// tells that the pod is gone; without it the node would wait five minutes for the pod.
#[tokio::test(start_paused = true)]
async fn a_pod_that_no_reconcile_has_seen_does_not_hold_its_node() {
    let cluster = Cluster::steady(1, rolling(1)).await;
    let only_pod = || cluster.pods_of_agent().first().map(|pod| text(&pod["metadata"]["name"]).to_owned());
    let remove = |name: &str| {
        cluster.api.state().store.remove(Actor::Others, &id(Kind::Pod, name));
    };
    let first = only_pod().unwrap();
    cluster.lag(Kind::Pod, Duration::from_secs(2));
    remove(&first);
    let created = loop {
        sleep(Duration::from_millis(1)).await;
        if let Some(created) = only_pod() {
            break created;
        }
    };
    remove(&created);
    // Neither event is shown for a while, and then both are.
    cluster.lag(Kind::Pod, HOUR);
    sleep(Duration::from_secs(5)).await;
    cluster.lag(Kind::Pod, Duration::ZERO);
    cluster.break_watches();
    sleep(Duration::from_secs(20)).await;
    assert!(only_pod().is_some_and(|name| name != created), "another pod is there after seconds");
}
