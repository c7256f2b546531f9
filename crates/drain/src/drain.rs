//! The decision about a node: its state, the pods to evict, and when to look again.

use crate::daemon::DaemonOwner;
use crate::eviction::EvictPod;
use crate::pod::Pod;
use crate::verdict::{BlockReason, PodVerdict, verdicts};
use daemonset::model::{Node, ObjectRef};
use daemonset::policy::DrainPolicy;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The time between two looks at a pod that is evicted, and between two evictions that the API server does not accept
/// (v1.36 `kubectl/pkg/drain/drain.go EvictErrorRetryDelay`).
#[doc(alias = "EvictErrorRetryDelay")]
pub const RETRY_AFTER: SignedDuration = SignedDuration::from_secs(5);

/// Decides the next step of a drain of the node.
///
/// `pods`: the pods of the node, of all namespaces; others are left alone. `daemon_sets`: all DaemonSets that exist, and other owners
/// whose pods are daemons. A DaemonSet that is missing in the list does not exist, and its pods block.
///
/// - Neither touched nor waited for are mirror pods, the pods of `daemon_sets`, also finished ones, pods that pull images
///   (label `pull.daemonset/owner`), and pods that the policy's selector does not match.
/// - A terminating pod is waited for, unless the policy's
///   [`skip_wait_for_delete_seconds`](field@DrainPolicy::skip_wait_for_delete_seconds) have passed since its deletionTimestamp.
/// - A finished pod is evicted.
/// - A pod with an emptyDir volume blocks; else a pod without a controller, or of a DaemonSet that does not exist. The policy can allow
///   either. While a pod blocks, none is evicted.
/// - All others are evicted.
///
/// `kubectl drain` evicts the finished pods of a DaemonSet, too, lets a terminating pod with an emptyDir volume block, and waits a second
/// longer before it skips a terminating pod: UPSTREAM.md has all differences, each with its reason.
///
/// ```
/// use daemonset::model::Node;
/// use daemonset_drain::{DaemonOwner, DrainPolicy, DrainState, Pod, drain};
/// use serde_json::{from_value, json};
///
/// let owned = |kind: &str, name: &str| json!([{"kind": kind, "name": name, "uid": "u", "controller": true}]);
/// let node: Node = from_value(json!({"metadata": {"name": "a"}}))?;
/// let pods: Vec<Pod> = from_value(json!([
///     {"metadata": {"name": "web-x", "namespace": "shop", "ownerReferences": owned("ReplicaSet", "web")}, "spec": {"nodeName": "a"}},
///     {"metadata": {"name": "log-x", "namespace": "logs", "ownerReferences": owned("DaemonSet", "log")}, "spec": {"nodeName": "a"}},
/// ]))?;
/// let daemon_sets = [DaemonOwner::daemon_set("logs", "log")];
/// let now = "2026-01-01T12:00:00Z".parse().unwrap();
///
/// let decided = drain(&node, &pods, &daemon_sets, &DrainPolicy::default(), now);
/// assert!(matches!(decided.state, DrainState::Draining { left: 1, .. }));
/// assert_eq!(decided.evict[0].to_string(), "evict shop/web-x");
/// assert_eq!(decided.look_again, Some("2026-01-01T12:00:05Z".parse().unwrap()));
///
/// let decided = drain(&node, &pods[1..], &daemon_sets, &DrainPolicy::default(), now);
/// assert_eq!(decided.state, DrainState::Drained);
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn drain(
    node: &Node,
    pods: &[Pod],
    daemon_sets: &[DaemonOwner],
    policy: &DrainPolicy,
    now: Timestamp,
) -> Drain {
    let (mut evict, mut blocked, mut waiting, mut look_again) = (Vec::new(), Vec::new(), 0, None);
    for (pod, verdict) in pods.iter().zip(verdicts(node, pods, daemon_sets, policy, now)) {
        match verdict {
            PodVerdict::LeftAlone { .. } => {}
            PodVerdict::Waits { until } => {
                waiting += 1;
                look_again = earliest(look_again, until);
            }
            PodVerdict::Evict => {
                evict.push(EvictPod::new(ObjectRef::from(&pod.metadata), policy.grace_seconds));
            }
            PodVerdict::Blocks { reason } => {
                blocked.push(BlockedPod { pod: ObjectRef::from(&pod.metadata), reason });
            }
        }
    }
    if !blocked.is_empty() {
        blocked.sort_by(|a, b| (order(&a.pod), a.reason).cmp(&(order(&b.pod), b.reason)));
        return Drain { state: DrainState::Blocked { pods: blocked }, evict: Vec::new(), look_again };
    }
    if !evict.is_empty() {
        look_again = earliest(look_again, Some(now.checked_add(RETRY_AFTER).unwrap_or(Timestamp::MAX)));
    }
    evict.sort_by(|a, b| order(&a.pod).cmp(&order(&b.pod)));
    let state = match evict.len() + waiting {
        0 => DrainState::Drained,
        left => DrainState::Draining { left },
    };
    Drain { state, evict, look_again }
}

