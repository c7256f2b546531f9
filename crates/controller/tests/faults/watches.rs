//! Watches and lists: they break off, expire, and tell late what has happened.

use crate::cluster::{Cluster, HOUR};
use crate::faults::{Fault, Verb};
use crate::objects::{rolling, surging};
use crate::store::Kind;
use std::time::Duration;
use tokio::time::sleep;

const KINDS: [Kind; 4] = [Kind::DaemonSet, Kind::Pod, Kind::Node, Kind::Revision];

#[tokio::test(start_paused = true)]
async fn watches_break_off_in_the_middle() {
    let cluster = Cluster::steady(8, rolling(2)).await;
    cluster.release("agent:v2");
    for _ in 0..10 {
        sleep(Duration::from_millis(333)).await;
        cluster.break_watches();
    }
    cluster.done(HOUR).await;
    let again = cluster.count(|verb, kind| verb == Verb::Watch && kind == Kind::Pod);
    assert!((2..=20).contains(&again), "{again} watches of pods");
    assert_eq!(cluster.count(|verb, kind| verb == Verb::List && kind == Kind::Pod), 0, "nothing was lost");
    cluster.end(60).await;
}

/// Everything that happened while nobody watched is in the list: pods that came, and pods that went.
#[tokio::test(start_paused = true)]
async fn what_has_expired_is_listed_again() {
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
    cluster.end(60).await;
}

#[tokio::test(start_paused = true)]
async fn lists_and_watches_fail_for_a_while() {
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
    cluster.struck(HOUR).await;
    cluster.done(HOUR).await;
    for (fault, times) in
        [(Fault::Error, 8), (Fault::Broken, 4), (Fault::Forbidden, 4), (Fault::TooManyRequests(1), 4)]
    {
        assert_eq!(cluster.happened(fault), times, "{fault:?}");
    }
    cluster.end(60).await;
}

/// Every ten seconds, once it is clear that the API server can't.
#[tokio::test(start_paused = true)]
async fn lists_that_fail_are_asked_for_later_each_time() {
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
    cluster.end(60).await;
}

/// Each kind late in turn, then all: the controller sees pods that are gone, and none where one is.
#[tokio::test(start_paused = true)]
async fn watches_tell_late() {
    for strategy in [rolling(2), surging(2)] {
        for late in KINDS.iter().map(std::slice::from_ref).chain([&KINDS[..]]) {
            let cluster = Cluster::steady(6, strategy.clone()).await;
            for kind in late {
                cluster.lag(*kind, Duration::from_secs(3));
            }
            cluster.release("agent:v2");
            cluster.done(HOUR).await;
            sleep(Duration::from_secs(5)).await;
            cluster.end(75).await;
        }
    }
}

/// A list from before the last writes, as a cache of the API server may give one.
#[tokio::test(start_paused = true)]
async fn lists_show_what_was() {
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
        cluster.end(75).await;
    }
}

/// The watch that shows a new template is ahead of the one of revisions: the number of the newest that nobody has shown yet
/// is not given a second time.
#[tokio::test(start_paused = true)]
async fn revisions_are_numbered_by_what_is_stored() {
    let cluster = Cluster::steady(3, rolling(1)).await;
    cluster.lag(Kind::Revision, Duration::from_secs(20));
    cluster.release("agent:v2");
    cluster.done(Duration::from_secs(15)).await;
    cluster.release("agent:v3");
    cluster.done(Duration::from_secs(15)).await;
    let mut numbers: Vec<i64> = {
        let state = cluster.api.state();
        state.store.of(Kind::Revision).filter_map(|revision| revision["revision"].as_i64()).collect()
    };
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 2, 3]);
    cluster.end(90).await;
}
