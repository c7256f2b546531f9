//! Nodes in turn on a real API server: cordons, drains, gates, pulls, two DaemonSets, two controllers, and kills meanwhile.

use crate::cluster::{Cluster, IMAGE};
use crate::process::Controller;
use crate::rollouts::{Fleet, MAX_UNAVAILABLE, POLICY, events};
use crate::turn_watch::{Rules, Seen, TurnWatch, is_cordoned, is_pull_pod, request};
use crate::{WITH_LEASE, WITHOUT_LEASE};
use http::Method;
use serde_json::{Value, from_value, json};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

const PARTS: &[&str] = &["turns", "drain", "powers", "driver-pods"];
const BACKUP: &str = "turn: {cordon: true, gates: [backup]}\n";
const BOTH_GATES: &str = "turn: {cordon: true, gates: [backup, drained]}\n";
/// How long a backup takes.
const BACKUP_TIME: Duration = Duration::from_millis(1500);
const MERGE: &str = "application/merge-patch+json";

/// Others that act in the cluster; they end with it.
struct Others(Vec<JoinHandle<()>>);

impl Drop for Others {
    fn drop(&mut self) {
        self.0.iter().for_each(JoinHandle::abort);
    }
}

/// Gives the namespace all powers.
async fn empower(cluster: &Cluster) {
    let powers = json!({"metadata": {"annotations": {"rollout.daemonset/powers": "turn,evict,priority"}}});
    let path = format!("/api/v1/namespaces/{}", cluster.namespace);
    cluster.request(Method::PATCH, &path, powers, MERGE).await.unwrap();
}

async fn turn_key(cluster: &Cluster, name: &str) -> String {
    daemonset::turns::key(&from_value(cluster.daemon_set(name).await).unwrap())
}

async fn rules<'r>(cluster: &Cluster, name: &'r str, gates: &'r [&'r str]) -> Rules<'r> {
    Rules { name, key: turn_key(cluster, name).await, gates, max_unavailable: MAX_UNAVAILABLE }
}

async fn nodes(cluster: &Cluster) -> Vec<Value> {
    cluster.list("/api/v1/nodes").await
}

/// Opens the gate `backup` of each turn with this key, a moment after it has begun.
fn backups(cluster: &Cluster, key: String) -> JoinHandle<()> {
    let cluster = cluster.clone();
    tokio::spawn(async move {
        let mut since: BTreeMap<String, Instant> = BTreeMap::new();
        let gate = format!("backup.gate.daemonset/{key}");
        loop {
            sleep(Duration::from_millis(200)).await;
            for node in nodes(&cluster).await {
                let Some(request) = request(&node, &key) else { continue };
                let name = node["metadata"]["name"].as_str().unwrap();
                let begun = *since.entry(format!("{name} {request}")).or_insert_with(Instant::now);
                if begun.elapsed() > BACKUP_TIME && node["metadata"]["annotations"][&gate] != request {
                    let patch = json!({"metadata": {"annotations": {&gate: request}}});
                    let _ =
                        cluster.request(Method::PATCH, &format!("/api/v1/nodes/{name}"), patch, MERGE).await;
                }
            }
        }
    })
}

/// The part of a kubelet that the fake ones lack: it pulls the images of pull pods, and finds no command in them.
fn pulls(cluster: &Cluster) -> JoinHandle<()> {
    let cluster = cluster.clone();
    tokio::spawn(async move {
        loop {
            sleep(Duration::from_millis(300)).await;
            let pods = cluster.list(&cluster.core("pods?labelSelector=pull.daemonset%2Fowner")).await;
            for pod in pods.iter().filter(|pod| pod["status"]["phase"] == "Running") {
                let containers = pod["spec"]["containers"].as_array().unwrap().iter().map(|container| {
                    json!({"name": container["name"], "image": container["image"], "imageID": "sha256:pulled", "ready": false,
                        "restartCount": 0, "state": {"terminated": {"reason": "StartError", "exitCode": 128}}})
                });
                let status = json!({"status": {"phase": "Failed", "containerStatuses": containers.collect::<Vec<_>>()}});
                let name = pod["metadata"]["name"].as_str().unwrap();
                let path = cluster.core(&format!("pods/{name}/status"));
                let _ = cluster.request(Method::PATCH, &path, status, MERGE).await;
            }
        }
    })
}

/// A Deployment with as many pods as there are nodes, and a budget that lets none of them go.
async fn add_tenants(cluster: &Cluster) {
    let pods = json!({"app": "tenant"});
    let spread = json!({"topologyKey": "kubernetes.io/hostname", "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": pods}});
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "tenant"}, "spec": {
        "replicas": cluster.nodes, "selector": {"matchLabels": pods},
        "template": {"metadata": {"labels": pods}, "spec": {
            "terminationGracePeriodSeconds": 1, "topologySpreadConstraints": [spread],
            "containers": [{"name": "tenant", "image": format!("{IMAGE}:tenant")}],
        }},
    }});
    cluster.post(&cluster.apps("deployments"), deployment).await;
    let budget = json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "tenant"},
        "spec": {"minAvailable": "100%", "selector": {"matchLabels": pods}}});
    cluster.post(&budgets(cluster, ""), budget).await;
    cluster.wait_for_pods("tenant").await;
}

