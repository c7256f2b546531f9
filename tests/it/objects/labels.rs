//! Packed labels.

use daemonset::model::Labels;
use serde_json::json;
use std::collections::BTreeMap;

#[test]
fn it_is_a_map_of_strings() {
    let json = json!({"b": "2", "a": "", "": "empty", "ab": "3", "é\u{0}": "ß"});
    let labels: Labels = serde_json::from_value(json.clone()).unwrap();
    let map: BTreeMap<String, String> = serde_json::from_value(json.clone()).unwrap();
    assert_eq!(serde_json::to_value(&labels).unwrap(), json);
    assert!(labels.iter().eq(map.iter().map(|(k, v)| (k.as_str(), v.as_str()))));
    for (key, value) in &map {
        assert_eq!(labels.get(key), Some(value.as_str()));
    }
    for absent in ["c", "aa", "b2", "2", "a b"] {
        assert_eq!(labels.get(absent), None, "{absent}");
    }
    assert_eq!((labels.len(), labels.is_empty()), (5, false));
    assert_eq!(labels, map.iter().rev().collect());
    let of = |key: &str, value: &str| Labels::from_iter([(key, value)]);
    assert_ne!(of("a", "bc"), of("ab", "c"), "the same text in other pieces");
}

#[test]
fn the_last_value_of_a_key_counts() {
    let labels: Labels = [("b", "1"), ("a", "1"), ("b", "2")].into_iter().collect();
    assert_eq!(format!("{labels:?}"), r#"{"a": "1", "b": "2"}"#);
    assert_eq!(labels.with("a", "9").get("a"), Some("9"));
    let mut more = labels.clone();
    more.extend([("c", "3"), ("a", "2")]);
    assert_eq!(format!("{more:?}"), r#"{"a": "2", "b": "2", "c": "3"}"#);
    let twice: Labels = serde_json::from_str(r#"{"a": "1", "a": null}"#).unwrap();
    assert_eq!(twice.get("a"), Some(""));
    assert!(serde_json::from_str::<Labels>(r#"{"a": 1}"#).is_err());
    assert!(serde_json::from_str::<Labels>(r#"["a"]"#).is_err());
}
