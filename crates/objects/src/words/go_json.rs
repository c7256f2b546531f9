//! JSON as Go's `encoding/json` writes it: the only form in which the API server lets a ControllerRevision be patched.
//!
//! The API server stores the `data` of a ControllerRevision as the bytes that it was sent. A `PATCH` decodes and encodes
//! the object in Go, and `data` is immutable, byte by byte: if Go's bytes differ from the stored ones, each patch is
//! answered with 422 `data: Invalid value: …: field is immutable`, for ever. Kubernetes' own controller, which writes these bytes,
//! too, also finds the revision of a template by them.
//!
//! v1.37 `apimachinery/pkg/runtime/converter.go` (`sigs.k8s.io/json UnmarshalCaseSensitivePreserveInts`, then
//! `encoding/json Marshal` of Go 1.26), `pkg/apis/apps/validation ValidateControllerRevisionUpdate`.

use crate::words::canonical_json::sorted;
use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{Formatter, Serializer};
use std::io::{self, Write};

/// The value in Go's form: compact, with keys sorted by their bytes, `<`, `>`, `&`, U+2028 and U+2029 as `\u003c` and the
/// like, integers of 64 bits as they are and other numbers as Go writes a float64.
///
/// A negative zero becomes `0`: Go reads the `-0` that it writes as an integer, and would write `0` at the next patch. A
/// number that no float64 holds, which only a build with serde_json's `arbitrary_precision` reads, stays as it is; the API server
/// accepts no such number in a DaemonSet.
///
/// ```
/// use daemonset::kubernetes::go_json;
/// use serde_json::json;
///
/// let data = json!({"command": ["sh", "-c", "exec agent 2>&1"], "args": [1e21, 0.0000001]});
/// let go = r#"{"args":[1e+21,1e-7],"command":["sh","-c","exec agent 2\u003e\u00261"]}"#;
/// assert_eq!(go_json::to_string(&data), go);
/// ```
#[must_use]
pub fn to_string(value: &Value) -> String {
    let mut out = Vec::new();
    let written = Go(value).serialize(&mut Serializer::with_formatter(&mut out, GoFormatter));
    // Every key of a value is a text, so that it always has a form.
    written.ok().and_then(|()| String::from_utf8(out).ok()).unwrap_or_default()
}

/// A value in Go's order, with the numbers that Go reads.
struct Go<'v>(&'v Value);

impl Serialize for Go<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(members) => {
                serializer.collect_map(sorted(members).map(|(key, value)| (key, Go(value))))
            }
            Value::Array(items) => serializer.collect_seq(items.iter().map(Go)),
            Value::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(integer), _) => serializer.serialize_i64(integer),
                (None, Some(float)) => serializer.serialize_f64(float),
                (None, None) => number.serialize(serializer),
            },
            Value::Null | Value::Bool(_) | Value::String(_) => self.0.serialize(serializer),
        }
    }
}

/// Floats and texts as Go writes them. The other escapes are those of serde_json.
struct GoFormatter;

impl Formatter for GoFormatter {
    fn write_f64<W: Write + ?Sized>(&mut self, out: &mut W, float: f64) -> io::Result<()> {
        out.write_all(float_text(float).as_bytes())
    }

    /// `encoding/json appendString` with `escapeHTML`.
    fn write_string_fragment<W: Write + ?Sized>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        let is_escaped = |char: &char| matches!(char, '<' | '>' | '&' | '\u{2028}' | '\u{2029}');
        let mut rest = fragment;
        while let Some((at, special)) = rest.char_indices().find(|(_, char)| is_escaped(char)) {
            let (plain, from_special) = rest.split_at(at);
            write!(out, "{plain}\\u{:04x}", u32::from(special))?;
            rest = from_special.get(special.len_utf8()..).unwrap_or_default();
        }
        out.write_all(rest.as_bytes())
    }
}

/// `encoding/json floatEncoder`: the shortest digits that give the float back, without an exponent from 1e-6 on and below 1e21.
fn float_text(float: f64) -> String {
    if float == 0.0 {
        return "0".to_owned();
    }
    let shortest = format!("{float:e}");
    let many = shortest.bytes().take_while(|byte| *byte != b'e').filter(u8::is_ascii_digit).count();
    // Where two shortest texts are equally near, Go writes the even one. Rust does so only for a given number of digits.
    let even = format!("{float:.*e}", many.saturating_sub(1));
    let (mantissa, exponent) = even.split_once('e').unwrap_or((&even, "0"));
    if float.abs() >= 1e21 {
        return format!("{mantissa}e+{exponent}");
    }
    if float.abs() < 1e-6 {
        return even;
    }
    let before_point = exponent.parse::<isize>().unwrap_or_default().saturating_add(1);
    match many.checked_add_signed(before_point.saturating_neg()) {
        Some(fraction) => format!("{float:.fraction$}"),
        None => mantissa.replace('.', "") + &"0".repeat(before_point.unsigned_abs().saturating_sub(many)),
    }
}
