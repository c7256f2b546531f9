//! The pods of a DaemonSet as a list has them, where the cache keeps less of them than their policy reads.
//!
//! A cache keeps an object as lean as the policies allow at its last event. When a policy begins to ask for more, the pods of its own
//! DaemonSet are listed once, and no watch begins anew.

use crate::caches::Caches;
use crate::wants::is_lean;
use daemonset::model::{DaemonSet, OwnerReference, Pod, Uid};
use std::collections::HashMap;
use std::sync::Arc;

/// Pods by their uids.
#[derive(Debug, Default)]
pub struct WholePods(HashMap<Uid, Arc<Pod>>);

impl WholePods {
    /// Whether the cache has a lean pod of this DaemonSet that is not here. Forgets those that the cache has whole by now.
    pub(crate) fn lack_some(&mut self, caches: &Caches, ds: &DaemonSet) -> bool {
        let is_own = |pod: &Pod| {
            pod.metadata.namespace == ds.metadata.namespace
                && OwnerReference::controller_of(&pod.metadata.owner_references)
                    == Some(ds.metadata.uid.as_str())
        };
        let lean = caches.pods.state_filter(|pod| is_lean(pod) && is_own(pod));
        let lean: HashMap<&Uid, &Arc<Pod>> = lean.iter().map(|pod| (&pod.metadata.uid, pod)).collect();
        self.0.retain(|uid, whole| lean.get(uid).is_some_and(|lean| !is_older(whole, lean)));
        lean.keys().any(|uid| !self.0.contains_key(*uid))
    }

    /// Keeps the pods of a list. A pod that is gone, and that the cache still shows, is as good as it is.
    pub(crate) fn keep(&mut self, listed: Vec<Arc<Pod>>) {
        self.0 = listed.into_iter().map(|pod| (pod.metadata.uid.clone(), pod)).collect();
    }

    /// Puts the whole pods in the place of lean ones.
    pub(crate) fn replace(&self, cached: &mut [Arc<Pod>]) {
        if self.0.is_empty() {
            return;
        }
        for pod in cached {
            *pod = Arc::clone(self.of(pod));
        }
    }

    /// The whole pod in the place of a lean one, if it is here.
    pub(crate) fn of<'p>(&'p self, cached: &'p Arc<Pod>) -> &'p Arc<Pod> {
        let whole =
            self.0.get(&cached.metadata.uid).filter(|whole| is_lean(cached) && !is_older(whole, cached));
        whole.unwrap_or(cached)
    }

    /// Forgets all of them.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// By versions, which are numbers that grow with each write (KEP-5504).
fn is_older(one: &Pod, other: &Pod) -> bool {
    let version = |pod: &Pod| pod.metadata.resource_version.parse::<u64>().ok();
    version(one) < version(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube::runtime::watcher::Event;
    use serde_json::{from_value, json};

    fn pod(version: &str, containers: usize) -> Arc<Pod> {
        let owners = json!([{"kind": "DaemonSet", "name": "a", "uid": "ds", "controller": true}]);
        let container = json!({"name": "c", "image": "v1"});
        let pod = json!({
            "metadata": {"name": "p", "namespace": "ns", "uid": "p", "resourceVersion": version, "ownerReferences": owners},
            "spec": {"nodeName": "a", "containers": vec![container; containers]},
        });
        Arc::new(from_value(pod).unwrap())
    }

    #[test]
    fn a_lean_pod_is_listed_once_until_it_changes() {
        let (caches, mut writers) = Caches::empty();
        let ds: DaemonSet =
            from_value(json!({"metadata": {"name": "a", "namespace": "ns", "uid": "ds"}})).unwrap();
        let mut shows = |pod: &Arc<Pod>| writers.pods.apply_watcher_event(&Event::Apply(Pod::clone(pod)));
        let mut whole = WholePods::default();
        assert!(!whole.lack_some(&caches, &ds), "there is no pod");
        shows(&pod("9", 0));
        assert!(whole.lack_some(&caches, &ds));
        whole.keep(vec![pod("10", 1)]);
        assert!(!whole.lack_some(&caches, &ds), "the list is newer");
        let mut cached = [pod("9", 0)];
        whole.replace(&mut cached);
        assert!(!is_lean(&cached[0]));
        let mut newer = [pod("11", 0)];
        whole.replace(&mut newer);
        assert!(is_lean(&newer[0]), "numbers, not texts");
        shows(&pod("11", 0));
        assert!(whole.lack_some(&caches, &ds));
        shows(&pod("12", 1));
        assert!(!whole.lack_some(&caches, &ds));
    }
}
