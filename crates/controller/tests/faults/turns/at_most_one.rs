//! At most one pod on a node, whatever controllers believe.

use super::{ends, fleet};
use crate::cluster::{CONTROLLER, Cluster, HOUR};
use crate::faults::{Fault, Verb};
use crate::objects::rolling;
use crate::rollouts::NEW;
use crate::store::Kind;
use daemonset::Policy;
use daemonset::policy::PodNames;
use daemonset_controller::other_controller::Reaction;
use daemonset_controller::rollout::policy::ProcessRole;
use std::time::Duration;
use tokio::time::sleep;

async fn one_per_node(nodes: usize) -> Cluster {
    Cluster::steady_with(nodes, rolling(2), Policy::default().pod_names(PodNames::OnePerNode)).await
}

/// Both act, with caches that lag: each spends the budget of its own, and the API server refuses a second pod.
#[tokio::test(start_paused = true)]
async fn two_controllers_at_once_never_make_two_pods_on_a_node() {
    let mut refused = 0;
    for seed in 0..6 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut cluster = one_per_node(6).await;
        cluster.reaction = Reaction::ActAnyway;
        cluster.allow_down(2);
        cluster.start(CONTROLLER, ProcessRole::Controller).await;
        cluster.start("another", ProcessRole::Controller).await;
        cluster.lag(Kind::Pod, Duration::from_millis(rng.u64(200..3000)));
        cluster.release(NEW);
        let before = cluster.count(|verb, kind| (verb, kind) == (Verb::Create, Kind::Pod));
        for _ in 0..3 {
            sleep(Duration::from_millis(rng.u64(300..2000))).await;
            cluster.start("another", ProcessRole::Controller).await;
        }
        cluster.done(HOUR).await;
        cluster.check_invariants();
        refused += cluster.count(|verb, kind| (verb, kind) == (Verb::Create, Kind::Pod)) - before;
        refused -= 6;
    }
    assert!(refused > 0, "the controllers never met");
}

/// The answer of a create is lost, and the controller is killed before it sees the pod.
#[tokio::test(start_paused = true)]
async fn a_create_that_is_repeated_after_a_crash_is_refused() {
    for fault in [Fault::ErrorAfterwards, Fault::BrokenAfterwards, Fault::SilentAfterwards] {
        let mut cluster = one_per_node(4).await;
        cluster.fault(Verb::Create, Kind::Pod, fault, 3);
        cluster.lag(Kind::Pod, Duration::from_secs(2));
        cluster.release(NEW);
        for _ in 0..5 {
            sleep(Duration::from_millis(700)).await;
            cluster.start(CONTROLLER, ProcessRole::Controller).await;
        }
        cluster.done(HOUR).await;
        cluster.check_invariants();
        assert_eq!(cluster.happened(fault), 3, "{fault:?}");
    }
}

/// By the annotation of a DaemonSet whose pods have generated names.
#[tokio::test(start_paused = true)]
async fn the_names_of_pods_change_with_a_rollout() {
    let cluster = fleet(3, 1, "podNames: OnePerNode\nturn: {cordon: true}").await;
    cluster.release(NEW);
    ends(&cluster).await;
    cluster.release("agent:v3");
    ends(&cluster).await;
    let names = |image: &str| {
        let state = cluster.api.state();
        let pods =
            state.store.log.iter().filter(|change| {
                change.id.kind == Kind::Pod && crate::pods::image_of(&change.object) == image
            });
        pods.map(|change| change.id.name.clone()).collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!((names(NEW).len(), names(NEW)), (3, names("agent:v3")));
}
