//! The promises of every plan, each with a name for error messages.

use super::oracle::{Fleet, max_surge, max_unavailable};
use super::turn_invariants;
use daemonset::model::Pod;
use daemonset::report::{NodeOutcome, Wait};
use daemonset::{Action, CreateReason, DeleteReason, Plan, Recording, RequeueReason, TurnReason};
use std::collections::{BTreeMap, BTreeSet};

/// The promises that this plan breaks.
pub fn broken(recording: &Recording, plan: &Plan) -> Vec<String> {
    let view = View::of(recording, plan);
    [
        view.budget(),
        view.readiness(),
        view.surge(),
        view.creates(),
        view.ownership(),
        view.on_delete(),
        view.progress(),
        view.revisions(),
        order(plan),
        wake_up(recording, plan),
        view.burst(),
    ]
    .into_iter()
    .filter_map(Result::err)
    .chain(turn_invariants::broken(recording, plan))
    .collect()
}

pub(super) type Promise = Result<(), String>;

pub(super) fn ensure(kept: bool, why: impl FnOnce() -> String) -> Promise {
    if kept { Ok(()) } else { Err(why()) }
}

struct View<'r> {
    recording: &'r Recording,
    plan: &'r Plan,
    fleet: Fleet<'r>,
    deleted: BTreeMap<&'r str, DeleteReason>,
    created: Vec<(&'r str, CreateReason)>,
}

impl<'r> View<'r> {
    fn of(recording: &'r Recording, plan: &'r Plan) -> Self {
        let mut deleted = BTreeMap::new();
        let mut created = Vec::new();
        for action in &plan.actions {
            match action {
                // Pull pods are none of the DaemonSet's.
                Action::DeletePod { reason: DeleteReason::PullDone, .. }
                | Action::CreatePod { reason: CreateReason::PullImages, .. } => {}
                Action::DeletePod { pod, reason, .. } | Action::UpdatePodInPlace { pod, reason, .. } => {
                    deleted.insert(pod.uid.as_str(), *reason);
                }
                Action::CreatePod { node, reason, .. } => created.push((node.as_str(), *reason)),
                _ => {}
            }
        }
        View { recording, plan, fleet: Fleet::of(recording), deleted, created }
    }

    fn stays(&self, pod: &Pod) -> bool {
        !self.deleted.contains_key(pod.metadata.uid.as_str())
    }

    /// Target nodes without an available pod after the plan's deletions: at most max(U, M). Nodes that an update took down
    /// and that left the target nodes count as well.
    fn budget(&self) -> Promise {
        let Some(limit) = max_unavailable(self.recording) else { return Ok(()) };
        let taken = self.fleet.taken_elsewhere();
        let before = taken + self.fleet.unavailable_targets();
        let after = taken + self.fleet.without(|pod| self.fleet.available(pod) && self.stays(pod));
        ensure(after <= before.max(limit), || {
            format!("budget: {before} before, {after} after, {limit} allowed")
        })
    }

    /// Target nodes without a Ready pod after the plan's deletions: at most max(NR, M). A Ready pod serves, even if it
    /// is not available yet.
    fn readiness(&self) -> Promise {
        let Some(limit) = max_unavailable(self.recording) else { return Ok(()) };
        let taken = self.fleet.taken_elsewhere();
        let without = |good: &dyn Fn(&Pod) -> bool| {
            taken + self.fleet.without(|pod| self.fleet.ready(pod) && good(pod))
        };
        // A node in turn counts whatever its pods are: its daemon is about to go.
        let in_turn = turn_invariants::in_turn(self.recording, self.plan);
        let is_in_turn = |pod: &Pod| Fleet::target(pod).is_some_and(|node| in_turn.contains(node));
        let (before, after) = (without(&|pod| !is_in_turn(pod)), without(&|pod| self.stays(pod)));
        ensure(after <= before.max(limit), || {
            format!("readiness: {before} before, {after} after, {limit} allowed")
        })
    }

