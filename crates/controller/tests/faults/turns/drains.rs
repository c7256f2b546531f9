//! Drains: pods that wait for their budget, pods that block, evictions that are refused.

use super::{add_tenants, ends, events, fleet, keep_rules, messages, node, taken};
use crate::cluster::{Cluster, HOUR};
use crate::faults::{Fault, Verb};
use crate::objects::tenant;
use crate::rollouts::{MINUTE, NEW};
use crate::store::{Actor, Kind, id};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::sleep;

const TENANTS: &str = "turn: {cordon: true, gates: [drained]}\n\
                       drain: {podSelector: {matchExpressions: [{key: tenant, operator: Exists}]}}";

async fn with_tenants(policy: &str) -> Cluster {
    let cluster = fleet(4, 2, policy).await;
    keep_rules(&cluster, &["drained"], 2);
    add_tenants(&cluster);
    cluster
}

/// The other node goes on meanwhile, and nobody asks more often than every five seconds.
#[tokio::test(start_paused = true)]
async fn a_disruption_budget_holds_its_node_until_it_allows_the_eviction() {
    let cluster = with_tenants(TENANTS).await;
    cluster.api.state().protected_pods.insert("web-n00".to_owned());
    cluster.release(NEW);
    sleep(5 * MINUTE).await;
    cluster.check_invariants();
    assert_eq!(cluster.nodes_with(NEW), 3);
    let asked: Vec<_> = {
        let state = cluster.api.state();
        state.evictions.iter().filter(|(pod, _)| pod == "web-n00").map(|(_, at)| *at).collect()
    };
    assert!((50..=61).contains(&asked.len()), "{}", asked.len());
    assert!(asked.windows(2).all(|two| two[1] - two[0] >= Duration::from_secs(5)));
    assert_eq!(cluster.api.state().evictions.len(), asked.len() + 3, "the others were asked for once");
    let waits = messages(&cluster, "DrainWaits");
    let [waits] = waits.as_slice() else { panic!("{waits:?}") };
    assert!(waits.starts_with("Pod monitoring/web-n00 on node n00 is not evicted yet: "), "{waits}");
    cluster.api.state().protected_pods.clear();
    ends(&cluster).await;
    assert_eq!(
        (taken(&cluster), events(&cluster, "Drained"), events(&cluster, "EvictionRefused")),
        (4, 4, 0)
    );
    // The pods of a node are read only while it is drained.
    let reads = cluster.drains_seen();
    sleep(HOUR).await;
    assert_eq!(cluster.drains_seen(), reads);
}

/// The pods of nobody on n00 block, until a person removes them. The pods of a DaemonSet that this process does not work on are daemons.
#[tokio::test(start_paused = true)]
async fn an_unmanaged_pod_blocks_until_it_is_gone() {
    let cluster = with_tenants("turn: {cordon: true, gates: [drained]}\ndrain: {}").await;
    cluster.release(NEW);
    sleep(10 * MINUTE).await;
    cluster.check_invariants();
    assert_eq!(cluster.nodes_with(NEW), 3);
    let blocked = messages(&cluster, "DrainBlocked");
    let [blocked] = blocked.as_slice() else { panic!("{blocked:?}") };
    let by = ["monitoring/of-nobody", "monitoring/orphan-of-unselected"];
    assert!(by.iter().all(|pod| blocked.contains(pod)) && !blocked.contains("of-unselected, "), "{blocked}");
    let evicted: Vec<String> = cluster.api.state().evictions.iter().map(|(pod, _)| pod.clone()).collect();
    assert!(!evicted.contains(&"web-n00".to_owned()), "none is evicted while one blocks: {evicted:?}");
    for name in ["of-nobody", "orphan-of-unselected"] {
        cluster.api.state().store.remove(Actor::Others, &id(Kind::Pod, name));
    }
    ends(&cluster).await;
    assert_eq!(taken(&cluster), 4);
}

/// A list of the DaemonSets that fails makes no pod one of a DaemonSet that is gone.
#[tokio::test(start_paused = true)]
async fn daemons_of_others_stay_while_the_daemon_sets_cannot_be_listed() {
    let policy = "turn: {cordon: true, gates: [drained]}\n\
                  drain: {evictWithoutController: true, deleteEmptyDirData: true}";
    let cluster = fleet(4, 2, policy).await;
    cluster.fault(Verb::List, Kind::DaemonSet, Fault::Error, 1);
    cluster.release(NEW);
    sleep(10 * MINUTE).await;
    assert_eq!(cluster.happened(Fault::Error), 1);
    let evicted: BTreeSet<String> =
        cluster.api.state().evictions.iter().map(|(pod, _)| pod.clone()).collect();
    // They have no controller, and nothing ends their containers here.
    assert!(evicted.iter().eq(["of-nobody", "orphan-of-unselected"]), "{evicted:?}");
}

