//! Turns that a driver carries out beside the cluster's own controller.

use super::{
    ALL_POWERS, add_tenants, empower, ends, give_rights, keep_rules, not_as_before, open_gates, taken,
    turn_key,
};
use crate::cluster::{Cluster, HOUR};
use crate::faults::Verb;
use crate::pods::is_pull_pod;
use crate::rollouts::driver::{DRIVER, driven, with_driver_beside};
use crate::rollouts::{MINUTE, NEW, POLICY};
use crate::store::Kind;
use daemonset_controller::rollout::policy::ProcessRole;
use std::time::Duration;
use tokio::time::sleep;

const TURN: &str = "turn: {cordon: true, gates: [backup, drained]}\n\
                    drain: {podSelector: {matchExpressions: [{key: tenant, operator: Exists}]}}\npull: {parallel: 2}\n";

/// Beside a controller that knows nothing of turns, or that leaves them to the driver.
async fn with_turns(other: ProcessRole) -> Cluster {
    let cluster = with_driver_beside(other, 6, &driven("")).await;
    give_rights(&cluster, &["turns", "drain", "powers", "driver-pods"]);
    empower(&cluster, Some(ALL_POWERS));
    cluster.annotate(POLICY, Some(&driven(TURN)));
    sleep(MINUTE).await;
    keep_rules(&cluster, &["backup", "drained"], 2);
    cluster.api.state().store.invariants.turns.as_mut().unwrap().parallel = Some(2);
    add_tenants(&cluster);
    cluster
}

#[tokio::test(start_paused = true)]
async fn a_driver_takes_nodes_in_turn() {
    for other in [ProcessRole::Comparison, ProcessRole::Controller] {
        let cluster = with_turns(other).await;
        open_gates(&cluster.api, "backup", &turn_key(&cluster.daemon_set()), Duration::from_secs(1));
        cluster.release(NEW);
        ends(&cluster).await;
        let calls = cluster.calls_of(DRIVER);
        let count = |verb, kind| calls.iter().filter(|call| **call == (verb, kind)).count();
        assert_eq!((taken(&cluster), count(Verb::Evict, Kind::Pod)), (6, 6), "{other:?}");
        // Their begins, gates and ends.
        assert!(count(Verb::Patch, Kind::Node) >= 18, "{other:?}");
        assert_eq!(count(Verb::Create, Kind::Pod), 6, "pull pods");
        let state = cluster.api.state();
        assert_eq!(state.store.list(Kind::Pod).filter(|pod| is_pull_pod(pod)).count(), 0);
    }
}

/// The driver's turns have an end after it: the policy drives no more, also while it is down.
#[tokio::test(start_paused = true)]
async fn the_turns_of_a_driver_end_once_nothing_is_driven() {
    for is_down in [false, true] {
        let mut cluster = with_turns(ProcessRole::Comparison).await;
        cluster.release(NEW);
        sleep(MINUTE).await;
        assert_eq!(not_as_before(&cluster).len(), 2);
        if is_down {
            cluster.kill(DRIVER);
        }
        cluster.annotate(POLICY, Some("{}"));
        if is_down {
            cluster.start(DRIVER, ProcessRole::Driver).await;
        }
        sleep(Duration::from_secs(10)).await;
        assert_eq!(not_as_before(&cluster), [""; 0], "{is_down}");
        cluster.check_invariants();
    }
}

/// A driver that is killed again and again.
#[tokio::test(start_paused = true)]
async fn driven_turns_survive_kills() {
    let mut rng = fastrand::Rng::with_seed(1);
    let mut cluster = with_turns(ProcessRole::Controller).await;
    open_gates(&cluster.api, "backup", &turn_key(&cluster.daemon_set()), Duration::from_secs(1));
    cluster.release(NEW);
    for _ in 0..30 {
        sleep(Duration::from_millis(rng.u64(5..3000))).await;
        cluster.start(DRIVER, ProcessRole::Driver).await;
    }
    cluster.done(HOUR).await;
    ends(&cluster).await;
    assert_eq!(taken(&cluster), 6);
}
