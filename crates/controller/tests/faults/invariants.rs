//! The invariants that must hold after every change in the store.

use crate::pods::{controller_uid, is_available, is_finished, is_live, node_of, version_of};
use crate::store::{Actor, ChangeKind, Id, Kind, text};
use crate::turns::TurnRules;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Checks the invariants, and collects violations; every story ends without one.
#[derive(Default)]
pub struct Invariants {
    /// The uid of the DaemonSet whose pods are counted; `None` until its fleet is steady.
    pub daemon_set: Option<String>,
    /// Most target nodes without an available pod at once.
    pub max_unavailable: usize,
    /// Most nodes with two unfinished pods at once.
    pub max_surge: usize,
    /// Objects that the controller must not change.
    pub foreign: BTreeSet<Id>,
    /// The rules of the turns, if the policy has some.
    pub turns: Option<TurnRules>,
    pub broken: Vec<String>,
    /// The most that was reached: a story in which nothing happened proves nothing.
    pub worst_unavailable: usize,
    pub worst_surge: usize,
}

impl Invariants {
    pub fn check(
        &mut self,
        objects: &BTreeMap<Id, Value>,
        actor: Actor,
        changed: &Id,
        change_kind: ChangeKind,
    ) {
        if actor == Actor::Controller && self.foreign.contains(changed) {
            self.broken.push(format!("the controller changed a foreign object: {changed:?} {change_kind:?}"));
        }
        if let Some(rules) = &mut self.turns {
            self.broken.extend(rules.check(objects, actor, changed));
        }
        // Other kinds, such as a DaemonSet with its status, change no count.
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
        let (mut unavailable, mut surging) = (0, 0);
        for node in nodes {
            let here: Vec<&Value> = pods.iter().copied().filter(|pod| node_of(pod) == node).collect();
            unavailable += usize::from(!here.iter().any(|pod| is_available(pod)));
            surging += usize::from(here.iter().filter(|pod| !is_finished(pod)).count() > 1);
            self.check_duplicates(node, &here, changed);
        }
        self.worst_unavailable = self.worst_unavailable.max(unavailable);
        self.worst_surge = self.worst_surge.max(surging);
        if unavailable > self.max_unavailable {
            self.broken.push(format!("{unavailable} nodes are down after {changed:?} was {change_kind:?}"));
        }
        if surging > self.max_surge {
            self.broken.push(format!("{surging} nodes have two pods after {changed:?} was {change_kind:?}"));
        }
    }

    fn check_duplicates(&mut self, node: &str, here: &[&Value], changed: &Id) {
        let mut revisions = BTreeSet::new();
        for pod in here.iter().filter(|pod| is_live(pod)) {
            if !revisions.insert(version_of(pod)) {
                let name = text(&pod["metadata"]["name"]);
                self.broken.push(format!(
                    "two live pods of one revision on {node}, one is {name}, after {changed:?}"
                ));
            }
        }
    }
}
