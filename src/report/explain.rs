//! The report of a decision: the reasons that [`plan`](crate::plan) gives and [`reconcile`](crate::reconcile) does not
//! compute.

use crate::action::{Action, DeleteReason};
use crate::bug;
use crate::input::Snapshot;
use crate::input::memory::Rejections;
use crate::input::placement::{Mismatch, Placement, Taints};
use crate::input::strategy::Strategy;
#[cfg(daemonset_mutants)]
use crate::mutants::{Mutant, is_active};
use crate::node::budget::BudgetUse;
use crate::node::fleet::{Fleet, FleetPod, PodStage, Readiness};
use crate::node::sync::{Deletion, Means};
use crate::node::unavailable::UnavailableNodes;
use crate::node::wait::Wait;
use crate::plan::actions::actions;
use crate::plan::burst::Creation;
use crate::plan::progress::Progress;
use crate::plan::rest_of_cluster::RestOfCluster;
use crate::plan::steps::{Decision, Steps, decide};
use crate::position::{FleetIx, NodeIx};
use crate::report::at_rest::AtRest;
use crate::report::explain_rollout::rollout;
use crate::report::movement::Obstacles;
use crate::report::{
    CurrentRevision, NodeOutcome, NodePlacement, NodeVerdict, Plan, PodState, PodVerdict, Report,
    ReportScope, RevisionOrigin, Situation, StrategyInForce, Warning, warnings,
};
use daemonset_objects::internal::TaintsView;
use daemonset_objects::model::{DaemonSetStatus, Taint};
use std::collections::BTreeMap;

/// The same actions as [`reconcile`](crate::reconcile()), with the reasons: a verdict on every node, the budget's figures and warnings.
///
/// After a bug of this crate, or where one of the caller's [`Manifests`](crate::manifests::Manifests) must not be created, it has no action
/// and no status, and the only warning says why.
///
/// ```
/// use daemonset::{Recording, plan, reconcile};
/// use daemonset::report::NodePlacement;
/// use serde_json::{from_value, json};
///
/// let mut recording = Recording::from_json(&std::fs::read("examples/recording.json")?)?;
/// recording.nodes.truncate(1);
/// recording.nodes[0].spec.taints = from_value(json!([{"key": "gpu", "effect": "NoSchedule"}]))?;
/// let snapshot = recording.snapshot()?;
/// let plan = plan(&snapshot);
/// assert_eq!(plan.actions, reconcile(&snapshot));
/// let NodePlacement::ContinueOnly { taint, .. } = &plan.report.nodes[0].placement else { panic!("the taint is not tolerated") };
/// assert_eq!(taint.key, "gpu");
/// assert_eq!(plan.warnings[0].to_string(), "no node should run the pod");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a plan does nothing by itself: execute its actions"]
pub fn plan(snapshot: &Snapshot<'_>) -> Plan {
    let (plan, has_bug) = bug::watch(|| plan_decided(snapshot, &decide(snapshot, RestOfCluster::none())));
    if has_bug { plan.without_actions(Warning::Bug) } else { plan }
}

/// The plan of a decision.
pub fn plan_decided(snapshot: &Snapshot<'_>, decision: &Decision<'_>) -> Plan {
    #[cfg(daemonset_mutants)]
    if is_active(Mutant::BugMet) {
        bug::met();
    }
    match actions(snapshot, decision) {
        Ok(actions) => explain(snapshot, decision, actions),
        Err(invalid) => {
            explain(snapshot, decision, Vec::new()).without_actions(Warning::InvalidManifest(invalid))
        }
    }
}

/// The plan of a decision: its actions, with the reasons as data.
fn explain(snapshot: &Snapshot<'_>, decision: &Decision<'_>, actions: Vec<Action>) -> Plan {
    let early = |situation, status: Option<&DaemonSetStatus>, actions| Plan {
        actions,
        status: status.cloned(),
        report: Report {
            situation,
            current_revision: None,
            strategy: None,
            budget: None,
            unavailable: UnavailableNodes::default(),
            nodes: Vec::new(),
            scope: ReportScope::AllNodes,
            rollout: None,
            others: Obstacles::default(),
            progress: None,
        },
        warnings: Vec::new(),
    };
    match decision {
        Decision::SelectingAll => early(Situation::SelectingAll, None, actions),
        Decision::BeingDeleted => early(Situation::BeingDeleted, None, actions),
        Decision::NameCollision(status) => early(Situation::NameCollision, Some(status), actions),
        Decision::Synced(steps) => Plan {
            actions,
            status: Some(steps.status.clone()),
            report: report(snapshot, steps),
            warnings: warnings::warnings(snapshot, steps),
        },
    }
}

