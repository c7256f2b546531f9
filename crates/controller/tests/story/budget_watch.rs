//! A watch of a DaemonSet's pods that measures the use of the budget at every event.

use crate::cluster::{Cluster, image_of};
use futures::TryStreamExt;
use kube::Api;
use kube::api::{DynamicObject, WatchEvent, WatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// The worst state that was observed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Worst {
    /// Nodes without an available pod.
    pub unavailable: usize,
    /// Nodes with an outdated pod and a new one that is not Ready.
    pub surging: usize,
    /// The number of events.
    pub events: usize,
}

/// The pods of a DaemonSet, by uid.
pub type Pods = BTreeMap<String, Value>;

/// A watch of a DaemonSet's pods in the background, which measures after each event.
pub struct PodWatch<T> {
    stop: oneshot::Sender<()>,
    task: JoinHandle<T>,
}

/// Measures the use of the budget.
pub type BudgetWatch = PodWatch<Worst>;

impl BudgetWatch {
    /// Starts to watch; every node has an available pod now.
    pub async fn start(cluster: &Cluster, name: &str) -> Self {
        let nodes = cluster.nodes;
        PodWatch::measure(cluster, name, Worst::default(), move |worst, pods| measure(worst, pods, nodes))
            .await
    }
}

impl<T: Send + 'static> PodWatch<T> {
    /// Starts to watch: `measure` is called after each event with the measure so far, and with all pods.
    pub async fn measure(
        cluster: &Cluster,
        name: &str,
        mut measured: T,
        mut measure: impl FnMut(&mut T, &Pods) + Send + 'static,
    ) -> Self {
        let (stop, stopped) = oneshot::channel();
        let pods = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "Pod"));
        let api: Api<DynamicObject> = Api::namespaced_with(cluster.client.clone(), &cluster.namespace, &pods);
        let list = cluster.try_get(&cluster.core(&format!("pods?labelSelector=app%3D{name}"))).await.unwrap();
        let version = list["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
        let listed = list["items"].as_array().unwrap().iter();
        let mut pods: Pods = listed.map(|pod| (uid(pod), pod.clone())).collect();
        let parameters = WatchParams::default().labels(&format!("app={name}")).timeout(290);
        let task = tokio::spawn(async move {
            let events = api.watch(&parameters, &version).await.unwrap();
            let follow = follow(events, &mut pods, |pods| measure(&mut measured, pods));
            tokio::select! { () = follow => panic!("the watch ended"), _ = stopped => {} }
            measured
        });
        PodWatch { stop, task }
    }

    /// Ends the watch; returns the measure.
    pub async fn finish(self) -> T {
        // The events of the last writes may be on their way.
        tokio::time::sleep(Duration::from_secs(1)).await;
        let _ = self.stop.send(());
        self.task.await.unwrap()
    }
}

async fn follow(
    events: impl futures::Stream<Item = kube::Result<WatchEvent<DynamicObject>>>,
    pods: &mut Pods,
    mut measure: impl FnMut(&Pods),
) {
    let mut events = pin!(events);
    while let Some(event) = events.try_next().await.unwrap() {
        match event {
            WatchEvent::Added(pod) | WatchEvent::Modified(pod) => {
                let pod = serde_json::to_value(&pod).unwrap();
                pods.insert(uid(&pod), pod);
            }
            WatchEvent::Deleted(pod) => {
                pods.remove(&pod.metadata.uid.unwrap_or_default());
            }
            WatchEvent::Bookmark(_) => continue,
            WatchEvent::Error(error) => panic!("{error:?}"),
        }
        measure(pods);
    }
}

pub fn uid(pod: &Value) -> String {
    pod["metadata"]["uid"].as_str().unwrap_or_default().to_owned()
}

fn measure(worst: &mut Worst, pods: &Pods, nodes: usize) {
    let newest = pods.values().max_by_key(|pod| generation(pod)).map(generation);
    let (mut available, mut old, mut waiting) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut versions_by_node = BTreeSet::new();
    for pod in pods.values().filter(|pod| runs(pod)) {
        let Some(node) = pod["spec"]["nodeName"].as_str() else { continue };
        let is_current = Some(generation(pod)) == newest;
        assert!(
            versions_by_node.insert((node, image_of(pod), generation(pod))),
            "two pods of one version on {node}"
        );
        if is_ready(pod) {
            available.insert(node);
        } else if is_current {
            waiting.insert(node);
        }
        if !is_current {
            old.insert(node);
        }
    }
    worst.events += 1;
    worst.unavailable = worst.unavailable.max(nodes.saturating_sub(available.len()));
    worst.surging = worst.surging.max(old.intersection(&waiting).count());
}

fn generation(pod: &Value) -> i64 {
    let label = pod["metadata"]["labels"]["pod-template-generation"].as_str();
    label.and_then(|label| label.parse().ok()).unwrap_or(0)
}

pub fn runs(pod: &Value) -> bool {
    let phase = pod["status"]["phase"].as_str().unwrap_or_default();
    pod["metadata"].get("deletionTimestamp").is_none() && phase != "Failed" && phase != "Succeeded"
}

pub fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array();
    conditions.into_iter().flatten().any(|c| c["type"] == "Ready" && c["status"] == "True")
}
