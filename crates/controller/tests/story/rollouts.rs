//! Steered rollouts on a real API server: alone, and as a driver beside Kubernetes' own controller. A cluster has one of the two, so
//! that half of the stories are skipped.

use crate::budget_watch::{BudgetWatch, uid};
use crate::cluster::{Cluster, IMAGE, image_of};
use crate::process::{Account, Controller, kubeconfig};
use crate::wave_watch::{Waves, watch};
use crate::{WITH_LEASE, WITHOUT_LEASE};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::{Instant, sleep};

pub const POLICY: &str = "rollout.daemonset/policy";
const PAUSED: &str = "rollout.daemonset/paused";
const APPROVED: &str = "rollout.daemonset/approved";
/// The limit of every rollout.
pub const MAX_UNAVAILABLE: usize = 3;

/// A DaemonSet whose rollouts are steered.
pub struct Fleet {
    pub cluster: Cluster,
    account: PathBuf,
    is_driven: bool,
}

impl Fleet {
    /// `None` where the cluster does not fit: a driver needs another controller, and this controller must be alone.
    pub async fn find(name: &str, is_driven: bool) -> Option<Self> {
        Self::find_with(name, is_driven, &[]).await
    }

    /// The same with the rights of these components of deploy/.
    pub async fn find_with(name: &str, is_driven: bool, parts: &'static [&'static str]) -> Option<Self> {
        let cluster = Cluster::find(name).await?;
        if cluster.another_controller_acts().await != is_driven {
            println!(
                "skipped: it needs a cluster {} another DaemonSet controller",
                if is_driven { "with" } else { "without" }
            );
            return None;
        }
        let account = if is_driven { Account::DRIVER } else { Account::CONTROLLER };
        Some(Fleet { account: kubeconfig(&cluster, account.with(parts)).await, cluster, is_driven })
    }

    pub fn start(&self, lease: &[&str]) -> Controller {
        let drive: &[&str] = if self.is_driven { &["--drive"] } else { &[] };
        Controller::start(&self.cluster, &self.account, &[lease, drive].concat())
    }

    /// Creates the DaemonSet, and waits until each node has its pod.
    pub async fn create(&self) {
        let strategy = match self.is_driven {
            true => json!({"type": "OnDelete"}),
            false => json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": MAX_UNAVAILABLE}}),
        };
        self.cluster.create_with("web", strategy).await;
        self.has_everywhere("v1").await;
    }

    pub async fn set_policy(&self, policy: &str) {
        let drive =
            format!("drive: {{type: RollingUpdate, rollingUpdate: {{maxUnavailable: {MAX_UNAVAILABLE}}}}}\n");
        let drive = if self.is_driven { drive.as_str() } else { "" };
        self.cluster.annotate("web", POLICY, Some(&format!("{drive}{policy}"))).await;
    }

    pub async fn set_version(&self, version: &str) {
        self.cluster.set_image("web", &image(version)).await;
    }

    pub async fn nodes_with(&self, version: &str) -> usize {
        nodes_with(&self.cluster, version).await
    }

    pub async fn has_everywhere(&self, version: &str) {
        self.cluster
            .until(&format!("every node has {version}"), async |cluster| {
                cluster.pods("web").await.len() == cluster.nodes
                    && nodes_with(cluster, version).await == cluster.nodes
            })
            .await;
    }

    /// Waits for the mark of the current revision with this name.
    pub async fn is_marked(&self, mark: &str) {
        self.cluster
            .until(&format!("the revision is marked {mark}"), async |cluster| {
                current_revision(cluster).await["metadata"]["annotations"]
                    [format!("rollout.daemonset/{mark}")]
                .is_string()
            })
            .await;
    }

    /// Waits for an event; returns its message.
    pub async fn event(&self, reason: &str) -> String {
        self.event_after(reason, 0).await
    }

    /// Waits for an event after so many with this reason; returns its message.
    pub async fn event_after(&self, reason: &str, known: usize) -> String {
        self.cluster
            .until(&format!("event {reason}"), async |cluster| events(cluster, reason).await.len() > known)
            .await;
        let message = events(&self.cluster, reason).await.pop().unwrap_or_default();
        println!("          {message}");
        message
    }

    pub async fn uids(&self) -> BTreeSet<String> {
        self.cluster.pods("web").await.iter().map(uid).collect()
    }

    pub async fn end(self, controller: Controller) {
        assert!(controller.terminate().await.success());
        self.cluster.delete(&self.cluster.apps("daemonsets/web")).await;
        self.cluster.until("every pod is gone", async |cluster| cluster.pods("web").await.is_empty()).await;
        self.cluster.delete(&format!("/api/v1/namespaces/{}", self.cluster.namespace)).await;
    }
}

pub fn image(version: &str) -> String {
    match version {
        "broken" => "registry.example/non-existent:v1".to_owned(),
        version => format!("{IMAGE}:{version}"),
    }
}

