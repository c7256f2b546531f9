//! One form for each JSON value, for comparing and hashing templates.
//!
//! Canonical JSON has sorted object keys, no members whose value is null, exact integers (a float without a fraction is an
//! integer) and no white space. It depends neither on insertion order nor on the features of `serde_json` that another
//! crate of the build enables.

use serde_json::{Map, Number, Value};

/// Whether two values have the same canonical form.
///
/// ```
/// use daemonset::kubernetes::canonical_json::equal;
/// use serde_json::json;
///
/// assert!(equal(&json!({"a": 1, "b": null}), &json!({"a": 1.0})));
/// assert!(!equal(&json!({"a": 1}), &json!({"a": "1"})));
/// assert!(!equal(&json!([1, 2]), &json!([2, 1])));
/// ```
pub fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            present(a).count() == present(b).count()
                && present(a).all(|(key, value)| b.get(key).is_some_and(|other| equal(value, other)))
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Value::Number(a), Value::Number(b)) => canonical_number(a) == canonical_number(b),
        (Value::String(a), Value::String(b)) => a == b,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Null, Value::Null) => true,
        (
            Value::Object(_)
            | Value::Array(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Bool(_)
            | Value::Null,
            _,
        ) => false,
    }
}

/// The same value with keys sorted and numbers in one form, so that it prints the same in every build. Members that
/// are null stay, since the API server gets the template unchanged.
pub fn normalized(value: &Value) -> Value {
    match value {
        Value::Object(map) => Value::Object(sorted(map).map(|(k, v)| (k.clone(), normalized(v))).collect()),
        Value::Array(items) => Value::Array(items.iter().map(normalized).collect()),
        Value::Number(number) => Value::Number(plain_number(number)),
        Value::Null | Value::Bool(_) | Value::String(_) => value.clone(),
    }
}

/// Writes the canonical form.
pub(crate) fn write(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            out.push('{');
            for (index, (key, value)) in sorted(map).filter(|(_, value)| !value.is_null()).enumerate() {
                if index > 0 {
                    out.push(',');
                }
                out.push_str(&Value::String(key.clone()).to_string());
                out.push(':');
                write(value, out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::Number(number) => out.push_str(&canonical_number(number).to_string()),
        Value::Null | Value::Bool(_) | Value::String(_) => out.push_str(&value.to_string()),
    }
}

fn present(map: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    map.iter().filter(|(_, value)| !value.is_null())
}

/// Members by key. This is their order anyway, unless a crate of the build enables `preserve_order` of serde_json.
pub fn sorted(map: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    let mut members: Vec<_> = map.iter().collect();
    members.sort_unstable_by_key(|(key, _)| *key);
    members.into_iter()
}

/// The number without its original text, which `arbitrary_precision` would keep.
fn plain_number(number: &Number) -> Number {
    if let Some(integer) = number.as_i64() {
        // The text "-0" is an integer with `arbitrary_precision` and a float without.
        return if integer == 0 && number.to_string().starts_with('-') {
            Number::from_f64(-0.0).unwrap_or_else(|| Number::from(0))
        } else {
            Number::from(integer)
        };
    }
    if let Some(integer) = number.as_u64() {
        return Number::from(integer);
    }
    number.as_f64().and_then(Number::from_f64).unwrap_or_else(|| number.clone())
}

fn canonical_number(number: &Number) -> Number {
    /// Below this, every integer has its own float.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let plain = plain_number(number);
    match plain.as_f64() {
        Some(float) if plain.is_f64() && float.fract() == 0.0 && float.abs() < EXACT => {
            Number::from(float as i64)
        }
        _ => plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn text(value: &Value) -> String {
        let mut out = String::new();
        write(value, &mut out);
        out
    }

    #[test]
    fn keys_are_sorted_and_nulls_are_absent() {
        let value = json!({"b": [1, {"z": null, "y": "\"\u{e9}\n"}], "a": null, "A": true});
        assert_eq!(text(&value), r#"{"A":true,"b":[1,{"y":"\"é\n"}]}"#);
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
        assert!(
            !equal(&json!(9_007_199_254_740_992_i64), &json!(9_007_199_254_740_992.0)),
            "no longer exact"
        );
        assert_eq!(
            text(&json!([u64::MAX, i64::MIN, 2.0, -0.0, 0.1])),
            "[18446744073709551615,-9223372036854775808,2,0,0.1]"
        );
        let parsed: Value = serde_json::from_str("[1e2, -0, 1.50, 123456789012345678901234567890]").unwrap();
        assert_eq!(normalized(&parsed).to_string(), "[100.0,-0.0,1.5,1.2345678901234568e+29]");
        assert_eq!(text(&parsed), "[100,0,1.5,1.2345678901234568e+29]");
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
}
