//! Field errors as the API server reports them, and the message that kubectl prints.

use crate::admission::path::FieldPath;
use crate::go::{GoValue, quoted};
use indexmap::IndexSet;
use std::fmt;
use thiserror::Error;

/// The kind of a field error (v1.36 apimachinery field/errors.go `ErrorType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The field names an object that does not exist.
    NotFound,
    /// The field must be set.
    Required,
    /// Another item has this value, which must be unique.
    Duplicate,
    /// The value is malformed or out of bounds.
    Invalid,
    /// The value is not one of the supported ones.
    NotSupported,
    /// The field may not be set in this object.
    Forbidden,
    /// The value is too long; the message does not repeat it.
    TooLong,
    /// The list has too many items.
    TooMany,
}

impl ErrorKind {
    /// The cause as the API server's answer names it: `FieldValueInvalid`.
    #[must_use]
    pub fn cause(self) -> &'static str {
        match self {
            ErrorKind::NotFound => "FieldValueNotFound",
            ErrorKind::Required => "FieldValueRequired",
            ErrorKind::Duplicate => "FieldValueDuplicate",
            ErrorKind::Invalid => "FieldValueInvalid",
            ErrorKind::NotSupported => "FieldValueNotSupported",
            ErrorKind::Forbidden => "FieldValueForbidden",
            ErrorKind::TooLong => "FieldValueTooLong",
            ErrorKind::TooMany => "FieldValueTooMany",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ErrorKind::NotFound => "Not found",
            ErrorKind::Required => "Required value",
            ErrorKind::Duplicate => "Duplicate value",
            ErrorKind::Invalid => "Invalid value",
            ErrorKind::NotSupported => "Unsupported value",
            ErrorKind::Forbidden => "Forbidden",
            ErrorKind::TooLong => "Too long",
            ErrorKind::TooMany => "Too many",
        })
    }
}

/// One invalid field. Prints as Kubernetes prints it: `spec.minReadySeconds: Invalid value: -1: must be greater than
/// or equal to 0`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Error)]
#[error("{path}: {}", self.body())]
#[non_exhaustive]
pub struct FieldError {
    /// The kind of error.
    pub kind: ErrorKind,
    /// The field.
    pub path: String,
    /// The value as the message shows it: strings in quotes, lists and structs as JSON. `None` where the message has
    /// no value.
    pub value: Option<String>,
    /// The explanation, or the rule that the value breaks; may be empty.
    pub detail: String,
}

impl FieldError {
    /// The message without the field's path (v1.36 apimachinery field/errors.go `ErrorBody`).
    #[must_use]
    pub fn body(&self) -> String {
        let mut body = self.kind.to_string();
        let detail = Some(self.detail.as_str()).filter(|detail| !detail.is_empty());
        for part in self.value.as_deref().into_iter().chain(detail) {
            body.push_str(": ");
            body.push_str(part);
        }
        body
    }
}

/// All invalid fields of an object, in the API server's order; empty for a valid object. Prints as one text in which
/// each message occurs once (v1.36 apimachinery field/errors.go `ToAggregate`).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ErrorList(Vec<FieldError>);

impl ErrorList {
    /// Whether the object is valid.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of errors.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The errors in their order.
    pub fn iter(&self) -> std::slice::Iter<'_, FieldError> {
        self.0.iter()
    }

    /// The messages in their order, each once.
    #[must_use]
    pub fn messages(&self) -> Vec<String> {
        let messages: IndexSet<String> = self.0.iter().map(FieldError::to_string).collect();
        messages.into_iter().collect()
    }
}

impl IntoIterator for ErrorList {
    type Item = FieldError;
    type IntoIter = std::vec::IntoIter<FieldError>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a ErrorList {
    type Item = &'a FieldError;
    type IntoIter = std::slice::Iter<'a, FieldError>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for ErrorList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.messages().as_slice() {
            [one] => f.write_str(one),
            several => write!(f, "[{}]", several.join(", ")),
        }
    }
}

/// One method for each constructor of v1.36 apimachinery field/errors.go.
impl ErrorList {
    fn add(&mut self, kind: ErrorKind, path: &FieldPath<'_>, value: Option<GoValue>, detail: String) {
        let value = value.map(GoValue::into_text);
        self.0.push(FieldError { kind, path: path.to_string(), value, detail });
    }

    pub(crate) fn invalid(
        &mut self,
        path: &FieldPath<'_>,
        value: impl Into<GoValue>,
        detail: impl Into<String>,
    ) {
        self.add(ErrorKind::Invalid, path, Some(value.into()), detail.into());
    }

    /// Reports a negative number (v1.36 `ValidateNonnegativeField`).
    pub(crate) fn negative(&mut self, path: &FieldPath<'_>, number: i64) {
        if number < 0 {
            self.invalid(path, number, "must be greater than or equal to 0");
        }
    }

