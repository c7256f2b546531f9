//! Mustering the fleet: each pod is classified once and put on its node.

use super::{Fleet, FleetNode, FleetPod, InFlight, Readiness, Stage, available_at};
use crate::action::LabelReason;
use crate::memory::observe::UnseenCreate;
use crate::reconcile::claim::Claim;
use crate::reconcile::classify::{Class, Classifier, Evidence};
use crate::reconcile::history::{History, Role};
use crate::snapshot::Snapshot;
use crate::snapshot::position::{FleetIx, HistoryIx, IndexVec, NodeIx, PodIx, Position};
use crate::view::{Phase, PodView};
use jiff::Timestamp;

impl<'a> Fleet<'a> {
    pub(crate) fn muster(snapshot: &'a Snapshot<'a>, claim: &Claim, history: &History<'_>) -> Self {
        let mut fleet = Fleet {
            snapshot,
            nodes: Vec::with_capacity(snapshot.nodes.len()).into(),
            pods: Vec::new().into(),
            strays: FleetIx::new(0),
            without_target: Vec::new(),
            in_flight: in_flight_creates(snapshot, history),
            labels: Vec::new(),
            belief_ends: None,
            carried: IndexVec::repeat(false, history.revisions.len()),
            conflicts: 0,
        };
        fleet.carry_in_flight(history);
        let mut mustered = Vec::with_capacity(claim.pods.owned.len());
        let classifier = Classifier::new(snapshot, history);
        for position in &claim.pods.owned {
            let class = classifier.class(snapshot.facts(*position));
            mustered.extend(fleet.muster_pod(*position, class, history));
        }
        fleet.station(&mustered);
        fleet
    }

    /// A pod that is created but not seen yet carries its revision's hash, too.
    fn carry_in_flight(&mut self, history: &History<'_>) {
        let creates = self.snapshot.memory.as_ref().map(|memory| memory.unseen_creates(self.snapshot));
        for create in creates.into_iter().flatten() {
            self.believe_until(create.until);
            self.carry(history.position(create.revision));
        }
    }

    fn carry(&mut self, revision: Option<HistoryIx>) {
        if let Some(revision) = revision {
            self.carried.set(revision, true);
        }
    }

    fn believe_until(&mut self, until: Timestamp) {
        self.belief_ends = Some(self.belief_ends.map_or(until, |other| other.min(until)));
    }

    /// What the pod adds to the fleet; none for one that is gone or has no target.
    fn muster_pod(
        &mut self,
        position: PodIx,
        class: Class,
        history: &History<'_>,
    ) -> Option<(Option<NodeIx>, FleetPod)> {
        let pod = self.snapshot.pod(position);
        self.carry(class.revision);
        let stage = self.stage(pod);
        // A pod whose deletion was accepted may be gone: a label for it could only fail.
        let may_be_gone = pod.deleted_at.is_none() && matches!(stage, None | Some(Stage::DeleteInFlight));
        if !may_be_gone {
            self.labels.extend(label_needed(history, &class, stage).map(|reason| (position, reason)));
        }
        let stage = stage?;
        self.conflicts += u32::from(class.conflict && stage == Stage::Live);
        if pod.target.is_none() {
            self.without_target.push(position);
            return None;
        }
        let node = self.snapshot.facts(position).node;
        let readiness = readiness(self.snapshot, pod);
        let Class { evidence, revision, .. } = class;
        Some((node, FleetPod { view: position, revision, stage, readiness, evidence }))
    }

    /// None for a pod that is terminating and finished: it runs nothing any more, and is as good as gone.
    fn stage(&mut self, pod: &PodView<'_>) -> Option<Stage> {
        let memory = self.snapshot.memory.as_ref().filter(|memory| memory.has_deletes());
        let deleting = memory.and_then(|memory| memory.deleting_until(pod.uid, self.snapshot));
        match (pod.deleted_at, deleting, pod.phase) {
            (None, None, Phase::Failed) => Some(Stage::Failed),
            (None, None, Phase::Succeeded) => Some(Stage::Succeeded),
            (None, None, Phase::Running | Phase::PendingOrUnknown) => Some(Stage::Live),
            (Some(_), _, _) if pod.finished() => None,
            (Some(_), _, _) => Some(Stage::Terminating),
            (None, Some(until), _) => {
                self.believe_until(until);
                (!pod.finished()).then_some(Stage::DeleteInFlight)
            }
        }
    }

