//! Text of others: names, annotations and messages may have characters that act on a terminal, or that make a line look like two.
//!
//! Objects are read with a stand-in for each such character, which nothing acts on. Whatever is printed has escapes in their
//! place: those of Rust in a text, those of JSON in JSON, which so means what was read. Templates and policies keep their
//! characters, since they are hashed and parsed.

use daemonset::Escaped;
use serde_json::Value;
use std::borrow::Cow;
use std::fmt::Write;

/// The first of the private characters that stand in, for U+0000. Nobody else's text has them.
const STAND_INS: u32 = 0x10_0000;

/// What keeps its characters, since it is parsed: templates, the policy of a rollout, the powers of a namespace, and the manifest that
/// was applied last, which kubectl ends with a line break.
const KEPT: [&str; 7] = [
    "/spec/template",
    "/data",
    "/metadata/annotations/rollout.daemonset~1policy",
    "/metadata/annotations/rollout.daemonset~1paused",
    "/metadata/annotations/rollout.daemonset~1approved",
    "/metadata/annotations/rollout.daemonset~1powers",
    "/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration",
];

/// Puts stand-ins into an object.
pub fn put_stand_ins(object: &mut Value) {
    let kept = KEPT.map(|path| object.pointer_mut(path).map(Value::take));
    put_everywhere(object);
    for (path, kept) in KEPT.into_iter().zip(kept) {
        if let Some((place, kept)) = object.pointer_mut(path).zip(kept) {
            *place = kept;
        }
    }
}

/// Puts stand-ins into all texts of a value.
pub fn put_everywhere(value: &mut Value) {
    map_texts(value, &|text| text.contains(Escaped::is_needed).then(|| with_stand_ins(text)));
}

/// The same in a text.
pub fn with_stand_ins(text: &str) -> String {
    let stand_in = |c: char| char::from_u32(STAND_INS + c as u32).filter(|_| Escaped::is_needed(c));
    text.chars().map(|c| stand_in(c).unwrap_or(c)).collect()
}

/// Takes the stand-ins out again, for a format that has escapes of its own.
pub fn take_stand_ins(value: &mut Value) {
    map_texts(value, &|text| {
        text.contains(|c| stands_for(c).is_some())
            .then(|| text.chars().map(|c| stands_for(c).unwrap_or(c)).collect())
    });
}

fn map_texts(value: &mut Value, map: &impl Fn(&str) -> Option<String>) {
    match value {
        Value::String(text) => {
            if let Some(mapped) = map(text) {
                *text = mapped;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| map_texts(item, map)),
        Value::Object(members) => {
            if members.keys().any(|key| map(key).is_some()) {
                let old = std::mem::take(members);
                members.extend(old.into_iter().map(|(key, value)| (map(&key).unwrap_or(key), value)));
            }
            members.values_mut().for_each(|member| map_texts(member, map));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn stands_for(c: char) -> Option<char> {
    let original = char::from_u32((c as u32).checked_sub(STAND_INS)?)?;
    Escaped::is_needed(original).then_some(original)
}

/// A text for a terminal: its lines and tabs are the program's own, all else is escaped.
pub fn in_text(text: &str) -> String {
    escaped(text, |c| c == '\n' || c == '\t')
}

/// The same of a text with the program's own colours.
pub fn in_styled_text(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        out.push_str(&in_text(before));
        let codes = after.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(after.len());
        let (codes, behind) = after.split_at(codes);
        match behind.strip_prefix('m') {
            Some(behind) => {
                let _ = write!(out, "\u{1b}[{codes}m");
                rest = behind;
            }
            None => {
                out.push_str(&in_text("\u{1b}["));
                rest = after;
            }
        }
    }
    out + &in_text(rest)
}

/// A text that is one line, such as an error.
pub fn in_one_line(text: &str) -> String {
    escaped(text, |_| false)
}

fn escaped(text: &str, is_own: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in unescaped_stand_ins(text).chars() {
        match stands_for(c) {
            Some(original) => out.extend(original.escape_default()),
            None if Escaped::is_needed(c) && !is_own(c) => out.extend(c.escape_default()),
            None => out.push(c),
        }
    }
    out
}

/// A problem quotes its value, with an escape for each stand-in: to a reader it is another character than the value has.
fn unescaped_stand_ins(text: &str) -> Cow<'_, str> {
    const BEGIN: &str = "\\u{10";
    if !text.contains(BEGIN) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(BEGIN) {
        out.push_str(before);
        let code = after.split_once('}').filter(|(code, _)| code.len() == 4);
        let stand_in = code.and_then(|(code, behind)| {
            let c = char::from_u32(STAND_INS + u32::from_str_radix(code, 16).ok()?)?;
            stands_for(c).map(|_| (c, behind))
        });
        match stand_in {
            Some((c, behind)) => {
                out.push(c);
                rest = behind;
            }
            None => {
                out.push_str(BEGIN);
                rest = after;
            }
        }
    }
    Cow::Owned(out + rest)
}

/// A text of JSON, whose line breaks are between its values.
pub fn in_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match stands_for(c).or_else(|| Some(c).filter(|c| Escaped::is_needed(*c) && *c != '\n')) {
            // Each of them is a single unit of UTF-16. Writing to a string can't fail.
            Some(original) => {
                let _ = write!(out, "\\u{:04x}", original as u32);
            }
            None => out.push(c),
        }
    }
    out
}

