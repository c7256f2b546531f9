//! Null in Kubernetes' JSON, and the fields that are left out.

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use std::fmt;

/// Reads `null` as the type's default, as Kubernetes' own decoder does.
///
/// # Errors
/// As the type's own.
pub fn null_is_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// For `skip_serializing_if`: leaves out the fields that Kubernetes marks `omitempty`.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Reads a text without a copy of it, or `null`.
pub(crate) struct TextOrNull<R> {
    /// For the error about a value of another type.
    pub(crate) expected: &'static str,
    pub(crate) read: R,
}

impl<'de, T, E: fmt::Display, R: FnOnce(&str) -> Result<T, E>> Visitor<'de> for TextOrNull<R> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_none<F>(self) -> Result<Self::Value, F> {
        Ok(None)
    }

    fn visit_unit<F>(self) -> Result<Self::Value, F> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }

    fn visit_str<F: Error>(self, text: &str) -> Result<Self::Value, F> {
        (self.read)(text).map(Some).map_err(F::custom)
    }
}
