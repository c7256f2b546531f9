//! Defaults that are filled in, and values that are kept.

use super::defaults_table::{Case, cases};
use daemonset_apiserver::admission::{DefaultRule, Form, default, default_pod, defaults, pod_only_defaults};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn defaulted(mut object: Value) -> Value {
    default(&mut object, Form::AppsV1);
    object
}

#[test]
fn each_default_is_filled_in() {
    for Case { rule, before, at, after } in cases() {
        let messages_of = format!("{rule} in {before}");
        assert_eq!(defaulted(before).pointer(&at), Some(&after), "{messages_of}");
    }
}

#[test]
fn each_default_has_a_case() {
    let messages_of: BTreeSet<String> = cases().into_iter().map(|case| case.rule).collect();
    let known: BTreeSet<String> = defaults(Form::AppsV1).map(|rule| rule.path).collect();
    assert_eq!(messages_of, known);
}

#[test]
fn set_values_are_kept() {
    for Case { rule, before, at, after } in cases() {
        let kept = match after {
            Value::String(_) | Value::Null => json!("kept"),
            Value::Number(_) => json!(77),
            Value::Bool(value) => json!(!value),
            Value::Object(_) => json!({"kept": true}),
            Value::Array(_) => continue,
        };
        if rule == "spec.template.spec.serviceAccount" {
            continue;
        }
        let mut object = defaulted(before);
        *object.pointer_mut(&at).unwrap() = kept.clone();
        let again = defaulted(object);
        let found = again.pointer(&at).unwrap();
        match &kept {
            Value::Object(_) => assert_eq!(found["kept"], json!(true), "{rule}"),
            _ => assert_eq!(found, &kept, "{rule}"),
        }
    }
}

/// As a v1.36.3 API server stored it.
#[test]
fn a_minimal_daemon_set_as_stored() {
    let labels = json!({"app": "web"});
    let stored = defaulted(json!({"spec": {
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [{
            "name": "web",
            "image": "registry.example/web:v1",
            "ports": [{"containerPort": 80}],
            "env": [{"name": "A", "value": "1"}],
            "resources": {"limits": {"memory": "64Mi"}, "requests": {"cpu": "100m"}},
            "readinessProbe": {"httpGet": {"path": "/", "port": 80}},
        }]}},
    }}));
    let expected = json!({
        "revisionHistoryLimit": 10,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {
            "containers": [{
                "env": [{"name": "A", "value": "1"}],
                "image": "registry.example/web:v1",
                "imagePullPolicy": "IfNotPresent",
                "name": "web",
                "ports": [{"containerPort": 80, "protocol": "TCP"}],
                "readinessProbe": {
                    "failureThreshold": 3,
                    "httpGet": {"path": "/", "port": 80, "scheme": "HTTP"},
                    "periodSeconds": 10,
                    "successThreshold": 1,
                    "timeoutSeconds": 1,
                },
                "resources": {"limits": {"memory": "64Mi"}, "requests": {"cpu": "100m"}},
                "terminationMessagePath": "/dev/termination-log",
                "terminationMessagePolicy": "File",
            }],
            "dnsPolicy": "ClusterFirst",
            "restartPolicy": "Always",
            "schedulerName": "default-scheduler",
            "securityContext": {},
            "terminationGracePeriodSeconds": 30,
        }},
        "updateStrategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}, "type": "RollingUpdate"},
    });
    assert_eq!(stored["spec"], expected);
}

/// The value at the end of a path; a number is the position in a list.
fn nested(at: &str, value: Value) -> Value {
    at.rsplit('/').fold(value, |inner, part| match part {
        "0" => json!([inner]),
        field => json!({field: inner}),
    })
}

fn of_spec_afterwards(at: &str, value: Value) -> Value {
    let object = defaulted(json!({"spec": nested(at, value)}));
    object.pointer(&format!("/spec/{at}")).unwrap().clone()
}

