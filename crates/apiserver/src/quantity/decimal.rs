//! Exact decimal numbers of any length.

use std::cmp::Ordering;

/// A number as sign, digits and a power of ten. One form for each number: the first and the last digit are not 0;
/// zero has no digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Decimal {
    negative: bool,
    /// Values from 0 to 9, the most significant first.
    digits: Vec<u8>,
    exponent: i64,
}

impl Decimal {
    /// From ASCII digits, times ten to `exponent`; other bytes are skipped.
    pub(super) fn new(negative: bool, digits: impl IntoIterator<Item = u8>, exponent: i64) -> Self {
        let values =
            digits.into_iter().filter(u8::is_ascii_digit).map(|digit| digit - b'0').skip_while(|d| *d == 0);
        Self::of_values(negative, values.collect(), exponent)
    }

    /// `digits` has no zeros in front.
    fn of_values(negative: bool, mut digits: Vec<u8>, mut exponent: i64) -> Self {
        while digits.last() == Some(&0) {
            digits.pop();
            exponent = exponent.saturating_add(1);
        }
        if digits.is_empty() {
            return Decimal { negative: false, digits, exponent: 0 };
        }
        Decimal { negative, digits, exponent }
    }

    pub(super) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    pub(super) fn is_negative(&self) -> bool {
        self.negative
    }

    pub(super) fn is_multiple_of_ten_to(&self, exponent: i64) -> bool {
        self.is_zero() || self.exponent >= exponent
    }

    pub(super) fn times_ten_to(&self, power: i64) -> Self {
        Self::of_values(self.negative, self.digits.clone(), self.exponent.saturating_add(power))
    }

    pub(super) fn times_two_to(&self, power: u32) -> Self {
        let factor = 1_u128 << power;
        let mut carry = 0_u128;
        let mut reversed: Vec<u8> = Vec::with_capacity(self.digits.len() + 20);
        for digit in self.digits.iter().rev() {
            let product = u128::from(*digit) * factor + carry;
            reversed.push((product % 10) as u8);
            carry = product / 10;
        }
        while carry > 0 {
            reversed.push((carry % 10) as u8);
            carry /= 10;
        }
        reversed.reverse();
        Self::of_values(self.negative, reversed, self.exponent)
    }

    /// The next multiple of ten to `exponent`, away from zero.
    pub(super) fn rounded_up_to(&self, exponent: i64) -> Self {
        if self.is_multiple_of_ten_to(exponent) {
            return self.clone();
        }
        let dropped = usize::try_from(exponent.saturating_sub(self.exponent)).unwrap_or(usize::MAX);
        let kept = self.digits.len().saturating_sub(dropped);
        // The last digit is never 0, so the dropped digits are never all 0: the number always rounds up.
        let mut digits: Vec<u8> = self.digits.iter().copied().take(kept).collect();
        let nines = digits.iter().rev().take_while(|digit| **digit == 9).count();
        digits.truncate(kept - nines);
        match digits.last_mut() {
            Some(last) => *last += 1,
            None => digits.push(1),
        }
        let nines = i64::try_from(nines).unwrap_or(i64::MAX);
        Self::of_values(self.negative, digits, exponent.saturating_add(nines))
    }

    /// The largest `int64`, or its negative, if it is beyond that (v1.36 math.go maxAllowed).
    pub(super) fn capped(self) -> Self {
        let largest = Decimal::new(false, i64::MAX.to_string().bytes(), 0);
        match self.cmp_size(&largest) {
            Ordering::Less | Ordering::Equal => self,
            Ordering::Greater => Decimal { negative: self.negative, ..largest },
        }
    }

    /// `None` if it has decimals or does not fit.
    pub(super) fn to_integer(&self) -> Option<i128> {
        let unit = 10_i128.checked_pow(u32::try_from(self.exponent).ok()?)?;
        let size = self.digits.iter().try_fold(0_i128, |sum, digit| {
            sum.checked_mul(10).and_then(|sum| sum.checked_add(i128::from(*digit)))
        })?;
        let size = size.checked_mul(unit)?;
        Some(if self.negative { -size } else { size })
    }

    /// The sum; `None` if it does not fit into 128 bits.
    pub(super) fn plus(&self, other: &Self) -> Option<Self> {
        let exponent = self.exponent.min(other.exponent);
        let units = |number: &Self| {
            let exponent = number.exponent.checked_sub(exponent)?;
            Decimal { exponent, ..number.clone() }.to_integer()
        };
        let sum = units(self)?.checked_add(units(other)?)?;
        Some(Self::new(sum < 0, sum.unsigned_abs().to_string().bytes(), exponent))
    }

    /// The digits of an integer and a power of ten to multiply it by, the largest possible multiple of three.
    pub(super) fn in_thousands(&self) -> (String, i64) {
        let zeros = self.exponent.rem_euclid(3);
        let sign = if self.negative { "-" } else { "" };
        let digits = self.digits.iter().map(|digit| char::from(digit + b'0'));
        let text = sign.chars().chain(digits).chain((0..zeros).map(|_| '0')).collect();
        (text, self.exponent.saturating_sub(zeros))
    }

    fn cmp_size(&self, other: &Self) -> Ordering {
        self.first_digit_counts()
            .cmp(&other.first_digit_counts())
            .then_with(|| self.digits.cmp(&other.digits))
    }

    /// The power of ten of the first digit; zero is below all.
    fn first_digit_counts(&self) -> i64 {
        if self.is_zero() {
            return i64::MIN;
        }
        self.exponent.saturating_add(i64::try_from(self.digits.len()).unwrap_or(i64::MAX))
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, false) => self.cmp_size(other),
            (true, true) => other.cmp_size(self),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }
}
