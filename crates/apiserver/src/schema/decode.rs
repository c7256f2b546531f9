//! What an API server holds after it has read an object: known fields only, in Go's types, as Go prints them again.
//!
//! Follows Go's `encoding/json` as `sigs.k8s.io/json` runs it (case counts, the first error ends it; here all are
//! told) and the `json` tags of v1.36 `api` types.go.

use super::scalar;
use super::table::{Field, Kind, Presence, Struct};
use daemonset::kubernetes::canonical_json::sorted;
use serde_json::{Map, Value};
use std::fmt;

/// A value of the wrong type, as a decoder reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    /// Where, with indexes: `spec.template.spec.containers[0].ports`.
    pub(crate) path: String,
    /// Go's words, which tell the path without indexes.
    pub(crate) message: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// A DaemonSet, or a part of one, as the API server holds it after decoding, with a choice of what happens to large
/// integers.
///
/// Unknown fields and nulls are gone, and so is what `omitempty` drops; fields without `omitempty` are there, as `0`,
/// `""` or, for a list or pointer, `null`. Quantities and times are in canonical form.
///
/// # Errors
/// Every value of a wrong type, in the order of the sorted fields. An API server reports the first.
pub(crate) fn decode_with(
    of: &'static Struct,
    object: &Value,
    numbers: Numbers,
) -> Result<Value, Vec<Refused>> {
    let mut refused = Vec::new();
    let mut decoded = structure(of, object, &Place::Top(numbers), &mut refused);
    decoded.sort_all_objects();
    if refused.is_empty() { Ok(decoded) } else { Err(refused) }
}

/// As [`decode_with`], with integers in range only.
pub(crate) fn decode_struct(of: &'static Struct, object: &Value) -> Result<Value, Vec<Refused>> {
    decode_with(of, object, Numbers::InRange)
}

/// What passes for an integer of 32 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// An integer in range; `1.0` is one, for clients send it as `1`, having read it as a float.
    InRange,
    /// An integer in range, written without decimals.
    AsWritten,
    /// Any integer: upper bits are cut off.
    CutOff,
}

/// A field of the object, or a part of one.
#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    Top(Numbers),
    Field { outer: &'a Place<'a>, owner: &'static Struct, name: &'static str },
    Item { outer: &'a Place<'a>, index: usize },
    Member { outer: &'a Place<'a>, key: &'a str },
}

fn structure(of: &'static Struct, value: &Value, place: &Place<'_>, refused: &mut Vec<Refused>) -> Value {
    let given = match value {
        Value::Object(given) => given,
        Value::Null => return zero_struct(of),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            refused.push(place.wrong_type(word(value), &format!("v1.{}", of.name)));
            return Value::Null;
        }
    };
    let mut held = Map::new();
    for (name, value) in sorted(given) {
        let Some(field) = of.field(name) else { continue };
        let place = Place::Field { outer: place, owner: of, name: field.name };
        if let Some(value) = kept(field, held_value(field, value, &place, refused)) {
            held.insert(name.clone(), value);
        }
    }
    fill(of, &mut held);
    Value::Object(held)
}

/// What is printed although nobody gave it.
fn fill(of: &'static Struct, held: &mut Map<String, Value>) {
    for field in of.fields() {
        if !held.contains_key(field.name) {
            if let Some(value) = kept(field, Value::Null) {
                held.insert(field.name.to_owned(), value);
            }
        }
    }
}

/// The field as it is printed; nothing if it is left out.
fn kept(field: &Field, value: Value) -> Option<Value> {
    match field.presence {
        Presence::Always if value.is_null() => Some(zero(field.kind)),
        Presence::Always | Presence::Nullable => Some(value),
        Presence::OmitEmpty => Some(value).filter(|value| !is_empty(value)),
        Presence::Pointer => Some(value).filter(|value| !value.is_null()),
    }
}

/// What Go's `omitempty` leaves out.
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

/// Go's zero value, printed.
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

