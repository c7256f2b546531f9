//! Nodes as a rollout sees them: which have the new version, and where it fails.

use crate::facts::in_place;
use crate::facts::lineage::Lineage;
use crate::facts::memories;
use crate::facts::named::ByUid;
use crate::facts::pulls;
use crate::facts::stage::{PodStage, PodStages};
use crate::facts::turns::Turns;
use daemonset::internal::{IndexVec, NodeIx, Ownership, Placement, enumerate, neutral};
use daemonset::model::IntOrString;
use daemonset::policy::FailurePolicy;
use daemonset::{NodeView, PodView, Snapshot};
use jiff::{SignedDuration, Timestamp};

/// The facts about a node that a rollout depends on.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NodeFacts {
    pub(super) takes_part: bool,
    /// It has a live updated pod, or one is in flight.
    pub(super) has_it: bool,
    pub(super) has_updated: bool,
    pub(super) has_outdated: bool,
    /// It has an available updated pod.
    pub(super) is_available: bool,
    pub(super) is_ready: bool,
    /// Of the updated pods that are Ready the first one.
    pub(super) ready_since: Option<Timestamp>,
    pub(super) progressed_at: Option<Timestamp>,
    /// It is in turn, has an outdated pod, and a gate is not open.
    pub(super) is_gated: bool,
    pub(super) is_down: bool,
    pub(super) fails: bool,
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
        is_gated: false,
        is_down: false,
        fails: false,
    }
);

/// The facts about the nodes of the snapshot; `judged_by` is the failure policy, where the rollout is judged.
pub(super) fn facts(
    snapshot: &Snapshot<'_>,
    lineage: &Lineage<'_>,
    stages: &PodStages<'_>,
    judged_by: Option<&FailurePolicy>,
) -> IndexVec<NodeIx, NodeFacts> {
    let new = |node: &NodeView<'_>| NodeFacts { is_down: node.ready == Some(false), ..NodeFacts::default() };
    let mut facts: IndexVec<NodeIx, NodeFacts> = snapshot.nodes().iter().map(new).collect();
    note_pods(&mut facts, snapshot, lineage, stages, judged_by);
    let pods = ByUid::new(memories::created(snapshot), snapshot.pods().iter().map(|pod| pod.uid));
    for create in memories::unseen_creates(snapshot, &pods) {
        let is_updated = lineage.has_template(create.revision);
        facts.change(create.node, |node| {
            node.has_it |= is_updated;
            node.has_outdated |= !is_updated;
        });
    }
    note_pulls(&mut facts, snapshot, lineage);
    let turns = Turns::new(snapshot, &[]);
    for (node, _) in enumerate(snapshot.nodes()) {
        facts.change(node, |facts| {
            if let Some(turn) = turns.of(node) {
                facts.progressed_at = facts.progressed_at.max(Some(turn.at));
                // Overdue gates are passed over, but not before the node shows its turn.
                let goes_on = !turn.is_in_flight && turns.proceeds(snapshot, node);
                let is_closed = !turns.closed_gates(snapshot, node).is_empty() && !goes_on;
                facts.is_gated = facts.has_outdated && is_closed;
            }
            facts.takes_part = match snapshot.placement(node) {
                Placement::Run => true,
                Placement::ContinueOnly(_) => facts.has_it,
                Placement::Exclude(_) => false,
            };
        });
    }
    facts
}

/// The pull pods of the current revision.
fn note_pulls(nodes: &mut IndexVec<NodeIx, NodeFacts>, snapshot: &Snapshot<'_>, lineage: &Lineage<'_>) {
    for pull in pulls::of_daemon_set(snapshot) {
        let is_current = lineage.current_hash.is_some_and(|hash| hash == pull.hash);
        if let Some(node) = pull.node.filter(|_| is_current) {
            nodes.change(node, |node| node.progressed_at = node.progressed_at.max(pull.pod.created_at));
        }
    }
}

