//! JSON as Go's `encoding/json` writes it: the only form in which the API server lets a ControllerRevision be patched.
//!
//! The API server stores the `data` of a ControllerRevision as the bytes that it was sent. A `PATCH` decodes and encodes
//! the object in Go, and `data` is immutable, byte by byte: if Go's bytes differ from the stored ones, each patch is
//! answered with 422 `data: Invalid value: …: field is immutable`, for ever. Kubernetes' own controller, which writes these bytes,
//! too, also finds the revision of a template by them.
//!
//! v1.37 `apimachinery/pkg/runtime/converter.go` (`sigs.k8s.io/json UnmarshalCaseSensitivePreserveInts`, then
//! `encoding/json Marshal` of Go 1.26), `pkg/apis/apps/validation ValidateControllerRevisionUpdate`.

use crate::kubernetes::canonical_json::sorted;
use serde_json::{Number, Value};

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
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => out.push_str(&number_text(number)),
        Value::String(text) => write_string(text, out),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (index, (key, value)) in sorted(members).enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_string(key, out);
                out.push(':');
                write(value, out);
            }
            out.push('}');
        }
    }
}

fn number_text(number: &Number) -> String {
    match (number.as_i64(), number.as_f64()) {
        (Some(integer), _) => integer.to_string(),
        (None, Some(float)) => float_text(float),
        (None, None) => number.to_string(),
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

/// `encoding/json appendString` with `escapeHTML`.
fn write_string(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    while let Some((at, special)) = rest.char_indices().find(|(_, char)| is_escaped(*char)) {
        let (plain, from_special) = rest.split_at(at);
        out.push_str(plain);
        write_escape(special, out);
        rest = from_special.get(special.len_utf8()..).unwrap_or_default();
    }
    out.push_str(rest);
    out.push('"');
}

fn is_escaped(char: char) -> bool {
    matches!(char, '"' | '\\' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | ..'\u{20}')
}

fn write_escape(special: char, out: &mut String) {
    let short = match special {
        '"' | '\\' => special,
        '\u{8}' => 'b',
        '\u{c}' => 'f',
        '\n' => 'n',
        '\r' => 'r',
        '\t' => 't',
        _ => return out.push_str(&format!("\\u{:04x}", u32::from(special))),
    };
    out.push('\\');
    out.push(short);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_str, json};

    /// What is sent, and the text of Go 1.26's `encoding/json` after `sigs.k8s.io/json` has read it.
    const CASES: &[(&str, &str)] = &[
        // Layout: compact, keys by their bytes, nulls and empty members stay.
        ("{ \"b\": [1, {\"d\": null, \"c\": {}}], \"a\" : [] }\n", r#"{"a":[],"b":[1,{"c":{},"d":null}]}"#),
        (
            r#"{"z":1,"Z":2,"_":3,"é":4,"zz":5,"":6,"😀":7,"\uffee":8,"a.b/c":true,"a-b":false}"#,
            r#"{"":6,"Z":2,"_":3,"a-b":false,"a.b/c":true,"z":1,"zz":5,"é":4,"￮":8,"😀":7}"#,
        ),
        // Texts.
        (r#""2>&1 && cat </dev/null""#, r#""2\u003e\u00261 \u0026\u0026 cat \u003c/dev/null""#),
        (r#"{"<k>&":"v"}"#, r#"{"\u003ck\u003e\u0026":"v"}"#),
        (r#""\u2027\u2028\u2029\u202a""#, "\"\u{2027}\\u2028\\u2029\u{202a}\""),
        (r#""\b\f\n\r\t\"\\\/'`""#, r#""\b\f\n\r\t\"\\/'`""#),
        (
            r#""\u0000\u0001\u000b\u001b\u001f\u007f\u0080""#,
            "\"\\u0000\\u0001\\u000b\\u001b\\u001f\u{7f}\u{80}\"",
        ),
        (r#""\ud83d\ude00 \ufeff\ufffd\uffff é""#, "\"😀 \u{feff}\u{fffd}\u{ffff} é\""),
        // Integers of 64 bits.
        (r"[0,1,-1,30,2147483648,9007199254740993]", r"[0,1,-1,30,2147483648,9007199254740993]"),
        (r"[9223372036854775807,-9223372036854775808]", r"[9223372036854775807,-9223372036854775808]"),
        // Numbers that are a float64 in Go.
        (
            r"[9223372036854775808,-9223372036854775809,18446744073709551615]",
            r"[9223372036854776000,-9223372036854776000,18446744073709552000]",
        ),
        (r"[1.0,100.00,1e2,1E+2,-2.50,0.1,1.1e1]", r"[1,100,100,100,-2.5,0.1,11]"),
        (
            r"[0.000001,0.00000099999999999999,1e-7,-1.5e-10,5e-324]",
            r"[0.000001,9.9999999999999e-7,1e-7,-1.5e-10,5e-324]",
        ),
        (
            r"[1e20,999999999999999900000,999999999999999999999,1e21,-1.25e22,1.7976931348623157e308]",
            r"[100000000000000000000,999999999999999900000,1e+21,1e+21,-1.25e+22,1.7976931348623157e+308]",
        ),
        (
            r"[123456789012345678901234567890,0.1234567890123456789]",
            r"[1.2345678901234568e+29,0.12345678901234568]",
        ),
    ];

    #[test]
    fn the_text_is_the_one_of_go() {
        for (sent, go) in CASES {
            let value: Value = from_str(sent).unwrap();
            assert_eq!(to_string(&value), *go, "{sent}");
        }
    }

    /// Else the first patch would be refused.
    #[test]
    fn the_text_read_again_is_the_same() {
        for (sent, _) in CASES.iter().chain(&[("[-0,-0.0,0.0,-0e5]", "")]) {
            let once = to_string(&from_str(sent).unwrap());
            assert_eq!(to_string(&from_str(&once).unwrap()), once, "{sent}");
        }
        assert_eq!(to_string(&from_str("[-0,-0.0]").unwrap()), "[0,0]");
    }

    #[test]
    fn the_order_of_insertion_does_not_count() {
        let (one, other) = (json!({"a": 1, "b": {"x": 1, "y": 2}}), json!({"b": {"y": 2, "x": 1}, "a": 1}));
        assert_eq!(to_string(&one), to_string(&other));
    }

    /// `arbitrary_precision` of serde_json reads them; other builds do not.
    #[test]
    fn a_number_beyond_any_float_stays() {
        if let Ok(number) = from_str::<Value>("-1e999") {
            assert_eq!(to_string(&number), number.to_string());
        }
    }
}
