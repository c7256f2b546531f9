//! Whether a rollout is done, as `kubectl rollout status` sees it.

use daemonset::kubernetes::{RolloutStatus, rollout_status};
use daemonset::model::DaemonSet;
use serde_json::json;

/// Of generation 5 and three target nodes.
fn counted(strategy: &str, observed: i64, updated: i32, available: i32) -> DaemonSet {
    serde_json::from_value(json!({
        "metadata": {"name": "web", "generation": 5},
        "spec": {"selector": {}, "template": {}, "updateStrategy": {"type": strategy}},
        "status": {
            "observedGeneration": observed, "desiredNumberScheduled": 3,
            "updatedNumberScheduled": updated, "numberAvailable": available,
        },
    }))
    .unwrap()
}

#[test]
fn the_counters_count_once_the_spec_is_observed_then_updated_pods_then_available_ones() {
    for (observed, updated, available, status) in [
        (4, 3, 3, RolloutStatus::WaitingForObservation),
        (5, 2, 3, RolloutStatus::Updating { updated: 2, desired: 3 }),
        (5, 3, 2, RolloutStatus::BecomingAvailable { available: 2, desired: 3 }),
        (5, 3, 3, RolloutStatus::Done),
        (6, 4, 4, RolloutStatus::Done),
    ] {
        assert_eq!(rollout_status(&counted("RollingUpdate", observed, updated, available)), Some(status));
    }
}

#[test]
fn only_a_rolling_update_has_a_status() {
    assert_eq!(rollout_status(&counted("OnDelete", 5, 3, 3)), None);
}
