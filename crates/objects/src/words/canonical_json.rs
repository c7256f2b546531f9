//! One form for each JSON value, for comparing and hashing templates.
//!
//! Canonical JSON has sorted object keys, no members whose value is null, exact integers (a float without a fraction is an
//! integer) and no white space. It depends neither on insertion order nor on the features of `serde_json` that another
//! crate of the build enables.

use serde::{Serialize, Serializer};
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

/// The canonical form as text.
#[doc(hidden)]
#[must_use]
pub fn to_string(value: &Value) -> String {
    // Every key of a value is a text, so that it always has a form.
    serde_json::to_string(&Canonical(value)).unwrap_or_default()
}

/// A value that is written in its canonical form.
struct Canonical<'v>(&'v Value);

impl Serialize for Canonical<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(map) => {
                let members = sorted(map).filter(|(_, value)| !value.is_null());
                serializer.collect_map(members.map(|(key, value)| (key, Canonical(value))))
            }
            Value::Array(items) => serializer.collect_seq(items.iter().map(Canonical)),
            Value::Number(number) => canonical_number(number).serialize(serializer),
            Value::Null | Value::Bool(_) | Value::String(_) => self.0.serialize(serializer),
        }
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
