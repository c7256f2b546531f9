//! The line of a text in JSON or YAML that a field is on.

use serde::de::{self, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_saphyr::Spanned;
use std::fmt;

/// Where the fields of a text are. Lines count from 1.
pub struct Lines(Result<LineField, Option<u64>>);

/// A value that others are in, or none.
enum LineField {
    Members(Vec<(String, u64, LineField)>),
    Entries(Vec<(u64, LineField)>),
    Leaf,
}

impl Lines {
    /// Of the one document of a text. A text that can't be read has at most the line at which it ends to be one.
    pub fn of(text: &str) -> Self {
        let options = serde_saphyr::options! { with_snippet: false };
        let read = serde_saphyr::from_str_with_options::<LineField>(text, options);
        Lines(read.map_err(|error| match serde_json::from_str::<IgnoredAny>(text) {
            // As the reader of the values: a text that begins as JSON is meant as such.
            Err(error) if text.trim_start().starts_with(['{', '[']) => u64::try_from(error.line()).ok(),
            _ => error.location().map(|location| location.line()),
        }))
    }

    /// The line of a path such as `waves[0].upTo`, or of the nearest field around it; `None` for the whole text, unless it can't
    /// be read.
    pub fn line(&self, path: &str) -> Option<u64> {
        let mut field = match &self.0 {
            Ok(field) => field,
            Err(line) => return *line,
        };
        let (mut rest, mut found) = (path, None);
        loop {
            rest = rest.trim_start_matches('.');
            let inner = match field {
                // Names may have dots, as those of labels do: the longest counts.
                LineField::Members(members) => {
                    let fits = |name: &str| {
                        let after = rest.strip_prefix(name)?;
                        (after.is_empty() || after.starts_with(['.', '['])).then_some(after)
                    };
                    let named =
                        members.iter().filter_map(|(name, line, inner)| Some((fits(name)?, *line, inner)));
                    named.min_by_key(|(after, ..)| after.len())
                }
                LineField::Entries(entries) => {
                    let entry = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
                    entry.and_then(|(index, after)| {
                        let (line, inner) = entries.get(index.parse::<usize>().ok()?)?;
                        Some((after, *line, inner))
                    })
                }
                LineField::Leaf => None,
            };
            let Some((after, line, inner)) = inner else { return found };
            (rest, found, field) = (after, Some(line), inner);
        }
    }
}

impl<'de> Deserialize<'de> for LineField {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct LineReader;

        impl<'de> Visitor<'de> for LineReader {
            type Value = LineField;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<LineField, A::Error> {
                let mut members = Vec::new();
                while let Some(name) = map.next_key::<Spanned<String>>()? {
                    members.push((name.value, name.referenced.line(), map.next_value()?));
                }
                Ok(LineField::Members(members))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<LineField, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = list.next_element::<Spanned<LineField>>()? {
                    entries.push((entry.referenced.line(), entry.value));
                }
                Ok(LineField::Entries(entries))
            }

            fn visit_unit<E: de::Error>(self) -> Result<LineField, E> {
                Ok(LineField::Leaf)
            }

            fn visit_bool<E: de::Error>(self, _: bool) -> Result<LineField, E> {
                Ok(LineField::Leaf)
            }

            fn visit_i64<E: de::Error>(self, _: i64) -> Result<LineField, E> {
                Ok(LineField::Leaf)
            }

            fn visit_u64<E: de::Error>(self, _: u64) -> Result<LineField, E> {
                Ok(LineField::Leaf)
            }

            fn visit_f64<E: de::Error>(self, _: f64) -> Result<LineField, E> {
                Ok(LineField::Leaf)
            }

            fn visit_str<E: de::Error>(self, _: &str) -> Result<LineField, E> {
                Ok(LineField::Leaf)
            }
        }

        deserializer.deserialize_any(LineReader)
    }
}

#[cfg(test)]
mod tests {
    use super::Lines;

    const YAML: &str = "# A comment\ndrive:\n  rollingUpdate:\n    maxUnavailable: 3\nwaves:\n- upTo: 5\n  nodes: {matchLabels: {a.b/c: x}}\n\n-\n  upTo: half\n";
    const JSON: &str = "{\n\t\"waves\": [\n\t\t{\"upTo\": 5},\n\t\t{\n\t\t\t\"upTo\": \"half\"}\n\t]\n}";

    #[test]
    fn a_field_has_its_line() {
        let lines = |text: &str, paths: &[&str]| {
            let lines = Lines::of(text);
            paths.iter().map(|path| lines.line(path)).collect::<Vec<_>>()
        };
        let paths = [
            "drive",
            "drive.rollingUpdate.maxUnavailable",
            "waves[0]",
            "waves[0].nodes.matchLabels.a.b/c",
            "waves[1].upTo",
        ];
        assert_eq!(lines(YAML, &paths), [2, 4, 6, 7, 10].map(Some));
        assert_eq!(lines(JSON, &["waves", "waves[0].upTo", "waves[1].upTo"]), [2, 3, 5].map(Some));
        // The nearest one around it.
        assert_eq!(
            lines(YAML, &["waves[0].bakeSeconds", "waves[9].upTo", "onFailure", ""]),
            [Some(6), Some(5), None, None]
        );
        assert_eq!(lines("a: *b\n", &["a"]), [Some(1)]);
        assert_eq!(lines("a: &b {c: 1}\nd: *b\n", &["d.c"]), [Some(2)]);
        assert_eq!(lines("", &["a"]), [None]);
    }

    #[test]
    fn a_text_that_can_not_be_read_has_the_line_of_its_error() {
        assert_eq!(Lines::of("waves:\n- upTo: [\n").line("").map(|line| line >= 2), Some(true));
        assert_eq!(Lines::of("{\"waves\": [],\n\"drive\": ]}").line("waves"), Some(2));
    }
}
