//! The driver of one DaemonSet for callers that watch: a plan costs as much as the changes.

use crate::kept::{Change, Kept, about};
use daemonset::internal::{Placement, RestOfCluster, cut, decide, plan_decided, watch_for_bugs};
use daemonset::model::{NodeName, Owner, Uid};
use daemonset::outlook::Obstacles;
use daemonset::report::{ReportScope, Situation, Wait};
use daemonset::{
    Action, ActionOutcome, InvalidInput, Memory, Objects, ObservedAt, Plan, PlanError, Policy, Reconciler,
    Recorded, Recording, Report, Snapshot, plan,
};
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

/// Reconciles one DaemonSet from the changes of a watch. It keeps facts about all objects, so that the cost of a plan grows with the
/// changes since the last plan and with the actions that it gives, whatever the number of nodes.
///
/// The duties of its caller are those of a [`Reconciler`]'s, with another beginning: [list](Self::list) all objects once, and
/// [apply](Self::apply) each change; those of one name in their order, all others in any order. Wherever the changes do not suffice,
/// [`apply`](Self::apply) and [`plan`](Self::plan) say so: then all objects are listed again. After a watch was interrupted,
/// [`forget_objects`](Self::forget_objects) does the same. Changes show objects as lists do: with whole pods where the policy changes them
/// in place, and with [`NodeView::free`](daemonset::NodeView::free) where it asks for fit. A plan patches the version of a node that the
/// last change of it had: show heartbeats, too, or show the nodes that a plan patches once more and plan again. The pods are those of the template: callers with
/// [`Manifests`](daemonset::manifests::Manifests) use a [`Reconciler`].
///
/// ```
/// use daemonset::{NodeView, Observed, Policy, model};
/// use daemonset_incremental::{Change, Tracker};
/// use serde_json::{from_value, json};
///
/// # let daemon_set: model::DaemonSet = from_value(json!({
/// #     "metadata": {"name": "agent", "namespace": "ns", "uid": "u1"},
/// #     "spec": {"selector": {"matchLabels": {"app": "agent"}}, "template": {"metadata": {"labels": {"app": "agent"}}}},
/// # }))?;
/// let nodes: Vec<model::Node> = from_value(json!([{"metadata": {"name": "a"}}]))?;
/// # let (pods, revisions): (Vec<model::Pod>, Vec<model::ControllerRevision>) = (vec![], vec![]);
/// # let now: jiff::Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
/// let mut tracker = Tracker::new("u1", Policy::default());
/// let observed = Observed { daemon_set: &daemon_set, nodes: &nodes, pods: &pods, revisions: &revisions };
/// let plan = tracker.list(observed, now).unwrap();
/// assert_eq!(plan.actions[1].to_string(), "CreatePod on a, batch 0 (MissingPod)");
///
/// let joined: model::Node = from_value(json!({"metadata": {"name": "b"}}))?;
/// tracker.apply(Change::Node(NodeView::from(&joined))).unwrap();
/// let plan = tracker.plan(now).unwrap();
/// assert_eq!(plan.actions[2].to_string(), "CreatePod on b, batch 1 (MissingPod)");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug)]
pub struct Tracker {
    reconciler: Reconciler,
    /// The facts about all objects, or why they must be listed.
    kept: Result<Box<Kept>, NeedsLists>,
}

/// Why all objects must be [listed](Tracker::list) before the next plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NeedsLists {
    /// Nothing was listed yet, or since the objects were [forgotten](Tracker::forget_objects), other objects were
    /// [planned](Tracker::snapshot) or the policy has changed.
    #[error("the objects were not listed yet, or not since the tracker was told to forget them")]
    NotListed,
    /// A change of how objects are read: another kind, uid, selector or placement, another stable revision of a [steered
    /// rollout](field@daemonset::Policy::rollout), and any revision or spec where the template has lost fields
    /// ([`TemplateFidelity::Typed`](daemonset::model::TemplateFidelity)); or an object that
    /// [`check`](daemonset::SnapshotBuilder::check) refuses.
    #[error("a change concerns facts of objects that are not kept, or an object is invalid")]
    NotKept,
    /// This crate has met a bug of its own in a plan from changes. The plan of all objects may do without it.
    #[error("the plan from changes has met a bug of the planner")]
    Bug,
    /// The fleet has become much smaller: lists make the kept facts smaller, too.
    #[error("the fleet has become much smaller than what is kept of it")]
    Shrunk,
}

