//! Builds the fleet: classifies each pod once and puts it on its node.

use crate::action::LabelReason;
use crate::input::memory::Memory;
use crate::input::memory::in_flight::UnseenCreate;
use crate::input::{PodNames, Snapshot};
use crate::node::fleet::{CreateInFlight, Fleet, FleetNode, FleetPod, PodStage, Rare, Readiness};
use crate::pods::claim::Claim;
use crate::pods::classify::{Class, Classifier, Evidence};
use crate::pods::history::{History, RevisionRole};
use crate::position::{FleetIx, HistoryIx, IndexVec, NodeIx, PodIx, Position, enumerate};
use crate::rollout::goals::Goals;
use crate::rules::in_place::{InPlace, changed_in_place};
use crate::rules::pull::pull_pods;
use crate::rules::turn::{needs_whole_objects, turns};
use daemonset_objects::PodView;
use daemonset_objects::internal::Phase;
use jiff::Timestamp;
use std::cell::OnceCell;
use std::collections::BTreeMap;

impl<'a> Fleet<'a> {
    /// `other_hashes` are those that pods carry in the rest of the cluster.
    pub fn build(
        snapshot: &'a Snapshot<'a>,
        claim: &Claim,
        history: &History<'_>,
        other_hashes: &[&str],
    ) -> Self {
        // Once for both uses: to compare creates with the snapshot, the memory puts all pods of the list into an index.
        let unseen =
            snapshot.memory.as_ref().map(|memory| memory.unseen_creates(snapshot)).unwrap_or_default();
        let mut fleet = Fleet {
            snapshot,
            nodes: Vec::with_capacity(snapshot.nodes.len()).into(),
            pods: Vec::new().into(),
            strays: FleetIx::new(0),
            gone_or_released: Vec::new(),
            without_target: Vec::new(),
            in_flight: in_flight_creates(snapshot, history, &unseen),
            deleted_by_update: deleted_by_update(snapshot),
            revision_created_at: history.current().view.and_then(|view| view.created_at),
            awaits_revision: history.awaits_current(snapshot.drives()),
            labels: Vec::new(),
            expects: Vec::new(),
            live_history: IndexVec::repeat(false, history.revisions.len()),
            conflicts: Vec::new(),
            goals: Goals::default(),
            rare: needs_whole_objects(snapshot).then(|| Box::new(rare(snapshot, history))),
        };
        fleet.expect_unseen_creates(history, &unseen);
        // A revision with pods in the rest of the cluster only must stay, too.
        for hash in other_hashes {
            fleet.mark_live_history(history.position(hash));
        }
        let mut pods = Vec::with_capacity(claim.pods.owned);
        let classifier = Classifier::new(snapshot, history);
        for (position, pod, facts) in snapshot.pods_with_facts() {
            // The claim counts these pods and keeps no list of them: a verdict takes a few comparisons.
            if facts.verdict(pod).is_ours() {
                pods.extend(fleet.build_pod(position, classifier.class(facts), history));
            }
        }
        fleet.group_by_node(&pods);
        for pod in &claim.pods.released {
            fleet.gone_or_released.extend(snapshot.facts(*pod).node.map(|node| (node, *pod)));
        }
        fleet.gone_or_released.sort_unstable();
        fleet.expects.sort_unstable();
        fleet.conflicts.sort_unstable();
        fleet
    }

