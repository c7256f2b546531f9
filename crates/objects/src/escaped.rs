//! Text of others, for a terminal or a log.

use std::fmt;

/// A text that is not the program's own, such as a name, an annotation or a message: characters that would act on a terminal, or
/// make a line of a log look like two, are shown as Rust writes them in a string.
///
/// These are the control characters, line breaks among them, those that change the direction of text, and those without a width.
/// Reasons, warnings and the [`Display`](fmt::Display) of actions and problems hold such texts as they are.
///
/// ```
/// use daemonset::Escaped;
///
/// assert_eq!(Escaped("node-1").to_string(), "node-1");
/// assert_eq!(Escaped("a\nb\u{1b}[2J \u{202e}gpj.c").to_string(), r"a\nb\u{1b}[2J \u{202e}gpj.c");
/// ```
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "it is its text")]
pub struct Escaped<'a>(pub &'a str);

impl Escaped<'_> {
    /// Whether a character is shown escaped.
    pub fn is_needed(c: char) -> bool {
        // Marks, embeddings and isolates of a direction; separators of lines; spaces and joiners without a width.
        let is_unseen = matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
        c.is_control() || is_unseen
    }
}

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some(at) = rest.find(Escaped::is_needed) {
            let (before, from) = rest.split_at(at);
            f.write_str(before)?;
            let mut others = from.chars();
            others.next().into_iter().try_for_each(|c| c.escape_default().fmt(f))?;
            rest = others.as_str();
        }
        f.write_str(rest)
    }
}
