//! Plans from changes, judged by the objects that a tracker keeps.

use crate::context::Context;
use crate::fleet::{Fleet, Sums};
use crate::goals::Goals;
use crate::limits::{is_last, leaves_last};
use crate::violation::{Findings, Violation};
use crate::{audit, check_objects, list, status};
use daemonset::internal::{IndexVec, NodeIx, Strategy};
use daemonset::model::Toleration;
use daemonset::{Action, ObservedAt, PodView, Snapshot};
use daemonset_incremental::{NeedsLists, Tracker};
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

/// Why a tracker does not keep the objects that an audit needs. [`audit()`] of a snapshot of all objects has an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NotKept {
    /// No objects are kept: the next plan needs lists, too.
    #[error(transparent)]
    NeedsLists(#[from] NeedsLists),
    /// The labels of nodes, by which the waves of a [rollout policy](field@daemonset::Policy::rollout) choose nodes.
    #[error("the labels of nodes are not kept, and the waves of a rollout policy need them")]
    NodeLabels,
}

/// As [`audit()`], by the objects that a tracker keeps for its plans, at this instant.
///
/// An object of another owner is not kept: an action on it is an [`UnknownObject`](crate::ViolationKind::UnknownObject). The cost
/// grows as nodes and pods do.
///
/// ```
/// use daemonset::{Observed, Policy, model};
/// use daemonset_incremental::{NeedsLists, Tracker};
/// use daemonset_audit::{NotKept, audit_kept};
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
    let (_, snapshot) = tracker.kept_part(tracker.node_slots(), at.into())?;
    if tracker.policy().rollout.is_some() {
        return Err(NotKept::NodeLabels);
    }
    Ok(audit(&snapshot, actions))
}

/// Judges the plans of one [`Tracker`], each at the cost of the changes since the last one.
///
/// It counts each kept node once, apart from the planner, and again when something about the node has changed. A list with an action
/// on a revision is judged by all kept objects, as [`audit_kept`] does: such lists are few.
///
/// ```
/// use daemonset::{Observed, Policy, model};
/// use daemonset_audit::Auditor;
/// use daemonset_incremental::Tracker;
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
}

/// The kept nodes, counted.
#[derive(Debug, Default)]
struct Counted {
    /// `None` where no node is counted.
    basis: Option<Basis>,
    nodes: BTreeMap<u32, CountedNode>,
    sums: Sums,
    /// When time alone changes the counts of a node.
    due: BTreeSet<(Timestamp, u32)>,
    /// Nodes that the memory had an entry of.
    remembered: BTreeSet<u32>,
    now: Timestamp,
}

/// A counted node.
#[derive(Debug, Clone, Copy)]
struct CountedNode {
    sums: Sums,
    due: Option<Timestamp>,
}

/// The parts of the DaemonSet and of its revisions on which the counts of every node rest.
#[derive(Debug, PartialEq)]
struct Basis {
    surges: bool,
    min_ready_seconds: i32,
    template_generation: Option<String>,
    tolerations: Vec<Toleration>,
    current: Option<(String, Option<Timestamp>)>,
    /// Each revision's hash, and whether it has the template.
    hashes: Vec<(String, bool)>,
}