fn held_value(field: &Field, value: &Value, place: &Place<'_>, refused: &mut Vec<Refused>) -> Value {
    if value.is_null() {
        return Value::Null;
    }
    match field.kind {
        Kind::One(scalar) => scalar::read(scalar, value, place, refused),
        Kind::Struct(of) => structure(of, value, place, refused),
        Kind::Structs(of) => {
            list(value, &format!("[]v1.{}", of.name), place, refused, |item, place, refused| {
                structure(of, item, place, refused)
            })
        }
        Kind::List(scalar) => {
            list(value, &format!("[]{}", scalar::go_type(scalar)), place, refused, |item, place, refused| {
                member(scalar, item, place, refused)
            })
        }
        Kind::Map(scalar) => map(scalar, value, place, refused),
    }
}

fn list(
    value: &Value,
    go_type: &str,
    place: &Place<'_>,
    refused: &mut Vec<Refused>,
    read: impl Fn(&Value, &Place<'_>, &mut Vec<Refused>) -> Value,
) -> Value {
    let Value::Array(items) = value else {
        refused.push(place.wrong_type(word(value), go_type));
        return Value::Null;
    };
    let read = |(index, item)| read(item, &Place::Item { outer: place, index }, refused);
    Value::Array(items.iter().enumerate().map(read).collect())
}

fn map(scalar: super::Scalar, value: &Value, place: &Place<'_>, refused: &mut Vec<Refused>) -> Value {
    let Value::Object(members) = value else {
        let go_type = match scalar {
            super::Scalar::Quantity => "v1.ResourceList".to_owned(),
            other => format!("map[string]{}", scalar::go_type(other)),
        };
        refused.push(place.wrong_type(word(value), &go_type));
        return Value::Null;
    };
    let read = |(key, value): (&String, &Value)| {
        (key.clone(), member(scalar, value, &Place::Member { outer: place, key }, refused))
    };
    Value::Object(sorted(members).map(read).collect())
}

/// In a list or map null is a zero value.
fn member(scalar: super::Scalar, value: &Value, place: &Place<'_>, refused: &mut Vec<Refused>) -> Value {
    if value.is_null() { scalar::zero(scalar) } else { scalar::read(scalar, value, place, refused) }
}

/// What Go calls a JSON value.
pub(super) fn word(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

impl Place<'_> {
    /// Go `encoding/json` UnmarshalTypeError.
    pub(super) fn wrong_type(&self, found: &str, go_type: &str) -> Refused {
        let target = match self.owner() {
            Some(owner) => format!("struct field {}.{}", owner.name, self.fields().join(".")),
            None => "value".to_owned(),
        };
        self.refused(format!("json: cannot unmarshal {found} into Go {target} of type {go_type}"))
    }

    pub(super) fn refused(&self, message: String) -> Refused {
        Refused { path: self.to_string(), message }
    }

    pub(super) fn numbers(&self) -> Numbers {
        match self {
            Place::Top(numbers) => *numbers,
            Place::Field { outer, .. } | Place::Item { outer, .. } | Place::Member { outer, .. } => {
                outer.numbers()
            }
        }
    }

    fn owner(&self) -> Option<&'static Struct> {
        match self {
            Place::Top(_) => None,
            Place::Field { owner, .. } => Some(owner),
            Place::Item { outer, .. } | Place::Member { outer, .. } => outer.owner(),
        }
    }

    fn fields(&self) -> Vec<&'static str> {
        match self {
            Place::Top(_) => Vec::new(),
            Place::Field { outer, name, .. } => {
                let mut fields = outer.fields();
                fields.push(name);
                fields
            }
            Place::Item { outer, .. } | Place::Member { outer, .. } => outer.fields(),
        }
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Top(_) => Ok(()),
            Place::Field { outer: Place::Top(_), name, .. } => f.write_str(name),
            Place::Field { outer, name, .. } => write!(f, "{outer}.{name}"),
            Place::Item { outer, index } => write!(f, "{outer}[{index}]"),
            Place::Member { outer, key } => write!(f, "{outer}[{key}]"),
        }
    }
}
