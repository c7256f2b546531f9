//! The model of Kubernetes' own controller breaks the promises: this proves that the properties can fail.

use super::{invariants, planned, world};
use crate::support::{Expectations, upstream};
use daemonset::report::Situation;
use daemonset::{Action, Policy, Recording};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::collections::BTreeSet;

const WORLDS: u32 = 2000;

/// A promise, and the reasons of pod actions that break it.
const BROKEN: [(&str, &str); 7] = [
    // The oldest pod stays, available or not; under surge, the oldest with the same hash.
    ("budget", "ExcessPod"),
    ("readiness", "ExcessPod"),
    ("OnDelete", "ExcessPod"),
    ("surge", "ExcessPod"),
    // kruise#1323.
    ("readiness", "OutdatedNotYetAvailable"),
    // A successor beside an outdated pod that is not available does not count.
    ("surge", "Surge"),
    // It deletes terminating pods of nodes that are gone.
    ("ownership", "NodeGone"),
];

#[test]
fn kubernetes_breaks_the_promises() {
    let config = Config { failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let mut kept: BTreeSet<(String, String)> =
        BROKEN.iter().map(|(promise, reason)| ((*promise).to_owned(), (*reason).to_owned())).collect();
    for _ in 0..WORLDS {
        let recording = world::world().new_tree(&mut runner).unwrap().current().recording();
        // A second plan without any available pod, because the fleets have few pods that are not yet available.
        let mut young = recording.clone();
        young.daemon_set.spec.min_ready_seconds = 7200;
        for broken in [recording, young].into_iter().flat_map(broken_by_kubernetes) {
            kept.remove(&broken);
        }
        if kept.is_empty() {
            break;
        }
    }
    assert!(kept.is_empty(), "kept in {WORLDS} worlds in spite of these reasons: {kept:?}");
}

/// Promises with the reasons of the pod actions that break them.
fn broken_by_kubernetes(mut recording: Recording) -> Vec<(String, String)> {
    // The model knows neither our policies nor our memory, and mirror pods were not recorded.
    recording.policy = Policy::default();
    recording.memory = None;
    recording.pods.retain(|pod| !pod.metadata.annotations.contains_key("kubernetes.io/config.mirror"));
    let ours = planned(&recording);
    if ours.report.situation != Situation::Synced {
        return Vec::new();
    }
    let actions = upstream(&recording, Some(&mut Expectations::default()));
    let reasons: BTreeSet<String> = actions.iter().filter_map(reason).collect();
    let broken = |cause: String| {
        let of_this_reason = actions.iter().filter(|action| reason(action).as_ref() == Some(&cause));
        let mut plan = ours.clone();
        plan.actions = of_this_reason.cloned().collect();
        let name = |promise: String| promise.split(':').next().unwrap_or_default().to_owned();
        let broken = invariants::broken(&recording, &plan);
        broken.into_iter().map(move |promise| (name(promise), cause.clone())).collect::<Vec<_>>()
    };
    reasons.into_iter().flat_map(broken).collect()
}

/// The reason of a create or delete of a pod.
fn reason(action: &Action) -> Option<String> {
    match action {
        Action::DeletePod { reason, .. } => Some(format!("{reason:?}")),
        Action::CreatePod { reason, .. } => Some(format!("{reason:?}")),
        _ => None,
    }
}
