//! Flags as kubectl reads them (spf13/pflag): `--name=value`, `--name value`, `-n value`, `-nvalue`, before and after
//! other words.

use std::fmt;

/// A flag that a command has.
pub(crate) struct Flag {
    pub(crate) name: &'static str,
    /// One letter, if it has one.
    pub(crate) short: Option<char>,
    pub(crate) value: FlagNeeds,
}

/// Whether a flag's value may be left out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FlagNeeds {
    /// `--revision=2` or `--revision 2`.
    Value,
    /// `--watch` is `--watch=true`: a value is never the next word.
    ValueOr(&'static str),
}

/// A flag that was given, with its value.
pub(crate) struct Given {
    pub(crate) flag: &'static Flag,
    pub(crate) value: String,
}

/// kubectl's messages about flags.
#[derive(Debug)]
pub(crate) enum FlagError {
    Unknown(String),
    UnknownShort { letter: char, word: String },
    NoArgument(String),
    Invalid { value: String, flag: String, why: String },
}

impl fmt::Display for FlagError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FlagError::Unknown(name) => write!(f, "unknown flag: --{name}"),
            FlagError::UnknownShort { letter, word } => {
                write!(f, "unknown shorthand flag: '{letter}' in {word}")
            }
            FlagError::NoArgument(flag) => write!(f, "flag needs an argument: {flag}"),
            FlagError::Invalid { value, flag, why } => {
                write!(f, "invalid argument {value:?} for {flag:?} flag: {why}")
            }
        }
    }
}

impl Given {
    /// Go's `strconv.ParseInt` with base 0.
    pub(crate) fn number(&self) -> Result<i64, FlagError> {
        let (sign, digits) = match self.value.strip_prefix(['+', '-']) {
            Some(digits) => (if self.value.starts_with('-') { "-" } else { "" }, digits),
            None => ("", self.value.as_str()),
        };
        let lower = digits.to_ascii_lowercase();
        let based = [("0x", 16), ("0o", 8), ("0b", 2), ("0", 8)].into_iter().find_map(|(prefix, base)| {
            lower.strip_prefix(prefix).filter(|rest| !rest.is_empty()).map(|rest| (rest, base))
        });
        let (digits, base) = based.unwrap_or((&lower, 10));
        if digits.is_empty() || !digits.chars().all(|c| c.is_digit(base)) {
            return Err(self.invalid(&format!("strconv.ParseInt: parsing {:?}: invalid syntax", self.value)));
        }
        i64::from_str_radix(&format!("{sign}{digits}"), base).map_err(|_| {
            self.invalid(&format!("strconv.ParseInt: parsing {:?}: value out of range", self.value))
        })
    }

    /// Go's `strconv.ParseBool`.
    pub(crate) fn switch(&self) -> Result<bool, FlagError> {
        match self.value.as_str() {
            "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok(true),
            "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok(false),
            value => Err(self.invalid(&format!("strconv.ParseBool: parsing {value:?}: invalid syntax"))),
        }
    }

    fn invalid(&self, why: &str) -> FlagError {
        let long = self.flag.name;
        let flag = match self.flag.short {
            Some(short) => format!("-{short}, --{long}"),
            None => format!("--{long}"),
        };
        FlagError::Invalid { value: self.value.clone(), flag, why: why.to_owned() }
    }
}

/// Takes the flags of a command out of its words; the other words keep their order.
pub(crate) fn parse(
    words: Vec<String>,
    known: impl Fn(&Name<'_>) -> Option<&'static Flag>,
) -> Result<(Vec<Given>, Vec<String>), FlagError> {
    let (mut given, mut others) = (Vec::new(), Vec::new());
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        if word == "--" {
            others.extend(words);
            break;
        } else if let Some(long) = word.strip_prefix("--") {
            given.push(long_flag(long, &mut words, &known)?);
        } else if word.len() > 1 && word.starts_with('-') {
            short_flags(&word, &mut words, &known, &mut given)?;
        } else {
            others.push(word);
        }
    }
    Ok((given, others))
}

/// How a flag is named on the command line.
pub(crate) enum Name<'a> {
    Long(&'a str),
    Short(char),
}

fn long_flag(
    text: &str,
    next: &mut impl Iterator<Item = String>,
    known: &impl Fn(&Name<'_>) -> Option<&'static Flag>,
) -> Result<Given, FlagError> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (text, None),
    };
    let flag = known(&Name::Long(name)).ok_or_else(|| FlagError::Unknown(name.to_owned()))?;
    let value = match (value, flag.value) {
        (Some(value), _) => value,
        (None, FlagNeeds::ValueOr(value)) => value.to_owned(),
        (None, FlagNeeds::Value) => next.next().ok_or_else(|| FlagError::NoArgument(format!("--{name}")))?,
    };
    Ok(Given { flag, value })
}

/// `-w`, `-w=false`, `-n golden`, `-ngolden`, `-wn golden`.
fn short_flags(
    word: &str,
    next: &mut impl Iterator<Item = String>,
    known: &impl Fn(&Name<'_>) -> Option<&'static Flag>,
    given: &mut Vec<Given>,
) -> Result<(), FlagError> {
    let mut rest = word.trim_start_matches('-').chars();
    while let Some(letter) = rest.next() {
        let flag = known(&Name::Short(letter))
            .ok_or_else(|| FlagError::UnknownShort { letter, word: word.to_owned() })?;
        let inline = rest.as_str();
        let value = match (inline.strip_prefix('='), flag.value) {
            (Some(value), _) => value.to_owned(),
            (None, FlagNeeds::ValueOr(value)) => {
                given.push(Given { flag, value: value.to_owned() });
                continue;
            }
            (None, FlagNeeds::Value) if !inline.is_empty() => inline.to_owned(),
            (None, FlagNeeds::Value) => {
                next.next().ok_or_else(|| FlagError::NoArgument(format!("'{letter}' in {word}")))?
            }
        };
        given.push(Given { flag, value });
        return Ok(());
    }
    Ok(())
}
