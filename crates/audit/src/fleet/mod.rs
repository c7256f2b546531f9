//! The nodes with the counts of their pods, before and after the deletes of the list.

pub(crate) mod context;
mod excuse;
pub(crate) mod leaving;

use crate::facts::memories;
use crate::facts::named::Subject;
use crate::facts::stage::{PodStage, Rank};
use crate::facts::strategy::Strategy;
use context::Context;
use daemonset::internal::{
    HashIx, IndexVec, NodeIx, Placement, TaintView, change, enumerate, neutral, tolerated,
};
use daemonset::model::Toleration;
use daemonset::{Action, NodeView, TurnReason};
use excuse::{Absences, taken_at};
use std::sync::Arc;

/// All nodes of the snapshot.
pub(crate) struct Fleet {
    pub(crate) nodes: IndexVec<NodeIx, NodeCounts>,
    /// D: target nodes.
    pub(crate) desired: u32,
    /// U: target nodes without an available pod, before the list.
    pub(crate) unavailable: u32,
    /// NR: target nodes without a Ready pod, before the list.
    pub(crate) not_ready: u32,
    pub(crate) carried: IndexVec<HashIx, Carried>,
    /// The nodes that the snapshot lacks.
    pub(crate) others: Others,
}

/// The nodes that a snapshot lacks, towards their goals.
#[derive(Debug, Default)]
pub(crate) struct Others {
    pub(crate) sums: Sums,
    /// Their pods by the hash.
    pub(crate) carried: Vec<(Arc<str>, Carried)>,
}

/// How many nodes count in each figure, before the list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    pub(crate) nodes: u32,
    /// D.
    pub(crate) desired: u32,
    /// U.
    unavailable: u32,
    /// NR.
    not_ready: u32,
    lost: u32,
    being_replaced: u32,
    surging: u32,
    /// Nodes that [leave last](leaving::leaves_last).
    pub(crate) leaving: u32,
}

impl Sums {
    fn change(&mut self, node: Sums, change: impl Fn(&mut u32, u32)) {
        let Sums { nodes, desired, unavailable, not_ready, lost, being_replaced, surging, leaving } = node;
        for (sum, part) in [
            (&mut self.nodes, nodes),
            (&mut self.desired, desired),
            (&mut self.unavailable, unavailable),
            (&mut self.not_ready, not_ready),
            (&mut self.lost, lost),
            (&mut self.being_replaced, being_replaced),
            (&mut self.surging, surging),
            (&mut self.leaving, leaving),
        ] {
            change(sum, part);
        }
    }

    /// Nodes that are unavailable or lost. Without surge none is both.
    pub(crate) fn down(&self) -> u32 {
        self.unavailable + self.lost
    }

    pub(crate) fn add(&mut self, node: Sums) {
        self.change(node, |sum, part| *sum += part);
    }

    pub(crate) fn subtract(&mut self, node: Sums) {
        self.change(node, |sum, part| *sum = sum.saturating_sub(part));
    }
}

/// The pods of the DaemonSet that have one hash.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Carried {
    pub(crate) pods: u32,
    /// The ones that may live and that the list neither relabels nor deletes: without a revision of this hash they would
    /// count as outdated.
    pub(crate) left_behind: u32,
}

/// The pods of the DaemonSet on a node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NodeCounts {
    is_target: bool,
    /// Its pod is about to go.
    pub(crate) in_turn: bool,
    /// It would be a target node if it were Ready itself.
    is_down: bool,
    /// The update deleted its pod, and it is no Ready target node.
    is_taken: bool,
    /// It does not count while it has no Ready pod: it was away before the update reached it.
    is_excusable: bool,
    /// Live ones that stay, by rank.
    staying: [u32; Rank::COUNT],
    /// Live ones that the list deletes.
    pub(crate) going: u32,
    /// One of them is Ready.
    lost_ready: bool,
    /// Failed and succeeded ones.
    pub(crate) finished: u32,
    /// An updated one has failed: the back-off counts.
    pub(crate) has_failed: bool,
    pub(crate) terminating: u32,
    /// One of these is only being changed in its place.
    pub(crate) is_changing: bool,
    /// Terminating ones that count in maxSurge: until their deletionTimestamp has passed.
    terminating_in_time: u32,
    /// A pod was created here, and is not seen yet.
    pub(crate) unseen: bool,
    /// That pod is updated.
    unseen_updated: bool,
    /// The list creates a pod here.
    pub(crate) creates: bool,
}

