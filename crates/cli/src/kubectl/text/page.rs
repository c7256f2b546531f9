//! A description that is being written, with two spaces a level and without terminal escapes.

/// kubectl's description of an object (v1.36 kubectl `describe.go prefixWriter`, `nestedPrefixWriter`).
#[derive(Debug, Default)]
pub(crate) struct Page {
    text: String,
    /// Additional levels of indentation.
    nested: usize,
}

impl Page {
    /// Writes text, not necessarily a whole line, after two spaces a level.
    pub(crate) fn write(&mut self, level: usize, text: &str) {
        for _ in 0..level + self.nested {
            self.text.push_str("  ");
        }
        self.push(text);
    }

    /// Ends a line with this text. Inside a nested section the text is indented, even in the middle of a line, as
    /// kubectl does it.
    pub(crate) fn end_line(&mut self, text: &str) {
        self.write(0, text);
        self.text.push('\n');
    }

    /// Writes with additional indentation.
    pub(crate) fn nested(&mut self, levels: usize, write: impl FnOnce(&mut Page)) {
        self.nested += levels;
        write(self);
        self.nested -= levels;
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }

    /// Escape sequences must not reach the terminal (v1.36 cli-runtime `printers.WriteEscaped`).
    fn push(&mut self, text: &str) {
        for letter in text.chars() {
            match letter {
                '\u{1b}' => self.text.push_str("^["),
                '\r' => self.text.push_str("\\r"),
                other => self.text.push(other),
            }
        }
    }
}
