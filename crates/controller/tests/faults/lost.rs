//! Answers that are lost: whether it was done, nobody knows. What was sent is believed until the watch tells.

use crate::cluster::{Cluster, HOUR};
use crate::faults::{Fault, Verb};
use crate::objects::{rolling, surging};
use crate::store::Kind;
use std::time::Duration;
use tokio::time::Instant;

/// Every kind of it for each kind of write, with watches that show what was done long after the next attempt.
async fn rollout(fault: Fault, verb: Verb, kind: Kind, limit: Duration) {
    let cluster = Cluster::steady(6, rolling(2)).await;
    cluster.lag(Kind::Pod, Duration::from_secs(2));
    cluster.fault(verb, kind, fault, 3);
    cluster.release("agent:v2");
    let begun = Instant::now();
    cluster.done(limit).await;
    assert!(cluster.happened(fault) >= 1, "{fault:?} of {verb:?} never happened");
    tokio::time::sleep(Duration::from_secs(10)).await;
    cluster.end(75).await;
    println!("{fault:?} {verb:?} {kind:?}: {:?}, {} writes", begun.elapsed(), cluster.writes());
}

const WRITES: [(Verb, Kind); 4] = [
    (Verb::Create, Kind::Pod),
    (Verb::Delete, Kind::Pod),
    (Verb::Create, Kind::Revision),
    (Verb::UpdateStatus, Kind::DaemonSet),
];

#[tokio::test(start_paused = true)]
async fn the_connection_breaks_after_the_write() {
    for (verb, kind) in WRITES {
        rollout(Fault::BrokenAfterwards, verb, kind, HOUR).await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_server_fails_after_the_write() {
    for (verb, kind) in WRITES {
        rollout(Fault::ErrorAfterwards, verb, kind, HOUR).await;
        rollout(Fault::UnavailableAfterwards, verb, kind, HOUR).await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_server_falls_silent_after_the_write() {
    for (verb, kind) in WRITES {
        rollout(Fault::SilentAfterwards, verb, kind, HOUR).await;
    }
}

/// Nothing was done: storage tells so, as soon as nothing can be done any more. Only then the next attempt is made.
#[tokio::test(start_paused = true)]
async fn the_server_fails_before_the_write() {
    for (verb, kind) in WRITES {
        for (fault, limit) in [(Fault::Error, 40), (Fault::Broken, 200), (Fault::Silent, 260)] {
            rollout(fault, verb, kind, Duration::from_secs(limit)).await;
        }
    }
}

/// Whoever asks storage too early believes that nothing was done, and makes a second pod.
#[tokio::test(start_paused = true)]
async fn the_connection_breaks_long_before_the_write() {
    for (verb, kind) in [(Verb::Create, Kind::Pod), (Verb::Delete, Kind::Pod)] {
        rollout(Fault::BrokenLongBefore, verb, kind, Duration::from_secs(200)).await;
    }
}

/// One create fails, another one is still under way when storage is asked about the first.
#[tokio::test(start_paused = true)]
async fn what_is_settled_settles_nothing_else() {
    let cluster = Cluster::steady(6, surging(2)).await;
    cluster.fault(Verb::Create, Kind::Pod, Fault::BrokenLongBefore, 1);
    cluster.fault(Verb::Create, Kind::Pod, Fault::Error, 1);
    cluster.release("agent:v2");
    cluster.done(HOUR).await;
    assert_eq!((cluster.happened(Fault::BrokenLongBefore), cluster.happened(Fault::Error)), (1, 1));
    cluster.end(75).await;
}

/// A new pod beside each old one, each create's answer lost: never a third pod.
#[tokio::test(start_paused = true)]
async fn surge_makes_no_second_new_pod() {
    for fault in [Fault::BrokenAfterwards, Fault::SilentAfterwards, Fault::Error] {
        let cluster = Cluster::steady(6, surging(2)).await;
        cluster.lag(Kind::Pod, Duration::from_secs(2));
        cluster.fault(Verb::Create, Kind::Pod, fault, 3);
        cluster.fault(Verb::Delete, Kind::Pod, fault, 2);
        cluster.release("agent:v2");
        cluster.done(HOUR).await;
        assert!(cluster.happened(fault) >= 2);
        tokio::time::sleep(Duration::from_secs(10)).await;
        cluster.end(75).await;
        assert_eq!(cluster.api.state().store.guard.worst_surge, 2);
    }
}

/// What is read in between, for adoption and before a revision is made, must not hold a DaemonSet for ever.
#[tokio::test(start_paused = true)]
async fn a_read_that_is_never_answered_is_given_up() {
    let cluster = Cluster::steady(3, rolling(1)).await;
    cluster.fault(Verb::List, Kind::Revision, Fault::Silent, 1);
    cluster.release("agent:v2");
    cluster.done(Duration::from_secs(120)).await;
    assert_eq!(cluster.happened(Fault::Silent), 1);
    cluster.end(60).await;
}
