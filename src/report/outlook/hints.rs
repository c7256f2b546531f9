//! Facts that no plan has, and by which an outlook knows more.

use daemonset_objects::model::NodeName;
use jiff::Timestamp;
use std::collections::BTreeMap;

/// Hints that nothing moves, which no plan has: the caller reads them from the objects.
///
/// ```
/// use daemonset::outlook::{ObstacleKind, Outlook, RolloutState, Hints};
/// use daemonset::{Recording, plan};
/// use jiff::SignedDuration;
///
/// // The plan deletes the pod of b.
/// let recording = Recording::from_json(&std::fs::read("examples/recording.json")?)?;
/// let (plan, now) = (plan(&recording.snapshot()?), recording.now);
/// let patience = SignedDuration::from_mins(10);
/// let stuck_by = |hints: Hints| {
///     let outlook = Outlook::with_hints(&plan, now, patience, &hints)?;
///     Ok(outlook.obstacles.first().map(|obstacle| obstacle.kind))
/// };
/// # let stuck_by = |hints| -> Result<Option<ObstacleKind>, daemonset::outlook::PartialReport> { stuck_by(hints) };
/// assert_eq!(stuck_by(Hints::default().last_change(now - patience / 2))?, None);
/// assert_eq!(stuck_by(Hints::default().last_change(now - patience))?, Some(ObstacleKind::NotDone));
/// assert_eq!(stuck_by(Hints::default().silent_node("b", Some(now - patience)))?, Some(ObstacleKind::NodeUnreachable));
/// assert_eq!(stuck_by(Hints::default().failing_node("a", now - patience))?, Some(ObstacleKind::Failing));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hints {
    pub(super) last_change: Option<Timestamp>,
    pub(super) silent_nodes: BTreeMap<NodeName, Option<Timestamp>>,
    pub(super) failing_nodes: BTreeMap<NodeName, Timestamp>,
}

impl Hints {
    /// When an object of the DaemonSet has changed last. Actions that have been due since then for longer than the caller's patience
    /// are an obstacle ([`ObstacleKind::NotDone`](super::ObstacleKind::NotDone)): a controller that runs does them within seconds. A
    /// deletion of the DaemonSet goes on within the patience ([`ObstacleKind::BeingDeleted`](super::ObstacleKind::BeingDeleted)).
    #[must_use]
    pub fn last_change(self, at: Timestamp) -> Self {
        Hints { last_change: Some(at), ..self }
    }

    /// A node whose condition Ready is Unknown, and since when: its kubelet does not report, so that no pod there ends, and none
    /// becomes Ready. An unknown instant counts as long ago.
    #[must_use]
    pub fn silent_node(mut self, node: impl Into<NodeName>, since: Option<Timestamp>) -> Self {
        self.silent_nodes.insert(node.into(), since);
        self
    }

    /// A node whose pods fail again and again, or whose pod crashes again and again, and since when: once that is longer ago than the caller's
    /// patience, it is an obstacle ([`ObstacleKind::Failing`](super::ObstacleKind::Failing)), though a new pod is made each time, or the pod is Ready for a moment
    /// after each start.
    #[must_use]
    pub fn failing_node(mut self, node: impl Into<NodeName>, since: Timestamp) -> Self {
        self.failing_nodes.insert(node.into(), since);
        self
    }
}