    /// Puts the pods of a node side by side.
    ///
    /// A counting sort: nodes are small numbers, so that two passes over the pods do without a comparison. The first
    /// pass counts the pods of each node, which gives the place of its first pod; the second one puts each pod into
    /// the next free place of its node. Pods of unknown nodes come last, as those of one more node.
    fn station(&mut self, pods: &[(Option<NodeIx>, FleetPod)]) {
        let snapshot = self.snapshot;
        let unknown = NodeIx::new(snapshot.nodes.len());
        let mut places: IndexVec<NodeIx, u32> = IndexVec::repeat(0, snapshot.nodes.len() + 1);
        for (node, _) in pods {
            places.change(node.unwrap_or(unknown), |count| *count += 1);
        }
        let mut next = 0;
        for node in places.positions() {
            let first_pod = FleetIx::new(next as usize);
            if node == unknown {
                self.strays = first_pod;
            } else {
                self.nodes.push(FleetNode { placement: snapshot.placement(node), first_pod });
            }
            // From here on it is the node's next free place.
            places.change(node, |place| (*place, next) = (next, next + *place));
        }
        let Some((_, first)) = pods.first() else { return };
        self.pods = IndexVec::repeat(*first, pods.len());
        for (node, pod) in pods {
            let place = places.change(node.unwrap_or(unknown), |place| std::mem::replace(place, *place + 1));
            if let Some(place) = place {
                self.pods.set(FleetIx::new(place as usize), *pod);
            }
        }
    }
}

fn in_flight_creates(snapshot: &Snapshot<'_>, history: &History<'_>) -> Vec<InFlight> {
    let Some(memory) = &snapshot.memory else { return Vec::new() };
    let of_template = |hash: &str| {
        let named = history.position(hash).map(|position| history.revision(position));
        named.is_some_and(|revision| revision.role != Role::Old)
    };
    let stationed = |create: UnseenCreate<'_>| {
        Some(InFlight {
            node: snapshot.index.node(create.node.as_str())?,
            until: create.until,
            updated: of_template(create.revision),
        })
    };
    let mut creates: Vec<_> = memory.unseen_creates(snapshot).into_iter().filter_map(stationed).collect();
    creates.sort_unstable_by_key(|create| create.node);
    creates
}

fn label_needed(history: &History<'_>, class: &Class, stage: Option<Stage>) -> Option<LabelReason> {
    if class.unlabelled {
        let needed = class.evidence == Evidence::TemplateGeneration && stage == Some(Stage::Live);
        return needed.then_some(LabelReason::HashMissing);
    }
    let revision = history.revision(class.revision?);
    let duplicate = revision.role == Role::Duplicate;
    (duplicate && revision.hash != history.current_hash()).then_some(LabelReason::DuplicateRevision)
}

fn readiness(snapshot: &Snapshot<'_>, pod: &PodView<'_>) -> Readiness {
    match (pod.ready, pod.phase) {
        (true, _) if is_available(snapshot, pod) => Readiness::Available,
        (true, _) => Readiness::Young,
        (false, Phase::PendingOrUnknown) => Readiness::Pending,
        (false, Phase::Running | Phase::Failed | Phase::Succeeded) => Readiness::NotReady,
    }
}

/// v1.36 `podutil.IsPodAvailable`, for a Ready pod.
fn is_available(snapshot: &Snapshot<'_>, pod: &PodView<'_>) -> bool {
    snapshot.min_ready().is_zero() || available_at(snapshot, pod).is_some_and(|at| at <= snapshot.now)
}
