//! Distributions of durations, and probabilities: parsed from text and sampled with a seeded generator.
//!
//! All arithmetic is on integers, so that the same seed gives the same bytes on every machine.

use fastrand::Rng;
use jiff::SignedDuration;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// The distribution of a duration, in milliseconds.
///
/// ```
/// use daemonset_sim::Distribution;
/// use jiff::SignedDuration;
///
/// let (median, p99) = (SignedDuration::from_secs(8), SignedDuration::from_mins(1));
/// let ready: Distribution = "8s,p99=1m".parse().unwrap();
/// assert_eq!(ready, Distribution::long_tail(median, p99));
/// assert_eq!(ready.most(), SignedDuration::from_mins(2));
/// assert_eq!("8s..8s".parse(), Ok(Distribution::fixed(median)));
/// assert!("soon".parse::<Distribution>().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Distribution {
    least: u64,
    median: u64,
    p99: u64,
    most: u64,
}

impl Distribution {
    /// Always this duration.
    pub const fn fixed(duration: SignedDuration) -> Self {
        let millis = millis(duration);
        Distribution { least: millis, median: millis, p99: millis, most: millis }
    }

    /// Every duration between the two is equally likely. The order of the two does not matter.
    pub const fn uniform(least: SignedDuration, most: SignedDuration) -> Self {
        let (a, b) = (millis(least), millis(most));
        let (least, most) = if a < b { (a, b) } else { (b, a) };
        let width = most - least;
        Distribution {
            least,
            median: least + width / 2,
            p99: least + width / 100 * 99 + width % 100 * 99 / 100,
            most,
        }
    }

    /// A distribution with a long tail: half of the samples are at most `median`, and one in a hundred is above `p99`.
    /// All samples are at least half the median and at most twice `p99`.
    pub const fn long_tail(median: SignedDuration, p99: SignedDuration) -> Self {
        let (a, b) = (millis(median), millis(p99));
        let (median, p99) = if a < b { (a, b) } else { (b, a) };
        Distribution { least: median / 2, median, p99, most: p99.saturating_mul(2) }
    }

    /// The longest duration that a sample can have.
    pub fn most(self) -> SignedDuration {
        SignedDuration::from_millis(i64::try_from(self.most).unwrap_or(i64::MAX))
    }

    pub(crate) fn sample(self, rng: &mut Rng) -> SignedDuration {
        let position = rng.u64(0..MILLION);
        let (from, to, start, end) = match position {
            0..500_000 => (0, 500_000, self.least, self.median),
            500_000..990_000 => (500_000, 990_000, self.median, self.p99),
            _ => (990_000, MILLION, self.p99, self.most),
        };
        let millis = start + (end - start) * (position - from) / (to - from);
        SignedDuration::from_millis(i64::try_from(millis).unwrap_or(i64::MAX))
    }
}

const MILLION: u64 = 1_000_000;
/// A hundred years in milliseconds: the interpolation of longer durations could overflow.
const LONGEST: u64 = 100 * 366 * 86_400_000;

const fn millis(duration: SignedDuration) -> u64 {
    let seconds = duration.as_secs();
    if seconds < 0 {
        return 0;
    }
    let millis =
        (seconds as u64).saturating_mul(1000).saturating_add(duration.subsec_millis().unsigned_abs() as u64);
    if millis > LONGEST { LONGEST } else { millis }
}

/// A text that can't be parsed as a [`Distribution`] or a [`Probability`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{text:?}: must be {must}")]
pub struct UnreadableSetting {
    text: String,
    must: &'static str,
}

/// Parses `10s` (fixed), `5s..20s` (uniform), or `8s,p99=1m` (a median with a long tail).
impl FromStr for Distribution {
    type Err = UnreadableSetting;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let must =
            "a duration such as 10s, a range such as 5s..20s, or a median with a tail such as 8s,p99=1m";
        let unreadable = || UnreadableSetting { text: text.to_owned(), must };
        let duration = |part: &str| {
            let parsed: Option<SignedDuration> = part.trim().parse().ok();
            parsed.filter(|duration| !duration.is_negative()).ok_or_else(unreadable)
        };
        if let Some((least, most)) = text.split_once("..") {
            return Ok(Distribution::uniform(duration(least)?, duration(most)?));
        }
        match text.split_once(',') {
            Some((median, tail)) => {
                let p99 = tail.trim().strip_prefix("p99=").ok_or_else(unreadable)?;
                Ok(Distribution::long_tail(duration(median)?, duration(p99)?))
            }
            None => Ok(Distribution::fixed(duration(text)?)),
        }
    }
}

