//! Restart, pause and resume.

use super::support::{template, web, with};
use jiff::Timestamp;
use kubectl_daemonset::kubectl::{pause, restart, resume};
use serde_json::{Value, json};

const KEY: &str = "kubectl.kubernetes.io/restartedAt";

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

#[test]
fn the_template_gets_the_time_in_seconds() {
    let daemon_set = web(template("v1"));
    let change = restart(&daemon_set, at("2026-01-01T00:00:07.9Z")).unwrap();
    let annotations = json!({KEY: "2026-01-01T00:00:07Z"});
    assert_eq!(
        change.patches.strategic_merge,
        json!({"spec": {"template": {"metadata": {"annotations": annotations}}}})
    );
    assert_eq!(
        change.patches.json,
        json!([{"op": "add", "path": "/spec/template/metadata/annotations", "value": annotations}])
    );
    let mut expected = daemon_set.clone();
    expected["spec"]["template"]["metadata"]["annotations"] = annotations;
    expected["metadata"]["generation"] = json!(6);
    expected["metadata"]["annotations"]["deprecated.daemonset.template.generation"] = json!("6");
    assert_eq!(change.after, expected);
}

#[test]
fn other_annotations_stay_and_an_older_time_is_replaced() {
    let older = json!({KEY: "2025-01-01T00:00:00Z", "other": "x"});
    let daemon_set = with(web(template("v1")), "/spec/template/metadata/annotations", older);
    let change = restart(&daemon_set, at("2026-01-01T00:00:00Z")).unwrap();
    let path = "/spec/template/metadata/annotations/kubectl.kubernetes.io~1restartedAt";
    let time = json!("2026-01-01T00:00:00Z");
    assert_eq!(change.patches.json, json!([{"op": "add", "path": path, "value": time}]));
    assert_eq!(
        change.after["spec"]["template"]["metadata"]["annotations"],
        json!({KEY: "2026-01-01T00:00:00Z", "other": "x"})
    );
}

#[test]
fn twice_in_a_second_is_refused() {
    let once = restart(&web(template("v1")), at("2026-01-01T00:00:00.1Z")).unwrap().after;
    let error = restart(&once, at("2026-01-01T00:00:00.9Z")).unwrap_err().to_string();
    assert_eq!(
        error,
        "failed to create patch for web: if restart has already been triggered within the past second, please \
         wait before attempting to trigger another"
    );
    assert!(restart(&once, at("2026-01-01T00:00:01Z")).is_ok());
}

#[test]
fn the_api_servers_refusal_is_reported() {
    let daemon_set = with(web(template("v1")), "/spec/template/spec/restartPolicy", json!("Never"));
    let error = restart(&daemon_set, at("2026-01-01T00:00:00Z")).unwrap_err().to_string();
    assert!(error.starts_with("failed to patch: DaemonSet.apps \"web\" is invalid: "), "{error}");
}

#[test]
fn pause_and_resume_are_not_supported() {
    let daemon_set: Value = web(template("v1"));
    let error = pause(&daemon_set).unwrap_err().to_string();
    assert_eq!(error, "error: daemonsets.apps \"web\" pausing is not supported");
    let error = resume(&daemon_set).unwrap_err().to_string();
    assert_eq!(error, "error: daemonsets.apps \"web\" resuming is not supported");
}
