//! Why a node has no available pod, as data.

use daemonset_objects::internal::is_default;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Why a node has no available pod. Of several causes the first of this order counts: a cause that explains the others
/// comes before them, and a pod that is further on its way hides one that is not.
///
/// ```
/// use daemonset::{Recording, plan};
/// use daemonset::report::UnavailableCause;
/// use serde_json::{from_value, json};
///
/// # let daemon_set = json!({
/// #     "metadata": {"name": "agent", "namespace": "ns", "uid": "u1"},
/// #     "spec": {
/// #         "selector": {"matchLabels": {"app": "agent"}},
/// #         "template": {"metadata": {"labels": {"app": "agent"}}},
/// #         "updateStrategy": {"type": "RollingUpdate"},
/// #     },
/// # });
/// # let metadata = json!({
/// #     "name": "agent-x", "namespace": "ns", "uid": "p1", "labels": {"app": "agent"},
/// #     "ownerReferences": [{"uid": "u1", "controller": true}],
/// # });
/// let waiting = json!({"name": "c", "state": {"waiting": {"reason": "ImagePullBackOff"}}});
/// let recording: Recording = from_value(json!({
///     "now": "2026-01-01T12:00:00Z",
///     "daemonSet": daemon_set,
///     "nodes": [{"metadata": {"name": "a"}}, {"metadata": {"name": "b"}}],
///     "pods": [{"metadata": metadata, "spec": {"nodeName": "a"}, "status": {"containerStatuses": [waiting]}}],
/// }))?;
/// let report = plan(&recording.snapshot().unwrap()).report;
/// assert_eq!(report.nodes[0].unavailable, Some(UnavailableCause::Pulling));
/// assert_eq!(report.nodes[1].unavailable, Some(UnavailableCause::NoPod));
/// assert_eq!(report.unavailable.to_string(), "1 pulling, 1 without a pod");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum UnavailableCause {
    /// The update deleted its pod, and it is no target node any more
    /// ([`NodeOutcome::Waits(Wait::Return)`](crate::report::NodeOutcome::Waits(Wait::Return))).
    #[serde(rename = "Taken")]
    DeletedByUpdate,
    /// The node leaves, and the policy leaves it alone ([`LifecyclePolicy::Respect`](crate::policy::LifecyclePolicy::Respect)).
    LeftAlone,
    /// The node's condition Ready is not True.
    NodeDown,
    /// A pod is Ready, and has not been so for minReadySeconds yet.
    NotYetAvailable,
    /// A container ends again and again or can't be started, or a pod has failed.
    Crashing,
    /// The image of a container can't be had.
    Pulling,
    /// A pod waits for the scheduler.
    NotScheduled,
    /// A pod is not Ready, for another reason than those above.
    Starting,
    /// A terminating pod must be gone first.
    Terminating,
    /// No pod: it is missing, to be created, or created and not seen yet.
    NoPod,
    /// It is in turn: its available pod is about to go.
    InTurn,
}

// The last variant must stay the last one.
const _: () = assert!(UnavailableCause::ALL.len() == UnavailableCause::InTurn as usize + 1);

impl UnavailableCause {
    /// All causes, in their order.
    pub const ALL: [UnavailableCause; 11] = [
        UnavailableCause::DeletedByUpdate,
        UnavailableCause::LeftAlone,
        UnavailableCause::NodeDown,
        UnavailableCause::NotYetAvailable,
        UnavailableCause::Crashing,
        UnavailableCause::Pulling,
        UnavailableCause::NotScheduled,
        UnavailableCause::Starting,
        UnavailableCause::Terminating,
        UnavailableCause::NoPod,
        UnavailableCause::InTurn,
    ];

