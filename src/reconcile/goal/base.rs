//! Base: the revision for the nodes that the rollout has not reached.

use super::marks::{completed_at, has_failed};
#[cfg(daemonset_mutants)]
use crate::mutants::{Mutant, is_active};
use crate::problem::Problems;
use crate::reconcile::fleet::Fleet;
use crate::reconcile::history::{History, Revision, Role};
use crate::snapshot::Snapshot;
use crate::snapshot::placement::{CompiledTemplate, Placement};
use crate::snapshot::position::{HistoryIx, IndexVec};
use crate::snapshot::template::Template;
use crate::view::{NodeView, RevisionView};
use serde_json::Value;
use std::cmp::Reverse;

/// An old revision, with the parts of its template that decide about nodes and pods.
#[derive(Debug)]
pub(crate) struct Base<'a> {
    pub(crate) position: HistoryIx,
    pub(crate) view: RevisionView<'a>,
    /// Its hash label, or its name where it has none.
    pub(crate) hash: &'a str,
    /// The revision that a pod with this hash counts as running: several may share it.
    representative: Option<HistoryIx>,
    pub(crate) template: CompiledTemplate,
}

impl<'a> Base<'a> {
    /// The base among the old revisions, if there is one: the one that was completely rolled out last; else the one that
    /// most live pods run, then the one with the largest number, then the first by name.
    ///
    /// A revision that has failed is none, nor one whose template can't be used: its pods could not be created, or would be
    /// released at once.
    pub(super) fn choose(fleet: &Fleet<'a>, history: &History<'a>) -> Option<Self> {
        let prefix = fleet.snapshot.spec.policy.mark_prefix.as_str();
        let live = live_pods(fleet, history);
        #[cfg(daemonset_mutants)]
        let has_failed = |annotations, prefix: &str, number| {
            has_failed(annotations, prefix, number) && !is_active(Mutant::FailedBase)
        };
        let is_candidate = |(_, revision): &(HistoryIx, &Revision<'a>)| {
            revision.role == Role::Old
                && revision.view.is_some_and(|view| {
                    view.deleted_at.is_none() && !has_failed(view.annotations, prefix, revision.number)
                })
        };
        let mut candidates: Vec<_> = history.revisions.enumerated().filter(is_candidate).collect();
        candidates.sort_by_key(|(_, revision)| {
            let completed = revision.view.and_then(|view| completed_at(view.annotations, prefix));
            let pods = history.position(&revision.hash).map_or(0, |position| *live.at(position));
            (Reverse(completed), Reverse(pods), Reverse(revision.number), revision.name())
        });
        candidates
            .into_iter()
            .find_map(|(position, revision)| Base::read(fleet.snapshot, history, position, revision.view?))
    }

    /// `None` if its template can't be read or does not match the selector.
    fn read(
        snapshot: &'a Snapshot<'a>,
        history: &History<'a>,
        position: HistoryIx,
        view: RevisionView<'a>,
    ) -> Option<Self> {
        let mut problems = Problems::default();
        let template = Template::parse(view.data.pointer("/spec/template")?, &mut problems);
        let daemon_tolerations = &snapshot.spec.policy.daemon_tolerations;
        let template = CompiledTemplate::new(template, daemon_tolerations, &mut problems);
        problems.into_result().ok()?;
        if !snapshot.spec.selector.matches(&template.parsed.metadata.labels) {
            return None;
        }
        let hash = view.labels.get(&snapshot.spec.policy.unique_label_key).unwrap_or(view.name);
        let representative = history.position(hash);
        Some(Base { position, view, hash, representative, template })
    }

    /// Its template, as it is stored.
    pub(crate) fn raw_template(&self) -> &'a Value {
        self.view.data.pointer("/spec/template").unwrap_or(&Value::Null)
    }

    /// Whether a pod whose hash label names this revision is base's.
    pub(crate) fn is_revision_of(&self, pod: Option<HistoryIx>) -> bool {
        pod.is_some() && pod == self.representative
    }

    /// Whether a node should run its pod.
    pub(crate) fn placement(&self, node: &NodeView<'_>) -> Placement {
        self.template.rules().decide(node).placement
    }
}

/// The live pods of each hash, at the revision that such a pod counts as running.
fn live_pods(fleet: &Fleet<'_>, history: &History<'_>) -> IndexVec<HistoryIx, u32> {
    let mut live = IndexVec::repeat(0, history.revisions.len());
    let pods = fleet.pods.iter().filter(|pod| pod.is_live()).filter_map(|pod| pod.revision);
    let key = fleet.snapshot.spec.policy.unique_label_key.as_str();
    let without_target = fleet.without_target.iter().map(|pod| fleet.snapshot.pod(*pod));
    let without_target = without_target.filter(|pod| pod.deleted_at.is_none() && !pod.finished());
    let without_target = without_target.filter_map(|pod| history.position(pod.labels.get(key)?));
    for revision in pods.chain(without_target) {
        live.change(revision, |pods| *pods += 1);
    }
    live
}