impl NodeCounts {
    const EMPTY: NodeCounts = NodeCounts {
        is_target: false,
        in_turn: false,
        is_down: false,
        is_taken: false,
        is_excusable: false,
        staying: [0; Rank::COUNT],
        going: 0,
        lost_ready: false,
        finished: 0,
        has_failed: false,
        terminating: 0,
        is_changing: false,
        terminating_in_time: 0,
        unseen: false,
        unseen_updated: false,
        creates: false,
    };
}

neutral!(NodeCounts, NodeCounts::EMPTY);

/// The loss of a node by one delete.
pub(crate) struct Loss {
    /// Position in the list.
    pub(crate) action: usize,
    /// Its last available pod.
    pub(crate) available: bool,
    /// Its last Ready pod.
    pub(crate) ready: bool,
    /// Its last live pod, where no pod that the list deletes on this node was Ready.
    pub(crate) unready: bool,
}

impl NodeCounts {
    /// The figures in which it counts, except for `leaving`, which depends on each pod.
    pub(crate) fn sums(&self) -> Sums {
        Sums {
            nodes: 1,
            desired: self.is_target.into(),
            unavailable: self.is_unavailable().into(),
            not_ready: self.is_not_ready().into(),
            lost: self.is_lost().into(),
            being_replaced: self.is_being_replaced().into(),
            surging: self.is_surging().into(),
            leaving: 0,
        }
    }

    /// Live pods that stay, of these grades.
    pub(crate) fn staying(&self, wanted: impl Fn(Rank) -> bool) -> u32 {
        let counts = enumerate(&self.staying).filter(|(rank, _)| wanted(*rank));
        counts.map(|(_, count)| count).sum()
    }

    pub(crate) fn has_available(&self) -> bool {
        self.staying(Rank::is_available) > 0
    }

    pub(crate) fn has_ready(&self) -> bool {
        self.staying(Rank::is_ready) > 0
    }

    pub(crate) fn has_live(&self) -> bool {
        self.staying(|_| true) > 0
    }

    /// Live pods of the snapshot, including those that the list deletes.
    pub(crate) fn live(&self) -> u32 {
        self.staying(|_| true) + self.going
    }

    /// It has neither an available pod nor a live outdated one, and not because of the deletes of this list.
    pub(crate) fn is_being_replaced(&self) -> bool {
        let taken = self.lost_ready || (self.going > 0 && !self.has_live());
        let outdated = self.staying(Rank::is_outdated) > 0;
        let is_going = self.in_turn && !self.has_ready();
        let is_away = !taken && !self.has_available() && !outdated;
        self.is_target && !self.is_excused() && (is_going || is_away)
    }

    pub(crate) fn is_unavailable(&self) -> bool {
        self.is_target && !self.is_excused() && (self.in_turn || !self.has_available())
    }

    fn is_not_ready(&self) -> bool {
        self.is_target && !self.is_excused() && (self.in_turn || !self.has_ready())
    }

    pub(crate) fn is_excused(&self) -> bool {
        self.is_excusable && !self.has_ready()
    }

    /// It has two or more unfinished pods `[surge-counts-doubled-nodes]`; the list's create counts where no live pod is.
    pub(crate) fn is_surging(&self) -> bool {
        let live = self.live();
        let missing = u32::from(self.creates && live == 0);
        self.is_target && live + self.terminating_in_time + u32::from(self.unseen) + missing >= 2
    }

