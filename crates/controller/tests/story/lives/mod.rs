//! Whole lives of thirty DaemonSets: created, updated, taken back midway, orphaned and adopted, rolled out in waves, handed over to
//! Kubernetes' own controller and back, deleted.
//!
//! `UPSTREAM_CONTROLLER` is the command that starts Kubernetes' DaemonSet controller in the cluster with the argument `on`, and ends it
//! with `off`; each returns when it is done. Without it no life is handed over. `LIVES=shell,numbers` lives some of them.

mod handover;
mod manifests;

use crate::WITHOUT_LEASE;
use crate::budget_watch::{is_ready, uid};
use crate::cluster::{Cluster, IMAGE, image_of};
use crate::process::{Account, Controller, apply, kubeconfig};
use handover::{Upstream, each, noted};
use http::Method;
use manifests::{Manifest, read_all};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::sleep;

/// As many live at a time.
const TOGETHER: usize = 10;
/// The API server refuses this manifest, and of that one the revision.
const REFUSED: &str = "refused";
const TOO_LONG: &str = "too-long-name";
const COMPLETED: &str = "/metadata/annotations/rollout.daemonset~1completed";

#[derive(Clone)]
struct Life {
    cluster: Cluster,
    app: String,
    name: String,
    manifest: Manifest,
    /// Nodes that get a pod.
    nodes: usize,
    /// Whether the pods ever run: some wait for another controller's objects or for a person.
    runs: bool,
    before: Objects,
}

/// The uids of the pods; the number, name and uid of each revision.
type Objects = (BTreeSet<String>, Vec<(i64, String, String)>);

impl Life {
    fn new(cluster: &Cluster, manifest: Manifest) -> Self {
        let spec = &manifest.daemon_set["spec"]["template"]["spec"];
        let volumes = spec["volumes"].as_array().into_iter().flatten();
        let waits = ["schedulingGates", "resourceClaims"].iter().any(|field| !is_empty(&spec[*field]))
            || volumes
                .into_iter()
                .any(|volume| !volume["ephemeral"].is_null() || !volume["persistentVolumeClaim"].is_null());
        Life {
            app: manifest.app.clone(),
            name: manifest.daemon_set["metadata"]["name"].as_str().unwrap().to_owned(),
            nodes: if spec["nodeName"].is_null() { cluster.nodes } else { 1 },
            runs: !waits,
            cluster: cluster.clone(),
            before: Objects::default(),
            manifest,
        }
    }

    /// The pods that do not terminate. Those that do lose their finalizers: nobody else removes them.
    async fn pods(&self) -> Vec<Value> {
        let is_live = |pod: &Value| pod["metadata"]["deletionTimestamp"].is_null();
        let (live, terminating): (_, Vec<_>) =
            self.cluster.pods(&self.app).await.into_iter().partition(is_live);
        for pod in terminating.iter().filter(|pod| !is_empty(&pod["metadata"]["finalizers"])) {
            let path = self.cluster.core(&format!("pods/{}", pod["metadata"]["name"].as_str().unwrap()));
            let body = json!({"metadata": {"finalizers": null}});
            // It may be gone by now.
            let _ = self.cluster.request(Method::PATCH, &path, body, "application/merge-patch+json").await;
        }
        live
    }

    async fn revisions(&self) -> Vec<Value> {
        let path = self.cluster.apps(&format!("controllerrevisions?labelSelector=app%3D{}", self.app));
        let mut revisions = self.cluster.list(&path).await;
        revisions.sort_by_key(number);
        revisions
    }

