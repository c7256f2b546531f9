//! Printing an object as Go prints a struct: its fields in the order of their definition.

use super::table::{Kind, Struct};
use crate::go::json_text;
use serde_json::Value;

/// The object as Go's `json.MarshalIndent` prints it with four spaces, without a line break at the end.
pub(crate) fn indented(of: &'static Struct, object: &Value) -> String {
    let mut text = String::new();
    value(Kind::Struct(of), object, 1, &mut text);
    text
}

const INDENT: &str = "    ";

fn value(kind: Kind, of: &Value, depth: usize, text: &mut String) {
    match (kind, of) {
        (Kind::Struct(inner), Value::Object(members)) => {
            let fields =
                inner.fields().filter_map(|field| Some((field.name, field.kind, members.get(field.name)?)));
            block(['{', '}'], fields, depth, text, |(name, kind, of), text| {
                text.push_str(&format!("\"{name}\": "));
                value(kind, of, depth + 1, text);
            });
        }
        (Kind::Structs(inner), Value::Array(items)) => block(['[', ']'], items, depth, text, |item, text| {
            value(Kind::Struct(inner), item, depth + 1, text);
        }),
        (_, other) => any(other, depth, text),
    }
}

/// Maps are sorted by key.
fn any(of: &Value, depth: usize, text: &mut String) {
    match of {
        Value::Object(members) => {
            let sorted = daemonset_objects::kubernetes::canonical_json::sorted(members);
            block(['{', '}'], sorted, depth, text, |(key, value), text| {
                text.push_str(&format!("{}: ", json_text(&Value::from(key.as_str()))));
                any(value, depth + 1, text);
            });
        }
        Value::Array(items) => block(['[', ']'], items, depth, text, |item, text| any(item, depth + 1, text)),
        scalar => text.push_str(&json_text(scalar)),
    }
}

fn block<T>(
    [open, close]: [char; 2],
    items: impl IntoIterator<Item = T>,
    depth: usize,
    text: &mut String,
    mut print: impl FnMut(T, &mut String),
) {
    text.push(open);
    let mut any = false;
    for item in items {
        let separator = if any { "," } else { "" };
        text.push_str(&format!("{separator}\n{}", INDENT.repeat(depth)));
        print(item, text);
        any = true;
    }
    if any {
        text.push_str(&format!("\n{}", INDENT.repeat(depth - 1)));
    }
    text.push(close);
}
