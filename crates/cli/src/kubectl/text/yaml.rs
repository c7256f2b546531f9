//! YAML as kubectl prints it (v1.36 cli-runtime `printers/yaml.go`; go-yaml v2 `encode.go`, `emitterc.go`, `resolve.go`,
//! `sorter.go`): keys in natural order, long texts folded at 80 columns, texts quoted where YAML would read another type.

use super::yaml_scalar::{self, Style};
use serde_json::Value;
use std::cmp::Ordering;

/// A break is written at the first space behind this column.
const WIDTH: usize = 80;
/// A longer key is written with `?`.
const LONGEST_SIMPLE_KEY: usize = 128;

/// An object in block style, with a line break at the end.
pub(crate) fn yaml(value: &Value) -> String {
    let mut page = YamlText { text: String::new(), column: 0 };
    page.node(value, 0);
    page.end_line();
    page.text
}

/// Whether go-yaml reads the JSON of an object, from which kubectl makes its YAML. JSON escapes the first 32 characters
/// (go-yaml v2 `readerc.go` yaml_parser_update_buffer).
pub(crate) fn is_read_as_yaml(value: &Value) -> bool {
    !value
        .to_string()
        .contains(|c| matches!(c, '\u{7f}'..='\u{84}' | '\u{86}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}'))
}

struct YamlText {
    text: String,
    column: usize,
}

impl YamlText {
    fn put(&mut self, text: &str) {
        self.text.push_str(text);
        self.column += text.chars().count();
    }

    fn break_line(&mut self) {
        self.text.push('\n');
        self.column = 0;
    }

    /// Ends the line, unless a block scalar already has.
    fn end_line(&mut self) {
        if self.column > 0 {
            self.break_line();
        }
    }

    fn indent(&mut self, indent: usize) {
        self.put(&" ".repeat(indent));
    }

    /// A value whose first line begins here; further lines begin at `indent`.
    fn node(&mut self, value: &Value, indent: usize) {
        match value {
            Value::Object(members) if !members.is_empty() => {
                let mut members: Vec<_> = members.iter().collect();
                members.sort_unstable_by_key(|(key, _)| *key);
                sort_in_natural_order(&mut members);
                for (position, (key, value)) in members.into_iter().enumerate() {
                    self.begin(position, indent);
                    self.member(key, value, indent);
                }
            }
            Value::Array(items) if !items.is_empty() => {
                for (position, item) in items.iter().enumerate() {
                    self.begin(position, indent);
                    self.put("- ");
                    self.item(item, indent);
                }
            }
            Value::String(text) => self.scalar(text, indent),
            other => self.put(&other.to_string()),
        }
    }

    fn begin(&mut self, position: usize, indent: usize) {
        if position > 0 {
            self.end_line();
            self.indent(indent);
        }
    }

    fn member(&mut self, key: &str, value: &Value, indent: usize) {
        if key.len() > LONGEST_SIMPLE_KEY || key.contains(['\n', '\r']) {
            self.put("? ");
            self.scalar(key, indent + 2);
            self.end_line();
            self.indent(indent);
            self.put(": ");
            return self.item(value, indent);
        }
        self.simple_key(key);
        self.put(":");
        match value {
            Value::Object(members) if !members.is_empty() => {
                self.break_line();
                self.indent(indent + 2);
                self.node(value, indent + 2);
            }
            // A list begins below its key, not further right.
            Value::Array(items) if !items.is_empty() => {
                self.break_line();
                self.indent(indent);
                self.node(value, indent);
            }
            value => {
                self.put(" ");
                self.item(value, indent);
            }
        }
    }

    /// A value behind its key or its dash; both stand at `indent`.
    fn item(&mut self, value: &Value, indent: usize) {
        self.node(value, indent + 2);
    }

    /// A key is never folded.
    fn simple_key(&mut self, key: &str) {
        match yaml_scalar::style(key) {
            Style::Plain => self.put(key),
            Style::SingleQuoted => self.put(&format!("'{}'", key.replace('\'', "''"))),
            Style::DoubleQuoted | Style::Literal => {
                let escaped: String = key.chars().map(yaml_scalar::escaped).collect();
                self.put(&format!("\"{escaped}\""));
            }
        }
    }

    fn scalar(&mut self, text: &str, indent: usize) {
        match yaml_scalar::style(text) {
            Style::Plain => self.folded(text, indent, str::to_owned),
            Style::SingleQuoted => {
                self.put("'");
                self.folded(text, indent, |word| word.replace('\'', "''"));
                self.put("'");
            }
            Style::DoubleQuoted => self.double_quoted(text, indent),
            Style::Literal => self.literal(text, indent),
        }
    }

