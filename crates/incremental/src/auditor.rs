//! Plans from changes, judged by the facts that a tracker keeps. The rules are those of the crate daemonset-audit.

use crate::{NeedsLists, Tracker};
use daemonset::internal::{CompiledTemplate, NodeIx, Placement, Position};
use daemonset::model::NodeName;
use daemonset::{Action, ObservedAt};
use daemonset_audit::Violation;
use daemonset_audit::internal::{Counted, Surroundings, audit_in};
use std::collections::BTreeSet;
use std::sync::Arc;
use thiserror::Error;

/// Why a tracker does not keep the objects that an audit needs. [`audit()`](daemonset_audit::audit()) of a snapshot of all objects has an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NotKept {
    /// No objects are kept: the next plan needs lists, too.
    #[error(transparent)]
    NeedsLists(#[from] NeedsLists),
    /// The placements of nodes by the template of the stable revision of a [rollout](field@daemonset::Policy::rollout): the last plan knew another stable revision,
    /// or ended before it chose one.
    #[error(
        "which nodes should run a pod of the stable revision is not kept: the last plan knew another stable revision"
    )]
    OtherStableRevision,
}

/// As [`audit()`](daemonset_audit::audit()), by the objects that a tracker keeps for its plans, at this instant.
///
/// An object of another owner is not kept: an action on it is an [`UnknownObject`](daemonset_audit::ViolationKind::UnknownObject). The cost
/// grows as nodes and pods do.
///
/// ```
/// use daemonset::{Observed, Policy, model};
/// use daemonset_incremental::{NeedsLists, NotKept, Tracker, audit_kept};
/// use serde_json::{from_value, json};
///
/// # let daemon_set: model::DaemonSet = from_value(json!({
/// #     "metadata": {"name": "agent", "namespace": "ns", "uid": "u1"},
/// #     "spec": {"selector": {"matchLabels": {"app": "agent"}}, "template": {"metadata": {"labels": {"app": "agent"}}}},
/// # }))?;
/// # let nodes: Vec<model::Node> = from_value(json!([{"metadata": {"name": "a"}}]))?;
/// # let (pods, revisions): (Vec<model::Pod>, Vec<model::ControllerRevision>) = (vec![], vec![]);
/// # let now: jiff::Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
/// let mut tracker = Tracker::new("u1", Policy::default());
/// assert_eq!(audit_kept(&tracker, &[], now), Err(NotKept::NeedsLists(NeedsLists::NotListed)));
///
/// let observed = Observed { daemon_set: &daemon_set, nodes: &nodes, pods: &pods, revisions: &revisions };
/// let plan = tracker.list(observed, now).unwrap();
/// assert_eq!(audit_kept(&tracker, &plan.actions, now), Ok(vec![]));
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Errors
/// The reason why the objects that an audit needs are not kept.
pub fn audit_kept(
    tracker: &Tracker,
    actions: &[Action],
    at: impl Into<ObservedAt>,
) -> Result<Vec<Violation>, NotKept> {
    let (slots, snapshot) = tracker.kept_part(tracker.node_slots(), at.into())?;
    audit_in(&snapshot, &KeptFacts { tracker, slots: &slots }, actions)
}

/// Judges the plans of one [`Tracker`], each at the cost of the changes since the last one.
///
/// It counts each kept node once, apart from the planner, and again when something about the node has changed; so it does with the waves of a
/// rollout policy and with the pods of each revision. All nodes are counted again where the counts of each rest on another basis:
///
/// - after the objects were listed again, and where most nodes have changed;
/// - when a revision with another template becomes current, or another revision becomes the stable revision;
/// - when a hash label of pods means another template than before;
/// - with another strategy, `minReadySeconds`, tolerations of the template or template generation;
/// - when the clock goes back.
///
/// ```
/// use daemonset::{Observed, Policy, model};
/// use daemonset_incremental::{Auditor, Tracker};
/// use serde_json::{from_value, json};
///
/// # let daemon_set: model::DaemonSet = from_value(json!({
/// #     "metadata": {"name": "agent", "namespace": "ns", "uid": "u1"},
/// #     "spec": {"selector": {"matchLabels": {"app": "agent"}}, "template": {"metadata": {"labels": {"app": "agent"}}}},
/// # }))?;
/// # let nodes: Vec<model::Node> = from_value(json!([{"metadata": {"name": "a"}}]))?;
/// # let (pods, revisions): (Vec<model::Pod>, Vec<model::ControllerRevision>) = (vec![], vec![]);
/// # let now: jiff::Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
/// let (mut tracker, mut auditor) = (Tracker::new("u1", Policy::default()), Auditor::default());
/// let observed = Observed { daemon_set: &daemon_set, nodes: &nodes, pods: &pods, revisions: &revisions };
/// let plan = tracker.list(observed, now).unwrap();
/// assert_eq!(auditor.audit(&mut tracker, &plan.actions, now), Ok(vec![]));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Auditor {
    counted: Counted,
    /// The nodes that the memory had an entry of when they were counted.
    remembered: BTreeSet<u32>,
}

