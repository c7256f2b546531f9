//! Hashes of templates.

use daemonset::internal::content_hash;
use serde_json::{Value, json};

/// The hash of a template without inputs.
fn template_hash(template: &Value, collisions: i32) -> String {
    content_hash(template, &Value::Null, collisions)
}

#[test]
fn the_hash_covers_the_inputs_if_there_are_any() {
    let template = json!({});
    let hash = |inputs: Value| content_hash(&template, &inputs, 0);
    assert_eq!(hash(Value::Null), template_hash(&template, 0));
    assert_ne!(hash(json!({})), hash(Value::Null));
    assert_ne!(hash(json!({"a": 1})), hash(json!({"a": 2})));
}

#[test]
fn the_hash_is_stable_and_safe() {
    let template =
        json!({"spec": {"containers": [{"image": "i:1"}]}, "metadata": {"creationTimestamp": null}});
    let hash = template_hash(&template, 0);
    assert_eq!(hash, "2zb6kfjq9j");
    assert!(hash.chars().all(|letter| "bcdfghjklmnpqrstvwxz2456789".contains(letter)));
    assert_ne!(hash, template_hash(&template, 1));
    assert_eq!(hash, template_hash(&json!({"metadata": {}, "spec": {"containers": [{"image": "i:1"}]}}), 0));
}
