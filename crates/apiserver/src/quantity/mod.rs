//! Amounts of resources as Kubernetes writes them: `250m`, `1.5Gi`, `1e3`; equal by value, however they are spelled.

mod decimal;
mod parse;
#[cfg(test)]
mod tests;

use crate::go::go_text;
use daemonset_objects::internal::quantity::{BINARY_UNITS, DECIMAL_UNITS};
use decimal::Decimal;
use serde_json::Value;
use std::cmp::Ordering;
use std::fmt;
use thiserror::Error;

/// An amount of a resource (v1.36 `apimachinery/pkg/api/resource` quantity.go Quantity).
///
/// The amount is exact at any size, never a float. Two spellings of one amount are equal. `Display` prints the
/// canonical form of the API server: in the largest unit that needs no decimals, within the family of units (`Mi`,
/// `M`, `e6`) that it was written in. Amounts are rounded up to a billionth.
///
/// ```
/// use daemonset_apiserver::quantity::Quantity;
///
/// let memory = Quantity::parse("1536Mi")?;
/// assert_eq!(memory, Quantity::parse("1.5Gi")?);
/// assert_eq!(memory.units(), 1_610_612_736);
/// assert_eq!(Quantity::parse("0.5")?.to_string(), "500m");
/// # Ok::<(), daemonset_apiserver::quantity::QuantityError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Quantity {
    amount: Decimal,
    format: QuantityFormat,
    /// The text as read, if Go's fast path keeps it, though it may not be canonical: `1.500`, `+5Mi`.
    spelling: Option<String>,
}

/// The family of units that a quantity prints with (v1.36 quantity.go Format).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum QuantityFormat {
    BinarySi,
    DecimalSi,
    DecimalExponent,
}

/// Why a text is no quantity. Prints as Go does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum QuantityError {
    /// The text does not have the form of a quantity.
    #[error("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")]
    Form,
    /// The number before the suffix is unreadable.
    #[error("unable to parse numeric part of quantity")]
    Number,
    /// The suffix is unknown.
    #[error("unable to parse quantity's suffix")]
    Suffix,
}

impl Quantity {
    /// Parses a quantity (v1.36 quantity.go ParseQuantity).
    ///
    /// # Errors
    /// See [`QuantityError`].
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        parse::quantity(text)
    }

    /// Parses a quantity from JSON: a string, a number, or null, which is 0 (v1.36 quantity.go UnmarshalJSON).
    ///
    /// # Errors
    /// See [`QuantityError`]; [`QuantityError::Form`] for any other JSON type.
    pub fn from_json(value: &Value) -> Result<Self, QuantityError> {
        match value {
            Value::String(text) => Self::parse(text.trim()),
            Value::Number(number) => Self::parse(&go_text(number)),
            Value::Null => Self::parse("0"),
            Value::Bool(_) | Value::Array(_) | Value::Object(_) => Err(QuantityError::Form),
        }
    }

    /// Whether the amount is 0.
    pub fn is_zero(&self) -> bool {
        self.amount.is_zero()
    }

    /// Whether the amount is below 0.
    pub fn is_negative(&self) -> bool {
        self.amount.is_negative()
    }

    /// Whether it is a whole number.
    pub(crate) fn is_integer(&self) -> bool {
        self.amount.is_multiple_of_ten_to(0)
    }

    /// The amount in whole units, rounded away from zero (v1.36 quantity.go Value); `None` if it does not fit.
    pub(crate) fn to_whole(&self) -> Option<i128> {
        self.amount.rounded_up_to(0).to_integer()
    }

    /// The amount rounded away from zero to thousandths, as the API server does in resource lists (v1.36 core/v1
    /// defaults.go SetDefaults_ResourceList).
    pub(crate) fn rounded_up_to_thousandths(&self) -> Self {
        if self.amount.is_multiple_of_ten_to(-3) {
            return self.clone();
        }
        Quantity { amount: self.amount.rounded_up_to(-3), format: self.format, spelling: None }
    }

    /// The sum, in the format of the first amount unless that is 0 (v1.36 quantity.go Add). A sum that does not fit
    /// leaves the first amount unchanged.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        let format = if self.is_zero() { other.format } else { self.format };
        let amount = self.amount.plus(&other.amount).unwrap_or_else(|| self.amount.clone());
        Quantity { amount, format, spelling: None }
    }

    /// The amount in whole units, rounded away from zero; 0 if it is no `int64` (v1.36 quantity.go Value).
    pub fn units(&self) -> i64 {
        Self::int64(&self.amount)
    }

    /// The amount in thousandths, rounded away from zero; 0 if it is no `int64` (v1.36 quantity.go MilliValue).
    pub fn thousandths(&self) -> i64 {
        Self::int64(&self.amount.times_ten_to(3))
    }

    fn int64(amount: &Decimal) -> i64 {
        amount.rounded_up_to(0).to_integer().and_then(|amount| i64::try_from(amount).ok()).unwrap_or(0)
    }

    /// The canonical form (v1.36 quantity.go CanonicalizeBytes).
    ///
    /// It has no decimals and the largest unit that allows this, so that one amount has one spelling within its
    /// family of units. Binary units exist for whole numbers of at least 1024 only; smaller or fractional amounts of
    /// that family therefore print with decimal units, as Go prints them.
    fn canonical(&self) -> String {
        if self.is_zero() {
            return "0".to_owned();
        }
        match self.format {
            QuantityFormat::BinarySi => self.in_units_of_1024().unwrap_or_else(|| self.in_units_of_1000()),
            QuantityFormat::DecimalSi => self.in_units_of_1000(),
            QuantityFormat::DecimalExponent => match self.amount.in_thousands() {
                (digits, 0) => digits,
                (digits, exponent) => format!("{digits}e{exponent}"),
            },
        }
    }

    /// `None` for a fraction or an amount below 1024, which has no binary unit.
    fn in_units_of_1024(&self) -> Option<String> {
        let mut amount = self.amount.to_integer().filter(|amount| amount.unsigned_abs() >= 1024)?;
        let mut unit = "";
        for (_, larger) in BINARY_UNITS {
            if amount % 1024 != 0 {
                break;
            }
            amount /= 1024;
            unit = larger;
        }
        Some(format!("{amount}{unit}"))
    }

    /// Beyond `E` Go prints no unit, which gives another number; the API server stores that number.
    fn in_units_of_1000(&self) -> String {
        let (digits, exponent) = self.amount.in_thousands();
        let unit = DECIMAL_UNITS.iter().find(|(known, _)| *known == exponent).map_or("", |(_, unit)| unit);
        format!("{digits}{unit}")
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.spelling {
            Some(spelling) => f.write_str(spelling),
            None => f.write_str(&self.canonical()),
        }
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.amount == other.amount
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        self.amount.cmp(&other.amount)
    }
}
