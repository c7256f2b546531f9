//! The nodes with what stands on them, before and after the list's deletes: counts, no pods.

use super::docket::{Deletion, Docket};
use super::life::{Grade, Life};
use crate::kubernetes::ownership::Ownership;
use crate::kubernetes::tolerations::tolerated;
use crate::snapshot::Snapshot;
use crate::snapshot::placement::Placement;
use crate::snapshot::position::{HashIx, IndexVec, NodeIx, neutral};
use crate::view::{NodeView, TaintView};

/// All nodes of the snapshot.
pub(super) struct Fleet {
    pub(super) stations: IndexVec<NodeIx, Station>,
    /// D: target nodes.
    pub(super) desired: u32,
    /// U: target nodes without an available pod, before the list.
    pub(super) unavailable: u32,
    /// NR: target nodes without a Ready pod, before the list.
    pub(super) not_ready: u32,
    /// How many pods of the DaemonSet carry each hash; and how many of those a duplicate's delete would
    /// orphan: they may live, and are neither relabelled nor deleted by the list.
    pub(super) carried: IndexVec<HashIx, Carried>,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Carried {
    pub(super) pods: u32,
    pub(super) left_behind: u32,
}

/// The pods of the DaemonSet on a node.
#[derive(Debug, Clone, Copy)]
pub(super) struct Station {
    is_target: bool,
    /// It would be one, were it Ready itself.
    is_down: bool,
    /// Live ones that stay, by grade.
    staying: [u32; Grade::ALL],
    /// Live ones that the list deletes.
    pub(super) going: u32,
    /// One of them is Ready.
    lost_ready: bool,
    /// Failed and succeeded ones.
    pub(super) finished: u32,
    /// An updated one has failed: the back-off counts.
    pub(super) has_failed: bool,
    pub(super) leaving: u32,
    /// Those of them that hold a place in maxSurge: until their deletionTimestamp has passed.
    leaving_in_time: u32,
    /// A pod was created here, and is not seen yet.
    pub(super) unseen: bool,
    /// That pod is updated.
    unseen_updated: bool,
    /// The list creates a pod here.
    pub(super) creates: bool,
}

impl Station {
    const EMPTY: Station = Station {
        is_target: false,
        is_down: false,
        staying: [0; Grade::ALL],
        going: 0,
        lost_ready: false,
        finished: 0,
        has_failed: false,
        leaving: 0,
        leaving_in_time: 0,
        unseen: false,
        unseen_updated: false,
        creates: false,
    };
}

neutral!(Station, Station::EMPTY);

/// What a node loses by one delete.
pub(super) struct Loss {
    /// Position in the list.
    pub(super) action: usize,
    /// Its last available pod.
    pub(super) available: bool,
    /// Its last Ready pod.
    pub(super) ready: bool,
    /// Its last live pod, none that the list deletes here having been Ready.
    pub(super) unready: bool,
}

impl Station {
    /// Live pods that stay, of these grades.
    pub(super) fn staying(&self, wanted: impl Fn(usize) -> bool) -> u32 {
        let counts = self.staying.iter().enumerate().filter(|(grade, _)| wanted(*grade));
        counts.map(|(_, count)| count).sum()
    }

    pub(super) fn has_available(&self) -> bool {
        self.staying(|grade| grade < 2) > 0
    }

    pub(super) fn has_ready(&self) -> bool {
        self.staying(|grade| grade < 4) > 0
    }

    pub(super) fn has_live(&self) -> bool {
        self.staying(|_| true) > 0
    }

    /// Live pods of the snapshot, whatever the list does to them.
    pub(super) fn live(&self) -> u32 {
        self.staying(|_| true) + self.going
    }

    /// No available pod, no live outdated one, and not by what this list takes.
    pub(super) fn is_being_replaced(&self) -> bool {
        let taken = self.lost_ready || (self.going > 0 && !self.has_live());
        let outdated = self.staying(|grade| grade % 2 == 1) > 0;
        self.is_target && !taken && !self.has_available() && !outdated
    }

    /// Two unfinished pods or more `[surge-counts-doubled-nodes]`; the list's create counts where no live pod is.
    pub(super) fn is_doubled(&self) -> bool {
        let live = self.live();
        let missing = u32::from(self.creates && live == 0);
        self.is_target && live + self.leaving_in_time + u32::from(self.unseen) + missing >= 2
    }

    /// The node went down with the updated pod on it, which is not Ready any more `[lost-nodes-count]`.
    fn is_lost(&self) -> bool {
        let updated = self.unseen_updated || self.staying(|grade| grade % 2 == 0) > 0;
        let ready = self.staying(|grade| grade == 0 || grade == 2) > 0;
        self.is_down && updated && !ready
    }

