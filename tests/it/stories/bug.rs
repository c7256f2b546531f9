//! After a bug of the planner nothing is done.

use super::tracker::observed;
use crate::support::{given, node, rolling};
use daemonset::manifests::{Manifests, NewPod};
use daemonset::report::Warning;
use daemonset::{ActionOutcome, PlanError, Policy, Reconciler, Recorded, UnexpectedAction};
use serde_json::Value;
use std::sync::Arc;

/// Manifests that are made while a step of the decision meets a bug.
#[derive(Debug)]
struct Buggy;

impl Manifests for Buggy {
    fn inputs(&self) -> Value {
        Value::Null
    }

    fn manifest(&self, new: &NewPod<'_>) -> Value {
        daemonset::internal::bug_met();
        new.pod.to_value()
    }
}

#[test]
fn a_plan_after_a_bug_has_no_action() {
    let recording = given(rolling(1)).node(node("a")).recording();
    let plan = daemonset::plan(&recording.builder().manifests(Arc::new(Buggy)).check().unwrap());
    assert_eq!((plan.actions.len(), plan.status, plan.warnings), (0, None, vec![Warning::Bug]));
    let next = recording.snapshot().unwrap();
    assert!(!daemonset::reconcile(&next).is_empty(), "the next decision begins without one");
}

#[test]
fn a_reconciler_gives_a_recording_of_a_bug() {
    let recording = given(rolling(1)).node(node("a")).recording();
    let mut reconciler = Reconciler::new("uid-agent", Policy::default()).with_manifests(Arc::new(Buggy));
    let error = reconciler.plan(observed(&recording), recording.now).unwrap_err();
    let PlanError::Bug { recording: found, .. } = error else { panic!("{error}") };
    assert_eq!((found.daemon_set, found.nodes), (recording.daemon_set.clone(), recording.nodes.clone()));
    reconciler = Reconciler::new("uid-agent", Policy::default());
    assert!(reconciler.plan(observed(&recording), recording.now).is_ok());
}

/// Without a plan the one before stays the last: the outcome of any other action is none of its plan.
#[test]
fn no_other_action_is_due_after_a_bug() {
    let recording = given(rolling(1)).node(node("a")).recording();
    let planned = |name: &str| {
        let recording = given(rolling(1)).node(node(name)).recording();
        let mut reconciler = Reconciler::new("uid-agent", Policy::default());
        let plan = reconciler.plan(observed(&recording), recording.now).unwrap();
        (reconciler, plan.actions[0].clone())
    };
    let (mut reconciler, create) = planned("a");
    let (_, other) = planned("b");
    reconciler.set_manifests(Arc::new(Buggy));
    assert!(reconciler.plan(observed(&recording), recording.now).is_err());
    assert_eq!(
        reconciler.record(&other, &ActionOutcome::Rejected, recording.now),
        Recorded::Unexpected(UnexpectedAction::OtherPlan)
    );
    assert_eq!(reconciler.record(&create, &ActionOutcome::Done, recording.now), Recorded::PlanContinues);
}

#[cfg(daemonset_mutants)]
mod mutants {
    use super::*;
    use daemonset::mutants::{Mutant, with};
    use daemonset_incremental::{NeedsLists, Tracker};

    #[test]
    fn each_driver_refuses_to_act() {
        let recording = given(rolling(1)).node(node("a")).recording();
        let mut reconciler = Reconciler::new("uid-agent", Policy::default());
        let mut tracker = Tracker::new("uid-agent", Policy::default());
        let _ = tracker.list(observed(&recording), recording.now).unwrap();
        let memory = tracker.memory().clone();
        with(Some(Mutant::BugMet), || {
            assert!(matches!(
                reconciler.plan(observed(&recording), recording.now),
                Err(PlanError::Bug { .. })
            ));
            assert_eq!(tracker.plan(recording.now).unwrap_err(), NeedsLists::Bug);
            assert!(matches!(tracker.list(observed(&recording), recording.now), Err(PlanError::Bug { .. })));
            assert_eq!(tracker.plan(recording.now).unwrap_err(), NeedsLists::NotListed);
        });
        assert_eq!(*tracker.memory(), memory);
        assert!(tracker.list(observed(&recording), recording.now).is_ok());
    }
}
