//! Stories about the events that `kubectl describe daemonset` shows.

use crate::cluster::Cluster;
use crate::faults::{Fault, Verb};
use crate::objects::rolling;
use crate::pods::node_of;
use crate::store::{Actor, Kind, id, text};
use serde_json::Value;
use std::time::Duration;
use tokio::time::sleep;

const MINUTE: Duration = Duration::from_secs(60);

fn events(cluster: &Cluster, reason: &str) -> Vec<Value> {
    let state = cluster.api.state();
    state.stored_events.values().filter(|event| event["reason"] == reason).cloned().collect()
}

fn remove_pods(cluster: &Cluster, many: usize) {
    cluster.allow_down(many);
    for pod in cluster.pods_of_agent().into_iter().take(many) {
        cluster.api.state().store.remove(Actor::Others, &id(Kind::Pod, text(&pod["metadata"]["name"])));
    }
}

/// The creates and deletes of a rollout have spent all writes that client-go allows by then.
#[tokio::test(start_paused = true)]
async fn the_reason_why_a_large_rollout_stands_still_is_stored() {
    let cluster = Cluster::steady(40, rolling(5)).await;
    cluster.release("agent:v2");
    cluster.done(10 * MINUTE).await;
    cluster.fault(Verb::Create, Kind::Pod, Fault::Forbidden, 100_000);
    remove_pods(&cluster, 1);
    sleep(MINUTE).await;
    let failed = events(&cluster, "FailedCreate");
    let [event] = failed.as_slice() else { panic!("{failed:#?}") };
    assert_eq!(event["message"], "Error creating: exceeded quota");
    assert_eq!(event["type"], "Warning");
    assert!(event["count"].as_u64().is_some_and(|count| count > 3), "equal events are counted: {event}");
    assert!(event["lastTimestamp"].as_str() > event["firstTimestamp"].as_str(), "{event}");
}

#[tokio::test(start_paused = true)]
async fn a_warning_hides_no_other_warning() {
    let cluster = Cluster::steady(3, rolling(2)).await;
    cluster.fault(Verb::Create, Kind::Pod, Fault::Forbidden, 100_000);
    remove_pods(&cluster, 1);
    for _ in 0..60 {
        sleep(Duration::from_secs(2)).await;
        // Each change of a node leads to a further attempt.
        cluster.api.state().store.change(Actor::Others, &id(Kind::Node, "n01"), |node| {
            node["metadata"]["labels"]["turn"] = node["metadata"]["resourceVersion"].clone();
        });
    }
    let name = text(&cluster.pods_of_agent()[0]["metadata"]["name"]).to_owned();
    cluster.api.state().rejected_names.insert(name);
    cluster.allow_down(2);
    cluster.release("agent:v2");
    sleep(MINUTE).await;
    assert_eq!(events(&cluster, "FailedDelete").len(), 1);
}

/// After nine different messages of one reason, the others share one event.
#[tokio::test(start_paused = true)]
async fn similar_events_are_combined() {
    let cluster = Cluster::steady(20, rolling(1)).await;
    let created = events(&cluster, "SuccessfulCreate");
    assert_eq!(created.len(), 10);
    let prefix = "(combined from similar events): Created pod: ";
    let combined: Vec<&Value> =
        created.iter().filter(|event| text(&event["message"]).starts_with(prefix)).collect();
    let [event] = combined.as_slice() else { panic!("{combined:#?}") };
    assert_eq!(event["count"], 11);
}

/// The API server deletes events after an hour.
#[tokio::test(start_paused = true)]
async fn an_event_that_is_gone_is_created_again() {
    let cluster = Cluster::steady(2, rolling(1)).await;
    cluster.fault(Verb::Create, Kind::Pod, Fault::Forbidden, 100_000);
    remove_pods(&cluster, 1);
    sleep(MINUTE).await;
    let node = cluster.pods_of_agent().first().map(|pod| node_of(pod).to_owned());
    cluster.api.state().stored_events.clear();
    sleep(10 * MINUTE).await;
    let again = events(&cluster, "FailedCreate");
    assert_eq!(again.len(), 1, "{node:?} {again:#?}");
    assert!(again[0]["count"].as_u64().is_some_and(|count| count > 3), "with its whole count: {again:#?}");
}
