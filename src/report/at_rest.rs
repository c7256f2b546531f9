//! The thing that a node waits for while a plan does nothing on it.

use crate::choose::Choice;
use crate::input::authority::Authority;
use crate::input::placement::Placement;
use crate::input::strategy::Strategy;
use crate::node::candidate::{candidate, has_place};
use crate::node::evaluation::Evaluations;
use crate::node::figures::Figure;
use crate::node::fleet::{Fleet, FleetPod, Readiness};
use crate::node::sync::{BackedOff, NodeSync};
use crate::node::wait::Wait;
use crate::position::NodeIx;
use crate::report::explain::pod_state;
use crate::report::explain_rollout::hold_reason;
use crate::report::movement::PodTimes;
use crate::report::{NodeOutcome, PodState};
use daemonset_objects::internal::LifecycleView;

/// The steps of a decision by which a node rests. The choice gives figures of the outcomes, and nothing else: the kind of an outcome depends
/// on the node alone.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, clippy::exhaustive_structs, reason = "internal")]
pub struct AtRest<'d> {
    pub fleet: &'d Fleet<'d>,
    pub node_sync: &'d NodeSync,
    pub evaluations: &'d Evaluations,
    pub choice: &'d Choice<NodeIx>,
}

impl AtRest<'_> {
    /// The outcome of a node that a plan does not look at: its candidate waits, or the plan has no room for what is due.
    pub fn beyond_plan(&self, node: NodeIx) -> NodeOutcome {
        if let Some(wait) = self.evaluations.nodes.at(node).wait() {
            return NodeOutcome::Waits(wait.clone());
        }
        if self.is_synced(node) { self.outcome(node) } else { NodeOutcome::Waits(Wait::NextPlan) }
    }

    /// The first thing that the node waits for.
    pub fn outcome(&self, node: NodeIx) -> NodeOutcome {
        let AtRest { fleet, node_sync, evaluations, choice } = *self;
        if let Some(backed_off) = node_sync.back_off(node) {
            let BackedOff { until, failures, .. } = *backed_off;
            return NodeOutcome::Waits(Wait::BackOff { until, failures });
        }
        let is_target = fleet.placement(node) == Placement::Run;
        let is_taken = !is_target && evaluations.has(node, Figure::DeletedByUpdate);
        if let Some(since) = fleet.deleted_by_update_at(node).filter(|_| is_taken) {
            return NodeOutcome::Waits(Wait::Return { since });
        }
        if evaluations.has(node, Figure::LeavesLast) {
            let leaving = evaluations.sums.get(Figure::LeavesLast);
            return NodeOutcome::Waits(Wait::TargetNodes { unavailable: choice.budget.unavailable, leaving });
        }
        if !is_target {
            let pair = node_sync.keeps_a_pair(fleet, node);
            return if pair { self.why_updated_waits(node) } else { NodeOutcome::NotTarget };
        }
        if let Some(create) = fleet.in_flight(node) {
            return NodeOutcome::Waits(Wait::CreatedPod { until: create.until });
        }
        let is_up_to_date = || fleet.pods_of(node).any(|(_, pod)| pod.of_goal && pod.is_available());
        if let Some(LifecycleView { state, .. }) = fleet.lifecycle(node).filter(|_| !is_up_to_date()) {
            return NodeOutcome::Waits(Wait::NodeLeaves { lifecycle: state });
        }
        // Before the question whether the rollout holds the node: a held node with a pod that may go is a candidate as any other. The
        // figure is asked first, since most nodes are no candidates.
        let is_candidate = evaluations.has(node, Figure::Candidate);
        let candidate = if is_candidate { candidate(fleet, node_sync, node) } else { None };
        if let Some((_, outdated)) = candidate {
            return self.why_outdated_stays(node, outdated);
        }
        if fleet.goals.of(node).is_held() {
            return NodeOutcome::Waits(Wait::Rollout { because: hold_reason(fleet, node) });
        }
        self.why_updated_waits(node)
    }

    /// Whether node sync leaves the node as it is.
    fn is_synced(&self, node: NodeIx) -> bool {
        let deletes = self.fleet.pods_of(node).any(|(index, _)| self.node_sync.deletes_pod(index));
        !deletes && !self.node_sync.creates_on(node)
    }

    /// The times of the node's pods.
    pub fn pod_times(&self, node: NodeIx) -> PodTimes {
        let mut times = PodTimes::default();
        let pods = self.fleet.pods_of(node).map(|(_, pod)| pod);
        pods.for_each(|pod| times.add(pod.is_updated(), pod_state(self.fleet, pod)));
        times
    }

    fn why_outdated_stays(&self, node: NodeIx, pod: &FleetPod) -> NodeOutcome {
        let AtRest { fleet, node_sync, choice, .. } = *self;
        let budget = &choice.budget;
        match fleet.snapshot.spec.strategy {
            Strategy::Replace(_) if fleet.awaits_revision => NodeOutcome::Waits(Wait::Revision),
            Strategy::OnDelete => NodeOutcome::Waits(Wait::ManualDelete),
            Strategy::Replace(_) => NodeOutcome::Waits(Wait::MaxUnavailable {
                used: self.used(pod.readiness),
                limit: budget.max_unavailable,
            }),
            Strategy::Surge { .. } if !has_place(fleet, node_sync, node) => {
                self.termination(node).unwrap_or(NodeOutcome::Waits(Wait::Ready))
            }
            Strategy::Surge { .. } => NodeOutcome::Waits(Wait::MaxSurge {
                used: budget.surging + budget.down_after_update + choice.creates.len() as u32,
                limit: budget.max_surge,
            }),
        }
    }

    /// The nodes that count against maxUnavailable for a pod of this readiness, this plan's deletes included.
    fn used(&self, readiness: Readiness) -> u32 {
        let AtRest { choice, .. } = *self;
        let budget = &choice.budget;
        let counted = match readiness {
            // They wait only under `UnreadyPolicy::WithinBudget`.
            Readiness::Pending | Readiness::NotReady => {
                budget.being_replaced + choice.chosen(Readiness::Pending) + choice.chosen(Readiness::NotReady)
            }
            Readiness::NotYetAvailable => budget.not_ready + choice.chosen(Readiness::NotYetAvailable),
            // Of its two limits U is the tighter one: each node that NR or a chosen pod of the group before counts has no available pod.
            Readiness::Available => budget.unavailable + choice.chosen(Readiness::Available),
        };
        counted + budget.down_after_update
    }

    /// For a node with a live updated pod, or without a live pod.
    fn why_updated_waits(&self, node: NodeIx) -> NodeOutcome {
        let fleet = self.fleet;
        let updated = fleet.pods_of(node).filter(|(_, pod)| pod.is_live() && pod.of_goal);
        let best = updated.map(|(_, pod)| pod).min_by(|a, b| fleet.by_worth(a, b));
        match best.map(|pod| (pod.readiness, pod)) {
            Some((Readiness::Available, _)) => NodeOutcome::UpToDate,
            Some((Readiness::NotYetAvailable, pod)) => {
                NodeOutcome::Waits(Wait::MinReadySeconds { until: fleet.available_at(pod) })
            }
            Some((Readiness::NotReady | Readiness::Pending, _)) => NodeOutcome::Waits(Wait::Ready),
            None => {
                let waits = self.termination(node).or_else(|| self.taken_name(node));
                // The create that is due is an external controller's, or a later plan's.
                let whole = Authority::of(fleet.snapshot).syncs_nodes();
                waits.unwrap_or(if whole {
                    NodeOutcome::Waits(Wait::NextPlan)
                } else {
                    NodeOutcome::Waits(Wait::OtherControllerCreates)
                })
            }
        }
    }

    /// Another pod has the name of the node's. It may be one of the DaemonSet's that has ended, and is not removed yet.
    fn taken_name(&self, node: NodeIx) -> Option<NodeOutcome> {
        let pod = self.fleet.snapshot.pod(self.node_sync.name_taken_by(node)?);
        Some(match pod.deleted_at {
            Some(at) => NodeOutcome::Waits(Wait::Termination { overdue_at: Some(at) }),
            None => NodeOutcome::Waits(Wait::NameTaken { pod: pod.name.to_owned() }),
        })
    }

    /// The node waits for the last of its terminating pods.
    fn termination(&self, node: NodeIx) -> Option<NodeOutcome> {
        let overdue = self.fleet.pods_of(node).filter_map(|(_, pod)| match pod_state(self.fleet, pod) {
            PodState::Terminating { overdue_at } => Some(overdue_at),
            _ => None,
        });
        overdue.max().map(|overdue_at| NodeOutcome::Waits(Wait::Termination { overdue_at }))
    }
}