/// Why a plan could not be [verified](Tracker::verify).
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// There is no plan from changes to compare.
    #[error(transparent)]
    NeedsLists(#[from] NeedsLists),
    /// The listed objects have no plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The plan differs from that of the whole: a change was not applied, or this crate is wrong. The recording has the whole.
    #[error("the plan from applied changes differs from the plan of all objects: {}", cut(.difference, 300))]
    #[non_exhaustive]
    Diverged {
        /// The first difference, for a person. It has both values whole, and may be long: the text of the error has its first 300
        /// characters.
        difference: String,
        /// All objects, with the policy and the memory before the plan.
        recording: Box<Recording>,
    },
}

impl Tracker {
    /// A tracker of the `apps/v1` DaemonSet with this uid, which remembers nothing yet. For a custom kind see
    /// [`with_kind`](Self::with_kind).
    pub fn new(uid: impl Into<Uid>, policy: Policy) -> Self {
        Tracker::with_memory(uid, policy, Memory::default())
    }

    /// A tracker that goes on with a memory of the same DaemonSet, as [`Reconciler::with_memory`].
    pub fn with_memory(uid: impl Into<Uid>, policy: Policy, memory: Memory) -> Self {
        let reconciler = Reconciler::with_memory(uid, policy, memory);
        Tracker { reconciler, kept: Err(NeedsLists::NotListed) }
    }

    /// Makes it the tracker of a custom kind, as [`Reconciler::with_kind`]. It has listed nothing yet.
    #[must_use]
    pub fn with_kind(self, kind: Owner) -> Self {
        Tracker { reconciler: self.reconciler.with_kind(kind), kept: Err(NeedsLists::NotListed) }
    }