    /// Breaks the line at a single space, never at the first or last character.
    fn folded(&mut self, text: &str, indent: usize, written: impl Fn(&str) -> String) {
        let mut before = None;
        let mut rest = text.chars().peekable();
        while let Some(c) = rest.next() {
            let single =
                c == ' ' && before.is_some_and(|c| c != ' ') && rest.peek().is_some_and(|c| *c != ' ');
            if single && self.column > WIDTH {
                self.break_line();
                self.indent(indent);
            } else {
                self.put(&written(c.encode_utf8(&mut [0; 4])));
            }
            before = Some(c);
        }
    }

    /// As folded; several spaces are kept by a backslash.
    fn double_quoted(&mut self, text: &str, indent: usize) {
        self.put("\"");
        let mut before = None;
        let mut rest = text.chars().peekable();
        while let Some(c) = rest.next() {
            let first_space = c == ' ' && before.is_some_and(|c| c != ' ');
            match rest.peek() {
                Some(next) if first_space && self.column > WIDTH => {
                    let backslash = if *next == ' ' { "\\" } else { "" };
                    self.break_line();
                    self.indent(indent);
                    self.put(backslash);
                }
                _ => self.put(&yaml_scalar::escaped(c)),
            }
            before = Some(c);
        }
        self.put("\"");
    }

    fn literal(&mut self, text: &str, indent: usize) {
        let leading = if text.starts_with([' ', '\n']) { "2" } else { "" };
        let chomping = match text.strip_suffix('\n') {
            None => "-",
            Some(rest) if rest.is_empty() || rest.ends_with('\n') => "+",
            Some(_) => "",
        };
        self.put(&format!("|{leading}{chomping}"));
        self.break_line();
        for line in text.split_inclusive('\n') {
            let line_text = line.trim_end_matches('\n');
            if !line_text.is_empty() {
                self.indent(indent);
                self.put(line_text);
            }
            if line.ends_with('\n') {
                self.break_line();
            }
        }
    }
}

/// Sorts by insertion: the library's sort may panic at an order with circles.
fn sort_in_natural_order(members: &mut [(&String, &Value)]) {
    for end in 1..members.len() {
        for place in (1..=end).rev() {
            let (Some((after, _)), Some((before, _))) = (members.get(place), members.get(place - 1)) else {
                break;
            };
            if natural_order(after, before) != Ordering::Less {
                break;
            }
            members.swap(place, place - 1);
        }
    }
}

/// go-yaml's order of keys: letters behind all else, numbers by their value (v2 `sorter.go` keyList). It has circles (`9b`,
/// `09`, `90`), in which Go's own result is random.
fn natural_order(a: &str, b: &str) -> Ordering {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let Some(i) = a.iter().zip(&b).position(|(a, b)| a != b) else { return a.len().cmp(&b.len()) };
    let (Some(&x), Some(&y)) = (a.get(i), b.get(i)) else { return Ordering::Equal };
    match (x.is_alphabetic(), y.is_alphabetic()) {
        (true, true) => return x.cmp(&y),
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    let before = a.get(..i).unwrap_or_default();
    // A zero inside a number does not begin another one.
    let inside =
        (x == '0' || y == '0') && before.iter().rev().take_while(|c| c.is_ascii_digit()).any(|c| *c != '0');
    let number = |of: &[char]| {
        let digits: Vec<char> = of.iter().skip(i).copied().take_while(char::is_ascii_digit).collect();
        let start = u128::from(inside);
        let value = digits.iter().filter_map(|digit| digit.to_digit(10));
        (
            value.fold(start, |sum, digit| sum.saturating_mul(10).saturating_add(u128::from(digit))),
            digits.len(),
        )
    };
    number(&a).cmp(&number(&b)).then(x.cmp(&y))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `tests/yaml.jsonl` has what `sigs.k8s.io/yaml` v1.6.0, which kubectl v1.37.1 prints with, made of JSON.
    #[test]
    fn yaml_is_written_as_kubectl_writes_it() {
        let goldens = include_str!("../../../tests/yaml.jsonl");
        for golden in goldens.lines() {
            let golden: Value = serde_json::from_str(golden).unwrap();
            let json: Value = serde_json::from_str(golden["in"].as_str().unwrap()).unwrap();
            assert_eq!(yaml(&json), golden["out"].as_str().unwrap(), "{json}");
        }
    }

    #[test]
    fn keys_have_their_natural_order() {
        let sorted = |keys: &[&str]| {
            let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
            let mut members: Vec<(&String, &Value)> = keys.iter().map(|key| (key, &Value::Null)).collect();
            sort_in_natural_order(&mut members);
            members.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(sorted(&["a10", "b", "a9", "a1", "a"]), "a a1 a9 a10 b");
        // The zeros inside a number are a part of its value.
        assert_eq!(sorted(&["a1000", "a15"]), "a15 a1000");
        assert_eq!(sorted(&["a15", "a1000"]), "a15 a1000");
        // Leading zeros are not.
        assert_eq!(sorted(&["a05", "a004"]), "a004 a05");
        assert_eq!(sorted(&["ab", "a-", "a1"]), "a- a1 ab");
    }
}
