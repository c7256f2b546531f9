//! Nodes that were away before the update reached them, and do not count if the policy says so: judged apart from the
//! planner.

use crate::facts::in_place;
use crate::facts::stage::PodStage;
use crate::fleet::context::Context;
use daemonset::internal::{NodeIx, enumerate};
use daemonset::policy::{DownNodesPolicy, LifecyclePolicy};
use daemonset::{PodView, Snapshot};
use jiff::Timestamp;

/// The nodes of the snapshot that are away for a reason which the policy excuses, by node.
pub(crate) struct Absences {
    nodes: Vec<(NodeIx, Absence)>,
    revision_created_at: Option<Timestamp>,
}

/// When a node went away, and when the update came to it.
struct Absence {
    /// Since when it is down.
    since: Timestamp,
    /// The first trace of the update: an updated pod, or a delete.
    reached_at: Option<Timestamp>,
    /// A pod there is still outdated.
    has_outdated: bool,
    /// The memory's delete.
    taken_at: Option<Timestamp>,
}

impl Absences {
    pub(crate) fn new(context: &Context<'_>) -> Self {
        let snapshot = context.snapshot;
        let away =
            enumerate(snapshot.nodes()).filter_map(|(node, _)| Some((node, Absence::new(snapshot, node)?)));
        let mut absences = Absences {
            nodes: away.collect(),
            revision_created_at: context.lineage.current().and_then(|member| member.view.created_at),
        };
        for create in &context.unseen {
            let updated = context.is_goal_of(create.node, create.revision);
            absences.note(create.node, updated.then_some(create.at), !updated);
        }
        for (node, turn) in context.turns.in_turn() {
            absences.note(node, Some(turn.at), false);
        }
        absences
    }

    /// Notes a pod of the DaemonSet.
    pub(crate) fn note_pod(
        &mut self,
        snapshot: &Snapshot<'_>,
        node: NodeIx,
        pod: &PodView<'_>,
        stage: PodStage,
        updated: bool,
    ) {
        let reached_at = match stage {
            PodStage::Live(_) if updated => in_place::birth(pod, snapshot.now()),
            PodStage::Terminating => pod.deletion_asked_at().or_else(|| {
                let deletes = snapshot.memory().map(|memory| memory.deletes());
                deletes.and_then(|deletes| deletes.get(pod.uid)).map(|delete| delete.at)
            }),
            PodStage::Live(_) | PodStage::Failed | PodStage::Succeeded => None,
            PodStage::Gone => return,
        };
        self.note(node, reached_at, !updated);
    }

    fn note(&mut self, node: NodeIx, reached_at: Option<Timestamp>, outdated: bool) {
        // Most fleets have no such node, and no pod is looked up.
        let Ok(found) = self.nodes.binary_search_by_key(&node, |(node, _)| *node) else { return };
        if let Some((_, absence)) = self.nodes.get_mut(found) {
            absence.reached_at = [absence.reached_at, reached_at].into_iter().flatten().min();
            absence.has_outdated |= outdated;
        }
    }

    /// The nodes that are excused while they have no Ready pod.
    pub(crate) fn excused(&self) -> impl Iterator<Item = NodeIx> {
        let excused = |absence: &Absence| {
            let Absence { since, .. } = *absence;
            let earliest = if absence.has_outdated { None } else { self.revision_created_at };
            let not_by_us =
                earliest.is_none_or(|created_at| since <= created_at) || absence.taken_at.is_some();
            let mut traces = [absence.reached_at, absence.taken_at].into_iter().flatten();
            not_by_us && traces.all(|at| since <= at)
        };
        self.nodes.iter().filter(move |(_, absence)| excused(absence)).map(|(node, _)| *node)
    }
}

impl Absence {
    /// `None` if it is not down since a known instant, or if the policy excuses nothing.
    fn new(snapshot: &Snapshot<'_>, node: NodeIx) -> Option<Self> {
        let view = snapshot.node(node);
        let leaves = view.lifecycle.is_some() && snapshot.spec().policy.lifecycle == LifecyclePolicy::Respect;
        let excuses = leaves || snapshot.spec().policy.down_nodes == DownNodesPolicy::ExcuseIfDownBefore;
        let since = view.ready_since.filter(|_| view.ready == Some(false) && excuses)?;
        let taken_at = taken_at(snapshot, view.name);
        Some(Absence { since, reached_at: None, has_outdated: false, taken_at })
    }
}

/// When the update deleted the pod of this node, if the memory still waits for a Ready one.
pub(crate) fn taken_at(snapshot: &Snapshot<'_>, node: &str) -> Option<Timestamp> {
    snapshot.memory()?.deleted_by_update().get(node).map(|taken| taken.at)
}
