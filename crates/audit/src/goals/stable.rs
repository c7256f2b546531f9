//! The stable revision: the revision for the nodes that the rollout has not reached, chosen apart from the planner.

use super::marks;
use super::undo::{restored_at, undone_number};
use crate::facts::lineage::{Lineage, Member};
use crate::facts::stage::{PodStage, PodStages};
use daemonset::internal::{CompiledTemplate, HashIx, IndexVec, Ownership, Problems, Template};
use daemonset::{RevisionView, Snapshot};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// An old revision, with its template.
pub(crate) struct Stable<'s> {
    pub(crate) view: &'s RevisionView<'s>,
    /// Its hash label, or its name where it has none.
    pub(crate) hash: &'s str,
    pub(crate) template: CompiledTemplate,
}

impl<'s> Stable<'s> {
    /// Of the old revisions that have not failed and whose template can be used: the one that was completed last; then the
    /// one with the most live pods, the largest number, the smallest name. `live_elsewhere` counts the live pods with a hash on nodes that the
    /// snapshot lacks.
    pub(crate) fn choose(
        snapshot: &'s Snapshot<'s>,
        lineage: &Lineage<'s>,
        stages: &PodStages<'_>,
        live_elsewhere: impl Fn(&str) -> u32,
    ) -> Option<Self> {
        let prefix = snapshot.spec().policy.mark_prefix.as_str();
        let live = live_pods(snapshot, lineage, stages);
        let mut candidates: Vec<&Member<'s>> = lineage.members.iter().filter(|m| !m.equal).collect();
        candidates.retain(|m| m.view.deleted_at.is_none() && !has_failed(m.view, prefix));
        let undone = undone_number(snapshot, lineage);
        candidates.sort_by_key(|member| {
            // One that was chosen to come back is the stable revision, whatever its pods and other marks are.
            let restored = undone.and_then(|failed| restored_at(member, prefix, failed));
            if restored.is_some() {
                return (Reverse((restored, None, 0, 0)), member.view.name);
            }
            let completed = marks::get(member.view.annotations, prefix, "completed").map(|mark| mark.at);
            let pods = live.get(member.hash).copied().unwrap_or(0) + live_elsewhere(member.hash);
            (Reverse((None, completed, pods, member.view.number)), member.view.name)
        });
        candidates.into_iter().find_map(|member| {
            let template = usable(snapshot, member.view)?;
            Some(Stable { view: member.view, hash: member.hash, template })
        })
    }
}

/// Whether a revision has a valid mark `failed`.
pub(crate) fn has_failed(revision: &RevisionView<'_>, prefix: &str) -> bool {
    marks::get(revision.annotations, prefix, "failed").is_some_and(|mark| mark.number == revision.number)
}

/// The template of a revision; `None` if it can't be read, or the selector does not match its pods.
fn usable(snapshot: &Snapshot<'_>, revision: &RevisionView<'_>) -> Option<CompiledTemplate> {
    let mut problems = Problems::default();
    let template = Template::parse(revision.data.pointer("/spec/template")?, &mut problems);
    let template = CompiledTemplate::new(template, &snapshot.spec().policy.daemon_tolerations, &mut problems);
    problems.into_result().ok()?;
    snapshot.spec().selector.matches(&template.parsed.metadata.labels).then_some(template)
}

/// How many live pods of the DaemonSet have each hash.
fn live_pods<'s>(
    snapshot: &'s Snapshot<'s>,
    lineage: &Lineage<'s>,
    stages: &PodStages<'_>,
) -> BTreeMap<&'s str, u32> {
    let mut counts: IndexVec<HashIx, u32> = IndexVec::repeat(0, snapshot.index().hashes().len());
    for (_, pod, facts) in snapshot.pods_with_facts() {
        let ours = facts.selected
            && match facts.ownership {
                Ownership::Controlled => true,
                Ownership::Orphan => pod.deleted_at.is_none(),
                Ownership::Foreign => false,
            };
        // No plan deletes a pod without a node, so that its object alone counts.
        let is_live = match pod.target {
            Some(_) => matches!(stages.stage(pod, || lineage.is_updated(facts)), PodStage::Live(_)),
            None => pod.deleted_at.is_none() && !pod.finished(),
        };
        if let Some(hash) = facts.hash.filter(|_| ours && is_live) {
            counts.change(hash, |count| *count += 1);
        }
    }
    snapshot.index().hashes().zip(counts.iter().copied()).collect()
}
