//! The rules of a rollout: waves open in their order, marks are true, and no failed revision comes back.

use crate::facts::named::Subject;
use crate::fleet::context::Context;
use crate::goals::marks::Mark;
use crate::goals::undo::awaits_template;
use crate::goals::{Rollout, Stage, has_failed};
use crate::kind::ViolationKind;
use crate::rules::undo;
use crate::violation::Findings;
use daemonset::internal::RevisionIx;
use daemonset::{Action, Snapshot};

/// Checks the marks, the restored template, and the creates from revisions that have failed.
pub(crate) fn check(context: &Context<'_>, findings: &mut Findings<'_>) {
    undo::check(context, findings);
    let awaits_template =
        context.goals.rollout.is_some() && awaits_template(context.snapshot, &context.lineage);
    for (index, action, subject) in context.actions() {
        let kind = match (action, subject) {
            (Action::AnnotateRevision { .. } | Action::RenumberRevision { .. }, _) if awaits_template => {
                Some(ViolationKind::TemplateAwaited)
            }
            (Action::AnnotateRevision { annotations, .. }, Subject::Revision(revision)) => annotations
                .iter()
                .find_map(|(key, value)| wrong_mark(context, revision, key, value.as_deref())),
            (Action::CreatePod { pod, .. }, _) => failed_revision(context, pod.revision_hash()),
            _ => None,
        };
        if let Some(kind) = kind {
            findings.add(index, kind);
        }
    }
}

/// Only the current revision is marked, and the stable revision where an undo begins, with the number that the current one has after the list; and each
/// mark is true.
fn wrong_mark(
    context: &Context<'_>,
    revision: RevisionIx,
    key: &str,
    value: Option<&str>,
) -> Option<ViolationKind> {
    let policy = &context.snapshot.spec().policy;
    if context.lineage.is_awaited(context.snapshot) {
        return Some(ViolationKind::RevisionAwaited);
    }
    let rollout = context.goals.rollout.as_deref().filter(|rollout| rollout.can_be_marked);
    let paused = policy.rollout.as_ref().is_some_and(|rollout| rollout.paused);
    let name = key.strip_prefix(&policy.mark_prefix).and_then(|rest| rest.strip_prefix('/'));
    let wrong = ViolationKind::WrongMark { mark: key.to_owned() };
    let (Some(rollout), Some(current), Some(name)) = (rollout, context.lineage.current(), name) else {
        return Some(wrong);
    };
    let is_stable = || {
        rollout
            .stable
            .as_ref()
            .is_some_and(|stable| stable.view.uid == context.snapshot.revision(revision).uid)
    };
    let is_marked = if name == "restored" { is_stable() } else { current.position == revision };
    if !is_marked {
        return Some(wrong);
    }
    let number = number_after(context, current.view.number);
    let mark = value.map(Mark::read);
    let is_of_now = |mark: &Mark| mark.number == number && mark.at == context.snapshot.now();
    let is_right = match mark {
        None => name == "started" && rollout.may_forget_its_start(paused),
        Some(Some(mark)) if is_of_now(&mark) => match (name, mark.index(), mark.rest) {
            ("restored", None, None) => rollout.may_undo(context.snapshot, None),
            ("undone", _, Some(generation)) => rollout.may_undo(context.snapshot, Some(&generation)),
            ("started", None, None) => rollout.may_start(paused),
            ("wave", Some(wave), _) => {
                if rollout.extent.last_open.is_none_or(|last| last < wave) {
                    return Some(ViolationKind::WaveNotDue { wave: wave as u32 });
                }
                // A wave that was opened before is never closed.
                rollout.goes_on() && rollout.marks.wave_index().is_none_or(|marked| marked < wave)
            }
            ("failed", None, reason) => {
                rollout.newly_failed.is_some() && reason.as_deref() == rollout.newly_failed
            }
            ("completed", None, None) => rollout.may_complete(),
            _ => false,
        },
        Some(_) => false,
    };
    (!is_right).then_some(wrong)
}

impl Rollout<'_> {
    /// Where the new version is found to have failed, nothing else is marked.
    fn goes_on(&self) -> bool {
        self.extent.stage == Stage::Progressing
    }

    fn may_start(&self, paused: bool) -> bool {
        !paused && self.marks.started.is_none() && self.newly_failed.is_none()
    }

    /// The deadline begins again when the rollout resumes.
    fn may_forget_its_start(&self, paused: bool) -> bool {
        let has_started = self.marks.started.is_some();
        paused && has_started && self.extent.stage != Stage::Complete && self.newly_failed.is_none()
    }

    /// Whether this value is that of the mark `undone`, or that of `restored`, which has no rest.
    fn may_undo(&self, snapshot: &Snapshot<'_>, rest: Option<&str>) -> bool {
        let generation = snapshot.spec().daemon_set.metadata.generation.to_string();
        self.may_begin_undo && rest.is_none_or(|rest| rest == generation)
    }

    fn may_complete(&self) -> bool {
        let is_new = self.marks.completed.is_none() && self.marks.failed.is_none();
        is_new && self.is_complete && self.newly_failed.is_none()
    }
}

/// The number that the current revision has after the list.
fn number_after(context: &Context<'_>, number: i64) -> i64 {
    let renumbered = context.actions.iter().find_map(|action| match action {
        Action::RenumberRevision { number, .. } => Some(*number),
        _ => None,
    });
    renumbered.unwrap_or(number)
}

/// No pod is created from a revision that has failed, but from the current one where a person lets it go on.
fn failed_revision(context: &Context<'_>, hash: &str) -> Option<ViolationKind> {
    context.goals.rollout.as_ref()?;
    let prefix = context.snapshot.spec().policy.mark_prefix.as_str();
    let mut members = context.lineage.members.iter().filter(|member| member.hash == hash && !member.equal);
    let is_current = context.lineage.current_hash == Some(hash);
    let has_failed = members.any(|member| has_failed(member.view, prefix));
    (has_failed && !is_current).then(|| ViolationKind::FailedRevisionCreated { hash: hash.to_owned() })
}