fn report(snapshot: &Snapshot<'_>, steps: &Steps<'_>) -> Report {
    let Steps { fleet, history, evaluations, update, .. } = steps;
    let progress = Progress::new(fleet, history, &evaluations.sums, &update.choice);
    let by_name = steps.by_name();
    let explainer = Explainer::new(snapshot, steps);
    let nodes: Vec<NodeVerdict> = by_name.iter().map(|position| explainer.verdict(*position)).collect();
    Report {
        situation: Situation::Synced,
        current_revision: Some(current_revision(snapshot, steps)),
        strategy: Some(strategy(snapshot.spec.strategy)),
        budget: Some(update.choice.budget),
        unavailable: progress.causes,
        rollout: rollout(fleet, by_name.iter().copied().zip(&nodes)),
        nodes,
        scope: ReportScope::AllNodes,
        others: Obstacles::default(),
        progress: Some(progress),
    }
}

fn current_revision(snapshot: &Snapshot<'_>, steps: &Steps<'_>) -> CurrentRevision {
    let current = steps.history.current();
    let name = steps.history.current_name(snapshot);
    let origin = match (current.view, steps.history.renumbered) {
        (Some(_), None) => RevisionOrigin::Kept,
        (Some(_), Some(_)) => RevisionOrigin::CurrentAgain,
        (None, _) => RevisionOrigin::Created,
    };
    CurrentRevision { name, hash: current.hash.to_string(), number: current.number, origin }
}

fn strategy(strategy: Strategy) -> StrategyInForce {
    match strategy {
        Strategy::OnDelete => StrategyInForce::OnDelete,
        Strategy::Replace(limit) => StrategyInForce::Replace(limit),
        Strategy::Surge { limit, .. } => StrategyInForce::Surge(limit),
    }
}

/// Explains the effect of the plan on each node and pod.
struct Explainer<'d> {
    snapshot: &'d Snapshot<'d>,
    steps: &'d Steps<'d>,
    /// Every wanted delete, with whether it is in this plan or was left out by the cap.
    deletes: BTreeMap<FleetIx, (DeleteReason, bool)>,
    /// The pods that are changed in their place, or whose node's turn begins, in this plan.
    other_means: Vec<Deletion>,
    /// The creates of this plan, each with how many creates are before it.
    creates: BTreeMap<NodeIx, (usize, Creation)>,
    /// Nodes on which the update wants a second pod, sorted.
    surging: Vec<NodeIx>,
}

impl<'d> Explainer<'d> {
    fn new(snapshot: &'d Snapshot<'d>, steps: &'d Steps<'d>) -> Self {
        let burst = &steps.burst;
        let wanted = steps.update.all_deletes(&steps.node_sync).map(|deletion| (deletion, false));
        // Later ones replace earlier ones: each that is in the plan is a wanted one, too.
        let planned = burst.deletes.iter().filter(|deletion| deletion.deletes());
        let other_means = burst.deletes.iter().filter(|deletion| !deletion.deletes());
        let deletes = wanted.chain(planned.map(|deletion| (deletion, true)));
        let mut other_means: Vec<Deletion> = other_means.copied().collect();
        other_means.sort_unstable_by_key(|deletion| deletion.pod);
        let mut surging = steps.update.choice.creates.clone();
        surging.sort_unstable();
        Explainer {
            snapshot,
            steps,
            deletes: deletes.map(|(deletion, planned)| (deletion.pod, (deletion.reason, planned))).collect(),
            other_means,
            surging,
            creates: burst.creates.iter().enumerate().map(|(i, c)| (c.node, (i, *c))).collect(),
        }
    }

    fn verdict(&self, position: NodeIx) -> NodeVerdict {
        let fleet = &self.steps.fleet;
        let (node, placement) = (fleet.node_view(position), fleet.placement(position));
        let mut pods: Vec<_> =
            fleet.pods_of(position).map(|(index, pod)| self.pod_verdict(index, pod)).collect();
        pods.sort_unstable_by(|a, b| a.pod.name.cmp(&b.pod.name));
        let figures = self.steps.evaluations.figures(position);
        let mut counts = BudgetUse::from(figures);
        counts.being_replaced &= !self.steps.is_without_room(position);
        NodeVerdict {
            node: node.name.into(),
            node_ready: node.ready,
            unschedulable: node.unschedulable,
            placement: node_placement(placement, node.taints),
            counts,
            unavailable: figures.cause,
            outcome: self.outcome(position, &pods),
            pods,
        }
    }

    fn pod_verdict(&self, index: FleetIx, pod: &FleetPod) -> PodVerdict {
        let view = self.steps.fleet.view(pod);
        let revision = pod.revision.map(|revision| self.steps.history.revision(revision));
        PodVerdict {
            pod: view.object_ref(),
            updated: pod.is_updated(),
            evidence: pod.evidence,
            hash: view.labels.get(&self.snapshot.spec.policy.unique_label_key).map(str::to_owned),
            revision: revision.map(|revision| revision.number),
            state: pod_state(&self.steps.fleet, pod),
            deleted: self.deletes.get(&index).filter(|(_, planned)| *planned).map(|(reason, _)| *reason),
        }
    }

