//! The path from an object to the objects that a default applies to.

use serde_json::{Map, Value};

/// One step of the path.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    /// Into a field.
    In(&'static str),
    /// Into each of some fields.
    InAny(&'static [&'static str]),
    /// Into each item of a list.
    Each(&'static str),
    /// Into each item of each of some lists.
    EachOfAny(&'static [&'static str]),
    /// Continues only if the object's `type` has this value.
    OfType(&'static str),
    /// Continues only if this field is true.
    With(&'static str),
}

/// Calls `seen` with each object at the end of the path. The recursion is never deeper than the path is long.
pub(super) fn visit(value: &mut Value, way: &[Step], seen: &mut dyn FnMut(&mut Map<String, Value>)) {
    let Value::Object(object) = value else { return };
    let Some((step, rest)) = way.split_first() else { return seen(object) };
    match step {
        Step::In(field) => visit_field(object, field, rest, seen),
        Step::InAny(fields) => fields.iter().for_each(|field| visit_field(object, field, rest, seen)),
        Step::Each(list) => visit_items(object, list, rest, seen),
        Step::EachOfAny(lists) => lists.iter().for_each(|list| visit_items(object, list, rest, seen)),
        Step::OfType(kind) => {
            if object.get("type").and_then(Value::as_str) == Some(kind) {
                visit(value, rest, seen);
            }
        }
        Step::With(field) => {
            if object.get(*field).and_then(Value::as_bool) == Some(true) {
                visit(value, rest, seen);
            }
        }
    }
}

fn visit_field(
    object: &mut Map<String, Value>,
    field: &str,
    rest: &[Step],
    seen: &mut dyn FnMut(&mut Map<String, Value>),
) {
    if let Some(value) = object.get_mut(field) {
        visit(value, rest, seen);
    }
}

fn visit_items(
    object: &mut Map<String, Value>,
    list: &str,
    rest: &[Step],
    seen: &mut dyn FnMut(&mut Map<String, Value>),
) {
    if let Some(Value::Array(items)) = object.get_mut(list) {
        items.iter_mut().for_each(|item| visit(item, rest, seen));
    }
}

/// The path as text, ready for a field name to be appended: `spec.containers[*].`.
pub(super) fn display<'a>(way: impl Iterator<Item = &'a Step>) -> String {
    way.fold(String::new(), |path, step| match step {
        Step::In(field) => format!("{path}{field}."),
        Step::InAny(fields) => format!("{path}{{{}}}.", fields.join(",")),
        Step::Each(list) => format!("{path}{list}[*]."),
        Step::EachOfAny(lists) => format!("{path}{{{}}}[*].", lists.join(",")),
        Step::OfType(kind) => condition(&path, &format!("type={kind}")),
        Step::With(field) => condition(&path, field),
    })
}

fn condition(path: &str, what: &str) -> String {
    format!("{}[{what}].", path.strip_suffix('.').unwrap_or(path))
}
