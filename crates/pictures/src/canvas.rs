//! Writes XML, escaped.

use quick_xml::escape::escape;
use std::fmt::{self, Display};

/// How wide a picture is.
pub const WIDTH: f64 = 1160.0;
/// At its left and right.
pub const MARGIN: f64 = 28.0;

/// An SVG document that grows.
#[derive(Default)]
pub struct Canvas {
    text: String,
}

/// A start tag that grows.
pub struct Tag {
    name: &'static str,
    text: String,
}

/// A length or a coordinate, in tenths of a pixel at most.
#[derive(Clone, Copy)]
pub struct Px(pub f64);

impl Display for Px {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = (self.0 * 10.0).round() / 10.0;
        // Not -0.
        write!(f, "{}", tenths + 0.0)
    }
}

impl Tag {
    pub fn new(name: &'static str) -> Self {
        Tag { name, text: format!("<{name}") }
    }

    pub fn set(mut self, attribute: &str, value: impl Display) -> Self {
        let value = value.to_string();
        self.text.push_str(&format!(" {attribute}=\"{}\"", escape(printable(&value))));
        self
    }
}

impl Canvas {
    pub fn open(&mut self, tag: Tag) {
        self.text.push_str(&tag.text);
        self.text.push_str(">\n");
    }

    pub fn close(&mut self, name: &str) {
        self.text.push_str(&format!("</{name}>\n"));
    }

    pub fn leaf(&mut self, tag: Tag) {
        self.text.push_str(&tag.text);
        self.text.push_str("/>\n");
    }

    pub fn element(&mut self, tag: Tag, text: &str) {
        self.text.push_str(&tag.text);
        self.text.push_str(&format!(">{}</{}>\n", escape(printable(text)), tag.name));
    }

    /// Text whose baseline starts there.
    pub fn words(&mut self, class: &str, x: f64, y: f64, text: &str) {
        self.element(Tag::new("text").set("class", class).set("x", Px(x)).set("y", Px(y)), text);
    }

    /// Text in CSS, which knows no escapes.
    pub fn style(&mut self, css: &str) {
        self.text.push_str(&format!("<style>{css}</style>\n"));
    }

    pub fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let (from, to) = ((Px(from.0), Px(from.1)), (Px(to.0), Px(to.1)));
        let tag = Tag::new("line").set("class", class).set("x1", from.0).set("y1", from.1);
        self.leaf(tag.set("x2", to.0).set("y2", to.1));
    }

    pub fn path(&mut self, class: &str, data: &str) {
        if !data.is_empty() {
            self.leaf(Tag::new("path").set("class", class).set("d", data));
        }
    }

    pub fn finish(self) -> String {
        self.text
    }
}

/// XML has no place for control characters, escaped or not.
fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') { ' ' } else { c })
        .collect()
}

/// About how wide a text of that size is in a system font.
pub fn width(text: &str, size: f64) -> f64 {
    let ems = |c: char| match c {
        'i' | 'I' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '/' | ' ' | '(' | ')' | 'f' | 'j' | 'r'
        | 't' | '-' => 0.38,
        'm' | 'w' | 'M' | 'W' | '%' => 0.92,
        _ => 0.62,
    };
    text.chars().map(ems).sum::<f64>() * size
}