    /// The thing that the update of the node waits for, if it is not the budget; else an action of the plan on the node, or the first
    /// thing that the node waits for.
    fn outcome(&self, node: NodeIx, pods: &[PodVerdict]) -> NodeOutcome {
        // Node sync may delete other pods of the node: its update still waits, and each pod tells of its own delete.
        if let Some(wait) = self.steps.wait_of_candidate(node) {
            return NodeOutcome::Waits(wait);
        }
        if let Some(outcome) = self.action_on(node, pods) {
            return outcome;
        }
        let Steps { fleet, node_sync, evaluations, update, .. } = self.steps;
        AtRest { fleet, node_sync, evaluations, choice: &update.choice }.outcome(node)
    }

    fn action_on(&self, node: NodeIx, pods: &[PodVerdict]) -> Option<NodeOutcome> {
        if let Some((position, Creation { reason, .. })) = self.creates.get(&node) {
            let (batch, rejected) = (Creation::batch(*position), self.rejected(node));
            return Some(NodeOutcome::Create { reason: *reason, batch, rejected });
        }
        if let Some(reason) = pods.iter().find_map(|pod| pod.deleted) {
            return Some(NodeOutcome::Delete { reason, rejected: self.rejected(node) });
        }
        let steps = &self.steps;
        if let Some(taken) = self.other_means(node) {
            return Some(match taken.means {
                Means::Turn => NodeOutcome::TurnBegins,
                Means::InPlace | Means::Delete => {
                    NodeOutcome::UpdateInPlace { reason: taken.reason, rejected: self.rejected(node) }
                }
            });
        }
        let wanted = steps.node_sync.creates_on(node) || self.surging.binary_search(&node).is_ok();
        let unwanted = steps.fleet.pods_of(node).any(|(index, _)| self.deletes.contains_key(&index));
        (unwanted || wanted).then_some(NodeOutcome::Waits(Wait::NextPlan))
    }

    /// The change in its place, or the beginning of a turn, for which this plan takes a pod of the node.
    fn other_means(&self, node: NodeIx) -> Option<&Deletion> {
        // Most plans: no pod of the node is looked up.
        if self.other_means.is_empty() {
            return None;
        }
        let deletion =
            |pod: FleetIx| self.other_means.binary_search_by_key(&pod, |deletion| deletion.pod).ok();
        let found = self.steps.fleet.pods_of(node).find_map(|(pod, _)| deletion(pod));
        self.other_means.get(found?)
    }

    fn rejected(&self, node: NodeIx) -> Option<Rejections> {
        self.snapshot.memory.as_ref()?.rejections(self.snapshot.node(node).name)
    }
}

/// A placement in the words of a report; the taints are those of its node.
pub fn node_placement(placement: Placement, taints: TaintsView<'_>) -> NodePlacement {
    let taint = |position: Taints| -> Taint {
        let found = taints.iter().nth(position.first.into());
        debug_assert!(found.is_some(), "the taint of a placement is the node's");
        bug::expected(found).map(Taint::from).unwrap_or_default()
    };
    match placement {
        Placement::Run => NodePlacement::Run,
        Placement::ContinueOnly(taints) => NodePlacement::ContinueOnly { taint: taint(taints) },
        Placement::Exclude(Mismatch::NodeName) => NodePlacement::OtherNodeName,
        Placement::Exclude(Mismatch::NodeSelector) => NodePlacement::NodeSelectorMismatch,
        Placement::Exclude(Mismatch::NodeAffinity) => NodePlacement::NodeAffinityMismatch,
        Placement::Exclude(Mismatch::NoExecuteTaint(taints)) => {
            NodePlacement::UntoleratedNoExecute { taint: taint(taints) }
        }
    }
}

/// The state of a pod.
pub(crate) fn pod_state(fleet: &Fleet<'_>, pod: &FleetPod) -> PodState {
    let view = fleet.view(pod);
    // A change in place counts as the beginning, whatever the condition says.
    let since = fleet.ready_since(pod);
    match (pod.stage, pod.readiness) {
        (PodStage::Failed, _) => PodState::Failed,
        (PodStage::Succeeded, _) => PodState::Succeeded,
        (PodStage::Terminating | PodStage::Gone, _) => PodState::Terminating { overdue_at: view.deleted_at },
        (PodStage::Live, Readiness::Available) => PodState::Available { ready_since: since },
        (PodStage::Live, Readiness::NotYetAvailable) => {
            PodState::Ready { available_at: fleet.available_at(pod) }
        }
        (PodStage::Live, Readiness::NotReady) => PodState::NotReady { since },
        (PodStage::Live, Readiness::Pending) => PodState::Pending { since: view.created_at },
    }
}