/// Nodes with a pod of this version that is Ready or, of the broken one, that exists.
async fn nodes_with(cluster: &Cluster, version: &str) -> usize {
    let is_fine = |pod: &&Value| version == "broken" || crate::budget_watch::is_ready(pod);
    let pods = cluster.pods("web").await;
    let of_version =
        pods.iter().filter(|pod| image_of(pod) == image(version) && crate::budget_watch::runs(pod));
    of_version.filter(is_fine).count()
}

async fn current_revision(cluster: &Cluster) -> Value {
    let revisions = cluster.list(&cluster.apps("controllerrevisions")).await;
    revisions.into_iter().max_by_key(|revision| revision["revision"].as_i64()).unwrap_or_default()
}

/// The reason of the condition `Progressing`.
async fn progressing(cluster: &Cluster) -> String {
    let conditions = cluster.daemon_set("web").await["status"]["conditions"].clone();
    let mut conditions = conditions.as_array().into_iter().flatten();
    let progressing = conditions.find(|condition| condition["type"] == "Progressing");
    progressing.and_then(|condition| condition["reason"].as_str()).unwrap_or_default().to_owned()
}

/// The messages of the events with this reason, in their order: their names end with their times.
pub async fn events(cluster: &Cluster, reason: &str) -> Vec<String> {
    let events = cluster.list(&cluster.core("events")).await;
    let of_reason = events.iter().filter(|event| event["reason"] == reason);
    of_reason.map(|event| event["message"].as_str().unwrap_or_default().to_owned()).collect()
}

/// A rollout in three waves, each but the first on approval.
async fn waves_with_approval(fleet: &Fleet) {
    let n = fleet.cluster.nodes;
    fleet
        .set_policy(
            "waves: [{upTo: 1}, {upTo: 20%, needsApproval: true}, {needsApproval: true, bakeSeconds: 1}]\nconditions: true",
        )
        .await;
    fleet.is_marked("completed").await;
    let sizes = [1, n.div_ceil(5), n];
    let waves = Waves::new(&sizes, 1);
    let budget = BudgetWatch::start(&fleet.cluster, "web").await;
    let watch = watch(&fleet.cluster, "web", &image("v2"), &waves).await;
    fleet.set_version("v2").await;
    for (wave, size) in sizes.into_iter().enumerate() {
        fleet
            .cluster
            .until(&format!("wave {wave} has arrived"), async |cluster| {
                nodes_with(cluster, "v2").await == size
            })
            .await;
        if wave < 2 {
            // Long enough for a wave that does not wait.
            sleep(Duration::from_secs(3)).await;
            assert_eq!(fleet.nodes_with("v2").await, size);
            let number = current_revision(&fleet.cluster).await["revision"].as_i64().unwrap();
            waves.approved.store(wave + 2, Ordering::SeqCst);
            fleet.cluster.annotate("web", APPROVED, Some(&format!("{number}={}", wave + 2))).await;
        }
    }
    fleet.has_everywhere("v2").await;
    fleet.is_marked("completed").await;
    fleet.event("RolloutCompleted").await;
    let (worst, observed) = (budget.finish().await, watch.finish().await);
    println!("          {worst:?}, {} events", observed.events);
    assert_eq!(observed.breach, None);
    assert!(worst.unavailable <= MAX_UNAVAILABLE, "{worst:?}");
    assert_eq!(events(&fleet.cluster, "WaveOpened").await.len(), 3);
    if !fleet.is_driven {
        let is_complete = async |cluster: &Cluster| progressing(cluster).await == "Complete";
        fleet.cluster.until("the status says Complete", is_complete).await;
    }
}

/// A rollout that a person pauses, and lets go on.
async fn paused_and_resumed(fleet: &Fleet) {
    fleet.set_policy("waves: [{}]").await;
    let waves = Waves::new(&[fleet.cluster.nodes], 1);
    let budget = BudgetWatch::start(&fleet.cluster, "web").await;
    let watch = watch(&fleet.cluster, "web", &image("v3"), &waves).await;
    fleet.set_version("v3").await;
    fleet.cluster.until("some nodes have v3", async |cluster| nodes_with(cluster, "v3").await >= 4).await;
    fleet.cluster.annotate("web", PAUSED, Some("true")).await;
    fleet.event("RolloutPaused").await;
    // Pods under way arrive.
    sleep(Duration::from_secs(5)).await;
    let reached = fleet.nodes_with("v3").await;
    assert!(reached < fleet.cluster.nodes, "{reached}: the pause came too late");
    sleep(Duration::from_secs(5)).await;
    assert_eq!(fleet.nodes_with("v3").await, reached);
    fleet.cluster.annotate("web", PAUSED, None).await;
    fleet.has_everywhere("v3").await;
    fleet.is_marked("completed").await;
    fleet.event("RolloutResumed").await;
    let (worst, observed) = (budget.finish().await, watch.finish().await);
    println!("          paused at {reached}; {worst:?}");
    assert!(worst.unavailable <= MAX_UNAVAILABLE, "{worst:?}");
    assert_eq!(observed.breach, None);
}

