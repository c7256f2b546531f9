//! The tables compared with all fields that Go's reflection lists for `k8s.io/api` v0.37.1, and the effects of
//! decoding.

use super::error::DecodeError;
use super::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A line a struct: `field?:*Type@key`; `?` is `omitempty`, `@` the patch strategy merge, `@!` with retainKeys.
const LISTED: &str = include_str!("v1.37.1.txt");

fn listed(of: &'static Struct) -> String {
    let fields: Vec<String> = of.fields().map(listed_field).collect();
    format!("{} {}", of.name, fields.join(" "))
}

fn listed_field(field: &Field) -> String {
    let (kind, is_value_struct) = match field.kind {
        Kind::One(scalar) => (
            go_name(scalar).to_owned(),
            matches!(scalar, Scalar::Quantity | Scalar::Time | Scalar::IntOrString),
        ),
        Kind::Map(scalar) => (format!("map[string]{}", go_name(scalar)), false),
        Kind::List(scalar) => (format!("[]{}", go_name(scalar)), false),
        Kind::Struct(of) => (of.name.to_owned(), true),
        Kind::Structs(of) => (format!("[]{}", of.name), false),
    };
    let (omit_empty, pointer) = match field.presence {
        Presence::Always => (if is_value_struct { "(?)" } else { "" }, ""),
        Presence::OmitEmpty => ("?", ""),
        Presence::Pointer => ("?", "*"),
        Presence::Nullable => ("", "*"),
    };
    let patch = match field.patch {
        PatchStrategy::Default => String::new(),
        PatchStrategy::MergeSet => "@".to_owned(),
        PatchStrategy::MergeBy(key) => format!("@{key}"),
        PatchStrategy::MergeByRetainingKeys(key) => format!("@!{key}"),
    };
    format!("{}{omit_empty}:{pointer}{kind}{patch}", field.name)
}

fn go_name(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Text => "string",
        Scalar::Bool => "bool",
        Scalar::Int32 => "int32",
        Scalar::Int64 => "int64",
        Scalar::Quantity => "Quantity",
        Scalar::IntOrString => "IntOrString",
        Scalar::Time => "Time",
        Scalar::Raw => "FieldsV1",
    }
}

fn collect(of: &'static Struct, found: &mut BTreeMap<&'static str, &'static Struct>) {
    if found.insert(of.name, of).is_none() {
        for field in of.fields() {
            match field.kind {
                Kind::Struct(of) | Kind::Structs(of) => collect(of, found),
                Kind::One(_) | Kind::Map(_) | Kind::List(_) => {}
            }
        }
    }
}

#[test]
fn the_table_has_every_field_of_the_api() {
    let mut found = BTreeMap::new();
    collect(&DAEMON_SET, &mut found);
    let listed_names: Vec<&str> = LISTED.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(found.keys().copied().collect::<Vec<_>>(), listed_names);
    for line in LISTED.lines() {
        let name = line.split(' ').next().unwrap();
        // The tables omit one thing: whether a struct has an `omitempty` without effect.
        let ours: Vec<String> = listed(found[name]).split(' ').map(str::to_owned).collect();
        let mut theirs: Vec<&str> = line.split(' ').collect();
        theirs.sort_unstable();
        let mut ours: Vec<String> = ours
            .iter()
            .map(|word| {
                let (with, without) = (word.replace("(?)", "?"), word.replace("(?)", ""));
                if theirs.contains(&with.as_str()) { with } else { without }
            })
            .collect();
        ours.sort_unstable();
        assert_eq!(ours, theirs, "{name}");
    }
}

fn decoded_template(template: Value) -> Value {
    decode_struct(&POD_TEMPLATE_SPEC, &template).unwrap()
}

#[test]
fn what_go_leaves_out_is_gone_and_what_it_prints_is_there() {
    let template = json!({
        "metadata": {"creationTimestamp": null, "labels": {"app": "web", "none": null}, "annotations": {}, "Labels": {}},
        "spec": {
            "hostNetwork": false,
            "restartPolicy": "",
            "nodeSelector": null,
            "priority": 0,
            "terminationGracePeriodSeconds": 0,
            "securityContext": {},
            "unknown": [1],
            "tolerations": [],
            "containers": [{"ports": [{"hostPort": 0}], "env": [null], "command": ["a", null]}],
            "volumes": [{"name": "v", "emptyDir": {}, "projected": {}, "downwardAPI": {"items": [
                {"path": "p", "resourceFieldRef": {"resource": "limits.cpu"}}]}}],
        },
    });
    assert_eq!(
        decoded_template(template),
        json!({
            "metadata": {"labels": {"app": "web", "none": ""}},
            "spec": {
                "priority": 0,
                "terminationGracePeriodSeconds": 0,
                "securityContext": {},
                "containers": [{
                    "name": "", "ports": [{"containerPort": 0}], "env": [{"name": ""}], "command": ["a", ""],
                    "resources": {},
                }],
                "volumes": [{"name": "v", "emptyDir": {}, "projected": {"sources": null}, "downwardAPI": {"items": [
                    {"path": "p", "resourceFieldRef": {"resource": "limits.cpu", "divisor": "0"}}]}}],
            },
        })
    );
    assert_eq!(decoded_template(json!({})), json!({"metadata": {}, "spec": {"containers": null}}));
}

