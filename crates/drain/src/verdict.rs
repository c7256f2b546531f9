//! The rules: the verdict of a drain on each pod, and why (v1.36 `kubectl/pkg/drain/filters.go`).

use crate::daemon::{DaemonOwner, is_daemon_set};
use crate::pod::Pod;
use daemonset::kubernetes::Selector;
use daemonset::kubernetes::well_known::{MIRROR_ANNOTATION, PULL_OWNER_LABEL};
use daemonset::model::{Node, OwnerReference};
use daemonset::policy::DrainPolicy;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// The verdict of a drain on a pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum PodVerdict {
    /// It is neither touched nor waited for.
    #[non_exhaustive]
    LeftAlone {
        /// Why.
        why: LeftAlone,
    },
    /// It is terminating: the drain waits for its end.
    #[non_exhaustive]
    Waits {
        /// The instant from which it is no longer waited for; `None` where it is waited for until it is gone.
        #[serde(skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
    },
    /// It is evicted, unless another pod blocks the drain.
    Evict,
    /// It blocks the drain: no pod is evicted while it is there.
    #[non_exhaustive]
    Blocks {
        /// Why.
        reason: BlockReason,
    },
}

/// Why a drain leaves a pod alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub enum LeftAlone {
    /// It is not bound to the node.
    OtherNode,
    /// It is the API server's copy of a static pod: only the kubelet can end that pod.
    Mirror,
    /// Its controller keeps a pod on the node, and would create it again.
    Daemon,
    /// It pulls images for a DaemonSet, and ends by itself.
    PullPod,
    /// [`DrainPolicy::pod_selector`](field@DrainPolicy::pod_selector) does not match it.
    NotSelected,
    /// It has been terminating for so long that the drain no longer waits for it.
    NoLongerWaitedFor,
}

/// Why a pod blocks a drain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub enum BlockReason {
    /// It has an emptyDir volume, whose data is lost with the pod.
    LocalStorage,
    /// Nothing makes it again: it has no controller, or its DaemonSet does not exist.
    Unmanaged,
}

/// The verdict of a drain on each pod, in the order of `pods`. [`drain()`](crate::drain()) sums them up.
///
/// ```
/// use daemonset::model::Node;
/// use daemonset_drain::{BlockReason, DrainPolicy, LeftAlone, Pod, PodVerdict, verdicts};
/// use serde_json::{from_value, json};
///
/// let node: Node = from_value(json!({"metadata": {"name": "a"}}))?;
/// let pods: Vec<Pod> = from_value(json!([
///     {"metadata": {"name": "by-hand", "namespace": "ns"}, "spec": {"nodeName": "a"}},
///     {"metadata": {"name": "elsewhere", "namespace": "ns"}, "spec": {"nodeName": "b"}},
/// ]))?;
/// let now = "2026-01-01T12:00:00Z".parse().unwrap();
/// let verdicts = verdicts(&node, &pods, &[], &DrainPolicy::default(), now);
/// assert!(matches!(verdicts[0], PodVerdict::Blocks { reason: BlockReason::Unmanaged, .. }));
/// assert!(matches!(verdicts[1], PodVerdict::LeftAlone { why: LeftAlone::OtherNode, .. }));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use]
pub fn verdicts(
    node: &Node,
    pods: &[Pod],
    daemon_sets: &[DaemonOwner],
    policy: &DrainPolicy,
    now: Timestamp,
) -> Vec<PodVerdict> {
    let rules = Rules::new(node, daemon_sets, policy, now);
    pods.iter().map(|pod| rules.verdict(pod)).collect()
}

/// The rules of one drain.
struct Rules<'a> {
    node: &'a Node,
    /// Kind, namespace and name.
    daemons: BTreeSet<(&'a str, &'a str, &'a str)>,
    policy: &'a DrainPolicy,
    selector: Selector<'a>,
    now: Timestamp,
}

impl<'a> Rules<'a> {
    fn new(node: &'a Node, daemons: &'a [DaemonOwner], policy: &'a DrainPolicy, now: Timestamp) -> Self {
        let key = |owner: &'a DaemonOwner| (&*owner.kind, &*owner.namespace, &*owner.name);
        let daemons = daemons.iter().map(key).collect();
        Rules { node, daemons, policy, selector: policy.pod_selector.compiled(), now }
    }

