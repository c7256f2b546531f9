//! Words that many objects share, such as the status of a condition.

use crate::model::null::TextOrNull;
use serde::Deserializer;
use std::borrow::Cow;
use std::convert::Infallible;

/// The words that the API server writes most often.
const COMMON: &[&str] = &[
    "True",
    "False",
    "Ready",
    "Running",
    "Unknown",
    "Pending",
    "Succeeded",
    "Failed",
    "MemoryPressure",
    "DiskPressure",
    "PIDPressure",
    "NetworkUnavailable",
];

/// A word, empty for null, which is not kept once for each object if it is a common one: the pods of a large cluster are read faster than the memory
/// gives their strings.
pub(crate) fn word<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Cow<'static, str>, D::Error> {
    let read = |text: &str| {
        let common = COMMON.iter().find(|word| **word == text);
        Ok::<_, Infallible>(common.map_or_else(|| Cow::Owned(text.to_owned()), |word| Cow::Borrowed(*word)))
    };
    let word = deserializer.deserialize_option(TextOrNull { expected: "a string", read })?;
    Ok(word.unwrap_or_default())
}