#[test]
fn a_zero_is_kept_if_it_differs_from_absent() {
    for (at, zero) in [
        ("revisionHistoryLimit", json!(0)),
        ("updateStrategy/rollingUpdate/maxUnavailable", json!(0)),
        ("updateStrategy/rollingUpdate/maxUnavailable", json!("")),
        ("template/spec/terminationGracePeriodSeconds", json!(0)),
        ("template/spec/volumes/0/hostPath/type", json!("")),
        ("template/spec/volumes/0/secret/defaultMode", json!(0)),
        ("template/spec/volumes/0/configMap/defaultMode", json!(0)),
        ("template/spec/volumes/0/downwardAPI/defaultMode", json!(0)),
        ("template/spec/volumes/0/projected/defaultMode", json!(0)),
        ("template/spec/volumes/0/projected/sources/0/serviceAccountToken/expirationSeconds", json!(0)),
        ("template/spec/volumes/0/ephemeral/volumeClaimTemplate/spec/volumeMode", json!("")),
        ("template/spec/volumes/0/azureDisk/cachingMode", json!("")),
        ("template/spec/volumes/0/azureDisk/fsType", json!("")),
        ("template/spec/volumes/0/azureDisk/kind", json!("")),
    ] {
        assert_eq!(of_spec_afterwards(at, zero.clone()), zero, "{at}");
    }
}

#[test]
fn a_zero_is_defaulted_if_it_equals_absent() {
    let probe = "template/spec/containers/0/livenessProbe/";
    for (at, zero, after) in [
        ("updateStrategy/type", json!(""), json!("RollingUpdate")),
        ("template/spec/dnsPolicy", json!(""), json!("ClusterFirst")),
        ("template/spec/restartPolicy", json!(""), json!("Always")),
        ("template/spec/schedulerName", json!(""), json!("default-scheduler")),
        ("template/spec/containers/0/terminationMessagePath", json!(""), json!("/dev/termination-log")),
        ("template/spec/containers/0/terminationMessagePolicy", json!(""), json!("File")),
        ("template/spec/containers/0/imagePullPolicy", json!(""), json!("IfNotPresent")),
        ("template/spec/containers/0/ports/0/protocol", json!(""), json!("TCP")),
        ("template/spec/containers/0/env/0/valueFrom/fieldRef/apiVersion", json!(""), json!("v1")),
        ("template/spec/containers/0/lifecycle/preStop/httpGet/path", json!(""), json!("/")),
        ("template/spec/containers/0/lifecycle/preStop/httpGet/scheme", json!(""), json!("HTTP")),
        ("template/spec/volumes/0/image/pullPolicy", json!(""), json!("IfNotPresent")),
        ("template/spec/volumes/0/iscsi/iscsiInterface", json!(""), json!("default")),
        ("template/spec/volumes/0/rbd/pool", json!(""), json!("rbd")),
        ("template/spec/volumes/0/rbd/user", json!(""), json!("admin")),
        ("template/spec/volumes/0/rbd/keyring", json!(""), json!("/etc/ceph/keyring")),
        ("template/spec/volumes/0/scaleIO/storageMode", json!(""), json!("ThinProvisioned")),
        ("template/spec/volumes/0/scaleIO/fsType", json!(""), json!("xfs")),
    ] {
        assert_eq!(of_spec_afterwards(at, zero), after, "{at}");
    }
    for (field, after) in
        [("timeoutSeconds", 1), ("periodSeconds", 10), ("successThreshold", 1), ("failureThreshold", 3)]
    {
        assert_eq!(of_spec_afterwards(&format!("{probe}{field}"), json!(0)), json!(after), "{field}");
    }
}

#[test]
fn an_unknown_source_is_a_source() {
    let volumes =
        defaulted(json!({"spec": nested("template/spec/volumes", json!([{"name": "a", "tape": {}}]))}));
    assert_eq!(volumes.pointer("/spec/template/spec/volumes"), Some(&json!([{"name": "a", "tape": {}}])));
}

#[test]
fn limits_beside_the_proposals_strategies() {
    let strategy = |strategy: Value| {
        let mut object = json!({"spec": {"updateStrategy": strategy}});
        default(&mut object, Form::Proposal);
        object["spec"]["updateStrategy"].take()
    };
    let surging = |limit: Value| json!({"type": "SurgingRollingUpdate", "surgingRollingUpdate": limit});
    for (before, after) in [
        (json!({}), json!({"type": "OnDelete"})),
        (json!({"type": "OnDelete", "rollingUpdate": {}}), json!({"type": "OnDelete", "rollingUpdate": {}})),
        (
            json!({"type": "RollingUpdate"}),
            json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}}),
        ),
        (json!({"type": "SurgingRollingUpdate"}), surging(json!({"maxSurge": 1}))),
        (surging(json!({})), surging(json!({"maxSurge": 1}))),
        (surging(json!({"maxSurge": "20%"})), surging(json!({"maxSurge": "20%"}))),
        (surging(json!({"maxSurge": 0})), surging(json!({"maxSurge": 0}))),
    ] {
        assert_eq!(strategy(before.clone()), after, "{before}");
    }
}

