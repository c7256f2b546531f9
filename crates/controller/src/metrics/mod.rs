//! Metrics for Prometheus.

mod fleet;
mod process;
pub(crate) mod text;

pub use fleet::FleetMetrics;

use crate::caches::Key;
use crate::clock::Clock;
use crate::rollout::metrics::RolloutMetrics;
use crate::turns::metrics::TurnMetrics;
use daemonset::{Action, ActionOutcome};
use daemonset_drain::EvictionOutcome;
use daemonset_executor::{ApiResponse, ExecuteError};
use process::ProcessMetrics;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;
use std::sync::Arc;

/// The controller's metrics; clones share their values.
#[derive(Clone)]
pub struct Metrics {
    registry: Arc<Registry>,
    /// Seconds of one reconcile, from the changes to the last response.
    pub reconcile_seconds: Histogram,
    /// Seconds of the changes, the plan and its audit.
    pub decide_seconds: Histogram,
    /// Plans that were made, with those that were refused.
    pub plans: Counter,
    /// Reconciles that failed.
    pub failures: Counter,
    /// Plans that were not executed since they break a safety rule.
    pub refused_plans: Counter,
    /// Plans for which all objects were listed, since changes did not suffice.
    pub listed_plans: Counter,
    /// Plans from changes that were compared with the plan of all objects.
    pub verified_plans: Counter,
    /// Plans from changes that differed from the plan of all objects, which was executed instead.
    pub differing_plans: Counter,
    /// DaemonSets that wait in the queue.
    pub queue_depth: Gauge,
    /// 1 while this process acts, else 0.
    pub leader: Gauge,
    /// 1 while this process does nothing, since another DaemonSet controller acts; else 0.
    pub beside_another: Gauge,
    /// The DaemonSets that are planned here.
    pub fleet: FleetMetrics,
    /// The rollouts that a policy steers.
    pub rollouts: RolloutMetrics,
    /// The nodes in turn.
    pub(crate) turns: TurnMetrics,
    actions: Family<ActionLabels, Counter>,
    calls: Family<CallLabels, Counter>,
    refused_calls: Family<RefusalLabels, Counter>,
    evictions: Family<EvictionLabels, Counter>,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ActionLabels {
    action: String,
    reason: String,
    outcome: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct CallLabels {
    action: &'static str,
    answer: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RefusalLabels {
    action: &'static str,
    code: u16,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct EvictionLabels {
    outcome: &'static str,
}

impl Default for Metrics {
    /// By the system's clock.
    fn default() -> Self {
        Metrics::new(Clock::default())
    }
}

impl Metrics {
    /// Metrics whose ages are by this clock.
    pub fn new(clock: Clock) -> Self {
        Metrics::with(clock, |_| {})
    }

    /// The same with further ones, whose names begin alike.
    pub fn with(clock: Clock, register: impl FnOnce(&mut Registry)) -> Self {
        let mut all = Registry::default();
        all.register_collector(Box::new(ProcessMetrics));
        let registry = all.sub_registry_with_prefix("daemonset");
        let build = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("build", "Version of the controller", build);
        let (reconcile_seconds, decide_seconds) = (seconds(), seconds());
        let (failures, queue_depth, leader) = (Counter::default(), Gauge::default(), Gauge::default());
        let beside_another = Gauge::default();
        let (refused_plans, actions) = (Counter::default(), Family::default());
        registry.register(
            "reconcile_seconds",
            "Seconds of one reconcile, from the changes to the last response",
            reconcile_seconds.clone(),
        );
        registry.register(
            "decide_seconds",
            "Seconds of the changes, the plan and its audit",
            decide_seconds.clone(),
        );
        let plans = Counter::default();
        registry.register("plans", "Plans that were made, with those that were refused", plans.clone());
        registry.register("reconcile_failures", "Reconciles that failed", failures.clone());
        registry.register(
            "refused_plans",
            "Plans that were not executed since they break a safety rule",
            refused_plans.clone(),
        );
        let listed_plans = Counter::default();
        registry.register(
            "listed_plans",
            "Plans for which all objects were listed, since changes did not suffice",
            listed_plans.clone(),
        );
        let (verified_plans, differing_plans) = (Counter::default(), Counter::default());
        registry.register(
            "verified_plans",
            "Plans from changes that were compared with the plan of all objects",
            verified_plans.clone(),
        );
        registry.register(
            "differing_plans",
            "Plans from changes that differed from the plan of all objects, which was executed instead",
            differing_plans.clone(),
        );
        registry.register("queue_depth", "DaemonSets that wait in the queue", queue_depth.clone());
        registry.register("leader", "1 while this process acts, else 0", leader.clone());
        registry.register(
            "beside_another",
            "1 while this process does nothing, since another DaemonSet controller acts; else 0",
            beside_another.clone(),
        );
        registry.register("actions", "Actions by type, reason and outcome", Family::clone(&actions));
        let calls = Family::default();
        registry.register(
            "calls",
            "API calls that actions of plans led to, by action and by the API server's answer",
            Family::clone(&calls),
        );
        let refused_calls = Family::default();
        registry.register(
            "refused_calls",
            "Calls that the API server refused for good, by action and HTTP status",
            Family::clone(&refused_calls),
        );
        let evictions = Family::default();
        registry.register(
            "evictions",
            "Evictions that drains of nodes in turn asked for, by the API server's answer",
            Family::clone(&evictions),
        );
        register(registry);
        let fleet = FleetMetrics::new(clock);
        registry.register_collector(Box::new(fleet.clone()));
        let rollouts = RolloutMetrics::default();
        rollouts.register(registry);
        let turns = TurnMetrics::default();
        turns.register(registry);
        Metrics {
            registry: Arc::new(all),
            reconcile_seconds,
            decide_seconds,
            plans,
            failures,
            refused_plans,
            listed_plans,
            verified_plans,
            differing_plans,
            queue_depth,
            leader,
            beside_another,
            fleet,
            rollouts,
            turns,
            actions,
            calls,
            refused_calls,
            evictions,
        }
    }

    /// Removes the series of a DaemonSet that is not planned here any more.
    pub(crate) fn forget(&self, key: &Key) {
        self.fleet.forget(key);
        self.rollouts.forget(key);
        self.turns.forget(key);
    }
}

/// Buckets from 1 ms to 30 s.
fn seconds() -> Histogram {
    Histogram::new([0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0])
}

impl Metrics {
    /// Counts an action by type, reason and outcome.
    pub fn count_action(&self, action: &Action, outcome: &ActionOutcome, error: Option<&ExecuteError>) {
        let (action, reason) = (action.kind().to_owned(), action.reason().to_owned());
        let outcome = match outcome {
            ActionOutcome::Created(_) | ActionOutcome::Done | ActionOutcome::Changed(_) => "done",
            ActionOutcome::Rejected => "failed",
            ActionOutcome::Conflict if matches!(error, Some(ExecuteError::Outdated(_))) => "outdated",
            ActionOutcome::Conflict => "failed",
            ActionOutcome::AlreadyExists => "exists",
            _ => "unknown",
        };
        self.actions.get_or_create(&ActionLabels { action, reason, outcome }).inc();
    }

    /// Counts a call by its answer.
    pub fn count_call(&self, action: &Action, response: &ApiResponse) {
        let answer = match response {
            ApiResponse::Done(_) => "done",
            ApiResponse::Rejected(status) if status.is_conflict() || status.is_already_exists() => "conflict",
            ApiResponse::Rejected(status) if status.is_not_found() => "not_found",
            ApiResponse::Rejected(_) => "rejected",
            ApiResponse::RetryAfter(_) => "too_many_requests",
            ApiResponse::Unknown(_) => "unknown",
            // Nothing was sent.
            ApiResponse::NotSent(_) => "unreachable",
            ApiResponse::MayNotAct(_) => return,
        };
        self.calls.get_or_create(&CallLabels { action: action.kind(), answer }).inc();
    }

    /// Counts a call that the API server refused for good, with the code of its answer.
    pub fn count_refusal(&self, action: &Action, code: u16) {
        self.refused_calls.get_or_create(&RefusalLabels { action: action.kind(), code }).inc();
    }

    /// Counts an eviction that was asked for.
    pub fn count_eviction(&self, outcome: EvictionOutcome) {
        let outcome = match outcome {
            EvictionOutcome::Accepted => "accepted",
            EvictionOutcome::Gone => "gone",
            EvictionOutcome::Rejected => "rejected",
            _ => "refused",
        };
        self.evictions.get_or_create(&EvictionLabels { outcome }).inc();
    }

    /// All metrics as OpenMetrics text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string can't fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