    /// The node went down with the updated pod on it, and that pod is not Ready `[lost-nodes-count]`.
    pub(crate) fn is_lost(&self) -> bool {
        let updated = self.unseen_updated || self.staying(|rank| !rank.is_outdated()) > 0;
        let ready = self.staying(|rank| !rank.is_outdated() && rank.is_ready()) > 0;
        (self.is_down && updated && !ready) || self.is_lost_by_a_delete() || (self.in_turn && !self.is_target)
    }

    /// The update deleted its pod, none is Ready since, and no other figure counts it `[taken-nodes-count]`.
    fn is_lost_by_a_delete(&self) -> bool {
        let counted = self.is_target && (self.is_excused() || self.is_surging());
        self.is_taken && !self.has_ready() && !counted
    }

    fn count(&mut self, stage: PodStage, holds_place: bool) {
        match stage {
            PodStage::Live(rank) => {
                change(&mut self.staying, rank, |count| *count += 1);
            }
            PodStage::Failed | PodStage::Succeeded => self.finished += 1,
            PodStage::Terminating => {
                self.terminating += 1;
                self.terminating_in_time += u32::from(holds_place);
            }
            PodStage::Gone => {}
        }
    }

    fn lose(&mut self, rank: Rank, action: usize) -> Loss {
        let (available, ready) = (self.has_available(), self.has_ready());
        change(&mut self.staying, rank, |count| *count = count.saturating_sub(1));
        self.going += 1;
        self.lost_ready |= rank.is_ready();
        // A node in turn has its places already.
        Loss {
            action,
            available: !self.in_turn && available && !self.has_available(),
            ready: !self.in_turn && ready && !self.has_ready(),
            // A node that loses a Ready pod had no excuse; one that had none before may have one.
            unready: !self.in_turn && !self.is_excused() && !self.lost_ready && !self.has_live(),
        }
    }

    /// The turn that begins takes the places of the delete which follows it.
    fn begin(&self, action: usize) -> Loss {
        Loss {
            action,
            available: self.has_available(),
            ready: self.has_ready(),
            unready: !self.is_excused() && !self.has_ready(),
        }
    }
}

impl Fleet {
    /// The nodes of the snapshot, and no others.
    pub(crate) fn new(context: &Context<'_>) -> Self {
        let snapshot = context.snapshot;
        let surge = matches!(Strategy::in_force(snapshot), Strategy::Surge(_));
        let counts = |(position, node): (NodeIx, &NodeView<'_>)| {
            let placement = context.goals.placement(position);
            let is_target = placement == Placement::Run;
            // Without surge a target node is among those without an available pod.
            let counts_only_here = !is_target || (surge && node.ready == Some(false));
            NodeCounts {
                is_target,
                in_turn: context.turns.of(position).is_some(),
                is_down: matches!(placement, Placement::ContinueOnly(_))
                    && is_down(context.goals.tolerations(position), node),
                is_taken: counts_only_here && taken_at(snapshot, node.name).is_some(),
                ..NodeCounts::EMPTY
            }
        };
        let mut fleet = Fleet {
            nodes: enumerate(snapshot.nodes()).map(counts).collect(),
            desired: 0,
            unavailable: 0,
            not_ready: 0,
            carried: IndexVec::repeat(Carried::default(), snapshot.index().hashes().len()),
            others: Others::default(),
        };
        fleet.count_pods(context);
        for create in &context.unseen {
            fleet.nodes.change(create.node, |node| {
                node.unseen = true;
                node.unseen_updated = context.is_goal_of(create.node, create.revision);
            });
        }
        for node in fleet.nodes.iter().filter(|node| node.is_target) {
            fleet.desired += 1;
            fleet.unavailable += u32::from(node.is_unavailable());
            fleet.not_ready += u32::from(node.is_not_ready());
        }
        fleet
    }

