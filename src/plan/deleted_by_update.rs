//! Nodes that an update took down, counted until they are back.
//!
//! A taint or a label that appears because the daemon is away takes the node out of the target nodes: nothing is created
//! there again, and no other figure counts it. Without this memory an update would take one node after the other.

use crate::input::Snapshot;
use crate::input::memory::{DeletedByUpdate, Memory};
use crate::input::placement::Placement;
use crate::node::fleet::{Fleet, FleetPod};
use crate::plan::rest_of_cluster::RestOfCluster;
use crate::plan::steps::fleet_towards_goal;
use crate::pods::claim::claim_revisions;
use crate::pods::classify::Classifier;
use crate::pods::history::History;
use crate::position::NodeIx;
use crate::rules::in_place::InPlace;
use daemonset_objects::PodView;
use jiff::SignedDuration;
use std::collections::{BTreeMap, BTreeSet};

impl Memory {
    /// Forgets a node whose pod the update deleted once a Ready pod of its goal is there, or the node is gone. A Ready target node without such a pod
    /// is forgotten after a while, too: its pod counts as unavailable there. No other node is: nothing else counts it.
    pub(crate) fn forget_taken(&mut self, snapshot: &Snapshot<'_>, rest: &RestOfCluster<'_>) {
        if self.deleted_by_update.is_empty() {
            return;
        }
        let is_steered = snapshot.spec.policy.rollout.is_some();
        // To find the goals takes most of a decision. Without a rollout each goal is the current revision, and labels suffice.
        let fleet = is_steered.then(|| fleet_towards_goal(snapshot, rest)).flatten();
        let is_ready_target = |node: NodeIx| match &fleet {
            Some(fleet) => fleet.is_ready_target(node),
            None => snapshot.placement(node) == Placement::Run && snapshot.node(node).ready != Some(false),
        };
        // Found before an entry goes: whether a pod is back depends on the uids of all entries.
        let back = match &fleet {
            Some(fleet) => self.nodes_with_a_ready_pod_of_their_goal(fleet),
            // The plan ends early: without goals nothing shows that a node is back, and its entry waits for the next snapshot.
            None if is_steered => BTreeSet::new(),
            None => self.nodes_with_a_ready_updated_pod(snapshot),
        };
        let expiry = SignedDuration::from_secs(snapshot.spec.policy.deleted_by_update_expiry_seconds.into());
        self.deleted_by_update.retain(|node, deleted| {
            let Some(node) = snapshot.index.node(node.as_str()) else { return false };
            // A clock that has gone back makes an entry old as well: it must not count for ever.
            let is_expired = snapshot.now.duration_since(deleted.at).abs() >= expiry;
            !(back.contains(&node) || is_expired && is_ready_target(node))
        });
    }

    /// The nodes of which a live pod of their goal is Ready. A deleted pod that a stale list still shows is no sign of life.
    fn nodes_with_a_ready_pod_of_their_goal(&self, fleet: &Fleet<'_>) -> BTreeSet<NodeIx> {
        let deleted = self.deleted_pods();
        let is_back =
            |pod: &FleetPod| pod.of_goal && pod.is_ready() && !self.is_going(&deleted, fleet.view(pod));
        let nodes = self.deleted_by_update.keys().filter_map(|node| fleet.snapshot.index.node(node.as_str()));
        nodes.filter(|node| fleet.pods_of(*node).any(|(_, pod)| is_back(pod))).collect()
    }

    /// The pods whose deletion, or change in their place, took a node.
    fn deleted_pods(&self) -> BTreeMap<&str, &DeletedByUpdate> {
        self.deleted_by_update.values().map(|deleted| (deleted.uid.as_str(), deleted)).collect()
    }

    /// Whether the pod is one that a stale list still shows as it was.
    fn is_going(&self, deleted: &BTreeMap<&str, &DeletedByUpdate>, pod: &PodView<'_>) -> bool {
        deleted.get(pod.uid).is_some_and(|deleted| deleted.hides(pod)) || self.deletes.contains_key(pod.uid)
    }

    /// The nodes on which a live pod of the current revision is Ready; none while the revision's name is taken.
    ///
    /// A deleted pod that a stale list still shows is no sign of life: after an undo it is of the current revision again.
    fn nodes_with_a_ready_updated_pod(&self, snapshot: &Snapshot<'_>) -> BTreeSet<NodeIx> {
        let Ok(history) = History::new(snapshot, &claim_revisions(snapshot)) else { return BTreeSet::new() };
        let classifier = Classifier::new(snapshot, &history);
        let deleted = self.deleted_pods();
        let mut nodes = BTreeSet::new();
        for (_, pod, facts) in snapshot.pods_with_facts() {
            // The cheap tests first: this goes over all pods of the namespace.
            let is_ready = pod.ready == Some(true) && pod.deleted_at.is_none() && !pod.finished();
            let settles = || InPlace::of(pod, snapshot.now).is_some_and(|in_place| in_place.settles);
            let is_updated = || classifier.class(facts).evidence.is_updated();
            if is_ready
                && !self.is_going(&deleted, pod)
                && !settles()
                && facts.verdict(pod).is_ours()
                && is_updated()
            {
                nodes.extend(facts.node);
            }
        }
        nodes
    }
}
