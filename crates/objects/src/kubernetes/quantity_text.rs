//! The parts of a quantity's text: sign, digits, unit (v1.36 `apimachinery/pkg/api/resource` quantity.go ParseQuantity).

/// The letters that Go accepts as a unit before it looks the unit up.
const UNIT_LETTERS: &str = "eEinumkKMGTP";

/// v1.36 suffix.go newSuffixer: units of 1000, by their exponent of 10.
pub const DECIMAL_UNITS: [(i64, &str); 10] =
    [(-9, "n"), (-6, "u"), (-3, "m"), (0, ""), (3, "k"), (6, "M"), (9, "G"), (12, "T"), (15, "P"), (18, "E")];

/// v1.36 suffix.go newSuffixer: units of 1024, by their exponent of 2.
pub const BINARY_UNITS: [(u32, &str); 6] =
    [(10, "Ki"), (20, "Mi"), (30, "Gi"), (40, "Ti"), (50, "Pi"), (60, "Ei")];

/// The parts of a quantity's text.
#[derive(Debug, Clone, Copy)]
pub struct QuantityText<'a> {
    pub is_negative: bool,
    /// The digits before the point, without leading zeros; "0" if there are no others.
    pub whole: &'a str,
    pub decimals: &'a str,
    unit: &'a str,
    /// Whether the text has a digit. Go's fast path reads "Mi" and "." as 0; only its slow path reports them.
    pub has_digits: bool,
}

/// What the digits are multiplied with.
#[derive(Debug, Clone, Copy)]
pub enum QuantityUnit {
    PowerOfTwo(u32),
    PowerOfTen(i64),
    /// A power of ten that is written as an exponent: `e3`.
    Exponent(i64),
}

impl<'a> QuantityText<'a> {
    /// `None` for a text that does not have the form of a quantity.
    pub fn split(text: &'a str) -> Option<Self> {
        if text.is_empty() {
            return None;
        }
        let (is_negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
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
            return None;
        }
        let has_digits = !(zeros.is_empty() && whole.is_empty() && decimals.is_empty());
        let whole = if whole.is_empty() { "0" } else { whole };
        Some(QuantityText { is_negative, whole, decimals, unit, has_digits })
    }

    /// `None` for an unknown one (v1.36 suffix.go interpret).
    pub fn unit(&self) -> Option<QuantityUnit> {
        if let Some((power, _)) = DECIMAL_UNITS.iter().find(|(_, unit)| *unit == self.unit) {
            return Some(QuantityUnit::PowerOfTen(*power));
        }
        if let Some((power, _)) = BINARY_UNITS.iter().find(|(_, unit)| *unit == self.unit) {
            return Some(QuantityUnit::PowerOfTwo(*power));
        }
        let exponent = self.unit.strip_prefix(['e', 'E'])?.parse().ok()?;
        Some(QuantityUnit::Exponent(exponent))
    }

    /// The digits before and after the point.
    pub fn digits(&self) -> impl DoubleEndedIterator<Item = u8> + use<'a> {
        self.whole.bytes().chain(self.decimals.bytes())
    }
}

fn leading(text: &str, belongs: impl Fn(char) -> bool) -> (&str, &str) {
    let end = text.find(|c| !belongs(c)).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}
