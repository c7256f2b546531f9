//! Scalars: how the API server reads and prints each, and Go's names for their types.

use super::error::{DecodeError, DecodePath, Numbers, json_type};
use super::table::Scalar;
use crate::go::go_text;
use crate::quantity::Quantity;
use jiff::Timestamp;
use serde_json::Value;

/// The value in canonical form. A value of a wrong type becomes null, and an error.
pub(super) fn read(
    scalar: Scalar,
    value: &Value,
    path: &DecodePath<'_>,
    errors: &mut Vec<DecodeError>,
) -> Value {
    let read = match scalar {
        Scalar::Text => match value {
            Value::String(text) => Ok(Value::from(text.as_str())),
            other => Err(path.wrong_type(json_type(other), go_type(scalar))),
        },
        Scalar::Bool => match value {
            Value::Bool(value) => Ok(Value::Bool(*value)),
            other => Err(path.wrong_type(json_type(other), go_type(scalar))),
        },
        Scalar::Int32 => integer(value, scalar, path).and_then(|(number, text)| match path.numbers() {
            Numbers::CutOff => Ok(Value::from(number as i32)),
            Numbers::InRange | Numbers::AsWritten => within_32_bits(number, &text, path),
        }),
        Scalar::Int64 => integer(value, scalar, path).map(|(number, _)| Value::from(number)),
        Scalar::Quantity => match Quantity::from_json(value) {
            Ok(quantity) => Ok(Value::from(quantity.to_string())),
            Err(error) => Err(path.error(error.to_string())),
        },
        Scalar::IntOrString => match value {
            Value::String(text) => Ok(Value::from(text.as_str())),
            // v1.36 intstr.go UnmarshalJSON: every value but a string is read as an int32.
            other => {
                integer(other, scalar, path).and_then(|(number, text)| within_32_bits(number, &text, path))
            }
        },
        Scalar::Time => time(value, path),
        Scalar::Raw => Ok(value.clone()),
    };
    read.unwrap_or_else(|error| {
        errors.push(error);
        Value::Null
    })
}

/// Go's zero value, printed.
pub(super) fn zero(scalar: Scalar) -> Value {
    match scalar {
        Scalar::Text => Value::from(""),
        Scalar::Bool => Value::Bool(false),
        Scalar::Int32 | Scalar::Int64 | Scalar::IntOrString => Value::from(0),
        Scalar::Quantity => Value::from("0"),
        Scalar::Time | Scalar::Raw => Value::Null,
    }
}

pub(super) fn go_type(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Text | Scalar::Time => "string",
        Scalar::Bool => "bool",
        Scalar::Int32 | Scalar::IntOrString => "int32",
        Scalar::Int64 => "int64",
        Scalar::Quantity => "resource.Quantity",
        Scalar::Raw => "runtime.RawExtension",
    }
}

/// An integer and its text.
fn integer(value: &Value, scalar: Scalar, path: &DecodePath<'_>) -> Result<(i64, String), DecodeError> {
    let Value::Number(number) = value else {
        return Err(path.wrong_type(json_type(value), go_type(scalar)));
    };
    let text = match path.numbers() {
        Numbers::InRange | Numbers::CutOff => go_text(number),
        Numbers::AsWritten => number.to_string(),
    };
    match text.parse() {
        Ok(number) => Ok((number, text)),
        Err(_) => Err(path.wrong_type(&format!("number {text}"), go_type(scalar))),
    }
}

fn within_32_bits(number: i64, text: &str, path: &DecodePath<'_>) -> Result<Value, DecodeError> {
    match i32::try_from(number) {
        Ok(number) => Ok(Value::from(number)),
        Err(_) => Err(path.wrong_type(&format!("number {text}"), go_type(Scalar::Int32))),
    }
}

/// Go's layout of RFC 3339.
const LAYOUT: &str = "2006-01-02T15:04:05Z07:00";
/// Go's zero time, which is printed as null.
const ZERO_TIME: &str = "0001-01-01T00:00:00Z";

/// v1.36 `apimachinery/pkg/apis/meta/v1` time.go: RFC 3339, truncated to seconds.
fn time(value: &Value, path: &DecodePath<'_>) -> Result<Value, DecodeError> {
    let Value::String(text) = value else {
        return Err(path.wrong_type(json_type(value), go_type(Scalar::Time)));
    };
    match seconds(text) {
        Some(time) if time == ZERO_TIME => Ok(Value::Null),
        Some(time) => Ok(Value::from(time)),
        None => {
            let message = format!("parsing time {text:?} as {LAYOUT:?}: cannot parse {text:?} as \"2006\"");
            Err(path.error(message))
        }
    }
}

/// A time in the one form that all its spellings share; any other value unchanged.
pub(super) fn instant(value: &Value) -> Value {
    value.as_str().and_then(seconds).map_or_else(|| value.clone(), Value::from)
}

/// The time in UTC and without fractions of a second.
fn seconds(text: &str) -> Option<String> {
    let shape = text.bytes().take(19).map(|byte| if byte.is_ascii_digit() { b'0' } else { byte });
    if !shape.eq(*b"0000-00-00T00:00:00") {
        return None;
    }
    let time: Timestamp = text.parse().ok()?;
    let second = i64::try_from(time.as_nanosecond().div_euclid(1_000_000_000)).ok()?;
    Some(Timestamp::from_second(second).ok()?.to_string())
}
