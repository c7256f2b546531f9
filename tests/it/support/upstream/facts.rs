//! The facts that the controller knows when it chooses.

use daemonset::model::{Labels, ObjectRef, Pod};
use daemonset::report::{NodePlacement, Situation};
use daemonset::{Action, LabelReason, Plan, PodManifest, Recording, RevisionReason, plan};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const HASH_LABEL: &str = "controller-revision-hash";

/// The placement of a node, as the two results of v1.36's `NodeShouldRunDaemonPod`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Placement {
    Run,
    Continue,
    Exclude,
}

/// The step at which a sync ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CleansUp {
    All,
    DuplicatesOnly,
}

pub(super) struct Facts<'r> {
    pub(super) recording: &'r Recording,
    pub(super) now: Timestamp,
    /// The crate's own actions for claims and history.
    pub(super) plan: Plan,
    hash: String,
    generation: Option<String>,
    pub(super) nodes: BTreeMap<&'r str, Placement>,
    /// The pods by target node, bound before unbound, then oldest first. Finished pods that are terminating count as
    /// gone.
    pub(super) pods: BTreeMap<&'r str, Vec<&'r Pod>>,
    /// The pod that would be created, by target node.
    pub(super) manifests: BTreeMap<String, PodManifest>,
    memory: Value,
}

impl<'r> Facts<'r> {
    /// `None` if the crate refuses the recording.
    pub(super) fn of(recording: &'r Recording) -> Option<Self> {
        let plan = without_collision(recording.clone())?;
        let mut empty = recording.clone();
        empty.pods.clear();
        empty.memory = None;
        empty.policy.burst = u32::MAX;
        let manifests = without_collision(empty)?.actions.into_iter().filter_map(|action| match action {
            Action::CreatePod { node, pod, .. } => Some((node.to_string(), pod)),
            _ => None,
        });
        let annotations = &recording.daemon_set.metadata.annotations;
        let generation = annotations.get("deprecated.daemonset.template.generation");
        let generation =
            generation.and_then(|text| text.parse::<i64>().ok()).map(|number| number.to_string());
        let placement = |placement: &NodePlacement| match placement {
            NodePlacement::Run => Placement::Run,
            NodePlacement::ContinueOnly { .. } => Placement::Continue,
            _ => Placement::Exclude,
        };
        let verdicts: BTreeMap<&str, Placement> =
            plan.report.nodes.iter().map(|node| (node.node.as_str(), placement(&node.placement))).collect();
        let names = recording.nodes.iter().map(|node| node.metadata.name.as_str());
        let nodes = names.filter_map(|name| Some((name, *verdicts.get(name)?))).collect();
        Some(Facts {
            recording,
            now: recording.now,
            hash: plan.report.current_revision.as_ref().map_or(String::new(), |r| r.hash.clone()),
            generation,
            nodes,
            pods: by_node(recording, &plan),
            manifests: manifests.collect(),
            memory: serde_json::to_value(&recording.memory).unwrap(),
            plan,
        })
    }

    /// Whether the selector matches every pod, or the DaemonSet is being deleted.
    pub(super) fn is_left_alone(&self) -> bool {
        self.plan.report.situation != Situation::Synced
    }

    /// Claims and revisions are the crate's. But with a duplicate revision every pod of another hash is relabelled,
    /// outdated ones included (kubernetes#111280).
    pub(super) fn claims_and_history(&self) -> Vec<Action> {
        let mut actions: Vec<Action> =
            self.plan.actions.iter().filter(|a| is_claim_or_history(a)).cloned().collect();
        if self.plan.actions.iter().any(is_duplicate) {
            let others = self.pods.values().flatten().filter(|pod| !self.has_current_hash(pod));
            actions.extend(others.map(|pod| {
                let labels = Labels::from_iter([(HASH_LABEL, self.hash.as_str())]);
                Action::label_pod(self.object_ref(pod), labels, LabelReason::DuplicateRevision)
            }));
        }
        actions
    }

