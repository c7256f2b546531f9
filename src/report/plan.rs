//! The actions of a decision, with the reasons.

use crate::action::{Action, RequeueReason};
use crate::plan::conditions::conditions;
use crate::pod_manifest::PodManifest;
use crate::report::{Report, Warning};
use daemonset_objects::model::DaemonSetStatus;
use indexmap::IndexMap;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The actions of a decision, with the reasons.
///
/// ```
/// use daemonset::{Recording, plan};
///
/// let mut recording = Recording::from_json(&std::fs::read("examples/recording.json")?)?;
/// recording.pods.clear(); // four nodes lack a pod
/// let plan = plan(&recording.snapshot()?);
/// let batches: Vec<(&str, usize)> = plan.batches().map(|batch| (batch[0].kind(), batch.len())).collect();
/// assert_eq!(batches, [("CreatePod", 1), ("CreatePod", 2), ("CreatePod", 1), ("UpdateStatus", 1)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A plan is read from its JSON form, too: a person may approve it, or another process execute it. Its actions are those of the plan
/// that was written. The form lacks only the figures of [`conditions`](Self::conditions).
///
/// ```
/// use daemonset::Plan;
/// # use daemonset::{Recording, plan};
/// # let mut recording = Recording::from_json(&std::fs::read("examples/recording.json")?)?;
/// # recording.pods.clear();
/// # let plan = plan(&recording.snapshot()?);
///
/// let to_approve = serde_json::to_string(&plan)?;
/// let approved: Plan = serde_json::from_str(&to_approve)?;
/// assert_eq!(approved.actions, plan.actions);
/// assert_eq!(serde_json::to_string(&approved)?, to_approve);
///
/// // An action of a newer version is an error: an executor must handle every kind.
/// let newer = to_approve.replace("CreatePod", "PullImage");
/// let error = serde_json::from_str::<Plan>(&newer).unwrap_err();
/// assert!(error.to_string().starts_with("unknown variant `PullImage`, expected one of `AdoptPod`"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", from = "PlanForm")]
#[must_use = "a plan does nothing by itself: execute its actions"]
#[non_exhaustive]
pub struct Plan {
    /// The same actions as [`reconcile`](crate::reconcile) gives.
    pub actions: Vec<Action>,
    /// The status after the plan; `None` if the decision leaves the status alone.
    pub status: Option<DaemonSetStatus>,
    /// The reasons.
    pub report: Report,
    /// Facts that a person should know.
    pub warnings: Vec<Warning>,
}

/// The JSON form of a [`Plan`].
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", rename = "Plan")]
struct PlanForm {
    actions: Vec<Action>,
    status: Option<DaemonSetStatus>,
    report: Report,
    warnings: Vec<Warning>,
}

impl From<PlanForm> for Plan {
    fn from(form: PlanForm) -> Self {
        let PlanForm { mut actions, status, report, warnings } = form;
        let current = report.current_revision.as_ref().map(|revision| revision.hash.as_str());
        let stable = report.rollout.as_ref().and_then(|rollout| rollout.stable_hash.as_deref());
        let hashes: Vec<&str> = current.into_iter().chain(stable).collect();
        let mut last: Option<PodManifest> = None;
        for action in &mut actions {
            if let Action::CreatePod { pod, .. } = action {
                // The label that holds the hash may have any key, which the manifest alone does not tell.
                pod.recognize(&hashes);
                // As in the plan that was written, so that a large one does not hold each body many times.
                last.iter().for_each(|last| pod.share(last));
                last = Some(pod.clone());
            }
        }
        Plan { actions, status, report, warnings }
    }
}

impl Plan {
    /// The actions in batches: those of one batch may be executed at the same time, and none is begun before all of the
    /// batch before it have succeeded. Consecutive deletes of pods are one batch, consecutive creates of pods are as
    /// many as one step of the slow start holds ([`Action::CreatePod`]), each other action is one by itself.
    pub fn batches(&self) -> impl Iterator<Item = &[Action]> {
        Action::batches(&self.actions)
    }

