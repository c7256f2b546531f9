//! Texts in YAML: how each is quoted, and which ones YAML would read as another type (go-yaml v2 `encode.go` stringv,
//! `emitterc.go` yaml_emitter_analyze_scalar and yaml_emitter_select_scalar_style, `resolve.go` resolve).

/// How a text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    /// `|` and the lines as they are.
    Literal,
}

pub(super) fn style(text: &str) -> Style {
    let special = text.chars().any(|c| !is_printable(c));
    let space_before_break = text.contains(" \n");
    if text.contains('\n') {
        let kept = !special && !space_before_break && !text.ends_with(' ');
        return if kept { Style::Literal } else { Style::DoubleQuoted };
    }
    if special || is_another_type(text) {
        return Style::DoubleQuoted;
    }
    if has_indicators(text) || text.starts_with(' ') || text.ends_with(' ') {
        return Style::SingleQuoted;
    }
    Style::Plain
}

/// Characters beyond 16 bits are not printable here (go-yaml v2 `yamlprivateh.go` is_printable).
fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
}

/// Characters that mean something in YAML at their place.
fn has_indicators(text: &str) -> bool {
    let ends_word = |next: Option<&char>| next.is_none_or(|next| matches!(next, ' ' | '\t'));
    let chars: Vec<char> = text.chars().collect();
    let inside = |(i, c): (usize, &char)| match c {
        ':' => ends_word(chars.get(i + 1)),
        '#' => i > 0 && chars.get(i - 1).is_some_and(|before| *before == ' '),
        _ => false,
    };
    let first = match chars.first() {
        Some(
            '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`',
        ) => true,
        Some('?' | '-') => ends_word(chars.get(1)),
        Some(_) | None => false,
    };
    first || text.starts_with("---") || text.starts_with("...") || chars.iter().enumerate().any(inside)
}

/// One character between double quotes.
pub(super) fn escaped(c: char) -> String {
    let code = u32::from(c);
    match c {
        '"' | '\\' => format!("\\{c}"),
        '\n' => "\\n".to_owned(),
        c if is_printable(c) && !matches!(c, '\u{2028}' | '\u{2029}') => c.to_string(),
        '\0' => "\\0".to_owned(),
        '\u{7}' => "\\a".to_owned(),
        '\u{8}' => "\\b".to_owned(),
        '\t' => "\\t".to_owned(),
        '\u{b}' => "\\v".to_owned(),
        '\u{c}' => "\\f".to_owned(),
        '\r' => "\\r".to_owned(),
        '\u{1b}' => "\\e".to_owned(),
        '\u{85}' => "\\N".to_owned(),
        '\u{2028}' => "\\L".to_owned(),
        '\u{2029}' => "\\P".to_owned(),
        _ if code <= 0xff => format!("\\x{code:02X}"),
        _ if code <= 0xffff => format!("\\u{code:04X}"),
        _ => format!("\\U{code:08X}"),
    }
}

/// Whether YAML 1.1 reads the text as null, a bool, a number or a time.
fn is_another_type(text: &str) -> bool {
    const WORDS: [&str; 33] = [
        "", "~", "null", "Null", "NULL", "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On",
        "ON", "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF", ".nan", ".NaN",
        ".NAN", ".inf", ".Inf", ".INF",
    ];
    let infinite = ["+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF"];
    if WORDS.contains(&text) || infinite.contains(&text) {
        return true;
    }
    match text.bytes().next() {
        Some(b'.') => is_float(&without_separators(text)),
        Some(b'+' | b'-' | b'0'..=b'9') => {
            let plain = text.replace('_', "");
            is_integer(&plain) || is_float(&plain) || is_base_60(text) || is_time(text)
        }
        Some(_) | None => false,
    }
}

