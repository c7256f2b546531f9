//! Nodes and pods over time, and the states of them that the controller may have seen.

use super::super::watcher::{Behind, is_target, may_stay};
use daemonset::model::{DaemonSetSpec, LabelSelector};
use daemonset::policy::Wave;
use daemonset_sim::{Change, Event, NodeState, PodIdentity};
use jiff::{SignedDuration, Timestamp};
use std::collections::BTreeMap;

/// All nodes and pods of a life.
#[derive(Default)]
pub struct Fleet {
    nodes: BTreeMap<String, Vec<(Timestamp, Option<NodeState>)>>,
    pods: BTreeMap<String, Pod>,
}

struct Pod {
    node: String,
    hash: String,
    created: Timestamp,
    /// When it became terminating, failed or was gone.
    ended: Option<Timestamp>,
    /// The spans in which it was Ready.
    ready: Vec<(Timestamp, Option<Timestamp>)>,
}

impl Pod {
    fn is_possibly_there(&self, shown: Timestamp) -> bool {
        self.ended.is_none_or(|ended| ended >= shown)
    }

    fn is_surely_there(&self, shown: Timestamp, t: Timestamp) -> bool {
        self.created < shown && self.ended.is_none_or(|ended| ended >= t)
    }

    /// Whether it may have seemed Ready for so long.
    fn was_ready(&self, shown: Timestamp, t: Timestamp, duration: SignedDuration) -> bool {
        let seems_so = |(from, to): &(Timestamp, Option<Timestamp>)| {
            *from + duration <= t && to.is_none_or(|to| to >= shown)
        };
        self.is_possibly_there(shown) && self.ready.iter().any(seems_so)
    }
}

impl Fleet {
    pub fn apply(&mut self, event: &Event) {
        let t = event.t;
        match &event.change {
            Change::PodCreated(pod) => {
                let PodIdentity { node, revision, uid, .. } = &**pod;
                let (node, hash) = (node.to_string(), revision.clone());
                let line = Pod { node, hash, created: t, ended: None, ready: Vec::new() };
                self.pods.insert(uid.to_string(), line);
            }
            Change::PodReady(pod) => self.change(pod, |pod| pod.ready.push((t, None))),
            Change::PodUnready { pod, .. } => self.change(pod, |pod| end_ready(pod, t)),
            Change::PodTerminating { pod, .. } | Change::PodFailed { pod, .. } | Change::PodGone(pod) => {
                self.change(pod, |pod| {
                    end_ready(pod, t);
                    pod.ended.get_or_insert(t);
                });
            }
            Change::NodeAdded(state)
            | Change::NodeReady(state)
            | Change::NodeUnready(state)
            | Change::NodeTainted(state)
            | Change::NodeLabelled(state) => {
                self.nodes.entry(state.node.to_string()).or_default().push((t, Some(state.clone())));
            }
            Change::NodeGone { node } => {
                self.nodes.entry(node.to_string()).or_default().push((t, None));
            }
            _ => {}
        }
    }

    fn change(&mut self, pod: &PodIdentity, change: impl FnOnce(&mut Pod)) {
        if let Some(pod) = self.pods.get_mut(pod.uid.as_str()) {
            change(pod);
        }
    }

    /// Whether the node may have seemed to have a live pod of this hash, at or after the instant `shown`.
    pub fn possibly_has(&self, shown: Timestamp, node: &str, hash: &str) -> bool {
        let mut pods = self.pods.values().filter(|pod| pod.node == node && pod.hash == hash);
        pods.any(|pod| pod.is_possibly_there(shown))
    }

    /// Whether no pod of another hash was there in every state. Pods of nodes that are gone do not count.
    pub fn has_no_surely_other(&self, t: Timestamp, behind: Behind, hash: &str) -> bool {
        let is_there = |node: &str| {
            let line = self.nodes.get(node).map_or(&[][..], Vec::as_slice);
            let began = t - behind.nodes;
            // A cache may lack a node that has joined since.
            line.first().is_some_and(|(at, _)| *at < began) && since(line, began).all(Option::is_some)
        };
        let others = self.pods.values().filter(|pod| pod.hash != hash && is_there(&pod.node));
        !others.into_iter().any(|pod| pod.is_surely_there(t - behind.pods, t))
    }
}

fn end_ready(pod: &mut Pod, t: Timestamp) {
    if let Some((_, to @ None)) = pod.ready.last_mut() {
        *to = Some(t);
    }
}

/// The values that held at any time since `began`.
pub fn since<T>(line: &[(Timestamp, T)], began: Timestamp) -> impl Iterator<Item = &T> {
    let first = line.partition_point(|(at, _)| *at < began).saturating_sub(1);
    line[first..].iter().map(|(_, value)| value)
}

/// The fleet as the controller may have seen it, under one spec.
pub struct Seen<'w> {
    pub fleet: &'w Fleet,
    pub spec: &'w DaemonSetSpec,
    /// The hash of the current revision; `None` if a plan creates it.
    pub hash: Option<&'w str>,
    pub t: Timestamp,
    pub behind: Behind,
}

