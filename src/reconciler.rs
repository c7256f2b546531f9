//! The driver of one DaemonSet for callers that list all objects: it keeps the order of the calls and the memory between them.

use crate::action::Action;
use crate::input::manifests::{InvalidManifest, Manifests};
use crate::input::memory::{ActionOutcome, Memory};
use crate::input::{Objects, ObservedAt, Policy, Snapshot};
use crate::recording::Recording;
use crate::report::explain::plan;
use crate::report::{Plan, Warning};
use daemonset_objects::internal::lookup_hash;
use daemonset_objects::model::{NodeName, Owner, Uid};
use daemonset_objects::{InvalidInput, Problem};
use jiff::Timestamp;
use std::sync::Arc;
use thiserror::Error;

/// Reconciles one DaemonSet, call after call, and remembers between the calls the actions that a stale cache does not
/// show yet, the back-off of failed pods and the updates that were rejected.
///
/// Its caller has [duties](crate#the-callers-duties). The `Tracker` of daemonset-incremental is the driver of callers that watch: its
/// plans cost as much as the changes.
///
/// ```
/// use daemonset::{Action, ActionOutcome, Observed, Reconciler, model};
///
/// fn sync(
///     reconciler: &mut Reconciler, // Reconciler::new(uid, Policy::default()), kept for as long as the DaemonSet
///     daemon_set: &model::DaemonSet,
///     (nodes, pods, revisions): (&[model::Node], &[model::Pod], &[model::ControllerRevision]),
///     now: jiff::Timestamp,
///     execute: impl Fn(&Action) -> ActionOutcome, // your client
/// ) -> Result<(), Box<dyn std::error::Error>> {
///     let plan = reconciler.plan(Observed { daemon_set, nodes, pods, revisions }, now)?;
///     for batch in plan.batches() {
///         let mut ended_by = None;
///         for action in batch {
///             if reconciler.record(action, &execute(action), now).ends_plan() {
///                 ended_by = ended_by.or(Some(action));
///             }
///         }
///         if let Some(action) = ended_by {
///             for action in plan.independent_after(action) {
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
    manifests: Option<Arc<dyn Manifests>>,
    memory: Memory,
    /// `None` where the caller plans by itself, from a [snapshot](Self::snapshot).
    last_plan: Option<LastPlan>,
}

/// The plan that was given last, as far as outcomes are compared with it.
#[derive(Debug, Default)]
struct LastPlan {
    /// The [key](LastPlan::key) of each action that acts, and its batch. Few plans have many actions: a list is made faster than a map.
    actions: Vec<(u64, usize)>,
    /// The batch in which it ended.
    ended_in: Option<usize>,
}

impl LastPlan {
    fn new(plan: &Plan) -> Self {
        let mut actions = Vec::with_capacity(plan.actions.len());
        for (batch, of_batch) in plan.batches().enumerate() {
            let acting = of_batch.iter().filter(|action| action.acts());
            actions.extend(acting.map(|action| (LastPlan::key(action), batch)));
        }
        LastPlan { actions, ended_in: None }
    }

    fn batch(&self, action: &Action) -> Option<usize> {
        let key = LastPlan::key(action);
        self.actions.iter().find(|(of_action, _)| *of_action == key).map(|(_, batch)| *batch)
    }

    /// The same for each copy of an action, such as one that was read from its JSON form.
    fn key(action: &Action) -> u64 {
        let uid = action.subject().map(|subject| subject.uid.as_str());
        // A plan may set two annotations of a revision, one after the other.
        let annotations = match action {
            Action::AnnotateRevision { annotations, .. } => annotations.keys().collect(),
            _ => Vec::new(),
        };
        let of = (action.kind(), action.node().map(NodeName::as_str), action.subject_name(), uid);
        lookup_hash(&(of, annotations))
    }

    /// # Errors
    /// As [`Reconciler::record`].
    fn check(&self, action: &Action) -> Result<(), UnexpectedAction> {
        if !action.acts() {
            return Ok(());
        }
        let batch = self.batch(action).ok_or(UnexpectedAction::OtherPlan)?;
        let is_after_end = self.ended_in.is_some_and(|ended_in| ended_in < batch);
        if is_after_end && !action.stands_alone() { Err(UnexpectedAction::AfterEnd) } else { Ok(()) }
    }

    /// This action ends the plan, if none of an earlier batch has ended it.
    fn end_with(&mut self, action: &Action) {
        self.ended_in = [self.ended_in, self.batch(action)].into_iter().flatten().min();
    }
}

/// What follows for the plan from a [recorded](Reconciler::record) outcome, which is kept in each case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "a caller decides about each")]
#[must_use = "where the plan ends, only `Plan::independent_after` of the later batches is due; then plan again"]
pub enum Recorded {
    /// The plan goes on.
    PlanContinues,
    /// The plan ends: the actions of later batches rest on this one, except those of [`Plan::independent_after`].
    PlanEnds,
    /// The action was not due.
    Unexpected(UnexpectedAction),
}

