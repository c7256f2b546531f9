//! Strategic merge patches, one row for each rule.

use daemonset_apiserver::patch::{strategic_merge, two_way_merge};
use serde_json::{Value, json};

fn pod(spec: Value) -> Value {
    json!({"spec": {"template": {"spec": spec}}})
}

fn metadata(metadata: Value) -> Value {
    json!({"metadata": metadata})
}

#[test]
fn lists_are_merged_by_key_replaced_or_ordered() {
    let rows: [(&str, Value, Value, Value); 14] = [
        (
            "containers by name, fields of one merged",
            pod(json!({"containers": [{"name": "a", "image": "1", "tty": true}, {"name": "b"}]})),
            pod(json!({"containers": [{"name": "a", "image": "2"}]})),
            pod(json!({"containers": [{"name": "a", "image": "2", "tty": true}, {"name": "b"}]})),
        ),
        (
            "a new container goes in front",
            pod(json!({"containers": [{"name": "a"}]})),
            pod(json!({"containers": [{"name": "b"}]})),
            pod(json!({"containers": [{"name": "b"}, {"name": "a"}]})),
        ),
        (
            "ports by containerPort, in a container",
            pod(json!({"containers": [{"name": "a", "ports": [{"containerPort": 80, "name": "x"}]}]})),
            pod(json!({"containers": [{"name": "a", "ports": [{"containerPort": 80, "protocol": "UDP"}]}]})),
            pod(json!({"containers": [{"name": "a", "ports": [
                {"containerPort": 80, "name": "x", "protocol": "UDP"}]}]})),
        ),
        (
            "tolerations have no key",
            pod(json!({"tolerations": [{"key": "a"}, {"key": "b"}]})),
            pod(json!({"tolerations": [{"key": "c"}]})),
            pod(json!({"tolerations": [{"key": "c"}]})),
        ),
        (
            "an item is deleted",
            pod(json!({"volumes": [{"name": "a"}, {"name": "b"}]})),
            pod(json!({"volumes": [{"name": "a", "$patch": "delete"}]})),
            pod(json!({"volumes": [{"name": "b"}]})),
        ),
        (
            "a list is replaced",
            pod(json!({"volumes": [{"name": "a"}, {"name": "b"}]})),
            pod(json!({"volumes": [{"name": "c"}, {"$patch": "replace"}]})),
            pod(json!({"volumes": [{"name": "c"}]})),
        ),
        (
            "an object is replaced",
            json!({"spec": {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}}),
            json!({"spec": {"updateStrategy": {"$patch": "replace", "type": "OnDelete"}}}),
            json!({"spec": {"updateStrategy": {"type": "OnDelete"}}}),
        ),
        (
            "an object is emptied",
            pod(json!({"securityContext": {"runAsUser": 1}})),
            pod(json!({"securityContext": {"$patch": "delete"}})),
            pod(json!({"securityContext": {}})),
        ),
        (
            "null removes a field, and nothing where there is none",
            pod(json!({"hostNetwork": true})),
            pod(json!({"hostNetwork": null, "dnsPolicy": null, "affinity": {"podAffinity": null}})),
            pod(json!({"affinity": {}})),
        ),
        (
            "keys that are not retained go",
            pod(json!({"volumes": [{"name": "a", "emptyDir": {}}]})),
            pod(
                json!({"volumes": [{"name": "a", "hostPath": {"path": "/"}, "$retainKeys": ["name", "hostPath"]}]}),
            ),
            pod(json!({"volumes": [{"name": "a", "hostPath": {"path": "/"}}]})),
        ),
        (
            "the order is set, what it does not name keeps its place",
            pod(json!({"containers": [{"name": "a"}, {"name": "b"}, {"name": "c"}]})),
            pod(json!({"$setElementOrder/containers": [{"name": "c"}, {"name": "a"}]})),
            pod(json!({"containers": [{"name": "b"}, {"name": "c"}, {"name": "a"}]})),
        ),
        (
            "finalizers are a set",
            metadata(json!({"finalizers": ["a", "b"]})),
            metadata(json!({"finalizers": ["b", "c"]})),
            metadata(json!({"finalizers": ["a", "b", "c"]})),
        ),
        (
            "items of a set are deleted",
            metadata(json!({"finalizers": ["a", "b"]})),
            metadata(json!({"$deleteFromPrimitiveList/finalizers": ["a", "x"]})),
            metadata(json!({"finalizers": ["b"]})),
        ),
        (
            "what carries a directive is not added",
            pod(json!({})),
            pod(json!({"volumes": [{"name": "a", "$patch": "delete"}, {"name": "b"}]})),
            pod(json!({"volumes": [{"name": "b"}]})),
        ),
    ];
    for (rule, original, patch, expected) in rows {
        assert_eq!(strategic_merge(&original, &patch).unwrap(), expected, "{rule}");
    }
}

