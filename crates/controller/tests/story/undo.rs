//! A broken version is undone on a real API server: the DaemonSet gets the template before back, once.

use crate::WITH_LEASE;
use crate::budget_watch::BudgetWatch;
use crate::cluster::image_of;
use crate::rollouts::{Fleet, events, image};
use crate::wave_watch::{Waves, watch};
use std::time::Duration;
use tokio::time::sleep;

const POLICY: &str = "waves: [{upTo: 1}, {}]\nonFailure: {action: Undo, waitingSeconds: 5}";

/// The image in the template of the DaemonSet.
async fn template_image(fleet: &Fleet) -> String {
    image_of(&fleet.cluster.daemon_set("web").await["spec"]["template"]).to_owned()
}

/// The broken version reaches one node, and its template is gone; somebody puts it back, and then it stays, and the rollout pauses.
async fn undone_once(fleet: &Fleet) {
    fleet.set_policy(POLICY).await;
    fleet.set_version("v2").await;
    fleet.has_everywhere("v2").await;
    fleet.is_marked("completed").await;

    let before = fleet.uids().await;
    let waves = Waves::new(&[1, fleet.cluster.nodes], 1);
    let budget = BudgetWatch::start(&fleet.cluster, "web").await;
    let pods = watch(&fleet.cluster, "web", &image("broken"), &waves).await;
    fleet.set_version("broken").await;
    let restored = fleet.event("RestoredTemplate").await;
    assert!(restored.contains("template"), "{restored}");
    assert_eq!(template_image(fleet).await, image("v2"));
    fleet.has_everywhere("v2").await;
    fleet.is_marked("completed").await;

    let failures = events(&fleet.cluster, "RolloutFailed").await.len();
    fleet.set_version("broken").await;
    let stays = fleet.event_after("RolloutFailed", failures).await;
    assert!(stays.contains("its template stays"), "{stays}");
    // Long enough for an undo, or for a second node.
    sleep(Duration::from_secs(10)).await;
    assert_eq!(template_image(fleet).await, image("broken"));
    assert_eq!(fleet.nodes_with("broken").await, 1);
    assert_eq!(events(&fleet.cluster, "RestoredTemplate").await.len(), 1);

    let (worst, observed) = (budget.finish().await, pods.finish().await);
    println!("          {worst:?}, touched {:?}", observed.touched);
    assert_eq!((observed.reached, observed.touched.len(), observed.breach), (1, 1, None));
    assert_eq!(worst.unavailable, 1);
    assert_eq!(fleet.uids().await.intersection(&before).count(), fleet.cluster.nodes - 1);

    fleet.set_version("v3").await;
    fleet.has_everywhere("v3").await;
    fleet.is_marked("completed").await;
}

#[tokio::test]
async fn a_broken_version_is_undone_once() {
    let Some(fleet) = Fleet::find_with("undone", false, &["undo"]).await else { return };
    let controller = fleet.start(WITH_LEASE);
    fleet.create().await;
    undone_once(&fleet).await;
    fleet.end(controller).await;
}

#[tokio::test]
async fn a_driven_broken_version_is_undone_once_beside_kubernetes_own_controller() {
    let Some(fleet) = Fleet::find_with("undone-driven", true, &["undo"]).await else { return };
    fleet.create().await;
    let driver = fleet.start(WITH_LEASE);
    undone_once(&fleet).await;
    fleet.end(driver).await;
}
