//! For any text: IntOrString accepts integers from 0 to 2147483647 and percentages of such integers, and nothing else.

#![no_main]

use daemonset::model::IntOrString;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|text: &str| {
    // The text as JSON, and as a JSON string.
    check(text);
    check(&Value::String(text.to_owned()).to_string());
    check(&format!("\"{text}%\""));
});

fn check(json: &str) {
    let Ok(value) = serde_json::from_str::<Value>(json) else {
        assert!(serde_json::from_str::<IntOrString>(json).is_err());
        return;
    };
    let expected = expected(&value);
    let parsed = serde_json::from_str::<IntOrString>(json).ok();
    assert_eq!(parsed, expected, "{json}");
    let Some(limit) = parsed else { return };
    let again = serde_json::to_string(&limit).unwrap();
    assert_eq!(serde_json::from_str::<IntOrString>(&again).unwrap(), limit);
    for total in [0, 1, 2, 3, 7, 99, 100, 101, 5000, u32::MAX] {
        assert_eq!(u128::from(limit.scaled(total)), scaled(limit, total), "{limit} of {total}");
    }
}

/// A second implementation of the rule.
fn expected(value: &Value) -> Option<IntOrString> {
    let in_range = |number: u128| u32::try_from(number).ok().filter(|n| *n < 1 << 31);
    match value {
        Value::Number(number) => in_range(u128::from(number.as_u64()?)).map(IntOrString::Int),
        Value::String(text) => {
            let digits = text.strip_suffix('%')?;
            let mut number = 0_u128;
            for letter in digits.chars() {
                let digit = "0123456789".find(letter)? as u128;
                number = (number * 10 + digit).min(1 << 64);
            }
            (!digits.is_empty()).then_some(())?;
            in_range(number).map(IntOrString::Percent)
        }
        _ => None,
    }
}

/// Percentages round up, and the result fits into the type of a number of nodes.
fn scaled(limit: IntOrString, total: u32) -> u128 {
    match limit {
        IntOrString::Int(number) => u128::from(number),
        IntOrString::Percent(percent) => {
            let product = u128::from(percent) * u128::from(total);
            let rounded = product / 100 + u128::from(product % 100 != 0);
            rounded.min(u128::from(u32::MAX))
        }
    }
}
