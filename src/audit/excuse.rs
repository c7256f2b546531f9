//! Nodes that were away before the update reached them, and do not count if the policy says so: judged apart from the
//! planner.

use super::context::Context;
use super::stage::PodStage;
use crate::snapshot::position::{NodeIx, enumerate};
use crate::snapshot::{DownNodesPolicy, LifecyclePolicy, Snapshot};
use crate::view::PodView;
use jiff::Timestamp;

/// The nodes of the snapshot that are away for a reason which the policy excuses, by node.
pub(super) struct Absences {
    nodes: Vec<(NodeIx, Absence)>,
    revision_created_at: Option<Timestamp>,
}

/// When a node went away, and when the update came to it.
struct Absence {
    /// Since when it is down, and since when it leaves.
    since: [Option<Timestamp>; 2],
    /// The first trace of the update: an updated pod, or a delete.
    reached_at: Option<Timestamp>,
    /// A pod there is still outdated.
    has_outdated: bool,
    /// A pod is on its way in or out.
    is_touched: bool,
    /// The memory's delete.
    taken_at: Option<Timestamp>,
}

impl Absences {
    pub(super) fn new(context: &Context<'_>) -> Self {
        let snapshot = context.snapshot;
        let away = enumerate(&snapshot.nodes).filter_map(|(node, _)| {
            let absence = Absence::new(snapshot, node);
            absence.since.iter().any(Option::is_some).then_some((node, absence))
        });
        let mut absences = Absences {
            nodes: away.collect(),
            revision_created_at: context.lineage.current().and_then(|member| member.view.created_at),
        };
        for create in &context.unseen {
            let updated = context.lineage.has_template(create.revision);
            absences.note(create.node, updated.then_some(create.at), !updated, true);
        }
        absences
    }

    /// Notes a pod of the DaemonSet.
    pub(super) fn note_pod(
        &mut self,
        snapshot: &Snapshot<'_>,
        node: NodeIx,
        pod: &PodView<'_>,
        stage: PodStage,
        updated: bool,
    ) {
        let reached_at = match stage {
            PodStage::Live(_) if updated => pod.created_at,
            PodStage::Terminating => pod.deletion_asked_at().or_else(|| {
                let deletes = snapshot.memory.as_ref().map(|memory| &memory.deletes);
                deletes.and_then(|deletes| deletes.get(pod.uid)).map(|delete| delete.at)
            }),
            PodStage::Live(_) | PodStage::Failed | PodStage::Succeeded => None,
            PodStage::Gone => return,
        };
        self.note(node, reached_at, !updated, stage == PodStage::Terminating);
    }

    fn note(&mut self, node: NodeIx, reached_at: Option<Timestamp>, outdated: bool, touched: bool) {
        // Most fleets have no such node, and no pod is looked up.
        let Ok(found) = self.nodes.binary_search_by_key(&node, |(node, _)| *node) else { return };
        if let Some((_, absence)) = self.nodes.get_mut(found) {
            absence.reached_at = [absence.reached_at, reached_at].into_iter().flatten().min();
            absence.has_outdated |= outdated;
            absence.is_touched |= touched;
        }
    }

    /// The nodes that are excused while they have no Ready pod.
    pub(super) fn excused(&self) -> impl Iterator<Item = NodeIx> {
        let excused = |absence: &Absence| {
            let [down, leaves] = absence.since;
            // An available pod may have been taken from a node that leaves, but not from one that is down.
            let untouched = absence.has_outdated && !absence.is_touched && absence.taken_at.is_none();
            [down, leaves.filter(|_| untouched)].iter().flatten().any(|since| {
                let earliest = if absence.has_outdated { None } else { self.revision_created_at };
                let not_by_us = earliest.is_none_or(|created_at| *since <= created_at)
                    || absence.taken_at.is_some_and(|at| *since <= at);
                let went_first = absence.taken_at.is_none_or(|at| *since <= at);
                not_by_us && went_first && absence.reached_at.is_none_or(|at| *since <= at)
            })
        };
        self.nodes.iter().filter(move |(_, absence)| excused(absence)).map(|(node, _)| *node)
    }
}

impl Absence {
    fn new(snapshot: &Snapshot<'_>, node: NodeIx) -> Self {
        let view = snapshot.node(node);
        let down = view.ready_since.filter(|_| {
            view.ready == Some(false) && snapshot.policy.down_nodes == DownNodesPolicy::ExcuseIfDownBefore
        });
        let respected = snapshot.policy.lifecycle == LifecyclePolicy::Respect;
        let leaves = view.lifecycle.filter(|_| respected).and_then(|lifecycle| lifecycle.since);
        Absence {
            since: [down, leaves],
            reached_at: None,
            has_outdated: false,
            is_touched: false,
            taken_at: taken_at(snapshot, view.name),
        }
    }
}

/// When the update deleted the pod of this node, if the memory still waits for a Ready one.
pub(super) fn taken_at(snapshot: &Snapshot<'_>, node: &str) -> Option<Timestamp> {
    snapshot.memory.as_ref()?.taken.get(node).map(|taken| taken.at)
}
