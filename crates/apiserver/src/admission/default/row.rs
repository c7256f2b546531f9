//! One default: in which objects, which field, when it counts as absent, and its value.

use super::path::DefaultStep;
use serde_json::{Map, Value};
use std::fmt;

/// One row of the tables.
#[derive(Debug)]
pub(super) struct DefaultRow {
    pub(super) at: &'static [DefaultStep],
    pub(super) field: &'static str,
    pub(super) when: When,
    pub(super) value: Fill,
    pub(super) source: &'static str,
}

/// When a field is filled in.
#[derive(Debug, Clone, Copy)]
pub(super) enum When {
    /// Only if it is absent: Go's type is a pointer or a struct, whose zero value means something else than absence.
    Absent,
    /// If it is absent, empty or zero: Go's type is a plain value, which can't distinguish these.
    Zero,
    /// Always: it follows another field.
    Always,
}

/// The value of a default.
#[derive(Debug, Clone, Copy)]
pub(super) enum Fill {
    Text(&'static str),
    Number(i64),
    Bool(bool),
    /// An empty object.
    Object,
    /// Go writes an empty list or pointer that it can't omit as null.
    Null,
    /// Computed from the object that contains the field, `None` to leave the field out; with a description of the
    /// computation.
    From(&'static str, fn(&Map<String, Value>) -> Option<Value>),
}

/// A row for a field whose absence Go distinguishes from its zero value.
pub(super) const fn absent(
    at: &'static [DefaultStep],
    field: &'static str,
    value: Fill,
    source: &'static str,
) -> DefaultRow {
    DefaultRow { at, field, when: When::Absent, value, source }
}

/// A row for a field whose zero value counts as absent.
pub(super) const fn zero(
    at: &'static [DefaultStep],
    field: &'static str,
    value: Fill,
    source: &'static str,
) -> DefaultRow {
    DefaultRow { at, field, when: When::Zero, value, source }
}

/// A row for a field that follows another one.
pub(super) const fn always(
    at: &'static [DefaultStep],
    field: &'static str,
    value: Fill,
    source: &'static str,
) -> DefaultRow {
    DefaultRow { at, field, when: When::Always, value, source }
}

impl DefaultRow {
    /// Fills in the field, if this object leaves it out.
    pub(super) fn fill(&self, object: &mut Map<String, Value>) {
        let value = object.get(self.field);
        let is_absent = match self.when {
            When::Absent => value.is_none_or(Value::is_null),
            When::Zero => value.is_none_or(is_zero),
            When::Always => true,
        };
        if !is_absent {
            return;
        }
        if let Some(value) = self.value.compute(object) {
            object.insert(self.field.to_owned(), value);
        }
    }
}

impl Fill {
    fn compute(self, object: &Map<String, Value>) -> Option<Value> {
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

/// Whether this is the value that Go's decoder gives an absent field: null, an empty string or list, 0 or false.
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