fn note_pods(
    nodes: &mut IndexVec<NodeIx, NodeFacts>,
    snapshot: &Snapshot<'_>,
    lineage: &Lineage<'_>,
    stages: &PodStages<'_>,
    judged_by: Option<&FailurePolicy>,
) {
    for (_, pod, facts) in snapshot.pods_with_facts() {
        let ours = match facts.ownership {
            Ownership::Controlled => true,
            Ownership::Orphan => pod.deleted_at.is_none(),
            Ownership::Foreign => false,
        };
        let Some(node) = facts.node.filter(|_| ours && facts.selected) else { continue };
        let stage = stages.stage(pod, || lineage.is_updated(facts));
        let is_updated = lineage.is_updated(facts);
        let fails = judged_by
            .is_some_and(|rule| is_updated && fails(snapshot, snapshot.node(node), pod, stage, rule));
        let born_at = in_place::birth(pod, snapshot.now());
        let ready_since = in_place::ready_since(pod, snapshot.now());
        nodes.change(node, |node| node.note((born_at, ready_since), stage, is_updated, fails));
    }
}

/// How many of so many nodes may fail: percentages round down.
pub(super) fn may_fail(judged_by: Option<&FailurePolicy>, nodes: u32) -> usize {
    match judged_by.and_then(|rule| rule.max_failures) {
        None => 0,
        Some(IntOrString::Int(limit)) => limit as usize,
        Some(IntOrString::Percent(percent)) => (nodes as usize).saturating_mul(percent as usize) / 100,
    }
}

/// When time alone may let a pod on this node count as failed.
pub(crate) fn may_fail_at(
    snapshot: &Snapshot<'_>,
    node: &NodeView<'_>,
    pod: &PodView<'_>,
) -> Option<Timestamp> {
    let rule = snapshot.spec().policy.rollout.as_ref()?.on_failure.as_ref()?;
    let after = |since: Option<Timestamp>, seconds: Option<u32>| {
        since?.checked_add(SignedDuration::from_secs(seconds?.into())).ok()
    };
    let within = rule.available_within_seconds;
    let instants = [
        after(pod.created_at, rule.waiting_seconds),
        after(pod.created_at, within),
        after(pod.ready_since, within),
        after(node.ready_since, Some(within.unwrap_or(0))),
    ];
    instants.into_iter().flatten().filter(|at| snapshot.now() < *at).min()
}

impl NodeFacts {
    /// `instants` are those of its birth, and of its being Ready.
    fn note(
        &mut self,
        instants: (Option<Timestamp>, Option<Timestamp>),
        stage: PodStage,
        is_updated: bool,
        fails: bool,
    ) {
        let (born_at, ready_since) = instants;
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
        self.progressed_at = self.progressed_at.max(born_at);
        if let Some(rank) = rank.filter(|rank| rank.is_ready()) {
            self.is_available |= rank.is_available();
            self.is_ready = true;
            self.ready_since = [self.ready_since, ready_since].into_iter().flatten().min();
            self.progressed_at = self.progressed_at.max(ready_since);
        }
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
    let changed = in_place::changed(pod, snapshot.now());
    let born_at = in_place::birth(pod, snapshot.now());
    if node.ready == Some(false) {
        let went_down = node.ready_since.zip(born_at).filter(|(down, created)| created < down);
        let within = rule.available_within_seconds.unwrap_or(0);
        return !is_ready && went_down.is_some_and(|(down, _)| is_past(down, within));
    }
    let others = ["Evicted", "Preempting", "Terminated", "NodeShutdown", "NodeAffinity"];
    let has_ended = is_failed && !others.contains(&pod.containers.pod_reason());
    let restarted =
        changed.as_ref().map_or_else(|| pod.containers.most_restarts().into(), |changed| changed.restarts);
    let restarts = rule.max_restarts.is_some_and(|limit| restarted > limit.into());
    // Until the new containers are there, other reasons may be those of the old ones.
    let settles = changed.is_some_and(|changed| changed.settles);
    let counts =
        |reason: &str| !settles || ["ErrImagePull", "ImagePullBackOff", "InvalidImageName"].contains(&reason);
    let is_in_vain = |reason: &str| match rule.waiting_reasons.as_slice() {
        [] => FailurePolicy::DEFAULT_WAITING_REASONS.contains(&reason),
        own => own.iter().any(|other| other == reason),
    };
    let waits = rule.waiting_seconds.zip(born_at).is_some_and(|(seconds, created)| {
        is_past(created, seconds) && pod.containers.any_waits(|reason| is_in_vain(reason) && counts(reason))
    });
    // Without a condition Ready its age alone counts.
    let changed = if pod.ready.is_some() { pod.ready_since } else { born_at };
    let away = rule.available_within_seconds.zip(born_at.zip(changed));
    let is_away = away.is_some_and(|(seconds, (created, changed))| {
        !is_available && is_past(created, seconds) && is_past(changed, seconds)
    });
    has_ended || restarts || waits || is_away
}