    fn verdict(&self, pod: &Pod) -> PodVerdict {
        if let Some(why) = self.left_alone(pod) {
            return PodVerdict::LeftAlone { why };
        }
        // A pod that ends blocks nothing: nobody can keep it [drain-waits-for-terminating].
        if let Some(deletion) = pod.metadata.deletion_timestamp {
            return self.terminating(deletion);
        }
        // A finished pod uses neither its data nor its controller any more.
        if pod.is_finished() {
            return PodVerdict::Evict;
        }
        match self.blocks(pod) {
            Some(reason) => PodVerdict::Blocks { reason },
            None => PodVerdict::Evict,
        }
    }

    /// Why a pod is none of the drain's, whatever state it is in.
    fn left_alone(&self, pod: &Pod) -> Option<LeftAlone> {
        let metadata = &pod.metadata;
        let is_here = pod.spec.node_name == self.node.metadata.name;
        // A pod that waits for the scheduler is on no node, not even on one without a name.
        if !is_here || pod.spec.node_name.as_str().is_empty() {
            Some(LeftAlone::OtherNode)
        } else if metadata.annotations.get(MIRROR_ANNOTATION).is_some() {
            Some(LeftAlone::Mirror)
        // Finished ones, too: theirs to remove [drain-leaves-finished-daemons].
        } else if pod.controller().is_some_and(|owner| self.is_daemon(&metadata.namespace, owner)) {
            Some(LeftAlone::Daemon)
        } else if metadata.labels.contains_key(PULL_OWNER_LABEL) {
            Some(LeftAlone::PullPod)
        } else if !self.selector.matches_labels(&metadata.labels) {
            Some(LeftAlone::NotSelected)
        } else {
            None
        }
    }

    /// Whether the owner of a pod exists, and its pods are daemons. An owner is in the namespace of its pod.
    fn is_daemon(&self, namespace: &str, owner: &OwnerReference) -> bool {
        self.daemons.contains(&(owner.kind.as_str(), namespace, owner.name.as_str()))
    }

    /// A terminating pod, by its deletionTimestamp.
    fn terminating(&self, deletion: Timestamp) -> PodVerdict {
        let seconds = self.policy.skip_wait_for_delete_seconds;
        if seconds == 0 {
            return PodVerdict::Waits { until: None };
        }
        match deletion.checked_add(SignedDuration::from_secs(seconds.into())) {
            // kubectl waits a second longer [drain-skips-on-time].
            Ok(until) if until <= self.now => PodVerdict::LeftAlone { why: LeftAlone::NoLongerWaitedFor },
            Ok(until) => PodVerdict::Waits { until: Some(until) },
            // It is later than every instant.
            Err(_) => PodVerdict::Waits { until: None },
        }
    }

    /// Why a pod that runs, or is about to, must not be evicted: its data comes before its controller.
    fn blocks(&self, pod: &Pod) -> Option<BlockReason> {
        if pod.has_local_storage() && !self.policy.delete_empty_dir_data {
            return Some(BlockReason::LocalStorage);
        }
        // The pods of existing DaemonSets are left alone already.
        let is_managed = pod.controller().is_some_and(|owner| !is_daemon_set(owner));
        (!is_managed && !self.policy.evict_without_controller).then_some(BlockReason::Unmanaged)
    }
}

/// Words for a person, about `it`.
impl fmt::Display for PodVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PodVerdict::LeftAlone { why } => write!(f, "left alone: {why}"),
            PodVerdict::Waits { until: None } => f.write_str("waits until it is gone"),
            PodVerdict::Waits { until: Some(until) } => write!(f, "waits until it is gone, or until {until}"),
            PodVerdict::Evict => f.write_str("is evicted"),
            PodVerdict::Blocks { reason } => write!(f, "blocks: {reason}"),
        }
    }
}

impl fmt::Display for LeftAlone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LeftAlone::OtherNode => "it is not on the node",
            LeftAlone::Mirror => "it is a static pod, which only its kubelet can end",
            LeftAlone::Daemon => "it is a daemon, which its controller would create again",
            LeftAlone::PullPod => "it pulls images, and ends by itself",
            LeftAlone::NotSelected => "the pod selector does not match it",
            LeftAlone::NoLongerWaitedFor => "it has been terminating for too long to wait for it",
        })
    }
}

impl fmt::Display for BlockReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BlockReason::LocalStorage => "it has an emptyDir volume, whose data would be lost",
            BlockReason::Unmanaged => {
                "nothing would create it again: it has no controller, or its DaemonSet is gone"
            }
        })
    }
}