#[test]
fn invalid_patches_have_kubernetes_messages() {
    let a = || json!({"name": "a", "emptyDir": {}});
    let rows: [(Value, Value, &str); 10] = [
        (
            pod(json!({"volumes": [a()]})),
            pod(json!({"volumes": [{"emptyDir": {"medium": "Memory"}}]})),
            "map: map[emptyDir:map[medium:Memory]] does not contain declared merge key: name",
        ),
        (
            pod(json!({"volumes": [a()]})),
            pod(json!({"volumes": [{"name": "a", "$patch": "merge"}]})),
            "merging lists cannot yet be specified in the patch",
        ),
        (
            pod(json!({"affinity": {}})),
            pod(json!({"affinity": {"$patch": "more"}})),
            "unknown patch type: more in map: map[$patch:more]",
        ),
        (
            pod(json!({"volumes": [a()]})),
            pod(json!({"volumes": [[a()]]})),
            "list element types are not identical: [[map[emptyDir:map[] name:a]] [[map[emptyDir:map[] name:a]]]]",
        ),
        (
            pod(json!({"volumes": [a()]})),
            pod(json!({"volumes": [{"name": "a", "$retainKeys": ["name"], "hostPath": {}}]})),
            "invalid patch format of retainKeys",
        ),
        (
            pod(json!({"volumes": [a()]})),
            pod(json!({"volumes": [{"name": "b"}], "$setElementOrder/volumes": [{"name": "a"}]})),
            "The order in patch list:\n[map[name:b]]\n doesn't match $setElementOrder list:\n[map[name:a]]\n",
        ),
        (
            pod(json!({})),
            pod(json!({"$setElementOrder": []})),
            "invalid patch format of setElementOrder list",
        ),
        (
            pod(json!({})),
            pod(json!({"$deleteFromPrimitiveList": []})),
            "invalid patch format of primitive list",
        ),
        (
            pod(json!({"bogus": {}})),
            pod(json!({"bogus": {}})),
            "unable to find api field in struct PodSpec for the json field \"bogus\"",
        ),
        (json!([]), json!({}), "invalid JSON document"),
    ];
    for (original, patch, message) in rows {
        assert_eq!(strategic_merge(&original, &patch).unwrap_err().to_string(), message, "{patch}");
    }
}

#[test]
fn the_difference_is_the_patch_that_kubectl_sends() {
    let rows: [(&str, Value, Value, Value); 6] = [
        ("equal", pod(json!({"hostPID": true})), pod(json!({"hostPID": true})), json!({})),
        (
            "an annotation",
            metadata(json!({"annotations": {"a": "1", "b": "2"}})),
            metadata(json!({"annotations": {"a": "3"}})),
            metadata(json!({"annotations": {"a": "3", "b": null}})),
        ),
        (
            "an image, with the order of all",
            pod(json!({"containers": [{"name": "a", "image": "1"}, {"name": "b"}]})),
            pod(json!({"containers": [{"name": "a", "image": "2"}, {"name": "b"}]})),
            pod(json!({"containers": [{"name": "a", "image": "2"}],
                "$setElementOrder/containers": [{"name": "a"}, {"name": "b"}]})),
        ),
        (
            "a volume's source, with the keys that stay",
            pod(json!({"volumes": [{"name": "a", "emptyDir": {}}]})),
            pod(json!({"volumes": [{"name": "a", "hostPath": {"path": "/"}}]})),
            pod(json!({
                "volumes": [
                    {"name": "a", "hostPath": {"path": "/"}, "emptyDir": null, "$retainKeys": ["hostPath", "name"]}],
                "$setElementOrder/volumes": [{"name": "a"}],
            })),
        ),
        (
            "a container less",
            pod(json!({"containers": [{"name": "a"}, {"name": "b"}]})),
            pod(json!({"containers": [{"name": "b"}]})),
            pod(json!({"containers": [{"name": "a", "$patch": "delete"}],
                "$setElementOrder/containers": [{"name": "b"}]})),
        ),
        (
            "a finalizer instead of another",
            metadata(json!({"finalizers": ["a", "b"]})),
            metadata(json!({"finalizers": ["b", "c"]})),
            metadata(json!({"finalizers": ["c"], "$deleteFromPrimitiveList/finalizers": ["a"],
                "$setElementOrder/finalizers": ["b", "c"]})),
        ),
    ];
    for (rule, original, modified, patch) in rows {
        assert_eq!(two_way_merge(&original, &modified).unwrap(), patch, "{rule}");
        assert_eq!(strategic_merge(&original, &patch).unwrap(), modified, "{rule}");
    }
}

#[test]
fn a_changed_order_is_told_and_an_unchanged_one_is_not() {
    let finalizers = |names: [&str; 2]| metadata(json!({"finalizers": names}));
    let (unsorted, sorted) = (finalizers(["b", "a"]), finalizers(["a", "b"]));
    assert_eq!(two_way_merge(&unsorted, &unsorted).unwrap(), json!({}));
    let patch = two_way_merge(&sorted, &unsorted).unwrap();
    assert_eq!(patch, metadata(json!({"$setElementOrder/finalizers": ["b", "a"]})));
    assert_eq!(strategic_merge(&sorted, &patch).unwrap(), unsorted);
}