fn budgets(cluster: &Cluster, name: &str) -> String {
    format!("/apis/policy/v1/namespaces/{}/poddisruptionbudgets{name}", cluster.namespace)
}

/// A pod of nobody on one node.
async fn add_unmanaged(cluster: &Cluster) {
    let node = cluster.first_node().await;
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "unmanaged"}, "spec": {
        "nodeName": node, "terminationGracePeriodSeconds": 1,
        "containers": [{"name": "unmanaged", "image": format!("{IMAGE}:unmanaged")}],
    }});
    cluster.post(&cluster.core("pods"), pod).await;
}

/// Every turn has ended, and no node is cordoned.
async fn all_is_as_before(cluster: &Cluster) {
    let is_as_before = async |cluster: &Cluster| {
        nodes(cluster).await.iter().all(|node| {
            let annotations = node["metadata"]["annotations"].as_object();
            let mut keys = annotations.into_iter().flat_map(|annotations| annotations.keys());
            !is_cordoned(node)
                && !keys.any(|key| key.starts_with("turn.daemonset/") || key.contains(".gate."))
        })
    };
    cluster.until("no node is in turn or cordoned", is_as_before).await;
}

fn kills() -> u32 {
    std::env::var("KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(30)
}

/// A rollout with cordon, two kinds of gate and a drain, which a budget holds up for a while, and then a pod of nobody, until its eviction
/// is allowed. The controller is killed again and again.
async fn cordoned_drained_and_killed(fleet: &Fleet, mut controller: Controller) -> Controller {
    let cluster = &fleet.cluster;
    let seed = fastrand::u64(..);
    println!("          seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    add_tenants(cluster).await;
    add_unmanaged(cluster).await;
    fleet.set_policy(&format!("{BOTH_GATES}drain: {{}}")).await;
    let _others = Others(vec![backups(cluster, turn_key(cluster, "web").await)]);
    sleep(Duration::from_secs(3)).await;
    let watch = TurnWatch::start(cluster).await;
    fleet.set_version("v2").await;
    let (start, mut killed, mut is_open, mut is_allowed) = (Instant::now(), 0, false, false);
    while killed < kills() || fleet.nodes_with("v2").await < cluster.nodes {
        assert!(
            start.elapsed() < Duration::from_secs(280),
            "{killed} kills, {} nodes",
            fleet.nodes_with("v2").await
        );
        // A kill may come before the caches are filled, or in the middle of a plan or a drain.
        sleep(Duration::from_millis(random.u64(20..2500))).await;
        if killed < kills() {
            controller.kill();
            controller = fleet.start(WITHOUT_LEASE);
            killed += 1;
        }
        if !is_open && start.elapsed() > Duration::from_secs(15) {
            assert_eq!(fleet.nodes_with("v2").await, 0, "the budget forbids each eviction");
            let half = json!({"spec": {"minAvailable": "50%"}});
            cluster.request(Method::PATCH, &budgets(cluster, "/tenant"), half, MERGE).await.unwrap();
            is_open = true;
        }
        if !is_allowed && fleet.nodes_with("v2").await == cluster.nodes - 1 {
            // Long enough for a drain that does not block.
            sleep(Duration::from_secs(8)).await;
            assert_eq!(fleet.nodes_with("v2").await, cluster.nodes - 1, "the pod of nobody blocks");
            fleet.set_policy(&format!("{BOTH_GATES}drain: {{evictWithoutController: true}}")).await;
            is_allowed = true;
        }
    }
    assert!(is_open && is_allowed);
    all_is_as_before(cluster).await;
    let rules = [rules(cluster, "web", &["backup", "drained"]).await];
    let seen = watch.finish(&rules, cluster.nodes).await.remove(0);
    println!("          killed {killed} times in {:.0} s: {seen:?}", start.elapsed().as_secs_f64());
    assert_eq!((&seen.breach, seen.taken, seen.uncordoned), (&None, cluster.nodes, cluster.nodes));
    assert!(seen.in_turn > 1);
    assert!(cluster.try_get(&cluster.core("pods/unmanaged")).await.is_none());
    let blocked = events(cluster, "DrainBlocked").await;
    assert!(
        blocked.iter().all(|message| message.contains("/unmanaged (nothing would create it again")),
        "{blocked:?}"
    );
    assert!(!blocked.is_empty() && !events(cluster, "Drained").await.is_empty());
    controller
}

/// The images are pulled four at a time before a pod is taken, and no pull pod is left.
async fn pulled_first(fleet: &Fleet) {
    let cluster = &fleet.cluster;
    fleet.set_policy(&format!("{BACKUP}pull: {{parallel: 4}}")).await;
    let _others = Others(vec![backups(cluster, turn_key(cluster, "web").await), pulls(cluster)]);
    let watch = TurnWatch::start(cluster).await;
    fleet.set_version("v3").await;
    fleet.has_everywhere("v3").await;
    all_is_as_before(cluster).await;
    let none_is_left =
        async |cluster: &Cluster| !cluster.list(&cluster.core("pods")).await.iter().any(is_pull_pod);
    cluster.until("no pull pod is left", none_is_left).await;
    let rules = [rules(cluster, "web", &["backup"]).await];
    let seen = watch.finish(&rules, cluster.nodes).await.remove(0);
    println!("          {seen:?}");
    assert_eq!((&seen.breach, seen.taken, seen.pulled), (&None, cluster.nodes, cluster.nodes));
    assert!((2..=4).contains(&seen.pulling), "{seen:?}");
}

/// A second DaemonSet on the same nodes, whose turns overlap with those of the first.
async fn two_at_once(fleet: &Fleet) {
    let cluster = &fleet.cluster;
    let strategy = cluster.daemon_set("web").await["spec"]["updateStrategy"].clone();
    cluster.create_with("other", strategy).await;
    cluster.wait_for_pods("other").await;
    fleet.set_policy(BACKUP).await;
    let policy = cluster.daemon_set("web").await["metadata"]["annotations"][POLICY].clone();
    cluster.annotate("other", POLICY, policy.as_str()).await;
    let keys = [turn_key(cluster, "web").await, turn_key(cluster, "other").await];
    let _others = Others(keys.map(|key| backups(cluster, key)).into());
    sleep(Duration::from_secs(2)).await;
    let watch = TurnWatch::start(cluster).await;
    fleet.set_version("v4").await;
    cluster.set_image("other", &format!("{IMAGE}:v4")).await;
    fleet.has_everywhere("v4").await;
    let is_new = async |cluster: &Cluster| {
        let pods = cluster.pods("other").await;
        pods.len() == cluster.nodes && pods.iter().all(|pod| crate::cluster::image_of(pod).ends_with(":v4"))
    };
    cluster.until("the other one has v4, too", is_new).await;
    all_is_as_before(cluster).await;
    let rules = [rules(cluster, "web", &["backup"]).await, rules(cluster, "other", &["backup"]).await];
    let seen: Vec<Seen> = watch.finish(&rules, cluster.nodes).await;
    println!("          {seen:?}");
    for seen in &seen {
        assert_eq!((&seen.breach, seen.taken), (&None, cluster.nodes));
        assert!(seen.events > 6 * cluster.nodes, "{seen:?}");
    }
    cluster.delete(&cluster.apps("daemonsets/other")).await;
}

async fn in_turns(name: &str, is_driven: bool) {
    let Some(fleet) = Fleet::find_with(name, is_driven, PARTS).await else { return };
    empower(&fleet.cluster).await;
    // Of a driver, the other controller creates the pods.
    let controller = fleet.start(WITHOUT_LEASE);
    fleet.create().await;
    let controller = cordoned_drained_and_killed(&fleet, controller).await;
    controller.kill();
    let controller = fleet.start(WITH_LEASE);
    pulled_first(&fleet).await;
    two_at_once(&fleet).await;
    fleet.end(controller).await;
}

#[tokio::test]
async fn nodes_in_turn_alone() {
    in_turns("turns", false).await;
}

#[tokio::test]
async fn nodes_in_turn_beside_kubernetes_own_controller() {
    in_turns("driven-turns", true).await;
}

/// Two controllers without a lease act at once, and are killed: the API server refuses a second pod on a node.
#[tokio::test]
async fn two_controllers_at_once_never_make_two_pods_on_a_node() {
    let Some(fleet) = Fleet::find("at-most-one", false).await else { return };
    let cluster = &fleet.cluster;
    let flags = [WITHOUT_LEASE, &["--stop-beside-another=false"]].concat();
    let strategy = json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": MAX_UNAVAILABLE}});
    cluster.create_with("web", strategy).await;
    fleet.set_policy("podNames: OnePerNode").await;
    let mut random = fastrand::Rng::new();
    let start = || fleet.start(&flags);
    let mut both = [start(), start()];
    fleet.has_everywhere("v1").await;
    for version in ["v2", "v3", "v4"] {
        let most = crate::budget_watch::PodWatch::measure(cluster, "web", 0, |most: &mut usize, pods| {
            let mut on_node: BTreeMap<&str, usize> = BTreeMap::new();
            for pod in pods.values() {
                *on_node.entry(pod["metadata"]["name"].as_str().unwrap_or_default()).or_default() += 1;
                if let Some(node) = pod["spec"]["nodeName"].as_str() {
                    *on_node.entry(node).or_default() += 1;
                }
            }
            *most = (*most).max(on_node.values().copied().max().unwrap_or(0));
        })
        .await;
        fleet.set_version(version).await;
        while fleet.nodes_with(version).await < cluster.nodes {
            sleep(Duration::from_millis(random.u64(100..2000))).await;
            let [first, second] = both;
            first.kill();
            both = [second, start()];
        }
        assert_eq!(most.finish().await, 1, "pods on a node");
    }
    let [first, second] = both;
    first.kill();
    fleet.end(second).await;
}
