//! A JSON number in the text Go's `encoding/json` gives it, which the API server's messages and quantities carry on.

use serde_json::Number;

/// Below this, and from [`LARGE`] on, Go writes an exponent (Go `encoding/json` floatEncoder).
const SMALL: f64 = 1e-6;
const LARGE: f64 = 1e21;

/// The number as an API server prints it after decoding it: what is no `int64` is a `float64`
/// (v1.36 `sigs.k8s.io/json` UnmarshalCaseSensitivePreserveInts).
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