    pub(crate) fn required(&mut self, path: &FieldPath<'_>, detail: &str) {
        self.add(ErrorKind::Required, path, None, detail.to_owned());
    }

    pub(crate) fn forbidden(&mut self, path: &FieldPath<'_>, detail: &str) {
        self.add(ErrorKind::Forbidden, path, None, detail.to_owned());
    }

    pub(crate) fn duplicate(&mut self, path: &FieldPath<'_>, value: impl Into<GoValue>) {
        self.add(ErrorKind::Duplicate, path, Some(value.into()), String::new());
    }

    /// `detail` is empty in most rules.
    pub(crate) fn not_found(&mut self, path: &FieldPath<'_>, value: impl Into<GoValue>, detail: &str) {
        self.add(ErrorKind::NotFound, path, Some(value.into()), detail.to_owned());
    }

    pub(crate) fn not_supported(
        &mut self,
        path: &FieldPath<'_>,
        value: impl Into<GoValue>,
        supported: &[&str],
    ) {
        let supported: Vec<String> = supported.iter().map(|value| quoted(value)).collect();
        let detail = format!("supported values: {}", supported.join(", "));
        self.add(ErrorKind::NotSupported, path, Some(value.into()), detail);
    }

    /// Longer than `limit` bytes.
    pub(crate) fn too_long(&mut self, path: &FieldPath<'_>, limit: usize) {
        let bytes = if limit == 1 { "byte" } else { "bytes" };
        self.add(ErrorKind::TooLong, path, None, format!("may not be more than {limit} {bytes}"));
    }

    /// `count` items where there may be `limit`.
    pub(crate) fn too_many(&mut self, path: &FieldPath<'_>, count: usize, limit: usize) {
        let items = if limit == 1 { "item" } else { "items" };
        let count = GoValue::from(i64::try_from(count).unwrap_or(i64::MAX));
        self.add(ErrorKind::TooMany, path, Some(count), format!("must have at most {limit} {items}"));
    }
}

/// An object that the API server refuses. Prints as kubectl does, without the last line break
/// (v1.36 kubectl cmd/util/helpers.go `checkErr`):
///
/// ```text
/// The DaemonSet "web" is invalid: spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}", self.text())]
#[non_exhaustive]
pub struct Invalid {
    /// The object's kind, such as `DaemonSet`.
    pub kind: String,
    /// The API group of the kind, such as `apps`.
    pub group: String,
    /// The object's name.
    pub name: String,
    /// The invalid fields.
    pub errors: ErrorList,
}

impl Invalid {
    /// The API server's own message: `DaemonSet.apps "web" is invalid: …` (v1.36 apimachinery api/errors `NewInvalid`).
    #[must_use]
    pub fn message(&self) -> String {
        let dot = if self.group.is_empty() { "" } else { "." };
        let Invalid { kind, group, name, errors } = self;
        format!("{kind}{dot}{group} {} is invalid: {errors}", quoted(name))
    }

    fn text(&self) -> String {
        let head = format!("The {} {} is invalid", self.kind, quoted(&self.name));
        match self.errors.messages().as_slice() {
            [] => head,
            [one] => format!("{head}: {one}"),
            several => {
                let lines: Vec<String> = several.iter().map(|message| format!("\n* {message}")).collect();
                format!("{head}: {}", lines.concat())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invalid(errors: ErrorList) -> Invalid {
        Invalid { kind: "DaemonSet".to_owned(), group: "apps".to_owned(), name: "web".to_owned(), errors }
    }

    fn errors() -> ErrorList {
        let (mut errors, path) = (ErrorList::default(), FieldPath::new("spec"));
        errors.invalid(&path.child("a"), -1, "must not be");
        errors.required(&path.child("b"), "");
        errors.invalid(&path.child("a"), -1, "must not be");
        errors.not_supported(&path.child("c"), GoValue::named("x"), &["y", "z"]);
        errors
    }

    #[test]
    fn kubectl_lists_each_error_once() {
        let invalid = invalid(errors());
        let lines = [
            "The DaemonSet \"web\" is invalid: ",
            "* spec.a: Invalid value: -1: must not be",
            "* spec.b: Required value",
            "* spec.c: Unsupported value: \"x\": supported values: \"y\", \"z\"",
        ];
        assert_eq!(invalid.to_string(), lines.join("\n"));
    }

    #[test]
    fn one_error_prints_in_one_line() {
        let mut errors = ErrorList::default();
        errors.too_long(&FieldPath::new("metadata").child("annotations"), 262_144);
        let invalid = invalid(errors);
        let error = "metadata.annotations: Too long: may not be more than 262144 bytes";
        assert_eq!(invalid.to_string(), format!("The DaemonSet \"web\" is invalid: {error}"));
        assert_eq!(invalid.message(), format!("DaemonSet.apps \"web\" is invalid: {error}"));
    }
}
