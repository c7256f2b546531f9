//! Times in the API server's form.

use crate::model::null::TextOrNull;
use jiff::Timestamp;
use jiff::fmt::temporal::Pieces;
use serde::Deserializer;

/// The last year of RFC 3339.
const LAST_YEAR: i16 = 9999;

/// Reads a time, or `null` as `None`.
///
/// [`Timestamp`] ends a day and a half before the end of the year 9999. Later times are read as its last instant, and times
/// before the year 0 as its first: a user who may write a pod's status may write them, and one such pod must not make a list of
/// all pods unreadable. An API server that gets `9999-12-31T23:59:59-23:59` sends `10000-01-01T23:58:59Z`.
pub(crate) fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    let read =
        |text: &str| text.parse().or_else(|error| last(text).or_else(|| of_another_era(text)).ok_or(error));
    deserializer.deserialize_option(TextOrNull { expected: "a time such as 2026-01-01T00:00:00Z", read })
}

/// The last instant, if the text is a time of the last year that is too late for [`Timestamp`].
fn last(text: &str) -> Option<Timestamp> {
    let pieces = Pieces::parse(text).ok()?;
    (pieces.date().year() == LAST_YEAR && pieces.time().is_some() && pieces.offset().is_some())
        .then_some(Timestamp::MAX)
}

/// The first or last instant, for a year that has a sign or more than four digits.
fn of_another_era(text: &str) -> Option<Timestamp> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (year, rest) = unsigned.split_once('-')?;
    let is_year = year.len() >= 4 && year.bytes().all(|byte| byte.is_ascii_digit());
    if !is_year || !has_rfc3339_form(format!("0000-{rest}").as_bytes()) {
        return None;
    }
    match (text.len() > unsigned.len(), year.len() > 4) {
        (true, _) => Some(Timestamp::MIN),
        (false, true) => Some(Timestamp::MAX),
        (false, false) => None,
    }
}

/// Reads an instant in the form of RFC 3339, with an offset; `None` for anything else, other forms of ISO 8601 included.
pub fn rfc3339(text: &str) -> Option<Timestamp> {
    if !has_rfc3339_form(text.as_bytes()) {
        return None;
    }
    text.parse().ok().or_else(|| last(text))
}

/// `YYYY-MM-DDThh:mm:ss`, a fraction perhaps, and `Z` or an offset.
fn has_rfc3339_form(text: &[u8]) -> bool {
    let matches = |text: &[u8], form: &[u8]| {
        let is_in_place = |(byte, wanted): (&u8, &u8)| match wanted {
            b'0' => byte.is_ascii_digit(),
            other => byte == other,
        };
        text.len() == form.len() && text.iter().zip(form).all(is_in_place)
    };
    let Some((date_time, rest)) = text.split_at_checked(19) else { return false };
    let offset = match rest.split_first() {
        Some((b'.', fraction)) => {
            let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
            fraction.get(digits..).filter(|_| digits > 0)
        }
        _ => Some(rest),
    };
    let is_offset =
        |offset: &[u8]| [&b"Z"[..], b"+00:00", b"-00:00"].iter().any(|form| matches(offset, form));
    matches(date_time, b"0000-00-00T00:00:00") && offset.is_some_and(is_offset)
}
