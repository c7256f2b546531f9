//! The counts of findings for Prometheus.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

/// The findings by verdict; clones share their values.
#[derive(Debug, Clone, Default)]
pub(crate) struct FindingMetrics(Family<FindingLabels, Counter>);

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct FindingLabels {
    verdict: &'static str,
}

impl FindingMetrics {
    /// Shows them among the metrics of the process.
    pub(crate) fn register(&self, registry: &mut Registry) {
        registry.register("compared", "Results of the comparison by verdict", self.0.clone());
    }

    /// Counts a finding.
    pub(crate) fn count(&self, verdict: &'static str) {
        self.0.get_or_create(&FindingLabels { verdict }).inc();
    }
}
