//! The progress of a rollout.

use super::support::{template, web, with};
use kubectl_daemonset::kubectl::{RolloutError, RolloutProgress, status};
use serde_json::{Value, json};

fn with_status(status: Value) -> Value {
    with(web(template("v1")), "/status", status)
}

fn counted(observed: i64, desired: i32, updated: i32, available: i32) -> Value {
    with_status(json!({
        "observedGeneration": observed, "desiredNumberScheduled": desired,
        "updatedNumberScheduled": updated, "numberAvailable": available,
    }))
}

#[test]
fn each_step_has_its_line() {
    for (case, line, done) in [
        (counted(4, 3, 3, 3), "Waiting for daemon set spec update to be observed...\n", false),
        (
            counted(5, 3, 2, 3),
            "Waiting for daemon set \"web\" rollout to finish: 2 out of 3 new pods have been updated...\n",
            false,
        ),
        (
            counted(5, 3, 3, 2),
            "Waiting for daemon set \"web\" rollout to finish: 2 of 3 updated pods are available...\n",
            false,
        ),
        (counted(5, 3, 3, 3), "daemon set \"web\" successfully rolled out\n", true),
        (counted(6, 3, 4, 4), "daemon set \"web\" successfully rolled out\n", true),
    ] {
        let progress = status(&case, None).unwrap();
        assert_eq!((progress.to_string().as_str(), progress.is_done()), (line, done));
    }
}

#[test]
fn absent_counters_are_0() {
    assert_eq!(status(&with_status(json!({})), None).unwrap(), RolloutProgress::WaitingForObservation);
    let new = with(with_status(json!({})), "/metadata/generation", json!(null));
    let progress = status(&new, None).unwrap();
    assert!(matches!(&progress, RolloutProgress::Done { name, .. } if name == "web"), "{progress:?}");
}

#[test]
fn only_a_rolling_update_has_a_status() {
    for strategy in [json!({"type": "OnDelete"}), json!({}), json!({"type": "SurgingRollingUpdate"})] {
        let case = with(counted(5, 3, 3, 3), "/spec/updateStrategy", strategy);
        assert_eq!(status(&case, None), Err(RolloutError::NotRollingUpdate));
    }
}

#[test]
fn a_revision_to_watch_may_be_any_but_a_negative_one() {
    let done = counted(5, 3, 3, 3);
    assert!(status(&done, Some(42)).unwrap().is_done());
    assert_eq!(status(&done, Some(-1)), Err(RolloutError::NotPositive(-1)));
    let printed = status(&json!({"spec": 1}), None).unwrap_err().to_string();
    assert!(printed.starts_with("failed to convert the object to a DaemonSet: "), "{printed}");
}

#[test]
fn a_step_is_data_too() {
    insta::assert_json_snapshot!(
        status(&counted(5, 3, 2, 3), None).unwrap(),
        @r#"
    {
      "type": "Updating",
      "name": "web",
      "updated": 2,
      "desired": 3
    }
    "#
    );
}