    /// Deletes of duplicate revisions, and of revisions beyond the limit if the sync comes that far.
    pub(super) fn cleanup(&self, cleans_up: CleansUp) -> impl Iterator<Item = Action> + '_ {
        let goes = move |action: &&Action| match cleans_up {
            CleansUp::All => matches!(action, Action::DeleteRevision { .. }),
            CleansUp::DuplicatesOnly => is_duplicate(action),
        };
        self.plan.actions.iter().filter(goes).cloned()
    }

    pub(super) fn object_ref(&self, pod: &Pod) -> ObjectRef {
        ObjectRef {
            namespace: pod.metadata.namespace.clone(),
            name: pod.metadata.name.clone(),
            uid: pod.metadata.uid.clone(),
            resource_version: pod.metadata.resource_version.clone(),
        }
    }

    pub(super) fn should_run(&self, node: &str) -> bool {
        self.nodes.get(node) == Some(&Placement::Run)
    }

    pub(super) fn target(pod: &Pod) -> Option<&str> {
        let bound = Some(pod.spec.node_name.as_str()).filter(|node| !node.is_empty());
        bound.or(pod.spec.affinity_node.as_ref().map(|node| node.as_str()))
    }

    pub(super) fn has_current_hash(&self, pod: &Pod) -> bool {
        pod.metadata.labels.get(HASH_LABEL) == Some(&self.hash)
    }

    /// Updated by generation or by hash.
    pub(super) fn is_updated(&self, pod: &Pod) -> bool {
        let generation = pod.metadata.labels.get("pod-template-generation");
        self.has_current_hash(pod) || (generation.is_some() && generation == self.generation.as_deref())
    }

    /// Ready in any phase, even while terminating.
    pub(super) fn is_ready(&self, pod: &Pod) -> bool {
        pod.status.conditions.iter().find(|c| c.kind == "Ready").is_some_and(|c| c.status == "True")
    }

    /// Ready for minReadySeconds, even while terminating.
    pub(super) fn is_available(&self, pod: &Pod) -> bool {
        let seconds = self.recording.daemon_set.spec.min_ready_seconds;
        let since = pod.status.conditions.first().and_then(|c| c.last_transition_time);
        let long_enough =
            since.is_some_and(|since| since + SignedDuration::from_secs(seconds.into()) <= self.now);
        self.is_ready(pod) && (seconds == 0 || long_enough)
    }

    /// The number of earlier deletes of failed pods of this node, and the instant until which the next one is held
    /// back.
    pub(super) fn failures(&self, node: &str) -> (u32, Option<Timestamp>) {
        let failures = &self.memory["failures"][node];
        let count = failures["count"].as_u64().map_or(0, |count| u32::try_from(count).unwrap());
        let at = failures["at"].as_str().map(|at| at.parse::<Timestamp>().unwrap());
        let back_off = 1_i64 << count.saturating_sub(1).min(10);
        let until = at.map(|at| at + SignedDuration::from_secs(back_off.min(900)));
        (count, until.filter(|until| self.now < *until))
    }
}

fn is_duplicate(action: &Action) -> bool {
    matches!(action, Action::DeleteRevision { reason: RevisionReason::Duplicate, .. })
}

fn is_claim_or_history(action: &Action) -> bool {
    matches!(
        action,
        Action::AdoptPod { .. }
            | Action::ReleasePod { .. }
            | Action::AdoptRevision { .. }
            | Action::ReleaseRevision { .. }
            | Action::CreateRevision { .. }
            | Action::LabelRevision { .. }
            | Action::RenumberRevision { .. }
    )
}

/// Hashes and their collisions differ from the crate's: a name that is in use here is free there.
fn without_collision(mut recording: Recording) -> Option<Plan> {
    for _ in 0..5 {
        let plan = plan(&recording.snapshot().ok()?);
        let Some(status) = plan.status.clone().filter(|_| plan.report.situation == Situation::NameCollision)
        else {
            return Some(plan);
        };
        recording.daemon_set.status = status;
    }
    None
}

fn by_node<'r>(recording: &'r Recording, plan: &Plan) -> BTreeMap<&'r str, Vec<&'r Pod>> {
    let uids = |wanted: fn(&Action) -> Option<&ObjectRef>| -> BTreeSet<&str> {
        plan.actions.iter().filter_map(wanted).map(|pod| pod.uid.as_str()).collect()
    };
    let adopted = uids(|action| if let Action::AdoptPod { pod, .. } = action { Some(pod) } else { None });
    let released = uids(|action| if let Action::ReleasePod { pod, .. } = action { Some(pod) } else { None });
    let set = &recording.daemon_set.metadata;
    let claimed = recording.pods.iter().filter(|pod| {
        let controller = pod.metadata.owner_references.iter().find(|o| o.controller == Some(true));
        let uid = pod.metadata.uid.as_str();
        let owned = controller.is_some_and(|owner| owner.uid == set.uid) && !released.contains(uid);
        (owned || adopted.contains(uid)) && pod.metadata.namespace == set.namespace
    });
    let gone = |pod: &Pod| {
        pod.metadata.deletion_timestamp.is_some()
            && matches!(pod.status.phase.as_ref(), "Failed" | "Succeeded")
    };
    let mut pods: BTreeMap<&str, Vec<&Pod>> = BTreeMap::new();
    for pod in claimed.filter(|pod| !gone(pod)) {
        if let Some(node) = Facts::target(pod) {
            pods.entry(node).or_default().push(pod);
        }
    }
    for pods in pods.values_mut() {
        pods.sort_by_key(|pod| {
            (pod.spec.node_name.as_str().is_empty(), pod.metadata.creation_timestamp, &pod.metadata.name)
        });
    }
    pods
}