    /// Plans all objects as they are now, with the applied changes, and keeps their facts for the plans to come.
    ///
    /// # Errors
    /// As [`Reconciler::plan`]. The objects must be listed again.
    pub fn list<'a>(
        &mut self,
        objects: impl Into<Objects<'a>>,
        at: impl Into<ObservedAt>,
    ) -> Result<Plan, PlanError> {
        // The memory observes the objects beside the kept facts, which must not miss that.
        self.forget_objects();
        let snapshot = self.reconciler.checked(objects, at)?;
        let (planned, has_bug) = watch_for_bugs(|| {
            let decision = decide(&snapshot, RestOfCluster::none());
            let planned = plan_decided(&snapshot, &decision);
            let kept = Kept::new(&snapshot, &decision, &planned.report, self.reconciler.memory());
            (planned, kept)
        });
        let (planned, kept) = planned;
        if has_bug {
            return Err(PlanError::bug(Recording::from(&snapshot)));
        }
        self.reconciler.given(&planned);
        self.kept = Ok(Box::new(kept));
        Ok(planned)
    }

    /// The checked snapshot of these objects, as [`Reconciler::snapshot`]: for a plan of other objects than those that the changes
    /// are of, such as lists from storage. The kept facts are forgotten.
    ///
    /// # Errors
    /// As [`Reconciler::snapshot`].
    pub fn snapshot<'a>(
        &mut self,
        objects: impl Into<Objects<'a>>,
        at: impl Into<ObservedAt>,
    ) -> Result<Snapshot<'a>, InvalidInput> {
        // The memory observes the objects beside the kept facts, which must not miss that.
        self.forget_objects();
        self.reconciler.snapshot(objects, at)
    }

    /// Applies a change of one object, as a watch shows it.
    ///
    /// # Errors
    /// Where the change, or one before it, does not suffice for the next plan: all objects must be listed. The next
    /// [`plan`](Self::plan) says so as well.
    pub fn apply(&mut self, change: Change<'_>) -> Result<(), NeedsLists> {
        let kept = self.kept.as_mut().map_err(|needs_lists| *needs_lists)?;
        kept.apply(change, self.reconciler.memory()).map_err(|reason| self.lose(reason))
    }

    /// Plans from the applied changes.
    ///
    /// The plan is the same as that of all objects, but for [`Report::nodes`](daemonset::Report::nodes): it has the verdicts
    /// of the nodes that have changed and of those that the plan can touch. [`explain`](Self::explain) has all of them.
    ///
    /// # Errors
    /// Where the changes do not suffice: all objects must be [listed](Self::list). The memory is then as it was.
    pub fn plan(&mut self, at: impl Into<ObservedAt>) -> Result<Plan, NeedsLists> {
        let kept = self.kept.as_mut().map_err(|needs_lists| *needs_lists)?;
        if kept.is_sparse() {
            return Err(self.lose(NeedsLists::Shrunk));
        }
        // It may have taken in a part of the changes: the next plan must not go on with it.
        let plan = kept.plan(self.reconciler.memory_mut(), at.into()).map_err(|reason| self.lose(reason))?;
        self.reconciler.given(&plan);
        Ok(plan)
    }

    /// Forgets the objects. Returns the reason.
    fn lose(&mut self, reason: NeedsLists) -> NeedsLists {
        self.kept = Err(reason);
        reason
    }

    /// Plans from the applied changes and, if `is_due` says so of the plan, compares plan and memory with those of all objects, which must
    /// be as they are with the applied changes: `list` gives them, for a comparison alone, which costs as much as a plan of the whole.
    /// Debug builds and tests do this for each plan.
    ///
    /// # Errors
    /// [`Diverged`](VerifyError::Diverged) with a recording instead of a wrong plan. The memory is then as it was, and the objects
    /// are forgotten.
    pub fn verify<'a, O: Into<Objects<'a>>>(
        &mut self,
        is_due: impl FnOnce(&Plan) -> bool,
        list: impl FnOnce() -> O,
        at: impl Into<ObservedAt>,
    ) -> Result<Plan, VerifyError> {
        let at = at.into();
        let before = self.reconciler.memory().clone();
        let planned = self.plan(at)?;
        if !is_due(&planned) {
            return Ok(planned);
        }
        let builder = Snapshot::builder(list(), at).memory(&before).policy(self.policy());
        let snapshot = builder.check_of_kind(self.kind());
        let error = match &snapshot {
            Ok(snapshot) => match self.difference(&planned, &before, snapshot) {
                None => return Ok(planned),
                Some(difference) => {
                    VerifyError::Diverged { difference, recording: Box::new(Recording::from(snapshot)) }
                }
            },
            Err(invalid) => PlanError::from(invalid.clone()).into(),
        };
        drop(snapshot);
        // There is no plan: nothing was observed.
        *self.reconciler.memory_mut() = before;
        self.forget_objects();
        Err(error)
    }

    /// The first difference between a plan from changes, or the memory after it, and those of the whole.
    fn difference(&self, planned: &Plan, before: &Memory, snapshot: &Snapshot<'_>) -> Option<String> {
        let mut memory = before.clone();
        memory.observe(snapshot);
        let found = self.reconciler.memory();
        let of_memory = || (memory != *found).then(|| format!("memory: {found:?} instead of {memory:?}"));
        difference(planned, &plan(snapshot)).or_else(of_memory)
    }

    /// The plan that [`plan`](Self::plan) would give now, with the verdicts of all nodes. It changes nothing.
    ///
    /// # Errors
    /// As [`plan`](Self::plan).
    pub fn explain(&self, at: impl Into<ObservedAt>) -> Result<Plan, NeedsLists> {
        let kept = self.kept.as_ref().map_err(|needs_lists| *needs_lists)?;
        kept.explain(self.reconciler.memory(), at.into())
    }

    /// The nodes whose candidate [waits for something else than a limit](Wait::is_of_candidate) by the last plan, which is this one; by
    /// name, those without [room](Wait::Room) last. A plan from changes lacks the verdicts of most of them.
    pub fn waits<'t>(&'t self, plan: &'t Plan) -> impl Iterator<Item = (&'t NodeName, &'t Wait)> {
        let Report { nodes, scope, situation, .. } = &plan.report;
        let listed = (*scope == ReportScope::AllNodes).then_some(nodes).into_iter().flatten();
        let listed = listed.filter_map(|verdict| Some((&verdict.node, verdict.outcome.wait()?)));
        let is_kept = *scope == ReportScope::ChangedNodes && *situation == Situation::Synced;
        let kept = self.kept.iter().filter(move |_| is_kept).flat_map(|kept| kept.waits());
        listed.filter(|(_, wait)| wait.is_of_candidate()).chain(kept)
    }

    /// Lets the next plan need lists: after a watch was interrupted, say.
    pub fn forget_objects(&mut self) {
        self.lose(NeedsLists::NotListed);
    }

    /// Keeps the outcome of one action of the last plan, as [`Reconciler::record`].
    pub fn record(&mut self, action: &Action, outcome: &ActionOutcome, at: Timestamp) -> Recorded {
        let before = self.entries(action);
        let recorded = self.reconciler.record(action, outcome, at);
        self.recorded(action, &before);
        recorded
    }

    /// Takes an action back whose outcome was [`Unknown`](ActionOutcome::Unknown), as [`Reconciler::settle`].
    pub fn settle(&mut self, action: &Action, stored: &Snapshot<'_>) {
        let before = self.entries(action);
        self.reconciler.settle(action, stored);
        self.recorded(action, &before);
    }

    /// The entries of the memory that an action may change.
    fn entries(&self, action: &Action) -> Memory {
        if self.kept.is_err() { Memory::default() } else { about(self.reconciler.memory(), action) }
    }

    fn recorded(&mut self, action: &Action, before: &Memory) {
        if let Ok(kept) = &mut self.kept {
            kept.recorded(action, before, self.reconciler.memory());
        }
    }

    /// The uid of its DaemonSet.
    pub fn uid(&self) -> &Uid {
        self.reconciler.uid()
    }

    /// The kind that its DaemonSet must have.
    pub fn kind(&self) -> &Owner {
        self.reconciler.kind()
    }

    /// The memory: to keep over a restart, or to look at.
    pub fn memory(&self) -> &Memory {
        self.reconciler.memory()
    }

    /// The choices of the caller.
    pub fn policy(&self) -> &Policy {
        self.reconciler.policy()
    }

    /// Other choices, for which all objects must be listed. The same choices change nothing.
    pub fn set_policy(&mut self, policy: Policy) {
        if *self.policy() != policy {
            self.reconciler.set_policy(policy);
            self.forget_objects();
        }
    }

    /// Goes on with another DaemonSet, as [`Reconciler::reset`].
    pub fn reset(&mut self, uid: impl Into<Uid>) {
        self.reconciler.reset(uid);
        self.forget_objects();
    }
}

