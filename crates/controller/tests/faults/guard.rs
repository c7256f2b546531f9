//! What must hold after every change of what is stored.

use crate::pods::{controller_uid, is_available, is_finished, is_live, node_of, version_of};
use crate::store::{By, Id, Kind, What, text};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Counts, and collects what was broken; the stories end with none.
#[derive(Default)]
pub struct Guard {
    /// Whose pods are counted: none before the fleet is steady.
    pub daemon_set: Option<String>,
    /// Target nodes without an available pod at once, at most.
    pub max_unavailable: usize,
    /// Nodes with two unfinished pods at once, at most.
    pub max_surge: usize,
    /// Objects that are none of the controller's business.
    pub foreign: BTreeSet<Id>,
    pub broken: Vec<String>,
    /// The most that there was: a story in which nothing happened proves nothing.
    pub worst_unavailable: usize,
    pub worst_surge: usize,
}

impl Guard {
    pub fn check(&mut self, objects: &BTreeMap<Id, Value>, by: By, changed: &Id, what: What) {
        if by == By::Controller && self.foreign.contains(changed) {
            self.broken.push(format!("{changed:?} of others was {what:?} by the controller"));
        }
        // A status, say, changes no pod.
        if !matches!(changed.kind, Kind::Pod | Kind::Node) {
            return;
        }
        let Some(uid) = self.daemon_set.clone() else { return };
        let is_pod = |id: &Id| id.kind == Kind::Pod;
        let pods: Vec<&Value> = objects
            .iter()
            .filter(|(id, pod)| is_pod(id) && controller_uid(pod) == uid)
            .map(|(_, pod)| pod)
            .collect();
        let nodes = objects.keys().filter(|id| id.kind == Kind::Node).map(|id| id.name.as_str());
        let (mut unavailable, mut doubled) = (0, 0);
        for node in nodes {
            let here: Vec<&Value> = pods.iter().copied().filter(|pod| node_of(pod) == node).collect();
            unavailable += usize::from(!here.iter().any(|pod| is_available(pod)));
            doubled += usize::from(here.iter().filter(|pod| !is_finished(pod)).count() > 1);
            self.twins(node, &here, changed);
        }
        self.worst_unavailable = self.worst_unavailable.max(unavailable);
        self.worst_surge = self.worst_surge.max(doubled);
        if unavailable > self.max_unavailable {
            self.broken.push(format!("{unavailable} nodes are down after {changed:?} was {what:?}"));
        }
        if doubled > self.max_surge {
            self.broken.push(format!("{doubled} nodes have two pods after {changed:?} was {what:?}"));
        }
    }

    fn twins(&mut self, node: &str, here: &[&Value], changed: &Id) {
        let mut seen = BTreeSet::new();
        for pod in here.iter().filter(|pod| is_live(pod)) {
            if !seen.insert(version_of(pod)) {
                let name = text(&pod["metadata"]["name"]);
                self.broken
                    .push(format!("two live pods of one version on {node}, {name} one, after {changed:?}"));
            }
        }
    }
}
