//! Null in Kubernetes' JSON.

use serde::{Deserialize, Deserializer};

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