    fn settle(&mut self, life: Life, holds_place: bool) {
        match life {
            Life::Live(grade) => {
                if let Some(count) = self.staying.get_mut(grade.position()) {
                    *count += 1;
                }
            }
            Life::Failed | Life::Succeeded => self.finished += 1,
            Life::Leaving => {
                self.leaving += 1;
                self.leaving_in_time += u32::from(holds_place);
            }
            Life::Gone => {}
        }
    }

    fn lose(&mut self, grade: Grade, action: usize) -> Loss {
        let (available, ready) = (self.has_available(), self.has_ready());
        if let Some(count) = self.staying.get_mut(grade.position()) {
            *count = count.saturating_sub(1);
        }
        self.going += 1;
        self.lost_ready |= grade.is_ready();
        Loss {
            action,
            available: available && !self.has_available(),
            ready: ready && !self.has_ready(),
            unready: !self.lost_ready && !self.has_live(),
        }
    }
}

impl Fleet {
    pub(super) fn of(docket: &Docket<'_>) -> Self {
        let snapshot = docket.snapshot;
        let station = |(placement, node): (&Placement, &NodeView<'_>)| Station {
            is_target: *placement == Placement::Run,
            is_down: matches!(placement, Placement::ContinueOnly(_)) && is_down(snapshot, node),
            ..Station::EMPTY
        };
        let mut fleet = Fleet {
            stations: snapshot.placements.iter().zip(&snapshot.nodes).map(station).collect(),
            desired: 0,
            unavailable: 0,
            not_ready: 0,
            carried: IndexVec::repeat(Carried::default(), snapshot.index.hashes().len()),
        };
        fleet.settle(docket);
        for create in &docket.unseen {
            fleet.stations.change(create.node, |station| {
                station.unseen = true;
                station.unseen_updated = docket.lineage.has_template(create.revision);
            });
        }
        for station in fleet.stations.iter().filter(|station| station.is_target) {
            fleet.desired += 1;
            fleet.unavailable += u32::from(!station.has_available());
            fleet.not_ready += u32::from(!station.has_ready());
        }
        fleet
    }

    /// Nodes lost to the update, by the pods that stay.
    pub(super) fn lost(&self) -> u32 {
        self.stations.iter().map(|station| u32::from(station.is_lost())).sum()
    }

    /// Takes the list's deletes away, and tells what each costs its target node.
    pub(super) fn lose(&mut self, deletes: &[Deletion<'_>]) -> Vec<Loss> {
        let mut losses = Vec::new();
        for delete in deletes {
            if let (Some(node), Life::Live(grade)) = (delete.facts.node, delete.life) {
                let loss = self.stations.change(node, |station| {
                    let loss = station.lose(grade, delete.action);
                    station.is_target.then_some(loss)
                });
                losses.extend(loss.flatten());
            }
        }
        losses
    }

    /// Puts every pod of the DaemonSet, and those that it may adopt, on its node.
    fn settle(&mut self, docket: &Docket<'_>) {
        for (position, pod, facts) in docket.snapshot.pods_with_facts() {
            let ours = match facts.tie {
                Ownership::Controlled => true,
                Ownership::Orphan => pod.deleted_at.is_none(),
                Ownership::Foreign => false,
            };
            if !ours || !facts.selected {
                continue;
            }
            let life = docket.doctor.life(pod, facts, &docket.lineage);
            if let Some(hash) = facts.hash {
                let marks = docket.marks(position);
                let may_live = !matches!(life, Life::Leaving | Life::Gone);
                self.carried.change(hash, |carried| {
                    carried.pods += 1;
                    carried.left_behind += u32::from(may_live && !marks.labelled && !marks.deleted);
                });
            }
            if let Some(node) = facts.node {
                let now = docket.snapshot.now;
                self.stations.change(node, |station| {
                    station.settle(life, pod.deleted_at.is_none_or(|overdue| now < overdue));
                    station.has_failed |= life == Life::Failed && docket.lineage.is_updated(facts);
                });
            }
        }
    }
}

/// Its kubelet says that it is not Ready, or is not heard of, and no other NoSchedule taint keeps it from being a target
/// node (v1.36 `node_lifecycle_controller.go`).
fn is_down(snapshot: &Snapshot<'_>, node: &NodeView<'_>) -> bool {
    let of_others = |taint: TaintView<'_>| {
        let own = matches!(taint.key.strip_prefix("node.kubernetes.io/"), Some("not-ready" | "unreachable"));
        !own && taint.effect == "NoSchedule" && !tolerated(taint, &snapshot.tolerations)
    };
    node.ready == Some(false) && !node.taints.iter().any(of_others)
}
