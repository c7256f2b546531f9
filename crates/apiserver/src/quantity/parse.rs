//! Parsing a quantity (v1.36 `apimachinery/pkg/api/resource` quantity.go ParseQuantity).

use super::decimal::Decimal;
use super::{Quantity, QuantityError, QuantityFormat};
use daemonset_objects::internal::quantity::{QuantityText, QuantityUnit};

/// The smallest amount: a billionth.
const NANO: i32 = -9;
/// The number of decimal digits that surely fit into an `int64` (v1.36 math.go maxInt64Factors).
const MAX_DIGITS: usize = 18;
/// As [`MAX_DIGITS`], for an amount that will be multiplied by a binary unit.
const MAX_BINARY_DIGITS: usize = 14;

pub(super) fn quantity(text: &str) -> Result<Quantity, QuantityError> {
    let parts = QuantityText::split(text).ok_or(QuantityError::Form)?;
    // An exponent beyond 32 bits wraps around, as in Go.
    match parts.unit().ok_or(QuantityError::Suffix)? {
        QuantityUnit::PowerOfTwo(power) => binary(text, parts, power),
        QuantityUnit::PowerOfTen(power) => decimal(text, parts, power as i32, QuantityFormat::DecimalSi),
        QuantityUnit::Exponent(power) => decimal(text, parts, power as i32, QuantityFormat::DecimalExponent),
    }
}

fn decimal(
    text: &str,
    parts: QuantityText<'_>,
    power: i32,
    format: QuantityFormat,
) -> Result<Quantity, QuantityError> {
    let digits = parts.whole.len() + parts.decimals.len();
    let scale = power.wrapping_sub(i32::try_from(parts.decimals.len()).unwrap_or(i32::MAX));
    let fits_int64 = digits <= MAX_DIGITS && scale >= NANO;
    if !fits_int64 && !parts.has_digits {
        return Err(QuantityError::Number);
    }
    // Go keeps the text where a quick look shows that no larger unit could spell the amount: the exponent is a
    // multiple of three, and fewer than three zeros end the digits. The look is not exact: `1.500` is kept, too,
    // although `1500m` is canonical.
    let ends_in_zeros = parts.digits().rev().take_while(|digit| *digit == b'0').count() >= 3;
    let keeps_its_spelling =
        fits_int64 && scale % 3 == 0 && !ends_in_zeros && parts.digits().next() != Some(b'0');
    let amount =
        Decimal::new(parts.is_negative, parts.digits(), i64::from(scale)).rounded_up_to(i64::from(NANO));
    Ok(Quantity { amount, format, spelling: keeps_its_spelling.then(|| text.to_owned()) })
}

fn binary(text: &str, parts: QuantityText<'_>, power: u32) -> Result<Quantity, QuantityError> {
    let digits_of_unit = (power * 3 / 10) as usize;
    let fits_int64 = parts.decimals.is_empty() && parts.whole.len() + digits_of_unit <= MAX_BINARY_DIGITS;
    if !fits_int64 && !parts.has_digits {
        return Err(QuantityError::Number);
    }
    // Likewise for binary units: an amount that is no multiple of 8 is none of 1024, so no larger unit could spell it.
    let is_multiple_of_8 = parts.whole.parse::<u64>().is_ok_and(|whole| whole % 8 == 0);
    let decimals = i64::try_from(parts.decimals.len()).unwrap_or(i64::MAX);
    let amount = Decimal::new(parts.is_negative, parts.digits(), -decimals)
        .times_two_to(power)
        .rounded_up_to(i64::from(NANO))
        .capped();
    let spelling = (fits_int64 && !is_multiple_of_8).then(|| text.to_owned());
    Ok(Quantity { amount, format: QuantityFormat::BinarySi, spelling })
}
