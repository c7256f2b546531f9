//! Nodes as a rollout sees them: which have the new version, and where it fails.

use super::super::lineage::Lineage;
use super::super::memories;
use super::super::named::ByUid;
use super::super::stage::{PodStage, PodStages};
use daemonset::internal::{IndexVec, NodeIx, Ownership, Placement, enumerate, neutral};
use daemonset::model::IntOrString;
use daemonset::policy::FailurePolicy;
use daemonset::{NodeView, PodView, Snapshot};
use jiff::{SignedDuration, Timestamp};

/// All nodes of the snapshot.
pub(super) struct Nodes<'s> {
    facts: IndexVec<NodeIx, NodeFacts>,
    /// The nodes that take part: those that have the new version first, then by name.
    pub(super) participants: Vec<NodeIx>,
    /// The failure policy, where the rollout is judged.
    pub(super) judged_by: Option<&'s FailurePolicy>,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct NodeFacts {
    pub(super) takes_part: bool,
    /// It has a live updated pod, or one is in flight.
    pub(super) has_it: bool,
    has_updated: bool,
    pub(super) has_outdated: bool,
    /// It has an available updated pod.
    pub(super) is_available: bool,
    is_ready: bool,
    /// Of the updated pods that are Ready the first one.
    ready_since: Option<Timestamp>,
    pub(super) progressed_at: Option<Timestamp>,
    is_down: bool,
    fails: bool,
}

neutral!(
    NodeFacts,
    NodeFacts {
        takes_part: false,
        has_it: false,
        has_updated: false,
        has_outdated: false,
        is_available: false,
        is_ready: false,
        ready_since: None,
        progressed_at: None,
        is_down: false,
        fails: false,
    }
);

impl<'s> Nodes<'s> {
    pub(super) fn new(
        snapshot: &'s Snapshot<'s>,
        lineage: &Lineage<'_>,
        stages: &PodStages<'_>,
        judged_by: Option<&'s FailurePolicy>,
    ) -> Self {
        let new =
            |node: &NodeView<'_>| NodeFacts { is_down: node.ready == Some(false), ..NodeFacts::default() };
        let facts = snapshot.nodes().iter().map(new).collect();
        let mut nodes = Nodes { facts, participants: Vec::new(), judged_by };
        nodes.note_pods(snapshot, lineage, stages);
        let pods = ByUid::new(memories::created(snapshot), snapshot.pods().iter().map(|pod| pod.uid));
        for create in memories::unseen_creates(snapshot, &pods) {
            let is_updated = lineage.has_template(create.revision);
            nodes.facts.change(create.node, |node| {
                node.has_it |= is_updated;
                node.has_outdated |= !is_updated;
            });
        }
        for (node, _) in enumerate(snapshot.nodes()) {
            let takes_part = match snapshot.placement(node) {
                Placement::Run => true,
                Placement::ContinueOnly(_) => nodes.at(node).has_it,
                Placement::Exclude(_) => false,
            };
            nodes.facts.change(node, |facts| facts.takes_part = takes_part);
            nodes.participants.extend(takes_part.then_some(node));
        }
        let order = |node: &NodeIx| (!nodes.facts.at(*node).has_it, snapshot.node(*node).name);
        nodes.participants.sort_unstable_by_key(order);
        nodes
    }

    fn note_pods(&mut self, snapshot: &Snapshot<'_>, lineage: &Lineage<'_>, stages: &PodStages<'_>) {
        for (_, pod, facts) in snapshot.pods_with_facts() {
            let ours = match facts.ownership {
                Ownership::Controlled => true,
                Ownership::Orphan => pod.deleted_at.is_none(),
                Ownership::Foreign => false,
            };
            let Some(node) = facts.node.filter(|_| ours && facts.selected) else { continue };
            let stage = stages.stage(pod, facts, lineage);
            let is_updated = lineage.is_updated(facts);
            let fails = self
                .judged_by
                .is_some_and(|rule| is_updated && fails(snapshot, snapshot.node(node), pod, stage, rule));
            self.facts.change(node, |node| node.note(pod, stage, is_updated, fails));
        }
    }

    pub(super) fn at(&self, node: NodeIx) -> &NodeFacts {
        self.facts.at(node)
    }

    pub(super) fn positions(&self) -> impl Iterator<Item = NodeIx> {
        self.facts.positions()
    }

    pub(super) fn have_only_updated_pods(&self) -> bool {
        self.facts.iter().any(|node| node.has_updated) && self.facts.iter().all(|node| !node.has_outdated)
    }