    /// A pod that the snapshot does not show yet has its revision's hash, too.
    fn expect_unseen_creates(&mut self, history: &History<'_>, unseen: &[UnseenCreate<'_>]) {
        // Those for nodes that are gone, too: their pods may exist.
        for create in unseen {
            self.expects.push((self.snapshot.index.node(create.node.as_str()), create.until));
            self.mark_live_history(history.position(create.revision));
        }
    }

    fn mark_live_history(&mut self, revision: Option<HistoryIx>) {
        if let Some(revision) = revision {
            self.live_history.set(revision, true);
        }
    }

    /// The pod with its target node, which is `None` where the snapshot does not have that node. A pod that is gone or
    /// has no target gives nothing.
    fn build_pod(
        &mut self,
        position: PodIx,
        class: Class,
        history: &History<'_>,
    ) -> Option<(Option<NodeIx>, FleetPod)> {
        let pod = self.snapshot.pod(position);
        // Before the returns below: the revision of a pod that is gone is live history until its object is gone.
        self.mark_live_history(class.revision);
        let node = self.snapshot.facts(position).node;
        let stage = self.stage(node, pod);
        let gone_or_terminating = matches!(stage, PodStage::Gone | PodStage::Terminating);
        // A pod whose deletion was accepted may be gone: a label for it could only fail.
        if pod.deleted_at.is_some() || !gone_or_terminating {
            self.labels.extend(label_needed(history, &class, stage).map(|reason| (position, reason)));
        }
        if stage == PodStage::Gone {
            self.gone_or_released.extend(node.map(|node| (node, position)));
            return None;
        }
        // A pod that goes takes its contradiction with it.
        self.conflicts.extend((class.conflict && stage == PodStage::Live).then_some(node));
        if pod.target.is_none() {
            self.without_target.push(position);
            return None;
        }
        let readiness = {
            let in_place = self.rare.as_ref().and_then(|rare| rare.in_place(position));
            readiness(self.snapshot, pod, in_place)
        };
        let Class { evidence, revision, .. } = class;
        // No goal is known yet: `Fleet::towards` compares the pods of nodes whose goal is the stable revision again.
        let of_goal = evidence.is_updated();
        Some((node, FleetPod { view: position, revision, stage, readiness, evidence, of_goal }))
    }

    fn stage(&mut self, node: Option<NodeIx>, pod: &PodView<'_>) -> PodStage {
        // Most memories: no uid is looked up.
        let memory = self.snapshot.memory.as_ref();
        let has_entries = |memory: &&Memory| !memory.deletes.is_empty() || !memory.turns.in_place.is_empty();
        // A pod that is being changed in its place serves nobody either, until the list shows the change.
        let in_flight_until = |memory: &Memory| {
            let deleting = memory.deleting_until(pod.uid, self.snapshot);
            deleting.or_else(|| memory.changing_until(pod, self.snapshot))
        };
        let deleting = memory.filter(has_entries).and_then(in_flight_until);
        // Once the list shows the deletion, the end of the entry changes nothing.
        if let (None, Some(until)) = (pod.deleted_at, deleting) {
            self.expects.push((node, until));
        }
        let terminating = pod.deleted_at.is_some() || deleting.is_some();
        match (terminating, pod.phase) {
            (true, Phase::Failed | Phase::Succeeded) => PodStage::Gone,
            (true, Phase::Running | Phase::PendingOrUnknown) => PodStage::Terminating,
            (false, Phase::Failed) => PodStage::Failed,
            (false, Phase::Succeeded) => PodStage::Succeeded,
            (false, Phase::Running | Phase::PendingOrUnknown) => PodStage::Live,
        }
    }

    /// Puts the pods of each node side by side.
    ///
    /// A counting sort: nodes are small numbers, so that two passes over the pods do without any comparison. The first
    /// pass counts the pods of each node, and the sums of these counts are the places of each node's first pod. The
    /// second pass puts each pod into the next free place of its node. Pods of nodes that are not in the snapshot come
    /// last, as the pods of one more node.
    fn group_by_node(&mut self, pods: &[(Option<NodeIx>, FleetPod)]) {
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
            // From here on it is the next free place instead of the count.
            places.change(node, |place| (*place, next) = (next, next + *place));
        }
        let Some((_, first)) = pods.first() else { return };
        // Any pod does as a filler: there are as many places as pods, and each gets its own.
        self.pods = IndexVec::repeat(*first, pods.len());
        for (node, pod) in pods {
            let place = places.change(node.unwrap_or(unknown), |place| std::mem::replace(place, *place + 1));
            if let Some(place) = place {
                self.pods.set(FleetIx::new(place as usize), *pod);
            }
        }
    }
}

