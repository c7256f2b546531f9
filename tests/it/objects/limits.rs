//! Limits: numbers of nodes, and percentages of them.

use daemonset::model::IntOrString;
use serde_json::json;

#[test]
fn takes_integers_and_percentages() {
    for (value, expected) in [
        (json!(0), IntOrString::Int(0)),
        (json!(2_147_483_647), IntOrString::Int(2_147_483_647)),
        (json!("0%"), IntOrString::Percent(0)),
        (json!("150%"), IntOrString::Percent(150)),
        (json!("2147483647%"), IntOrString::Percent(2_147_483_647)),
    ] {
        assert_eq!(serde_json::from_value::<IntOrString>(value.clone()).unwrap(), expected);
        assert_eq!(serde_json::to_value(expected).unwrap(), value);
    }
}

#[test]
fn refuses_everything_else() {
    for value in [
        json!(2_147_483_648_u64),
        json!(-1),
        json!(1.5),
        json!(5.0),
        json!("5"),
        json!("%"),
        json!(""),
        json!("1.5%"),
        json!(" 5%"),
        json!("5 %"),
        json!("+5%"),
        json!("-5%"),
        json!("5%%"),
        json!("٥%"),
        json!("99999999999%"),
        json!(true),
        json!([1]),
        json!({}),
    ] {
        let error = serde_json::from_value::<IntOrString>(value.clone()).unwrap_err().to_string();
        assert!(error.contains(&format!("Invalid value: {value}")), "{value}: {error}");
    }
    assert!(serde_json::from_str::<IntOrString>("-0").is_err());
    assert!(serde_json::from_str::<IntOrString>("1e2").is_err());
    assert_eq!(serde_json::from_str::<Option<IntOrString>>("null").unwrap(), None);
}

#[test]
fn percentages_round_up() {
    for (percent, total, expected) in
        [(1, 1, 1), (10, 15, 2), (33, 3, 1), (34, 3, 2), (100, 7, 7), (150, 3, 5), (0, 9, 0), (50, 0, 0)]
    {
        assert_eq!(IntOrString::Percent(percent).scaled(total), expected, "{percent}% of {total}");
    }
    assert_eq!(IntOrString::Percent(u32::MAX).scaled(u32::MAX), u32::MAX);
}