/// A text of JSON for a reader that shows its values: each character has the escape that it would have in a text.
pub fn escaped_in_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match stands_for(c).or_else(|| Some(c).filter(|c| Escaped::is_needed(*c))) {
            Some(original) => original.escape_default().for_each(|c| match c {
                '\\' => out.push_str("\\\\"),
                c => out.push(c),
            }),
            None => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const HOSTILE: &str = "a\n\u{1b}]0;x\u{7}\r\u{202e}\u{9b}b";

    #[test]
    fn an_object_is_shown_escaped_and_means_the_same_in_json() {
        let object = json!({
            "metadata": {"name": HOSTILE, "annotations": {HOSTILE: HOSTILE, "rollout.daemonset/policy": "a: 1\nb: 2"}},
            "spec": {"template": {"args": [HOSTILE]}, "list": [HOSTILE, 1, null, true]},
        });
        let mut read = object.clone();
        put_stand_ins(&mut read);
        for path in ["/spec/template", "/metadata/annotations/rollout.daemonset~1policy"] {
            assert_eq!(read.pointer(path), object.pointer(path), "{path}");
        }
        let name = read["metadata"]["name"].as_str().unwrap();
        let escaped = r"a\n\u{1b}]0;x\u{7}\r\u{202e}\u{9b}b";
        assert_eq!(in_text(name), escaped);
        assert_eq!(
            in_text(&format!("Invalid value: {name:?} \\u{{10}} \\u{{1000zz}}")),
            format!("Invalid value: \"{escaped}\" \\u{{10}} \\u{{1000zz}}"),
            "as a problem quotes it"
        );
        let json = in_json(&serde_json::to_string_pretty(&read).unwrap());
        assert!(json.lines().all(|line| !line.contains(Escaped::is_needed)), "{json}");
        assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), object);
        let shown: String = serde_json::from_str(&escaped_in_json(&json!(name).to_string())).unwrap();
        assert_eq!(shown, in_text(name));
        take_stand_ins(&mut read);
        assert_eq!(read, object);
    }

    #[test]
    fn only_colours_are_left_in_a_text() {
        let styled =
            format!("\u{1b}[1mNODE\u{1b}[0m\t{}\u{1b}[2J\u{1b}[1;31\n\u{1b}[0;33m", with_stand_ins(HOSTILE));
        let shown = r"NODE	a\n\u{1b}]0;x\u{7}\r\u{202e}\u{9b}b\u{1b}[2J\u{1b}[1;31";
        assert_eq!(
            in_styled_text(&styled),
            format!("\u{1b}[1m{}\n\u{1b}[0;33m", shown.replacen("NODE", "NODE\u{1b}[0m", 1))
        );
        assert_eq!(in_one_line("a\nb\u{1b}[1m"), r"a\nb\u{1b}[1m");
    }
}