#[test]
fn amounts_are_rounded_up_to_thousandths() {
    let amounts = json!({"cpu": "0.0001", "memory": "1000Ki", "other": "100m", "odd": "half", "plain": 2});
    let rounded = json!({"cpu": "1m", "memory": "1000Ki", "other": "100m", "odd": "half", "plain": "2"});
    for list in [
        "template/spec/containers/0/resources/limits",
        "template/spec/initContainers/0/resources/requests",
        "template/spec/ephemeralContainers/0/resources/limits",
        "template/spec/overhead",
        "template/spec/resources/limits",
        "template/spec/resources/requests",
        "template/spec/volumes/0/ephemeral/volumeClaimTemplate/spec/resources/limits",
        "template/spec/volumes/0/ephemeral/volumeClaimTemplate/spec/resources/requests",
    ] {
        assert_eq!(of_spec_afterwards(list, amounts.clone()), rounded, "{list}");
    }
}

#[test]
fn annotations_of_old_init_containers_are_removed() {
    let old = "pod.beta.kubernetes.io/init-containers";
    let template = |annotations: Value| {
        let metadata = json!({"annotations": annotations});
        defaulted(json!({"spec": {"template": {"metadata": metadata}}}))["spec"]["template"]["metadata"]
            .take()
    };
    assert_eq!(template(json!({old: "[]", "a": "b"})), json!({"annotations": {"a": "b"}}));
    assert_eq!(template(json!({old: "[]"})), json!({}));
    assert_eq!(template(json!({"a": "b"})), json!({"annotations": {"a": "b"}}));
}

#[test]
fn only_a_pod_gets_requests_service_links_and_host_ports() {
    let container = json!({
        "image": "a:1", "ports": [{"containerPort": 80}, {"containerPort": 81, "hostPort": 82}],
        "resources": {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}},
    });
    let template =
        json!({"spec": {"hostNetwork": true, "containers": [container], "initContainers": [container]}});
    let mut pod = template.clone();
    default_pod(&mut pod);
    assert_eq!(pod.pointer("/spec/enableServiceLinks"), Some(&json!(true)));
    for list in ["containers", "initContainers"] {
        let container = &pod["spec"][list][0];
        assert_eq!(container["resources"]["requests"], json!({"cpu": "500m", "memory": "1Gi"}));
        assert_eq!(container.pointer("/ports/0/hostPort"), Some(&json!(80)));
        assert_eq!(container.pointer("/ports/1/hostPort"), Some(&json!(82)));
    }
    let in_set = &defaulted(json!({"spec": {"template": template}}))["spec"]["template"]["spec"];
    assert_eq!(in_set.get("enableServiceLinks"), None);
    assert_eq!(in_set.pointer("/containers/0/resources/requests"), Some(&json!({"cpu": "500m"})));
    assert_eq!(
        in_set.pointer("/containers/0/ports/0"),
        Some(&json!({"containerPort": 80, "protocol": "TCP"}))
    );
}

#[test]
fn without_host_network_a_port_gets_no_host_port() {
    let mut pod =
        json!({"spec": {"containers": [{"ports": [{"containerPort": 80}]}, {"resources": {"limits": {}}}]}});
    default_pod(&mut pod);
    assert_eq!(pod.pointer("/spec/containers/0/ports/0/hostPort"), None);
    assert_eq!(pod.pointer("/spec/containers/1/resources"), Some(&json!({"limits": {}})));
}

#[test]
fn each_default_names_its_source() {
    let rules: Vec<DefaultRule> =
        defaults(Form::AppsV1).chain(defaults(Form::Proposal)).chain(pod_only_defaults()).collect();
    assert!(
        rules.iter().all(|rule| rule.source.starts_with("v1.36 ") || rule.source.starts_with("proposal: "))
    );
    let history = rules.iter().find(|rule| rule.path == "spec.revisionHistoryLimit").unwrap();
    let messages_of = "spec.revisionHistoryLimit = 10 (v1.36 apps/v1 defaults.go SetDefaults_DaemonSet)";
    assert_eq!(history.to_string(), messages_of);
}
