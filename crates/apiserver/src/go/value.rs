//! JSON values as Go prints them after it has decoded them: under `%v`, and numbers as `encoding/json` writes them.

use daemonset_objects::kubernetes::canonical_json::sorted;
use serde_json::{Number, Value};

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

/// Below this, and from [`LARGE`] on, Go writes an exponent (Go `encoding/json` floatEncoder).
const SMALL: f64 = 1e-6;
const LARGE: f64 = 1e21;

/// The number as an API server prints it after decoding it: a number that is no `int64` becomes a `float64` (v1.36
/// `sigs.k8s.io/json` UnmarshalCaseSensitivePreserveInts).
pub(crate) fn go_text(number: &Number) -> String {
    match (number.as_i64(), number.as_f64()) {
        (Some(integer), _) => integer.to_string(),
        (None, Some(float)) => float_text(float),
        (None, None) => number.to_string(),
    }
}

fn float_text(float: f64) -> String {
    let size = float.abs();
    if size == 0.0 || (SMALL..LARGE).contains(&size) {
        return float.to_string();
    }
    let text = format!("{float:e}");
    match text.split_once('e') {
        Some((mantissa, exponent)) if !exponent.starts_with('-') => format!("{mantissa}e+{exponent}"),
        Some(_) | None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_print_as_go_prints_them() {
        for (json, text) in [
            ("1", "1"),
            ("-7", "-7"),
            ("1.0", "1"),
            ("1.50", "1.5"),
            ("0.1", "0.1"),
            ("1e3", "1000"),
            ("1e20", "100000000000000000000"),
            ("1e21", "1e+21"),
            ("-1.5e30", "-1.5e+30"),
            ("0.000001", "0.000001"),
            ("0.0000001", "1e-7"),
            ("99999999999999999999", "100000000000000000000"),
            ("18446744073709551615", "18446744073709552000"),
        ] {
            assert_eq!(go_text(&serde_json::from_str(json).unwrap()), text, "{json}");
        }
    }
}
