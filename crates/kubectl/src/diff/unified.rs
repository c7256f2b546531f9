//! Two lists of lines in the form of `diff -u`.

use similar::TextDiff;

/// Lines that are shown around a change.
const CONTEXT: usize = 3;

/// Each side is its title and its lines.
pub(super) fn unified(old: (&str, &[String]), new: (&str, &[String])) -> String {
    let (before, after): (Vec<&str>, Vec<&str>) =
        (old.1.iter().map(String::as_str).collect(), new.1.iter().map(String::as_str).collect());
    TextDiff::from_slices(&before, &after)
        .unified_diff()
        .context_radius(CONTEXT)
        .header(old.0, new.0)
        .to_string()
}
