//! Words that many objects share, such as the status of a condition.

use serde::de::Visitor;
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::fmt;

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

/// A word, which is not kept once for each object if it is a common one: the pods of a large cluster are read faster than the memory
/// gives their strings.
pub(crate) fn word<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Cow<'static, str>, D::Error> {
    struct Word;

    impl Visitor<'_> for Word {
        type Value = Cow<'static, str>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string")
        }

        fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
            let common = COMMON.iter().find(|word| **word == text);
            Ok(common.map_or_else(|| Cow::Owned(text.to_owned()), |word| Cow::Borrowed(*word)))
        }
    }

    /// Null is an empty word.
    struct Found(Cow<'static, str>);

    impl<'de> Deserialize<'de> for Found {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserializer.deserialize_str(Word).map(Found)
        }
    }

    Ok(Option::<Found>::deserialize(deserializer)?.map_or(Cow::Borrowed(""), |Found(word)| word))
}
