//! Pods that should be gone, and what keeps them: also those whose node is gone, which are on no node of a plan.

use crate::case::Case;
use crate::cause::Outage;
use crate::stuck::finding::{Ends, StuckFinding};
use crate::words;
use daemonset::model::Pod;
use daemonset::report::Warning;
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// Names at most so many pods.
const MOST_PODS: usize = 3;
/// How long the pod garbage collector waits before it looks whether a node is really gone, and once more until its next round
/// (v1.36 `pkg/controller/podgc/gc_controller.go`).
const COLLECTED_AFTER: i64 = 60;

impl Case<'_> {
    /// Why a pod that terminates is still there, and the commands that end it; `None` for one that has its time.
    pub(crate) fn kept(&self, pod: &Pod) -> Option<(String, Vec<String>)> {
        let since = pod.metadata.deletion_timestamp.filter(|at| *at <= self.now)?;
        let name = &pod.metadata.name;
        let finalizers = self.finalizers(pod);
        let node = self.models.node(&pod.spec.node_name);
        let is_silent = node.and_then(Outage::of).is_some_and(|outage| outage.silent);
        let since = self.since(since);
        if let [_, ..] = finalizers {
            let keeps = words::of_finalizers(finalizers);
            return Some((
                format!("{keeps} pod {name} since {since}"),
                vec![self.drop_pod_finalizers(name, finalizers)],
            ));
        }
        let node_name = pod.spec.node_name.as_str();
        is_silent.then(|| {
            let text =
                format!("node {node_name} does not report, so that pod {name} can't end, since {since}");
            (text, vec![self.describe_node(node_name), self.delete_node(node_name)])
        })
    }

    /// Of pods whose node is deleted: the pod garbage collector deletes them without their kubelet, and no controller counts them.
    pub(super) fn strays(&self) -> Vec<StuckFinding> {
        let namespace = &self.planned.daemon_set.metadata.namespace;
        let names = self.plan.warnings.iter().filter_map(|warning| match warning {
            Warning::PodsOnUnknownNodes { pods, .. } => Some(pods),
            _ => None,
        });
        let names: BTreeSet<&String> = names.flatten().collect();
        let is_one = |pod: &&Pod| pod.metadata.namespace == *namespace && names.contains(&pod.metadata.name);
        let mut alike: BTreeMap<Vec<String>, Vec<(&Pod, Timestamp)>> = BTreeMap::new();
        for pod in self.models.pods.iter().filter(|_| !names.is_empty()).filter(is_one) {
            let overdue = pod
                .metadata
                .deletion_timestamp
                .filter(|at| self.now.as_second() - at.as_second() >= COLLECTED_AFTER);
            if let Some(since) = overdue {
                alike.entry(self.finalizers(pod).to_vec()).or_default().push((pod, since));
            }
        }
        alike.into_iter().map(|(finalizers, pods)| self.stray(&finalizers, &pods)).collect()
    }

    /// The finding about one pod, for `why`.
    pub(crate) fn stray_pod(&self, pod: &Pod) -> Option<StuckFinding> {
        let since = pod.metadata.deletion_timestamp.filter(|at| *at <= self.now)?;
        Some(self.stray(self.finalizers(pod), &[(pod, since)]))
    }

    fn stray(&self, finalizers: &[String], pods: &[(&Pod, Timestamp)]) -> StuckFinding {
        let (noun, node) = if pods.len() == 1 { ("pod", "node") } else { ("pods", "nodes") };
        let names = words::names(pods.iter().map(|(pod, _)| &pod.metadata.name), MOST_PODS);
        let nodes = words::names(pods.iter().map(|(pod, _)| pod.spec.node_name.as_str()), MOST_PODS);
        let since = pods.iter().map(|(_, since)| *since).min();
        let why = match finalizers {
            [] => "the pod garbage collector has not removed what its kubelet can't end any more".to_owned(),
            finalizers => format!(
                "{}: the pod garbage collector can't remove a pod that has one",
                words::of_finalizers(finalizers) + if pods.len() == 1 { " it" } else { " them" }
            ),
        };
        let text = format!(
            "{noun} {names} of the deleted {node} {nodes} should be gone, and {why}{}",
            since.map(|at| format!(", since {}", self.since(at))).unwrap_or_default()
        );
        let first = pods.first().map(|(pod, _)| pod.metadata.name.as_str()).unwrap_or_default();
        let end = match finalizers {
            [] => self.force_delete(first),
            finalizers => self.drop_pod_finalizers(first, finalizers),
        };
        StuckFinding {
            ends: Ends::Somebody,
            nodes: Vec::new(),
            text,
            since,
            until: None,
            cause: None,
            commands: vec![self.describe_pod(first), end],
        }
    }

    fn finalizers(&self, pod: &Pod) -> &[String] {
        self.models.notes.pod(&pod.metadata.uid).map(|notes| notes.finalizers.as_slice()).unwrap_or_default()
    }
}