    /// The same nodes beside others.
    pub(crate) fn beside(mut self, others: Others) -> Self {
        self.desired += others.sums.desired;
        self.unavailable += others.sums.unavailable;
        self.not_ready += others.sums.not_ready;
        self.others = others;
        self
    }

    /// Nodes lost to the update, by the pods that stay.
    pub(crate) fn lost(&self) -> u32 {
        self.others.sums.lost + self.nodes.iter().map(|node| u32::from(node.is_lost())).sum::<u32>()
    }

    /// Nodes that are [being replaced](NodeCounts::is_being_replaced), by the pods that stay.
    pub(crate) fn being_replaced(&self) -> u32 {
        self.others.sums.being_replaced
            + self.nodes.iter().map(|node| u32::from(node.is_being_replaced())).sum::<u32>()
    }

    /// Nodes that are [surging](NodeCounts::is_surging), with the creates of the list.
    pub(crate) fn surging(&self) -> u32 {
        self.others.sums.surging + self.nodes.iter().map(|node| u32::from(node.is_surging())).sum::<u32>()
    }

    /// Takes the list's deletes away and gives the loss of each target node, with those that its turns begin.
    pub(crate) fn lose(&mut self, context: &Context<'_>) -> Vec<Loss> {
        let mut losses = Vec::new();
        for delete in &context.deletes {
            if let (Some(node), PodStage::Live(rank)) = (delete.facts.node, delete.stage) {
                let loss = self.nodes.change(node, |node| {
                    let loss = node.lose(rank, delete.action);
                    node.is_target.then_some(loss)
                });
                losses.extend(loss.flatten());
            }
        }
        for (index, action, subject) in context.actions() {
            if let (Action::PatchNode { reason: TurnReason::TurnBegins, .. }, Subject::Node(node)) =
                (action, subject)
            {
                losses
                    .extend(Some(self.nodes.at(node).begin(index)).filter(|_| self.nodes.at(node).is_target));
            }
        }
        losses
    }

    /// Counts every pod of the DaemonSet, and those that it may adopt, on its node.
    fn count_pods(&mut self, context: &Context<'_>) {
        let mut absences = Absences::new(context);
        for (position, pod, facts) in context.own_pods() {
            let stage = context.stage(pod, facts);
            if let Some(hash) = facts.hash {
                let marks = context.marks(position);
                let may_live = !matches!(stage, PodStage::Terminating | PodStage::Gone);
                self.carried.change(hash, |carried| {
                    carried.pods += 1;
                    carried.left_behind += u32::from(may_live && !marks.labelled && !marks.deleted);
                });
            }
            if let Some(node) = facts.node {
                let now = context.snapshot.now();
                let is_changing = stage == PodStage::Terminating
                    && pod.deleted_at.is_none()
                    && memories::change_in_flight(context.snapshot, pod)
                    && !memories::delete_in_flight(context.snapshot, pod.uid);
                absences.note_pod(context.snapshot, node, pod, stage, context.is_of_goal(facts));
                self.nodes.change(node, |node| {
                    node.count(stage, pod.deleted_at.is_none_or(|overdue| now < overdue));
                    node.is_changing |= is_changing;
                    node.has_failed |= stage == PodStage::Failed && context.is_of_goal(facts);
                });
            }
        }
        for node in absences.excused() {
            self.nodes.change(node, |node| node.is_excusable = true);
        }
    }
}

/// The kubelet reports the node as not Ready, or has not reported at all, and no other NoSchedule taint keeps the node from
/// being a target (v1.36 `node_lifecycle_controller.go`).
fn is_down(tolerations: &[Toleration], node: &NodeView<'_>) -> bool {
    let of_others = |taint: TaintView<'_>| {
        let own = matches!(taint.key.strip_prefix("node.kubernetes.io/"), Some("not-ready" | "unreachable"));
        !own && taint.effect == "NoSchedule" && !tolerated(taint, tolerations)
    };
    node.ready == Some(false) && !node.taints.iter().any(of_others)
}
