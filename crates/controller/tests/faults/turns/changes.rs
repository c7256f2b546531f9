//! Plans from changes: no plan lists all objects in the middle of a rollout, and heartbeats cost no plan.

use super::{ALL_POWERS, add_tenants, empower, ends, events, fleet, give_rights, keep_rules, taken};
use crate::api_server::ApiServer;
use crate::cluster::Cluster;
use crate::objects::rolling;
use crate::rollouts::{MINUTE, NEW};
use crate::store::{Actor, Kind, id, text};
use daemonset::Policy;
use daemonset::policy::PodNames;
use serde_json::json;
use std::time::Duration;
use tokio::time::sleep;

const TURNS: &str = "turn: {cordon: true, gates: [drained]}\n\
                     drain: {podSelector: {matchExpressions: [{key: tenant, operator: Exists}]}}\n\
                     pull: {parallel: 2}";

async fn with_turns() -> Cluster {
    let cluster = fleet(6, 2, TURNS).await;
    keep_rules(&cluster, &["drained"], 2);
    add_tenants(&cluster);
    cluster
}

/// Releases a version and waits for the end. The new revision is planned from lists, and nothing after it.
async fn release_without_lists(cluster: &Cluster) {
    cluster.release(NEW);
    sleep(Duration::from_millis(500)).await;
    let [listed, plans] = [&cluster.metrics.listed_plans, &cluster.metrics.plans].map(|count| count.get());
    ends(cluster).await;
    assert_eq!(cluster.metrics.listed_plans.get(), listed);
    assert!(cluster.metrics.plans.get() >= plans + 6, "the nodes take turns");
    assert_eq!(taken(cluster), 6);
}

#[tokio::test(start_paused = true)]
async fn turns_pulls_and_drains_need_no_list() {
    let cluster = with_turns().await;
    release_without_lists(&cluster).await;
    let counts =
        ["PullingImages", "TurnBegan", "Drained", "TurnEnded"].map(|reason| events(&cluster, reason));
    assert_eq!(counts, [6; 4]);
    let metrics = cluster.metrics.text();
    assert!(metrics.contains("daemonset_evictions_total{outcome=\"accepted\"} 6"), "{metrics}");
}

#[tokio::test(start_paused = true)]
async fn changes_in_place_and_fit_need_no_list() {
    for policy in ["inPlace: IfPossible", "fit: Hold"] {
        let cluster = fleet(6, 2, policy).await;
        for number in 0..6 {
            cluster.api.state().store.change(
                Actor::Others,
                &id(Kind::Node, &format!("n{number:02}")),
                |node| {
                    node["status"]["allocatable"] = json!({"cpu": "1", "pods": "110"});
                },
            );
        }
        release_without_lists(&cluster).await;
    }
}

#[tokio::test(start_paused = true)]
async fn one_name_for_each_node_needs_no_list() {
    let policy = Policy::default().pod_names(PodNames::OnePerNode);
    let cluster = Cluster::steady_with(6, rolling(2), policy).await;
    give_rights(&cluster, &["turns", "drain", "powers"]);
    empower(&cluster, Some(ALL_POWERS));
    keep_rules(&cluster, &[], 2);
    release_without_lists(&cluster).await;
}

/// Writes a part of the status of each node that no plan reads.
fn beat(api: &ApiServer, number: u32) {
    let store = &mut api.state().store;
    let names: Vec<String> =
        store.list(Kind::Node).map(|node| text(&node["metadata"]["name"]).to_owned()).collect();
    for name in names {
        store.change(Actor::Others, &id(Kind::Node, &name), |node| node["status"]["beat"] = json!(number));
    }
}

/// How many patches of nodes had this answer.
fn patches(cluster: &Cluster, answer: &str) -> u32 {
    let series = format!("daemonset_calls_total{{action=\"PatchNode\",answer=\"{answer}\"}} ");
    let metrics = cluster.metrics.text();
    metrics.lines().find_map(|line| line.strip_prefix(&series)?.parse().ok()).unwrap_or(0)
}

/// Each patch has the version of the last heartbeat.
#[tokio::test(start_paused = true)]
async fn heartbeats_cost_no_plan() {
    let cluster = with_turns().await;
    let api = cluster.api.clone();
    tokio::spawn(async move {
        for number in 0.. {
            beat(&api, number);
            sleep(Duration::from_millis(100)).await;
        }
    });
    let plans = cluster.metrics.plans.get();
    sleep(MINUTE).await;
    assert_eq!(cluster.metrics.plans.get(), plans);
    release_without_lists(&cluster).await;
    // Each turn begins and ends.
    let [done, conflicts] = ["done", "conflict"].map(|answer| patches(&cluster, answer));
    assert!(done >= 12 && conflicts <= 2, "{done} done, {conflicts} conflicts");
}

/// The watch shows it a second later: until then each patch has an old version, after a growing delay.
#[tokio::test(start_paused = true)]
async fn a_patch_with_an_old_version_is_planned_again() {
    let cluster = with_turns().await;
    cluster.lag(Kind::Node, Duration::from_secs(1));
    cluster.release(NEW);
    // The images are there after three seconds.
    sleep(Duration::from_millis(2500)).await;
    beat(&cluster.api, 1);
    ends(&cluster).await;
    let conflicts = patches(&cluster, "conflict");
    assert!((1..=10).contains(&conflicts), "{conflicts} conflicts");
    assert_eq!(taken(&cluster), 6);
}
