//! The goals of nodes under a rollout, and the rules about them: the new version reaches no node before its time, waves open
//! in their order, and no failed revision comes back.
//!
//! The goals themselves are the planner's: they are the input of the other rules, as placements are.

use super::context::Context;
use super::kind::ViolationKind;
use super::named::Subject;
use super::violation::Findings;
use crate::action::Action;
use crate::model::Toleration;
use crate::reconcile::fleet::Fleet;
use crate::reconcile::goal::Rollout;
use crate::reconcile::goal::base::Base;
use crate::reconcile::goal::marks::{MarkChange, has_failed, key};
use crate::reconcile::steps::fleet_towards_goal;
use crate::snapshot::Snapshot;
use crate::snapshot::placement::Placement;
use crate::snapshot::position::NodeIx;

/// The goal of each node; the current revision where no rollout is steered.
pub(super) struct Goals<'s> {
    snapshot: &'s Snapshot<'s>,
    fleet: Option<Box<Fleet<'s>>>,
}

impl<'s> Goals<'s> {
    pub(super) fn new(snapshot: &'s Snapshot<'s>) -> Self {
        let is_steered = snapshot.spec.policy.rollout.is_some();
        let fleet = is_steered.then(|| fleet_towards_goal(snapshot)).flatten().map(Box::new);
        Goals { snapshot, fleet }
    }

    #[inline]
    pub(super) fn placement(&self, node: NodeIx) -> Placement {
        match &self.fleet {
            Some(fleet) => fleet.placement(node),
            None => self.snapshot.placement(node),
        }
    }

    /// Of the pods that the node should run.
    pub(super) fn tolerations(&self, node: NodeIx) -> &[Toleration] {
        self.fleet.as_ref().map_or(&self.snapshot.spec.template.tolerations, |fleet| fleet.tolerations(node))
    }

    /// The base, if it is the goal of this node.
    #[inline]
    pub(super) fn base_of(&self, node: NodeIx) -> Option<&Base<'s>> {
        self.fleet.as_ref().and_then(|fleet| fleet.goal.base_of(node))
    }

    #[inline]
    pub(super) fn base(&self) -> Option<&Base<'s>> {
        self.fleet.as_ref().and_then(|fleet| fleet.goal.base())
    }

    /// The rollout has not reached the node.
    pub(super) fn is_held(&self, node: NodeIx) -> bool {
        self.fleet.as_ref().is_some_and(|fleet| fleet.goal.of(node).is_held())
    }

    fn rollout(&self) -> Option<&Rollout<'s>> {
        self.fleet.as_ref().and_then(|fleet| fleet.goal.rollout())
    }

    /// Whether a live pod of a held node may go to come back as base: it is neither base's nor Ready. Where another
    /// controller creates the pods, it would come back as the new version.
    pub(super) fn may_come_back_as_base(&self, node: NodeIx, is_ready: bool) -> bool {
        !is_ready && !self.snapshot.drives() && self.base_of(node).is_some()
    }
}

/// Checks the marks, and the creates from revisions that have failed.
pub(super) fn check(context: &Context<'_>, findings: &mut Findings<'_>) {
    for (index, action, subject) in context.actions() {
        let kind = match (action, subject) {
            (Action::AnnotateRevision { annotations, .. }, Subject::Revision(revision)) => {
                let current = context.lineage.current().filter(|current| current.position == revision);
                annotations.iter().find_map(|(key, value)| {
                    wrong_mark(context, current.map(|current| current.view.number), key, value.as_deref())
                })
            }
            (Action::CreatePod { pod, .. }, _) => failed_revision(context, pod.revision_hash()),
            _ => None,
        };
        if let Some(kind) = kind {
            findings.add(index, kind);
        }
    }
}

/// Only the current revision is marked, with the number that it has after the list, and only with what is the case.
fn wrong_mark(
    context: &Context<'_>,
    current: Option<i64>,
    name: &str,
    value: Option<&str>,
) -> Option<ViolationKind> {
    let snapshot = context.snapshot;
    let wrong = || Some(ViolationKind::WrongMark { mark: name.to_owned() });
    let (Some(rollout), Some(number)) = (context.goals.rollout(), current) else { return wrong() };
    let renumbered = context.actions.iter().find_map(|action| match action {
        Action::RenumberRevision { number, .. } => Some(*number),
        _ => None,
    });
    let largest = context.lineage.largest_old();
    // Beside another controller, that one renumbers it.
    let by_the_other = (snapshot.drives() && number <= largest).then(|| largest.saturating_add(1));
    let number = renumbered.or(by_the_other).unwrap_or(number);
    let is = |mark: MarkChange| {
        name == key(&snapshot.spec.policy.mark_prefix, mark.name())
            && value == mark.value(number, snapshot.now).as_deref()
    };
    let wave = value.and_then(|value| value.rsplit(' ').next()?.parse::<usize>().ok());
    if let Some(wave) = wave.filter(|wave| is(MarkChange::Wave(*wave))) {
        let is_due = rollout.waves.last_open.is_some_and(|last| wave <= last);
        return (!is_due).then_some(ViolationKind::WaveNotDue { wave: wave as u32 });
    }
    if rollout.marks.iter().any(|mark| is(*mark)) { None } else { wrong() }
}

/// No pod is created from a revision that has failed, but from the current one where a person lets it go on.
fn failed_revision(context: &Context<'_>, hash: &str) -> Option<ViolationKind> {
    context.goals.rollout()?;
    let prefix = context.snapshot.spec.policy.mark_prefix.as_str();
    let members = || context.lineage.members.iter().filter(|member| member.hash == hash);
    let is_current = context.lineage.current_hash == Some(hash);
    let has_failed = members()
        .any(|member| !member.equal && has_failed(member.view.annotations, prefix, member.view.number));
    (has_failed && !is_current).then(|| ViolationKind::FailedRevisionCreated { hash: hash.to_owned() })
}
