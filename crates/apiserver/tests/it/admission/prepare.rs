//! Generation, template generation and status, which a client can't set.

use super::{stored, with};
use daemonset_apiserver::admission::{
    Refusal, Rules, create, default, prepare_for_create, prepare_for_status_update, prepare_for_update,
    update, update_status,
};
use proptest::prelude::*;
use proptest::sample::subsequence;
use serde_json::{Value, json};

const TEMPLATE_GENERATION: &str = "/metadata/annotations/deprecated.daemonset.template.generation";

fn generations(object: &Value) -> (i64, &str) {
    let template = object.pointer(TEMPLATE_GENERATION).and_then(Value::as_str).unwrap_or("none");
    (object["metadata"]["generation"].as_i64().unwrap_or_default(), template)
}

fn annotated(template_generation: &str) -> Value {
    json!({"deprecated.daemonset.template.generation": template_generation})
}

#[test]
fn a_new_daemon_set_has_generation_1_and_no_status() {
    for (sent, template_generation) in
        [(None, "1"), (Some("7"), "7"), (Some("+7"), "7"), (Some("0"), "1"), (Some("-3"), "1")]
    {
        let mut object = with(&stored(), "/metadata/generation", json!(40));
        object["metadata"]["annotations"] = sent.map_or(json!({}), annotated);
        let new = create(&object, &Rules::default()).unwrap();
        assert_eq!(generations(&new), (1, template_generation), "{sent:?}");
        let zero_status = json!({
            "currentNumberScheduled": 0, "desiredNumberScheduled": 0, "numberMisscheduled": 0, "numberReady": 0});
        assert_eq!(new["status"], zero_status);
        for name in ["uid", "creationTimestamp", "managedFields"] {
            assert_eq!(new["metadata"][name], Value::Null, "{name} is the system's");
        }
    }
}

#[test]
fn an_invalid_template_generation_is_refused() {
    for (sent, message) in [
        ("x", "strconv.ParseInt: parsing \"x\": invalid syntax"),
        ("", "strconv.ParseInt: parsing \"\": invalid syntax"),
        ("99999999999999999999", "strconv.ParseInt: parsing \"99999999999999999999\": value out of range"),
    ] {
        let object = with(&stored(), "/metadata/annotations", annotated(sent));
        for answer in [create(&object, &Rules::default()), update(&stored(), &object, &Rules::default())] {
            let Err(Refusal::Undecodable { messages, .. }) = answer else { panic!("{answer:?}") };
            assert_eq!(messages, [message]);
        }
    }
}

#[test]
fn an_update_can_not_set_system_metadata() {
    let mut sent = stored();
    sent["status"] = json!({"numberReady": 77});
    sent["metadata"]["generation"] = json!(500);
    sent["metadata"]["annotations"] = annotated("99");
    sent["metadata"]["creationTimestamp"] = json!("2001-01-01T00:00:00Z");
    sent["metadata"]["uid"] = Value::Null;
    assert_eq!(update(&stored(), &sent, &Rules::default()).unwrap(), stored());
}

#[test]
fn an_update_of_the_status_changes_nothing_else_but_metadata() {
    let mut sent = stored();
    sent["status"] = json!({"numberReady": 3, "bogus": 1});
    sent["spec"]["minReadySeconds"] = json!(9);
    sent["spec"]["template"]["spec"]["containers"][0]["image"] = json!("other");
    sent["metadata"]["labels"] = json!({"team": "a"});
    sent["metadata"]["generation"] = json!(500);
    sent["metadata"]["annotations"] = annotated("99");
    let new = update_status(&stored(), &sent).unwrap();
    assert_eq!(new["spec"], stored()["spec"]);
    assert_eq!(new["status"]["numberReady"], json!(3));
    assert_eq!(new["status"]["bogus"], Value::Null);
    assert_eq!(new["metadata"]["labels"], json!({"team": "a"}));
    assert_eq!(generations(&new), generations(&stored()));
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(members) => members
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key, without_nulls(value)))
            .collect(),
        Value::Array(items) => items.into_iter().map(without_nulls).collect(),
        other => other,
    }
}