fn earliest(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    one.into_iter().chain(other).min()
}

/// By namespace and name. Uid and version make the order of a list with the same name twice independent of the list's.
fn order(pod: &ObjectRef) -> (&str, &str, &str, &str) {
    (&pod.namespace, &pod.name, pod.uid.as_str(), &pod.resource_version)
}

/// The next step of a drain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[must_use]
#[non_exhaustive]
pub struct Drain {
    /// How far the drain is.
    pub state: DrainState,
    /// The pods to evict now, by namespace and name. A pod stays in the list until a snapshot shows that it is terminating: to evict it again
    /// does no harm.
    pub evict: Vec<EvictPod>,
    /// The earliest instant at which time alone changes the answer, or at which an eviction is due again; `None` where only a change of a pod,
    /// of a DaemonSet or of the policy changes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub look_again: Option<Timestamp>,
}

/// How far a drain is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum DrainState {
    /// Pods block it, so that none is evicted.
    #[non_exhaustive]
    Blocked {
        /// The pods that block, by namespace and name; never empty.
        pods: Vec<BlockedPod>,
    },
    /// There is no pod to evict, and none to wait for.
    Drained,
    /// Pods are evicted or waited for.
    #[non_exhaustive]
    Draining {
        /// The number of both.
        left: usize,
    },
}

impl DrainState {
    /// The word that names the state in its JSON form: `Blocked`, `Drained`, `Draining`.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            DrainState::Blocked { .. } => "Blocked",
            DrainState::Drained => "Drained",
            DrainState::Draining { .. } => "Draining",
        }
    }

    /// The pods that block; none in another state.
    #[must_use]
    pub fn blocked_by(&self) -> &[BlockedPod] {
        match self {
            DrainState::Blocked { pods } => pods,
            DrainState::Drained | DrainState::Draining { .. } => &[],
        }
    }

    /// The number of pods that are evicted or waited for; 0 in another state than [`Draining`](DrainState::Draining).
    #[must_use]
    pub const fn left(&self) -> usize {
        match self {
            DrainState::Draining { left } => *left,
            DrainState::Blocked { .. } | DrainState::Drained => 0,
        }
    }
}

/// A pod that blocks a drain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct BlockedPod {
    /// The pod.
    pub pod: ObjectRef,
    /// Why.
    pub reason: BlockReason,
}

/// One line: `draining: 3 pods left, 2 of them to evict`.
impl fmt::Display for Drain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.state)?;
        match (&self.state, self.evict.len()) {
            (DrainState::Draining { left }, evicted) if evicted == *left => f.write_str(", to evict"),
            (DrainState::Draining { .. }, 0) => f.write_str(", all terminating"),
            (DrainState::Draining { .. }, evicted) => write!(f, ", {evicted} of them to evict"),
            (DrainState::Blocked { .. } | DrainState::Drained, _) => Ok(()),
        }
    }
}

impl fmt::Display for DrainState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DrainState::Blocked { pods } => {
                let pods: Vec<String> = pods.iter().map(ToString::to_string).collect();
                write!(f, "blocked by {}", pods.join(", "))
            }
            DrainState::Drained => f.write_str("drained"),
            DrainState::Draining { left: 1 } => f.write_str("draining: 1 pod left"),
            DrainState::Draining { left } => write!(f, "draining: {left} pods left"),
        }
    }
}

/// `shop/web-x (it has an emptyDir volume, whose data would be lost)`.
impl fmt::Display for BlockedPod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{} ({})", self.pod.namespace, self.pod.name, self.reason)
    }
}
