//! Whether a manifest restarts the pods, and because of which fields.

use super::{stored, with};
use daemonset_apiserver::admission::{Restart, Rules, equivalent_spellings, template_change, update};
use proptest::prelude::*;
use proptest::sample::subsequence;
use serde_json::{Value, json};

fn change(stored: &Value, manifest: &Value) -> Option<String> {
    template_change(stored, manifest).unwrap().map(|diff| diff.to_string())
}

/// A manifest as a person would write it.
fn manifest() -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{
                    "name": "web",
                    "image": "web:v1",
                    "env": [{"name": "A", "value": "1"}],
                    "ports": [{"containerPort": 80}],
                    "resources": {"limits": {"memory": "65536Ki"}, "requests": {"cpu": 0.1}},
                }]},
            },
        },
    })
}

fn last_applied(manifest: &Value) -> Value {
    let text = Value::from(manifest.to_string());
    with(&stored(), "/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration", text)
}

/// The strategy after the change decides, not the stored one.
#[test]
fn under_on_delete_a_changed_template_waits_for_the_deletion_of_each_pod() {
    let image = with(&manifest(), "/spec/template/spec/containers/0/image", json!("web:v2"));
    let on_delete = with(&image, "/spec/updateStrategy", json!({"type": "OnDelete"}));
    let restart =
        |stored: &Value, manifest: &Value| template_change(stored, manifest).unwrap().unwrap().restart;
    assert_eq!(restart(&stored(), &image), Restart::Rollout);
    assert_eq!(restart(&stored(), &on_delete), Restart::OnDelete);
    let stored = update(
        &stored(),
        &with(&manifest(), "/spec/updateStrategy", json!({"type": "OnDelete"})),
        &Rules::new(),
    );
    let stored = stored.unwrap();
    assert_eq!(restart(&stored, &on_delete), Restart::OnDelete);
    assert_eq!(restart(&stored, &image), Restart::Rollout, "the default of an absent strategy");
}

#[test]
fn equivalent_spellings_restart_nothing() {
    assert_eq!(change(&stored(), &manifest()), None);
    assert_eq!(change(&stored(), &stored()), None);
    let words = equivalent_spellings(&stored(), &manifest()).unwrap().to_string();
    let lines: Vec<&str> = words.lines().collect();
    let container = "spec.template.spec.containers[web]";
    assert!(
        lines.contains(&format!("{container}.resources.limits[memory]: \"64Mi\" -> \"65536Ki\"").as_str()),
        "{words}"
    );
    assert!(
        lines.contains(&format!("{container}.resources.requests[cpu]: \"100m\" -> 0.1").as_str()),
        "{words}"
    );
    assert!(
        lines.contains(&format!("{container}.imagePullPolicy: \"IfNotPresent\" -> absent").as_str()),
        "{words}"
    );
    assert!(equivalent_spellings(&stored(), &stored()).unwrap().differences.is_empty());
}

#[test]
fn each_difference_has_its_path() {
    let mut manifest = manifest();
    let pod = &mut manifest["spec"]["template"];
    pod["metadata"]["labels"]["tier"] = json!("front");
    pod["spec"]["tolerations"] = json!([{"operator": "Exists"}]);
    pod["spec"]["containers"][0]["image"] = json!("web:v2");
    pod["spec"]["containers"][0]["env"] = json!([{"name": "B", "value": "2"}]);
    pod["spec"]["containers"][0]["resources"]["limits"]["memory"] = json!("128Mi");
    pod["spec"]["containers"][0]["command"] = json!(["a", "b"]);
    let expected = [
        "spec.template.metadata.labels[tier]: absent -> \"front\"",
        "spec.template.spec.containers[web].image: \"web:v1\" -> \"web:v2\"",
        "spec.template.spec.containers[web].command: absent -> [\"a\",\"b\"]",
        "spec.template.spec.containers[web].env[A]: {\"name\":\"A\",\"value\":\"1\"} -> absent",
        "spec.template.spec.containers[web].env[B]: absent -> {\"name\":\"B\",\"value\":\"2\"}",
        "spec.template.spec.containers[web].resources.limits[memory]: \"64Mi\" -> \"128Mi\"",
        "spec.template.spec.tolerations: absent -> [{\"operator\":\"Exists\"}]",
    ];
    assert_eq!(change(&stored(), &manifest).unwrap().lines().collect::<Vec<_>>(), expected);
    let words = equivalent_spellings(&stored(), &manifest).unwrap().to_string();
    assert!(!words.contains("image:"), "a real change is no other spelling: {words}");
}

