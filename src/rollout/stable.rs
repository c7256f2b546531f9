//! The stable revision: the revision for the nodes that the rollout has not reached.

use crate::input::Snapshot;
use crate::input::placement::{CompiledTemplate, Placement};
use crate::input::rollout::marks::{MarkKeys, UndoneMark, completed_at, has_failed, restored_at};
use crate::input::template::Template;
use crate::pods::history::{History, Revision, RevisionRole};
use crate::position::{HistoryIx, IndexVec};
use daemonset_objects::internal::Problems;
use daemonset_objects::{NodeView, RevisionView};
use serde_json::Value;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::sync::Arc;

/// An old revision, with the parts of its template that decide about nodes and pods.
#[derive(Debug)]
pub struct Stable<'a> {
    pub position: HistoryIx,
    pub view: RevisionView<'a>,
    /// Its hash label, or its name where it has none.
    pub hash: Cow<'a, str>,
    /// The revision that a pod with this hash counts as running: several may share it.
    representative: Option<HistoryIx>,
    pub template: Arc<CompiledTemplate>,
}

/// A stable revision, beyond the history that it was chosen from.
#[derive(Debug, Clone)]
pub struct KnownStable {
    pub uid: Arc<str>,
    template: Arc<CompiledTemplate>,
    /// It wants the same nodes as the current template: most rollouts change an image.
    is_placed_as_current: bool,
}

impl KnownStable {
    /// The stable revision among the old revisions, if there is one: the one that comes back in the place of the current one; else the one that was
    /// completely rolled out last; else the one that most live pods run, then the one with the largest number, then the first by name.
    ///
    /// A revision that has failed is none, nor one whose template can't be used: its pods could not be created, or would be
    /// released at once. `known` is a stable revision whose template need not be read again.
    pub fn choose(
        snapshot: &Snapshot<'_>,
        history: &History<'_>,
        live: &IndexVec<HistoryIx, u32>,
        known: Option<&KnownStable>,
    ) -> Option<Self> {
        let keys = &snapshot.spec.mark_keys;
        let mut candidates: Vec<_> =
            history.revisions.iter().filter(|revision| is_candidate(revision, keys)).collect();
        let undone = undone_number(history, keys);
        candidates.sort_by_cached_key(|revision| {
            // The choice was made when the undo began: pods and marks that change since do not change it. Of several marks the newest
            // one counts, then the name.
            let restored = undone
                .zip(revision.view)
                .and_then(|(failed, view)| restored_at(view.annotations, keys, failed));
            if restored.is_some() {
                return (Reverse(restored), Reverse(None), Reverse(0), Reverse(0), revision.name());
            }
            // Under whatever number: a revision that was complete once and became current again is still a good stable revision.
            let completed = revision.view.and_then(|view| completed_at(view.annotations, keys));
            let pods = history.position(&revision.hash).map_or(0, |position| *live.at(position));
            // The members are in the order of the rule. Without a mark `completed` is `None`, which comes last under `Reverse`.
            (Reverse(None), Reverse(completed), Reverse(pods), Reverse(revision.number), revision.name())
        });
        // Templates are read from the best candidate on, and only until one can be used: reading is the expensive part.
        candidates.into_iter().find_map(|revision| {
            let view = revision.view?;
            // The data of a stored revision never changes, so that its uid stands for its template.
            let template = match known.filter(|known| *known.uid == *view.uid) {
                Some(known) => Arc::clone(&known.template),
                None => read_template(snapshot, &view)?,
            };
            let is_placed_as_current = template.places_as(&snapshot.spec.template);
            Some(KnownStable { uid: view.uid.into(), template, is_placed_as_current })
        })
    }

    /// Its revision in a history.
    pub(crate) fn view_in<'a>(&self, history: &History<'a>) -> Option<RevisionView<'a>> {
        history.revisions.iter().filter_map(|revision| revision.view).find(|view| *view.uid == *self.uid)
    }

    /// Whether a node should run its pod, from the placement by the current template.
    pub fn placement(&self, node: &NodeView<'_>, current: Placement) -> Placement {
        if self.is_placed_as_current { current } else { self.template.decide(node).placement }
    }
}

/// The number of the current revision, if it has failed and is undone.
fn undone_number(history: &History<'_>, keys: &MarkKeys) -> Option<i64> {
    let Revision { view, number, .. } = history.current();
    let annotations = view.as_ref()?.annotations;
    let undone = UndoneMark::read(annotations, keys)?;
    (undone.number == *number && has_failed(annotations, keys, *number)).then_some(*number)
}

/// Whether a revision may be the stable revision, before its template is read.
fn is_candidate(revision: &Revision<'_>, keys: &MarkKeys) -> bool {
    // A duplicate of the current revision is no old one: a node that goes back to it would run the new version.
    revision.role == RevisionRole::Old
        && revision.view.is_some_and(|view| {
            // The mark holds for one number: a revision that has been current again since is judged by its last turn.
            let has_failed = planted::has_failed(has_failed(view.annotations, keys, revision.number));
            view.deleted_at.is_none() && !has_failed
        })
}

/// `None` if the template of a revision can't be read or does not match the selector.
fn read_template(snapshot: &Snapshot<'_>, view: &RevisionView<'_>) -> Option<Arc<CompiledTemplate>> {
    let mut problems = Problems::default();
    let template = Template::parse(view.data.pointer("/spec/template")?, &mut problems);
    let daemon_tolerations = &snapshot.spec.policy.daemon_tolerations;
    let template = CompiledTemplate::new(template, daemon_tolerations, &mut problems);
    problems.into_result().ok()?;
    snapshot.spec.selector.matches(&template.parsed.metadata.labels).then(|| Arc::new(template))
}

impl<'a> Stable<'a> {
    /// The stable revision in a history.
    pub fn find(known: &KnownStable, history: &History<'a>) -> Option<Self> {
        let is_stable = |revision: &Revision<'_>| revision.view.is_some_and(|view| *view.uid == *known.uid);
        let (position, revision) =
            history.revisions.enumerated().find(|(_, revision)| is_stable(revision))?;
        let (representative, template) = (history.position(&revision.hash), Arc::clone(&known.template));
        Some(Stable { position, view: revision.view?, hash: revision.hash.clone(), representative, template })
    }

    /// Its template, as it is stored.
    pub fn raw_template(&self) -> &'a Value {
        self.view.data.pointer("/spec/template").unwrap_or(&Value::Null)
    }

    /// Whether a pod whose hash label names this revision is the stable revision's.
    pub fn is_revision_of(&self, pod: Option<HistoryIx>) -> bool {
        pod.is_some() && pod == self.representative
    }
}

/// The deliberate errors in this file.
mod planted {
    crate::planted::planted! {
        has_failed(right: bool): FailedStableRevision => false;
    }
}
