//! Splits a command as a shell does: blanks, quotes and backslashes.

/// The words of a command line; an error for a quote without its end.
pub(crate) fn words(command: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    // None between words: an empty quote is a word, too.
    let mut word: Option<String> = None;
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '\'' | '"' => quoted(c, &mut chars, word.get_or_insert_default())?,
            '\\' => word.get_or_insert_default().extend(chars.next()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

/// Up to the closing quote; a backslash counts in double quotes only.
fn quoted(quote: char, chars: &mut std::str::Chars<'_>, word: &mut String) -> Result<(), String> {
    while let Some(c) = chars.next() {
        match c {
            _ if c == quote => return Ok(()),
            '\\' if quote == '"' => word.extend(chars.next()),
            _ => word.push(c),
        }
    }
    Err(format!("command: a {quote} without its end"))
}