    async fn objects(&self) -> Objects {
        let name = |revision: &Value| revision["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        let revision = |revision: &Value| (number(revision), name(revision), uid(revision));
        let uids = self.pods().await.iter().map(uid).collect();
        (uids, self.revisions().await.iter().map(revision).collect())
    }

    async fn numbers(&self) -> Vec<i64> {
        self.revisions().await.iter().map(number).collect()
    }

    /// The pods with the image of this version that are Ready, or of those that never run, that exist.
    async fn with_version(&self, version: &str) -> usize {
        let has_it = |pod: &&Value| image_of(pod) == image(version) && (!self.runs || is_ready(pod));
        self.pods().await.iter().filter(has_it).count()
    }

    async fn until(&self, condition: &str, holds: impl AsyncFn(&Life) -> bool) {
        self.cluster.until(&format!("{}: {condition}", self.app), async |_| holds(self).await).await;
    }

    /// Waits until each node has this version and nothing else, and the status says so.
    async fn has_everywhere(&self, version: &str) {
        self.until(&format!("every node has {version}"), async |life| {
            life.with_version(version).await == life.nodes
                && life.pods().await.len() == life.nodes
                && life.is_observed().await
        })
        .await;
    }

    async fn is_observed(&self) -> bool {
        let ds = self.cluster.daemon_set(&self.name).await;
        ds["status"]["observedGeneration"] == ds["metadata"]["generation"]
            && ds["status"]["updatedNumberScheduled"] == self.nodes
    }

    async fn set_version(&self, version: &str) {
        let name = &self.manifest.daemon_set["spec"]["template"]["spec"]["containers"][0]["name"];
        let container = json!({"name": name, "image": image(version)});
        self.cluster
            .patch(&self.name, json!({"spec": {"template": {"spec": {"containers": [container]}}}}))
            .await;
    }

    async fn create(&self) {
        self.cluster.post(&self.cluster.apps("daemonsets"), self.manifest.daemon_set.clone()).await;
    }

    /// Creates it again. If its generations began at 1 again, one of them would be that of an orphaned pod, and this pod would count
    /// as updated, as it does for Kubernetes' controller.
    async fn create_at_generation(&self, generation: &str) {
        let mut daemon_set = self.manifest.daemon_set.clone();
        daemon_set["metadata"]["annotations"]["deprecated.daemonset.template.generation"] = json!(generation);
        self.cluster.post(&self.cluster.apps("daemonsets"), daemon_set).await;
    }

    /// Deletes the DaemonSet and waits until it is gone.
    async fn delete(&self, propagation: &str) {
        let path = self.cluster.apps(&format!("daemonsets/{}", self.name));
        let body = json!({"propagationPolicy": propagation});
        self.cluster.request(Method::DELETE, &path, body, "application/json").await.unwrap();
        self.until("the DaemonSet is gone", async |life| life.cluster.try_get(&path).await.is_none()).await;
    }

    async fn begin(self) {
        match self.app.as_str() {
            REFUSED => self.never_stored().await,
            TOO_LONG => self.has_no_revision().await,
            _ => self.runs_until_steered().await,
        }
    }

    /// From the creation to the end of a steered rollout.
    async fn runs_until_steered(self) {
        for object in &self.manifest.needs {
            apply(&self.cluster, object).await;
        }
        self.create().await;
        self.has_everywhere("v1").await;
        self.updated_and_undone().await;
        self.orphaned_and_adopted().await;
        self.steered().await;
    }

    async fn updated_and_undone(&self) {
        self.set_version("v2").await;
        self.until("a node has v2", async |life| {
            life.pods().await.iter().any(|pod| image_of(pod) == image("v2"))
        })
        .await;
        self.cluster.undo(&self.name, 1).await;
        self.has_everywhere("v1").await;
        assert_eq!(self.numbers().await, [2, 3], "the first became the third");
    }

    async fn orphaned_and_adopted(&self) {
        let before = self.objects().await;
        self.delete("Orphan").await;
        assert_eq!(self.objects().await, before, "orphaned as they were");
        self.create_at_generation("100").await;
        self.has_everywhere("v1").await;
        let owner = self.cluster.daemon_set(&self.name).await["metadata"]["uid"].clone();
        self.until("all objects have the new owner", async |life| {
            let objects = [life.pods().await, life.revisions().await].concat();
            objects.iter().all(|object| object["metadata"]["ownerReferences"][0]["uid"] == owner)
        })
        .await;
        assert_eq!(self.objects().await, before, "adopted as they were");
    }

    async fn steered(&self) {
        let policy = "waves: [{upTo: 1}, {needsApproval: true}]";
        self.cluster.annotate(&self.name, "rollout.daemonset/policy", Some(policy)).await;
        self.is_completed().await;
        self.set_version("v3").await;
        self.until("the first wave has v3", async |life| life.with_version("v3").await == 1).await;
        // Long enough for a wave that does not wait.
        sleep(Duration::from_secs(3)).await;
        assert_eq!(self.with_version("v3").await, 1);
        if self.runs {
            let approved = format!("{}=2", self.numbers().await.last().unwrap());
            self.cluster.annotate(&self.name, "rollout.daemonset/approved", Some(&approved)).await;
            self.is_completed().await;
        } else {
            // A wave without an available pod is never done.
            self.cluster.annotate(&self.name, "rollout.daemonset/policy", None).await;
        }
        self.has_everywhere("v3").await;
        assert_eq!(self.numbers().await, [2, 3, 4]);
    }

    async fn is_completed(&self) {
        self.until("the rollout is complete", async |life| {
            // Pods with finalizers go.
            life.pods().await;
            let current = life.revisions().await.pop().unwrap_or_default();
            life.is_observed().await && current.pointer(COMPLETED).is_some()
        })
        .await;
    }

    /// Another controller is in charge: once it has seen the DaemonSet, everything is as before.
    async fn stays_as_it_was(self) {
        let limit = self.cluster.daemon_set(&self.name).await["spec"]["revisionHistoryLimit"].as_i64();
        self.cluster.patch(&self.name, json!({"spec": {"revisionHistoryLimit": limit.unwrap() + 1}})).await;
        self.until("the other controller has seen it", Life::is_observed).await;
        assert_eq!(self.objects().await, self.before, "as before");
    }

    async fn updated_by_the_other(self) {
        self.set_version("v4").await;
        self.has_everywhere("v4").await;
    }

    /// The API server refuses the manifest, and says why.
    async fn never_stored(self) {
        let path = self.cluster.apps("daemonsets");
        let answer =
            self.cluster.request(Method::POST, &path, self.manifest.daemon_set, "application/json").await;
        let refusal = answer.unwrap_err().to_string();
        for field in ["activeDeadlineSeconds", "ephemeralContainers"] {
            assert!(refusal.contains(field), "{refusal}");
        }
    }

    /// The API server refuses the revision, whose name would have more than 253 letters, and an event tells it.
    async fn has_no_revision(self) {
        self.create().await;
        self.until("an event tells why there are no pods", async |life| {
            let events = life.cluster.list(&life.cluster.core("events")).await;
            events.iter().any(|event| {
                event["type"] == "Warning"
                    && event["involvedObject"]["name"] == life.name
                    && event["message"].as_str().is_some_and(|message| message.contains("253"))
            })
        })
        .await;
        assert_eq!(self.objects().await, Objects::default());
        self.end().await;
    }

    async fn end(self) {
        self.delete("Background").await;
        self.until("all is gone", async |life| life.objects().await == Objects::default()).await;
    }
}

fn number(revision: &Value) -> i64 {
    revision["revision"].as_i64().unwrap_or_default()
}

fn is_empty(value: &Value) -> bool {
    value.as_array().is_none_or(Vec::is_empty)
}

fn image(version: &str) -> String {
    format!("{IMAGE}:{version}")
}

#[tokio::test]
async fn thirty_lives() {
    let Some(cluster) = Cluster::find("lives").await else { return };
    if cluster.has_another_controller().await {
        return;
    }
    let account = kubeconfig(&cluster, Account::CONTROLLER).await;
    let mut controller = Controller::start(&cluster, &account, WITHOUT_LEASE);
    let chosen = std::env::var("LIVES").unwrap_or_default();
    let manifests = read_all(&cluster.namespace, &cluster.first_node().await);
    let lives = manifests.into_iter().map(|manifest| Life::new(&cluster, manifest));
    let lives = lives.filter(|life| chosen.is_empty() || chosen.split(',').any(|app| app == life.app));
    let mut failed = BTreeSet::new();
    let mut lives = each(lives.collect(), &mut failed, Life::begin).await;
    lives.retain(|life| life.app != REFUSED && life.app != TOO_LONG);
    if let Some(upstream) = Upstream::find() {
        lives = noted(lives).await;
        assert!(controller.terminate().await.success());
        upstream.turn("on").await;
        lives = each(lives, &mut failed, Life::stays_as_it_was).await;
        lives = each(lives, &mut failed, Life::updated_by_the_other).await;
        lives = noted(lives).await;
        upstream.turn("off").await;
        controller = Controller::start(&cluster, &account, WITHOUT_LEASE);
        lives = each(lives, &mut failed, Life::stays_as_it_was).await;
    }
    each(lives, &mut failed, Life::end).await;
    assert_eq!(failed, BTreeSet::new());
    assert!(controller.terminate().await.success());
    cluster.delete(&format!("/api/v1/namespaces/{}", cluster.namespace)).await;
}