/// For the audit.
impl Tracker {
    /// The kept facts of these nodes, without their labels, and of the pods without a node. Returns the slots of the nodes that are there,
    /// too, in the order of the nodes.
    ///
    /// # Errors
    /// As [`plan`](Self::plan).
    pub(crate) fn kept_part(
        &self,
        slots: impl IntoIterator<Item = u32>,
        at: ObservedAt,
    ) -> Result<(Vec<u32>, Snapshot<'_>), NeedsLists> {
        let kept = self.kept.as_ref().map_err(|needs_lists| *needs_lists)?;
        Ok(kept.part(slots, self.reconciler.memory(), at))
    }

    /// The slots of the nodes whose facts have changed since the last call, or those of their pods, with nodes that are gone; `None` for
    /// all.
    ///
    /// # Errors
    /// As [`plan`](Self::plan).
    pub(crate) fn take_touched(&mut self) -> Result<Option<BTreeSet<u32>>, NeedsLists> {
        let kept = self.kept.as_mut().map_err(|needs_lists| *needs_lists)?;
        Ok(kept.take_touched())
    }

    /// For each wave of the rollout policy, whether its selector matches the labels of the node in this slot.
    pub(crate) fn wave_matches(&self, slot: u32) -> impl Iterator<Item = bool> {
        self.kept.iter().flat_map(move |kept| kept.wave_matches(slot))
    }