/// A probability, in millionths.
///
/// ```
/// use daemonset_sim::Probability;
///
/// assert_eq!("0.01%".parse(), Ok(Probability::per_million(100)));
/// assert_eq!(Probability::percent(5).to_string(), "5%");
/// assert_eq!(Probability::percent(200), Probability::ALWAYS);
/// assert!("101%".parse::<Probability>().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Probability(u32);

impl Probability {
    /// It never happens.
    pub const NEVER: Probability = Probability(0);
    /// It always happens.
    pub const ALWAYS: Probability = Probability(1_000_000);

    /// A probability in millionths; numbers above a million count as a million.
    pub const fn per_million(millionths: u32) -> Self {
        Probability(if millionths > 1_000_000 { 1_000_000 } else { millionths })
    }

    /// A probability in percent; numbers above 100 count as 100.
    pub const fn percent(percent: u32) -> Self {
        Probability::per_million(percent.saturating_mul(10_000))
    }

    pub(crate) fn sample(self, rng: &mut Rng) -> bool {
        self != Probability::NEVER && rng.u64(0..MILLION) < u64::from(self.0)
    }
}

impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 10_000, self.0 % 10_000);
        if rest == 0 {
            return write!(f, "{whole}%");
        }
        write!(f, "{whole}.{}%", format!("{rest:04}").trim_end_matches('0'))
    }
}

/// Parses a percentage: `5%`, `0.01%`.
impl FromStr for Probability {
    type Err = UnreadableSetting;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let must = "a percentage from 0% to 100%, with up to four decimals";
        let unreadable = || UnreadableSetting { text: text.to_owned(), must };
        let number = text.trim().strip_suffix('%').ok_or_else(unreadable)?;
        let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || !digits(decimals) || decimals.len() > 4 {
            return Err(unreadable());
        }
        let millionths = format!("{whole}{decimals:0<4}").parse().map_err(|_| unreadable())?;
        if millionths > MILLION as u32 { Err(unreadable()) } else { Ok(Probability(millionths)) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::{Purpose, RandomStreams};
    use super::*;

    fn quantiles(distribution: Distribution) -> [SignedDuration; 3] {
        let mut samples: Vec<_> = (0..10_000)
            .map(|n| distribution.sample(&mut RandomStreams::new(1).stream(Purpose::Start, ["a", "b"], n)))
            .collect();
        samples.sort_unstable();
        [samples[0], samples[5_000], samples[9_900]]
    }

    #[test]
    fn samples_have_the_quantiles_of_their_distribution() {
        let seconds = SignedDuration::from_secs;
        let [least, median, p99] = quantiles(Distribution::long_tail(seconds(10), seconds(60)));
        assert!(least >= seconds(5) && least < seconds(6), "{least}");
        assert!((median - seconds(10)).abs() < seconds(1), "{median}");
        assert!((p99 - seconds(60)).abs() < seconds(5), "{p99}");
        let [least, median, p99] = quantiles(Distribution::uniform(seconds(10), seconds(20)));
        assert!(least >= seconds(10) && (median - seconds(15)).abs() < seconds(1) && p99 <= seconds(20));
    }

    #[test]
    fn durations_and_percentages_are_parsed() {
        assert_eq!("10s".parse(), Ok(Distribution::fixed(SignedDuration::from_secs(10))));
        assert_eq!(
            "5s..20s".parse(),
            Ok(Distribution::uniform(SignedDuration::from_secs(5), SignedDuration::from_secs(20)))
        );
        assert_eq!(
            "8s,p99=1m".parse(),
            Ok(Distribution::long_tail(SignedDuration::from_secs(8), SignedDuration::from_mins(1)))
        );
        for bad in ["", "10", "-5s", "5s..", "8s,1m", "8s,p98=1m", "soon"] {
            assert!(bad.parse::<Distribution>().is_err(), "{bad:?}");
        }
        assert_eq!("5%".parse(), Ok(Probability::percent(5)));
        assert_eq!("0.01%".parse(), Ok(Probability::per_million(100)));
        for bad in ["", "5", "101%", "-1%", "1.%", ".5%", "0.00001%", "x%", "99999999999%"] {
            assert!(bad.parse::<Probability>().is_err(), "{bad:?}");
        }
        assert_eq!(
            [Probability::percent(5), Probability::per_million(100)]
                .map(|probability| probability.to_string()),
            ["5%", "0.01%"]
        );
    }
}
