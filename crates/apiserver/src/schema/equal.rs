//! Equality by meaning: v1.36 `apimachinery/pkg/api/equality` Semantic.DeepEqual.

use super::scalar;
use super::table::{Field, Kind, Presence, Scalar, Struct};
use crate::quantity::Quantity;
use daemonset_objects::kubernetes::canonical_json;
use serde_json::Value;

/// Whether two values of this kind mean the same: an empty list or map equals an absent one, quantities are compared
/// by value, times by instant. A pointer that is set differs from one that is not, regardless of its target. Unknown
/// fields are ignored.
pub(crate) fn semantic_equal(kind: Kind, a: &Value, b: &Value) -> bool {
    match kind {
        Kind::One(scalar) => scalars(scalar, a, b),
        Kind::Map(scalar) => maps(scalar, a, b),
        Kind::List(scalar) => lists(a, b, |a, b| scalars(scalar, a, b)),
        Kind::Structs(of) => lists(a, b, |a, b| structs(of, a, b)),
        Kind::Struct(of) => structs(of, a, b),
    }
}

/// Whether a field means the same in two structs.
pub(crate) fn field_equal(field: &Field, a: &Value, b: &Value) -> bool {
    let (a, b) = (a.get(field.name).unwrap_or(&Value::Null), b.get(field.name).unwrap_or(&Value::Null));
    match field.presence {
        Presence::Pointer | Presence::Nullable if a.is_null() || b.is_null() => a.is_null() == b.is_null(),
        Presence::Pointer | Presence::Nullable | Presence::Always | Presence::OmitEmpty => {
            semantic_equal(field.kind, a, b)
        }
    }
}

fn structs(of: &'static Struct, a: &Value, b: &Value) -> bool {
    of.fields().all(|field| field_equal(field, a, b))
}

fn lists(a: &Value, b: &Value, equal: impl Fn(&Value, &Value) -> bool) -> bool {
    let none = Vec::new();
    let (a, b) = (a.as_array().unwrap_or(&none), b.as_array().unwrap_or(&none));
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
}

fn maps(scalar: Scalar, a: &Value, b: &Value) -> bool {
    let none = serde_json::Map::new();
    let (a, b) = (a.as_object().unwrap_or(&none), b.as_object().unwrap_or(&none));
    a.len() == b.len()
        && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| scalars(scalar, value, other)))
}

fn scalars(scalar: Scalar, a: &Value, b: &Value) -> bool {
    let zero = scalar::zero(scalar);
    let (a, b) = (if a.is_null() { &zero } else { a }, if b.is_null() { &zero } else { b });
    match scalar {
        Scalar::Quantity => match (Quantity::from_json(a), Quantity::from_json(b)) {
            (Ok(a), Ok(b)) => a == b,
            (Ok(_) | Err(_), _) => canonical_json::equal(a, b),
        },
        Scalar::Time => canonical_json::equal(&scalar::instant(a), &scalar::instant(b)),
        Scalar::Text | Scalar::Bool | Scalar::Int32 | Scalar::Int64 | Scalar::IntOrString | Scalar::Raw => {
            canonical_json::equal(a, b)
        }
    }
}
