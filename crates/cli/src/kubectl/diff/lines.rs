//! A value as lines of YAML.

use serde_json::Value;

/// Keys are sorted, null members left out, and strings quoted where YAML would read them as another type.
pub(super) fn lines(value: &Value) -> Vec<String> {
    match value {
        Value::Object(members) => {
            let mut present: Vec<_> = members.iter().filter(|(_, value)| !value.is_null()).collect();
            present.sort_unstable_by_key(|(key, _)| *key);
            present.into_iter().flat_map(|(key, value)| member(key, value)).collect()
        }
        Value::Array(items) => items.iter().flat_map(item).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => vec![scalar(value)],
    }
}

fn member(key: &str, value: &Value) -> Vec<String> {
    let key = plain_or_quoted(key);
    match (value, is_empty(value)) {
        (Value::Object(_) | Value::Array(_), true) => vec![format!("{key}: {}", scalar(value))],
        (Value::Object(_), false) => {
            let inner = lines(value).into_iter().map(|line| format!("  {line}"));
            std::iter::once(format!("{key}:")).chain(inner).collect()
        }
        (Value::Array(_), false) => std::iter::once(format!("{key}:")).chain(lines(value)).collect(),
        (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_), _) => {
            vec![format!("{key}: {}", scalar(value))]
        }
    }
}

fn item(value: &Value) -> Vec<String> {
    let inner = if is_empty(value) { vec![scalar(value)] } else { lines(value) };
    let lead = |(index, line): (usize, String)| format!("{}{line}", if index == 0 { "- " } else { "  " });
    inner.into_iter().enumerate().map(lead).collect()
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.values().all(Value::is_null),
        Value::Array(items) => items.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// A value in one line.
fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => plain_or_quoted(text),
        Value::Object(_) => "{}".to_owned(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => value.to_string(),
    }
}

fn plain_or_quoted(text: &str) -> String {
    const WORDS: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./@=+:".contains(&byte);
    let begins = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'/');
    let is_word = WORDS.iter().any(|word| word.eq_ignore_ascii_case(text));
    let plain = begins && !is_word && text.bytes().all(is_plain) && !text.ends_with(':');
    if plain { text.to_owned() } else { Value::from(text).to_string() }
}