/// A version that does not start: it reaches one node, and no other pod is touched. With `RollBack` this one comes back by itself.
async fn broken_version(fleet: &Fleet, action: &str) {
    fleet
        .set_policy(&format!(
            "waves: [{{upTo: 1}}, {{}}]\nonFailure: {{action: {action}, waitingSeconds: 5}}"
        ))
        .await;
    let (before, failures) = (fleet.uids().await, events(&fleet.cluster, "RolloutFailed").await.len());
    let waves = Waves::new(&[1, fleet.cluster.nodes], 1);
    let budget = BudgetWatch::start(&fleet.cluster, "web").await;
    let watch = watch(&fleet.cluster, "web", &image("broken"), &waves).await;
    fleet.set_version("broken").await;
    let failed = fleet.event_after("RolloutFailed", failures).await;
    assert!(failed.contains("ErrImagePull"), "{failed}");
    if action == "RollBack" {
        fleet.has_everywhere("v3").await;
        fleet.event("RolloutRolledBack").await;
    }
    sleep(Duration::from_secs(10)).await;
    let (worst, observed) = (budget.finish().await, watch.finish().await);
    println!("          {worst:?}, touched {:?}", observed.touched);
    assert_eq!((observed.reached, observed.touched.len(), observed.breach), (1, 1, None));
    assert_eq!(worst.unavailable, 1);
    assert_eq!(fleet.uids().await.intersection(&before).count(), fleet.cluster.nodes - 1);
    assert_eq!(fleet.nodes_with("broken").await, usize::from(action == "Pause"));
    // The author takes it back.
    fleet.set_version("v3").await;
    fleet.has_everywhere("v3").await;
    fleet.is_marked("completed").await;
    let kept = fleet.uids().await.intersection(&before).count();
    assert_eq!(kept, fleet.cluster.nodes - 1, "no other pod was touched");
}

#[tokio::test]
async fn steered_rollouts_alone() {
    let Some(fleet) = Fleet::find("steered", false).await else { return };
    let controller = fleet.start(WITH_LEASE);
    fleet.create().await;
    waves_with_approval(&fleet).await;
    paused_and_resumed(&fleet).await;
    broken_version(&fleet, "RollBack").await;
    broken_version(&fleet, "Pause").await;
    fleet.end(controller).await;
}

#[tokio::test]
async fn driven_rollouts_beside_kubernetes_own_controller() {
    let Some(fleet) = Fleet::find("driven", true).await else { return };
    fleet.create().await;
    let driver = fleet.start(WITH_LEASE);
    waves_with_approval(&fleet).await;
    paused_and_resumed(&fleet).await;
    broken_version(&fleet, "Pause").await;
    fleet.end(driver).await;
}

/// Kills the process at random during rollouts in waves: no wave begins early, and each rollout ends complete.
async fn killed_during_waves(fleet: &Fleet, mut controller: Controller) -> Controller {
    let kills: u32 = std::env::var("KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(50);
    let seed = fastrand::u64(..);
    println!("          seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    fleet
        .set_policy("waves: [{upTo: 1, bakeSeconds: 1}, {upTo: 20%, bakeSeconds: 2}, {upTo: 60%}, {}]")
        .await;
    fleet.is_marked("completed").await;
    let n = fleet.cluster.nodes;
    let waves = Waves::new(&[1, n.div_ceil(5), (n * 3).div_ceil(5), n], 4);
    let mut killed = 0;
    for version in 2.. {
        if killed >= kills {
            break;
        }
        let next = format!("v{version}");
        let budget = BudgetWatch::start(&fleet.cluster, "web").await;
        let watch = watch(&fleet.cluster, "web", &image(&next), &waves).await;
        fleet.set_version(&next).await;
        let start = Instant::now();
        while killed < kills
            && fleet.nodes_with(&next).await < n
            && start.elapsed() < Duration::from_secs(200)
        {
            // A kill may come before the caches are filled, or in the middle of a plan.
            sleep(Duration::from_millis(random.u64(20..2000))).await;
            controller.kill();
            controller = fleet.start(WITHOUT_LEASE);
            killed += 1;
        }
        fleet.has_everywhere(&next).await;
        fleet.is_marked("completed").await;
        let (worst, observed) = (budget.finish().await, watch.finish().await);
        println!("          killed {killed} times; {worst:?}, {} events", observed.events);
        assert_eq!(observed.breach, None);
        assert!(worst.unavailable <= MAX_UNAVAILABLE, "{worst:?}");
    }
    controller
}

#[tokio::test]
async fn killed_at_random_during_waves() {
    let Some(fleet) = Fleet::find("killed-waves", false).await else { return };
    let controller = fleet.start(WITHOUT_LEASE);
    fleet.create().await;
    let controller = killed_during_waves(&fleet, controller).await;
    fleet.end(controller).await;
}

#[tokio::test]
async fn a_driver_killed_at_random_during_waves() {
    let Some(fleet) = Fleet::find("killed-driver", true).await else { return };
    fleet.create().await;
    let driver = fleet.start(WITHOUT_LEASE);
    let driver = killed_during_waves(&fleet, driver).await;
    fleet.end(driver).await;
}
