//! The promises of an undo: a template comes back once for each version that fails, by marks that were there before, and never that of a
//! failed one; edits by others that come to an end are followed by edits of ours that come to an end.

use super::{Breach, RolloutWatcher, View};
use daemonset::model::DaemonSetSpec;
use daemonset::policy::FailureAction;
use daemonset::report::{NotUndoneReason, Warning};
use jiff::Timestamp;
use std::collections::BTreeMap;

/// The undos of a life.
#[derive(Default)]
pub struct Undos {
    /// The name and number of each revision whose template was replaced, and how often it was.
    done: BTreeMap<(String, i64), u32>,
    /// How many more tries a person has allowed, by the name of the revision.
    allowed: BTreeMap<String, u32>,
    /// Templates that the controller has restored.
    ours: u32,
    /// Templates and marks that others have written.
    theirs: u32,
}

impl Undos {
    /// Somebody else has written a template, or a mark.
    pub fn note_edit(&mut self) {
        self.theirs += 1;
    }

    /// A person has edited the mark `undone` of a revision.
    pub fn allow(&mut self, revision: &str) {
        *self.allowed.entry(revision.to_owned()).or_default() += 1;
    }
}

impl RolloutWatcher {
    /// Whether the policy asks for an undo.
    pub(super) fn undoes(&self) -> bool {
        let on_failure = self.policy.as_ref().and_then(|policy| policy.on_failure.as_ref());
        on_failure.is_some_and(|policy| policy.action == FailureAction::Undo)
    }

    /// Judges a spec that the controller has written, with its generation.
    pub(super) fn judge_restore(&mut self, t: Timestamp, generation: i64, spec: &DaemonSetSpec) {
        self.reached.insert("template restored");
        self.undos.ours += 1;
        // The marks of this step do not justify it: no plan restores by its own marks.
        let views = self.views(t).filter(|view| self.was_before_this_step(*view));
        let may_be = |view: &View<'_>| {
            let only_template = DaemonSetSpec { template: spec.template.clone(), ..view.spec.clone() };
            let is_chosen = view.restored().any(|revision| revision.template == spec.template);
            view.generation + 1 == generation && is_chosen && only_template == *spec && view.may_restore()
        };
        let mut undone: Vec<(String, i64)> = Vec::new();
        for view in views.filter(may_be) {
            undone.extend(view.current().map(|current| (current.name.clone(), view.number())));
        }
        // Several views may allow it: then it is one of theirs.
        let Undos { done, allowed, .. } = &self.undos;
        let is_new = undone.is_empty()
            || undone.iter().any(|one| {
                let allowed = allowed.get(&one.0).copied().unwrap_or(0);
                done.get(one).copied().unwrap_or(0) <= allowed
            });
        for (promise, kept) in [
            ("undo", self.undoes() && !undone.is_empty()),
            ("once", is_new),
            ("endless", self.undos.ours <= self.undos.theirs),
        ] {
            if !kept {
                let subject = format!("the template of generation {generation}: {}", spec.template);
                self.breaches.push(Breach { promise, at: t, subject });
            }
        }
        if let Some(one) = undone.pop() {
            *self.undos.done.entry(one).or_default() += 1;
        }
    }

    /// Whether the mark `restored` may be set now on the revision with this hash, in the place of the one with this number.
    pub(super) fn may_choose(&self, t: Timestamp, hash: &str, failed: i64) -> bool {
        let mut views = self.views(t).filter(|view| self.was_before_this_step(*view));
        self.undoes()
            && views.any(|view| {
                view.number() == failed && view.may_begin_undo() && view.stable_revisions().contains(&hash)
            })
    }

    /// Notes why a plan does not undo a failed version.
    pub(super) fn note_warning(&mut self, warning: &Warning) {
        let Warning::NotUndone { because, .. } = warning else { return };
        self.reached.insert(match because {
            NotUndoneReason::NoStableRevision => "not undone: no stable revision",
            NotUndoneReason::UndoneBefore => "not undone: undone before",
            NotUndoneReason::DaemonSetChanged => "not undone: the DaemonSet has changed",
            NotUndoneReason::TooLate => "not undone: too late",
            NotUndoneReason::TooMany => "not undone: too many",
            _ => "not undone: a new reason",
        });
    }
}