    /// The instant at which to plan again, even if no change is seen before; `None` where time alone changes nothing.
    ///
    /// ```
    /// use daemonset::{Policy, Recording, plan};
    ///
    /// let mut recording = Recording::from_json(&std::fs::read("examples/recording.json")?)?;
    /// recording.pods.clear();
    /// recording.policy = Policy::default().burst(1);
    /// let plan = plan(&recording.snapshot()?);
    /// assert!(plan.acts());
    /// assert_eq!(plan.summary(), "create 1 pod, write the status");
    /// // The other pods are for the next plans.
    /// assert_eq!(plan.requeue_at(), Some(recording.now));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn requeue_at(&self) -> Option<Timestamp> {
        self.requeue().map(|(at, _)| at)
    }

    /// The same instant with the change that it brings.
    pub fn requeue(&self) -> Option<(Timestamp, RequeueReason)> {
        self.actions.iter().find_map(|action| {
            if let Action::Requeue { at, reason } = action { Some((*at, *reason)) } else { None }
        })
    }

    /// Whether any of its actions [acts](Action::acts): a plan that does not leaves the cluster as it is.
    pub fn acts(&self) -> bool {
        self.actions.iter().any(Action::acts)
    }

    /// Its actions by verb and object, in their order: `delete 1 pod, create 5 pods, write the status`. It is empty for a plan that
    /// does not [act](Self::acts).
    pub fn summary(&self) -> String {
        let mut counts: IndexMap<(&str, &str), usize> = IndexMap::new();
        for action in self.actions.iter().filter(|action| action.acts()) {
            *counts.entry((action.verb(), action.noun())).or_default() += 1;
        }
        let parts = counts.into_iter().map(|((verb, noun), number)| match (noun, number) {
            ("status", _) => format!("{verb} the {noun}"),
            (_, 1) => format!("{verb} 1 {noun}"),
            (_, several) => format!("{verb} {several} {noun}s"),
        });
        parts.collect::<Vec<_>>().join(", ")
    }

    /// Whether a bug of this crate was met: [`Warning::Bug`].
    #[doc(hidden)]
    pub fn has_bug(&self) -> bool {
        self.warnings.contains(&Warning::Bug)
    }

    /// The plan that does nothing, for this reason.
    pub(crate) fn without_actions(self, why: Warning) -> Self {
        Plan { actions: Vec::new(), status: None, warnings: vec![why], ..self }
    }

    /// The actions that are due all the same when this one has ended the plan: the update of the status, events, and the instant at
    /// which to plan again. They follow it and rest on no other action. Without them a delete that a webhook refuses for ever would
    /// keep the status wrong for ever (v1.36 `syncDaemonSet`, which writes the status after a failed sync, too).
    pub fn independent_after(&self, ended_by: &Action) -> impl Iterator<Item = &Action> {
        let position = self.actions.iter().position(|action| action == ended_by);
        let later = position.and_then(|position| self.actions.get(position + 1..));
        later.into_iter().flatten().filter(|action| action.stands_alone())
    }

    /// The conditions of the status after this plan, as [`Policy::conditions`](crate::Policy::conditions) makes them,
    /// whether that is on or off: those of `previous`, with `Available` and `Progressing` brought up to date. Where the
    /// plan leaves the DaemonSet alone, or its revision's name is taken, they stay as they are.
    ///
    /// - `Available` is True (`EnoughAvailable`) if at most M target nodes have no available pod, excused ones not counted;
    ///   under surge none, under OnDelete one. Else it is False (`TooManyUnavailable`).
    /// - `Progressing` is True: `Updating` until every target node has an available updated pod and no live outdated one,
    ///   then `Complete` until the template changes or a target node has a live outdated pod. A node that joins, reboots or
    ///   loses its pod does not change it.
    ///
    /// A plan that was read from its JSON form gives `previous`, since it lacks the figures: its `status` has the conditions if the
    /// policy's `conditions` is on.
    ///
    /// Without target nodes they are True and `Complete`. `lastTransitionTime` is `now`, in whole seconds, where the status
    /// changes. Messages depend on the state alone.
    ///
    /// ```
    /// use daemonset::{Recording, plan};
    /// use serde_json::json;
    ///
    /// let mut recording = Recording::from_json(&std::fs::read("examples/recording.json")?)?;
    /// recording.pods.truncate(2);
    /// let conditions = plan(&recording.snapshot()?).conditions(&[], recording.now);
    /// assert_eq!(conditions[0], json!({
    ///     "type": "Available", "status": "False", "reason": "TooManyUnavailable",
    ///     "lastTransitionTime": "2026-01-01T12:00:00Z",
    ///     "message": "3 of 4 nodes lack an available pod, and at most 1 may: 1 starting, 2 without a pod",
    /// }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn conditions(&self, previous: &[Value], now: Timestamp) -> Vec<Value> {
        match &self.report.progress {
            Some(progress) => conditions(progress, previous, now),
            None => previous.to_vec(),
        }
    }
}