#[test]
fn a_change_of_a_meaningful_order_is_a_difference() {
    let env = |names: [&str; 2]| json!(names.map(|name| json!({"name": name, "value": "1"})));
    let path = "/spec/template/spec/containers/0/env";
    let [old, new] = [["A", "B"], ["B", "A"]].map(|names| with(&stored(), path, env(names)));
    assert_eq!(
        change(&old, &new).unwrap(),
        "spec.template.spec.containers[web].env: [\"A\",\"B\"] -> [\"B\",\"A\"]"
    );
}

#[test]
fn ports_with_one_number_are_named_by_index() {
    let ports = |protocols: [&str; 2]| {
        json!(protocols.map(|protocol| json!({"containerPort": 53, "protocol": protocol})))
    };
    let path = "/spec/template/spec/containers/0/ports";
    let [old, new] =
        [["TCP", "UDP"], ["TCP", "SCTP"]].map(|protocols| with(&stored(), path, ports(protocols)));
    assert_eq!(
        change(&old, &new).unwrap(),
        "spec.template.spec.containers[web].ports[1].protocol: \"UDP\" -> \"SCTP\""
    );
}

#[test]
fn an_applied_object_keeps_the_fields_of_others() {
    let restarted = json!({"kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:00Z"});
    let path = "/spec/template/metadata/annotations";
    let applied = with(&last_applied(&manifest()), path, restarted.clone());
    assert_eq!(change(&applied, &manifest()), None, "the annotation is not the manifest's");
    let created = with(&stored(), path, restarted);
    assert!(
        change(&created, &manifest()).is_some(),
        "without the annotation the manifest replaces the object"
    );

    let mut less = manifest();
    less["spec"]["template"]["spec"]["containers"][0].as_object_mut().unwrap().remove("env");
    assert_eq!(
        change(&applied, &less).unwrap(),
        "spec.template.spec.containers[web].env: [{\"name\":\"A\",\"value\":\"1\"}] -> absent",
        "what was applied and is gone from the manifest goes"
    );
}

#[test]
fn a_refused_manifest_is_an_error() {
    let broken = with(&manifest(), "/spec/template/spec/restartPolicy", json!("Never"));
    let text = template_change(&stored(), &broken).unwrap_err().to_string();
    assert!(text.starts_with("The DaemonSet \"web\" is invalid: spec.template.spec.restartPolicy"), "{text}");
}

fn edits() -> Vec<(&'static str, Value)> {
    vec![
        ("/spec/template/spec/containers/0/image", json!("web:v2")),
        ("/spec/template/spec/containers/0/resources/limits/memory", json!("65536Ki")),
        ("/spec/template/spec/containers/0/resources/limits/cpu", json!("1")),
        ("/spec/template/spec/containers/0/securityContext", json!({})),
        ("/spec/template/spec/containers/0/ports", json!([])),
        ("/spec/template/spec/nodeSelector", json!({})),
        ("/spec/template/spec/tolerations", json!([{"operator": "Exists"}])),
        ("/spec/template/spec/affinity", json!({"nodeAffinity": {}})),
        ("/spec/template/spec/hostPID", json!(true)),
        ("/spec/template/spec/hostIPC", json!(false)),
        ("/spec/template/spec/volumes", json!([{"name": "a", "emptyDir": {"sizeLimit": "1Gi"}}])),
        ("/spec/template/metadata/annotations", json!({"a": ""})),
        ("/spec/minReadySeconds", json!(3)),
    ]
}

proptest! {
    #[test]
    fn there_is_a_difference_exactly_when_the_template_generation_rises(
        old in subsequence(edits(), 0..6), new in subsequence(edits(), 0..6),
    ) {
        let [old, new] = [old, new].map(|edits| {
            edits.into_iter().fold(stored(), |object, (path, value)| with(&object, path, value))
        });
        let annotation = "/metadata/annotations/deprecated.daemonset.template.generation";
        let updated = update(&old, &new, &Rules::default()).unwrap();
        let rises = updated.pointer(annotation) != old.pointer(annotation);
        let change = template_change(&old, &new).unwrap();
        prop_assert_eq!(change.is_some(), rises);
        if let Some(diff) = change {
            prop_assert!(!diff.differences.is_empty());
            prop_assert!(diff.differences.iter().all(|difference| difference.old != difference.new), "{}", diff);
        }
    }
}
