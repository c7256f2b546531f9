//! Parsing a quantity: sign, digits, unit (v1.36 `apimachinery/pkg/api/resource` quantity.go ParseQuantity).

use super::decimal::{Decimal, Sign};
use super::{BINARY_UNITS, DECIMAL_UNITS, Format, Quantity, QuantityError};

/// The letters that Go accepts as a unit before it looks the unit up.
const UNIT_LETTERS: &str = "eEinumkKMGTP";
/// The smallest amount: a billionth.
const NANO: i32 = -9;
/// The number of decimal digits that surely fit into an `int64` (v1.36 math.go maxInt64Factors).
const MAX_DIGITS: usize = 18;
/// As [`MAX_DIGITS`], for an amount that will be multiplied by a binary unit.
const MAX_BINARY_DIGITS: usize = 14;

/// The parts of a quantity's text.
struct Parts<'a> {
    sign: Sign,
    /// The digits before the point, without leading zeros; "0" if there are no others.
    whole: &'a str,
    decimals: &'a str,
    unit: &'a str,
    /// Whether the text has a digit. Go's fast path reads "Mi" and "." as 0; only its slow path reports them.
    has_digits: bool,
}

enum Unit {
    PowerOfTwo(u32),
    PowerOfTen(i32, Format),
}

pub(super) fn quantity(text: &str) -> Result<Quantity, QuantityError> {
    let parts = split(text)?;
    match unit(parts.unit)? {
        Unit::PowerOfTwo(power) => binary(text, &parts, power),
        Unit::PowerOfTen(power, format) => decimal(text, &parts, power, format),
    }
}

fn split(text: &str) -> Result<Parts<'_>, QuantityError> {
    if text.is_empty() {
        return Err(QuantityError::Form);
    }
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (Sign::Negative, rest),
        None => (Sign::Positive, text.strip_prefix('+').unwrap_or(text)),
    };
    let (zeros, rest) = leading(unsigned, |c| c == '0');
    let (whole, rest) = leading(rest, |c| c.is_ascii_digit());
    let (decimals, unit) = match rest.strip_prefix('.') {
        Some(rest) => leading(rest, |c| c.is_ascii_digit()),
        None => ("", rest),
    };
    let after_letters = unit.trim_start_matches(|c| UNIT_LETTERS.contains(c));
    let exponent = after_letters.strip_prefix(['-', '+']).unwrap_or(after_letters);
    if !exponent.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(QuantityError::Form);
    }
    let has_digits = !(zeros.is_empty() && whole.is_empty() && decimals.is_empty());
    Ok(Parts { sign, whole: if whole.is_empty() { "0" } else { whole }, decimals, unit, has_digits })
}

fn leading(text: &str, belongs: impl Fn(char) -> bool) -> (&str, &str) {
    let end = text.find(|c| !belongs(c)).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// v1.36 suffix.go interpret. An exponent beyond 32 bits wraps around, as in Go.
fn unit(text: &str) -> Result<Unit, QuantityError> {
    if let Some((power, _)) = DECIMAL_UNITS.iter().find(|(_, unit)| *unit == text) {
        return Ok(Unit::PowerOfTen(*power as i32, Format::DecimalSi));
    }
    if let Some((power, _)) = BINARY_UNITS.iter().find(|(_, unit)| *unit == text) {
        return Ok(Unit::PowerOfTwo(*power));
    }
    let exponent: i64 = text
        .strip_prefix(['e', 'E'])
        .and_then(|exponent| exponent.parse().ok())
        .ok_or(QuantityError::Suffix)?;
    Ok(Unit::PowerOfTen(exponent as i32, Format::DecimalExponent))
}

fn decimal(text: &str, parts: &Parts<'_>, power: i32, format: Format) -> Result<Quantity, QuantityError> {
    let digits = parts.whole.len() + parts.decimals.len();
    let scale = power.wrapping_sub(i32::try_from(parts.decimals.len()).unwrap_or(i32::MAX));
    let fits_int64 = digits <= MAX_DIGITS && scale >= NANO;
    if !fits_int64 && !parts.has_digits {
        return Err(QuantityError::Number);
    }
    // Go keeps the text where a quick look shows that no larger unit could spell the amount: the exponent is a
    // multiple of three, and fewer than three zeros end the digits. The look is not exact: `1.500` is kept, too,
    // although `1500m` is canonical.
    let ends_in_zeros = parts.bytes().rev().take_while(|digit| *digit == b'0').count() >= 3;
    let keeps_its_spelling =
        fits_int64 && scale % 3 == 0 && !ends_in_zeros && parts.bytes().next() != Some(b'0');
    let amount = Decimal::new(parts.sign, parts.bytes(), i64::from(scale)).rounded_up_to(i64::from(NANO));
    Ok(Quantity { amount, format, spelling: keeps_its_spelling.then(|| text.to_owned()) })
}

fn binary(text: &str, parts: &Parts<'_>, power: u32) -> Result<Quantity, QuantityError> {
    let digits_of_unit = (power * 3 / 10) as usize;
    let fits_int64 = parts.decimals.is_empty() && parts.whole.len() + digits_of_unit <= MAX_BINARY_DIGITS;
    if !fits_int64 && !parts.has_digits {
        return Err(QuantityError::Number);
    }
    // Likewise for binary units: an amount that is no multiple of 8 is none of 1024, so no larger unit could spell it.
    let is_multiple_of_8 = parts.whole.parse::<u64>().is_ok_and(|whole| whole % 8 == 0);
    let decimals = i64::try_from(parts.decimals.len()).unwrap_or(i64::MAX);
    let amount = Decimal::new(parts.sign, parts.bytes(), -decimals)
        .times_two_to(power)
        .rounded_up_to(i64::from(NANO))
        .capped();
    let spelling = (fits_int64 && !is_multiple_of_8).then(|| text.to_owned());
    Ok(Quantity { amount, format: Format::BinarySi, spelling })
}

impl<'a> Parts<'a> {
    fn bytes(&self) -> impl DoubleEndedIterator<Item = u8> + use<'a> {
        self.whole.bytes().chain(self.decimals.bytes())
    }
}
