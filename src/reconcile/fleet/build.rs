//! Mustering the fleet: each pod is classified once and put on its node.

use super::{Fleet, FleetNode, FleetPod, InFlight, Readiness, Stage, available_at};
use crate::action::LabelReason;
use crate::memory::observe::UnseenCreate;
use crate::reconcile::claim::Claim;
use crate::reconcile::classify::{Class, Classifier, Evidence};
use crate::reconcile::history::{History, Role};
use crate::snapshot::Snapshot;
use crate::snapshot::index::PodFacts;
use crate::view::{Phase, PodView};
use jiff::Timestamp;

impl<'a> Fleet<'a> {
    pub(crate) fn muster(snapshot: &'a Snapshot<'a>, claim: &Claim, history: &History<'_>) -> Self {
        let mut fleet = Fleet {
            snapshot,
            nodes: Vec::with_capacity(snapshot.nodes.len()),
            pods: Vec::new(),
            strays: 0,
            without_target: Vec::new(),
            in_flight: in_flight_creates(snapshot, history),
            labels: Vec::new(),
            belief_ends: None,
            carried: vec![false; history.revisions.len()],
            conflicts: 0,
        };
        fleet.carry_in_flight(history);
        let mut mustered = Vec::with_capacity(claim.pods.owned.len());
        let classifier = Classifier::new(snapshot, history);
        for position in &claim.pods.owned {
            let pod = snapshot.pods.get(*position as usize).zip(snapshot.index.pods.get(*position as usize));
            if let Some((pod, facts)) = pod {
                let class = classifier.class(facts);
                mustered.extend(fleet.muster_pod(*position, pod, facts, class, history));
            }
        }
        fleet.station(&mustered);
        fleet
    }

    /// A pod that is created but not seen yet carries its revision's hash, too.
    fn carry_in_flight(&mut self, history: &History<'_>) {
        let creates = self.snapshot.memory.as_ref().map(|memory| memory.unseen_creates(self.snapshot));
        for create in creates.into_iter().flatten() {
            self.believe_until(create.until);
            let position = history.position(create.revision);
            if let Some(carried) = position.and_then(|position| self.carried.get_mut(position as usize)) {
                *carried = true;
            }
        }
    }

    fn believe_until(&mut self, until: Timestamp) {
        self.belief_ends = Some(self.belief_ends.map_or(until, |other| other.min(until)));
    }

    /// What the pod adds to the fleet; none for one that is gone or has no target.
    fn muster_pod(
        &mut self,
        position: u32,
        pod: &PodView<'_>,
        facts: &PodFacts,
        class: Class,
        history: &History<'_>,
    ) -> Option<(u32, FleetPod)> {
        if let Some(carried) = class.revision.and_then(|revision| self.carried.get_mut(revision as usize)) {
            *carried = true;
        }
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
        let node = facts.node().unwrap_or(u32::MAX);
        let readiness = readiness(self.snapshot, pod);
        let revision = class.revision.map_or(0, |revision| revision + 1);
        Some((node, FleetPod { view: position, revision, stage, readiness, evidence: class.evidence }))
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

    /// Puts the pods of a node side by side: a counting sort, since the nodes have numbers.
    fn station(&mut self, mustered: &[(u32, FleetPod)]) {
        let unknown = self.snapshot.nodes.len();
        let slot = |node: u32| (node as usize).min(unknown);
        let mut ends = vec![0_u32; unknown + 1];
        for (node, _) in mustered {
            if let Some(count) = ends.get_mut(slot(*node)) {
                *count += 1;
            }
        }
        let mut next = 0;
        for (end, placement) in ends.iter_mut().zip(self.snapshot.placements.iter().map(Some).chain([None])) {
            match placement {
                Some(placement) => self.nodes.push(FleetNode { placement: *placement, first_pod: next }),
                None => self.strays = next as usize,
            }
            // From here on `end` is the place of the node's next pod.
            (*end, next) = (next, next + *end);
        }
        let Some((_, first)) = mustered.first() else { return };
        self.pods = vec![*first; mustered.len()];
        for (node, pod) in mustered {
            let Some(place) = ends.get_mut(slot(*node)) else { continue };
            if let Some(free) = self.pods.get_mut(*place as usize) {
                *free = *pod;
            }
            *place += 1;
        }
    }
}

fn in_flight_creates(snapshot: &Snapshot<'_>, history: &History<'_>) -> Vec<InFlight> {
    let Some(memory) = &snapshot.memory else { return Vec::new() };
    let of_template = |hash: &str| {
        let named = history.position(hash).and_then(|position| history.revision(position));
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
    let revision = history.revision(class.revision?)?;
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
