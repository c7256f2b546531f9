//! Times in the API server's form.

use jiff::Timestamp;
use jiff::fmt::temporal::Pieces;
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use std::fmt;

/// The last year of RFC 3339.
const LAST_YEAR: i16 = 9999;

/// Reads a time, or `null` as `None`.
///
/// [`Timestamp`] ends a day and a half before the end of the year 9999. Later times are read as its last instant: a user who
/// may write a pod's status may write them, and one such pod must not make a list of all pods unreadable.
pub(super) fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    Ok(Option::<Time>::deserialize(deserializer)?.map(|Time(time)| time))
}

struct Time(Timestamp);

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(TimeVisitor)
    }
}

struct TimeVisitor;

impl Visitor<'_> for TimeVisitor {
    type Value = Time;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time such as 2026-01-01T00:00:00Z")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Time, E> {
        text.parse().or_else(|error| last(text).ok_or(error)).map(Time).map_err(E::custom)
    }
}

/// The last instant, if the text is a time of the last year that is too late for [`Timestamp`].
fn last(text: &str) -> Option<Timestamp> {
    let pieces = Pieces::parse(text).ok()?;
    (pieces.date().year() == LAST_YEAR && pieces.time().is_some() && pieces.offset().is_some())
        .then_some(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(value: Value) -> Result<Option<Timestamp>, String> {
        time(value).map_err(|error| error.to_string())
    }

    #[test]
    fn every_time_of_rfc_3339_is_read() {
        assert_eq!(read(Value::Null), Ok(None));
        assert_eq!(read(json!("1970-01-01T00:00:01Z")), Ok(Some(Timestamp::new(1, 0).unwrap())));
        assert_eq!(read(json!("0001-01-01T00:00:00Z")).map(|time| time.is_some()), Ok(true));
        for late in ["9999-12-31T23:59:59Z", "9999-12-31T23:59:59.999999999-12:00"] {
            assert_eq!(read(json!(late)), Ok(Some(Timestamp::MAX)), "{late}");
        }
        let before = read(json!("9999-12-30T21:59:59Z")).unwrap().unwrap();
        assert!(before < Timestamp::MAX);
    }

    #[test]
    fn nothing_else_is() {
        for wrong in
            [json!("9999-12-31"), json!("9999-12-31T23:59:59"), json!("yesterday"), json!(""), json!(5)]
        {
            assert!(read(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
