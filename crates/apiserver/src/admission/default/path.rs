//! The path from an object to the objects that a default applies to.

use serde_json::{Map, Value};

/// One step of the path.
#[derive(Debug, Clone, Copy)]
pub(super) enum DefaultStep {
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
pub(super) fn visit(value: &mut Value, way: &[DefaultStep], seen: &mut dyn FnMut(&mut Map<String, Value>)) {
    let Value::Object(object) = value else { return };
    let Some((step, rest)) = way.split_first() else { return seen(object) };
    match step {
        DefaultStep::In(field) => visit_field(object, field, rest, seen),
        DefaultStep::InAny(fields) => fields.iter().for_each(|field| visit_field(object, field, rest, seen)),
        DefaultStep::Each(list) => visit_items(object, list, rest, seen),
        DefaultStep::EachOfAny(lists) => lists.iter().for_each(|list| visit_items(object, list, rest, seen)),
        DefaultStep::OfType(kind) => {
            if object.get("type").and_then(Value::as_str) == Some(kind) {
                visit(value, rest, seen);
            }
        }
        DefaultStep::With(field) => {
            if object.get(*field).and_then(Value::as_bool) == Some(true) {
                visit(value, rest, seen);
            }
        }
    }
}

fn visit_field(
    object: &mut Map<String, Value>,
    field: &str,
    rest: &[DefaultStep],
    seen: &mut dyn FnMut(&mut Map<String, Value>),
) {
    if let Some(value) = object.get_mut(field) {
        visit(value, rest, seen);
    }
}

fn visit_items(
    object: &mut Map<String, Value>,
    list: &str,
    rest: &[DefaultStep],
    seen: &mut dyn FnMut(&mut Map<String, Value>),
) {
    if let Some(Value::Array(items)) = object.get_mut(list) {
        items.iter_mut().for_each(|item| visit(item, rest, seen));
    }
}

/// The path as text, ready for a field name to be appended: `spec.containers[*].`.
pub(super) fn display<'a>(way: impl Iterator<Item = &'a DefaultStep>) -> String {
    way.fold(String::new(), |path, step| match step {
        DefaultStep::In(field) => format!("{path}{field}."),
        DefaultStep::InAny(fields) => format!("{path}{{{}}}.", fields.join(",")),
        DefaultStep::Each(list) => format!("{path}{list}[*]."),
        DefaultStep::EachOfAny(lists) => format!("{path}{{{}}}[*].", lists.join(",")),
        DefaultStep::OfType(kind) => condition(&path, &format!("type={kind}")),
        DefaultStep::With(field) => condition(&path, field),
    })
}

fn condition(path: &str, what: &str) -> String {
    format!("{}[{what}].", path.strip_suffix('.').unwrap_or(path))
}
