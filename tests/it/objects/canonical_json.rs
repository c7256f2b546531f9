//! Values in their canonical form.

use daemonset::kubernetes::canonical_json::{equal, normalized, to_string};
use serde_json::{Value, json};

#[test]
fn keys_are_sorted_and_nulls_are_absent() {
    let value = json!({"b": [1, {"z": null, "y": "\"\u{e9}\n"}], "a": null, "A": true});
    assert_eq!(to_string(&value), r#"{"A":true,"b":[1,{"y":"\"é\n"}]}"#);
    assert!(equal(&value, &json!({"A": true, "b": [1, {"y": "\"é\n"}]})));
    assert!(!equal(&json!([null]), &json!([])));
    assert!(!equal(&json!({"a": {}}), &json!({})));
    assert!(!equal(&json!({"a": null, "b": 1}), &json!({"a": 1, "b": null})));
}

#[test]
fn numbers_compare_by_value_and_integers_are_exact() {
    assert!(equal(&json!(1), &json!(1.0)));
    assert!(!equal(&json!(1), &json!(1.5)));
    assert!(!equal(&json!(9_007_199_254_740_993_i64), &json!(9_007_199_254_740_992_i64)));
    assert!(!equal(&json!(u64::MAX), &json!(i64::MAX)));
    assert!(equal(&json!(9_007_199_254_740_991_i64), &json!(9_007_199_254_740_991.0)));
    assert!(!equal(&json!(9_007_199_254_740_992_i64), &json!(9_007_199_254_740_992.0)), "no longer exact");
    assert_eq!(
        to_string(&json!([u64::MAX, i64::MIN, 2.0, -0.0, 0.1])),
        "[18446744073709551615,-9223372036854775808,2,0,0.1]"
    );
    let parsed: Value = serde_json::from_str("[1e2, -0, 1.50, 123456789012345678901234567890]").unwrap();
    assert_eq!(normalized(&parsed).to_string(), "[100.0,-0.0,1.5,1.2345678901234568e+29]");
    assert_eq!(to_string(&parsed), "[100,0,1.5,1.2345678901234568e+29]");
}

#[test]
fn kinds_differ() {
    let kinds = [json!(null), json!(false), json!(0), json!("0"), json!([]), json!({})];
    for (i, a) in kinds.iter().enumerate() {
        for (j, b) in kinds.iter().enumerate() {
            assert_eq!(equal(a, b), i == j, "{a} {b}");
        }
    }
}
