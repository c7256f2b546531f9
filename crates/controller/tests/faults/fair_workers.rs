//! Stories about DaemonSets whose creates are slow, as when a webhook answers late: the others wait for them for a bounded time.

use crate::cluster::{Cluster, HOUR};
use crate::faults::Verb;
use crate::objects::{daemon_set, rolling};
use crate::store::{Actor, Kind};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// More than there are workers and places for slow reconciles.
const NAMES: [&str; 20] = [
    "s00", "s01", "s02", "s03", "s04", "s05", "s06", "s07", "s08", "s09", "s10", "s11", "s12", "s13", "s14",
    "s15", "s16", "s17", "s18", "s19",
];

/// How long the agent waits for its first delete of a rollout that begins beside DaemonSets whose creates each take this time.
async fn wait_beside(names: &[&'static str], each: Duration) -> Duration {
    let cluster = Cluster::steady(100, rolling(1)).await;
    {
        let mut state = cluster.api.state();
        for name in names {
            state.slow_creates.insert(name, each);
            state.store.create(Actor::Others, Kind::DaemonSet, daemon_set(name, &rolling(1)));
        }
    }
    sleep(Duration::from_millis(500)).await;
    let start = Instant::now();
    cluster.release("agent:v2");
    while cluster.count(|verb, kind| verb == Verb::Delete && kind == Kind::Pod) == 0 {
        assert!(start.elapsed() < HOUR, "it waits for ever");
        sleep(Duration::from_millis(10)).await;
    }
    cluster.check_invariants();
    start.elapsed()
}

#[tokio::test(start_paused = true)]
async fn two_slow_daemon_sets_keep_no_worker() {
    let wait = wait_beside(&NAMES[..2], Duration::from_secs(20)).await;
    assert!(wait < Duration::from_secs(3), "{wait:?}");
}

/// Each may have sixteen connections.
#[tokio::test(start_paused = true)]
async fn eighteen_slow_daemon_sets_are_under_way_at_a_time() {
    let cluster = Cluster::steady(100, rolling(1)).await;
    for name in NAMES {
        let mut state = cluster.api.state();
        state.slow_creates.insert(name, Duration::from_secs(60));
        state.store.create(Actor::Others, Kind::DaemonSet, daemon_set(name, &rolling(1)));
    }
    sleep(Duration::from_secs(50)).await;
    let creates = cluster.count(|verb, kind| verb == Verb::Create && kind == Kind::Pod);
    assert_eq!(creates, 18, "the first create of each: two workers, and sixteen beside them");
}

/// Of 100 creates of a minute each one comes first, then two, then four: the plan ends after the first.
#[tokio::test(start_paused = true)]
async fn any_number_of_slow_daemon_sets_delays_another_one_for_two_minutes_at_most() {
    let wait = wait_beside(&NAMES, Duration::from_secs(60)).await;
    assert!(wait < Duration::from_secs(120), "{wait:?}");
}