impl Auditor {
    /// As [`audit_kept`], at the cost of the changes since the last call with this tracker.
    ///
    /// # Errors
    /// As [`audit_kept`].
    pub fn audit(
        &mut self,
        tracker: &mut Tracker,
        actions: &[Action],
        at: impl Into<ObservedAt>,
    ) -> Result<Vec<Violation>, NotKept> {
        let at = at.into();
        let touched = tracker.take_touched()?;
        // With a clock that goes back, a pod that was available may be so no longer.
        if touched.is_none() || at.now < self.counted.now() {
            self.counted = Counted::default();
        }
        if let Some(touched) = touched.filter(|_| self.counted.has_nodes()) {
            let mut slots = touched;
            slots.extend(self.counted.due(at.now));
            slots.extend(&self.remembered);
            slots.extend(tracker.remembered_slots());
            // The rules of turns and pulls look at all such nodes together.
            slots.extend(tracker.slots_of_turns());
            slots.extend(actions.iter().flat_map(|action| slots_of(tracker, action)));
            if let Some(violations) = self.judge(tracker, slots, actions, at)? {
                return Ok(violations);
            }
            // The basis of all counts has changed.
            self.counted = Counted::default();
        }
        let slots = tracker.node_slots().collect();
        Ok(self.judge(tracker, slots, actions, at)?.unwrap_or_default())
    }

    /// Counts the nodes in these slots again, and judges the actions beside all others. `None` if the others rest on another basis.
    ///
    /// # Errors
    /// As [`audit_kept`]. Then no node is counted.
    fn judge(
        &mut self,
        tracker: &Tracker,
        slots: BTreeSet<u32>,
        actions: &[Action],
        at: ObservedAt,
    ) -> Result<Option<Vec<Violation>>, NotKept> {
        let mut counted = std::mem::take(&mut self.counted);
        // Nodes that are gone count no more.
        counted.forget(slots.iter());
        let (slots, snapshot) = tracker.kept_part(slots, at)?;
        let violations = counted.judge(&snapshot, &KeptFacts { tracker, slots: &slots }, actions)?;
        if violations.is_some() {
            self.counted = counted;
            self.remembered = tracker.remembered_slots().collect();
        }
        Ok(violations)
    }
}

/// The facts that a snapshot of the kept nodes in these slots lacks.
struct KeptFacts<'t> {
    tracker: &'t Tracker,
    slots: &'t [u32],
}

impl Surroundings for KeptFacts<'_> {
    type Error = NotKept;

    fn key(&self, node: NodeIx) -> u32 {
        self.slots.get(node.index()).copied().unwrap_or(u32::MAX)
    }

    fn matches(&self, node: NodeIx) -> Arc<[bool]> {
        self.tracker.wave_matches(self.key(node)).collect()
    }

    fn placement_by(&self, stable: &str, _: &CompiledTemplate, node: NodeIx) -> Result<Placement, NotKept> {
        self.tracker.stable_placement(self.key(node), stable).ok_or(NotKept::OtherStableRevision)
    }
}

/// The slots of the nodes that an action names, by itself or by its pod.
fn slots_of(tracker: &Tracker, action: &Action) -> impl Iterator<Item = u32> + use<> {
    let subject = action.subject().map(|subject| subject.name.as_str());
    let node = match action {
        Action::PatchNode { .. } => subject,
        _ => action.node().map(NodeName::as_str),
    };
    let named = node.and_then(|node| tracker.node_slot(node));
    [named, subject.and_then(|pod| tracker.node_slot_of_pod(pod))].into_iter().flatten()
}