impl Recorded {
    /// Whether no action of a later batch is due, except those of [`Plan::independent_after`]; then plan again. Also after an unexpected
    /// action: the caller no longer knows which plan it executes.
    pub fn ends_plan(self) -> bool {
        match self {
            Recorded::PlanContinues => false,
            Recorded::PlanEnds | Recorded::Unexpected(_) => true,
        }
    }
}

/// Why an action was not due when its outcome was [recorded](Reconciler::record): the caller has mixed two plans, or has gone on
/// with a plan that had ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum UnexpectedAction {
    /// The action is not of the last plan.
    #[error("the action is not of the last plan")]
    OtherPlan,
    /// An action of an earlier batch had ended the plan, and this one is not [due all the same](Plan::independent_after).
    #[error("the plan had ended before this action")]
    AfterEnd,
}

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The input is invalid.
    #[error(transparent)]
    Snapshot(#[from] InvalidInput),
    /// A manifest that the caller has made must not be created.
    #[error(transparent)]
    Manifest(#[from] InvalidManifest),
    /// This crate has met a bug of its own, and gives no action rather than a wrong one. Leave the DaemonSet alone until its objects
    /// change, and report the recording, which reproduces the bug.
    #[error("the planner has met a bug of its own, and does nothing: please report the recording")]
    #[non_exhaustive]
    Bug {
        /// The whole input of the plan.
        recording: Box<Recording>,
    },
}

impl PlanError {
    /// The problems of the input; none after another error.
    pub fn problems(&self) -> &[Problem] {
        match self {
            PlanError::Snapshot(invalid) => &invalid.problems,
            PlanError::Manifest(_) | PlanError::Bug { .. } => &[],
        }
    }

    /// For crates of the same version: [`internal`](crate::internal).
    #[doc(hidden)]
    pub fn bug(recording: Recording) -> Self {
        PlanError::Bug { recording: Box::new(recording) }
    }
}

impl Reconciler {
    /// A reconciler of the `apps/v1` DaemonSet with this uid, which remembers nothing yet. For a custom kind see
    /// [`with_kind`](Self::with_kind).
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
        let last_plan = Some(LastPlan::default());
        Reconciler { uid, kind: Owner::default(), policy, manifests: None, memory, last_plan }
    }

    /// Makes it the reconciler of a custom kind that works like a DaemonSet.
    ///
    /// The kind is that of the owner in all pods and revisions. The garbage collector deletes pods whose owner does not exist, so that
    /// it is said twice: here, and in each object ([`DaemonSet::owner`](field@crate::model::DaemonSet::owner)). A plan of an object of
    /// another kind is an error, be it a custom kind that a plain [`new`](Self::new) gets, or an object that is built without its kind.
    ///
    /// ```
    /// use daemonset::{Observed, Policy, Reconciler, Recording, model};
    ///
    /// let recording = Recording::from_json(&std::fs::read("examples/recording.json")?)?;
    /// let Recording { daemon_set: forgotten, nodes, pods, revisions, now, .. } = &recording; // an apps/v1 DaemonSet
    /// let agent_set = model::Owner::new("agents.example.com/v1", "AgentSet");
    /// let right = model::DaemonSet { owner: agent_set.clone(), ..forgotten.clone() };
    /// let observed = |daemon_set| Observed { daemon_set, nodes, pods, revisions };
    ///
    /// let mut reconciler = Reconciler::new("u1", Policy::default()).with_kind(agent_set);
    /// assert!(reconciler.plan(observed(&right), *now).is_ok());
    /// assert_eq!(reconciler.plan(observed(forgotten), *now).unwrap_err().problems()[0].path, "kind");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_kind(mut self, kind: Owner) -> Self {
        self.kind = kind;
        self
    }

    /// Makes the objects of its plans by these [`Manifests`], in place of the template's pods.
    #[must_use]
    pub fn with_manifests(mut self, manifests: Arc<dyn Manifests>) -> Self {
        self.set_manifests(manifests);
        self
    }

    /// Other manifests, from the next plan on. With other [inputs](Manifests::inputs) it is a rollout.
    pub fn set_manifests(&mut self, manifests: Arc<dyn Manifests>) {
        self.manifests = Some(manifests);
    }

    /// Goes on with another DaemonSet of its kind, which may have taken the name of the one before: nothing is remembered.
    pub fn reset(&mut self, uid: impl Into<Uid>) {
        self.uid = uid.into();
        self.memory = Memory { uid: Some(self.uid.clone()), ..Memory::default() };
        // No plan of the DaemonSet before is due.
        self.last_plan = Some(LastPlan::default());
    }

    /// Plans for the observed objects, and forgets the accepted actions that they show. `at` is the instant, or an
    /// [`ObservedAt`] with the version of the list of pods.
    ///
    /// # Errors
    /// Every problem of the input at once, as [`SnapshotBuilder::check`](crate::SnapshotBuilder::check). The memory is
    /// then as it was. A DaemonSet with another uid is another DaemonSet, even under the same name: a problem of `memory.uid`, until
    /// the caller [resets](Self::reset) the reconciler. One of another kind than the reconciler's is a problem of `kind`.
    ///
    /// Or the first of its [manifests](Self::with_manifests) that must not be created, or a bug of this crate. The memory has then observed
    /// the objects.
    pub fn plan<'a>(
        &mut self,
        objects: impl Into<Objects<'a>>,
        at: impl Into<ObservedAt>,
    ) -> Result<Plan, PlanError> {
        let snapshot = self.checked(objects, at)?;
        let plan = plan(&snapshot);
        match plan.warnings.as_slice() {
            [Warning::Bug] => return Err(PlanError::bug(Recording::from(&snapshot))),
            [Warning::InvalidManifest(invalid)] => return Err(invalid.clone().into()),
            _ => {}
        }
        self.given(&plan);
        Ok(plan)
    }

    /// The checked snapshot that [`plan`](Self::plan) decides on, with this reconciler's policy and memory. The memory
    /// has observed it.
    ///
    /// # Errors
    /// As [`plan`](Self::plan).
    pub fn snapshot<'a>(
        &mut self,
        objects: impl Into<Objects<'a>>,
        at: impl Into<ObservedAt>,
    ) -> Result<Snapshot<'a>, InvalidInput> {
        let snapshot = self.checked(objects, at)?;
        self.last_plan = None;
        Ok(snapshot)
    }

    /// Keeps the outcome of one action of the last plan; `at` is the time at which the outcome was known.
    ///
    /// The outcome is always kept: an action that was executed and is forgotten would be executed twice. [`Recorded`] says what follows
    /// for the plan. Where the plan ends, the actions of later batches rest on this one. The other actions of the same batch do
    /// not: execute and record them, too, and those that are [independent](Plan::independent_after). The next plan is due when an
    /// object changes, or at [`Memory::retry_at`]: planned again at once, the same action could be rejected in a loop.
    ///
    /// A caller that plans a [snapshot](Self::snapshot) by itself records no [unexpected](Recorded::Unexpected) action.
    ///
    /// ```
    /// # use daemonset::{Observed, Policy, Reconciler, Recording};
    /// use daemonset::{ActionOutcome, Recorded, UnexpectedAction};
    /// # let recording = Recording::from_json(&std::fs::read("examples/recording.json")?)?;
    /// # let Recording { daemon_set, nodes, revisions, now, .. } = &recording;
    /// # let (observed, now) = (Observed { daemon_set, nodes, pods: &[] as &[daemonset::model::Pod], revisions }, *now);
    /// # let mut reconciler = Reconciler::new("u1", Policy::default());
    /// let plan = reconciler.plan(observed, now)?; // a pod on node a, and then one on each other node
    /// assert_eq!(reconciler.record(&plan.actions[0], &ActionOutcome::Rejected, now), Recorded::PlanEnds);
    /// let unexpected = reconciler.record(&plan.actions[1], &ActionOutcome::Done, now);
    /// assert_eq!(unexpected, Recorded::Unexpected(UnexpectedAction::AfterEnd));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn record(&mut self, action: &Action, outcome: &ActionOutcome, at: Timestamp) -> Recorded {
        let is_due = self.last_plan.as_ref().map_or(Ok(()), |plan| plan.check(action));
        self.memory.record(action, outcome, at);
        if let Err(unexpected) = is_due {
            return Recorded::Unexpected(unexpected);
        }
        match outcome {
            ActionOutcome::Created(_)
            | ActionOutcome::Done
            | ActionOutcome::Changed(_)
            | ActionOutcome::AlreadyExists => Recorded::PlanContinues,
            ActionOutcome::Rejected | ActionOutcome::Unknown | ActionOutcome::Conflict => {
                if let Some(plan) = &mut self.last_plan {
                    plan.end_with(action);
                }
                Recorded::PlanEnds
            }
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
    /// This plan was given to the caller.
    pub fn given(&mut self, plan: &Plan) {
        self.last_plan = Some(LastPlan::new(plan));
    }

    /// The checked snapshot of a plan of this driver, which the memory has observed. Until the plan is [given](Self::given), or where
    /// there is none, the one before stays the last.
    ///
    /// # Errors
    /// As [`plan`](Self::plan).
    pub fn checked<'a>(
        &mut self,
        objects: impl Into<Objects<'a>>,
        at: impl Into<ObservedAt>,
    ) -> Result<Snapshot<'a>, InvalidInput> {
        let mut builder = Snapshot::builder(objects, at).memory(&self.memory).policy(&self.policy);
        if let Some(manifests) = &self.manifests {
            builder = builder.manifests(Arc::clone(manifests));
        }
        let snapshot = builder.check_of_kind(&self.kind)?;
        // Nothing changes before the input is known to be valid.
        self.memory.observe(&snapshot);
        Ok(snapshot)
    }

    /// The memory, to change.
    pub fn memory_mut(&mut self) -> &mut Memory {
        &mut self.memory
    }
}
