//! A watch of a DaemonSet's pods that measures the use of the budget at every event.

use crate::cluster::{Cluster, image_of};
use futures::TryStreamExt;
use kube::Api;
use kube::api::{DynamicObject, WatchEvent, WatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
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

/// A watch in the background.
pub struct BudgetWatch {
    stop: oneshot::Sender<()>,
    task: JoinHandle<Worst>,
}

impl BudgetWatch {
    /// Starts to watch; every node has an available pod now.
    pub async fn start(cluster: &Cluster, name: &str) -> Self {
        let (stop, stopped) = oneshot::channel();
        let pods = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "Pod"));
        let api: Api<DynamicObject> = Api::namespaced_with(cluster.client.clone(), &cluster.namespace, &pods);
        let list = cluster.try_get(&cluster.core(&format!("pods?labelSelector=app%3D{name}"))).await.unwrap();
        let version = list["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
        let mut observed = Observed { nodes: cluster.nodes, ..Observed::default() };
        for pod in list["items"].as_array().unwrap() {
            observed.pods.insert(uid(pod), pod.clone());
        }
        let parameters = WatchParams::default().labels(&format!("app={name}")).timeout(290);
        let task = tokio::spawn(async move {
            let events = api.watch(&parameters, &version).await.unwrap();
            tokio::select! { () = follow(events, &mut observed) => panic!("the watch ended"), _ = stopped => {} }
            observed.worst
        });
        BudgetWatch { stop, task }
    }

    /// Ends the watch; returns the worst state.
    pub async fn finish(self) -> Worst {
        // The events of the last writes may be on their way.
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        let _ = self.stop.send(());
        self.task.await.unwrap()
    }
}

async fn follow(
    events: impl futures::Stream<Item = kube::Result<WatchEvent<DynamicObject>>>,
    observed: &mut Observed,
) {
    let mut events = pin!(events);
    while let Some(event) = events.try_next().await.unwrap() {
        match event {
            WatchEvent::Added(pod) | WatchEvent::Modified(pod) => {
                let pod = serde_json::to_value(&pod).unwrap();
                observed.pods.insert(uid(&pod), pod);
            }
            WatchEvent::Deleted(pod) => {
                observed.pods.remove(&pod.metadata.uid.unwrap_or_default());
            }
            WatchEvent::Bookmark(_) => continue,
            WatchEvent::Error(error) => panic!("{error:?}"),
        }
        observed.measure();
    }
}

fn uid(pod: &Value) -> String {
    pod["metadata"]["uid"].as_str().unwrap_or_default().to_owned()
}

#[derive(Default)]
struct Observed {
    nodes: usize,
    pods: BTreeMap<String, Value>,
    worst: Worst,
}

impl Observed {
    fn measure(&mut self) {
        let newest = self.pods.values().max_by_key(|pod| generation(pod)).map(generation);
        let (mut available, mut old, mut waiting) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let mut versions_by_node = BTreeSet::new();
        for pod in self.pods.values().filter(|pod| runs(pod)) {
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
        let worst = &mut self.worst;
        worst.events += 1;
        worst.unavailable = worst.unavailable.max(self.nodes.saturating_sub(available.len()));
        worst.surging = worst.surging.max(old.intersection(&waiting).count());
    }
}

fn generation(pod: &Value) -> i64 {
    let label = pod["metadata"]["labels"]["pod-template-generation"].as_str();
    label.and_then(|label| label.parse().ok()).unwrap_or(0)
}

fn runs(pod: &Value) -> bool {
    let phase = pod["status"]["phase"].as_str().unwrap_or_default();
    pod["metadata"].get("deletionTimestamp").is_none() && phase != "Failed" && phase != "Succeeded"
}

fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array();
    conditions.into_iter().flatten().any(|c| c["type"] == "Ready" && c["status"] == "True")
}