/// A drain that lacks the right for one of its lists waits, and says why from the second error on.
#[tokio::test(start_paused = true)]
async fn a_drain_that_cannot_read_says_so() {
    for (kind, objects) in [(Kind::Pod, "its pods"), (Kind::DaemonSet, "the DaemonSets of the cluster")] {
        let cluster = with_tenants(TENANTS).await;
        cluster.fault(Verb::List, kind, Fault::Forbidden, 60);
        cluster.release(NEW);
        sleep(2 * MINUTE).await;
        let waits = messages(&cluster, "DrainWaits");
        assert_eq!((waits.len(), events(&cluster, "DrainWaits")), (2, 2), "each node once: {waits:?}");
        let why = format!(" waits, since {objects} can't be read: ");
        assert!(waits.iter().all(|one| one.contains(&why) && one.contains("exceeded quota")), "{waits:?}");
        ends(&cluster).await;

        let cluster = with_tenants(TENANTS).await;
        cluster.fault(Verb::List, kind, Fault::Forbidden, 1);
        cluster.release(NEW);
        ends(&cluster).await;
        assert_eq!((cluster.happened(Fault::Forbidden), events(&cluster, "DrainWaits")), (1, 0));
    }
}

/// The watch of the node's pods lags: the list before the gate opens shows the pod.
#[tokio::test(start_paused = true)]
async fn a_pod_that_the_watch_has_not_shown_is_evicted_before_the_gate_opens() {
    let cluster = with_tenants(TENANTS).await;
    cluster.lag(Kind::Pod, Duration::from_secs(4));
    cluster.release(NEW);
    // It comes a moment after the last one has gone.
    while cluster.api.state().store.get(&id(Kind::Pod, "web-n00")).is_some() {
        sleep(Duration::from_millis(1)).await;
    }
    cluster.api.state().store.create(Actor::Others, Kind::Pod, tenant("late", "n00"));
    ends(&cluster).await;
    assert!(cluster.api.state().evictions.iter().any(|(pod, _)| pod == "late"));
    assert!(node(&cluster, "n00")["spec"]["unschedulable"] != true);
}

#[tokio::test(start_paused = true)]
async fn a_refused_eviction_is_reported_and_asked_for_again() {
    let cluster = with_tenants(TENANTS).await;
    cluster.fault(Verb::Evict, Kind::Pod, Fault::Forbidden, 6);
    cluster.release(NEW);
    ends(&cluster).await;
    assert_eq!((taken(&cluster), cluster.happened(Fault::Forbidden)), (4, 6));
    let refused = messages(&cluster, "EvictionRefused");
    assert!(refused.iter().all(|one| one.contains("can't be evicted: exceeded quota")), "{refused:?}");
    assert!((1..=4).contains(&events(&cluster, "EvictionRefused")), "each pod once: {refused:?}");
}

/// The pod is gone, or another one has its name, and the watch does not show it yet: nothing was refused.
#[tokio::test(start_paused = true)]
async fn an_eviction_of_a_pod_that_is_gone_is_done() {
    let cluster = with_tenants(TENANTS).await;
    let names = ["web-n00", "web-n01"].map(ToOwned::to_owned);
    cluster.api.state().protected_pods.extend(names);
    cluster.release(NEW);
    while cluster.api.state().evictions.len() < 2 {
        sleep(Duration::from_millis(1)).await;
    }
    cluster.lag(Kind::Pod, Duration::from_secs(20));
    cluster.api.state().protected_pods.clear();
    let pod = |node: &str| id(Kind::Pod, &format!("web-{node}"));
    let store = |change: &dyn Fn(&mut crate::store::Store)| change(&mut cluster.api.state().store);
    store(&|store| {
        store.remove(Actor::Others, &pod("n00"));
        store.remove(Actor::Others, &pod("n01"));
        store.create(Actor::Others, Kind::Pod, tenant("web-n01", "n01"));
    });
    ends(&cluster).await;
    assert_eq!((taken(&cluster), events(&cluster, "EvictionRefused")), (4, 0));
    let metrics = cluster.metrics.text();
    // Each is asked for every five seconds until the watch shows more.
    assert!(metrics.contains("daemonset_evictions_total{outcome=\"gone\"}"), "{metrics}");
}

/// Without `drain` in the policy somebody else opens the gate.
#[tokio::test(start_paused = true)]
async fn nothing_is_evicted_without_a_drain_policy() {
    let cluster = with_tenants("turn: {cordon: true, gates: [drained]}").await;
    cluster.release(NEW);
    sleep(HOUR).await;
    cluster.check_invariants();
    let evictions = cluster.api.state().evictions.len();
    assert_eq!((cluster.nodes_with(NEW), evictions, cluster.drains_seen()), (0, 0, 0));
}