/// Go's `strconv.ParseInt` and `ParseUint` with base 0.
fn is_integer(text: &str) -> bool {
    // Behind this prefix go-yaml accepts a sign.
    let text =
        text.strip_prefix("0b").filter(|rest| rest.starts_with(['+', '-'])).map_or(text.to_owned(), |rest| {
            let (sign, digits) = rest.split_at(1);
            format!("{sign}0b{digits}")
        });
    let digits = text.strip_prefix(['+', '-']).unwrap_or(&text);
    let (negative, signed) = (text.starts_with('-'), digits.len() != text.len());
    let lower = digits.to_ascii_lowercase();
    let based = [("0x", 16), ("0o", 8), ("0b", 2), ("0", 8)].into_iter().find_map(|(prefix, base)| {
        lower.strip_prefix(prefix).filter(|rest| !rest.is_empty()).map(|rest| (rest, base))
    });
    let (digits, base) = based.unwrap_or((&lower, 10));
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(base)) {
        return false;
    }
    u64::from_str_radix(digits, base).is_ok_and(|value| match (signed, negative) {
        (false, _) => true,
        (true, true) => value <= 1 << 63,
        (true, false) => value < 1 << 63,
    })
}

/// Go reads an underscore between two digits of a number.
fn without_separators(text: &str) -> String {
    let bytes = text.as_bytes();
    let is_digit =
        |place: Option<usize>| place.and_then(|place| bytes.get(place)).is_some_and(u8::is_ascii_digit);
    let separates = |place: usize| is_digit(place.checked_sub(1)) && is_digit(place.checked_add(1));
    text.char_indices().filter(|(place, c)| *c != '_' || !separates(*place)).map(|(_, c)| c).collect()
}

/// go-yaml's `yamlStyleFloat`, with a value that Go can hold.
fn is_float(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let form = digits.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-'));
    form && digits.starts_with(|c: char| c == '.' || c.is_ascii_digit())
        && text.parse::<f64>().is_ok_and(f64::is_finite)
}

/// Sexagesimal numbers such as `1:30:00` (go-yaml v2 `encode.go` base60float).
fn is_base_60(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    let mut parts = whole.split(':');
    let first = parts.next().unwrap_or_default();
    let sixty = |part: &str| match part.as_bytes() {
        [last] => last.is_ascii_digit(),
        [b'0'..=b'5', last] => last.is_ascii_digit(),
        _ => false,
    };
    let (mut parts, several) = (parts, whole.contains(':'));
    let starts = first.starts_with(|c: char| c.is_ascii_digit());
    several && starts && digits(first) && parts.all(sixty) && digits(fraction)
}

/// A date, or a date with a time (go-yaml v2 `resolve.go` parseTimestamp).
fn is_time(text: &str) -> bool {
    let (date, time) = match text.find(['T', 't', ' ']) {
        Some(place) => match text.split_at_checked(place) {
            Some((date, time)) => (date, Some(time)),
            None => return false,
        },
        None => (text, None),
    };
    let mut parts = date.split('-');
    let (year, month, day) = (parts.next().unwrap_or_default(), number(parts.next()), number(parts.next()));
    let valid = match (year.parse::<i16>(), month, day) {
        (Ok(year), Some(month), Some(day)) if parts.next().is_none() => {
            jiff::civil::Date::new(year, month, day).is_ok()
        }
        _ => false,
    };
    year.len() == 4
        && year.bytes().all(|byte| byte.is_ascii_digit())
        && valid
        && time.is_none_or(is_time_of_day)
}

/// One or two digits.
fn number(part: Option<&str>) -> Option<i8> {
    let part =
        part.filter(|part| (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit()))?;
    part.parse().ok()
}

