//! The driver of one DaemonSet for callers that list all objects: it keeps the order of the calls and the memory between them.

use crate::action::Action;
use crate::input::memory::{ActionOutcome, Memory};
use crate::input::{Observed, ObservedAt, Policy, Snapshot};
use crate::model::{Owner, Uid};
use crate::objects::problem::InvalidSnapshot;
use crate::objects::view::{NodeView, PodView, RevisionView};
use crate::plan::manifests::{CustomSnapshot, Manifests, PlanError};
use crate::plan::plan;
use crate::report::Plan;
use jiff::Timestamp;
use serde_json::Value;
use std::ops::ControlFlow;

/// Reconciles one DaemonSet, call after call, and remembers between the calls the actions that a stale cache does not
/// show yet, the back-off of failed pods and the updates that were rejected.
///
/// The duties of its caller: list all objects of [`Observed`] anew for each plan; execute the batches in order, the actions of one
/// batch at the same time if it likes; record the outcome of each; stop after a batch in which [`record`](Self::record) says so,
/// and plan again. The `Tracker` of daemonset-incremental is the driver of callers that watch: its plans cost as much as the changes.
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
/// input for [`reconcile`](crate::reconcile), [`plan`], `daemonset_audit::audit` and a
/// [`Recording`](crate::Recording).
#[doc(alias = "ControllerExpectations")]
#[derive(Debug)]
pub struct Reconciler {
    uid: Uid,
    /// The kind that the DaemonSet must have.
    kind: Owner,
    policy: Policy,
    memory: Memory,
}

impl Reconciler {
    /// A reconciler of the `apps/v1` DaemonSet with this uid, which remembers nothing yet. For a custom kind see
    /// [`of_kind`](Self::of_kind).
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
    ///
    /// A memory of another DaemonSet is a problem of the first plan: see [`plan`](Self::plan).
    pub fn with_memory(uid: impl Into<Uid>, policy: Policy, mut memory: Memory) -> Self {
        let uid = uid.into();
        memory.uid.get_or_insert_with(|| uid.clone());
        Reconciler { uid, kind: Owner::default(), policy, memory }
    }

    /// Makes it the reconciler of a custom kind that works like a DaemonSet.
    ///
    /// The kind is that of the owner in all pods and revisions. The garbage collector deletes pods whose owner does not exist, so that
    /// it is said twice: here, and in each object ([`DaemonSet::owner`](field@crate::model::DaemonSet::owner)). A plan of an object of
    /// another kind is an error, be it a custom kind that a plain [`new`](Self::new) gets, or an object that is built without its kind.
    ///
    /// ```
    /// use daemonset::{Observed, Policy, Reconciler, model};
    /// use serde_json::{from_value, json};
    ///
    /// let form = json!({
    ///     "metadata": {"name": "agent", "namespace": "ns", "uid": "u1"},
    ///     "spec": {"selector": {"matchLabels": {"app": "agent"}}, "template": {"metadata": {"labels": {"app": "agent"}}}},
    /// });
    /// let forgotten: model::DaemonSet = from_value(form)?; // an apps/v1 DaemonSet
    /// let agent_set = model::Owner::new("agents.example.com/v1", "AgentSet");
    /// let right = model::DaemonSet { owner: agent_set.clone(), ..forgotten.clone() };
    /// let (nodes, pods, revisions): (Vec<model::Node>, Vec<model::Pod>, Vec<model::ControllerRevision>) = Default::default();
    /// let observed = |daemon_set| Observed { daemon_set, nodes: &nodes, pods: &pods, revisions: &revisions };
    /// # let now: jiff::Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
    ///
    /// let mut reconciler = Reconciler::new("u1", Policy::default()).of_kind(agent_set);
    /// assert!(reconciler.plan(observed(&right), now).is_ok());
    /// assert_eq!(reconciler.plan(observed(&forgotten), now).unwrap_err().problems[0].path, "kind");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn of_kind(mut self, kind: Owner) -> Self {
        self.kind = kind;
        self
    }

    /// Goes on with another DaemonSet of its kind, which may have taken the name of the one before: nothing is remembered.
    pub fn reset(&mut self, uid: impl Into<Uid>) {
        self.uid = uid.into();
        self.memory = Memory { uid: Some(self.uid.clone()), ..Memory::default() };
    }

    /// Plans for the observed objects, and forgets the accepted actions that they show. `at` is the instant, or an
    /// [`ObservedAt`] with the version of the list of pods.
    ///
    /// # Errors
    /// Every problem of the input at once, as [`SnapshotBuilder::check`](crate::SnapshotBuilder::check). The memory is
    /// then as it was. A DaemonSet with another uid is another DaemonSet, even under the same name: a problem of `memory.uid`, until
    /// the caller [resets](Self::reset) the reconciler. One of another kind than the reconciler's is a problem of `kind`.
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
        let builder = Snapshot::new(observed, at).memory(&self.memory).policy(&self.policy);
        let snapshot = builder.ingredients(ingredients).check_of_kind(&self.kind)?;
        // Nothing changes before the input is known to be valid.
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
        self.memory.record(action, outcome, at);
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
        self.memory.settle(action, stored);
    }

    /// The uid of its DaemonSet.
    pub fn uid(&self) -> &Uid {
        &self.uid
    }

    /// The kind that its DaemonSet must have.
    pub fn kind(&self) -> &Owner {
        &self.kind
    }

    /// The memory: to keep over a restart, or to look at.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The choices of the caller.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Other choices, from the next plan on.
    pub fn set_policy(&mut self, policy: Policy) {
        self.policy = policy;
    }
}

/// For crates of the same version: [`internal`](crate::internal).
#[doc(hidden)]
impl Reconciler {
    /// The memory, to change.
    pub fn memory_mut(&mut self) -> &mut Memory {
        &mut self.memory
    }
}
