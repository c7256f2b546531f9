//! The times of objects.

use daemonset::model::Pod;
use jiff::Timestamp;
use serde_json::{Value, from_value, json};

fn read(value: Value) -> Result<Option<Timestamp>, String> {
    let pod = from_value::<Pod>(json!({"metadata": {"creationTimestamp": value}}));
    pod.map(|pod| pod.metadata.creation_timestamp).map_err(|error| error.to_string())
}

#[test]
fn every_time_of_rfc_3339_is_read() {
    assert_eq!(read(Value::Null), Ok(None));
    assert_eq!(read(json!("1970-01-01T00:00:01Z")), Ok(Some(Timestamp::new(1, 0).unwrap())));
    assert_eq!(read(json!("0001-01-01T00:00:00Z")).map(|time| time.is_some()), Ok(true));
    for late in ["9999-12-31T23:59:59Z", "9999-12-31T23:59:59.999999999-12:00"] {
        assert_eq!(read(json!(late)), Ok(Some(Timestamp::MAX)), "{late}");
    }
    assert_eq!(
        read(json!("10000-01-01T23:58:59Z")),
        Ok(Some(Timestamp::MAX)),
        "as a server sends 9999-12-31 of the west"
    );
    assert_eq!(
        read(json!("-0001-12-31T00:01:00Z")),
        Ok(Some(Timestamp::MIN)),
        "as it sends the year 0 of the east"
    );
    let before = read(json!("9999-12-30T21:59:59Z")).unwrap().unwrap();
    assert!(before < Timestamp::MAX);
}

#[test]
fn nothing_else_is() {
    let forms = [
        "9999-12-31",
        "9999-12-31T23:59:59",
        "10000-01-01",
        "-1-01-01T00:00:00Z",
        "x0000-01-01T00:00:00Z",
        "yesterday",
        "",
    ];
    for wrong in forms.map(|text| json!(text)).into_iter().chain([json!(5)]) {
        assert!(read(wrong.clone()).is_err(), "{wrong}");
    }
}