    /// Whether the node in this slot should run a pod of the revision with this uid; `None` if that one is not the stable revision of the rollout.
    pub(crate) fn stable_placement(&self, slot: u32, uid: &str) -> Option<Placement> {
        self.kept.as_ref().ok()?.stable_placement(slot, uid)
    }

    /// The slots of all nodes.
    pub(crate) fn node_slots(&self) -> impl Iterator<Item = u32> {
        self.kept.iter().flat_map(|kept| kept.all_slots())
    }

    /// The slots of the nodes that the memory has an entry of, or of a pod of theirs; some more than once.
    pub(crate) fn remembered_slots(&self) -> impl Iterator<Item = u32> {
        self.kept.iter().flat_map(|kept| kept.remembered_slots(self.reconciler.memory()))
    }

    /// The slots of the nodes in turn, and of those with a pull pod or a pod that was changed in its place, as the last plan found them.
    pub(crate) fn slots_of_turns(&self) -> impl Iterator<Item = u32> {
        self.kept.iter().flat_map(|kept| kept.slots_of_turns())
    }

    /// The slot of the node with this name.
    pub(crate) fn node_slot(&self, name: &str) -> Option<u32> {
        self.kept.as_ref().ok()?.node_slot(name)
    }

    /// The slot of the node of the pod with this name.
    pub(crate) fn node_slot_of_pod(&self, name: &str) -> Option<u32> {
        self.kept.as_ref().ok()?.node_slot_of_pod(name)
    }
}

/// The first action in which two lists differ, with its position; `None` for the end of a list.
fn different_action<'a>(
    one: &'a [Action],
    other: &'a [Action],
) -> Option<(usize, Option<&'a Action>, Option<&'a Action>)> {
    let mut positions = 0..one.len().max(other.len());
    let index = positions.find(|index| one.get(*index) != other.get(*index))?;
    Some((index, one.get(index), other.get(index)))
}

/// The first difference between a plan from changes and the plan of the whole.
pub fn difference(plan: &Plan, whole: &Plan) -> Option<String> {
    let differs = |what: &str, one: &dyn std::fmt::Debug, other: &dyn std::fmt::Debug| {
        Some(format!("{what}: {one:?} instead of {other:?}"))
    };
    if let Some((index, one, other)) = different_action(&plan.actions, &whole.actions) {
        return differs(&format!("action {index}"), &one, &other);
    }
    if plan.status != whole.status {
        return differs("status", &plan.status, &whole.status);
    }
    if plan.warnings != whole.warnings {
        return differs("warnings", &plan.warnings, &whole.warnings);
    }
    let frame = |plan: &Plan| {
        let mut report = plan.report.clone();
        (report.nodes, report.scope, report.others) = Default::default();
        report
    };
    if frame(plan) != frame(whole) {
        return differs("report", &frame(plan), &frame(whole));
    }
    let [obstacles, of_all] = [plan, whole].map(Obstacles::new);
    if obstacles != of_all {
        return differs("obstacles", &obstacles, &of_all);
    }
    let of_whole: BTreeMap<_, _> =
        whole.report.nodes.iter().map(|verdict| (&verdict.node, verdict)).collect();
    let verdict = plan.report.nodes.iter().find(|verdict| of_whole.get(&verdict.node) != Some(verdict))?;
    differs("verdict", verdict, &of_whole.get(&verdict.node))
}
