//! Pods that are kept while their successor would not fit.

use super::{ends, fleet, give_rights, messages};
use crate::cluster::{AGENT, Cluster};
use crate::faults::{Fault, Verb};
use crate::objects::tenant;
use crate::rollouts::{MINUTE, NEW, POLICY};
use crate::store::{Actor, Kind, id};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tokio::time::sleep;

/// Nodes with one cpu, of which a tenant on n00 requests most.
async fn with_one_cpu(policy: &str) -> Cluster {
    let cluster = fleet(3, 2, policy).await;
    // No right is needed beside those of the role.
    give_rights(&cluster, &[]);
    for number in 0..3 {
        cluster.api.state().store.change(Actor::Others, &id(Kind::Node, &format!("n{number:02}")), |node| {
            node["status"]["allocatable"] = json!({"cpu": "1", "pods": "110"});
        });
    }
    let mut large = tenant("large", "n00");
    large["spec"]["containers"][0]["resources"] = requests("800m");
    cluster.api.state().store.create(Actor::Others, Kind::Pod, large);
    cluster
}

fn requests(cpu: &str) -> Value {
    json!({"requests": {"cpu": cpu}})
}

fn release(cluster: &Cluster, cpu: &str) {
    cluster.api.state().store.change(Actor::Others, &id(Kind::DaemonSet, AGENT), |ds| {
        ds["spec"]["template"]["spec"]["containers"][0]["resources"] = requests(cpu);
    });
    cluster.release(NEW);
}

#[tokio::test(start_paused = true)]
async fn a_pod_is_kept_until_its_successor_fits() {
    let cluster = with_one_cpu("fit: Hold").await;
    release(&cluster, "300m");
    sleep(10 * MINUTE).await;
    cluster.check_invariants();
    assert_eq!(cluster.nodes_with(NEW), 2);
    assert!(cluster.metrics.text().contains("state=\"DoesNotFit\"} 1"));
    cluster.api.state().store.remove(Actor::Others, &id(Kind::Pod, "large"));
    cluster.done(MINUTE).await;
    ends(&cluster).await;
}

/// A pod that fits is replaced, and where nobody asks, nothing is watched.
#[tokio::test(start_paused = true)]
async fn a_pod_that_fits_is_replaced() {
    let cluster = with_one_cpu("{}").await;
    let kinds = |cluster: &Cluster| {
        let state = cluster.api.state();
        let lists = state.listed.iter().map(|(kind, count)| (*kind, *count));
        lists.collect::<BTreeSet<_>>()
    };
    let before = kinds(&cluster);
    release(&cluster, "200m");
    ends(&cluster).await;
    let lists_of = |all: &BTreeSet<(Kind, usize)>, kind| all.iter().find(|one| one.0 == kind).copied();
    for kind in [Kind::Pod, Kind::Node] {
        assert_eq!(lists_of(&kinds(&cluster), kind), lists_of(&before, kind), "no further list");
    }
    cluster.annotate(POLICY, Some("fit: Hold"));
    release(&cluster, "199m");
    cluster.release("agent:v3");
    ends(&cluster).await;
    assert!(kinds(&cluster) != before);
}

/// A list that fails once, as when an API server starts, tells nothing of any node.
#[tokio::test(start_paused = true)]
async fn a_first_list_that_fails_lets_no_pod_go_that_does_not_fit() {
    for kind in [Kind::Node, Kind::Pod] {
        let cluster = with_one_cpu("{}").await;
        cluster.fault(Verb::List, kind, Fault::Error, 1);
        cluster.annotate(POLICY, Some("fit: Hold"));
        release(&cluster, "300m");
        sleep(10 * MINUTE).await;
        assert_eq!((cluster.happened(Fault::Error), cluster.nodes_with(NEW)), (1, 2), "{kind:?}");
        assert!(messages(&cluster, "FitUnknown").is_empty());
    }
}

/// One that fails for long, or is refused, holds nothing: nobody knows what is free.
#[tokio::test(start_paused = true)]
async fn each_pod_fits_while_the_nodes_cannot_be_listed() {
    for (fault, after) in [(Fault::Forbidden, MINUTE), (Fault::Error, 3 * MINUTE)] {
        let cluster = with_one_cpu("{}").await;
        cluster.fault(Verb::List, Kind::Node, fault, u32::MAX);
        cluster.annotate(POLICY, Some("fit: Hold"));
        release(&cluster, "300m");
        sleep(after).await;
        assert_eq!(messages(&cluster, "FitUnknown").len(), 1, "{fault:?}");
        assert!(cluster.nodes_with(NEW) > 0);
    }
}
