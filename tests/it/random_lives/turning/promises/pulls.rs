//! No more nodes pull at a time than the policy allows, and an available pod goes only once its successor's images are there.

use super::super::beginning::{Beginning, Faults};
use super::super::facts::{Facts, is_pull_pod};
use daemonset::DeleteReason;
use daemonset::model::{IntOrString, Pod};
use daemonset_sim::{Cluster, PodIdentity};
use jiff::{SignedDuration, Timestamp};
use std::collections::BTreeMap;

#[derive(Default)]
pub struct Pulls {
    /// The pull pods that have been seen: their nodes and births.
    seen: BTreeMap<String, (String, Timestamp)>,
    /// Until when a refused create may count as a pull that is done.
    pub refused_until: Option<Timestamp>,
}

impl Pulls {
    pub fn new(beginning: Beginning) -> Self {
        let refused_until = (beginning.faults == Faults::Refuses).then_some(Timestamp::MAX);
        Pulls { refused_until, ..Pulls::default() }
    }

    /// A new pull pod may make too many.
    pub fn broken_in(&mut self, facts: &Facts, cluster: &Cluster) -> Option<String> {
        let mut is_more = false;
        for pod in cluster.pods().filter(|pod| is_pull_pod(pod)) {
            let (uid, born) = (pod.metadata.uid.to_string(), pod.metadata.creation_timestamp?);
            is_more |= !self.seen.contains_key(&uid);
            self.seen.insert(uid, (target(pod), born));
        }
        let rules = facts.policy.pull.as_ref().filter(|_| is_more)?;
        let IntOrString::Int(parallel) = rules.parallel else { return None };
        let now = cluster.now();
        let timeout = SignedDuration::from_secs(rules.timeout_seconds.into());
        let pulls = |pod: &&Pod| {
            let is_young = pod.metadata.creation_timestamp.is_some_and(|born| now < born + timeout);
            is_pull_pod(pod) && is_young && pod.metadata.deletion_timestamp.is_none() && !has_pulled(pod)
        };
        let pulling: Vec<String> = cluster.pods().filter(pulls).map(target).collect();
        (pulling.len() > parallel as usize).then(|| format!("pulls: {pulling:?} of {parallel}"))
    }

    pub fn broken_by_take(
        &self,
        facts: &Facts,
        t: Timestamp,
        pod: &PodIdentity,
        reason: DeleteReason,
    ) -> Option<String> {
        let rules = facts.policy.pull.as_ref()?;
        let node = facts.nodes.get(pod.node.as_str())?;
        if reason != DeleteReason::OutdatedAvailable || self.refused_until.is_some_and(|until| t < until) {
            return None;
        }
        let timeout = SignedDuration::from_secs(rules.timeout_seconds.into());
        let is_late =
            self.seen.values().any(|(name, born)| *name == pod.node.as_str() && *born + timeout <= t);
        let image = |template: &serde_json::Value| template["spec"]["containers"][0]["image"].to_string();
        let is_there = |template| node.images.contains(image(template).trim_matches('"'));
        let waits = !is_late && !facts.templates(t).any(is_there);
        waits.then(|| format!("images: none of {} on {}", node.images.len(), pod.node))
    }
}

/// The node that a pod is bound to, or shall be.
fn target(pod: &Pod) -> String {
    let affinity = pod.spec.affinity_node.as_ref();
    affinity.filter(|_| !pod.is_bound()).unwrap_or(&pod.spec.node_name).to_string()
}

fn has_pulled(pod: &Pod) -> bool {
    let statuses = &pod.status.container_statuses;
    !statuses.is_empty() && statuses.iter().all(|status| !status.image_id.is_empty())
}