    /// Under surge no available pod is deleted from a target node without another available pod, and the number of
    /// nodes that get a second pod stays within the limit.
    fn surge(&self) -> Promise {
        let Some(limit) = max_surge(self.recording) else { return Ok(()) };
        let after = self.fleet.count(|pod| self.fleet.available(pod) && self.stays(pod));
        for pod in self.fleet.owned().filter(|pod| self.fleet.available(pod) && !self.stays(pod)) {
            let left = Fleet::target(pod).and_then(|node| after.get(node));
            ensure(left != Some(&0), || format!("surge: {} was the last available one", pod.metadata.name))?;
        }
        let now = self.recording.now;
        let running = self.fleet.count(|pod| {
            !Fleet::finished(pod) && pod.metadata.deletion_timestamp.is_none_or(|overdue| now < overdue)
        });
        let missing = |node: &&str| self.created.contains(&(*node, CreateReason::MissingPod));
        let surging =
            running.iter().filter(|(node, count)| **count + usize::from(missing(node)) >= 2).count();
        let surged = self.created.iter().filter(|(_, reason)| *reason == CreateReason::Surge).count();
        ensure(surged <= limit.saturating_sub(surging), || {
            format!("surge: {surged} beside {surging} of {limit}")
        })
    }

    /// At most one create for each node, only on target nodes, and never on a node with a create in flight or with a
    /// live pod that suffices.
    fn creates(&self) -> Promise {
        let memory = serde_json::to_value(&self.recording.memory).unwrap();
        let live = self.fleet.count(|pod| self.fleet.live(pod));
        let mut seen = BTreeSet::new();
        for (node, reason) in &self.created {
            ensure(seen.insert(node), || format!("creates: two on {node}"))?;
            ensure(self.fleet.targets.contains(*node), || format!("creates: {node} is no target"))?;
            if let Some(at) = memory["creates"][*node]["at"].as_str() {
                let until = at.parse::<jiff::Timestamp>().unwrap() + jiff::SignedDuration::from_mins(5);
                ensure(until <= self.recording.now, || format!("creates: one is in flight on {node}"))?;
            }
            let expected = usize::from(*reason == CreateReason::Surge);
            ensure(live.get(node) == Some(&expected), || {
                format!("creates: {node} has {:?} live", live.get(node))
            })?;
        }
        Ok(())
    }

    /// Only pods of the DaemonSet are deleted or labelled, and only pods that are not terminating.
    fn ownership(&self) -> Promise {
        for action in &self.plan.actions {
            let (Action::DeletePod { pod, .. }
            | Action::UpdatePodInPlace { pod, .. }
            | Action::LabelPod { pod, .. }) = action
            else {
                continue;
            };
            if is_of_pulls(action) {
                continue;
            }
            let found = self.recording.pods.iter().find(|p| p.metadata.uid == pod.uid);
            ensure(found.is_some_and(|p| self.fleet.owns(p) && p.metadata.name == pod.name), || {
                format!("ownership: {} is not ours", pod.name)
            })?;
            let going = found.is_some_and(|p| self.fleet.going(p));
            let deletes = !matches!(action, Action::LabelPod { .. });
            ensure(!(deletes && going), || format!("ownership: {} is going already", pod.name))?;
        }
        let takes = |a: &&Action| matches!(a, Action::DeletePod { .. } | Action::UpdatePodInPlace { .. });
        let deletes = self.plan.actions.iter().filter(|a| takes(a) && !is_of_pulls(a)).count();
        ensure(deletes == self.deleted.len(), || "ownership: one pod is deleted twice".to_owned())
    }

    /// OnDelete deletes no live pod from a node where it may run, unless another live pod makes it superfluous.
    fn on_delete(&self) -> Promise {
        if !matches!(self.recording.daemon_set.spec.update_strategy.kind.as_str(), "" | "OnDelete") {
            return Ok(());
        }
        let may_run = |node: &str| self.fleet.targets.contains(node) || self.fleet.tolerated.contains(node);
        for pod in self.fleet.owned().filter(|pod| self.fleet.live(pod) && !self.stays(pod)) {
            let Some(node) = Fleet::target(pod).filter(|node| may_run(node)) else { continue };
            let mut others = self.fleet.owned().filter(|other| Fleet::target(other) == Some(node));
            let better = others.any(|other| {
                self.stays(other)
                    && self.fleet.live(other)
                    && self.fleet.ready(other) >= self.fleet.ready(pod)
            });
            ensure(better, || format!("OnDelete: {} goes", pod.metadata.name))?;
        }
        Ok(())
    }

