//! The driver of one DaemonSet: it keeps the order of the calls and the memory between them.

use crate::action::Action;
use crate::audit::{Violation, audit};
use crate::kept::{Change, Kept};
use crate::manifests::{CustomSnapshot, Manifests, PlanError};
use crate::memory::{ActionOutcome, Memory};
use crate::model::Uid;
use crate::problem::{InvalidSnapshot, cut};
use crate::reconcile::actions::FromTemplate;
use crate::reconcile::steps::decide;
use crate::reconcile::{plan, plan_decided};
use crate::recording::Recording;
use crate::report::{Plan, Report, ReportScope};
use crate::snapshot::{Observed, ObservedAt, Policy, Snapshot};
use crate::view::{NodeView, PodView, RevisionView};
use jiff::Timestamp;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use thiserror::Error;

/// Reconciles one DaemonSet, call after call, and remembers between the calls the actions that a stale cache does not
/// show yet, the back-off of failed pods and the updates that were rejected.
///
/// The duties of its caller: list all objects of [`Observed`] anew for each plan, or [apply](Self::apply) each change; execute
/// the batches in order, the actions of one batch at the same time if it likes; record the outcome of each; stop after a batch in
/// which [`record`](Self::record) says so, and plan again.
///
/// ```
/// use daemonset::{Action, ActionOutcome, InvalidSnapshot, Observed, Reconciler, model};
///
/// fn sync(
///     reconciler: &mut Reconciler, // Reconciler::new(uid, Policy::default()), kept for as long as the DaemonSet
///     daemon_set: &model::DaemonSet,
///     (nodes, pods, revisions): (&[model::Node], &[model::Pod], &[model::ControllerRevision]),
///     now: jiff::Timestamp,
///     execute: impl Fn(&Action) -> ActionOutcome, // your client
/// ) -> Result<(), InvalidSnapshot> {
///     let plan = reconciler.plan(Observed { daemon_set, nodes, pods, revisions }, now)?;
///     for batch in plan.batches() {
///         let mut ended_by = None;
///         for action in batch {
///             if reconciler.record(action, &execute(action), now).is_break() {
///                 ended_by = ended_by.or(Some(action));
///             }
///         }
///         if let Some(action) = ended_by {
///             for action in plan.after_break(action) {
///                 let _ = reconciler.record(action, &execute(action), now);
///             }
///             break; // and plan again: at reconciler.memory().retry_at(), unless an object changes before
///         }
///     }
///     Ok(())
/// }
/// ```
///
/// Beneath it are pure functions for callers that keep their own order: [`snapshot`](Self::snapshot) gives the checked
/// input for [`reconcile`](crate::reconcile), [`plan`], [`audit`](crate::audit) and a
/// [`Recording`](crate::Recording).
#[doc(alias = "ControllerExpectations")]
#[derive(Debug)]
pub struct Reconciler {
    uid: Uid,
    policy: Policy,
    memory: Memory,
    /// The state that applied changes are kept in; the objects give it anew.
    kept: Option<Box<Kept>>,
    verification: Verification,
}

/// How often a plan from applied changes is compared with that of the whole.
#[derive(Debug, Clone, Copy, Default)]
struct Verification {
    /// Never, if 0.
    every: u32,
    /// Plans since the last comparison.
    plans: u32,
}

impl Verification {
    /// Counts a plan. Returns whether it is one to compare.
    fn is_due(&mut self) -> bool {
        self.plans = if self.plans + 1 < self.every { self.plans + 1 } else { 0 };
        self.every > 0 && self.plans == 0
    }
}

