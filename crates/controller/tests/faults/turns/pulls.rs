//! Images that are pulled before the pod of a node is replaced.

use super::{ends, events, fleet, give_rights};
use crate::cluster::Cluster;
use crate::faults::{Fault, Verb};
use crate::pods::is_pull_pod;
use crate::rollouts::{MINUTE, NEW, POLICY};
use crate::store::{Actor, ChangeKind, Kind, id, text};
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::sleep;

async fn with_pulls(nodes: usize) -> Cluster {
    let cluster = fleet(nodes, 2, "pull: {parallel: 2}").await;
    // No turn is asked for.
    give_rights(&cluster, &[]);
    cluster.api.state().store.invariants.turns.as_mut().unwrap().parallel = Some(2);
    cluster
}

/// The nodes that have had a pull pod.
fn pulled_on(cluster: &Cluster) -> BTreeSet<String> {
    let state = cluster.api.state();
    let pods = state.store.log.iter().map(|change| &change.object).filter(|pod| is_pull_pod(pod));
    pods.map(|pod| text(&pod["spec"]["nodeName"]).to_owned()).filter(|node| !node.is_empty()).collect()
}

fn pull_pods(cluster: &Cluster) -> Vec<Value> {
    cluster.api.state().store.list(Kind::Pod).filter(|pod| is_pull_pod(pod)).cloned().collect()
}

#[tokio::test(start_paused = true)]
async fn images_are_pulled_two_at_a_time_and_no_pull_pod_is_left() {
    let cluster = with_pulls(6).await;
    cluster.release(NEW);
    ends(&cluster).await;
    assert_eq!((pull_pods(&cluster).len(), pulled_on(&cluster).len()), (0, 6));
    assert_eq!(cluster.api.state().store.invariants.turns.as_ref().unwrap().worst_pulls, 2);
    assert_eq!(events(&cluster, "PullingImages"), 6);
    cluster.finish(60).await;
}

#[tokio::test(start_paused = true)]
async fn pulls_survive_lost_answers_and_a_name_that_exists() {
    for fault in [Fault::Error, Fault::ErrorAfterwards, Fault::BrokenAfterwards, Fault::AlreadyExists] {
        let cluster = with_pulls(4).await;
        cluster.fault(Verb::Create, Kind::Pod, fault, 2);
        cluster.release(NEW);
        // A create that the server says exists, and that does not, is waited for.
        if fault == Fault::AlreadyExists {
            cluster.api.state().store.invariants.turns.as_mut().unwrap().parallel = None;
        }
        ends(&cluster).await;
        assert_eq!((pull_pods(&cluster).len(), cluster.happened(fault)), (0, 2), "{fault:?}");
    }
}

/// A quota forbids the pull pods: nobody waits for them.
#[tokio::test(start_paused = true)]
async fn a_pull_pod_that_is_refused_holds_nobody_up() {
    let cluster = with_pulls(3).await;
    cluster.api.state().store.invariants.turns.as_mut().unwrap().parallel = None;
    cluster.fault(Verb::Create, Kind::Pod, Fault::Forbidden, 3);
    cluster.release(NEW);
    cluster.done(5 * MINUTE).await;
    cluster.check_invariants();
    assert_eq!(pulled_on(&cluster).len(), 0);
}

/// Without the policy each pull pod is deleted.
#[tokio::test(start_paused = true)]
async fn pull_pods_go_with_their_policy() {
    let cluster = with_pulls(4).await;
    cluster.release("agent:non-existent");
    sleep(MINUTE).await;
    assert_eq!(pull_pods(&cluster).len(), 2);
    cluster.annotate(POLICY, None);
    // Without a policy the version that does not start reaches its limit of nodes.
    sleep(MINUTE).await;
    assert_eq!(pull_pods(&cluster).len(), 0);
    let state = cluster.api.state();
    let deleted = state.store.log.iter().filter(|change| {
        change.change_kind == ChangeKind::Deleted
            && is_pull_pod(&change.object)
            && change.id.kind == Kind::Pod
    });
    assert_eq!(deleted.count(), 2);
}

/// A pull pod that a person deletes is no pod of the DaemonSet: nothing but its images is missing.
#[tokio::test(start_paused = true)]
async fn a_pull_pod_that_is_lost_is_made_again() {
    let cluster = with_pulls(4).await;
    cluster.release(NEW);
    while pull_pods(&cluster).is_empty() {
        sleep(Duration::from_millis(10)).await;
    }
    let lost = text(&pull_pods(&cluster)[0]["metadata"]["name"]).to_owned();
    cluster.api.state().store.remove(Actor::Others, &id(Kind::Pod, &lost));
    ends(&cluster).await;
    assert_eq!(pulled_on(&cluster).len(), 4);
}
