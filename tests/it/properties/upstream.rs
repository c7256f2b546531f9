//! The model of Kubernetes' own controller breaks the promises: this proves that the properties can fail.

use super::{invariants, planned, world};
use crate::support::{Expectations, upstream};
use daemonset::{Action, Plan, Policy, Recording, Situation};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::collections::{BTreeMap, BTreeSet};

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
    let mut broken: BTreeMap<(String, String), u32> = BTreeMap::new();
    for _ in 0..WORLDS {
        let recording = world::world().new_tree(&mut runner).unwrap().current().recording();
        // A second plan without any available pod, because the fleets have few pods that are not yet available.
        let mut young = recording.clone();
        young.daemon_set.spec.min_ready_seconds = 7200;
        for (promise, reason) in [recording, young].into_iter().flat_map(broken_by_kubernetes) {
            *broken.entry((promise, reason)).or_default() += 1;
        }
    }
    println!("in {WORLDS} worlds: {broken:#?}");
    for (promise, reason) in BROKEN {
        let found = broken.contains_key(&(promise.to_owned(), reason.to_owned()));
        assert!(found, "{promise} is kept in spite of {reason}");
    }
}

/// Promises with the reasons of the pod actions that break them.
fn broken_by_kubernetes(recording: Recording) -> Vec<(String, String)> {
    // The model knows neither our policies nor our memory, and mirror pods were not recorded.
    let mut recording = Recording { policy: Policy::default(), memory: None, ..recording };
    recording.pods.retain(|pod| pod.metadata.annotations.mirror.is_none());
    let ours = planned(&recording);
    if ours.report.situation != Situation::Synced {
        return Vec::new();
    }
    let actions = upstream(&recording, Some(&mut Expectations::default()));
    let reasons: BTreeSet<String> = actions.iter().filter_map(reason).collect();
    let broken = |cause: String| {
        let of_this_reason = actions.iter().filter(|action| reason(action).as_ref() == Some(&cause));
        let plan = Plan { actions: of_this_reason.cloned().collect(), ..ours.clone() };
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