#[test]
fn fields_of_features_that_are_off_are_dropped_unless_in_use() {
    let (pod, container) = ("/spec/template/spec", "/spec/template/spec/containers/0");
    let sources = |user: &Value| {
        let items = json!([{"key": "k", "path": "k", "user": user}]);
        let file = json!([{"path": "p", "fieldRef": {"fieldPath": "metadata.name"}, "user": user}]);
        let bundle = json!({"name": "b", "path": "b", "user": user});
        let certificate = json!({"signerName": "a.b/c", "keyType": "ED25519", "keyPath": "c", "user": user});
        json!([
            {"secret": {"name": "s", "items": items}}, {"configMap": {"name": "c", "items": items}},
            {"downwardAPI": {"items": file}}, {"serviceAccountToken": {"path": "t", "user": user}},
            {"clusterTrustBundle": bundle}, {"podCertificate": certificate},
        ])
    };
    let volumes = |user: &Value| {
        let (items, files) =
            (json!([{"key": "k", "path": "k", "user": user}]), json!([{"path": "p", "user": user}]));
        [
            json!({"secret": {"secretName": "s", "defaultUser": user}}),
            json!({"secret": {"secretName": "s", "items": items}}),
            json!({"configMap": {"name": "c", "defaultUser": user}}),
            json!({"configMap": {"name": "c", "items": items}}),
            json!({"downwardAPI": {"defaultUser": user}}),
            json!({"downwardAPI": {"items": files}}),
            json!({"projected": {"sources": [], "defaultUser": user}}),
        ]
        .into_iter()
        .chain(
            sources(user)
                .as_array()
                .unwrap()
                .iter()
                .map(|source| json!({"projected": {"sources": [source]}})),
        )
        .map(|volume| json!([volume]))
        .collect::<Vec<_>>()
    };
    let users = volumes(&json!(0)).into_iter().zip(volumes(&Value::Null));
    let users = users.map(|(with, without)| (format!("{pod}/volumes"), with, Some(without)));
    let probe =
        |field: &str, with: Value, without: Value| (format!("{container}/{field}"), with, Some(without));
    let http = |protocol: Value| json!({"httpGet": {"port": 1, "protocol": protocol}});
    let grpc = |mode: Value| json!({"grpc": {"port": 1, "mode": mode}});
    let mounts = |options: Value| json!([{"name": "a", "mountPath": "/a", "bindMountOptions": options}]);
    let probes = [
        probe("livenessProbe", http(json!("HTTP1")), http(Value::Null)),
        probe("readinessProbe", grpc(json!("TLS")), grpc(Value::Null)),
        probe("startupProbe", grpc(json!("Plaintext")), grpc(Value::Null)),
        probe("lifecycle", json!({"preStop": http(json!("HTTP2"))}), json!({"preStop": http(Value::Null)})),
        probe("volumeMounts", mounts(json!(["noexec"])), mounts(Value::Null)),
    ];
    let rows = [
        ("/spec/template/spec/schedulingGroup", json!({"podGroupName": "a"}), None),
        ("/spec/template/spec/containers/0/lifecycle", json!({"stopSignal": "SIGTERM"}), None),
        (
            "/spec/template/spec/containers/0/lifecycle",
            json!({"stopSignal": "SIGTERM", "preStop": {"sleep": {"seconds": 1}}}),
            Some(json!({"preStop": {"sleep": {"seconds": 1}}})),
        ),
        (
            "/spec/template/spec/volumes",
            json!([{"name": "e", "emptyDir": {"mode": 0}}]),
            Some(json!([{"name": "e", "emptyDir": {}}])),
        ),
        ("/spec/template/spec/evictionResponders", json!([{"name": "a.b/c", "priority": 1000}]), None),
    ];
    let rows = rows.into_iter().map(|(path, value, left)| (path.to_owned(), value, left));
    for (path, value, left) in rows.chain(users).chain(probes) {
        let (path, left) = (path.as_str(), left.map(without_nulls));
        let sent = with(&stored(), path, value.clone());
        let mut new = sent.clone();
        prepare_for_create(&mut new);
        assert_eq!(new.pointer(path), left.as_ref(), "{path} {value}");
        let mut new = sent.clone();
        prepare_for_update(&stored(), &mut new);
        assert_eq!(new.pointer(path), left.as_ref(), "{path} {value}");
        let mut new = sent.clone();
        prepare_for_update(&sent, &mut new);
        assert_eq!(new, sent, "in use");
    }
}