/// With its separator: `T1:2:3.4Z`, `T01:02:03+02:00`, or a space and no zone.
fn is_time_of_day(text: &str) -> bool {
    let zoned = !text.starts_with(' ');
    let text = text.get(1..).unwrap_or_default();
    let (clock, zone) = match text.find(['Z', '+', '-']) {
        Some(place) => text.split_at(place),
        None => (text, ""),
    };
    let hours_and_minutes = |zone: &str| {
        let (hours, minutes) = zone.split_once(':')?;
        (hours.len() == 2 && minutes.len() == 2).then_some(())?;
        Some(number(Some(hours))? <= 24 && number(Some(minutes))? < 60)
    };
    let zone_fits = match (zoned, zone) {
        (false, "") | (true, "Z") => true,
        (true, zone) => zone.get(1..).and_then(hours_and_minutes) == Some(true),
        (false, _) => false,
    };
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let mut parts = clock.split(':');
    let below = |part: Option<&str>, limit: i8| number(part).is_some_and(|number| number < limit);
    let fits = below(parts.next(), 24)
        && below(parts.next(), 60)
        && below(parts.next(), 60)
        && parts.next().is_none();
    fits && zone_fits && !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_those_of_go() {
        for text in [
            "0",
            "42",
            "-42",
            "+42",
            "017",
            "0o17",
            "0x1f",
            "0X1F",
            "-0x1f",
            "0b101",
            "0b-1",
            "0b+1",
            "18446744073709551615",
            "9223372036854775808",
            "-9223372036854775808",
            "+9223372036854775807",
        ] {
            assert!(is_integer(text), "{text}");
        }
        for text in [
            "",
            "+",
            "-",
            "018",
            "0o18",
            "0x",
            "0xg",
            "0b12",
            "0b",
            "1.0",
            "1_0",
            "--1",
            "18446744073709551616",
            "-9223372036854775809",
            "+9223372036854775808",
        ] {
            assert!(!is_integer(text), "{text}");
        }
    }

    #[test]
    fn an_underscore_separates_digits_only() {
        for (text, plain) in [
            ("1_0", "10"),
            ("1_2_3", "123"),
            ("_1", "_1"),
            ("1_", "1_"),
            ("1__0", "1__0"),
            (".5_0", ".50"),
            ("._5", "._5"),
        ] {
            assert_eq!(without_separators(text), plain);
        }
    }

    #[test]
    fn numbers_to_the_base_of_60_have_a_colon() {
        for text in ["1:30", "190:20:30", "1:5", "0:00", "-1:30", "+1:30", "1:30.5", "1:30.", "1_0:30"] {
            assert!(is_base_60(text), "{text}");
        }
        for text in ["1", "1.5", ":30", "1:60", "1:3a", "1:300", "1:", "a:30", "1:30.x", "_1:30"] {
            assert!(!is_base_60(text), "{text}");
        }
    }

    #[test]
    fn a_time_has_a_zone_or_a_space_before_it() {
        for text in
            ["T1:2:3.4Z", "t23:59:59Z", "T01:02:03+02:00", "T01:02:03-24:59", " 01:02:03", " 1:2:3.456"]
        {
            assert!(is_time_of_day(text), "{text}");
        }
        for text in [
            "T01:02:03",
            " 01:02:03Z",
            " 01:02:03+02:00",
            "T24:00:00Z",
            "T01:60:00Z",
            "T01:02:60Z",
            "T01:02Z",
            "T01:02:03:04Z",
            "T1:2:3.Z",
            "T1:2:3.xZ",
            "T01:02:03+25:00",
            "T01:02:03+02:60",
            "T01:02:03+2:00",
            "T01:02:03+02:0",
            "T",
            " ",
        ] {
            assert!(!is_time_of_day(text), "{text}");
        }
        for (text, is_one) in [
            ("2026-01-01", true),
            ("2026-1-1", true),
            ("2026-02-30", false),
            ("2026-01-01-01", false),
            ("26-01-01", false),
            ("2026-01-01T00:00:00Z", true),
            ("2026-01-01T00:00:00", false),
            ("2026-01-001", false),
            ("+026-01-01", false),
        ] {
            assert_eq!(is_time(text), is_one, "{text}");
        }
    }

    #[test]
    fn each_special_character_has_its_escape() {
        let text: String =
            "\"\\\n\0\u{7}\u{8}\t\u{b}\u{c}\r\u{1b}\u{85}\u{2028}\u{2029}\u{1}\u{9f}\u{feff}\u{1f600}aé"
                .chars()
                .map(escaped)
                .collect();
        assert_eq!(text, r#"\"\\\n\0\a\b\t\v\f\r\e\N\L\P\x01\x9F\uFEFF\U0001F600aé"#);
    }
}