impl Basis {
    fn new(context: &Context<'_>) -> Self {
        let spec = context.snapshot.spec();
        let members = context.lineage.members.iter().chain(context.lineage.current());
        Basis {
            surges: matches!(spec.strategy, Strategy::Surge { .. }),
            min_ready_seconds: spec.daemon_set.spec.min_ready_seconds,
            template_generation: spec.template_generation.clone(),
            tolerations: spec.template.tolerations.clone(),
            current: context
                .lineage
                .current()
                .map(|member| (member.view.uid.to_owned(), member.view.created_at)),
            hashes: members.map(|member| (member.hash.to_owned(), member.equal)).collect(),
        }
    }
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
        if tracker.policy().rollout.is_some() || actions.is_empty() || has_revisions(actions) {
            return audit_kept(tracker, actions, at);
        }
        let touched = tracker.take_touched()?;
        // With a clock that goes back, a pod that was available may be so no longer.
        if touched.is_none() || at.now < self.counted.now {
            self.counted = Counted::default();
        }
        if let Some(touched) = touched.filter(|_| self.counted.basis.is_some()) {
            let mut slots = touched;
            slots.extend(self.counted.due_again(at.now));
            slots.extend(tracker.remembered_slots());
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
    fn judge(
        &mut self,
        tracker: &Tracker,
        slots: BTreeSet<u32>,
        actions: &[Action],
        at: ObservedAt,
    ) -> Result<Option<Vec<Violation>>, NotKept> {
        // Nodes that are gone count no more.
        self.counted.forget(slots.iter());
        let (slots, snapshot) = tracker.kept_part(slots, at)?;
        let goals = Goals::new(&snapshot, actions);
        let context = Context::new(&snapshot, &goals, actions);
        let basis = Basis::new(&context);
        if self.counted.basis.as_ref().is_some_and(|known| *known != basis) {
            return Ok(None);
        }
        let fleet = Fleet::new(&context);
        let part = self.counted.count(&context, &fleet, &slots);
        (self.counted.basis, self.counted.now) = (Some(basis), at.now);
        self.counted.remembered = tracker.remembered_slots().collect();
        let mut others = self.counted.sums;
        others.subtract(part);
        let mut findings = Findings::new(&snapshot, actions);
        list::check(&snapshot, actions, &mut findings);
        status::check(&snapshot, &goals, others, actions, &mut findings);
        if !status::check_untouched(&snapshot, actions, &mut findings) {
            check_objects(&context, fleet.beside(others), &mut findings);
        }
        Ok(Some(findings.in_order()))
    }
}

impl Counted {
    /// The slots of the nodes that must be counted again though nothing about them need have changed: time alone changes them, or the
    /// memory had an entry of them.
    fn due_again(&self, now: Timestamp) -> impl Iterator<Item = u32> {
        let due = self.due.range(..=(now, u32::MAX)).map(|(_, slot)| *slot);
        due.chain(self.remembered.iter().copied())
    }

    /// Takes the counts of nodes back.
    fn forget<'s>(&mut self, slots: impl Iterator<Item = &'s u32>) {
        for slot in slots {
            if let Some(CountedNode { sums, due }) = self.nodes.remove(slot) {
                self.sums.subtract(sums);
                due.map(|due| self.due.remove(&(due, *slot)));
            }
        }
    }

    /// Counts the nodes of a part, which are in these slots. Returns their sums.
    fn count(&mut self, context: &Context<'_>, fleet: &Fleet, slots: &[u32]) -> Sums {
        let mut counted: IndexVec<NodeIx, CountedNode> =
            fleet.nodes.iter().map(|node| CountedNode { sums: node.sums(), due: None }).collect();
        let surges = matches!(context.snapshot.spec().strategy, Strategy::Surge { .. });
        for (_, pod, facts) in context.own_pods() {
            let Some(node) = facts.node else { continue };
            let stage = context.stages.stage(pod, facts, &context.lineage);
            let leaves = surges && is_last(stage) && leaves_last(context, fleet, node, pod);
            let due = changes_at(context.snapshot, pod);
            counted.change(node, |counted| {
                counted.sums.leaving |= u32::from(leaves);
                counted.due = [counted.due, due].into_iter().flatten().min();
            });
        }
        let mut part = Sums::default();
        for (slot, counted) in slots.iter().zip(counted.iter()) {
            part.add(counted.sums);
            counted.due.map(|due| self.due.insert((due, *slot)));
            self.nodes.insert(*slot, *counted);
        }
        self.sums.add(part);
        part
    }
}

/// When time alone changes the stage of a pod, or its place in maxSurge.
fn changes_at(snapshot: &Snapshot<'_>, pod: &PodView<'_>) -> Option<Timestamp> {
    let available_at = || pod.ready_since?.checked_add(snapshot.spec().min_ready()).ok();
    let available_at = if pod.ready.is_true() { available_at() } else { None };
    [available_at, pod.deleted_at].into_iter().flatten().filter(|at| snapshot.now() < *at).min()
}

/// The rules of revisions need the pods of all nodes.
fn has_revisions(actions: &[Action]) -> bool {
    actions.iter().any(|action| action.noun() == "revision")
}

/// The slots of the nodes that an action names, by itself or by its pod.
fn slots_of(tracker: &Tracker, action: &Action) -> impl Iterator<Item = u32> + use<> {
    let pod = action.subject().map(|pod| pod.name.as_str());
    let named = action.node().and_then(|node| tracker.node_slot(node.as_str()));
    [named, pod.and_then(|pod| tracker.node_slot_of_pod(pod))].into_iter().flatten()
}