#[test]
fn no_other_json_panics() {
    for value in [json!(null), json!([]), json!("a"), json!({"metadata": 1, "spec": [], "status": null})] {
        for other in [json!({}), json!(1), stored(), value.clone()] {
            let mut new = value.clone();
            prepare_for_create(&mut new);
            prepare_for_update(&other, &mut new);
            prepare_for_status_update(&other, &mut new);
            assert!(create(&value, &Rules::default()).is_err());
            assert!(update(&other, &value, &Rules::default()).is_err());
        }
    }
}

/// The effect of an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    Nothing,
    ChangeSpec,
    ChangeTemplate,
}

fn edits() -> Vec<(&'static str, Value, Does)> {
    use Does::{ChangeSpec, ChangeTemplate, Nothing};
    let pod = |path: &'static str, value: Value, does: Does| (path, value, does);
    vec![
        pod("/metadata/labels", json!({"team": "b"}), Nothing),
        pod("/metadata/annotations/note", json!("x"), Nothing),
        pod("/status/numberReady", json!(9), Nothing),
        pod("/spec/template/spec/tolerations", json!([]), Nothing),
        pod("/spec/template/spec/nodeSelector", json!({}), Nothing),
        pod("/spec/template/spec/hostNetwork", json!(false), Nothing),
        pod("/spec/template/spec/bogus", json!({"a": 1}), Nothing),
        pod("/spec/template/spec/dnsPolicy", json!(""), Nothing),
        pod("/spec/template/spec/schedulerName", Value::Null, Nothing),
        pod("/spec/template/spec/containers/0/resources/limits/memory", json!("65536Ki"), Nothing),
        pod("/spec/template/spec/containers/0/resources/requests/cpu", json!(0.1), Nothing),
        pod("/spec/template/metadata/creationTimestamp", Value::Null, Nothing),
        pod("/spec/template/metadata/annotations", json!({}), Nothing),
        pod("/spec/updateStrategy/rollingUpdate/maxSurge", Value::Null, Nothing),
        pod("/spec/minReadySeconds", json!(3), ChangeSpec),
        pod("/spec/revisionHistoryLimit", json!(3), ChangeSpec),
        pod("/spec/updateStrategy/type", json!("OnDelete"), ChangeSpec),
        pod("/spec/template/spec/containers/0/image", json!("other:v1"), ChangeTemplate),
        pod("/spec/template/spec/containers/0/tty", json!(true), ChangeTemplate),
        pod("/spec/template/spec/containers/0/resources/limits/cpu", json!("1"), ChangeTemplate),
        pod("/spec/template/spec/priority", json!(0), ChangeTemplate),
        pod("/spec/template/spec/automountServiceAccountToken", json!(false), ChangeTemplate),
        pod("/spec/template/metadata/labels/extra", json!(""), ChangeTemplate),
    ]
}

proptest! {
    #[test]
    fn generations_rise_exactly_when_something_changes(
        edits in subsequence(edits(), 0..8), generation in 1..9_i64, template_generation in 1..9_i64,
    ) {
        let mut old = with(&stored(), "/metadata/generation", json!(generation));
        old["metadata"]["annotations"] = annotated(&template_generation.to_string());
        let sent = edits.iter().fold(old.clone(), |sent, (path, value, _)| with(&sent, path, value.clone()));
        let new = update(&old, &sent, &Rules::default()).unwrap();
        let template = edits.iter().any(|(_, _, does)| *does == Does::ChangeTemplate);
        let spec = template || edits.iter().any(|(_, _, does)| *does == Does::ChangeSpec);
        let expected = (generation + i64::from(spec), template_generation + i64::from(template));
        let (generation, template_generation) = generations(&new);
        prop_assert_eq!((generation, template_generation.parse::<i64>().unwrap()), expected);
        prop_assert_eq!(&new["status"], &old["status"]);
        let again = update(&new, &sent, &Rules::default()).unwrap();
        prop_assert_eq!(again, new, "a second time changes nothing");
    }

    #[test]
    fn a_stored_object_is_defaulted_and_stays(edits in subsequence(edits(), 0..8)) {
        let sent = edits.iter().fold(stored(), |sent, (path, value, _)| with(&sent, path, value.clone()));
        let new = create(&sent, &Rules::default()).unwrap();
        let mut defaulted = new.clone();
        default(&mut defaulted, Rules::default().form);
        prop_assert_eq!(&defaulted, &new);
        prop_assert_eq!(update(&new, &new, &Rules::default()).unwrap(), new);
    }
}
