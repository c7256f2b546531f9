//! Metrics of the nodes in turn, and of those that wait for something else than the budget.

use crate::caches::Key;
use daemonset::model::NodeName;
use daemonset::report::Wait;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

/// The metrics of all turns; clones share their values.
#[derive(Clone, Default)]
pub struct TurnMetrics {
    nodes: Family<TurnLabels, Gauge>,
    /// The states of each DaemonSet that have a series.
    series: Arc<Mutex<HashMap<Key, BTreeMap<&'static str, i64>>>>,
}

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct TurnLabels {
    namespace: String,
    daemonset: String,
    state: &'static str,
}

impl TurnMetrics {
    pub(crate) fn register(&self, registry: &mut Registry) {
        registry.register(
            "turn_nodes",
            "Nodes in turn, and nodes whose update waits for something else than the budget, by the thing",
            self.nodes.clone(),
        );
    }

    /// Shows so many nodes in turn, and what nodes wait for.
    pub(crate) fn show(&self, key: &Key, waits: &[(&NodeName, &Wait)], in_turn: usize) {
        let mut counts: BTreeMap<&'static str, i64> = BTreeMap::new();
        if in_turn > 0 {
            counts.insert("InTurn", i64::try_from(in_turn).unwrap_or(i64::MAX));
        }
        for (_, wait) in waits {
            *counts.entry(wait.kind().as_str()).or_default() += 1;
        }
        self.set(key, counts);
    }

    /// Removes the series of a DaemonSet that is not planned here.
    pub(crate) fn forget(&self, key: &Key) {
        self.set(key, BTreeMap::new());
    }

    fn set(&self, key: &Key, counts: BTreeMap<&'static str, i64>) {
        let mut series = self.series.lock().unwrap_or_else(PoisonError::into_inner);
        for state in
            series.remove(key).unwrap_or_default().keys().filter(|state| !counts.contains_key(*state))
        {
            self.nodes.remove(&labels(key, state));
        }
        for (state, count) in &counts {
            self.nodes.get_or_create(&labels(key, state)).set(*count);
        }
        if !counts.is_empty() {
            series.insert(key.clone(), counts);
        }
    }
}

fn labels(key: &Key, state: &'static str) -> TurnLabels {
    TurnLabels { namespace: key.namespace.clone(), daemonset: key.name.clone(), state }
}
