//! Patches as an API server applies them and kubectl computes them.

mod properties;
mod strategic;

use daemonset_apiserver::patch::{Operation, PatchError, json_merge};
use serde_json::{Value, json};

#[test]
fn a_null_in_an_object_of_a_list_is_left_out() {
    let original = json!({"a": [{"b": 1}], "e": "x"});
    let patch = json!({"a": [{"b": null, "c": {"d": null}}, null, [{"b": null}]], "e": [{"b": null}], "f": [{"b": null}]});
    let expected = json!({"a": [{"c": {}}, null, [{}]], "e": [{}], "f": [{}]});
    assert_eq!(json_merge(&original, &patch).unwrap(), expected);
}

#[test]
fn json_merge_patches_follow_the_rfc() {
    let rows: [(Value, Value, Value); 9] = [
        (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
        (json!({"a": "b"}), json!({"b": "c"}), json!({"a": "b", "b": "c"})),
        (json!({"a": "b"}), json!({"a": null}), json!({})),
        (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
        (json!({"a": "c"}), json!({"a": ["b"]}), json!({"a": ["b"]})),
        (json!({"a": {"b": "c"}}), json!({"a": {"b": "d", "c": null}}), json!({"a": {"b": "d"}})),
        (json!({"a": [{"b": "c"}]}), json!({"a": [1]}), json!({"a": [1]})),
        (json!({"e": null}), json!({"a": 1}), json!({"e": null, "a": 1})),
        (json!({}), json!({"a": {"bb": {"ccc": null}}}), json!({"a": {"bb": {}}})),
    ];
    for (original, patch, expected) in rows {
        assert_eq!(json_merge(&original, &patch).unwrap(), expected, "{original} {patch}");
    }
    assert_eq!(json_merge(&json!({}), &json!([])).unwrap_err(), PatchError::NoObject);
}

#[test]
fn operations_have_the_form_of_the_rfc() {
    let path = Operation::pointer(["metadata", "annotations", "a/b~c"]);
    let operations = [
        Operation::Test { path: path.clone(), value: json!(1) },
        Operation::Replace { path: path.clone(), value: json!(2) },
        Operation::Remove { path: path.clone() },
        Operation::Add { path, value: Value::Null },
    ];
    assert_eq!(
        serde_json::to_value(&operations).unwrap(),
        json!([
            {"op": "test", "path": "/metadata/annotations/a~1b~0c", "value": 1},
            {"op": "replace", "path": "/metadata/annotations/a~1b~0c", "value": 2},
            {"op": "remove", "path": "/metadata/annotations/a~1b~0c"},
            {"op": "add", "path": "/metadata/annotations/a~1b~0c", "value": null},
        ])
    );
}
