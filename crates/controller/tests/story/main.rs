//! The controller on a real API server. The tests run where `KUBECONFIG` points to a cluster without a DaemonSet controller, and
//! the tests of a driver where it points to a cluster with one; the others are skipped with a printed line. They need all rights in
//! the cluster: they create the service accounts of deploy/controller and deploy/driver, and run the controller with them.
//!
//! `KUBECONFIG=… cargo test --release -p daemonset-controller --test story -- --nocapture --test-threads 1`; `KILLS=50` is the
//! number of times that the controller is killed.
#![allow(unreachable_pub, clippy::restriction)]

mod approval;
mod budget_watch;
mod cluster;
mod cold_start;
mod lives;
mod manifests;
mod process;
mod rollouts;
mod turn_watch;
mod turns;
mod undo;
mod wave_watch;

use budget_watch::BudgetWatch;
use cluster::{Cluster, IMAGE};
use process::{Account, Controller, kubeconfig};
use serde_json::json;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The role in the manifest allows only the default name of the lease.
const WITH_LEASE: &[&str] = &["--lease-seconds=3"];
const WITHOUT_LEASE: &[&str] = &["--leader-elect=false"];

#[tokio::test]
async fn a_daemon_set_from_its_creation_to_its_deletion() {
    let Some(cluster) = Cluster::find("story").await else { return };
    if cluster.has_another_controller().await {
        return;
    }
    let account = kubeconfig(&cluster, Account::CONTROLLER).await;
    let controller = Controller::start(&cluster, &account, WITH_LEASE);
    let n = cluster.nodes;

    cluster.create("web", json!({"maxUnavailable": 1})).await;
    cluster.wait_for_rollout("web", &image("v1")).await;
    assert_eq!(cluster.history("web").await, [1]);
    let ds = cluster.daemon_set("web").await;
    assert_eq!(ds["status"]["desiredNumberScheduled"], n);
    assert_eq!(ds["status"]["observedGeneration"], ds["metadata"]["generation"]);

    let share = (n * 40).div_ceil(100);
    for (version, limits, unavailable, surging) in [
        ("v2", json!({"maxUnavailable": 1, "maxSurge": 0}), 1, 0),
        ("v3", json!({"maxUnavailable": "40%", "maxSurge": 0}), share, 0),
        ("v4", json!({"maxUnavailable": 0, "maxSurge": 1}), 0, 1),
        ("v5", json!({"maxUnavailable": 0, "maxSurge": "40%"}), 0, share),
    ] {
        cluster.set_limits("web", limits.clone()).await;
        let watch = BudgetWatch::start(&cluster, "web").await;
        cluster.set_image("web", &image(version)).await;
        cluster.wait_for_rollout("web", &image(version)).await;
        let worst = watch.finish().await;
        println!("          {limits}: {worst:?}");
        assert!(worst.unavailable <= unavailable && worst.surging <= surging, "{limits}: {worst:?}");
        assert!(worst.events > 0);
    }

    assert_eq!(cluster.history("web").await, [1, 2, 3, 4, 5]);
    cluster.set_limits("web", json!({"maxUnavailable": 1, "maxSurge": 0})).await;
    cluster.undo("web", 4).await;
    cluster.wait_for_rollout("web", &image("v4")).await;
    assert_eq!(cluster.history("web").await, [1, 2, 3, 5, 6], "the fourth became the sixth");
    cluster.restart("web").await;
    cluster.wait_for_rollout("web", &image("v4")).await;

    let pods = cluster.pods("web").await;
    let lost = pods[0]["metadata"]["name"].as_str().unwrap().to_owned();
    cluster.delete(&cluster.core(&format!("pods/{lost}"))).await;
    cluster
        .until("a deleted pod has a successor", async |cluster| {
            let pods = cluster.pods("web").await;
            pods.len() == n && pods.iter().all(|pod| pod["metadata"]["name"] != lost.as_str())
        })
        .await;
    check_events(&cluster).await;

    // The next controller need not wait until the released lease expires.
    let start = Instant::now();
    assert!(controller.terminate().await.success());
    let controller = Controller::start(&cluster, &account, WITH_LEASE);
    cluster.set_image("web", &image("v6")).await;
    cluster.wait_for_rollout("web", &image("v6")).await;
    println!("{:>6.1} s  with another controller", start.elapsed().as_secs_f64());

    cluster.delete(&cluster.apps("daemonsets/web")).await;
    cluster
        .until("everything is gone", async |cluster| {
            cluster.pods("web").await.is_empty()
                && cluster.list(&cluster.apps("controllerrevisions")).await.is_empty()
        })
        .await;
    assert!(controller.terminate().await.success());
    cluster.delete(&format!("/api/v1/namespaces/{}", cluster.namespace)).await;
}

/// Checks that the events are those of Kubernetes' own controller.
async fn check_events(cluster: &Cluster) {
    let events = cluster.list(&cluster.core("events")).await;
    for (reason, start) in
        [("SuccessfulCreate", "Created pod: web-"), ("SuccessfulDelete", "Deleted pod: web-")]
    {
        if cluster.nodes > 20 && reason == "SuccessfulDelete" {
            // The creates have spent the writes that they share with the deletes, as in client-go.
            continue;
        }
        let found = events.iter().any(|event| {
            event["reason"] == reason
                && event["message"].as_str().is_some_and(|message| message.starts_with(start))
                && event["source"]["component"] == "daemonset-controller"
                && event["involvedObject"]["kind"] == "DaemonSet"
        });
        assert!(found, "no event {reason}");
    }
}

#[tokio::test]
async fn killed_at_random_during_rollouts() {
    let Some(cluster) = Cluster::find("killed").await else { return };
    if cluster.has_another_controller().await {
        return;
    }
    let kills: u32 = std::env::var("KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(50);
    let account = kubeconfig(&cluster, Account::CONTROLLER).await;
    let seed = fastrand::u64(..);
    println!("          seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);

    let mut controller = Controller::start(&cluster, &account, WITHOUT_LEASE);
    cluster.create("web", json!({"maxUnavailable": 2})).await;
    cluster.wait_for_rollout("web", &image("v1")).await;
    let mut killed = 0;
    for version in 2.. {
        if killed >= kills {
            break;
        }
        let surge = version % 2 == 0;
        let limits = if surge {
            json!({"maxUnavailable": 0, "maxSurge": 2})
        } else {
            json!({"maxUnavailable": 2, "maxSurge": 0})
        };
        cluster.set_limits("web", limits).await;
        let watch = BudgetWatch::start(&cluster, "web").await;
        let next = image(&format!("v{version}"));
        cluster.set_image("web", &next).await;
        while killed < kills && !cluster.is_rolled_out("web", &next).await {
            // A kill may come before the caches are filled, or in the middle of a plan.
            sleep(Duration::from_millis(random.u64(20..1500))).await;
            controller.kill();
            controller = Controller::start(&cluster, &account, WITHOUT_LEASE);
            killed += 1;
        }
        cluster.wait_for_rollout("web", &next).await;
        let worst = watch.finish().await;
        println!("          killed {killed} times; {worst:?}");
        let allowed = if surge { (0, 2) } else { (2, 0) };
        assert!(
            (worst.unavailable <= allowed.0) && worst.surging <= allowed.1,
            "{worst:?}, allowed {allowed:?}"
        );
    }
    assert!(controller.terminate().await.success());
    cluster.delete(&format!("/api/v1/namespaces/{}", cluster.namespace)).await;
}

fn image(version: &str) -> String {
    format!("{IMAGE}:{version}")
}
