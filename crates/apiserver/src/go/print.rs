//! Values in messages, as Go prints them.

use serde_json::Value;
use std::fmt::Write;

/// A value as an error message shows it (v1.36 apimachinery field/errors.go `ErrorBody`): plain strings in Go's
/// quotes, all other values as Go's JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GoValue(String);

impl GoValue {
    /// A string of a named Go type, or behind a pointer: quoted as JSON.
    pub(crate) fn named(text: &str) -> Self {
        GoValue(json(&Value::from(text)))
    }

    /// A value whose Go type prints the same names in the same order as the JSON object: a list, a map, a number.
    pub(crate) fn json(value: &Value) -> Self {
        GoValue(json(value))
    }

    /// A nil pointer, map or list.
    pub(crate) fn null() -> Self {
        GoValue("null".to_owned())
    }

    /// A list of values.
    pub(crate) fn list(items: impl IntoIterator<Item = GoValue>) -> Self {
        let items: Vec<String> = items.into_iter().map(|item| item.0).collect();
        GoValue(format!("[{}]", items.join(",")))
    }

    /// A struct: its fields under their Go names, in Go's order.
    pub(crate) fn record<'a>(fields: impl IntoIterator<Item = (&'a str, GoValue)>) -> Self {
        let fields = fields.into_iter().map(|(name, value)| format!("\"{name}\":{}", value.0));
        GoValue(format!("{{{}}}", fields.collect::<Vec<_>>().join(",")))
    }

    pub(crate) fn into_text(self) -> String {
        self.0
    }
}

impl From<&str> for GoValue {
    fn from(text: &str) -> Self {
        GoValue(quoted(text))
    }
}

impl From<i64> for GoValue {
    fn from(number: i64) -> Self {
        GoValue(number.to_string())
    }
}

impl From<bool> for GoValue {
    fn from(truth: bool) -> Self {
        GoValue(truth.to_string())
    }
}

/// JSON in one line as Go's `encoding/json` writes a map: sorted by key, with the characters that are special in HTML
/// escaped.
pub fn json_text(value: &Value) -> String {
    let mut value = value.clone();
    value.sort_all_objects();
    json(&value)
}

/// JSON as `encoding/json` writes it: characters that are special in HTML are escaped. They occur only inside
/// strings.
fn json(value: &Value) -> String {
    let mut text = String::new();
    for c in value.to_string().chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => _ = write!(text, "\\u{:04x}", u32::from(c)),
            c => text.push(c),
        }
    }
    text
}

/// A string in Go's quotes, as `strconv.Quote` and the verb `%q` print it.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{b}' => quoted.push_str("\\v"),
            c if is_printable(c) => quoted.push(c),
            c if u32::from(c) < 0x80 => _ = write!(quoted, "\\x{:02x}", u32::from(c)),
            c if u32::from(c) < 0x1_0000 => _ = write!(quoted, "\\u{:04x}", u32::from(c)),
            c => _ = write!(quoted, "\\U{:08x}", u32::from(c)),
        }
    }
    quoted.push('"');
    quoted
}

/// Go's `unicode.IsPrint`: the characters that Rust's debug form leaves unescaped inside a string, and the
/// apostrophe.
fn is_printable(c: char) -> bool {
    // A leading combining mark would be escaped, so the character follows a letter.
    c == '\'' || format!("a{c}").escape_debug().count() == 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_are_quoted_as_go_quotes() {
        for (text, go) in [
            ("a b", r#""a b""#),
            ("it's \"so\" \\", r#""it's \"so\" \\""#),
            ("\u{7}\u{8}\u{b}\u{c}\n\r\t", r#""\a\b\v\f\n\r\t""#),
            ("\0\u{1b}\u{7f}", r#""\x00\x1b\x7f""#),
            ("\u{e9}e\u{301}\u{1f600}", "\"\u{e9}e\u{301}\u{1f600}\""),
            ("\u{a0}\u{200b}\u{ad}\u{e000}\u{f0000}", r#""\u00a0\u200b\u00ad\ue000\U000f0000""#),
            ("<&>", r#""<&>""#),
        ] {
            assert_eq!(quoted(text), go);
        }
    }

    #[test]
    fn json_is_escaped_for_html_as_go_does() {
        let value = GoValue::json(&json!({"b": ["<&>", "\u{2028}\u{2029}"], "a": 1})).into_text();
        assert_eq!(value, r#"{"a":1,"b":["\u003c\u0026\u003e","\u2028\u2029"]}"#);
        assert_eq!(GoValue::named("a\nb").into_text(), r#""a\nb""#);
        let record = GoValue::record([("Type", GoValue::named("x")), ("RollingUpdate", GoValue::null())]);
        assert_eq!(record.into_text(), r#"{"Type":"x","RollingUpdate":null}"#);
    }
}
