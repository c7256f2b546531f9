//! The undo of a failed version, apart from the planner: when its marks may be set, and whether another template is awaited.

use super::marks;
use super::stable::has_failed;
use crate::facts::lineage::{Lineage, Member};
use crate::facts::memories;
use daemonset::Snapshot;
use daemonset::internal::LabelsView;
use daemonset::policy::{FailureAction, RolloutPolicy};
use jiff::{SignedDuration, Timestamp};

/// How many undos may begin within an hour.
const MOST_IN_AN_HOUR: usize = 3;

/// The mark of a revision that is undone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Undone {
    number: i64,
    at: Timestamp,
    pub(crate) generation: i64,
}

impl Undone {
    pub(crate) fn read(annotations: LabelsView<'_>, prefix: &str) -> Option<Self> {
        let mark = marks::get(annotations, prefix, "undone")?;
        let rest = mark.rest.filter(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))?;
        Some(Undone { number: mark.number, at: mark.at, generation: rest.parse().ok()? })
    }

    /// Whether it is less than an hour old.
    pub(crate) fn is_young(self, now: Timestamp) -> bool {
        now.duration_since(self.at) < SignedDuration::from_hours(1)
    }
}

/// Whether a revision was undone within the last hour. Its mark says so, which goes with it.
pub(crate) fn is_undone_lately(snapshot: &Snapshot<'_>, member: &Member<'_>) -> bool {
    let policy = &snapshot.spec().policy;
    let undone = Undone::read(member.view.annotations, &policy.mark_prefix);
    policy.rollout.is_some() && undone.is_some_and(|undone| undone.is_young(snapshot.now()))
}

/// Whether the DaemonSet is about to show another template: one is in flight, or the revisions are newer than the DaemonSet.
pub(crate) fn awaits_template(snapshot: &Snapshot<'_>, lineage: &Lineage<'_>) -> bool {
    let prefix = snapshot.spec().policy.mark_prefix.as_str();
    let is_overtaken = |current: &Member<'_>| {
        let undone = Undone::read(current.view.annotations, prefix);
        let is_undone = |undone: Undone| {
            undone.generation == snapshot.spec().daemon_set.metadata.generation
                && undone.is_young(snapshot.now())
        };
        undone.is_some_and(is_undone)
            && lineage.members.iter().any(|member| current.view.number < member.view.number)
    };
    memories::restore_in_flight(snapshot) || lineage.current().is_some_and(is_overtaken)
}

/// The number that the current revision has after the list; `None` if it is not there.
pub(super) fn number(snapshot: &Snapshot<'_>, lineage: &Lineage<'_>) -> Option<i64> {
    let number = lineage.current()?.view.number;
    // A released revision gets a new number only once it is the DaemonSet's again.
    let stays = lineage.current_is_released || awaits_template(snapshot, lineage);
    let least = lineage.largest_old().saturating_add(1);
    Some(if stays { number } else { number.max(least) })
}

/// The number of the current revision, if it has failed and is undone: another revision was chosen to come back.
pub(crate) fn undone_number(snapshot: &Snapshot<'_>, lineage: &Lineage<'_>) -> Option<i64> {
    let prefix = snapshot.spec().policy.mark_prefix.as_str();
    let (annotations, number) = (lineage.current()?.view.annotations, number(snapshot, lineage)?);
    let has_failed = marks::get(annotations, prefix, "failed").is_some_and(|mark| mark.number == number);
    let undone = Undone::read(annotations, prefix)?;
    (has_failed && undone.number == number).then_some(number)
}

/// When a revision was chosen to come back in the place of the one with this number.
pub(crate) fn restored_at(member: &Member<'_>, prefix: &str, failed: i64) -> Option<Timestamp> {
    let mark = marks::get(member.view.annotations, prefix, "restored")?;
    (mark.number == failed).then_some(mark.at)
}

/// Whether the current revision has come back, and none is newer than the failed one. Beside another controller a person may have put it
/// back, where it was complete once.
pub(super) fn is_way_back(snapshot: &Snapshot<'_>, lineage: &Lineage<'_>) -> bool {
    let prefix = snapshot.spec().policy.mark_prefix.as_str();
    let Some(current) = lineage.current() else { return false };
    let mark = |name| marks::get(current.view.annotations, prefix, name);
    let others = || lineage.members.iter().filter(|member| member.position != current.position);
    let largest = others().map(|other| other.view.number).max();
    let is_restored =
        mark("restored").is_some_and(|mark| largest.is_none_or(|largest| largest <= mark.number));
    // Of several with one number any may have failed.
    let mut newest = others().filter(|other| Some(other.view.number) == largest);
    let is_put_back = snapshot.drives()
        && mark("completed").is_some()
        && newest.any(|other| has_failed(other.view, prefix));
    is_restored || is_put_back
}

/// Whether the current revision was undone, under whatever number.
pub(super) fn was_undone(snapshot: &Snapshot<'_>, lineage: &Lineage<'_>) -> bool {
    let prefix = snapshot.spec().policy.mark_prefix.as_str();
    lineage.current().is_some_and(|current| Undone::read(current.view.annotations, prefix).is_some())
}

/// Whether the marks of an undo may be set, once the current revision has failed.
pub(super) fn may_begin(
    snapshot: &Snapshot<'_>,
    policy: &RolloutPolicy,
    lineage: &Lineage<'_>,
    has_stable: bool,
) -> bool {
    let prefix = snapshot.spec().policy.mark_prefix.as_str();
    let undone = |member: &Member<'_>| Undone::read(member.view.annotations, prefix);
    let mut young: Vec<&Member<'_>> = lineage.members.iter().collect();
    young.retain(|member| undone(member).is_some_and(|undone| undone.is_young(snapshot.now())));
    is_asked_for(policy)
        && has_stable
        && lineage.current().is_some_and(|current| undone(current).is_none())
        && young.len() < MOST_IN_AN_HOUR
        && !awaits_template(snapshot, lineage)
}

pub(crate) fn is_asked_for(policy: &RolloutPolicy) -> bool {
    policy.on_failure.as_ref().is_some_and(|rule| rule.action == FailureAction::Undo)
}