/// Why there is no plan from applied changes.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ChangesError {
    /// The listed objects are invalid.
    #[error(transparent)]
    Invalid(#[from] InvalidSnapshot),
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

impl Reconciler {
    /// A reconciler of the DaemonSet with this uid, which remembers nothing yet.
    pub fn new(uid: impl Into<Uid>, policy: Policy) -> Self {
        Reconciler::with_memory(uid, policy, Memory::default())
    }

    /// A reconciler that goes on with a memory of the same DaemonSet, read from a file after a restart, say.
    ///
    /// A reconciler has no clone, which would plan the same actions a second time. Where two of them are wanted, one to compare with
    /// the other, the second one is made from the memory of the first:
    ///
    /// ```
    /// # use daemonset::{Policy, Reconciler};
    /// # let first = Reconciler::new("u1", Policy::default());
    /// let second = Reconciler::with_memory(first.uid().clone(), first.policy().clone(), first.memory().clone());
    /// ```
    ///
    /// ```compile_fail,E0599
    /// # let first = daemonset::Reconciler::new("u1", daemonset::Policy::default());
    /// let second = first.clone();
    /// ```
    pub fn with_memory(uid: impl Into<Uid>, policy: Policy, memory: Memory) -> Self {
        Reconciler { uid: uid.into(), policy, memory, kept: None, verification: Verification::default() }
    }

    /// Plans for the observed objects, and forgets the accepted actions that they show. `at` is the instant, or an
    /// [`ObservedAt`] with the version of the list of pods.
    ///
    /// A DaemonSet with another uid is another DaemonSet, even under the same name: the memory starts afresh.
    ///
    /// # Errors
    /// Every problem of the input at once, as [`SnapshotBuilder::check`](crate::SnapshotBuilder::check). The memory is
    /// then as it was.
    pub fn plan<'a, N, P, R>(
        &mut self,
        observed: Observed<'a, N, P, R>,
        at: impl Into<ObservedAt>,
    ) -> Result<Plan, InvalidSnapshot>
    where
        N: IntoIterator<Item: Into<NodeView<'a>>>,
        P: IntoIterator<Item: Into<PodView<'a>>>,
        R: IntoIterator<Item: Into<RevisionView<'a>>>,
    {
        self.snapshot(observed, at).map(|snapshot| plan(&snapshot))
    }

    /// As [`plan`](Self::plan), with objects that the caller makes.
    ///
    /// # Errors
    /// As [`plan`](Self::plan), and the first manifest that must not be created.
    pub fn plan_with<'a, N, P, R>(
        &mut self,
        observed: Observed<'a, N, P, R>,
        manifests: &dyn Manifests,
        at: impl Into<ObservedAt>,
    ) -> Result<Plan, PlanError>
    where
        N: IntoIterator<Item: Into<NodeView<'a>>>,
        P: IntoIterator<Item: Into<PodView<'a>>>,
        R: IntoIterator<Item: Into<RevisionView<'a>>>,
    {
        Ok(self.snapshot_with(observed, manifests, at)?.plan()?)
    }

    /// As [`snapshot`](Self::snapshot), with objects that the caller makes.
    ///
    /// # Errors
    /// As [`plan`](Self::plan).
    pub fn snapshot_with<'a, 'm, N, P, R>(
        &mut self,
        observed: Observed<'a, N, P, R>,
        manifests: &'m dyn Manifests,
        at: impl Into<ObservedAt>,
    ) -> Result<CustomSnapshot<'a, 'm>, InvalidSnapshot>
    where
        N: IntoIterator<Item: Into<NodeView<'a>>>,
        P: IntoIterator<Item: Into<PodView<'a>>>,
        R: IntoIterator<Item: Into<RevisionView<'a>>>,
    {
        let snapshot = self.snapshot_of(observed, manifests.ingredients(), at)?;
        Ok(CustomSnapshot { snapshot, manifests })
    }

    /// The checked snapshot that [`plan`](Self::plan) decides on, with this reconciler's policy and memory. The memory
    /// has observed it.
    ///
    /// # Errors
    /// As [`plan`](Self::plan).
    pub fn snapshot<'a, N, P, R>(
        &mut self,
        observed: Observed<'a, N, P, R>,
        at: impl Into<ObservedAt>,
    ) -> Result<Snapshot<'a>, InvalidSnapshot>
    where
        N: IntoIterator<Item: Into<NodeView<'a>>>,
        P: IntoIterator<Item: Into<PodView<'a>>>,
        R: IntoIterator<Item: Into<RevisionView<'a>>>,
    {
        self.snapshot_of(observed, Value::Null, at)
    }

    fn snapshot_of<'a, N, P, R>(
        &mut self,
        observed: Observed<'a, N, P, R>,
        ingredients: Value,
        at: impl Into<ObservedAt>,
    ) -> Result<Snapshot<'a>, InvalidSnapshot>
    where
        N: IntoIterator<Item: Into<NodeView<'a>>>,
        P: IntoIterator<Item: Into<PodView<'a>>>,
        R: IntoIterator<Item: Into<RevisionView<'a>>>,
    {
        let uid = &observed.daemon_set.metadata.uid;
        let another = (self.uid != *uid).then(|| uid.clone());
        let afresh = Memory::default();
        let memory = if another.is_some() { &afresh } else { &self.memory };
        let builder = Snapshot::new(observed, at).memory(memory).policy(&self.policy);
        let snapshot = builder.ingredients(ingredients).check()?;
        // The memory observes the objects beside the kept state, which must not miss that.
        self.kept = None;
        // Nothing changes here before the input is known to be valid.
        if let Some(uid) = another {
            (self.uid, self.memory) = (uid, afresh);
        }
        self.memory.observe(&snapshot);
        Ok(snapshot)
    }

    /// Keeps the outcome of one action of the last plan; `at` is the time at which the outcome was known.
    ///
    /// `Break` after an outcome that ends the plan: the actions of later batches rest on this one. The other actions of
    /// the same batch do not, and their outcomes are recorded, too. Some actions are [due all the same](Plan::after_break).
    /// The next plan is due when an object changes, or at [`Memory::retry_at`]: planned again at once, the same action could be
    /// rejected in a loop.
    #[must_use = "`Break` ends the plan: of the later batches only `Plan::after_break` is due; then plan again"]
    pub fn record(&mut self, action: &Action, outcome: &ActionOutcome, at: Timestamp) -> ControlFlow<()> {
        let before = self.entries(action);
        self.memory.record(action, outcome, at);
        self.recorded(action, &before);
        match outcome {
            ActionOutcome::Created(_) | ActionOutcome::Done | ActionOutcome::Changed(_) => {
                ControlFlow::Continue(())
            }
            ActionOutcome::Rejected | ActionOutcome::Unknown => ControlFlow::Break(()),
        }
    }

    /// Takes an action back whose outcome was [`Unknown`](ActionOutcome::Unknown), where storage shows that it was not
    /// done: see [`Memory::settle`] for the requirements on `stored`.
    pub fn settle(&mut self, action: &Action, stored: &Snapshot<'_>) {
        let before = self.entries(action);
        self.memory.settle(action, stored);
        self.recorded(action, &before);
    }

    /// The entries of the memory that an action may change.
    fn entries(&self, action: &Action) -> Memory {
        if self.kept.is_none() { Memory::default() } else { self.memory.about(action) }
    }

    fn recorded(&mut self, action: &Action, before: &Memory) {
        if let Some(kept) = &mut self.kept {
            kept.recorded(action, before, &self.memory);
        }
    }

    /// Applies a change of one object, as a watch shows it, for [`plan_changes`](Self::plan_changes). Before the first plan
    /// it does nothing, since that plan lists all objects.
    pub fn apply(&mut self, change: Change<'_>) {
        let Some(kept) = &mut self.kept else { return };
        if kept.apply(change, &self.memory).is_err() {
            self.kept = None;
        }
    }

    /// Plans from the [applied](Self::apply) changes: its cost grows with the changes since the last plan and with the actions
    /// that it gives, whatever the number of nodes.
    ///
    /// `list` gives all objects as they are with the applied changes. It must be right at each call, since it is called wherever
    /// the changes do not suffice:
    ///
    /// - for the first plan, and after [`plan`](Self::plan), [`snapshot`](Self::snapshot),
    ///   [`set_policy`](Self::set_policy) with another policy or [`forget_objects`](Self::forget_objects);
    /// - after a change of how objects are read: another uid, selector or placement, another base of a [steered
    ///   rollout](field@crate::Policy::rollout), and any revision or spec where the template has lost fields
    ///   ([`TemplateFidelity::Typed`](crate::model::TemplateFidelity));
    /// - after an object that [`check`](crate::SnapshotBuilder::check) refuses, and once the fleet is much smaller;
    /// - for each comparison of [`verify_every`](Self::verify_every).
    ///
    /// Every change must have been applied: those of one name in their order, all others in any order. After a watch has been
    /// interrupted, [`forget_objects`](Self::forget_objects) lets the next plan list the objects again. The pods are those of the
    /// template: callers with [`Manifests`] use [`plan_with`](Self::plan_with).
    ///
    /// The plan is the same as that of all objects, but for [`Report::nodes`](crate::Report::nodes): it has the verdicts
    /// of the nodes that have changed and of those that the plan can touch. [`explain`](Self::explain) has all of them.
    ///
    /// ```
    /// use daemonset::{Change, NodeView, Observed, Policy, Reconciler, model};
    /// use serde_json::{from_value, json};
    ///
    /// # let daemon_set: model::DaemonSet = from_value(json!({
    /// #     "metadata": {"name": "agent", "namespace": "ns", "uid": "u1"},
    /// #     "spec": {"selector": {"matchLabels": {"app": "agent"}}, "template": {"metadata": {"labels": {"app": "agent"}}}},
    /// # }))?;
    /// let mut nodes: Vec<model::Node> = from_value(json!([{"metadata": {"name": "a"}}]))?;
    /// # let (pods, revisions): (Vec<model::Pod>, Vec<model::ControllerRevision>) = (vec![], vec![]);
    /// # let now: jiff::Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
    /// let mut reconciler = Reconciler::new("u1", Policy::default());
    /// let list = || Observed { daemon_set: &daemon_set, nodes: &nodes, pods: &pods, revisions: &revisions };
    /// let plan = reconciler.plan_changes(list, now).unwrap(); // the first plan lists all objects
    /// assert_eq!(plan.actions[1].to_string(), "CreatePod on a, batch 0 (MissingPod)");
    ///
    /// nodes.push(from_value(json!({"metadata": {"name": "b"}}))?);
    /// reconciler.apply(Change::Node(NodeView::from(&nodes[1])));
    /// let list = || -> Observed<'_, &[model::Node], &[model::Pod], &[model::ControllerRevision]> { unreachable!() };
    /// let plan = reconciler.plan_changes(list, now).unwrap();
    /// assert_eq!(plan.actions[2].to_string(), "CreatePod on b, batch 1 (MissingPod)");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    ///
    /// # Errors
    /// Every problem of the listed objects at once, as [`plan`](Self::plan); a difference that
    /// [`verify_every`](Self::verify_every) has found. The memory is then as it was.
    pub fn plan_changes<'a, N, P, R>(
        &mut self,
        list: impl FnOnce() -> Observed<'a, N, P, R>,
        at: impl Into<ObservedAt>,
    ) -> Result<Plan, ChangesError>
    where
        N: IntoIterator<Item: Into<NodeView<'a>>>,
        P: IntoIterator<Item: Into<PodView<'a>>>,
        R: IntoIterator<Item: Into<RevisionView<'a>>>,
    {
        let at = at.into();
        // A fleet that has shrunk is kept anew, so that the state takes as much memory as its objects need.
        let kept = self.kept.as_mut().filter(|kept| !kept.is_sparse());
        let Some(kept) = kept else { return Ok(self.plan_listed(list(), at)?) };
        let before = self.verification.is_due().then(|| self.memory.clone());
        let Ok(planned) = kept.plan(&mut self.memory, at) else {
            // It has taken in a part of the changes: the next plan must not go on with it, should this list be refused.
            self.kept = None;
            return Ok(self.plan_listed(list(), at)?);
        };
        let Some(before) = before else { return Ok(planned) };
        let error = match Snapshot::new(list(), at).memory(&before).policy(&self.policy).check() {
            Ok(snapshot) => match self.difference(&planned, &before, &snapshot) {
                None => return Ok(planned),
                Some(difference) => {
                    ChangesError::Diverged { difference, recording: Box::new(Recording::from(&snapshot)) }
                }
            },
            Err(invalid) => invalid.into(),
        };
        // There is no plan: nothing was observed.
        (self.kept, self.memory) = (None, before);
        Err(error)
    }

    /// The first difference between a plan from changes, or the memory after it, and those of the whole.
    fn difference(&self, planned: &Plan, before: &Memory, snapshot: &Snapshot<'_>) -> Option<String> {
        let mut memory = before.clone();
        memory.observe(snapshot);
        let is_same = memory == self.memory;
        difference(planned, &plan(snapshot))
            .or_else(|| (!is_same).then(|| format!("memory: {:?} instead of {memory:?}", self.memory)))
    }

    /// Plans all objects, and keeps their facts.
    fn plan_listed<'a, N, P, R>(
        &mut self,
        observed: Observed<'a, N, P, R>,
        at: ObservedAt,
    ) -> Result<Plan, InvalidSnapshot>
    where
        N: IntoIterator<Item: Into<NodeView<'a>>>,
        P: IntoIterator<Item: Into<PodView<'a>>>,
        R: IntoIterator<Item: Into<RevisionView<'a>>>,
    {
        let snapshot = self.snapshot(observed, at)?;
        let decision = decide(&snapshot);
        let Ok(planned) = plan_decided(&snapshot, &decision, &FromTemplate);
        let kept = Kept::new(&snapshot, &decision, &planned.report, &self.memory);
        self.kept = Some(Box::new(kept));
        Ok(planned)
    }

    /// The plan that [`plan_changes`](Self::plan_changes) would give now, with the verdicts of all nodes; `None` where it
    /// would list all objects. It changes nothing.
    pub fn explain(&self, at: impl Into<ObservedAt>) -> Option<Plan> {
        let kept = self.kept.as_ref()?;
        kept.explain(&self.memory, at.into()).ok()
    }

    /// The safety rules that these actions break, as [`audit`](crate::audit) of all objects finds them; `None` where
    /// [`plan_changes`](Self::plan_changes) would list all objects, and with a [rollout policy](field@crate::Policy::rollout), whose waves need
    /// labels that are not kept. An object of another owner is not kept: an action on it
    /// is an [`UnknownObject`](crate::ViolationKind::UnknownObject). Its cost grows as nodes and pods do.
    pub fn audit(&self, actions: &[Action], at: impl Into<ObservedAt>) -> Option<Vec<Violation>> {
        let kept = self.kept.as_ref().filter(|_| self.policy.rollout.is_none())?;
        Some(audit(&kept.whole(&self.memory, at.into()), actions))
    }

    /// Lets the next [`plan_changes`](Self::plan_changes) list all objects: after a watch was interrupted, say.
    pub fn forget_objects(&mut self) {
        self.kept = None;
    }

    /// Compares every `plans`-th plan from applied changes with the plan of all objects; never, if 0. A difference is an
    /// error with a recording instead of a wrong plan. The comparison costs as much as a plan of the whole.
    #[must_use]
    pub fn verify_every(mut self, plans: u32) -> Self {
        self.verification = Verification { every: plans, plans: 0 };
        self
    }

    /// The uid of its DaemonSet: of the one that [`plan`](Self::plan) saw last.
    pub fn uid(&self) -> &Uid {
        &self.uid
    }

    /// The memory: to keep over a restart, or to look at.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The choices of the caller.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Other choices, from the next plan on. The same choices change nothing.
    pub fn set_policy(&mut self, policy: Policy) {
        if self.policy != policy {
            self.policy = policy;
            self.kept = None;
        }
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
pub(crate) fn difference(plan: &Plan, whole: &Plan) -> Option<String> {
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
    let frame =
        |plan: &Plan| Report { nodes: Vec::new(), scope: ReportScope::AllNodes, ..plan.report.clone() };
    if frame(plan) != frame(whole) {
        return differs("report", &frame(plan), &frame(whole));
    }
    let of_whole: BTreeMap<_, _> =
        whole.report.nodes.iter().map(|verdict| (&verdict.node, verdict)).collect();
    let verdict = plan.report.nodes.iter().find(|verdict| of_whole.get(&verdict.node) != Some(verdict))?;
    differs("verdict", verdict, &of_whole.get(&verdict.node))
}
