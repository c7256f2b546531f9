//! Limits that are a number of nodes or a percentage of the target nodes.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::fmt;
use thiserror::Error;

/// An absolute number, or a percentage of the target nodes.
///
/// In JSON an integer from 0 to 2147483647 or a string `N%` with the same range and nothing but digits before the
/// sign. More than 100 % is arithmetic here; refusing it is the API server's validation
/// (v1.36 `apimachinery/pkg/util/intstr`).
///
/// ```
/// use daemonset::model::IntOrString;
/// use serde_json::{from_value, json};
///
/// let limit: IntOrString = from_value(json!("10%"))?;
/// assert_eq!(limit, IntOrString::Percent(10));
/// // Percentages round up.
/// assert_eq!([0, 1, 10, 11].map(|nodes| limit.scaled(nodes)), [0, 1, 1, 2]);
/// assert_eq!(IntOrString::Int(3).scaled(1), 3);
/// assert!(IntOrString::from_json(&json!("-1%")).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the name says all there is")]
pub enum IntOrString {
    /// A number of nodes.
    Int(u32),
    /// A percentage of the target nodes.
    Percent(u32),
}

/// A value that is not an [`IntOrString`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("Invalid value: {found}: {MUST_BE}")]
#[non_exhaustive]
pub struct InvalidIntOrString {
    /// The JSON that was found.
    pub found: String,
}

/// The valid values.
pub const MUST_BE: &str = "must be an integer from 0 to 2147483647 or a percentage such as \"10%\"";

const LARGEST: u32 = i32::MAX as u32;

impl IntOrString {
    /// The number of nodes that it means when there are `total` of them; percentages round up
    /// (v1.36 `GetScaledValueFromIntOrPercent` with `roundUp`). Saturates at `u32::MAX`.
    #[inline]
    pub fn scaled(self, total: u32) -> u32 {
        match self {
            IntOrString::Int(number) => number,
            IntOrString::Percent(percent) => {
                let scaled = (u64::from(percent) * u64::from(total)).div_ceil(100);
                u32::try_from(scaled).unwrap_or(u32::MAX)
            }
        }
    }

    /// Whether it is 0 or 0 %, and so 0 for any number of nodes.
    #[inline]
    pub fn is_zero(self) -> bool {
        matches!(self, IntOrString::Int(0) | IntOrString::Percent(0))
    }

    /// Whether it can be written as JSON.
    #[doc(hidden)]
    pub fn is_in_range(self) -> bool {
        let (IntOrString::Int(number) | IntOrString::Percent(number)) = self;
        number <= LARGEST
    }

    /// Reads one from JSON.
    ///
    /// # Errors
    /// Anything but an integer from 0 to 2147483647 and `N%`.
    pub fn from_json(value: &Value) -> Result<Self, InvalidIntOrString> {
        let parsed = match value {
            Value::Number(number) => integer(&number.to_string()).map(IntOrString::Int),
            Value::String(text) => text.strip_suffix('%').and_then(integer).map(IntOrString::Percent),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        parsed.ok_or_else(|| InvalidIntOrString { found: value.to_string() })
    }
}

/// Digits only: Rust's own parser would take a sign.
fn integer(digits: &str) -> Option<u32> {
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok().filter(|number| *number <= LARGEST)
}

impl fmt::Display for IntOrString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IntOrString::Int(number) => write!(f, "{number}"),
            IntOrString::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

impl Serialize for IntOrString {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            IntOrString::Int(number) => serializer.serialize_u32(*number),
            IntOrString::Percent(_) => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for IntOrString {
    // By way of `Value`: with serde_json's `arbitrary_precision` a visitor would get a map for a number.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        IntOrString::from_json(&value).map_err(D::Error::custom)
    }
}