#[test]
fn values_are_kept_in_canonical_form() {
    let template = json!({
        "metadata": {"creationTimestamp": "2026-01-01T02:00:00.9+02:00"},
        "spec": {
            "overhead": {"cpu": 0.1, "memory": "1024Mi"},
            "priority": 1.0,
            "containers": [{"name": "a", "livenessProbe": {"tcpSocket": {"port": "http"}, "periodSeconds": 1e1}}],
        },
    });
    let decoded = decoded_template(template);
    assert_eq!(decoded["metadata"], json!({"creationTimestamp": "2026-01-01T00:00:00Z"}));
    assert_eq!(decoded["spec"]["overhead"], json!({"cpu": "100m", "memory": "1Gi"}));
    assert_eq!(decoded["spec"]["priority"], json!(1));
    assert_eq!(
        decoded["spec"]["containers"][0]["livenessProbe"],
        json!({"tcpSocket": {"port": "http"}, "periodSeconds": 10})
    );
}

#[test]
fn wrong_types_have_gos_messages() {
    let rows: [(Value, &str, &str); 12] = [
        (
            json!({"spec": {"updateStrategy": {"rollingUpdate": {"maxSurge": 99_999_999_999_u64}}}}),
            "spec.updateStrategy.rollingUpdate.maxSurge",
            "json: cannot unmarshal number 99999999999 into Go struct field RollingUpdateDaemonSet.spec.updateStrategy.rollingUpdate.maxSurge of type int32",
        ),
        (
            json!({"spec": {"minReadySeconds": 1.5}}),
            "spec.minReadySeconds",
            "json: cannot unmarshal number 1.5 into Go struct field DaemonSetSpec.spec.minReadySeconds of type int32",
        ),
        (
            json!({"spec": {"minReadySeconds": "1"}}),
            "spec.minReadySeconds",
            "json: cannot unmarshal string into Go struct field DaemonSetSpec.spec.minReadySeconds of type int32",
        ),
        (
            json!({"spec": {"template": {"spec": {"containers": {}}}}}),
            "spec.template.spec.containers",
            "json: cannot unmarshal object into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container",
        ),
        (
            json!({"spec": {"template": {"spec": {"containers": [{}, {"ports": [7]}]}}}}),
            "spec.template.spec.containers[1].ports[0]",
            "json: cannot unmarshal number into Go struct field Container.spec.template.spec.containers.ports of type v1.ContainerPort",
        ),
        (
            json!({"metadata": {"labels": {"a": 1}}}),
            "metadata.labels[a]",
            "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string",
        ),
        (
            json!({"metadata": {"labels": ["a"]}}),
            "metadata.labels",
            "json: cannot unmarshal array into Go struct field ObjectMeta.metadata.labels of type map[string]string",
        ),
        (
            json!({"spec": {"template": {"spec": {"overhead": {"cpu": "x"}}}}}),
            "spec.template.spec.overhead[cpu]",
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
        (
            json!({"spec": {"template": {"spec": {"hostNetwork": "yes"}}}}),
            "spec.template.spec.hostNetwork",
            "json: cannot unmarshal string into Go struct field PodSpec.spec.template.spec.hostNetwork of type bool",
        ),
        (
            json!({"metadata": {"creationTimestamp": "yesterday"}}),
            "metadata.creationTimestamp",
            "parsing time \"yesterday\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"yesterday\" as \"2006\"",
        ),
        (
            json!({"spec": 5}),
            "spec",
            "json: cannot unmarshal number into Go struct field DaemonSet.spec of type v1.DaemonSetSpec",
        ),
        (json!([]), "", "json: cannot unmarshal array into Go value of type v1.DaemonSet"),
    ];
    for (object, path, message) in rows {
        let refused = decode_struct(&DAEMON_SET, &object).unwrap_err();
        assert_eq!(refused, [DecodeError { path: path.to_owned(), message: message.to_owned() }], "{object}");
    }
    let both =
        decode_struct(&DAEMON_SET, &json!({"spec": {"minReadySeconds": true, "revisionHistoryLimit": []}}))
            .unwrap_err();
    assert_eq!(both.len(), 2, "all at once");
}

#[test]
fn objects_that_mean_the_same_are_equal() {
    let template = Kind::Struct(&POD_TEMPLATE_SPEC);
    let spec = |spec: Value| json!({"spec": spec});
    let rows: [(Value, Value, bool); 13] = [
        (spec(json!({"overhead": {"cpu": "1"}})), spec(json!({"overhead": {"cpu": "1000m"}})), true),
        (spec(json!({"overhead": {"cpu": "1"}})), spec(json!({"overhead": {"cpu": "1001m"}})), false),
        (spec(json!({"overhead": {}})), spec(json!({})), true),
        (spec(json!({"tolerations": []})), spec(json!({"tolerations": null})), true),
        (spec(json!({"tolerations": [{}]})), spec(json!({})), false),
        (spec(json!({"hostNetwork": false})), spec(json!({})), true),
        (spec(json!({"priority": 0})), spec(json!({})), false),
        (spec(json!({"securityContext": {}})), spec(json!({})), false),
        (spec(json!({"securityContext": {}})), spec(json!({"securityContext": {"runAsUser": null}})), true),
        (json!({"metadata": {"labels": {"a": ""}}}), json!({"metadata": {"labels": {}}}), false),
        (json!({"metadata": {"creationTimestamp": null}}), json!({}), true),
        (spec(json!({"unknown": 1})), spec(json!({})), true),
        (
            spec(json!({"containers": [{"name": "a"}, {"name": "b"}]})),
            spec(json!({"containers": [{"name": "b"}, {"name": "a"}]})),
            false,
        ),
    ];
    for (a, b, equal) in rows {
        assert_eq!(semantic_equal(template, &a, &b), equal, "{a} {b}");
        assert_eq!(semantic_equal(template, &b, &a), equal, "{b} {a}");
        assert_eq!(semantic_equal(template, &decoded_template(a), &decoded_template(b)), equal, "decoded");
    }
}