    /// The word that a message has for it.
    pub fn as_str(self) -> &'static str {
        match self {
            UnavailableCause::DeletedByUpdate => "taken",
            UnavailableCause::LeftAlone => "left alone",
            UnavailableCause::NodeDown => "node down",
            UnavailableCause::NotYetAvailable => "waiting for minReadySeconds",
            UnavailableCause::Crashing => "crashing",
            UnavailableCause::Pulling => "pulling",
            UnavailableCause::NotScheduled => "not scheduled",
            UnavailableCause::Starting => "starting",
            UnavailableCause::Terminating => "terminating",
            UnavailableCause::NoPod => "without a pod",
            UnavailableCause::InTurn => "in turn",
        }
    }
}

impl fmt::Display for UnavailableCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Numbers of nodes by the cause for which they have no available pod. All but `deleted_by_update` are target nodes that count in
/// [`Budget::unavailable`](crate::report::Budget::unavailable), whose sum is that figure: excused nodes are not among them. The JSON
/// form leaves out the causes without a node.
///
/// See the example of [`UnavailableCause`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct UnavailableNodes {
    /// [`UnavailableCause::DeletedByUpdate`].
    #[serde(rename = "taken", skip_serializing_if = "is_default")]
    pub deleted_by_update: u32,
    /// [`UnavailableCause::LeftAlone`].
    #[serde(skip_serializing_if = "is_default")]
    pub left_alone: u32,
    /// [`UnavailableCause::NodeDown`].
    #[serde(skip_serializing_if = "is_default")]
    pub node_down: u32,
    /// [`UnavailableCause::NotYetAvailable`].
    #[serde(skip_serializing_if = "is_default")]
    pub not_yet_available: u32,
    /// [`UnavailableCause::Crashing`].
    #[serde(skip_serializing_if = "is_default")]
    pub crashing: u32,
    /// [`UnavailableCause::Pulling`].
    #[serde(skip_serializing_if = "is_default")]
    pub pulling: u32,
    /// [`UnavailableCause::NotScheduled`].
    #[serde(skip_serializing_if = "is_default")]
    pub not_scheduled: u32,
    /// [`UnavailableCause::Starting`].
    #[serde(skip_serializing_if = "is_default")]
    pub starting: u32,
    /// [`UnavailableCause::Terminating`].
    #[serde(skip_serializing_if = "is_default")]
    pub terminating: u32,
    /// [`UnavailableCause::NoPod`].
    #[serde(skip_serializing_if = "is_default")]
    pub no_pod: u32,
    /// [`UnavailableCause::InTurn`].
    #[serde(skip_serializing_if = "is_default")]
    pub in_turn: u32,
}

impl UnavailableNodes {
    /// The causes that have nodes, in the order of [`UnavailableCause`].
    pub fn iter(&self) -> impl Iterator<Item = (UnavailableCause, u32)> {
        let counts = UnavailableCause::ALL.map(|cause| (cause, self.of(cause)));
        counts.into_iter().filter(|(_, nodes)| *nodes > 0)
    }

    /// The nodes of this cause.
    pub fn of(&self, cause: UnavailableCause) -> u32 {
        // The match below is the one list of the fields.
        let mut copy = *self;
        *copy.of_mut(cause)
    }

    pub(crate) fn of_mut(&mut self, cause: UnavailableCause) -> &mut u32 {
        match cause {
            UnavailableCause::DeletedByUpdate => &mut self.deleted_by_update,
            UnavailableCause::LeftAlone => &mut self.left_alone,
            UnavailableCause::NodeDown => &mut self.node_down,
            UnavailableCause::NotYetAvailable => &mut self.not_yet_available,
            UnavailableCause::Crashing => &mut self.crashing,
            UnavailableCause::Pulling => &mut self.pulling,
            UnavailableCause::NotScheduled => &mut self.not_scheduled,
            UnavailableCause::Starting => &mut self.starting,
            UnavailableCause::Terminating => &mut self.terminating,
            UnavailableCause::NoPod => &mut self.no_pod,
            UnavailableCause::InTurn => &mut self.in_turn,
        }
    }
}

/// `2 node down, 1 pulling`; empty if there is no such node.
impl fmt::Display for UnavailableNodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, (cause, nodes)) in self.iter().enumerate() {
            write!(f, "{}{nodes} {cause}", if position == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}