impl<'w> Seen<'w> {
    fn states(&self, node: &str) -> impl Iterator<Item = Option<&'w NodeState>> + Clone {
        let line = self.fleet.nodes.get(node).map_or(&[][..], Vec::as_slice);
        let first = line.partition_point(|(at, _)| *at < self.t - self.behind.nodes).saturating_sub(1);
        line[first..].iter().map(|(_, state)| state.as_ref())
    }

    fn pods_of(&self, node: &'w str) -> impl Iterator<Item = &'w Pod> {
        let hash = self.hash;
        self.fleet.pods.values().filter(move |pod| pod.node == node && Some(pod.hash.as_str()) == hash)
    }

    fn shown(&self) -> Timestamp {
        self.t - self.behind.pods
    }

    fn possibly_has(&self, node: &'w str) -> bool {
        self.pods_of(node).any(|pod| pod.is_possibly_there(self.shown()))
    }

    fn surely_has(&self, node: &'w str) -> bool {
        self.pods_of(node).any(|pod| pod.is_surely_there(self.shown(), self.t))
    }

    /// Whether the template may have seemed to let no pod stay on the node.
    pub fn may_be_excluded(&self, node: &str) -> bool {
        self.states(node).any(|state| state.is_none_or(|state| !may_stay(self.spec, state)))
    }

    fn is_in(&self, wave: Option<&Wave>, state: Option<&NodeState>) -> bool {
        let Some(state) = state else { return false };
        let selector = wave.and_then(|wave| wave.nodes.as_ref());
        is_target(self.spec, state) && selector.is_none_or(|selector| matches(selector, state))
    }

    /// The nodes that may have seemed to match a wave, and those that must have.
    fn members(&self, wave: Option<&Wave>) -> (Vec<&'w str>, Vec<&'w str>) {
        let names = || self.fleet.nodes.keys().map(String::as_str);
        let matching = |name: &str, state: Option<&NodeState>| {
            let selector = wave.and_then(|wave| wave.nodes.as_ref());
            // A node that is no target keeps the pod that it has.
            let keeps = |state: &NodeState| selector.is_none_or(|selector| matches(selector, state));
            let is_known = self.fleet.nodes.get_key_value(name).map(|(name, _)| name.as_str());
            let has_it = is_known.is_some_and(|name| self.possibly_has(name));
            self.is_in(wave, state) || (has_it && state.is_some_and(keeps))
        };
        let possibly = names().filter(|name| self.states(name).any(|state| matching(name, state)));
        let surely = names().filter(|name| {
            let is_older =
                self.fleet.nodes[*name].first().is_some_and(|(at, _)| *at < self.t - self.behind.nodes);
            is_older && self.states(name).all(|state| self.is_in(wave, state))
        });
        (possibly.collect(), surely.collect())
    }

    /// Whether one node comes before another one in each order that the controller may have seen.
    fn is_surely_before(&self, one: &'w str, other: &'w str) -> bool {
        (self.surely_has(one) && !self.possibly_has(other))
            || (one < other && (self.surely_has(one) || !self.possibly_has(other)))
    }

    pub fn may_be_in(&self, wave: &Wave, node: &str) -> bool {
        let (possibly, surely) = self.members(Some(wave));
        let Some(node) = possibly.iter().find(|name| **name == node) else { return false };
        let limit = up_to(wave, possibly.len());
        surely.iter().filter(|other| *other != node && self.is_surely_before(other, node)).count() < limit
    }

    fn must_be_in(&self, wave: &Wave) -> Vec<&'w str> {
        let (possibly, surely) = self.members(Some(wave));
        let limit = up_to(wave, surely.len());
        let may_precede = |one: &'w str, other: &'w str| one != other && !self.is_surely_before(other, one);
        let first = |name: &&'w str| possibly.iter().filter(|other| may_precede(other, name)).count() < limit;
        surely.iter().copied().filter(first).collect()
    }

    /// Nodes of these waves that hold up the next one, however the controller may have seen them.
    pub fn lagging(&self, waves: &[Wave], bake: SignedDuration) -> impl Iterator<Item = &'w str> {
        let mut nodes: Vec<&str> = waves.iter().flat_map(|wave| self.must_be_in(wave)).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let lags = |node: &&'w str| {
            let may_be_down = self.states(node).any(|state| state.is_some_and(|state| !state.ready));
            let out_of_reach = may_be_down && !self.surely_has(node);
            let done = self.pods_of(node).any(|pod| pod.was_ready(self.shown(), self.t, bake));
            !out_of_reach && !done
        };
        nodes.retain(lags);
        nodes.into_iter()
    }

    /// Whether each target node may have seemed to have an available updated pod.
    pub fn may_all_have_it(&self, min_ready: SignedDuration) -> bool {
        let (_, targets) = self.members(None);
        let available =
            |node: &&str| self.pods_of(node).any(|pod| pod.was_ready(self.shown(), self.t, min_ready));
        targets.iter().all(available)
    }
}

fn matches(selector: &LabelSelector, state: &NodeState) -> bool {
    selector.match_labels.iter().all(|(key, value)| state.labels.get(key) == Some(value))
}

fn up_to(wave: &Wave, matching: usize) -> usize {
    use daemonset::model::IntOrString;
    match wave.up_to {
        None => matching,
        Some(IntOrString::Int(nodes)) => nodes as usize,
        Some(IntOrString::Percent(percent)) => (percent as usize * matching).div_ceil(100),
    }
}
