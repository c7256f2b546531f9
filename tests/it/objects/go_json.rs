//! JSON as Go writes it.

use daemonset::kubernetes::go_json::to_string;
use serde_json::{Value, from_str, json};

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
