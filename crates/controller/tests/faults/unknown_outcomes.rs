//! Stories in which responses are lost: the calls may have been done, and count until a watch or storage shows the outcome.

use crate::cluster::{Cluster, HOUR};
use crate::faults::{Fault, Verb};
use crate::objects::{rolling, surging};
use crate::store::Kind;
use std::time::Duration;
use tokio::time::Instant;

/// A rollout with three such faults in one kind of write, and a watch that shows their outcomes long after the next attempt.
async fn rollout(fault: Fault, verb: Verb, kind: Kind, limit: Duration) {
    let cluster = Cluster::steady(6, rolling(2)).await;
    cluster.lag(Kind::Pod, Duration::from_secs(2));
    cluster.fault(verb, kind, fault, 3);
    cluster.release("agent:v2");
    let start = Instant::now();
    cluster.done(limit).await;
    assert!(cluster.happened(fault) >= 1, "{fault:?} was never injected into {verb:?}");
    tokio::time::sleep(Duration::from_secs(10)).await;
    cluster.finish(75).await;
    println!("{fault:?} {verb:?} {kind:?}: {:?}, {} writes", start.elapsed(), cluster.writes());
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

/// The calls were not done. Storage is read once they can't be done any more, and only then they are repeated.
#[tokio::test(start_paused = true)]
async fn the_server_fails_before_the_write() {
    for (verb, kind) in WRITES {
        for (fault, limit) in [(Fault::Error, 40), (Fault::Broken, 200), (Fault::Silent, 260)] {
            rollout(fault, verb, kind, Duration::from_secs(limit)).await;
        }
    }
}

/// A controller that reads storage too early finds no pod there, and creates a second one.
#[tokio::test(start_paused = true)]
async fn the_connection_breaks_long_before_the_write() {
    for (verb, kind) in [(Verb::Create, Kind::Pod), (Verb::Delete, Kind::Pod)] {
        rollout(Fault::BrokenLongBefore, verb, kind, Duration::from_secs(200)).await;
    }
}

/// One create fails, and another one is still under way when storage is read for the first.
#[tokio::test(start_paused = true)]
async fn settling_one_create_leaves_another_one_unknown() {
    let cluster = Cluster::steady(6, surging(2)).await;
    cluster.fault(Verb::Create, Kind::Pod, Fault::BrokenLongBefore, 1);
    cluster.fault(Verb::Create, Kind::Pod, Fault::Error, 1);
    cluster.release("agent:v2");
    cluster.done(HOUR).await;
    assert_eq!((cluster.happened(Fault::BrokenLongBefore), cluster.happened(Fault::Error)), (1, 1));
    cluster.finish(75).await;
}

/// The response to each create of a surge is lost, and no node gets a third pod.
#[tokio::test(start_paused = true)]
async fn a_surge_creates_no_second_new_pod() {
    for fault in [Fault::BrokenAfterwards, Fault::SilentAfterwards, Fault::Error] {
        let cluster = Cluster::steady(6, surging(2)).await;
        cluster.lag(Kind::Pod, Duration::from_secs(2));
        cluster.fault(Verb::Create, Kind::Pod, fault, 3);
        cluster.fault(Verb::Delete, Kind::Pod, fault, 2);
        cluster.release("agent:v2");
        cluster.done(HOUR).await;
        assert!(cluster.happened(fault) >= 2);
        tokio::time::sleep(Duration::from_secs(10)).await;
        cluster.finish(75).await;
        assert_eq!(cluster.api.state().store.invariants.worst_surge, 2);
    }
}

/// The reads before an adoption and before a new revision must not block a DaemonSet for ever.
#[tokio::test(start_paused = true)]
async fn a_read_without_a_response_is_given_up() {
    let cluster = Cluster::steady(3, rolling(1)).await;
    cluster.fault(Verb::List, Kind::Revision, Fault::Silent, 1);
    cluster.release("agent:v2");
    cluster.done(Duration::from_secs(120)).await;
    assert_eq!(cluster.happened(Fault::Silent), 1);
    cluster.finish(60).await;
}
