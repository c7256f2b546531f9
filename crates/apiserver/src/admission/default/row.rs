//! One default: in which objects, which field, when it counts as left out, and what it becomes.

use super::path::Step;
use serde_json::{Map, Value};
use std::fmt;

/// One row of the tables.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) at: &'static [Step],
    pub(super) field: &'static str,
    pub(super) when: When,
    pub(super) value: Fill,
    pub(super) source: &'static str,
}

/// When a field is filled in.
#[derive(Debug, Clone, Copy)]
pub(super) enum When {
    /// Only if it is not there: Go's type is a pointer or a struct, and its zero means something.
    Absent,
    /// If it is not there, empty or zero: Go's type is a plain value, which can't tell one from the other.
    Zero,
    /// Always: it follows another field.
    Always,
}

/// What is filled in.
#[derive(Debug, Clone, Copy)]
pub(super) enum Fill {
    Text(&'static str),
    Number(i64),
    Bool(bool),
    /// An empty object.
    Object,
    /// Go writes an empty list or pointer that it can't omit as null.
    Null,
    /// Worked out from the object that the field is in, or left out; and that in words.
    From(&'static str, fn(&Map<String, Value>) -> Option<Value>),
}

/// A row for a field that Go can tell from an absent one.
pub(super) const fn absent(
    at: &'static [Step],
    field: &'static str,
    value: Fill,
    source: &'static str,
) -> Row {
    Row { at, field, when: When::Absent, value, source }
}

/// A row for a field whose zero is as good as absent.
pub(super) const fn zero(at: &'static [Step], field: &'static str, value: Fill, source: &'static str) -> Row {
    Row { at, field, when: When::Zero, value, source }
}

/// A row for a field that follows another one.
pub(super) const fn always(
    at: &'static [Step],
    field: &'static str,
    value: Fill,
    source: &'static str,
) -> Row {
    Row { at, field, when: When::Always, value, source }
}

impl Row {
    /// Fills in the field, if this object leaves it out.
    pub(super) fn fill(&self, object: &mut Map<String, Value>) {
        let there = object.get(self.field);
        let wanted = match self.when {
            When::Absent => there.is_none_or(Value::is_null),
            When::Zero => there.is_none_or(is_zero),
            When::Always => true,
        };
        if !wanted {
            return;
        }
        if let Some(value) = self.value.of(object) {
            object.insert(self.field.to_owned(), value);
        }
    }
}

impl Fill {
    fn of(self, object: &Map<String, Value>) -> Option<Value> {
        match self {
            Fill::Text(text) => Some(Value::from(text)),
            Fill::Number(number) => Some(Value::from(number)),
            Fill::Bool(bool) => Some(Value::from(bool)),
            Fill::Object => Some(Value::Object(Map::new())),
            Fill::Null => Some(Value::Null),
            Fill::From(_, work_out) => work_out(object),
        }
    }
}

impl fmt::Display for Fill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fill::Text(text) => write!(f, "{text:?}"),
            Fill::Number(number) => write!(f, "{number}"),
            Fill::Bool(bool) => write!(f, "{bool}"),
            Fill::Object => f.write_str("{}"),
            Fill::Null => f.write_str("null"),
            Fill::From(words, _) => f.write_str(words),
        }
    }
}

/// What Go's decoders make of an absent field: null, an empty text or list, 0 or false.
pub(super) fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(bool) => !bool,
        Value::Number(number) => number.as_i64() == Some(0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(_) => false,
    }
}
