//! Errors of decoding, and the path to a value while it is decoded.

use super::table::Struct;
use serde_json::Value;
use std::fmt;

/// A value of the wrong type, as a decoder reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DecodeError {
    /// The path, with indexes: `spec.template.spec.containers[0].ports`.
    pub(crate) path: String,
    /// Go's message, in which the path has no indexes.
    pub(crate) message: String,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Which numbers a field of 32 bits accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// An integer in range, which may be written as `1.0`: a client that has read it as a float sends it as `1`.
    InRange,
    /// An integer in range, written without decimals.
    AsWritten,
    /// Any integer: upper bits are cut off.
    CutOff,
}

/// The path to a value that is being decoded.
#[derive(Clone, Copy)]
pub(super) enum DecodePath<'a> {
    Top(Numbers),
    Field { outer: &'a DecodePath<'a>, owner: &'static Struct, name: &'static str },
    Item { outer: &'a DecodePath<'a>, index: usize },
    Member { outer: &'a DecodePath<'a>, key: &'a str },
}

/// Go's name for the type of a JSON value.
pub(super) fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

impl DecodePath<'_> {
    /// Go `encoding/json` UnmarshalTypeError.
    pub(super) fn wrong_type(&self, found: &str, go_type: &str) -> DecodeError {
        let target = match self.owner() {
            Some(owner) => format!("struct field {}.{}", owner.name, self.fields().join(".")),
            None => "value".to_owned(),
        };
        self.error(format!("json: cannot unmarshal {found} into Go {target} of type {go_type}"))
    }

    pub(super) fn error(&self, message: String) -> DecodeError {
        DecodeError { path: self.to_string(), message }
    }

    pub(super) fn numbers(&self) -> Numbers {
        match self {
            DecodePath::Top(numbers) => *numbers,
            DecodePath::Field { outer, .. }
            | DecodePath::Item { outer, .. }
            | DecodePath::Member { outer, .. } => outer.numbers(),
        }
    }

    fn owner(&self) -> Option<&'static Struct> {
        match self {
            DecodePath::Top(_) => None,
            DecodePath::Field { owner, .. } => Some(owner),
            DecodePath::Item { outer, .. } | DecodePath::Member { outer, .. } => outer.owner(),
        }
    }

    fn fields(&self) -> Vec<&'static str> {
        match self {
            DecodePath::Top(_) => Vec::new(),
            DecodePath::Field { outer, name, .. } => {
                let mut fields = outer.fields();
                fields.push(name);
                fields
            }
            DecodePath::Item { outer, .. } | DecodePath::Member { outer, .. } => outer.fields(),
        }
    }
}

impl fmt::Display for DecodePath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecodePath::Top(_) => Ok(()),
            DecodePath::Field { outer: DecodePath::Top(_), name, .. } => f.write_str(name),
            DecodePath::Field { outer, name, .. } => write!(f, "{outer}.{name}"),
            DecodePath::Item { outer, index } => write!(f, "{outer}[{index}]"),
            DecodePath::Member { outer, key } => write!(f, "{outer}[{key}]"),
        }
    }
}
