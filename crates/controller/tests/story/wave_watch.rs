//! A watch of a rollout's pods that checks at every event that no wave begins early.

use crate::budget_watch::{PodWatch, Pods, is_ready, runs};
use crate::cluster::{Cluster, image_of};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The waves of a rollout.
#[derive(Debug, Clone)]
pub struct Waves {
    /// The number of nodes of each wave and of the waves before it.
    sizes: Vec<usize>,
    /// How many of them may begin; a story raises it with each approval.
    pub approved: Arc<AtomicUsize>,
}

impl Waves {
    pub fn new(sizes: &[usize], approved: usize) -> Self {
        Waves { sizes: sizes.to_vec(), approved: Arc::new(AtomicUsize::new(approved)) }
    }
}

/// The measure of a rollout.
#[derive(Debug, Clone, Default)]
pub struct Observed {
    /// Most nodes that had the new version at once.
    pub reached: usize,
    /// Most nodes on which it was available at once.
    available: usize,
    /// The nodes on which a pod was deleted or made.
    pub touched: BTreeSet<String>,
    pub events: usize,
    /// The first breach of the order of the waves.
    pub breach: Option<String>,
}

/// Watches the rollout of this image.
pub async fn watch(cluster: &Cluster, name: &str, image: &str, waves: &Waves) -> PodWatch<Observed> {
    let (image, waves) = (image.to_owned(), waves.clone());
    let before: BTreeSet<String> = cluster.pods(name).await.iter().map(crate::budget_watch::uid).collect();
    PodWatch::measure(cluster, name, Observed::default(), move |observed, pods| {
        observed.measure(pods, &before, &image, &waves);
    })
    .await
}

impl Observed {
    fn measure(&mut self, pods: &Pods, before: &BTreeSet<String>, image: &str, waves: &Waves) {
        let nodes = |matches: &dyn Fn(&Value) -> bool| -> BTreeSet<String> {
            pods.values().filter(|pod| matches(pod)).filter_map(node_of).collect()
        };
        let reached = nodes(&|pod| image_of(pod) == image).len();
        let available = nodes(&|pod| image_of(pod) == image && runs(pod) && is_ready(pod)).len();
        let is_new = |uid: &String| !before.contains(uid);
        self.touched.extend(pods.iter().filter(|(uid, _)| is_new(uid)).filter_map(|(_, pod)| node_of(pod)));
        self.touched.extend(nodes(&|pod| !runs(pod)));
        self.check(reached, waves);
        self.events += 1;
        self.reached = self.reached.max(reached);
        self.available = self.available.max(available);
    }

    /// A wave may reach a node once it is approved, and once every node of the waves before it was available.
    fn check(&mut self, reached: usize, waves: &Waves) {
        let begun = waves.sizes.iter().take_while(|size| reached > **size).count();
        let before = begun.checked_sub(1).map_or(0, |before| waves.sizes[before]);
        let approved = waves.approved.load(Ordering::SeqCst);
        if self.breach.is_none() && (self.available < before || (reached > 0 && begun >= approved)) {
            let available = self.available;
            self.breach = Some(format!(
                "wave {begun} has begun with {reached} nodes: {approved} waves are approved, and {available} nodes were available"
            ));
        }
    }
}

fn node_of(pod: &Value) -> Option<String> {
    pod["spec"]["nodeName"].as_str().map(ToOwned::to_owned)
}
