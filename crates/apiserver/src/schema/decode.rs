//! Decoding as the API server does: known fields only, read into Go's types and serialized again.
//!
//! Follows Go's `encoding/json` as `sigs.k8s.io/json` configures it (case matters; the first error ends decoding
//! there, here all are collected) and the `json` tags of v1.37 `api` types.go.

use super::error::{DecodeError, DecodePath, Numbers, json_type};
use super::scalar;
use super::table::{Field, Kind, Presence, Struct};
use daemonset_objects::kubernetes::canonical_json::sorted;
use serde_json::{Map, Value};

/// A DaemonSet, or a part of one, as the API server serializes it after decoding; `numbers` selects the treatment of
/// large integers.
///
/// Unknown fields and nulls are dropped, and so are empty fields with `omitempty`; fields without `omitempty` are
/// present, as `0`, `""` or, for a list or pointer, `null`. Quantities and times are in canonical form.
///
/// # Errors
/// Every value of a wrong type, sorted by field. An API server reports the first.
pub(crate) fn decode_with(
    of: &'static Struct,
    object: &Value,
    numbers: Numbers,
) -> Result<Value, Vec<DecodeError>> {
    let mut errors = Vec::new();
    let mut decoded = structure(of, object, &DecodePath::Top(numbers), &mut errors);
    decoded.sort_all_objects();
    if errors.is_empty() { Ok(decoded) } else { Err(errors) }
}

/// As [`decode_with`], with integers in range only.
pub(crate) fn decode_struct(of: &'static Struct, object: &Value) -> Result<Value, Vec<DecodeError>> {
    decode_with(of, object, Numbers::InRange)
}

fn structure(
    of: &'static Struct,
    value: &Value,
    path: &DecodePath<'_>,
    errors: &mut Vec<DecodeError>,
) -> Value {
    let given = match value {
        Value::Object(given) => given,
        Value::Null => return zero_struct(of),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            errors.push(path.wrong_type(json_type(value), &format!("v1.{}", of.name)));
            return Value::Null;
        }
    };
    let mut held = Map::new();
    for (name, value) in sorted(given) {
        let Some(field) = of.field(name) else { continue };
        let path = DecodePath::Field { outer: path, owner: of, name: field.name };
        if let Some(value) = serialized(field, held_value(field, value, &path, errors)) {
            held.insert(name.clone(), value);
        }
    }
    fill(of, &mut held);
    Value::Object(held)
}

/// Adds the fields that Go serializes even if they are absent.
fn fill(of: &'static Struct, held: &mut Map<String, Value>) {
    for field in of.fields() {
        if !held.contains_key(field.name) {
            if let Some(value) = serialized(field, Value::Null) {
                held.insert(field.name.to_owned(), value);
            }
        }
    }
}

/// The field as Go serializes it; `None` if Go omits it.
fn serialized(field: &Field, value: Value) -> Option<Value> {
    match field.presence {
        Presence::Always if value.is_null() => Some(zero(field.kind)),
        Presence::Always | Presence::Nullable => Some(value),
        Presence::OmitEmpty => Some(value).filter(|value| !is_empty(value)),
        Presence::Pointer => Some(value).filter(|value| !value.is_null()),
    }
}

/// Whether Go's `omitempty` omits this value.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_i64() == Some(0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
    }
}

/// Go's zero value, serialized.
pub(super) fn zero(kind: Kind) -> Value {
    match kind {
        Kind::One(scalar) => scalar::zero(scalar),
        Kind::Map(_) | Kind::List(_) | Kind::Structs(_) => Value::Null,
        Kind::Struct(of) => zero_struct(of),
    }
}

fn zero_struct(of: &'static Struct) -> Value {
    let mut held = Map::new();
    fill(of, &mut held);
    Value::Object(held)
}

fn held_value(field: &Field, value: &Value, path: &DecodePath<'_>, errors: &mut Vec<DecodeError>) -> Value {
    if value.is_null() {
        return Value::Null;
    }
    match field.kind {
        Kind::One(scalar) => scalar::read(scalar, value, path, errors),
        Kind::Struct(of) => structure(of, value, path, errors),
        Kind::Structs(of) => list(value, &format!("[]v1.{}", of.name), path, errors, |item, path, errors| {
            structure(of, item, path, errors)
        }),
        Kind::List(scalar) => {
            list(value, &format!("[]{}", scalar::go_type(scalar)), path, errors, |item, path, errors| {
                member(scalar, item, path, errors)
            })
        }
        Kind::Map(scalar) => map(scalar, value, path, errors),
    }
}

fn list(
    value: &Value,
    go_type: &str,
    path: &DecodePath<'_>,
    errors: &mut Vec<DecodeError>,
    read: impl Fn(&Value, &DecodePath<'_>, &mut Vec<DecodeError>) -> Value,
) -> Value {
    let Value::Array(items) = value else {
        errors.push(path.wrong_type(json_type(value), go_type));
        return Value::Null;
    };
    let read = |(index, item)| read(item, &DecodePath::Item { outer: path, index }, errors);
    Value::Array(items.iter().enumerate().map(read).collect())
}

fn map(scalar: super::Scalar, value: &Value, path: &DecodePath<'_>, errors: &mut Vec<DecodeError>) -> Value {
    let Value::Object(members) = value else {
        let go_type = match scalar {
            super::Scalar::Quantity => "v1.ResourceList".to_owned(),
            other => format!("map[string]{}", scalar::go_type(other)),
        };
        errors.push(path.wrong_type(json_type(value), &go_type));
        return Value::Null;
    };
    let read = |(key, value): (&String, &Value)| {
        (key.clone(), member(scalar, value, &DecodePath::Member { outer: path, key }, errors))
    };
    Value::Object(sorted(members).map(read).collect())
}

/// In a list or map, null is the zero value.
fn member(
    scalar: super::Scalar,
    value: &Value,
    path: &DecodePath<'_>,
    errors: &mut Vec<DecodeError>,
) -> Value {
    if value.is_null() { scalar::zero(scalar) } else { scalar::read(scalar, value, path, errors) }
}