/// Creates for nodes that are not in the snapshot are left out: no decision depends on them.
fn in_flight_creates(
    snapshot: &Snapshot<'_>,
    history: &History<'_>,
    unseen: &[UnseenCreate<'_>],
) -> Vec<CreateInFlight> {
    let mut creates = Vec::with_capacity(unseen.len());
    for create in unseen {
        let Some(node) = snapshot.index.node(create.node.as_str()) else { continue };
        let revision = history.position(create.revision);
        // As a pod is classified: a duplicate has the current template.
        let updated = revision.is_some_and(|position| history.revision(position).role != RevisionRole::Old);
        let UnseenCreate { at, until, .. } = *create;
        creates.push(CreateInFlight { node, at, until, revision, updated, of_goal: updated });
    }
    creates.sort_unstable_by_key(|create| create.node);
    creates
}

/// The entries of nodes that are gone are left out: such a node counts nowhere.
fn deleted_by_update(snapshot: &Snapshot<'_>) -> Vec<(NodeIx, Timestamp)> {
    let mut deleted = Vec::new();
    for (node, entry) in snapshot.memory.iter().flat_map(|memory| &memory.deleted_by_update) {
        deleted.extend(snapshot.index.node(node.as_str()).map(|node| (node, entry.at)));
    }
    deleted.sort_unstable();
    deleted
}

fn label_needed(history: &History<'_>, class: &Class, stage: PodStage) -> Option<LabelReason> {
    if class.unlabelled {
        // The hash is certain only where the generation proves the template.
        let needed = class.evidence == Evidence::TemplateGeneration && stage == PodStage::Live;
        return needed.then_some(LabelReason::HashMissing);
    }
    // Terminating pods as well: the duplicate goes, and its hash would name no revision any more.
    let revision = history.revision(class.revision?);
    history.relabels_pods_of(revision).then_some(LabelReason::DuplicateRevision)
}

fn readiness(snapshot: &Snapshot<'_>, pod: &PodView<'_>, in_place: Option<&InPlace>) -> Readiness {
    // While its new containers start, the condition may be that of the old ones.
    let is_ready = pod.ready == Some(true) && !in_place.is_some_and(|in_place| in_place.settles);
    let ready_since = in_place.map_or(pod.ready_since, |in_place| in_place.ready_since(pod.ready_since));
    match (is_ready, pod.phase) {
        // As upstream: a pod with the condition is Ready, whatever its phase.
        (true, _) if is_available(snapshot, ready_since) => Readiness::Available,
        (true, _) => Readiness::NotYetAvailable,
        (false, Phase::PendingOrUnknown) => Readiness::Pending,
        (false, Phase::Running | Phase::Failed | Phase::Succeeded) => Readiness::NotReady,
    }
}

/// v1.36 `podutil.IsPodAvailable`, for a Ready pod.
fn is_available(snapshot: &Snapshot<'_>, ready_since: Option<Timestamp>) -> bool {
    let min_ready = snapshot.spec.min_ready();
    let is_ready_for_long = |since| snapshot.now.duration_since(since) >= min_ready;
    min_ready.is_zero() || ready_since.is_some_and(is_ready_for_long)
}

fn rare<'a>(snapshot: &'a Snapshot<'a>, history: &History<'_>) -> Rare<'a> {
    Rare {
        turns: turns(snapshot),
        ended_turns: Vec::new(),
        image_changes: OnceCell::new(),
        in_place: changed_in_place(snapshot),
        pull_pods: pull_pods(snapshot, history.current_hash()),
        unseen_pulls: snapshot
            .memory
            .as_ref()
            .map(|memory| memory.unseen_pulls(snapshot))
            .unwrap_or_default(),
        names: names(snapshot),
    }
}

/// Most policies leave the names to the API server, and are spared the map.
fn names<'a>(snapshot: &'a Snapshot<'a>) -> BTreeMap<&'a str, PodIx> {
    if snapshot.spec.policy.pod_names != PodNames::OnePerNode {
        return BTreeMap::new();
    }
    let namespace = snapshot.spec.daemon_set.metadata.namespace.as_str();
    let own = enumerate::<PodIx, _>(&snapshot.pods).filter(|(_, pod)| pod.namespace == namespace);
    own.map(|(position, pod)| (pod.name, position)).collect()
}
