//! Values as Go prints them with `%v`, which its messages carry on and its merging sorts by.

use crate::go::go_text;
use daemonset::kubernetes::canonical_json::sorted;
use serde_json::Value;

pub(crate) fn go_value(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => go_text(number),
        Value::String(text) => text.clone(),
        Value::Array(items) => go_list(items),
        Value::Object(members) => {
            let members: Vec<String> =
                sorted(members).map(|(key, value)| format!("{key}:{}", go_value(value))).collect();
            format!("map[{}]", members.join(" "))
        }
    }
}

pub(crate) fn go_list(items: &[Value]) -> String {
    let items: Vec<String> = items.iter().map(go_value).collect();
    format!("[{}]", items.join(" "))
}

/// The type that Go's decoder gives a value.
pub(crate) fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "%!s(<nil>)",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}