    /// Whether a node that takes part lacks the new version and is not down.
    pub(super) fn lack_pods(&self) -> bool {
        let facts = || self.participants.iter().map(|node| self.at(*node));
        facts().any(|node| !node.has_it && !node.is_down)
    }

    pub(super) fn too_many_fail(&self) -> bool {
        self.failing(&self.participants) > self.may_fail(self.participants.len())
    }

    fn failing(&self, nodes: &[NodeIx]) -> usize {
        nodes.iter().filter(|node| self.at(**node).fails).count()
    }

    /// How many of so many nodes may fail: percentages round down.
    fn may_fail(&self, nodes: usize) -> usize {
        match self.judged_by.and_then(|rule| rule.max_failures) {
            None => 0,
            Some(IntOrString::Int(limit)) => limit as usize,
            Some(IntOrString::Percent(percent)) => nodes.saturating_mul(percent as usize) / 100,
        }
    }

    /// Of these nodes all but those that are down without the new version, and but the failing ones while they may fail and
    /// are not all.
    pub(super) fn that_hold_up<'n>(&'n self, nodes: &'n [NodeIx]) -> impl Iterator<Item = &'n NodeFacts> {
        let failing = self.failing(nodes);
        let may_fail = failing <= self.may_fail(nodes.len()) && failing < nodes.len();
        let facts = nodes.iter().map(|node| self.at(*node));
        facts.filter(move |node| (node.has_it || !node.is_down) && !(may_fail && node.fails))
    }
}

impl NodeFacts {
    fn note(&mut self, pod: &PodView<'_>, stage: PodStage, is_updated: bool, fails: bool) {
        let rank = match stage {
            PodStage::Live(rank) => Some(rank),
            PodStage::Failed | PodStage::Succeeded => None,
            PodStage::Terminating | PodStage::Gone => return,
        };
        if !is_updated {
            self.has_outdated |= rank.is_some();
            return;
        }
        self.fails |= fails;
        self.has_updated |= rank.is_some();
        self.has_it |= rank.is_some();
        self.progressed_at = self.progressed_at.max(pod.created_at);
        if let Some(rank) = rank.filter(|rank| rank.is_ready()) {
            self.is_available |= rank.is_available();
            self.is_ready = true;
            self.ready_since = [self.ready_since, pod.ready_since].into_iter().flatten().min();
            self.progressed_at = self.progressed_at.max(pod.ready_since);
        }
    }

    /// It has an updated pod that has been Ready for so long.
    pub(super) fn is_ready_for(&self, duration: SignedDuration, now: Timestamp) -> bool {
        let until_now = |since: Timestamp| now.duration_since(since) >= duration;
        self.is_ready && (duration.is_zero() || self.ready_since.is_some_and(until_now))
    }
}

/// Whether an updated pod shows that the new version has failed on its node.
fn fails(
    snapshot: &Snapshot<'_>,
    node: &NodeView<'_>,
    pod: &PodView<'_>,
    stage: PodStage,
    rule: &FailurePolicy,
) -> bool {
    let (is_failed, is_ready, is_available) = match stage {
        PodStage::Live(rank) => (false, rank.is_ready(), rank.is_available()),
        PodStage::Failed => (true, false, false),
        PodStage::Succeeded => (false, false, false),
        PodStage::Terminating | PodStage::Gone => return false,
    };
    let is_past = |since: Timestamp, seconds: u32| {
        let end = since.checked_add(SignedDuration::from_secs(seconds.into()));
        end.is_ok_and(|end| end <= snapshot.now())
    };
    if node.ready == Some(false) {
        let went_down = node.ready_since.zip(pod.created_at).filter(|(down, created)| created < down);
        let within = rule.available_within_seconds.unwrap_or(0);
        return !is_ready && went_down.is_some_and(|(down, _)| is_past(down, within));
    }
    let others = ["Evicted", "Preempting", "Terminated", "NodeShutdown", "NodeAffinity"];
    let has_ended = is_failed && !others.contains(&pod.containers.pod_reason());
    let restarts = rule.max_restarts.is_some_and(|limit| pod.containers.most_restarts() > limit);
    let waits = rule.waiting_seconds.zip(pod.created_at).is_some_and(|(seconds, created)| {
        is_past(created, seconds) && pod.containers.any_waits(|reason| rule.waits_in_vain(reason))
    });
    // Without a condition Ready its age alone counts.
    let changed = if pod.ready.is_known() { pod.ready_since } else { pod.created_at };
    let away = rule.available_within_seconds.zip(pod.created_at.zip(changed));
    let is_away = away.is_some_and(|(seconds, (created, changed))| {
        !is_available && is_past(created, seconds) && is_past(changed, seconds)
    });
    has_ended || restarts || waits || is_away
}
