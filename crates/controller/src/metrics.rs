//! What Prometheus is told.

use daemonset::{Action, ActionOutcome};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use serde_json::Value;
use std::sync::Arc;

/// The controller's figures; clones count together.
#[derive(Clone)]
pub struct Metrics {
    registry: Arc<Registry>,
    /// Seconds from a snapshot to the end of its plan, calls included.
    pub reconcile_seconds: Histogram,
    /// Seconds of the decision alone.
    pub decide_seconds: Histogram,
    /// Reconciles that ended early.
    pub failures: Counter,
    /// DaemonSets that wait to be reconciled.
    pub queue_depth: Gauge,
    /// 1 while this process is the one that acts.
    pub leader: Gauge,
    actions: Family<Acted, Counter>,
    compared: Family<Compared, Counter>,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Compared {
    verdict: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Acted {
    action: String,
    reason: String,
    outcome: &'static str,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("daemonset");
        let reconcile_seconds = seconds();
        let decide_seconds = seconds();
        let (failures, queue_depth, leader, actions) =
            (Counter::default(), Gauge::default(), Gauge::default(), Family::default());
        registry.register(
            "reconcile_seconds",
            "Snapshot, decision and calls of one reconcile",
            reconcile_seconds.clone(),
        );
        registry.register("decide_seconds", "Snapshot and decision of one reconcile", decide_seconds.clone());
        registry.register("reconcile_failures", "Reconciles that ended early", failures.clone());
        registry.register("queue_depth", "DaemonSets that wait to be reconciled", queue_depth.clone());
        registry.register("leader", "1 while this process is the one that acts", leader.clone());
        registry.register("actions", "Actions by type, reason and outcome", Family::clone(&actions));
        let compared = Family::default();
        registry.register("compared", "What was compared, by verdict", Family::clone(&compared));
        Metrics {
            registry: Arc::new(registry),
            reconcile_seconds,
            decide_seconds,
            failures,
            queue_depth,
            leader,
            actions,
            compared,
        }
    }
}

/// From 1 ms to half a minute.
fn seconds() -> Histogram {
    Histogram::new([0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0])
}

impl Metrics {
    /// Counts an action by its type and reason, and what came of it.
    pub fn acted(&self, action: &Action, outcome: &ActionOutcome) {
        let (action, reason) = kind_and_reason(action);
        let outcome = match outcome {
            ActionOutcome::Created(_) | ActionOutcome::Done => "done",
            ActionOutcome::Rejected => "failed",
            _ => "unknown",
        };
        self.actions.get_or_create(&Acted { action, reason, outcome }).inc();
    }

    /// Counts what came of a comparison.
    pub fn compared(&self, verdict: &'static str) {
        self.compared.get_or_create(&Compared { verdict }).inc();
    }

    /// The text that Prometheus reads.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string can't fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

/// As they stand in an action's JSON form.
pub fn kind_and_reason(action: &Action) -> (String, String) {
    // A manifest is large, and says nothing here.
    if let Action::CreatePod { reason, .. } = action {
        return ("CreatePod".to_owned(), format!("{reason:?}"));
    }
    let json = serde_json::to_value(action).unwrap_or_default();
    let word = |name: &str| json.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    (word("type"), word("reason"))
}