    /// The budget holds no outdated pod while there is room, and a held pod is reported only with a used-up budget.
    fn progress(&self) -> Promise {
        for verdict in &self.plan.report.nodes {
            match verdict.outcome {
                NodeOutcome::Waits(Wait::MaxUnavailable { used, limit, .. })
                | NodeOutcome::Waits(Wait::MaxSurge { used, limit, .. }) => {
                    ensure(used >= limit, || {
                        format!("progress: {} is held at {used}/{limit}", verdict.node)
                    })?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Neither the current revision nor a revision of a pod is deleted.
    fn revisions(&self) -> Promise {
        let carried: BTreeSet<&str> = self
            .recording
            .pods
            .iter()
            .filter(|pod| self.fleet.owns(pod))
            .filter_map(|pod| pod.metadata.labels.get("controller-revision-hash"))
            .collect();
        let current = self.plan.report.current_revision.as_ref();
        for action in &self.plan.actions {
            let Action::DeleteRevision { revision, reason, .. } = action else { continue };
            let known = self.recording.revisions.iter().find(|r| r.metadata.uid == revision.uid);
            let label = known.and_then(|r| r.metadata.labels.get("controller-revision-hash"));
            let hash = label.unwrap_or(&revision.name);
            ensure(current.is_some_and(|c| c.name != revision.name), || {
                format!("revisions: {hash} is current")
            })?;
            let duplicate = format!("{reason:?}") == "Duplicate";
            ensure(duplicate || !carried.contains(hash), || format!("revisions: {hash} is live"))?;
        }
        Ok(())
    }

    fn burst(&self) -> Promise {
        let burst = self.recording.policy.burst as usize;
        let count = |wanted: fn(&Action) -> bool| self.plan.actions.iter().filter(|a| wanted(a)).count();
        // The beginning of a turn counts as the delete that follows would.
        let deletes = count(|action| match action {
            Action::DeletePod { .. } | Action::UpdatePodInPlace { .. } => true,
            Action::PatchNode { reason, .. } => *reason == TurnReason::TurnBegins,
            _ => false,
        });
        let creates = count(|action| matches!(action, Action::CreatePod { .. }));
        ensure(deletes <= burst && creates <= burst, || {
            format!("burst: {deletes} deletes, {creates} creates")
        })
    }
}

fn is_of_pulls(action: &Action) -> bool {
    matches!(
        action,
        Action::DeletePod { reason: DeleteReason::PullDone, .. }
            | Action::CreatePod { reason: CreateReason::PullImages, .. }
    )
}

/// The rank of an action in a plan.
pub fn stage(action: &Action) -> u8 {
    match action {
        Action::AdoptPod { .. }
        | Action::ReleasePod { .. }
        | Action::AdoptRevision { .. }
        | Action::ReleaseRevision { .. } => 0,
        Action::CreateRevision { .. } => 1,
        Action::LabelRevision { .. } => 2,
        Action::RenumberRevision { .. } => 3,
        Action::AnnotateRevision { .. } => 4,
        Action::LabelPod { .. } => 5,
        Action::DeletePod { reason: DeleteReason::PullDone, .. } => 11,
        Action::CreatePod { reason: CreateReason::PullImages, .. } => 12,
        Action::PatchNode { .. } => 13,
        Action::DeletePod { .. } | Action::UpdatePodInPlace { .. } => 6,
        Action::CreatePod { .. } => 7,
        Action::DeleteRevision { .. } => 8,
        Action::UpdateStatus { .. } => 9,
        Action::RestoreTemplate { .. } => 10,
        Action::RecordEvent { .. } => 14,
        Action::Requeue { .. } => 15,
    }
}

/// Claim, history, pod deletes, pod creates, revision deletes, status, events, requeue.
fn order(plan: &Plan) -> Promise {
    ensure(plan.actions.is_sorted_by_key(stage), || "order".to_owned())
}

/// At most one requeue, and never in the past; only a full plan asks for an immediate one.
fn wake_up(recording: &Recording, plan: &Plan) -> Promise {
    let mut requeues = plan.actions.iter().filter_map(|action| match action {
        Action::Requeue { at, reason, .. } => Some((*at, *reason)),
        _ => None,
    });
    let first = requeues.next();
    let good = match first {
        Some((at, RequeueReason::Burst)) => at == recording.now,
        Some((at, _)) => at > recording.now,
        None => true,
    };
    ensure(good && requeues.next().is_none(), || format!("wake-up: {first:?}"))
}
