//! Rows from Kubernetes' quantity_test.go, and results of its parser.

use super::*;
use proptest::prelude::*;
use serde_json::json;

fn read(text: &str) -> String {
    match Quantity::parse(text) {
        Ok(quantity) => quantity.to_string(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_quantity_prints_in_the_largest_unit_without_decimals() {
    for (text, canonical) in [
        ("0", "0"),
        ("00", "0"),
        ("-0", "0"),
        ("0Mi", "0"),
        ("100m", "100m"),
        ("0.1", "100m"),
        ("1.50", "1500m"),
        ("5.0", "5"),
        ("1000m", "1"),
        ("1000000", "1M"),
        ("1024Mi", "1Gi"),
        ("1.5Gi", "1536Mi"),
        ("0.5Ki", "512"),
        ("1.1Ki", "1126400m"),
        ("-0.5Mi", "-512Ki"),
        ("1000e3", "1e6"),
        ("1e1000", "10e999"),
        ("1000n", "1u"),
        ("99999999999999999999", "99999999999999999999"),
    ] {
        assert_eq!(read(text), canonical, "{text}");
    }
}

#[test]
fn some_spellings_stay_as_go_keeps_them() {
    for text in ["1.500", "+5Mi", "007Ki", "1e3", "1E3", "1e+3", "12E-3", "100.Mi"] {
        assert_eq!(read(text), text);
    }
    for (text, canonical) in [("+8Mi", "8Mi"), ("+5Pi", "5Pi"), ("1.000", "1"), ("1000E", "1")] {
        assert_eq!(read(text), canonical, "{text}");
    }
}

#[test]
fn amounts_are_rounded_up_to_billionths_and_binary_ones_capped() {
    for (text, canonical) in [
        ("0.1n", "1n"),
        ("1.5n", "2n"),
        ("-1.5n", "-2n"),
        ("5e-10", "1e-9"),
        ("0.9999999999", "1"),
        ("8Ei", "9223372036854775807"),
        ("-9Ei", "-9223372036854775807"),
        ("9e18", "9e18"),
    ] {
        assert_eq!(read(text), canonical, "{text}");
    }
}

#[test]
fn invalid_quantities_have_gos_messages() {
    for (text, error) in [
        ("", QuantityError::Form),
        ("1 ", QuantityError::Form),
        ("1KiB", QuantityError::Form),
        ("1..5", QuantityError::Form),
        ("abc", QuantityError::Form),
        ("é", QuantityError::Form),
        ("1kk", QuantityError::Suffix),
        ("--1", QuantityError::Suffix),
        ("1e", QuantityError::Suffix),
        ("1K", QuantityError::Suffix),
        ("1e99999999999999999999", QuantityError::Suffix),
        (".Pi", QuantityError::Number),
    ] {
        assert_eq!(Quantity::parse(text).unwrap_err(), error, "{text}");
    }
    assert_eq!(read("."), "0", "nothing but a sign or a point passes");
    assert_eq!(read("Mi"), "0");
}

#[test]
fn quantities_are_equal_and_ordered_by_value() {
    let ordered =
        ["-1Gi", "-1G", "-1", "-1m", "0", "1n", "999u", "1m", "0.5", "1", "1k", "1Ki", "1Gi", "1e10", "1E"];
    for (i, a) in ordered.iter().enumerate() {
        for (j, b) in ordered.iter().enumerate() {
            let (a, b) = (Quantity::parse(a).unwrap(), Quantity::parse(b).unwrap());
            assert_eq!(a.cmp(&b), i.cmp(&j), "{a} {b}");
            assert_eq!(a == b, i == j);
        }
    }
    for (a, b) in
        [("1", "1000m"), ("1Gi", "1024Mi"), ("1.500", "1500m"), ("1e3", "1k"), ("-0", "0"), ("2Ki", "2048")]
    {
        assert_eq!(Quantity::parse(a).unwrap(), Quantity::parse(b).unwrap(), "{a} {b}");
    }
}

#[test]
fn json_gives_a_quantity_as_text_or_number() {
    for (value, expected) in [
        (json!("250m"), Some("250m")),
        (json!(" 1 "), Some("1")),
        (json!(2), Some("2")),
        (json!(0.5), Some("500m")),
        (json!(1e21), Some("1e+21")),
        (json!(null), Some("0")),
        (json!(true), None),
        (json!([]), None),
        (json!({}), None),
    ] {
        let read = Quantity::from_json(&value).ok().map(|quantity| quantity.to_string());
        assert_eq!(read.as_deref(), expected, "{value}");
    }
}

#[test]
fn lists_of_resources_are_kept_in_thousandths() {
    for (text, expected) in [
        ("1n", "1m"),
        ("-1n", "-1m"),
        ("100.1m", "101m"),
        ("1.500", "1.500"),
        ("1.1Ki", "1126400m"),
        ("1Gi", "1Gi"),
    ] {
        let quantity = Quantity::parse(text).unwrap();
        assert_eq!(quantity.rounded_up_to_thousandths().to_string(), expected, "{text}");
        assert!(quantity.is_negative() || quantity.rounded_up_to_thousandths() >= quantity);
    }
    assert!(Quantity::parse("1e3").unwrap().is_integer());
    assert!(!Quantity::parse("1.5").unwrap().is_integer());
}

proptest! {
    #[test]
    fn what_is_printed_reads_as_the_same_amount(text in "[+-]?[0-9]{0,20}(\\.[0-9]{0,12})?(n|u|m|k|M|G|T|P|Ki|Mi|Gi|Ti|Pi|Ei|e[0-9]|E-[0-9])?") {
        if let Ok(quantity) = Quantity::parse(&text) {
            let canonical = Quantity { spelling: None, ..quantity.clone() };
            // Beyond E Go prints another number.
            prop_assume!(quantity < Quantity::parse("1000E").unwrap() && quantity > Quantity::parse("-1000E").unwrap());
            prop_assert_eq!(&Quantity::parse(&canonical.to_string()).unwrap(), &quantity, "{}", canonical);
            prop_assert_eq!(&Quantity::parse(&quantity.to_string()).unwrap(), &quantity);
        }
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,12}|[-+.0-9eEinumkKMGTP]{0,24}") {
        let _ = Quantity::parse(&text);
    }
}
